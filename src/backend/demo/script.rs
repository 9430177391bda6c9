//! What a job prints, as a function of time.
//!
//! A script is text, one printed line a line. A line may begin with `@` and how long it keeps the job waiting:
//!
//! ```text
//! $ cargo test                   printed at once (well, a few hundredths of a second later)
//! @1.5 running 12 tests          printed after a second and a half
//! @0.2x40 test case {i} ... ok   forty lines, {i} counts from 1
//! @bar 6 Downloading             a progress bar over six seconds, redrawn in place
//! @section get_sources Getting source from the repository
//! @end get_sources               sections as runners write them
//! ```
//!
//! `\e` is the escape character. `{id}`, `{sha}`, `{short}`, `{ref}`, `{project}`, `{runner}` and `{iso}` (the time of
//! the line, as newer runners write it) are filled in.

use jiff::Timestamp;
use std::borrow::Cow;
use std::fmt::Write;

/// What the placeholders stand for.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// The job's number.
    pub id: u64,
    /// The commit.
    pub sha: &'a str,
    /// Branch or tag.
    pub ref_name: &'a str,
    /// Full path of the project.
    pub project: &'a str,
    /// Description of the runner.
    pub runner: &'a str,
}

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Script<'a> {
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Debug)]
struct Step<'a> {
    /// Thousandths of a second before each repetition.
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
}

/// Thousandths of a second that a line takes where nothing is said.
const LINE: u64 = 30;
const BAR_STEPS: u64 = 40;

impl<'a> Script<'a> {
    /// Reads a script; what cannot be understood is printed as it stands.
    pub fn parse(text: &'a str) -> Script<'a> {
        Script { steps: text.lines().map(step).collect() }
    }

    /// How long it takes, in thousandths of a second.
    pub fn duration(&self) -> u64 {
        self.steps.iter().map(|step| step.wait * step.times).sum()
    }

    /// What has been printed `elapsed` thousandths of a second after `started`, where the whole script takes `total`.
    pub fn print(&self, facts: &Facts<'_>, started: Timestamp, elapsed: u64, total: u64) -> Vec<u8> {
        let own = self.duration().max(1);
        let scale = |at: u64| (u128::from(at) * u128::from(total) / u128::from(own)) as u64;
        let mut out = String::new();
        let mut at = 0;
        for step in &self.steps {
            for i in 1..=step.times {
                at += step.wait;
                if scale(at) > elapsed {
                    return out.into_bytes();
                }
                let time = started + jiff::SignedDuration::from_millis(scale(at) as i64);
                print(&mut out, &step.print, i, step.times, facts, time);
            }
        }
        out.into_bytes()
    }
}

fn step(line: &str) -> Step<'_> {
    let plain = Step { wait: LINE, times: 1, print: Print::Line(line) };
    let Some(rest) = line.strip_prefix('@') else { return plain };
    let (word, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let millis = |word: &str| word.parse::<f64>().ok().filter(|s| (0.0..1e6).contains(s)).map(|s| (s * 1000.0) as u64);
    match word {
        "section" => {
            let (name, title) = text.split_once(' ').unwrap_or((text, ""));
            Step { print: Print::Open(name, title), ..plain }
        }
        "end" => Step { print: Print::Close(text), ..plain },
        "bar" => match text.split_once(' ').and_then(|(seconds, text)| Some((millis(seconds)?, text))) {
            Some((wait, text)) => Step { wait: wait / BAR_STEPS, times: BAR_STEPS, print: Print::Bar(text) },
            None => plain,
        },
        _ => {
            let (wait, times) = word.split_once('x').unwrap_or((word, "1"));
            match (millis(wait), times.parse()) {
                (Some(wait), Ok(times)) => Step { wait, times, print: Print::Line(text) },
                _ => plain,
            }
        }
    }
}

fn print(out: &mut String, what: &Print<'_>, i: u64, times: u64, facts: &Facts<'_>, time: Timestamp) {
    let second = time.as_second();
    match what {
        Print::Line(text) => {
            let _ = writeln!(out, "{}", filled(text, i, facts, time));
        }
        Print::Bar(text) => {
            let full = (24 * i / times) as usize;
            let end = if i == times { "\n" } else { "" };
            let (gap, percent) = (24 - full, 100 * i / times);
            let _ = write!(out, "\r{text} [{:=<full$}>{:gap$}] {percent:3}%{end}", "", "");
        }
        Print::Open(name, title) => {
            let title = filled(title, i, facts, time);
            let _ = writeln!(out, "section_start:{second}:{name}\r\x1b[0K\x1b[36;1m{title}\x1b[0;m");
        }
        Print::Close(name) => {
            let _ = write!(out, "section_end:{second}:{name}\r\x1b[0K");
        }
    }
}

fn filled<'t>(text: &'t str, i: u64, facts: &Facts<'_>, time: Timestamp) -> Cow<'t, str> {
    if !text.contains(['{', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['{', '\\']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (value, length): (Cow<'_, str>, usize) = if from.starts_with("\\e") {
            ("\x1b".into(), 2)
        } else if let Some(end) = from.find('}') {
            let name = from.get(1..end).unwrap_or_default();
            let value: Option<Cow<'_, str>> = match name {
                "i" => Some(i.to_string().into()),
                "id" => Some(facts.id.to_string().into()),
                "sha" => Some(facts.sha.into()),
                "short" => Some(facts.sha.get(..8).unwrap_or(facts.sha).into()),
                "ref" => Some(facts.ref_name.into()),
                "project" => Some(facts.project.into()),
                "runner" => Some(facts.runner.into()),
                "iso" => Some(format!("{time:.6}").into()),
                _ => None,
            };
            match value {
                Some(value) if from.starts_with('{') => (value, end + 1),
                _ => (from.get(..1).unwrap_or_default().into(), 1),
            }
        } else {
            (from.get(..1).unwrap_or_default().into(), 1)
        };
        out.push_str(&value);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "one \\e[32m{id}\\e[0m {what}\n@2 two\n@0.5x3 line {i}\n@section build Building {ref}\n@end build";

    fn at(elapsed: u64) -> String {
        let facts = Facts { id: 7, ref_name: "main", ..Facts::default() };
        let script = Script::parse(TEXT);
        let started: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
        String::from_utf8(script.print(&facts, started, elapsed, script.duration())).unwrap()
    }

    #[test]
    fn a_trace_grows_with_the_clock() {
        assert_eq!(at(0), "");
        assert_eq!(at(30), "one \x1b[32m7\x1b[0m {what}\n");
        assert_eq!(at(3030), "one \x1b[32m7\x1b[0m {what}\ntwo\nline 1\nline 2\n");
        let whole = at(u64::MAX);
        assert!(whole.starts_with(&at(3030)));
        assert!(whole.contains("section_start:1795168803:build\r\x1b[0K\x1b[36;1mBuilding main"), "{whole:?}");
        assert!(whole.ends_with("section_end:1795168803:build\r\x1b[0K"), "{whole:?}");
    }

    #[test]
    fn a_script_stretches() {
        let script = Script::parse("@1 a\n@1 b");
        let out = script.print(&Facts::default(), Timestamp::UNIX_EPOCH, 10_000, 20_000);
        assert_eq!(out, b"a\n");
    }
}
