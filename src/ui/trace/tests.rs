//! Tests of traces, independent of how their bytes are split into chunks.

use super::*;
use crate::cost::cost;
use crate::dice::Dice;
use crate::doc::DocLine;
use crate::search::{Match, Matches, MultilineRegex};
use crate::text;
use crate::theme::{Background, Role, Theme};

fn trace(text: &str) -> (Trace, Folds) {
    let mut trace = Trace::default();
    trace.push(text.as_bytes());
    let mut folds = Folds::default();
    folds.refresh(&trace);
    (trace, folds)
}

fn shown(trace: &Trace, folds: &Folds) -> Vec<String> {
    trace.view(0..usize::MAX, folds).into_iter().map(|row| row.text.text).collect()
}

const JOB: &str = "Running with gitlab-runner\n\
    section_start:100:prepare[collapsed=true]\r\x1b[0K\x1b[0K\x1b[36;1mPreparing environment\x1b[0;m\nhost one\n\
    section_end:104:prepare\r\x1b[0Ksection_start:104:script\r\x1b[0K\x1b[0KExecuting\n$ make\n\
    section_start:105:inner\r\x1b[0Kinner part\ncc a.c\n\x1b[0Ksection_end:106:inner\r\x1b[0K\n\
    \x1b[31mred\nstill red\x1b[0m\n\
    section_end:189:script\r\x1b[0K\x1b[32;1mJob succeeded\x1b[0;m\nta";

#[test]
fn sections_have_names_durations_and_nesting() {
    let (trace, mut folds) = trace(JOB);
    folds.set_all(&trace, false);
    assert_eq!(
        shown(&trace, &folds),
        [
            "Running with gitlab-runner",
            "Preparing environment",
            "host one",
            "Executing",
            "$ make",
            "inner part",
            "cc a.c",
            "red",
            "still red",
            "Job succeeded",
            "ta"
        ]
    );
    let sections: Vec<_> =
        trace.sections().iter().map(|s| (s.name.as_str(), s.line, s.end, s.seconds, s.depth, s.collapsed)).collect();
    assert_eq!(
        sections,
        [
            ("prepare", 1, Some(3), Some(4), 0, true),
            ("script", 3, Some(9), Some(85), 0, false),
            ("inner", 5, Some(7), Some(1), 1, false)
        ]
    );
}

#[test]
fn folding_hides_lines_and_keeps_row_numbers() {
    let (trace, mut folds) = trace(JOB);
    // By the runner's default, the first section is folded.
    assert_eq!(folds.rows(&trace), 10);
    assert_eq!(folds.line(2), 3);
    assert_eq!(folds.toggle(&trace, 4), Some(3));
    assert_eq!(
        shown(&trace, &folds),
        ["Running with gitlab-runner", "Preparing environment", "Executing", "Job succeeded", "ta"]
    );
    assert_eq!(folds.row(7), 2, "a hidden line stands at its heading");
    for row in 0..folds.rows(&trace) {
        assert_eq!(folds.row(folds.line(row)), row);
    }
    folds.reveal(&trace, 6);
    assert_eq!(folds.line(folds.row(6)), 6);
}

fn drawn(line: &DocLine) -> String {
    line.gutter.plain_text() + &line.text.plain_text()
}

#[test]
fn a_section_heading_shows_its_mark_and_duration() {
    let (trace, folds) = trace(JOB);
    let theme = Theme::for_background(Background::Dark);
    let layout = RowLayout { numbers: 3, times: false, width: 35 };
    let rows = trace.view(1..4, &folds);
    let lines: Vec<String> = rows.iter().map(|row| drawn(&row.draw(&theme, &layout, &[]))).collect();
    assert_eq!(lines[0].trim_end_matches(&text::duration(4.0)).trim_end(), "  2  ▸ Preparing environment");
    assert_eq!(text::width(&lines[0]), 40);
    assert!(lines[1].starts_with("  4  ▾ Executing ") && lines[1].ends_with(&text::duration(85.0)));
    assert_eq!(lines[2], "  5  $ make");
    let found = rows[2].draw(&theme, &layout, &[(2..6, Role::Match)]);
    assert_eq!(found.marks, [(2..6, theme.style(Role::Match))]);
}

#[test]
fn styles_continue_across_lines_and_blocks() {
    let mut text = String::from("\x1b[31mstart\n");
    for line in 0..60_000 {
        text.push_str(&format!("line number {line} of a long trace\n"));
    }
    let (trace, folds) = trace(&text);
    assert!(!trace.closed.is_empty());
    assert_eq!(trace.len_lines(), 60_001);
    for line in [0, 1, 255, 256, 257, 30_000, 59_999, 60_000] {
        let row = &trace.view(line..line + 1, &folds)[0];
        assert_eq!(row.text.runs.len(), 1, "line {line}");
        if line > 0 {
            assert_eq!(row.text.text, format!("line number {} of a long trace", line - 1));
        }
    }
}

#[test]
fn timestamps_are_separated_and_lines_continued() {
    let (trace, folds) = trace(
        "2026-06-21T00:00:00.123456Z 00O section_start:7:a_b\r\x1b[0K\n\
         2026-06-21T00:00:01.123456Z 00O 10%\n\
         2026-06-21T00:00:02.123456Z 00O+ 20%\n\
         2026-06-21T00:00:03.123456Z 01E done\n\
         2026-06-21T00:00:04.123456Z 01E+!\n\
         2026-06-2",
    );
    assert!(trace.has_times());
    assert_eq!(shown(&trace, &folds), ["a b", "10% 20%", "done!"]);
    let row = &trace.view(1..2, &folds)[0];
    let layout = RowLayout { numbers: 0, times: true, width: 40 };
    assert_eq!(drawn(&row.draw(&Theme::plain(), &layout, &[])), "00:00:01  10% 20%");
    assert_eq!(layout.gutter(), 10);
}

#[test]
fn errors_are_found_in_the_unfinished_line() {
    let (trace, _) = trace(
        "ok\n\x1b[1;31merror\x1b[0m\x1b[1m: no such thing\nstderror: none?\n0 failed\nthread 'x' panicked at a.rs\nfine\nERROR now",
    );
    let find = |pattern: &Pattern| trace.matching_lines(pattern, 100, &|| false).lines;
    assert_eq!(find(&Patterns::default().errors), [1, 4, 6]);
    assert_eq!(trace.matching_lines(&Patterns::default().errors, 2, &|| false).lines, [1, 4]);
    assert!(find(&Patterns::default().warnings).is_empty());
    // The user's expressions are reasons, besides the known ones.
    let own = Patterns::new(&["0 failed".into(), "^fine$".into()], &[]).unwrap();
    assert_eq!(find(&own.errors), [3, 5]);
    let mut failed = trace.clone();
    failed.push(b" and then\n--- FAIL: TestA\n");
    assert_eq!(failed.matching_lines(&own.errors, 100, &|| false).lines, [3, 5, 7]);
    assert!(Patterns::new(&[], &["(".into()]).is_err_and(|(expression, _)| expression == "("));
}

#[test]
fn large_custom_patterns_are_accepted_up_to_a_limit() {
    let mut trace = Trace::default();
    trace.push(format!("ok\n{}\nfine\n", "é".repeat(900)).as_bytes());
    // Hundreds of Unicode letters take megabytes of automaton, more than an interactive search may use.
    let large = || r"^\pL{100}\pL*$".to_owned();
    assert!(crate::search::MultilineRegex::query(&large()).is_none_or(|typed| typed.first(b"ok\n", 0).is_none()));
    let own = Patterns::new(&[large(), large(), "ok".into()], &[]).unwrap();
    assert_eq!(trace.matching_lines(&own.errors, 100, &|| false).lines, [0, 1]);
    let huge = r"\w{9000}".to_owned();
    let refused = Patterns::new(&["fine".into(), huge.clone()], &[]).err();
    assert_eq!(refused, Some((huge, "expression too large".into())));
}

#[test]
fn an_endless_line_is_truncated_independent_of_chunks() {
    let long = "x".repeat(MAX_HEAD_BYTES + MAX_END_BYTES + 4321) + "the end\nnext\n";
    let (whole, _) = trace(&long);
    let mut parts = Trace::default();
    long.as_bytes().chunks(70_001).for_each(|chunk| parts.push(chunk));
    for trace in [&whole, &parts] {
        assert_eq!((trace.len_lines(), trace.bytes_len()), (2, long.len() as u64));
        assert_eq!(
            (trace.shared.bytes_in_memory(), trace.open.bytes.as_slice()),
            ((MAX_HEAD_BYTES + MAX_END_BYTES + 1) as u64, &b"next\n"[..])
        );
        assert_eq!(trace.text(1).as_deref(), Some("next"));
        let row = &trace.view(0..1, &Folds::default())[0];
        let shown = drawn(&row.draw(&Theme::plain(), &RowLayout { numbers: 0, times: false, width: 40 }, &[]));
        assert!(shown.ends_with("(line truncated)"));
    }
    let mut endless = Trace::default();
    (0..200).for_each(|_| endless.push(&[b'x'; 1 << 17]));
    assert!(endless.open.bytes.len() < 4 * MAX_HEAD_BYTES, "{}", endless.open.bytes.len());
    let mut onward = Trace::default();
    onward.push(b"2026-06-21T00:00:00.123456Z 00O start\n");
    let line = format!("2026-06-21T00:00:00.123456Z 00O+{}\n", "y".repeat(60_000));
    (0..200).for_each(|_| onward.push(line.as_bytes()));
    assert!(onward.open.bytes.len() < 4 * MAX_HEAD_BYTES, "{}", onward.open.bytes.len());
}

#[test]
fn a_search_sees_the_shown_text() {
    let (trace, _) = trace("a \x1b[31mfo\x1b[0mo b\nfoo\n");
    let found = trace.search(&MultilineRegex::query("foo").unwrap(), 0, Matches::default(), &|| false);
    assert_eq!(found.matches, [Match { line: 0, range: 2..5 }, Match { line: 1, range: 0..3 }]);
    assert!(!found.capped);
    assert!(trace.search(&MultilineRegex::query("foo").unwrap(), 0, Matches::default(), &|| true).matches.is_empty());
}

#[test]
fn a_shorter_trace_starts_over() {
    let (mut trace, mut folds) = trace(JOB);
    trace.reset();
    folds.refresh(&trace);
    assert_eq!((trace.len_lines(), trace.bytes_len(), folds.rows(&trace)), (0, 0, 0));
    trace.push(b"again");
    assert_eq!(shown(&trace, &folds), ["again"]);
}

#[test]
fn chunks_may_end_anywhere() {
    let likely: &[&[u8]] = &[
        b"section_start:1:a\r\x1b[0K",
        b"section_end:9:a\r\x1b[0K",
        b"section_start:1:b[collapsed=true]\r\x1b[0K",
        b"section_end:9:b\r\x1b[0K",
        b"\n",
        b"text",
        b"\x1b[31m",
        b"\r",
        b" ",
        b"error: x\n",
        b"\x1b[A",
        b"\x1b[2A\x1b[2K",
        b"\n2026-06-21T00:00:00.123456Z 00O ",
        b"\n2026-06-21T00:00:00.123456Z 00O+",
    ];
    let mut dice = Dice(99);
    for round in 0..400 {
        let mut bytes = dice.bytes(600, likely);
        if round % 2 == 0 {
            bytes.splice(0..0, b"2026-06-21T00:00:00.123456Z 00O ".iter().copied());
        }
        let mut whole = Trace::default();
        whole.push(&bytes);
        let mut parts = Trace::default();
        let mut folds = Folds::default();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(dice.below(rest.len()) + 1);
            parts.push(head);
            folds.refresh(&parts);
            let rows = folds.rows(&parts);
            assert_eq!(parts.view(0..usize::MAX, &folds).len(), rows);
            rest = tail;
        }
        let mut other = Folds::default();
        other.refresh(&whole);
        assert_eq!(whole.view(0..usize::MAX, &other), parts.view(0..usize::MAX, &folds));
        assert_eq!(whole.sections(), parts.sections());
        let lines = whole.len_lines();
        for line in 0..lines {
            assert!(other.row(line) < other.rows(&whole).max(1), "{bytes:?}");
            // A line rendered alone is the same as among the others.
            let row = other.row(line);
            let all = whole.view(0..usize::MAX, &other);
            assert_eq!(whole.view(row..row + 1, &other)[0], all[row]);
        }
    }
}

/// Returns the results of a search that examines each line separately.
fn slowly(trace: &Trace, query: &str) -> (Vec<Match>, Vec<u32>) {
    let pattern = crate::search::pattern(query).unwrap();
    let (mut hits, mut lines) = (Vec::new(), Vec::new());
    for line in 0..trace.len_lines() {
        let text = trace.read_text(line).unwrap();
        let found = pattern.find_iter(&text).map(|hit| hit.range()).filter(|range| !range.is_empty());
        hits.extend(found.map(|range| Match { line, range }));
        lines.extend(pattern.is_match(&text).then_some(line as u32));
    }
    (hits, lines)
}

#[test]
fn a_search_over_pages_matches_one_over_lines() {
    let likely: &[&[u8]] = &[
        b"error: no such thing",
        b"Error",
        b"er\x1b[31mror",
        b"\x1b[0K",
        b"\x1b[1K",
        b"\x1b[3G",
        b"\x1b]8;;http://a.b\x1b\\",
        b"\x1b]0;",
        b"\x1b",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r\r\n",
        b"10%\r20%\r",
        b"\r",
        b"\t",
        b"\x08",
        b" ",
        b"x y z",
        "gr\u{fc}n".as_bytes(),
        "\u{754c}".as_bytes(),
        "e\u{301}".as_bytes(),
        "\u{202e}".as_bytes(),
        "\u{ad}".as_bytes(),
        b"\xff",
        b"section_start:1:a_b\r\x1b[0K",
        b"section_start:1:b[collapsed=true]\r\x1b[0Kwords",
        b"section_end:9:a_b\r\x1b[0K",
        b"\n2026-06-21T00:00:00.123456Z 00O ",
        b"\n2026-06-21T00:00:00.123456Z 00O+",
    ];
    let queries = [
        "error",
        "Error",
        "r.*r",
        "[^x]+",
        "\\s+",
        "^",
        "$",
        "^$",
        "^ ",
        "\\Ae",
        "\\z",
        "\\w+$",
        "x*",
        "(?s).+",
        "(?m)^e",
        "a|b\\n",
        "n\\nx",
        "\\berr",
        "\\Brr",
        "(",
        "\u{fc}",
        "b",
        "\\W",
        "(?i:ERR)or",
        ".",
        "o\\b",
        "[\\n]",
        "e{2,3}|r{1,2}",
        "(er)(ror)?",
        "<U",
    ];
    let mut dice = Dice(7);
    let queries: Vec<_> = queries.iter().map(|query| (*query, MultilineRegex::query(query).unwrap())).collect();
    for round in 0..60 {
        let mut bytes = dice.bytes(500, likely);
        if round % 3 == 0 {
            bytes.splice(0..0, b"2026-06-21T00:00:00.123456Z 00O ".iter().copied());
        }
        let mut trace = Trace::default();
        trace.push(&bytes);
        let texts: Vec<String> = (0..trace.len_lines()).map(|line| trace.read_text(line).unwrap()).collect();
        let plain: String = texts.iter().map(|text| format!("{text}\n")).collect();
        assert_eq!(trace.plain(1 << 20, &|| false), (plain, true), "{bytes:?}");
        for (query, pattern) in &queries {
            let (hits, lines) = slowly(&trace, query);
            let from = dice.below(trace.len_lines() + 1);
            let found = trace.search(pattern, 0, Matches::default(), &|| false);
            assert_eq!(found.matches, hits, "{query} in {texts:?}");
            let known =
                Matches { matches: hits.iter().take_while(|hit| hit.line < from).cloned().collect(), capped: false };
            assert_eq!(trace.search(pattern, from, known, &|| false).matches, hits, "{query} from {from} in {texts:?}");
            assert_eq!(trace.filter(pattern, 0, Vec::new(), &|| false), lines, "{query} in {texts:?}");
        }
    }
}

#[test]
fn a_search_that_skips_lines_finds_all_matches() {
    let mut trace = Trace::default();
    // In one line of fifty, the shown text is more than the bytes: a letter in between is colored, comes later or earlier,
    // or is not ASCII.
    let special = [
        "war\x1b[1mn\x1b[0ming: colored",
        "xxxning\rwar",
        "wax\x08rning",
        "\x1b]0;title\x07warning",
        "wa\x1b[2Grning",
        "\u{fc}warning",
        "\u{17f}top",
        "section_start:1:warn_here\r\x1b[0K",
        "section_end:1:warn_here\r\x1b[0Kwarning",
        "wa\x00rning",
        "w\x1b(Barning",
        "Warning\tstop",
    ];
    for n in 0..40_000 {
        match n % 50 {
            7 => trace.push(format!("{n} {}\n", special[n / 50 % special.len()]).as_bytes()),
            _ => trace.push(format!("\x1b[32m  Compiling\x1b[0m part {n}\r\n").as_bytes()),
        }
    }
    trace.push(b"the last war\x1b[1mning");
    for query in
        ["warning", "Warning", "warn\\w*: .*", "war|stop", "stop", "xning", "war[xn]", "^warn here$", "last warn"]
    {
        let pattern = MultilineRegex::query(query).unwrap();
        assert!(pattern.literals().is_some(), "{query}");
        let (hits, lines) = slowly(&trace, query);
        assert!(!hits.is_empty() && hits.len() < 10_000, "{query}: {}", hits.len());
        assert_eq!(trace.search(&pattern, 0, Matches::default(), &|| false).matches, hits, "{query}");
        assert_eq!(trace.filter(&pattern, 0, Vec::new(), &|| false), lines, "{query}");
        let known = Matches { matches: hits.iter().take_while(|hit| hit.line < 777).cloned().collect(), capped: false };
        assert_eq!(trace.search(&pattern, 777, known, &|| false).matches, hits, "{query} from a line on");
    }
}

#[test]
fn a_search_reports_matches_in_line_order() {
    let mut trace = Trace::default();
    for line in 0..40_000 {
        trace.push(format!("\x1b[32m   Compiling\x1b[0m crate-{line} v0.1 (/builds/acme/part)\r\n").as_bytes());
    }
    trace.push("y".repeat(300_000).as_bytes());
    trace.push(b" crate-7 behind what is drawn\nlast crate-7");
    let find = |query: &str| {
        let found = trace.search(&MultilineRegex::query(query).unwrap(), 0, Matches::default(), &|| false);
        found.matches.iter().map(|hit| (hit.line, hit.range.start)).collect::<Vec<_>>()
    };
    assert_eq!(find("crate-7 "), [(7, 13)]);
    assert_eq!(find("crate-7$"), [(40_001, 5)]);
    assert_eq!(find("crate-3999\\d "), (39_990..40_000).map(|line| (line, 13)).collect::<Vec<_>>());
    let all =
        trace.filter(&MultilineRegex::query("").or(MultilineRegex::query("^")).unwrap(), 0, Vec::new(), &|| false);
    assert_eq!(all, (0..40_002).collect::<Vec<u32>>());
}

#[test]
fn a_last_line_of_escapes_is_hidden_until_text_follows() {
    let (mut trace, _) = trace("\x1b[32;1mJob succeeded\n\x1b[0;m\n");
    assert_eq!((trace.len_lines(), trace.view(0..9, &Folds::default()).len()), (1, 1));
    trace.push(b"more");
    assert_eq!((trace.len_lines(), trace.text(1).as_deref(), trace.text(2).as_deref()), (3, Some(""), Some("more")));
    trace.push(b"\n");
    assert_eq!(trace.len_lines(), 3);
    // Empty lines are intentional, and a heading counts however it looks.
    trace.push(b"\n");
    assert_eq!(trace.len_lines(), 4);
    trace.push(b"section_start:1:a\r\x1b[0K\n");
    assert_eq!((trace.len_lines(), trace.sections().len()), (5, 1));
}

#[test]
fn a_long_line_is_parsed_only_once() {
    let hostile = "x\x1b[2K".repeat(ansi::MAX_BYTES / 5);
    let (trace, folds) = trace(&format!("{hostile}\n{hostile}\nend\n"));
    let (first, before) = cost(|| trace.view(0..3, &folds));
    let (again, after) = cost(|| trace.view(0..3, &folds));
    assert_eq!(first, again);
    assert!(after.allocated * 20 < before.allocated, "{} after {} bytes", after.allocated, before.allocated);
}

#[test]
fn the_line_count_is_known_without_parsing_the_last_line() {
    let (mut trace, folds) = trace("one\n");
    trace.push("\x1b[0m".repeat(60_000).as_bytes());
    assert_eq!(trace.len_lines(), 1);
    trace.push(b"x");
    assert_eq!((trace.len_lines(), shown(&trace, &folds)), (2, vec!["one".into(), "x".into()]));
    trace.push(b"\n");
    assert_eq!(trace.len_lines(), 2);
}

#[test]
fn sections_are_bounded_and_their_text_is_kept() {
    let flood: String =
        (0..150_000).map(|n| format!("section_start:1:s{n}\r\x1b[0Kx\nsection_end:2:s{n}\r\x1b[0K\n")).collect();
    let (trace, _) = trace(&flood);
    assert_eq!(trace.sections().len(), 100_000);
    assert_eq!(trace.text(trace.len_lines() - 1).as_deref(), Some("x"));
}

#[test]
fn the_memory_of_a_trace_includes_its_open_lines() {
    let (mut trace, _) = trace("");
    assert_eq!(trace.bytes_in_memory(), 0);
    trace.push(JOB.as_bytes());
    assert!(trace.bytes_in_memory() >= JOB.len() as u64, "{}", trace.bytes_in_memory());
}

#[test]
fn a_text_with_unreadable_parts_is_incomplete() {
    struct Broken;
    impl SpillStore for Broken {
        fn append(&self, _bytes: &[u8]) -> std::io::Result<u64> {
            Ok(0)
        }

        fn read_at(&self, _at: u64, _len: usize) -> std::io::Result<Vec<u8>> {
            Err(std::io::Error::other("bad sector"))
        }
    }
    let (trace, _) = trace(&"a line of text\n".repeat(200_000));
    assert!(trace.plain(1 << 30, &|| false).1);
    trace.spill(0, || Ok(Box::new(Broken)));
    let (text, whole) = trace.plain(1 << 30, &|| false);
    assert!(!whole && text.len() < 15 * 200_000, "{}", text.len());
}

#[test]
fn a_continuation_without_a_line_before_it_is_a_line() {
    let (trace, folds) = trace(
        "2026-06-21T00:00:01.123456Z 00O+ the rest\n\
         2026-06-21T00:00:02.123456Z 00O next\n",
    );
    assert_eq!(shown(&trace, &folds), [" the rest", "next"]);
}

/// The writer of a runner that adds timestamps to one stream.
struct Stamper {
    out: Vec<u8>,
    /// Whether a write with a carriage return becomes one entry, as in newer runners. In older ones, it is split after
    /// its last carriage return.
    is_newer: bool,
    stream: &'static str,
    buffer: Vec<u8>,
    continues: bool,
    second: u32,
}

impl Stamper {
    const BUFFER_BYTES: usize = 8 * 1024;

    fn new(stream: &'static str, is_newer: bool) -> Stamper {
        Stamper { out: Vec::new(), is_newer, stream, buffer: Vec::new(), continues: false, second: 0 }
    }

    fn header(&mut self) -> Vec<u8> {
        self.second += 1;
        let flag = if std::mem::take(&mut self.continues) { '+' } else { ' ' };
        let (minute, second) = (self.second / 60 % 60, self.second % 60);
        format!("2026-05-22T12:{minute:02}:{second:02}.962646Z {}{flag}", self.stream).into_bytes()
    }

    /// Writes what is buffered or a header, then `bytes`.
    fn flush(&mut self, bytes: &[u8]) {
        let start = if self.buffer.is_empty() { self.header() } else { std::mem::take(&mut self.buffer) };
        self.out.extend(start);
        self.out.extend_from_slice(bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            self.flush(&rest[..=at]);
            rest = &rest[at + 1..];
        }
        if let Some(at) = rest.iter().rposition(|b| *b == b'\r') {
            let (now, later) = rest.split_at(if self.is_newer { rest.len() } else { at + 1 });
            self.flush(now);
            self.out.push(b'\n');
            self.continues = true;
            rest = later;
        }
        if rest.is_empty() {
            return;
        }
        if self.buffer.len() + rest.len() > Self::BUFFER_BYTES {
            self.flush(rest);
            self.out.push(b'\n');
            self.continues = true;
            return;
        }
        if self.buffer.is_empty() {
            self.buffer = self.header();
        }
        self.buffer.extend_from_slice(rest);
    }

    fn close(mut self) -> Vec<u8> {
        if !self.buffer.is_empty() {
            self.flush(b"\n");
        }
        self.out
    }
}

/// Splits `bytes` at random places, at most `most` bytes apart.
fn pieces(dice: &mut Dice, bytes: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at((dice.below(most) + 1).min(rest.len()));
        all.push(head.to_vec());
        rest = tail;
    }
    all
}

#[test]
fn timestamps_change_nothing_but_the_times() {
    let likely: &[&[u8]] = &[
        b"section_start:1:a\r\x1b[0K",
        b"section_end:9:a\r\x1b[0K",
        b"\x1b[0Ksection_start:1:b[collapsed=true]\r\x1b[0K\x1b[36;1mheading",
        b"section_end:9:b\r\x1b[0K\x1b[31;1mERROR: Job failed\n",
        b"section_start:",
        b"\n",
        b"\n",
        b"text",
        b"\x1b[31m",
        b"10%\r20%",
        b"\r\n",
        b" ",
        b"error: x\n",
    ];
    let mut dice = Dice(5);
    let mut fixtures: Vec<Vec<u8>> = vec![
        JOB.into(),
        b"caf\xe9 \xff\xfe bad\x00bytes\nsection_end:1:never\r\x1b[0Kafter an end\n\
          section_start:1:a\r\x1b[0Kouter\nsection_start:2:b\r\x1b[0Kinner\nin both\n\
          section_end:3:a\r\x1b[0Kbeside\nsection_end:4:b\r\x1b[0Klast\n"
            .to_vec(),
        b"ok\n\x1b[1;31merror\x1b[0m\x1b[1m: no such thing\n\n\nERROR now\n\n".to_vec(),
        [b"x".repeat(20_000), b"\nnext\n".to_vec()].concat(),
    ];
    fixtures.extend((0..60).map(|_| dice.bytes(400, likely)));
    for mut bytes in fixtures {
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let mut plain = Trace::default();
        plain.push(&bytes);
        for round in 0..6 {
            let mut stamper = Stamper::new(["00O", "00E", "01O"][round % 3], round % 2 == 0);
            let longest = [1, 9, 120, bytes.len()][dice.below(4)].max(bytes.len() / 200);
            pieces(&mut dice, &bytes, longest).iter().for_each(|piece| stamper.write(piece));
            let stamped = stamper.close();
            let mut trace = Trace::default();
            let mut folds = Folds::default();
            let longest = [3, 50, 5_000][dice.below(3)].max(stamped.len() / 500);
            for piece in pieces(&mut dice, &stamped, longest) {
                trace.push(&piece);
                folds.refresh(&trace);
                assert_eq!(trace.view(0..usize::MAX, &folds).len(), folds.rows(&trace));
            }
            let shown = String::from_utf8_lossy(&stamped);
            assert!(trace.has_times() && trace.bytes_len() == stamped.len() as u64);
            assert_eq!(trace.sections(), plain.sections(), "{shown}");
            let mut other = Folds::default();
            other.refresh(&plain);
            let mut rows = trace.view(0..usize::MAX, &folds);
            assert!(rows.iter().all(|row| row.time.is_some()), "{shown}");
            rows.iter_mut().for_each(|row| row.time = None);
            assert_eq!(rows, plain.view(0..usize::MAX, &other), "{shown}");
            assert_eq!(trace.plain(1 << 20, &|| false), plain.plain(1 << 20, &|| false), "{shown}");
            let errors = Patterns::default().errors;
            assert_eq!(
                trace.matching_lines(&errors, 100, &|| false),
                plain.matching_lines(&errors, 100, &|| false),
                "{shown}"
            );
            let query = MultilineRegex::query("e.t|^").unwrap();
            let found = |trace: &Trace| trace.search(&query, 0, Matches::default(), &|| false).matches;
            assert_eq!(found(&trace), found(&plain), "{shown}");
        }
    }
}

#[test]
fn split_markers_and_verdicts_are_joined() {
    // A runner that splits writes at their last carriage return.
    let (older, folds) = trace(
        "2026-05-22T12:43:46.962646Z 00O section_start:1782000000:prepare_executor\r\n\
         2026-05-22T12:43:46.962660Z 00O+\x1b[0K\x1b[0K\x1b[36;1mPreparing\x1b[0;m\n\
         2026-05-22T12:43:47.000000Z 00O Using Docker\n\
         2026-05-22T12:43:48.000000Z 00O section_end:1782000004:prepare_executor\r\n\
         2026-05-22T12:43:48.000001Z 00O+\x1b[0Ksection_start:1782000004:cleanup\r\n\
         2026-05-22T12:43:48.000002Z 00O+\x1b[0K\x1b[0KCleaning up directory and file based variables\n\
         2026-05-22T12:43:49.000000Z 00O section_end:1782000009:cleanup\r\n\
         2026-05-22T12:43:49.000001Z 00O+\x1b[0K\x1b[31;1mERROR: Job failed: exit code 101\n",
    );
    let expected = [
        "Preparing",
        "Using Docker",
        "Cleaning up directory and file based variables",
        "ERROR: Job failed: exit code 101",
    ];
    assert_eq!(shown(&older, &folds), expected);
    let sections = |trace: &Trace| -> Vec<_> {
        trace.sections().iter().map(|s| (s.name.clone(), s.line, s.end, s.seconds)).collect()
    };
    let all = [("prepare_executor".to_owned(), 0, Some(2), Some(4)), ("cleanup".to_owned(), 2, Some(3), Some(5))];
    assert_eq!(sections(&older), all);
    let times: Vec<_> = older.view(0..9, &folds).into_iter().map(|row| row.time.unwrap().to_string()).collect();
    assert_eq!(times[3], "2026-05-22T12:43:49.000001Z");
    // A runner that writes a whole write as one entry, with another stream between parts of a marker.
    let (newer, folds) = trace(
        "2026-05-22T12:43:46.962646Z 00O section_start:1782000000:prepare_executor\r\x1b[0K\x1b[0K\x1b[36;1mPreparing\n\
         2026-05-22T12:43:47.000000Z 00O Using Docker\n\
         2026-05-22T12:43:48.000000Z 00O section_end:1782000004:prepare_executor\r\x1b[0Ksection_start:1782000004:cleanup\r\x1b\n\
         2026-05-22T12:43:48.000001Z 01E Cleaning up directory and file based variables\n\
         2026-05-22T12:43:49.000000Z 00O+[0Kthe heading\n\
         2026-05-22T12:43:49.000000Z 00O section_end:1782000009:cleanup\r\x1b[0K\n\
         2026-05-22T12:43:49.000001Z 00O+\x1b[31;1mERROR: Job failed: exit code 101\n",
    );
    assert_eq!(shown(&newer, &folds), [expected[0], expected[1], expected[2], "the heading", expected[3]]);
    let all = [all[0].clone(), ("cleanup".to_owned(), 3, Some(4), Some(5))];
    assert_eq!(sections(&newer), all);
}

#[test]
fn the_last_line_is_shown_before_it_is_known_to_be_complete() {
    let mut trace = Trace::default();
    let mut folds = Folds::default();
    let mut push = |text: &str| {
        trace.push(text.as_bytes());
        folds.refresh(&trace);
        (shown(&trace, &folds), trace.sections().iter().map(|s| s.seconds).collect::<Vec<_>>())
    };
    assert_eq!(push("2026-05-22T12:43:46.9"), (vec![], vec![]));
    assert_eq!(push("62646Z 00O section_start:1:a\r\x1b[0Khead\n"), (vec!["head".into()], vec![None]));
    assert_eq!(push("2026-05-22T12:43:46.962646Z 00O+ing\nplain\n").0, ["heading", "plain"]);
    assert_eq!(push("2026-05-22T12:43:46.962646Z 00O section_end:3:a\r\x1b[0K\n").1, [Some(2)]);
    // As without timestamps, a marker counts when its line is complete.
    let shown = vec!["heading".into(), "plain".into(), "verdict".into()];
    assert_eq!(push("2026-05-22T12:43:46.962646Z 00O+verdict"), (shown.clone(), vec![None]));
    assert_eq!(push("\n"), (shown, vec![Some(2)]));
}

#[test]
fn text_like_an_unfinished_marker_is_never_lost() {
    let mut trace = Trace::default();
    let mut folds = Folds::default();
    let mut push = |text: &str| {
        trace.push(text.as_bytes());
        folds.refresh(&trace);
        let times = trace.view(0..9, &folds).into_iter().filter_map(|row| row.time).map(|time| time.0 % 1000);
        (times.collect::<Vec<_>>(), shown(&trace, &folds), trace.sections().len())
    };
    let lines = |all: &[&str]| all.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    push("2026-05-22T12:43:46.000001Z 01O $ echo section_end:1:a\n");
    let ended = push("2026-05-22T12:43:46.000002Z 00O Cleaning up\n");
    assert_eq!(ended, (vec![1, 2, 1], lines(&["$ echo ", "Cleaning up", "section_end:1:a"]), 0));
    // It is the marker of a section if its stream completes it.
    push("2026-05-22T12:43:46.000003Z 00O section_start:1:a\r\n");
    let between = push("2026-05-22T12:43:46.000004Z 01O+!\n").1;
    assert_eq!(between, ["$ echo ", "Cleaning up", "section_end:1:a!", "section_start:1:a"]);
    let (_, all, sections) = push("2026-05-22T12:43:46.000005Z 00O+\x1b[0Khead\n");
    assert_eq!((all, sections), (lines(&["$ echo ", "Cleaning up", "section_end:1:a!", "head"]), 1));
}

#[test]
fn no_text_is_lost_between_streams() {
    let mut dice = Dice(77);
    for round in 0..100 {
        let mut stampers = ["00O", "00E", "01O", "01E"].map(|name| Stamper::new(name, round % 2 == 0));
        let mut open: [Vec<usize>; 4] = Default::default();
        let (mut out, mut words) = (Vec::new(), Vec::new());
        for number in 0..20 {
            let at = dice.below(4);
            let word = format!("w{number}");
            let piece = match (dice.below(7), open[at].pop()) {
                (0, open_one) => {
                    open[at].extend(open_one.into_iter().chain([number]));
                    format!("section_start:{number}:s{number}\r\x1b[0K{word}\n")
                }
                (1, Some(open)) => format!("section_end:{number}:s{open}\r\x1b[0K"),
                (kind, open_one) => {
                    open[at].extend(open_one);
                    let text = ["\n", " section_", " section_start:1:zz", " ", "\x1b[31m\n", "\r\n", "\n"][kind];
                    format!("{word}.{text}")
                }
            };
            words.extend(piece.contains(&word).then_some(word));
            let longest = [1, 4, 100][dice.below(3)];
            for part in pieces(&mut dice, piece.as_bytes(), longest) {
                stampers[at].write(&part);
                out.append(&mut stampers[at].out);
            }
        }
        out.extend(stampers.into_iter().flat_map(Stamper::close));
        let text = String::from_utf8_lossy(&out).into_owned();
        let mut trace = Trace::default();
        let mut folds = Folds::default();
        let mut last: Vec<String> = Vec::new();
        for piece in pieces(&mut dice, &out, 50) {
            trace.push(&piece);
            folds.refresh(&trace);
            let next: Vec<String> = (0..trace.final_lines()).filter_map(|line| trace.text(line)).collect();
            let common = last.len().min(next.len());
            assert_eq!(last[..common], next[..common], "{text:?}");
            last.extend_from_slice(&next[common..]);
        }
        let all = (0..trace.len_lines()).filter_map(|line| trace.text(line)).collect::<Vec<_>>().join("\n");
        for word in words {
            assert!(all.contains(&word), "{word} of {text:?} in {all:?}");
        }
        assert_eq!(all.matches("zz").count(), text.matches("zz").count(), "{text:?} in {all:?}");
    }
}

/// Returns the output of several streams, each of which wrote the given pieces in turn.
fn stamped(is_newer: bool, pieces: &[(usize, &str)]) -> String {
    let mut stampers = ["00O", "01O", "01E"].map(|name| Stamper::new(name, is_newer));
    let mut out = Vec::new();
    for (stream, piece) in pieces {
        stampers[*stream].write(piece.as_bytes());
        out.append(&mut stampers[*stream].out);
    }
    out.extend(stampers.into_iter().flat_map(Stamper::close));
    String::from_utf8(out).unwrap()
}

#[test]
fn what_follows_the_end_of_a_section_is_below_what_other_streams_wrote_meanwhile() {
    let between: Vec<String> = (0..8).map(|n| format!("other {n}\n")).collect();
    for is_newer in [false, true] {
        for end in ["section_end:2:x\r\x1b[0K", "done section_end:2:x\r\x1b[0K", "10%\r20%\rsection_end:2:x\r\x1b[0K"] {
            let mut pieces = vec![(1, "section_start:1:x\r\x1b[0Kheading\n"), (1, end)];
            pieces.extend(between.iter().map(|line| (2, line.as_str())));
            pieces.push((1, "after\n"));
            let text = stamped(is_newer, &pieces);
            for size in [1, 7, 50, text.len()] {
                let mut trace = Trace::default();
                text.as_bytes().chunks(size).for_each(|piece| trace.push(piece));
                let lines = shown(&trace, &Folds::default());
                assert!(lines.ends_with(&["other 6".into(), "other 7".into(), "after".into()]), "{lines:#?}\n{text}");
                assert_eq!(lines[0], "heading");
            }
        }
    }
}

#[test]
fn sections_of_two_streams_do_not_nest_into_each_other() {
    for is_newer in [false, true] {
        let mut pieces = vec![(0, "section_start:1:step_script\r\x1b[0Kscript\n".to_owned())];
        for n in 0..450 {
            let start = |stream: usize| (stream, format!("section_start:{n}:step\r\x1b[0Kstep {n} of {stream}\n"));
            let end = |stream: usize| (stream, format!("section_end:{}:step\r\x1b[0K", n + 2));
            pieces.extend([start(1), start(2), end(1), end(2)]);
        }
        // The end of a marker may wait for the next line of its stream.
        pieces.extend([(1, "\n".to_owned()), (2, "\n".to_owned())]);
        pieces.push((0, "section_end:900:step_script\r\x1b[0Kdone\n".to_owned()));
        let pieces: Vec<(usize, &str)> = pieces.iter().map(|(stream, text)| (*stream, text.as_str())).collect();
        let (trace, mut folds) = trace(&stamped(is_newer, &pieces));
        assert_eq!(trace.sections().len(), 901);
        assert!(trace.sections().iter().all(|section| section.end.is_some() && section.seconds.is_some()));
        let depths = |depth: usize| trace.sections().iter().filter(|section| section.depth == depth).count();
        assert_eq!((depths(0), depths(1)), (1, 900));
        folds.set_all(&trace, true);
        assert_eq!(shown(&trace, &folds), ["script", "done"]);
    }
}

/// The output of tqdm 4.67 for two nested bars, the inner of which is removed at its end.
const NESTED_BARS: &str = "\router:   0%|  | 0/2\n\rinner:   0%|  | 0/2\x1b[A\n\rinner:  50%|# | 1/2\x1b[A\n\
    \r                   \x1b[A\router:  50%|# | 1/2\n\rinner:   0%|  | 0/2\x1b[A\n\rinner: 100%|##| 2/2\x1b[A\n\
    \r                   \x1b[A\router: 100%|##| 2/2\ndone\n";

#[test]
fn lines_that_a_step_draws_again_are_joined() {
    let lines = |text: &str| -> Vec<String> {
        let (trace, folds) = trace(text);
        shown(&trace, &folds).into_iter().map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(lines(&format!("$ run\n{NESTED_BARS}next\n")), ["$ run", "outer: 100%|##| 2/2", "done", "next"]);
    // behave 1.3 in a terminal: each step, then the step with its result over it.
    let step = |color: u8, name: &str| {
        format!("    \x1b[90mGiven {name}\x1b[0m\r\n\x1b[1A    \x1b[{color}mGiven {name}  # 0.000s\x1b[0m\r\n")
    };
    let steps = format!("  Scenario: breaks\r\n{}{}      ASSERT FAILED: no\r\n", step(32, "one"), step(31, "two"));
    let expected =
        ["  Scenario: breaks", "    Given one  # 0.000s", "    Given two  # 0.000s", "      ASSERT FAILED: no"];
    assert_eq!(lines(&steps), expected);
    // The line reporter of Playwright 1.65.
    let progress = "Running 2 tests using 1 worker\n\n\x1b[1A\x1b[2K[1/2] a.spec.ts > adds\n\x1b[1A\x1b[2K[2/2] a.spec.ts > breaks\n\
                    \x1b[1A\x1b[2K  2 passed (1.0s)\n";
    assert_eq!(lines(progress), ["Running 2 tests using 1 worker", "  2 passed (1.0s)"]);
    // They have the colors and are found where they are drawn.
    let (trace, folds) = trace(&steps);
    let rows = trace.view(1..3, &folds);
    assert!(rows.iter().all(|row| row.text.runs.len() == 1), "{rows:?}");
    let found = trace.search(&MultilineRegex::query("Given two").unwrap(), 0, Matches::default(), &|| false);
    assert_eq!(found.matches, [Match { line: 2, range: 4..13 }]);
    assert_eq!(trace.matching_lines(&Patterns::default().errors, 9, &|| false).lines, [3]);
}

#[test]
fn text_of_others_is_never_drawn_over() {
    let up = "\x1b[2A\x1b[2Kover\n";
    for before in [
        "\x1b[32;1m$ make\x1b[0;m\nfirst\n",
        "section_start:1:a\r\x1b[0Kheading\nfirst\n",
        "text\nsection_end:1:a\r\x1b[0K\nfirst\n",
        "first\n",
    ] {
        let (trace, folds) = trace(&format!("{before}{up}"));
        let lines = shown(&trace, &folds);
        let all = lines.join("\n");
        assert!(all.contains("first\nover"), "{lines:?}");
    }
    let (trace, folds) = trace(
        "2026-06-21T00:00:00.123456Z 01E of another stream\n2026-06-21T00:00:00.123456Z 01O first\n\
         2026-06-21T00:00:00.123456Z 01O \x1b[2A\x1b[2Kover\n",
    );
    assert_eq!(shown(&trace, &folds), ["of another stream", "first", "over"]);
}

#[test]
fn endless_frames_are_bounded_and_spilled() {
    let mut trace = Trace::default();
    let (mut folds, mut longest) = (Folds::default(), 0);
    for n in 0..60_000 {
        trace.push(format!("\x1b[1A\x1b[2K[{n}/60000] a test with a long name, as most of them have one\n").as_bytes());
        longest = longest.max(trace.open.bytes.len());
    }
    folds.refresh(&trace);
    assert!(longest < 2 * BLOCK_BYTES && !trace.closed.is_empty(), "{longest}");
    let rows = folds.rows(&trace);
    assert!((100..2_000).contains(&rows), "{rows} rows");
    let last = trace.text(trace.len_lines() - 1).unwrap();
    assert!(last.starts_with("[59999/60000]"), "{last}");
    let before: Vec<String> = shown(&trace, &folds);
    let whole = trace.plain(1 << 30, &|| false);
    assert_eq!(whole, (before.iter().map(|line| format!("{line}\n")).collect(), true));
}
