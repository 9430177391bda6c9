//! Tests of traces, independent of how their bytes are split into chunks.

use super::*;
use crate::cost::cost;
use crate::ui::doc::DocLine;
use crate::ui::layers::tests::Noise;
use crate::ui::search::{Found, Match, MultilineRegex};
use crate::ui::text;
use crate::ui::theme::{Background, Role, Theme};

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
    let gutter: String = line.gutter.iter().map(|(text, _)| text.as_str()).collect();
    gutter + &line.spans.iter().map(|(text, _)| text.as_ref()).collect::<String>()
}

#[test]
fn a_section_heading_shows_its_mark_and_duration() {
    let (trace, folds) = trace(JOB);
    let theme = Theme::for_background(Background::Dark);
    let layout = Layout { numbers: 3, times: false, width: 35 };
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
    let layout = Layout { numbers: 0, times: true, width: 40 };
    assert_eq!(drawn(&row.draw(&Theme::plain(), &layout, &[])), "00:00:01  10% 20%");
    assert_eq!(layout.gutter(), 10);
}

#[test]
fn errors_are_found_in_the_unfinished_line() {
    let (trace, _) = trace(
        "ok\n\x1b[1;31merror\x1b[0m\x1b[1m: no such thing\nstderror: none?\n0 failed\nthread 'x' panicked at a.rs\nfine\nERROR now",
    );
    let find = |pattern: &Pattern| trace.matching_lines(pattern, 100, &|| false);
    assert_eq!(find(&Patterns::default().errors), [1, 4, 6]);
    assert_eq!(trace.matching_lines(&Patterns::default().errors, 2, &|| false), [1, 4]);
    assert!(find(&Patterns::default().warnings).is_empty());
    let own = Patterns::new(&["no such".into(), "^fine$".into()], &[]).unwrap();
    assert_eq!(find(&own.errors), [1, 5]);
    assert!(Patterns::new(&[], &["(".into()]).is_err_and(|(expression, _)| expression == "("));
}

#[test]
fn large_custom_patterns_are_accepted_up_to_a_limit() {
    let mut trace = Trace::default();
    trace.push(format!("ok\n{}\nfine\n", "é".repeat(900)).as_bytes());
    // Hundreds of Unicode letters take megabytes of automaton, more than an interactive search may use.
    let large = || r"^\pL{100}\pL*$".to_owned();
    assert!(crate::ui::search::MultilineRegex::query(&large()).is_none_or(|typed| typed.first(b"ok\n", 0).is_none()));
    let own = Patterns::new(&[large(), large(), "ok".into()], &[]).unwrap();
    assert_eq!(trace.matching_lines(&own.errors, 100, &|| false), [0, 1]);
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
        let shown = drawn(&row.draw(&Theme::plain(), &Layout { numbers: 0, times: false, width: 40 }, &[]));
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
    let found = trace.search(&MultilineRegex::query("foo").unwrap(), 0, Found::default(), &|| false);
    assert_eq!(found.matches, [Match { line: 0, range: 2..5 }, Match { line: 1, range: 0..3 }]);
    assert!(!found.capped);
    assert!(trace.search(&MultilineRegex::query("foo").unwrap(), 0, Found::default(), &|| true).matches.is_empty());
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
        b"\n2026-06-21T00:00:00.123456Z 00O ",
        b"\n2026-06-21T00:00:00.123456Z 00O+",
    ];
    let mut noise = Noise(99);
    for round in 0..400 {
        let mut bytes = noise.bytes(600, likely);
        if round % 2 == 0 {
            bytes.splice(0..0, b"2026-06-21T00:00:00.123456Z 00O ".iter().copied());
        }
        let mut whole = Trace::default();
        whole.push(&bytes);
        let mut parts = Trace::default();
        let mut folds = Folds::default();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(noise.below(rest.len()) + 1);
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
    let pattern = crate::ui::search::pattern(query).unwrap();
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
    let mut noise = Noise(7);
    let queries: Vec<_> = queries.iter().map(|query| (*query, MultilineRegex::query(query).unwrap())).collect();
    for round in 0..60 {
        let mut bytes = noise.bytes(500, likely);
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
            let from = noise.below(trace.len_lines() + 1);
            let found = trace.search(pattern, 0, Found::default(), &|| false);
            assert_eq!(found.matches, hits, "{query} in {texts:?}");
            let known =
                Found { matches: hits.iter().take_while(|hit| hit.line < from).cloned().collect(), capped: false };
            assert_eq!(trace.search(pattern, from, known, &|| false).matches, hits, "{query} from {from} in {texts:?}");
            assert_eq!(trace.filter(pattern, 0, Vec::new(), &|| false), lines, "{query} in {texts:?}");
        }
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
        let found = trace.search(&MultilineRegex::query(query).unwrap(), 0, Found::default(), &|| false);
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
