//! Lines of logs without what differs in every run: times, durations, sizes, hashes, temporary paths, ports, IDs and
//! progress. Two runs of the same job print mostly the same lines in this form.

use regex::Regex;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// The byte that stands for what differs. It does not occur in lines as shown.
const MARK: u8 = 1;
/// The number of bytes of a line that are compared.
const MAX_BYTES: usize = 4096;
/// The minimum number of signs in a row that draw a bar.
const MIN_BAR: usize = 5;
/// The minimum length of a name that is left out; shorter ones occur in other words.
const MIN_NAME: usize = 3;

/// The units of durations and sizes, in lower case. Those of one letter must follow their number directly.
const UNITS: &[&str] = &[
    "ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h",
    "hr", "hrs", "hour", "hours", "d", "day", "days", "b", "kb", "kib", "mb", "mib", "gb", "gib", "tb", "byte",
    "bytes", "bit", "bits",
];

/// Words before a number that is an ID.
const BEFORE_IDS: &[&str] = &["port", "pid", "job", "build", "pipeline", "process", "thread", "seed", "worker", "id"];

/// The first words of lines that tools print only while they fetch or build what is not cached.
const PROGRESS: &[&str] = &[
    "Adding",
    "Attempting",
    "Building",
    "CACHED",
    "Checking",
    "Collecting",
    "Compiling",
    "Copying",
    "Download",
    "Downloaded",
    "Downloading",
    "Extracting",
    "Fetched",
    "Fetching",
    "Found",
    "Get",
    "Installed",
    "Installing",
    "Locking",
    "Obtaining",
    "Preparing",
    "Pulling",
    "Removing",
    "Requirement",
    "Resolving",
    "Selecting",
    "Setting",
    "Successfully",
    "Unpacking",
    "Updating",
    "Using",
    "extracting",
    "resolve",
    "sha",
    "transferring",
];

/// The suffixes by which Gradle says that a task had nothing to do.
const TASK_ENDS: &[&[u8]] = &[b" UP-TO-DATE", b" FROM-CACHE", b" NO-SOURCE", b" SKIPPED"];

static CAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?i: \b (?: error | errors | fail | fails | failed | failing | failure | failures | fatal | panicked | panic
            | exception | traceback | denied | refused | not\ found | no\ such | cannot | can't | could\ not | couldn't
            | timed\ out | timeout | killed | aborted | undefined | unable\ to | expected | mismatch ) \b )
        | npm\ ERR! | [A-Za-z]Error\b | Exception\b | ^E\s | ^\s*[✕✗✘●]",
    )
    .ok()
});

static NO_FAILURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?)\b|\b(?:errors?|failed|failures?): 0\b").ok()
});

/// Returns whether a line names a problem.
pub fn names_problem(line: &str) -> bool {
    let hides = |pattern: &Regex| pattern.is_match(line);
    CAUSE.as_ref().is_some_and(hides) && !NO_FAILURES.as_ref().is_some_and(hides)
}

/// Returns whether a line is the runner's own message about the result of the job.
pub fn is_verdict(line: &str) -> bool {
    line.trim_start().starts_with("ERROR: Job failed") || line.trim() == "Job succeeded"
}

/// Returns whether the runner's message about a failed job says why it failed, and not only how the script ended.
pub fn gives_reason(verdict: &str) -> bool {
    let reason = verdict.trim().strip_prefix("ERROR: Job failed: ").unwrap_or(verdict);
    !["exit code ", "exit status ", "command terminated with exit code "].iter().any(|end| reason.starts_with(end))
}

/// Brings lines of the same job into the form in which they are compared.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    /// Names that differ between the runs: refs and commits.
    names: Vec<String>,
    line: Vec<u8>,
}

/// A line in the form in which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// A hash of the line.
    pub hash: u64,
    /// The index of its first word among those of progress, if it is one of them.
    pub progress: Option<u8>,
}

impl Normalizer {
    /// Creates a normalizer that also leaves out `names`.
    pub fn new(names: impl IntoIterator<Item = String>) -> Normalizer {
        let mut names: Vec<String> = names.into_iter().filter(|name| name.len() >= MIN_NAME).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Normalizer { names, line: Vec::new() }
    }

    /// Returns the fingerprint of a line in the section `scope`; `None` for a line without words, and for a bar that shows
    /// progress.
    pub fn fingerprint(&mut self, scope: u64, line: &str) -> Option<Fingerprint> {
        let bytes = line.as_bytes();
        self.normalize(bytes.get(..MAX_BYTES).unwrap_or(bytes));
        let has_words = self.line.iter().any(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
        if !has_words || self.line.contains(&MARK) && has_bar(line) && !names_problem(line) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (scope, &self.line).hash(&mut hasher);
        let from = self.line.iter().position(u8::is_ascii_alphabetic).unwrap_or_default();
        let word = self.line.get(from..).unwrap_or_default();
        let word = word.split(|b| !b.is_ascii_alphabetic()).next().unwrap_or_default();
        let progress = PROGRESS.binary_search_by(|known| known.as_bytes().cmp(word)).ok();
        Some(Fingerprint { hash: hasher.finish(), progress: progress.and_then(|at| u8::try_from(at).ok()) })
    }

    fn normalize(&mut self, line: &[u8]) {
        self.line.clear();
        let mut at = 0;
        while let Some(byte) = line.get(at).copied() {
            let before = at.checked_sub(1).and_then(|at| line.get(at)).copied();
            let token = match before.is_some_and(is_word) {
                true => Token::Literal(1),
                false => self.token(line, at, before),
            };
            match token {
                Token::Variable(len) => {
                    self.push_mark();
                    at += len.max(1);
                }
                Token::Literal(len) => {
                    let len = len.max(1);
                    self.push(line.get(at..at + len).unwrap_or(&[byte]));
                    at += len;
                }
            }
        }
        while self.line.last() == Some(&b' ') {
            self.line.pop();
        }
        // Some tools tell the duration only of what is slow.
        if self.line.ends_with(&[b' ', b'(', MARK, b')']) {
            self.line.truncate(self.line.len() - 4);
        }
        if self.line.starts_with(b"> Task")
            && let Some(end) = TASK_ENDS.iter().find(|end| self.line.ends_with(end))
        {
            self.line.truncate(self.line.len() - end.len());
        }
    }

    /// Appends literal bytes: white space once, and at most two of the same sign.
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let last = self.line.last().copied();
            match byte {
                b if b.is_ascii_whitespace() => {
                    if last.is_some_and(|last| last != b' ') {
                        self.line.push(b' ');
                    }
                }
                b if b.is_ascii_punctuation() && self.line.ends_with(&[*b, *b]) => {}
                b => self.line.push(*b),
            }
        }
    }

    /// Appends the mark, once for several in a row: `1m 2s` is the same as `58s`.
    fn push_mark(&mut self) {
        if [&[MARK, b' '], b"[ ", b"( "].iter().any(|before| self.line.ends_with(*before)) {
            self.line.pop();
        }
        if self.line.last() != Some(&MARK) {
            self.line.push(MARK);
        }
    }

    /// Returns the token at the start of a word.
    fn token(&self, line: &[u8], at: usize, before: Option<u8>) -> Token {
        let rest = line.get(at..).unwrap_or_default();
        let ends = |len: usize| !rest.get(len).copied().is_some_and(is_word);
        let name =
            self.names.iter().map(|name| name.as_bytes()).find(|name| rest.starts_with(name) && ends(name.len()));
        if let Some(name) = name {
            return Token::Variable(name.len());
        }
        if let Some(len) = temporary_path(rest) {
            return Token::Variable(len);
        }
        let len = word_len(rest);
        let word = rest.get(..len).unwrap_or_default();
        if len == 0 {
            return Token::Literal(1);
        }
        let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
        if word.starts_with(b"0x") && word.iter().skip(2).all(u8::is_ascii_hexdigit) && len > 2 {
            return Token::Variable(len);
        }
        if let Some(len) = uuid(rest) {
            return Token::Variable(len);
        }
        let is_hash = len >= 7 && digits > 0 && (digits < len || len >= 32) && word.iter().all(u8::is_ascii_hexdigit);
        // Not a number with an exponent such as 1234e56.
        if is_hash && (len >= 32 || word.iter().any(u8::is_ascii_alphabetic)) {
            return Token::Variable(len);
        }
        let named = rest.iter().take_while(|b| is_word(**b) || matches!(b, b'-' | b'.')).count();
        let has_digit = || rest.iter().take(named).any(u8::is_ascii_digit);
        if (word == b"runner" && rest.get(len) == Some(&b'-') || word.starts_with(b"tmp") && named > 5) && has_digit() {
            return Token::Variable(named);
        }
        if let Some(len) = runner_name(rest) {
            return Token::Variable(len);
        }
        let is_worker = word.strip_prefix(b"gw").is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit));
        if is_worker {
            return Token::Variable(len);
        }
        if word.first().is_some_and(u8::is_ascii_digit) {
            return self.number(rest, before);
        }
        Token::Literal(len)
    }

    /// Returns the token that starts with a digit.
    fn number(&self, rest: &[u8], before: Option<u8>) -> Token {
        if let Some(len) = date(rest) {
            return Token::Variable(len);
        }
        let is_after_sign = matches!(before, Some(b':' | b'.' | b'/' | b'-'));
        if let Some(len) = clock(rest).filter(|_| !is_after_sign) {
            return Token::Variable(len);
        }
        let integer = digits_len(rest);
        let (number, groups) = decimal_len(rest);
        let after = rest.get(number..).unwrap_or_default();
        // A version: `1.20.3`, with whatever follows it.
        if groups > 2 {
            return Token::Literal(rest.iter().take_while(|b| is_word(**b) || **b == b'.').count());
        }
        if let Some(unit) = unit_len(after) {
            // Durations have several parts: `1m30s`.
            let mut len = number + unit;
            while let Some(more) = rest.get(len..).filter(|more| more.first().is_some_and(u8::is_ascii_digit)) {
                let (number, _) = decimal_len(more);
                let Some(unit) = unit_len(more.get(number..).unwrap_or_default()) else { break };
                len += number + unit;
            }
            return Token::Variable(len);
        }
        if after.first() == Some(&b'%') || after.starts_with(b" %") {
            return Token::Variable(number + if after.first() == Some(&b'%') { 1 } else { 2 });
        }
        // The seconds since the start of a step, as BuildKit prints them.
        let is_step_time = groups == 2 && after.first() == Some(&b' ') && self.line.ends_with(&[b'#', MARK, b' ']);
        if is_step_time || groups == 2 && after.first() == Some(&b' ') && self.line.is_empty() {
            return Token::Variable(number);
        }
        // The sizes of a progress bar: `93.7/374.8 kB`.
        if let Some(whole) = after.strip_prefix(b"/") {
            let (size, _) = decimal_len(whole);
            if let Some(unit) = unit_len(whole.get(size..).unwrap_or_default()).filter(|_| size > 0) {
                return Token::Variable(number + 1 + size + unit);
            }
        }
        let word = word_len(rest);
        if groups > 1 || word > integer {
            return Token::Literal(number.max(word));
        }
        for between in [&b"/"[..], b" of "] {
            let other = after.strip_prefix(between).map(digits_len).unwrap_or_default();
            let len = number + between.len() + other;
            let goes_on = rest.get(len).is_some_and(|b| is_word(*b) || *b == b'/');
            if other > 0 && !goes_on && !is_after_sign {
                return Token::Variable(len);
            }
        }
        let is_port = before == Some(b':') && (4..=5).contains(&integer);
        let is_numbered = before == Some(b'#') || before == Some(b'[') && after.first() == Some(&b']') && integer > 1;
        if integer >= 5 || is_port || is_numbered || self.is_after_id_word() {
            return Token::Variable(number);
        }
        Token::Literal(number)
    }

    /// Returns whether the last word names an ID.
    fn is_after_id_word(&self) -> bool {
        let line = self.line.as_slice();
        let trimmed = line.strip_suffix(b" ").or(line.strip_suffix(b"=")).or(line.strip_suffix(b": ")).unwrap_or(line);
        let from = trimmed.iter().rposition(|b| !b.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let word = trimmed.get(from..).unwrap_or_default();
        trimmed.len() < line.len() && BEFORE_IDS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
    }
}

/// Returns whether a bar is drawn in a line, with lines or blocks.
fn has_bar(line: &str) -> bool {
    let mut drawn = 0;
    line.chars().any(|c| {
        drawn = if ('\u{2500}'..='\u{259f}').contains(&c) { drawn + 1 } else { 0 };
        drawn >= MIN_BAR
    })
}

/// A piece of a line, by its length in bytes.
enum Token {
    /// Different in every run.
    Variable(usize),
    /// Compared as it is.
    Literal(usize),
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_len(text: &[u8]) -> usize {
    text.iter().take_while(|b| is_word(**b)).count()
}

fn digits_len(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Returns the length of a number with its decimals, and how many groups of digits dots separate: 2 for `1.5`.
fn decimal_len(text: &[u8]) -> (usize, usize) {
    let (mut len, mut groups) = (digits_len(text), 1);
    loop {
        let Some(sign @ (b'.' | b',')) = text.get(len).copied() else { return (len, groups) };
        let more = digits_len(text.get(len + 1..).unwrap_or_default());
        if more == 0 || sign == b',' && more != 3 {
            return (len, groups);
        }
        len += 1 + more;
        groups += usize::from(sign == b'.');
    }
}

/// Returns the length of a unit after a number, with a blank before it if it has several letters or is `s`.
fn unit_len(text: &[u8]) -> Option<usize> {
    let blank = usize::from(text.first() == Some(&b' '));
    let rest = text.get(blank..)?;
    let len = rest.iter().take_while(|b| b.is_ascii_alphabetic() || **b >= 0x80).count();
    let word = std::str::from_utf8(rest.get(..len)?).ok()?;
    if blank > 0 && len == 1 && word != "s" && word != "B" {
        return None;
    }
    let known = UNITS.iter().any(|unit| unit.eq_ignore_ascii_case(word));
    // A rate: `4 kB/s`.
    let rate = if rest.get(len..)?.starts_with(b"/s") { 2 } else { 0 };
    let goes_on = rest.get(len).is_some_and(|b| *b == b'_' || b.is_ascii_alphabetic());
    (known && !goes_on).then_some(blank + len + rate)
}

/// Returns the length of a date, with the time and the zone that follow it.
fn date(text: &[u8]) -> Option<usize> {
    let year = digits_len(text) == 4;
    let separator = *text.get(4).filter(|b| matches!(b, b'-' | b'/'))?;
    let month = digits_len(text.get(5..)?) == 2 && text.get(7) == Some(&separator);
    if !year || !month || digits_len(text.get(8..)?) != 2 {
        return None;
    }
    let mut len = 10;
    if matches!(text.get(len), Some(b'T' | b' '))
        && let Some(time) = clock(text.get(len + 1..)?)
    {
        len += 1 + time;
        let zone = text.get(len..).unwrap_or_default();
        len += match zone.first() {
            Some(b'Z') => 1,
            Some(b'+' | b'-') => 1 + zone.iter().skip(1).take_while(|b| b.is_ascii_digit() || **b == b':').count(),
            _ => 0,
        };
    }
    Some(len)
}

/// Returns the length of a time of day or of a duration such as `0:01:02.5`.
fn clock(text: &[u8]) -> Option<usize> {
    let mut len = digits_len(text);
    let mut parts = 1;
    while parts < 3 && text.get(len) == Some(&b':') && digits_len(text.get(len + 1..)?) == 2 {
        len += 3;
        parts += 1;
    }
    if parts == 1 || digits_len(text) > 2 {
        return None;
    }
    if matches!(text.get(len), Some(b'.' | b',')) {
        let decimals = digits_len(text.get(len + 1..).unwrap_or_default());
        len += if decimals > 0 { 1 + decimals } else { 0 };
    }
    let goes_on = text.get(len).is_some_and(|b| is_word(*b) && *b != b'Z' || *b == b':');
    (!goes_on).then(|| len + usize::from(text.get(len) == Some(&b'Z')))
}

/// Returns the length of what names a GitLab runner: the end of its token (`t3_aB3dE5f7_`), with the folder of the build
/// below it, or its system ID (`s_0123456789ab`).
fn runner_name(rest: &[u8]) -> Option<usize> {
    let is_name = |b: &u8| is_word(*b) || *b == b'-';
    let len = rest.iter().take_while(|b| is_name(b)).count();
    match rest {
        [b's' | b'r', b'_', id @ ..] => {
            let id = id.get(..12)?;
            let is_id = len == 14 && id.iter().all(u8::is_ascii_alphanumeric) && id.iter().any(u8::is_ascii_digit);
            is_id.then_some(len)
        }
        [b't', b'0'..=b'9', b'_', ..] if len == 12 => match rest.get(len..) {
            Some([b'/', below @ ..]) if digits_len(below) > 0 => Some(len + 1 + digits_len(below)),
            _ => Some(len),
        },
        _ => None,
    }
}

/// Returns the length of a UUID.
fn uuid(text: &[u8]) -> Option<usize> {
    let is_part =
        |at: usize, len: usize| text.get(at..at + len).is_some_and(|part| part.iter().all(u8::is_ascii_hexdigit));
    let dashes = [8, 13, 18, 23].iter().all(|at| text.get(*at) == Some(&b'-'));
    let parts = [(0, 8), (9, 4), (14, 4), (19, 4), (24, 12)].iter().all(|(at, len)| is_part(*at, *len));
    (dashes && parts).then_some(36)
}

/// Returns the length of a path in a folder for temporary files.
fn temporary_path(text: &[u8]) -> Option<usize> {
    const FOLDERS: &[&[u8]] = &[b"/tmp/", b"/var/tmp/", b"/var/folders/", b"/private/tmp/", b"/private/var/"];
    FOLDERS.iter().find(|folder| text.starts_with(folder))?;
    let ends = |b: &u8| {
        b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'(' | b')' | b',' | b';' | b':' | b']' | b'>')
    };
    Some(text.iter().position(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let mut normalizer = Normalizer::new(["main".to_owned(), "fix/login".to_owned()]);
        normalizer.fingerprint(0, a) == normalizer.fingerprint(0, b)
    }

    #[test]
    fn bars_of_progress_are_left_out() {
        let mut normalizer = Normalizer::default();
        // As pip and tqdm draw them without a terminal.
        for bar in [
            "     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 134.0/134.0 kB 331.2 MB/s eta 0:00:00",
            "     ━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━━━ 1.2/2.4 MB 20.5 MB/s eta 0:00:01",
            "epoch 3:  75%|███████▌  | 750/1000 [00:41<00:50, 10.9it/s]",
        ] {
            assert_eq!(normalizer.fingerprint(0, bar), None, "{bar}");
        }
        for line in ["──────── Layout tests ────────", "━━━━━━━━ error: 3 of 12 failed after 5s ━━━━━━━━", "██ 45%"]
        {
            assert!(normalizer.fingerprint(0, line).is_some(), "{line}");
        }
    }

    #[test]
    fn what_differs_in_every_run_is_left_out() {
        for (a, b) in [
            ("2026-03-02T11:04:05.006Z INFO ready", "2026-04-12 01:00:00,123 INFO ready"),
            ("[11:04:05] Starting", "[23:59:01.250] Starting"),
            ("BUILD SUCCESSFUL in 1m 2s", "BUILD SUCCESSFUL in 58s"),
            ("Finished `test` target(s) in 12.34s", "Finished `test` target(s) in 1m30s"),
            ("Running (target/debug/deps/app-1f2e3d4c5b6a7980)", "Running (target/debug/deps/app-99aa88bb77cc66dd)"),
            (
                "Checking out 1a2b3c4d as detached HEAD (ref is main)...",
                "Checking out 9f8e7d6c as detached HEAD (ref is fix/login)...",
            ),
            ("rootdir: /tmp/pytest-of-root/pytest-0/x", "rootdir: /tmp/pytest-of-root/pytest-17/x"),
            ("listening on 127.0.0.1:45213", "listening on 127.0.0.1:8123"),
            ("server port 4521 is open", "server port 81 is open"),
            (
                "Running on runner-abc12-project-9-concurrent-0 via host",
                "Running on runner-zz9-project-9-concurrent-3 via host",
            ),
            // gitlab-runner 18: the end of its token, its system ID, and the folder of the build.
            (
                "  on shared t3_aB3dE5f7_, system ID: s_0123456789ab",
                "  on shared t3_Zz9xY8w7-, system ID: r_Ab3dE5g7Hi9k",
            ),
            (
                "Initialized empty Git repository in /builds/t3_aB3dE5f7_/0/acme/rocket/.git/",
                "Initialized empty Git repository in /builds/t3_Zz9xY8w7-/12/acme/rocket/.git/",
            ),
            ("Job #4711 of 12", "Job #98 of 12"),
            (
                "Receiving objects:  45% (12/34), 1.20 MiB | 3.00 MiB/s",
                "Receiving objects: 100% (340/340), 14 kB | 900 kB/s",
            ),
            ("#8 12.34 Reading package lists...", "#9 0.5 Reading package lists..."),
            ("tests/test_a.py ......... [ 45%]", "tests/test_a.py .... [100%]"),
            ("[gw0] [ 33%] PASSED tests/test_a.py::test_b", "[gw3] [ 50%] PASSED tests/test_a.py::test_b"),
            ("id 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "id 12345678-90ab-cdef-1234-567890abcdef"),
            ("at 0x7ffd1234", "at 0x55aa"),
            ("> Task :compileJava UP-TO-DATE", "> Task :compileJava"),
            ("Time:        1.234 s, estimated 2 s", "Time:        15.1 s, estimated 9 s"),
            ("  PASS  src/sum.test.js (5.321 s)", "PASS src/sum.test.js (12 ms)"),
        ] {
            assert!(same(a, b), "{a}\n{b}");
        }
    }

    #[test]
    fn what_may_be_a_cause_is_compared() {
        for (a, b) in [
            ("GET /health 200", "GET /health 500"),
            ("exit status 1", "exit status 2"),
            ("Collecting requests 2.31.0", "Collecting requests 2.32.0"),
            ("python 3.11", "python 3.12"),
            ("test rows::are_drawn ... ok", "test rows::are_drawn ... FAILED"),
            ("tests/test_a.py ..... [ 45%]", "tests/test_a.py ..F.. [ 45%]"),
            ("3 passed", "2 passed, 1 failed"),
            ("> Task :test", "> Task :test FAILED"),
            ("deadbeef", "feedface"),
            ("t3_rows are drawn", "t3_cells are drawn"),
        ] {
            assert!(!same(a, b), "{a}\n{b}");
        }
    }

    #[test]
    fn lines_without_words_have_no_fingerprint() {
        let mut normalizer = Normalizer::default();
        assert!(["", "   ", "=======", "|  ^^^ |"].iter().all(|line| normalizer.fingerprint(0, line).is_none()));
        assert_eq!(PROGRESS.iter().filter(|word| !PROGRESS.contains(word)).count(), 0);
        assert!(PROGRESS.is_sorted(), "words are searched by halves");
        let progress = |line: &str| Normalizer::default().fingerprint(0, line).is_some_and(|f| f.progress.is_some());
        assert!(
            progress("   Compiling serde v1.0.1") && progress("#7 0.4 Get:1 http://deb.test") && !progress("error: no")
        );
    }

    #[test]
    fn problems_are_named() {
        for line in [
            "E       assert 3 == 4",
            "npm ERR! code 1",
            "AssertionError: x",
            "● sum › adds",
            "E: Unable to locate package",
        ] {
            assert!(names_problem(line), "{line}");
        }
        for line in ["test result: ok. 12 passed; 0 failed", "Compiling thiserror v1.0.1", "Found 0 errors"] {
            assert!(!names_problem(line), "{line}");
        }
        let verdicts = [
            ("ERROR: Job failed: exit code 1", false),
            ("ERROR: Job failed: command terminated with exit code 137", false),
            ("ERROR: Job failed: execution took longer than 1h0m0s seconds", true),
            ("ERROR: Job failed (system failure): prepare environment: no such image", true),
        ];
        for (verdict, gives) in verdicts {
            assert!(is_verdict(verdict) && gives_reason(verdict) == gives, "{verdict}");
        }
    }

    #[test]
    fn hostile_lines_are_read_in_bounded_time() {
        let mut normalizer = Normalizer::new(["ü".repeat(40)]);
        for line in
            ["9".repeat(100_000), "1.".repeat(50_000), "1:".repeat(50_000), "é".repeat(50_000), "/tmp/".repeat(9_000)]
        {
            let _ = normalizer.fingerprint(1, &line);
        }
    }
}
