//! The line of a failure that says what broke. Test tools write it at different places, around it headings, locations
//! and stack frames.

use crate::text;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 400;
/// The maximum number of lines that complete a message, such as the expected and the actual value.
const MAX_DETAILS: usize = 3;
/// The maximum number of lines that are searched.
const MAX_LINES: usize = 2_000;

/// Compiles patterns, each with the tools that print such lines.
fn table(patterns: &[(&str, &str)]) -> Option<Regex> {
    Regex::new(&patterns.iter().map(|(pattern, _)| *pattern).collect::<Vec<_>>().join("|")).ok()
}

/// Lines that are the message, wherever they stand. It is what follows.
static MARKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    table(&[
        (r"^E {2,}", "pytest 9.2"),
        (r"^(?:panic|fatal error): ", "go test 1.27"),
        (r"^\s*\tError:\s+", "testify 1.11"),
        (r"^ASSERT FAILED: ", "behave 1.3"),
    ])
});

/// Lines that say nothing about the reason.
static NOISE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    table(&[
        (r"^\s*[-=~_─━]*\s*$", "rules"),
        (r"[─━]{3,}\s*$", "Playwright 1.65: the title of the test"),
        (r"^=== (?:RUN|PAUSE|CONT|NAME)|^\s*--- (?:FAIL|PASS|SKIP)", "go test"),
        (
            r"^\s*(?i:failed|skipped|failure|error|fail|assertion failure|uncaught exception|fatal error):?$",
            "Catch2, Boost.Test, Minitest",
        ),
        (r"^\s*\((?:in test file|from function) .*$|^\s*in test file .*\)$", "bats 1.11"),
        (r"^- (?:file|line)\s*:|^EXCEPTION STACK TRACE|^Last checkpoint:", "Boost.Test"),
        (r"^Location: ", "behave 1.3"),
        (r"^\s*\tTest:\s", "testify 1.11"),
        (r"^[\w\\]+::\w+(?: with data set .*)?$", "PHPUnit 13"),
        (r"^\w+\([\w:]+\) \[.*\]:$", "Minitest 6"),
        (r"^thread '.*' (?:\(\d+\) )?panicked at [^']*\d:?$", "Rust"),
        (r"^Traceback \(most recent call last\)|^\s+File .*, line \d+", "Python"),
        (
            r"^\s*(?:at |❯ |from )\S.*$|^\s*# \S+:\d+|^\s*\.{3} \d+ more$",
            "stack frames of the JVM, JavaScript, .NET, Ruby",
        ),
        (
            r"^\s*\(?(?:[A-Za-z]:)?[\w./\\@+-]+\.\w+(?::\d+|\(\d+\))+:?\)?:?$",
            "GoogleTest, doctest, PHPUnit: only a location",
        ),
    ])
});

/// Names of what follows, and locations, which are shown elsewhere.
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    table(&[
        (r"^- message: ", "Boost.Test"),
        (r"^\[(?:FAILED|PANICKED|TIMEDOUT)\] ", "Ginkgo 2"),
        (r"^(?:[A-Za-z]:)?[\w./\\@+-]+\.[A-Za-z]\w*:\d+(?::\d+)?: ", "go test, mypy, busted"),
    ])
});

/// Messages that only say that it failed.
static EMPTY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    table(&[(
        r"^(?i:failed|failure|error|none|null|exception|unexpected exception|collection failure|test failed|assertion failed|\w+ produced messages)?$",
        "gotestsum, Boost.Test, behave, doctest, pytest, mypy",
    )])
});

/// An escape sequence, and the ways in which tools write the escape character in XML, which cannot contain it.
static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?: \x{1B} # as it is
        | \#x1B # pytest
        | \[NON-XML-CHAR-0x1B\] # CTest
        | &(?:amp;?)?\#(?:27|x1b); # Surefire
        | \^\[ # TAP::Formatter::JUnit
        | \x{241b} | \x{fffd} )
        \[ (?P<sgr> [0-9;:]* ) (?P<last> [a-zA-Z] )",
    )
    .ok()
});

/// A style sequence that lost its escape character, as GoogleTest writes it.
static LOST_ESCAPE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?P<before>^|[^\x{1B}\[])\[(?P<sgr>(?:\d{1,3};)*\d{1,3})m").ok());

/// The escape character.
pub const ESCAPE_CHARACTER: char = 0x1b as char;

/// Returns a text whose escape sequences are written with the escape character, so that they can be drawn.
pub fn restore_escapes(text: &str) -> Cow<'_, str> {
    let Some(escape) = ESCAPE.as_ref().filter(|_| text.contains('[')) else { return Cow::Borrowed(text) };
    let text = escape.replace_all(text, format!("{ESCAPE_CHARACTER}[$sgr$last"));
    match LOST_ESCAPE.as_ref() {
        // One alone may be a text in brackets.
        Some(lost) if text.contains("[0m") && lost.is_match(&text) => {
            Cow::Owned(lost.replace_all(&text, format!("$before{ESCAPE_CHARACTER}[${{sgr}}m")).into_owned())
        }
        _ => text,
    }
}

/// Returns a line without escape sequences.
pub fn without_escapes(line: &str) -> Cow<'_, str> {
    match ESCAPE.as_ref() {
        Some(escape) if line.contains('[') => escape.replace_all(line, ""),
        _ => Cow::Borrowed(line),
    }
}

fn matches(pattern: &LazyLock<Option<Regex>>, line: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// Returns the rest of a line after a match at its start.
fn after<'a>(pattern: &LazyLock<Option<Regex>>, line: &'a str) -> Option<&'a str> {
    let found = pattern.as_ref()?.find(line)?;
    line.get(found.end()..)
}

/// Returns the message of a failure on one line, from its text, which all tools have, and the attributes `message` and
/// `kind`, which servers tell only of failures without text.
pub fn what_broke(text: &str, message: &str, kind: &str) -> String {
    let is_reason = |reason: &String| !matches(&EMPTY, reason);
    let found = reason(text, &marked).or_else(|| {
        let mut all = [message, text, kind].into_iter();
        all.find_map(|text| reason(text, &unmarked).filter(is_reason))
    });
    // A word such as "Failed" is better than nothing.
    let first_line = || {
        [message, text, kind]
            .into_iter()
            .find_map(|text| text.trim().lines().find(|line| !line.starts_with("=== ")))
            .map(str::to_owned)
    };
    let line = found.or_else(first_line).unwrap_or_default();
    text::head_bytes(without_escapes(&line).trim(), MAX_MESSAGE).to_owned()
}

/// Returns the index of the line that is marked as the message.
fn marked(lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| after(&MARKED, line).is_some_and(|rest| !rest.trim().is_empty()))
}

/// Returns the index of the line that is the message because of where it stands.
fn unmarked(lines: &[&str]) -> Option<usize> {
    let is_reason = |line: &&str| !matches(&NOISE, line) && !matches(&EMPTY, line.trim());
    of_traceback(lines).or_else(|| lines.iter().position(is_reason))
}

/// Returns the line of a text that says what broke, with the lines that complete it.
fn reason(text: &str, find: &dyn Fn(&[&str]) -> Option<usize>) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let at = find(&lines)?;
    let line = *lines.get(at)?;
    let mark = after(&MARKED, line).map_or(0, |rest| line.len() - rest.len());
    let indent = |line: &str| line.len() - line.trim_start().len();
    let words = line.get(mark..)?.trim();
    let mut reason = after(&LABEL, words).unwrap_or(words).to_owned();
    // A head is completed by the lines below it, others by what is indented.
    let is_head = reason.ends_with(':') || reason == "Expected" || reason.starts_with("Failure/Error:");
    let is_pytest = mark > 0 && line.starts_with('E');
    let mut details = 0;
    for next in lines.iter().skip(at + 1) {
        let Some(next) = (if is_pytest { next.strip_prefix('E') } else { Some(*next) }) else { break };
        let is_detail = is_head || mark == 0 && indent(next) > indent(line);
        match next.trim() {
            "" if is_head && details == 0 => continue,
            "" => break,
            words if is_detail && details < MAX_DETAILS && !matches(&NOISE, next) => {
                reason.push(' ');
                reason.push_str(words);
                details += 1;
            }
            _ => break,
        }
    }
    Some(reason).filter(|reason| !reason.trim().is_empty())
}

/// Returns the line with the exception of a Python traceback: the last one that is not indented.
fn of_traceback(lines: &[&str]) -> Option<usize> {
    let last = lines.iter().rposition(|line| line.starts_with("Traceback (most recent call last)"))?;
    let after = lines.iter().enumerate().skip(last + 1);
    after.into_iter().find(|(_, line)| line.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_broke() {
        // Each text as the tool writes it; the attribute that it has beside it.
        for (tool, text, message, expected) in [
            (
                "pytest 9.2",
                "def test_a():\n>       assert f() == 4\nE       assert 3 == 4\nE        +  where 3 = f()\n\na.py:5: AssertionError",
                "assert 3 == 4",
                "assert 3 == 4",
            ),
            (
                "pytest 9.2, setup",
                "@pytest.fixture\n>   def a(): raise KeyError('x')\nE   KeyError: 'x'\n\na.py:1: KeyError",
                "failed on setup with \"KeyError: 'x'\"",
                "KeyError: 'x'",
            ),
            (
                "gotestsum 1.8",
                "=== RUN   TestA\n    a_test.go:4: got 3, want 4\n--- FAIL: TestA (0.00s)\n",
                "Failed",
                "got 3, want 4",
            ),
            ("gotestsum 1.8, parent", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n", "Failed", "Failed"),
            (
                "testify 1.11",
                "=== RUN   TestA\n    a_test.go:9: \n        \tError Trace:\t/builds/a/b/a_test.go:9\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\n",
                "Failed",
                "Not equal: expected: 1 actual  : 2",
            ),
            (
                "Ginkgo 2.28",
                "[FAILED] Expected\n    <int>: 3\nto equal\n    <int>: 4\nIn [It] at: /builds/a/b/a_test.go:12 @ 11/28/26\n",
                "Expected\n    <int>: 3\nto equal\n    <int>: 4",
                "Expected <int>: 3 to equal <int>: 4",
            ),
            (
                "GoogleTest 1.17",
                "/builds/a/b/g.cc:3\nExpected equality of these values:\n  1+2\n    Which is: 3\n  4\n",
                "",
                "Expected equality of these values: 1+2 Which is: 3 4",
            ),
            (
                "Catch2 3.7",
                "FAILED:\n  CHECK( 1+2==4 )\nwith expansion:\n  3 == 4\nat /builds/a/b/c.cc:4",
                "1+2==4",
                "1+2==4",
            ),
            (
                "doctest 2.5",
                "/builds/a/b/d.cc:5:\nCHECK( 1+2==4 ) is NOT correct!\n  values: CHECK( 3 == 4 )\n",
                "3 == 4",
                "3 == 4",
            ),
            (
                "Boost.Test",
                "ASSERTION FAILURE:\n- file   : b.cc\n- line   : 6\n- message: check 1+2==4 has failed",
                "failure",
                "check 1+2==4 has failed",
            ),
            (
                "Boost.Test",
                "UNCAUGHT EXCEPTION:\n- file: unknown location\n- line: 0\n\n\nEXCEPTION STACK TRACE: ----\nstd::runtime_error: boom\n----\n\nLast checkpoint:\n- message: \"entry\"",
                "unexpected exception",
                "std::runtime_error: boom",
            ),
            ("bats 1.11", "(in test file a.bats, line 3)\n  `[ 1 -eq 2 ]' failed", "", "`[ 1 -eq 2 ]' failed"),
            (
                "RSpec 3.13",
                "Failure/Error: expect(1 + 2).to eq(4)\n\n  expected: 4\n       got: 3\n\n  (compared using ==)\n./a_spec.rb:3:in 'block'",
                "\nexpected: 4\n     got: 3\n",
                "expected: 4 got: 3",
            ),
            (
                "PHPUnit 13",
                "ATest::testBreaks\nFailed asserting that 3 is identical to 4.\n\n/builds/a/b/ATest.php:9",
                "",
                "Failed asserting that 3 is identical to 4.",
            ),
            (
                "Minitest 6",
                "Failure:\ntest_a(ATest) [a_test.rb:5]:\nExpected: 4\n  Actual: 3\n",
                "Expected: 4\n  Actual: 3",
                "Expected: 4 Actual: 3",
            ),
            (
                "nextest 0.9",
                "thread 'a' (12) panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n right: 4\nnote: run with",
                "thread 'a' panicked at src/lib.rs:9:9",
                "assertion `left == right` failed left: 3 right: 4",
            ),
            (
                "unittest",
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 5, in test\n    self.assertEqual(3, 4)\nAssertionError: 3 != 4\n",
                "3 != 4",
                "3 != 4",
            ),
            ("Surefire 3.5", "java.lang.AssertionError: no\n\tat org.example.A.b(A.java:7)", "no", "no"),
            (
                "JunitXml.TestLogger",
                "   at T.A.B() in /builds/a/b/A.cs:line 9",
                "Assert.Equal() Failure: Values differ\nExpected: 4\nActual:   3",
                "Assert.Equal() Failure: Values differ",
            ),
            (
                "Playwright 1.65",
                "  a.spec.ts:4:3 › sum › breaks ─────\n\n    Error: expect(received).toBe(expected)\n\n    Expected: 4\n",
                "expect(received)",
                "expect(received)",
            ),
            (
                "behave 1.3",
                "Failing step: Given two ... failed in 0.000s\nLocation: a.feature:5\nASSERT FAILED: no",
                "no",
                "no",
            ),
            (
                "mypy 2.4",
                "m.py:2: error: Incompatible return value type",
                "mypy produced messages",
                "error: Incompatible return value type",
            ),
            ("Robot 7.5", "", "no & <match>: a != b", "no & <match>: a != b"),
            ("Meson", "", "", ""),
        ] {
            assert_eq!(what_broke(text, message, ""), expected, "{tool}");
        }
        assert_eq!(what_broke("", "", "java.lang.OutOfMemoryError"), "java.lang.OutOfMemoryError");
        // Servers tell only the text.
        for (tool, text, expected) in [
            (
                "Catch2 3.7",
                "FAILED:\n  CHECK( 1+2==4 )\nwith expansion:\n  3 == 4\nat /builds/a/b/c.cc:4",
                "CHECK( 1+2==4 )",
            ),
            (
                "doctest 2.5",
                "/builds/a/b/d.cc:5:\nCHECK( 1+2==4 ) is NOT correct!\n  values: CHECK( 3 == 4 )\n",
                "CHECK( 1+2==4 ) is NOT correct! values: CHECK( 3 == 4 )",
            ),
            (
                "RSpec 3.13",
                "Failure/Error: expect(1 + 2).to eq(4)\n\n  expected: 4\n       got: 3\n\n  (compared using ==)\n./a_spec.rb:3",
                "Failure/Error: expect(1 + 2).to eq(4) expected: 4 got: 3",
            ),
            (
                "unittest",
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 5, in test\n    self.x()\nAssertionError: 3 != 4\n",
                "AssertionError: 3 != 4",
            ),
            (
                "Surefire 3.5",
                "java.lang.AssertionError: no\n\tat org.example.A.b(A.java:7)",
                "java.lang.AssertionError: no",
            ),
            (
                "Playwright 1.65",
                "  a.spec.ts:4:3 › sum › breaks ─────\n\n    Error: expect(received).toBe(expected)\n\n    Expected: 4\n",
                "Error: expect(received).toBe(expected)",
            ),
        ] {
            assert_eq!(what_broke(text, "", ""), expected, "{tool}");
        }
    }

    #[test]
    fn escape_sequences_are_restored_and_removed() {
        for written in [
            "#x1B[31mred#x1B[0m",
            "^[[31mred^[[0m",
            "&amp#27;[31mred&amp#27;[0m",
            "[31mred[0m",
            "\u{1b}[31mred\u{1b}[0m",
        ] {
            assert_eq!(restore_escapes(written), "\u{1b}[31mred\u{1b}[0m", "{written}");
            assert_eq!(without_escapes(&restore_escapes(written)), "red", "{written}");
        }
        for other in ["took [30m]", "a[1m", "#x1B", "no"] {
            assert_eq!(restore_escapes(other), other);
        }
    }
}
