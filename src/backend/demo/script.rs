//! The output of a job as a function of time.
//!
//! A script is a text with one line per line of output. A line may start with `@` and the time in seconds before it is
//! printed:
//!
//! ```text
//! $ cargo test                   printed almost at once, after 0.03 seconds
//! @1.5 running 12 tests          printed after a second and a half
//! @0.2x40 test case {i} ... ok   forty lines; {i} counts from 1
//! @0x5000 burst {i}              five thousand lines at once
//! @0.000002x20000000 {i} fast    about fifty megabytes per second, for forty seconds
//! @600 still here                ten minutes of silence before a line
//! @bar 6 Downloading             a progress bar over six seconds, redrawn in place
//! @section get_sources Getting source from the repository
//! @end get_sources               a section, as runners print it
//! @clear                         removes all previous output: the trace gets shorter
//! ```
//!
//! `\e` is the escape character, `\r` a carriage return, `\b` a backspace, `\xff` a byte, and `\c` at the end of a line
//! omits the line end. `{id}`, `{sha}`, `{short}`, `{ref}`, `{project}`, `{runner}`, `{token}` (the job token) and
//! `{iso}` (the time of the line, as newer runners print it) are replaced.
//!
//! The output is not stored. The current length of a trace, and the text at an offset, are computed from the lines of
//! the script, however often a line is repeated: a trace of gigabytes costs nothing until it is read.

use jiff::Timestamp;
use std::io::{self, Write};

/// The values of placeholders.
#[derive(Clone, Debug, Default)]
pub struct Placeholders {
    /// The ID of the job.
    pub id: u64,
    /// The hash of the commit.
    pub sha: String,
    /// The branch or tag.
    pub ref_name: String,
    /// The full path of the project.
    pub project: String,
    /// The description of the runner.
    pub runner: String,
    /// The job token.
    pub token: String,
}

/// The progress and speed of a script.
#[derive(Clone, Copy, Debug)]
pub struct Playback {
    pub started: Timestamp,
    /// The nanoseconds since the start; `None` once it is over.
    pub elapsed: Option<u128>,
    /// The total duration in nanoseconds.
    pub total: u128,
}

#[derive(Clone, Debug)]
pub struct Script<'a> {
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Debug)]
struct Step<'a> {
    /// The nanoseconds before each repetition.
    wait: u64,
    times: u64,
    print: Print<'a>,
}

#[derive(Clone, Debug)]
enum Print<'a> {
    Line(&'a str),
    Bar(&'a str),
    Open(&'a str, &'a str),
    Close(&'a str),
    Clear,
}

/// The default time before a line, in nanoseconds.
const LINE: u64 = 30_000_000;
const BAR_STEPS: u64 = 40;
/// The number of bytes that are written at once.
const CHUNK: usize = 64 << 10;

/// The printed part of a step.
struct PrintedStep<'s, 'a> {
    step: &'s Step<'a>,
    /// The nanoseconds of the script before the step.
    at: u128,
    /// The number of repetitions that were printed.
    times: u64,
}

impl<'a> Script<'a> {
    /// Parses a script; lines that cannot be parsed are printed as they are.
    pub fn parse(text: &'a str) -> Script<'a> {
        Script { steps: text.lines().map(step).collect() }
    }

    /// Returns the duration at normal speed, in nanoseconds.
    pub fn duration(&self) -> u128 {
        self.steps.iter().fold(0, |sum: u128, step| sum.saturating_add(u128::from(step.wait) * u128::from(step.times)))
    }

    /// Returns the steps that have been printed and not cleared.
    fn printed_steps(&self, playback: &Playback) -> Vec<PrintedStep<'_, 'a>> {
        let own = self.duration().max(1);
        // The time within the script, at its own speed: the last nanosecond that has passed.
        let limit = match playback.elapsed {
            Some(elapsed) if playback.total > 0 => (elapsed.saturating_add(1).saturating_mul(own) - 1) / playback.total,
            _ => u128::MAX,
        };
        let mut out = Vec::new();
        let mut at = 0_u128;
        for step in &self.steps {
            let left = limit.saturating_sub(at);
            let times = match u128::from(step.wait) {
                _ if at > limit => 0,
                0 => step.times,
                wait => u64::try_from(left / wait).unwrap_or(u64::MAX).min(step.times),
            };
            if matches!(step.print, Print::Clear) && times > 0 {
                out.clear();
            } else if times > 0 {
                out.push(PrintedStep { step, at, times });
            }
            if times < step.times {
                break;
            }
            at = at.saturating_add(u128::from(step.wait) * u128::from(step.times));
        }
        out
    }

    /// Returns the length of the output in bytes.
    pub fn len(&self, placeholders: &Placeholders, playback: &Playback) -> u64 {
        self.printed_steps(playback)
            .iter()
            .fold(0, |sum: u64, printed| sum.saturating_add(length(printed, printed.times, placeholders, playback)))
    }

    /// Writes the output, starting at a byte offset.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn write(
        &self,
        placeholders: &Placeholders,
        playback: &Playback,
        from: u64,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let own = self.duration().max(1);
        let mut skip = from;
        let mut buffer = Vec::with_capacity(CHUNK);
        for printed in self.printed_steps(playback) {
            let whole = length(&printed, printed.times, placeholders, playback);
            if whole <= skip {
                skip -= whole;
                continue;
            }
            // Find the last repetition that ends at or before the offset.
            let (mut before, mut beyond) = (0, printed.times);
            while before + 1 < beyond {
                let middle = before + (beyond - before) / 2;
                match length(&printed, middle, placeholders, playback) <= skip {
                    true => before = middle,
                    false => beyond = middle,
                }
            }
            skip -= length(&printed, before, placeholders, playback);
            for i in before + 1..=printed.times {
                print(&mut buffer, &printed, i, placeholders, time(&printed, i, playback, own));
                if buffer.len() >= CHUNK || skip > 0 {
                    let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(buffer.len());
                    out.write_all(buffer.get(skipped..).unwrap_or_default())?;
                    skip -= skipped as u64;
                    buffer.clear();
                }
            }
        }
        out.write_all(&buffer)
    }
}

/// Returns the time when a repetition was printed.
fn time(printed: &PrintedStep<'_, '_>, i: u64, playback: &Playback, own: u128) -> Timestamp {
    let at = printed.at.saturating_add(u128::from(printed.step.wait) * u128::from(i));
    let scaled = i64::try_from(at.saturating_mul(playback.total) / own).unwrap_or(i64::MAX);
    playback.started.checked_add(jiff::SignedDuration::from_nanos(scaled)).unwrap_or(playback.started)
}

/// Returns the length in bytes of the first repetitions of a step; computed for lines that differ only in the digits of
/// their number.
fn length(printed: &PrintedStep<'_, '_>, times: u64, placeholders: &Placeholders, playback: &Playback) -> u64 {
    let one = |i: u64| {
        let mut text = Vec::new();
        print(&mut text, printed, i, placeholders, playback.started);
        text.len() as u64
    };
    match (&printed.step.print, times) {
        (_, 0) => 0,
        (Print::Line(_), _) => {
            let first = one(1);
            // 10 has one digit more than 1, so the difference is the number of times that the line contains its number.
            let numbers = one(10) - first;
            (first - numbers).saturating_mul(times).saturating_add(numbers.saturating_mul(digits(times)))
        }
        _ => (1..=times).map(one).sum(),
    }
}

/// Returns the number of digits of all numbers from 1 to `n`.
fn digits(n: u64) -> u64 {
    let mut sum = 0_u64;
    let mut first = 1_u64;
    while first <= n {
        sum = sum.saturating_add(n - first + 1);
        let Some(next) = first.checked_mul(10) else { break };
        first = next;
    }
    sum
}

fn step(line: &str) -> Step<'_> {
    let plain = Step { wait: LINE, times: 1, print: Print::Line(line) };
    let Some(rest) = line.strip_prefix('@') else { return plain };
    let (word, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let nanos = |word: &str| word.parse::<f64>().ok().filter(|s| (0.0..1e6).contains(s)).map(|s| (s * 1e9) as u64);
    match word {
        "section" => {
            let (name, title) = text.split_once(' ').unwrap_or((text, ""));
            Step { print: Print::Open(name, title), ..plain }
        }
        "end" => Step { print: Print::Close(text), ..plain },
        "clear" => Step { print: Print::Clear, ..plain },
        "bar" => match text.split_once(' ').and_then(|(seconds, text)| Some((nanos(seconds)?, text))) {
            Some((wait, text)) => Step { wait: wait / BAR_STEPS, times: BAR_STEPS, print: Print::Bar(text) },
            None => plain,
        },
        _ => {
            let (wait, times) = word.split_once('x').unwrap_or((word, "1"));
            match (nanos(wait), times.parse()) {
                (Some(wait), Ok(times)) => Step { wait, times, print: Print::Line(text) },
                _ => plain,
            }
        }
    }
}

fn print(out: &mut Vec<u8>, printed: &PrintedStep<'_, '_>, i: u64, placeholders: &Placeholders, time: Timestamp) {
    let second = time.as_second();
    // Writing to memory does not fail.
    let _ = match &printed.step.print {
        Print::Clear => Ok(()),
        Print::Line(text) => {
            let (text, end): (&str, &[u8]) = match text.strip_suffix("\\c") {
                Some(text) => (text, b""),
                None => (text, b"\n"),
            };
            fill(out, text, i, placeholders, time);
            out.write_all(end)
        }
        Print::Bar(text) => {
            let times = printed.step.times.max(1);
            let full = (24 * i / times) as usize;
            let end = if i == times { "\n" } else { "" };
            let (gap, percent) = (24_usize.saturating_sub(full), 100 * i / times);
            write!(out, "\r{text} [{:=<full$}>{:gap$}] {percent:3}%{end}", "", "")
        }
        Print::Open(name, title) => {
            let _ = write!(out, "section_start:{second}:{name}\r\x1b[0K\x1b[36;1m");
            fill(out, title, i, placeholders, time);
            out.write_all(b"\x1b[0;m\n")
        }
        Print::Close(name) => write!(out, "section_end:{second}:{name}\r\x1b[0K"),
    };
}

/// Appends a text with its escapes and placeholders replaced.
fn fill(out: &mut Vec<u8>, text: &str, i: u64, placeholders: &Placeholders, time: Timestamp) {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '\\']) {
        let (before, from) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        let length = escape(out, from).or_else(|| placeholder(out, from, i, placeholders, time)).unwrap_or_else(|| {
            out.extend(from.as_bytes().first());
            1
        });
        rest = from.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
}

/// Replaces an escape at the start of a text by its byte. Returns the length of the escape.
fn escape(out: &mut Vec<u8>, text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    let (byte, length) = match rest.as_bytes().first()? {
        b'e' => (0x1b, 2),
        b'r' => (b'\r', 2),
        b'b' => (8, 2),
        b'x' => (u8::from_str_radix(rest.get(1..3)?, 16).ok()?, 4),
        _ => return None,
    };
    out.push(byte);
    Some(length)
}

fn placeholder(out: &mut Vec<u8>, text: &str, i: u64, placeholders: &Placeholders, time: Timestamp) -> Option<usize> {
    let name = text.strip_prefix('{')?.split_once('}')?.0;
    let _ = match name {
        "i" => write!(out, "{i}"),
        "id" => write!(out, "{}", placeholders.id),
        "sha" => write!(out, "{}", placeholders.sha),
        "short" => write!(out, "{}", placeholders.sha.get(..8).unwrap_or(&placeholders.sha)),
        "ref" => write!(out, "{}", placeholders.ref_name),
        "project" => write!(out, "{}", placeholders.project),
        "runner" => write!(out, "{}", placeholders.runner),
        "token" => write!(out, "{}", placeholders.token),
        "iso" => write!(out, "{time:.6}"),
        _ => return None,
    };
    Some(name.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "one \\e[32m{id}\\e[0m {what}\n@2 two\n@0.5x3 line {i}\n@section build Building {ref}\n@end build";

    fn placeholders() -> Placeholders {
        Placeholders { id: 7, ref_name: "main".into(), ..Placeholders::default() }
    }

    /// Returns the output of a script after `millis` milliseconds; all of it for `None`.
    fn printed(text: &str, millis: Option<u128>) -> Vec<u8> {
        let script = Script::parse(text);
        let started = "2026-11-20T10:00:00Z".parse().unwrap();
        let playback = Playback { started, elapsed: millis.map(|ms| ms * 1_000_000), total: script.duration() };
        let mut out = Vec::new();
        script.write(&placeholders(), &playback, 0, &mut out).unwrap();
        assert_eq!(script.len(&placeholders(), &playback), out.len() as u64);
        for from in (0..=out.len()).step_by(1 + out.len() / 500) {
            let mut tail = Vec::new();
            script.write(&placeholders(), &playback, from as u64, &mut tail).unwrap();
            assert_eq!(tail, out[from..], "from {from}");
        }
        out
    }

    fn at(millis: u128) -> String {
        String::from_utf8(printed(TEXT, Some(millis))).unwrap()
    }

    #[test]
    fn trace_grows_with_the_clock() {
        assert_eq!(at(0), "");
        assert_eq!(at(30), "one \x1b[32m7\x1b[0m {what}\n");
        assert_eq!(at(3030), "one \x1b[32m7\x1b[0m {what}\ntwo\nline 1\nline 2\n");
        let whole = String::from_utf8(printed(TEXT, None)).unwrap();
        assert!(whole.starts_with(&at(3030)));
        assert!(whole.contains("section_start:1795168803:build\r\x1b[0K\x1b[36;1mBuilding main"), "{whole:?}");
        assert!(whole.ends_with("section_end:1795168803:build\r\x1b[0K"), "{whole:?}");
    }

    #[test]
    fn script_is_scaled_to_its_duration() {
        let script = Script::parse("@1 a\n@1 b");
        let playback =
            Playback { started: Timestamp::UNIX_EPOCH, elapsed: Some(10_000_000_000), total: 20_000_000_000 };
        let mut out = Vec::new();
        script.write(&Placeholders::default(), &playback, 0, &mut out).unwrap();
        assert_eq!(out, b"a\n");
    }

    #[test]
    fn traces_can_shrink_burst_and_contain_any_byte() {
        let text = "@0x1200 burst {i} of {i}\n@1 \\xff\\r\\b\\c\n@1 open\n@clear\n@bar 1 Again\n{iso} end";
        assert_eq!(printed(text, Some(0)).len(), 1200 * 11 + 2 * digits(1200) as usize);
        assert!(printed(text, Some(2000)).ends_with(b"1200\n\xff\r\x08open\n"));
        assert_eq!(printed(text, Some(2040)), b"", "it is cleared");
        assert!(printed(text, None).ends_with(b"\n2026-11-20T10:00:03.060000Z end\n"));
    }

    #[test]
    fn end_of_a_huge_trace_is_read_quickly() {
        let script = Script::parse("@0.000002x40000000 {i} a line of a job that prints without ever taking a breath");
        let playback = Playback { started: Timestamp::UNIX_EPOCH, elapsed: None, total: script.duration() };
        let length = script.len(&Placeholders::default(), &playback);
        assert!(length > 2 << 30, "{length}");
        let last = b"40000000 a line of a job that prints without ever taking a breath\n";
        let mut tail = Vec::new();
        script.write(&Placeholders::default(), &playback, length - last.len() as u64 + 1, &mut tail).unwrap();
        assert_eq!(tail, &last[1..]);
    }
}
