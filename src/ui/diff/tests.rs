//! Tests of diffs as servers send them.

use super::*;
use crate::code::Text;
use crate::dice::Dice;
use crate::doc::{DocLine, DocState};
use crate::line::Span;
use crate::theme::{Background, Depth, Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use std::ops::Range;
use std::sync::Arc;

const DIFF: &str = "--- a/src/t.rs
+++ b/src/t.rs
@@ -40,5 +40,3 @@ impl Table {
     let a = 1;
-    let rows = all();
-    gone();
+    let rows = some();
 
--- keep
@@ -90 +91,2 @@
-end
\\ No newline at end of file
+end
+--- more
";

fn file(diff: &str) -> FileDiff {
    parse(Source { old_path: "src/t.rs".into(), new_path: "src/t.rs".into(), diff: diff.into(), ..Source::default() })
}

fn drawn(line: &DocLine) -> String {
    line.gutter.plain_text() + &line.text.plain_text()
}

fn doc(diffs: &[&str]) -> DiffDoc {
    DiffDoc::new(diffs.iter().map(|diff| Arc::new(file(diff))).collect())
}

/// Returns a row of the full width.
fn line<'a>(doc: &'a DiffDoc, row: usize, theme: &Theme) -> DocLine<'a> {
    match draw::render_row(doc, row, theme) {
        Some((_, draw::RenderedRow::FullWidth { line, .. })) => line,
        _ => DocLine::default(),
    }
}

fn rows(doc: &DiffDoc) -> Vec<String> {
    (0..doc.len()).map(|row| drawn(&line(doc, row, &Theme::plain()))).collect()
}

/// Returns the visible rows of the document.
fn window(doc: &DiffDoc, width: u16, height: u16, state: &DocState, wrap: bool) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    let look =
        DiffOptions { theme: &Theme::plain(), focused: true, wrap: Some(wrap), marks: &|_| Vec::new(), marked: None };
    view::draw(&mut buf, area, doc, state, &look);
    let rows = buf.content().chunks(usize::from(width.max(1)));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn lines_are_numbered_on_both_sides() {
    let file = file(DIFF);
    let seen: Vec<_> = file.lines.iter().map(|l| (l.kind, l.old(), l.new(), file.text(l))).collect();
    assert_eq!(
        seen,
        [
            (Kind::Context, Some(40), Some(40), "    let a = 1;"),
            (Kind::Removed, Some(41), None, "    let rows = all();"),
            (Kind::Removed, Some(42), None, "    gone();"),
            (Kind::Added, None, Some(41), "    let rows = some();"),
            (Kind::Context, Some(43), Some(42), ""),
            (Kind::Removed, Some(44), None, "-- keep"),
            (Kind::Removed, Some(90), None, "end"),
            (Kind::NoNewline, None, None, " No newline at end of file"),
            (Kind::Added, None, Some(91), "end"),
            (Kind::Added, None, Some(92), "--- more"),
        ]
    );
    assert_eq!((file.additions, file.deletions, file.hunks.len(), file.malformed), (3, 4, 2, false));
    // The same diff without the two header lines that some servers omit.
    let bare = parse(Source {
        diff: DIFF.split_once("@@").map(|(_, rest)| format!("@@{rest}")).unwrap(),
        ..Source::default()
    });
    assert_eq!(bare.lines.len(), file.lines.len());
}

#[test]
fn rows_are_drawn_with_numbers_and_signs() {
    let doc = doc(&[DIFF]);
    assert_eq!(
        rows(&doc),
        [
            "▾ src/t.rs  +3 −4",
            "     ···  expand 39 lines  impl Table {",
            " 40  40       let a = 1;",
            " 41     -     let rows = all();",
            " 42     -     gone();",
            "     41 +     let rows = some();",
            " 43  42   ",
            " 44     - -- keep",
            "     ···  @@ -90 +91,2 @@  ",
            " 90     - end",
            "        \\  No newline at end of file",
            "     91 + end",
            "     92 + --- more",
        ]
    );
    let theme = Theme::for_background(Background::Dark);
    assert_eq!(line(&doc, 3, &theme).fill, Some(theme.style(Role::RemovedLine)));
    assert_eq!(line(&doc, 5, &theme).fill, Some(theme.style(Role::AddedLine)));
}

#[test]
fn without_tints_the_number_and_the_text_of_changed_lines_are_colored() {
    let mut doc = doc(&[DIFF]);
    let styles = highlight_hunk(&doc.files()[0], 0, 0, &|| false);
    doc.insert((0, 0, 0), styles);
    let sixteen = Theme::for_background(Background::Dark).with_depth(Depth::Sixteen);
    for theme in [Theme::built_in("terminal").unwrap(), sixteen] {
        for (row, role) in [(3, Role::Removed), (5, Role::Added)] {
            let line = line(&doc, row, &theme);
            let spans = line.gutter.spans.iter().chain(&line.text.spans);
            let colors: Vec<_> = spans.map(|span| span.paint.style(&theme).fg).collect();
            assert!(colors.iter().all(|color| *color == theme.style(role).fg), "{}: {colors:?}", theme.name);
        }
        assert_ne!(line(&doc, 2, &theme).gutter.spans[0].paint.style(&theme).fg, theme.style(Role::Added).fg);
    }
}

#[test]
fn syntax_and_changed_words_appear_once_computed() {
    let mut doc = doc(&[DIFF]);
    let theme = Theme::for_background(Background::Dark);
    assert_eq!(doc.missing(0..doc.len()), Some((0, 0, 0)));
    let styles = highlight_hunk(&doc.files()[0], 0, 0, &|| false);
    doc.insert((0, 0, 0), styles);
    assert_eq!(doc.missing(0..doc.len()), Some((0, 1, 0)));
    for (row, word, role) in [(3, "all", Role::RemovedWord), (5, "some", Role::AddedWord)] {
        let built = line(&doc, row, &theme);
        let span = built.text.spans.iter().find(|span| span.text == word).unwrap();
        assert_eq!(span.paint.style(&theme).bg, theme.style(role).bg);
        let keyword = built.text.spans.iter().find(|span| span.text == "let").unwrap();
        assert_eq!(keyword.paint.style(&theme).fg, theme.style(Role::SyntaxKeyword).fg);
    }
}

#[test]
fn files_and_hunks_are_navigated_both_ways() {
    let doc = doc(&[DIFF, "", DIFF]);
    let starts: Vec<usize> = std::iter::successors(Some(0), |row| doc.next_file(*row)).collect();
    assert_eq!(starts, [0, 13, 15]);
    assert_eq!(
        (doc.previous_file(15), doc.previous_file(13), doc.previous_file(3), doc.previous_file(0)),
        (Some(13), Some(0), Some(0), None)
    );
    let hunks: Vec<usize> = std::iter::successors(doc.next_hunk(0), |row| doc.next_hunk(*row)).collect();
    assert_eq!(hunks, [1, 8, 16, 23]);
    let back: Vec<usize> = std::iter::successors(doc.previous_hunk(27), |row| doc.previous_hunk(*row)).collect();
    assert_eq!(back, [23, 16, 8, 1]);
    assert_eq!(drawn(&line(&doc, 14, &Theme::plain())).trim(), "The server sent no diff. x compares both versions");
    for row in 0..doc.len() {
        assert_eq!(doc.row(doc.content(row).unwrap()), Some(row));
    }
    assert_eq!(doc.content(doc.len()), None);
    assert_eq!(doc.row_of_line(2, 92, Side::New), Some(27));
    assert_eq!(doc.row_of_line(0, 42, Side::Old), Some(4));
}

#[test]
fn a_folded_file_shows_only_its_heading() {
    let mut doc = doc(&[DIFF, DIFF]);
    doc.fold(0, true);
    assert_eq!(doc.next_file(0), Some(1));
    assert_eq!(doc.next_hunk(0), Some(2));
    assert_eq!(doc.row(RowContent::Hunk { file: 0, hunk: 1 }), Some(0));
    doc.fold(0, false);
    assert_eq!(doc.len(), 26);
}

#[test]
fn adjacent_hunks_have_no_separator() {
    let doc =
        doc(&["@@ -1,2 +1,3 @@\n a\n+b\n c\n@@ -3 +4 @@ x\n-d\n+e\n@@ -8,0 +10,1 @@ y\n+f\n@@ -2 +3 @@ z\n-g\n+h\n"]);
    let rows = rows(&doc);
    assert_eq!(rows[4], "  3     - d");
    assert_eq!(rows[6], "     ···  expand 5 lines  y");
    assert_eq!(rows[8], "     ···  @@ -2 +3 @@  z", "a header that cannot be is shown as it came");
    let hunks: Vec<usize> = std::iter::successors(doc.next_hunk(0), |row| doc.next_hunk(*row)).collect();
    assert_eq!(hunks, [1, 4, 6, 8]);
    let new = self::doc(&["@@ -0,0 +1 @@\n+a\n"]);
    assert_eq!(new.len(), 2);
}

fn inset(key: &str, at: At, rows: usize) -> Inset {
    let lines = (0..rows).map(|row| DocLine::new(format!("{key} {row}"), Style::new())).collect();
    let file = FileKey { path: "src/t.rs".into(), is_deleted: false };
    Inset {
        key: key.into(),
        file,
        at,
        lines: Arc::new(lines),
        ends_with_border: false,
        comments: 0,
        is_unresolved: false,
    }
}

#[test]
fn insets_are_shown_below_their_lines() {
    let mut doc = doc(&[DIFF]);
    let all = vec![
        inset("end", At::Line(Side::New, 92), 1),
        inset("gone", At::Line(Side::Old, 41), 2),
        inset("again", At::Line(Side::Old, 41), 1),
        inset("file", At::File, 1),
        inset("hidden", At::Line(Side::New, 7), 3),
    ];
    doc.set_insets(Arc::new(all));
    let rows = rows(&doc);
    let texts: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
    assert_eq!(&texts[..3], ["▾ src/t.rs  +3 −4", "file 0", "···  expand 39 lines  impl Table {"]);
    assert_eq!(&texts[4..9], ["41     -     let rows = all();", "gone 0", "gone 1", "again 0", "42     -     gone();"]);
    assert_eq!(texts.last(), Some(&"end 0"));
    for row in 0..doc.len() {
        assert_eq!(doc.row(doc.content(row).unwrap()), Some(row));
    }
    assert_eq!(doc.inset("hidden"), None);
    assert_eq!(doc.inset("again"), Some(RowContent::Inset { file: 0, inset: 2, row: 0 }));
    let down: Vec<usize> = std::iter::successors(Some(0), |row| doc.adjacent_inset(*row, true)).skip(1).collect();
    assert_eq!(down, [1, 5, 7, 17]);
    assert_eq!(doc.adjacent_inset(17, false), Some(7));
    doc.fold(0, true);
    assert_eq!((doc.len(), doc.inset("gone")), (1, None));
    doc.fold(0, false);
    doc.set_insets(Arc::default());
    assert_eq!(doc.len(), 13);
}

#[test]
fn text_that_is_not_a_diff_is_shown_unchanged() {
    let doc = doc(&["hello\n@@@ -1,1 -1,1 +1,2 @@@\n+x\n"]);
    assert!(doc.files()[0].malformed);
    let rows = rows(&doc);
    assert!(rows[0].ends_with("not a valid diff"), "{rows:?}");
    assert_eq!(rows[2].trim(), "hello");
    assert_eq!(rows.len(), 5);
    // A header with wrong line counts.
    let wrong = file("@@ -1,9 +1,9 @@\n a\n@@ -20 +20 @@\n-b\n+c\n+d\n");
    assert_eq!((wrong.malformed, wrong.lines.len(), wrong.lines.last().map(|l| l.kind)), (true, 4, Some(Kind::Plain)));
}

#[test]
fn a_search_covers_all_files() {
    let doc = doc(&[DIFF, DIFF]);
    let found = search(doc.files(), "rows = ", &|| false);
    let at: Vec<_> = found.matches.iter().map(|hit| (hit.file, hit.line)).collect();
    assert_eq!(at, [(0, Some(1)), (0, Some(3)), (1, Some(1)), (1, Some(3))]);
    assert_eq!(&doc.text(3)[found.matches[0].range.clone()], "rows = ");
    assert_eq!((found.count(1), found.on(1, Some(3)).len(), found.on(1, None).len()), (2, 1, 0));
    // Matches at the ends of lines, including the sign, and in names.
    for (query, hits) in [
        ("^ +gone", 2),
        ("all\\(\\);$", 2),
        ("t\\.rs$", 2),
        ("-- keep", 2),
        ("^$", 0),
        ("@@", 0),
        (";\\s", 0),
        ("x*some", 2),
    ] {
        assert_eq!(search(doc.files(), query, &|| false).matches.len(), hits, "{query}");
    }
}

#[test]
fn a_search_that_skips_files_finds_all_matches() {
    let diff = |n: usize| {
        let words = ["plain words", "K\u{f6}ln und \u{17f}tra\u{df}e", "a Value of 7", "the value"][n % 4];
        format!("@@ -1 +1 @@\n-old {n}\n+{words} {n}\n")
    };
    let source = |n: usize| Source {
        old_path: if n.is_multiple_of(7) { format!("src/value_{n}.rs") } else { format!("src/file_{n}.rs") },
        new_path: if n.is_multiple_of(5) { format!("src/street_{n}.rs") } else { format!("src/file_{n}.rs") },
        diff: diff(n),
        ..Source::default()
    };
    let files: Vec<Arc<FileDiff>> = (0..300).map(|n| Arc::new(parse(source(n)))).collect();
    for query in [
        "value",
        "Value",
        "stra",
        "stre",
        "file_7",
        "old 29",
        "words 1|value 2",
        "k\u{f6}ln",
        "no such words",
        "value_\\d+\\.rs .",
    ] {
        let pattern = crate::search::pattern(query).unwrap();
        let mut expected = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let texts = std::iter::once((None, file.title()));
            let lines = file.lines.iter().enumerate().map(|(index, line)| (Some(index), file.text(line).to_owned()));
            for (line, text) in texts.chain(lines) {
                expected.extend(pattern.find_iter(&text).map(|hit| (at, line, hit.range())));
            }
        }
        let found = search(&files, query, &|| false);
        let found: Vec<_> = found.matches.into_iter().map(|hit| (hit.file, hit.line, hit.range)).collect();
        assert_eq!(found, expected, "{query}");
        assert_eq!(found.is_empty(), query == "no such words", "{query}");
    }
    assert!(search(&files, "value", &|| true).matches.is_empty());
}

#[test]
fn searches_use_smart_case() {
    let doc = doc(&["--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-old Rows\n+new ROWS\n"]);
    for (query, hits) in [("rows", 2), ("Rows", 1), ("ROWS", 1), ("old rows", 1), ("Old rows", 0)] {
        assert_eq!(search(doc.files(), query, &|| false).matches.len(), hits, "{query}");
    }
}

const NEW: &str = "@@ -1,2 +1,4 @@\n fn a() {\n+    one();\n+    let x = two();\n }\n@@ -10,5 +12,4 @@ fn b\n x\n-let word = old_name(1);\n-gone\n+let word = new_name(1);\n y\n z\n";

#[test]
fn the_split_layout_shows_both_sides() {
    let mut doc = doc(&[NEW]);
    let place = doc.content(9).unwrap();
    doc.set_layout(Layout::Split, None);
    assert_eq!(doc.row(place), Some(7));
    let seen = window(&doc, 70, 13, &DocState { cursor_line: false, ..DocState::new() }, false);
    assert_eq!(
        seen,
        [
            " ▾ src/t.rs  +3 −2",
            "   1   fn a() {                   │  1   fn a() {",
            "                                  │  2 +     one();",
            "                                  │  3 +     let x = two();",
            "   2   }                          │  4   }",
            "      ···  expand 7 lines  fn b",
            "  10   x                          │ 12   x",
            "  11 - let word = old_name(1);    │ 13 + let word = new_name(1);",
            "  12 - gone                       │",
            "  13   y                          │ 14   y",
            "  14   z                          │ 15   z",
            "",
            "",
        ]
    );
    for row in 0..doc.len() {
        let place = doc.content(row).unwrap();
        assert_eq!(doc.row(place), Some(row), "{place:?}");
    }
    doc.set_side(Side::Old);
    assert_eq!(doc.text(7), "let word = old_name(1);");
    // Words are compared with the line on the other side.
    let styles = highlight_hunk(&doc.files()[0], 1, 0, &|| false);
    assert_eq!((styles.lines[1].1.len(), styles.lines[2].1.len(), styles.lines[3].1.len()), (1, 0, 1));
    // Insets span both sides.
    doc.set_insets(Arc::new(vec![inset("said", At::Line(Side::Old, 11), 2)]));
    assert_eq!(doc.content(8), Some(RowContent::Inset { file: 0, inset: 0, row: 0 }));
    assert_eq!(doc.row(doc.inset("said").unwrap()), Some(8));
}

#[test]
fn changed_lines_are_paired_by_similarity() {
    let doc = doc(&["@@ -1 +1,3 @@\n-call(first, second);\n+one();\n+two();\n+call(first, second, third);\n"]);
    let pairs: Vec<_> = doc.files()[0].pairs.iter().map(|pair| (pair.left(), pair.right())).collect();
    assert_eq!(pairs, [(None, Some(1)), (None, Some(2)), (Some(0), Some(3))]);
}

#[test]
fn long_lines_are_wrapped() {
    let long = format!("@@ -1 +1 @@\n-{}\n+{}end\n", "0123456789".repeat(5), "世界".repeat(14));
    let mut doc = doc(&[&long]);
    let state = DocState { cursor_line: false, ..DocState::new() };
    let seen = window(&doc, 40, 8, &state, true);
    assert_eq!(seen[1], "   1     - 0123456789012345678901234567");
    assert_eq!(seen[2], "           8901234567890123456789");
    assert!(seen[3].starts_with("       1 + 世 界"), "{seen:?}");
    assert!(seen[4].contains("end") || seen[5].contains("end"), "{seen:?}");
    assert_eq!(state.height(), doc.len(), "pages are counted in lines of the diff");
    doc.set_layout(Layout::Split, None);
    let seen = window(&doc, 60, 8, &state, true);
    assert!(seen[1].contains("012345678901234567890") && seen[1].contains('世'), "{seen:?}");
    assert!(seen[2].contains('│'), "{seen:?}");
    // An overlong line takes only a part of the screen, and the cursor stays visible.
    let huge = format!("@@ -0,0 +1,3 @@\n+{}\n+x\n+last\n", "y".repeat(1_000_000));
    let doc = self::doc(&[&huge]);
    let state = DocState::on(3);
    assert!(window(&doc, 40, 8, &state, true).iter().any(|row| row.contains("last")));
}

#[test]
fn hidden_lines_can_be_expanded() {
    let old: Vec<String> = (1..=60).map(|n| format!("line {n}")).collect();
    let mut new = old.clone();
    new[19] = "changed".into();
    new.insert(39, "more".into());
    let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
    let source = Source { old_path: "src/t.rs".into(), new_path: "src/t.rs".into(), ..Source::default() };
    let (old, new) = (Arc::new(Text::new(old.into_bytes())), Arc::new(Text::new(new.into_bytes())));
    let file = compute(&source, &old, &new);
    assert_eq!((file.hunks.len(), file.additions, file.deletions), (3, 2, 1));
    let mut doc = DiffDoc::new(vec![Arc::new(file.clone())]);
    assert_eq!(rows(&doc).iter().filter(|row| row.contains(" lines")).count(), 2);
    assert!(rows(&doc).last().unwrap().contains("expand to end of file"));
    // Lines from above and from below.
    let (more, down, up) = file.expanded(&new, 1, Expansion::Both(3)).unwrap();
    assert_eq!((down, up), (3, 3));
    doc.insert((0, 0, 0), highlight_hunk(&file, 0, 0, &|| false));
    doc.replace(0, Arc::new(more.clone()), Some((1, down, up)));
    let seen = rows(&doc);
    assert!(
        seen.iter().any(|row| row == " 26  26   line 26") && seen.iter().any(|row| row == " 34  34   line 34"),
        "{seen:#?}"
    );
    assert!(seen.iter().any(|row| row.contains("expand 7 lines")));
    assert_eq!(doc.missing(0..doc.len()), Some((0, 0, 0)), "what came has no colors yet");
    assert_eq!(search(doc.files(), "line 34", &|| false).matches.len(), 1);
    // All lines: the bar disappears, and so does that of the rest of the file.
    let (more, ..) = more.expanded(&new, 1, Expansion::All).unwrap();
    let (more, ..) = more.expanded(&new, 2, Expansion::All).unwrap();
    let (more, ..) = more.expanded(&new, 0, Expansion::All).unwrap();
    let numbers: Vec<u32> = more.lines.iter().filter_map(DiffLine::new).collect();
    assert_eq!(numbers, (1..=61).collect::<Vec<u32>>());
    let all = DiffDoc::new(vec![Arc::new(more)]);
    assert_eq!(all.len(), 1 + 62);
    // A different text is rejected.
    assert!(file.expanded(&old, 1, Expansion::All).is_none());
}

#[test]
fn whitespace_changes_can_be_ignored() {
    let text = "@@ -1,4 +1,4 @@\n if x {\n-  a( );\n-  b();\n+    a();\n+    c();\n }\n@@ -10 +10 @@\n-\tx\n+  x\n@@ -20,0 +21 @@\n+y\n";
    let file = without_whitespace_changes(&file(text));
    let seen: Vec<_> = file.lines.iter().map(|l| (l.kind, l.old(), l.new(), file.text(l))).collect();
    assert_eq!(
        seen,
        [
            (Kind::Context, Some(1), Some(1), "if x {"),
            (Kind::Context, Some(2), Some(2), "    a();"),
            (Kind::Removed, Some(3), None, "  b();"),
            (Kind::Added, None, Some(3), "    c();"),
            (Kind::Context, Some(4), Some(4), "}"),
            (Kind::Added, None, Some(21), "y"),
        ]
    );
    assert_eq!((file.additions, file.deletions, file.hunks.len(), file.hunks[1].hidden), (2, 1, 2, Some(16)));
    let none = without_whitespace_changes(&self::file("@@ -1 +1 @@\n-a b\n+ab\n"));
    assert_eq!(none.note(), Some(("space", "Only whitespace changed".into())));
}

#[test]
fn moved_blocks_are_detected() {
    let block = ["fn moved_function() {", "    let value = compute_it();", "", "    value + 1", "}"];
    let gone: String = block.iter().map(|line| format!("-{line}\n")).collect();
    let came: String = block.iter().map(|line| format!("+  {line}\n")).collect();
    let doc = doc(&[&format!("@@ -1,6 +1,1 @@\n a\n{gone}"), &format!("@@ -1,1 +1,7 @@\n b\n+other\n{came}")]);
    let moved = moved(doc.files(), &|| false);
    assert!(!moved.contains(0, 0) && moved.contains(0, 1) && moved.contains(0, 5));
    assert!(!moved.contains(1, 1) && moved.contains(1, 2) && moved.contains(1, 6));
    let mut doc = doc;
    doc.set_moved(Arc::new(moved));
    let theme = Theme::for_background(Background::Dark);
    assert_eq!(line(&doc, 3, &theme).fill, Some(theme.style(Role::MovedLine)));
}

#[test]
fn generated_files_are_folded_with_a_reason() {
    let lock =
        Source { new_path: "Cargo.lock".into(), old_path: "Cargo.lock".into(), diff: DIFF.into(), ..Source::default() };
    let min = format!("@@ -1 +1 @@\n-{0}\n+{0}b\n", "a".repeat(3000));
    let files = vec![Arc::new(parse(lock)), Arc::new(file(&min)), Arc::new(file(DIFF))];
    let doc = DiffDoc::new(files);
    assert_eq!((doc.is_folded(0), doc.is_folded(1), doc.is_folded(2)), (true, true, false));
    assert!(rows(&doc)[0].ends_with("lock file (folded)"), "{:?}", rows(&doc));
}

#[test]
fn both_versions_of_an_image_are_shown_side_by_side() {
    // A bitmap of one red pixel.
    let mut bmp = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0".to_vec();
    bmp.resize(54, 0);
    bmp.extend([0, 0, 255, 0]);
    let theme = Theme::for_background(Background::Dark);
    let ImagePair { lines, size, rows } = draw_image_pair(None, Some(&bmp), 63, &theme);
    assert_eq!((lines.len(), size.0 > 0 && size.1 > 0), (usize::from(rows) + 1, true));
    assert!(lines[0].text.plain_text().ends_with("1 × 1 BMP 58 B"), "{lines:?}");
    assert!(lines.len() > 1);
    // The image is red, and the empty half beside it is not.
    let red = |style: Style| [style.fg, style.bg].contains(&Some(Color::Rgb(255, 0, 0)));
    let red = |span: &Span| red(span.paint.style(&theme));
    let spans = &lines[1].text.spans;
    assert!(spans.iter().any(red) && !spans.iter().all(red), "{spans:?}");
    assert!(draw_image_pair(Some(b"no picture"), None, 63, &theme).lines.is_empty());
    assert!(draw_image_pair(Some(&bmp), Some(&bmp), 2, &theme).lines.is_empty());
}

#[test]
fn the_section_of_a_hunk_is_known() {
    let doc = doc(&["@@ -40,2 +40,5 @@ impl Table {\n     a\n+    b\n+fn c() {\n+    d\n     e\n"]);
    assert_eq!(
        (doc.section(2), doc.section(3), doc.section(5)),
        (Some("impl Table {"), Some("impl Table {"), Some("fn c() {"))
    );
}

#[test]
fn hostile_diffs_do_not_panic() {
    let likely: &[&[u8]] = &[
        b"\n@@ -1,2 +3,4 @@ x\n",
        b"\n@@ -4294967295,4294967295 +1 @@\n",
        b"\n+",
        b"\n-",
        b"\n ",
        b"\n\\",
        b"\n--- a/x\n+++ b/x\n",
        "é日".as_bytes(),
        b"word ",
        b"\r",
        b"@@",
    ];
    let mut dice = Dice(11);
    for _ in 0..300 {
        let texts: Vec<String> =
            (0..3).map(|_| String::from_utf8_lossy(&dice.bytes(120, likely)).into_owned()).collect();
        let mut doc = doc(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        while let Some(piece) = doc.missing(0..doc.len()) {
            let styles = highlight_hunk(&doc.files()[piece.0], piece.1, piece.2, &|| false);
            doc.insert(piece, styles);
        }
        let mut split = doc.clone();
        split.set_layout(Layout::Split, None);
        for row in 0..split.len() {
            assert_eq!(split.row(split.content(row).unwrap()), Some(row));
        }
        for (width, height) in [(0, 0), (3, 1), (20, 4), (60, 12)] {
            for wrap in [false, true] {
                let state = DocState { left: dice.below(4), ..DocState::on(dice.below(40)) };
                window(&doc, width, height, &state, wrap);
                window(&split, width, height, &state, wrap);
            }
        }
        moved(doc.files(), &|| false);
        let spaceless: Vec<_> = doc.files().iter().map(|file| Arc::new(without_whitespace_changes(file))).collect();
        for file in &spaceless {
            let blob = Arc::new(Text::new(dice.bytes(60, likely)));
            for hunk in 0..file.hunks.len() + 1 {
                for more in [Expansion::All, Expansion::Both(2), Expansion::Up(1), Expansion::Down(9)] {
                    file.expanded(&blob, hunk, more);
                }
            }
        }
        assert_eq!(rows(&DiffDoc::new(spaceless.clone())).len(), DiffDoc::new(spaceless).len());
        assert_eq!(rows(&doc).len(), doc.len());
        for row in 0..doc.len() {
            assert_eq!(doc.row(doc.content(row).unwrap()), Some(row));
            let _ = (doc.next_hunk(row), doc.previous_hunk(row), doc.next_file(row), doc.previous_file(row));
        }
    }
}

#[test]
fn hunks_beyond_the_file_expand_to_nothing() {
    let blob = Arc::new(Text::new(b"one\ntwo\n".to_vec()));
    for diff in
        ["@@ -4000000000,1 +3999999999,0 @@\n-x\n", "@@ -3000000000,1 +1,1 @@\n one\n@@ -1,1 +2000000000,0 @@\n-y\n"]
    {
        let file = parse(Source { new_path: "a".into(), diff: diff.into(), ..Source::default() });
        for hunk in 0..file.hunks.len() {
            for more in [Expansion::All, Expansion::Both(20), Expansion::Up(20), Expansion::Down(20)] {
                let lines = file.expanded(&blob, hunk, more).map_or(0, |(file, ..)| file.lines.len());
                assert!(lines <= file.lines.len() + 2, "{diff}: {lines}");
            }
        }
    }
}

#[test]
fn line_endings_are_not_part_of_the_line() {
    let file = file("@@ -1,3 +1,3 @@\r\n-a\r\n+b\r\n \r\n\r\n");
    let seen: Vec<_> = file.lines.iter().map(|line| (line.kind, file.text(line))).collect();
    assert_eq!(seen, [(Kind::Removed, "a"), (Kind::Added, "b"), (Kind::Context, ""), (Kind::Context, "")]);
}

/// Draws a view of 70 columns with colors.
fn colored(doc: &DiffDoc, height: u16, cursor: usize, focused: bool, marked: Option<(usize, Range<usize>)>) -> Buffer {
    let area = Rect::new(0, 0, 70, height);
    let mut buf = Buffer::empty(area);
    let theme = Theme::for_background(Background::Dark);
    let look = DiffOptions { theme: &theme, focused, wrap: Some(false), marks: &|_| Vec::new(), marked };
    view::draw(&mut buf, area, doc, &DocState::on(cursor), &look);
    buf
}

#[test]
fn the_cursor_is_marked_on_its_side() {
    let mut doc = doc(&[NEW]);
    doc.set_layout(Layout::Split, None);
    let mark = |doc: &DiffDoc, row: usize| -> Vec<usize> {
        let buf = colored(doc, 13, row, true, None);
        let cells = buf.content().chunks(70).nth(row).unwrap().iter().enumerate();
        cells.filter(|(_, cell)| cell.symbol() == crate::glyph::mark()).map(|(column, _)| column).collect()
    };
    // A line on both sides, an added one, and a removed one.
    assert_eq!([1, 2, 8].map(|row| mark(&doc, row)), [[34], [34], [0]]);
    doc.set_side(Side::Old);
    assert_eq!([1, 2, 8].map(|row| mark(&doc, row)), [[0], [34], [0]]);
}

#[test]
fn the_cursor_row_and_marked_lines_have_their_own_colors() {
    let doc = doc(&[NEW, NEW]);
    let theme = Theme::for_background(Background::Dark);
    let colors = |focused: bool, marked: Option<(usize, Range<usize>)>| -> Vec<_> {
        let buf = colored(&doc, 26, 1, focused, marked);
        buf.content().chunks(70).map(|row| row[60].bg).collect()
    };
    let (here, away) = (colors(true, None), colors(false, None));
    assert_eq!(Some(here[1]), theme.style(Role::Selected).bg);
    assert_eq!(Some(away[1]), theme.style(Role::SelectedDim).bg);
    assert_eq!(here[2..], away[2..], "no other row looks like it");
    // Lines 4 and 5 of the second file, which follow its heading and a bar.
    let marked = colors(true, Some((1, 4..6)));
    let differ: Vec<usize> = (0..26).filter(|row| marked[*row] != here[*row]).collect();
    let rows: Vec<usize> = (0..doc.len())
        .filter(|row| matches!(doc.content(*row), Some(RowContent::Line { file: 1, line: 4 | 5, .. })))
        .collect();
    assert_eq!(differ, rows);
}

#[test]
fn a_wrapped_window_keeps_a_margin_around_the_cursor() {
    let added: String = (1..=60).map(|n| format!("+line {n}\n")).collect();
    let doc = doc(&[&format!("@@ -0,0 +1,60 @@\n{added}")]);
    // The cursor is on line 30: first checks the last visible line, then the first one after moving up from far below.
    let last = |height: u16| {
        let state = DocState::on(30);
        window(&doc, 40, height, &state, true).last().cloned().unwrap_or_default()
    };
    assert!(last(15).ends_with("line 32") && last(14).ends_with("line 30"), "{} {}", last(15), last(14));
    let first = |height: u16| {
        let state = DocState::on(30);
        state.set_top(50);
        window(&doc, 40, height, &state, true).first().cloned().unwrap_or_default()
    };
    assert!(first(15).ends_with("line 28") && first(14).ends_with("line 30"), "{} {}", first(15), first(14));
}

#[test]
fn a_truncated_wrapped_line_is_marked() {
    let doc = doc(&[&format!("@@ -0,0 +1,1 @@\n+{}\n", "0123456789".repeat(9))]);
    let seen = window(&doc, 40, 3, &DocState { cursor_line: false, ..DocState::new() }, true);
    assert!(seen[2].ends_with(crate::glyph::ellipsis()), "{seen:?}");
    assert!(!seen[1].ends_with(crate::glyph::ellipsis()), "{seen:?}");
}

#[test]
fn diffs_differ_by_path_or_text() {
    let of = |path: &str, diff: &str| {
        parse(Source { old_path: path.into(), new_path: path.into(), diff: diff.into(), ..Source::default() }).identity
    };
    assert_eq!(of("t", DIFF), of("t", DIFF));
    assert!(of("t", DIFF) != of("t", NEW) && of("t", DIFF) != of("u", DIFF));
}

#[test]
fn line_numbers_fit_the_highest() {
    let mut doc = doc(&["@@ -1 +1 @@\n-a\n+b\n"]);
    assert_eq!(rows(&doc)[1], "  1     - a");
    let long = Arc::new(file("@@ -1,2 +12345,2 @@\n-a\n+b\n c\n"));
    doc.extend(vec![long.clone()]);
    assert_eq!(rows(&doc)[1], "    1       - a", "all files stand level");
    let mut doc = self::doc(&["@@ -1 +1 @@\n-a\n+b\n"]);
    doc.replace(0, long, None);
    assert!(rows(&doc).iter().any(|row| row == "      12345 + b"), "{:?}", rows(&doc));
}

#[test]
fn moved_lines_are_known_until_a_file_changes() {
    let mut doc = doc(&[NEW]);
    assert!(!doc.knows_moved());
    doc.set_moved(Arc::default());
    assert!(doc.knows_moved());
    doc.replace(0, Arc::new(file(DIFF)), None);
    assert!(!doc.knows_moved());
}

#[test]
fn a_file_without_lines_says_no_more_than_the_server() {
    let of = |change: fn(&mut Source)| {
        let mut source = Source { new_path: "t".into(), ..Source::default() };
        change(&mut source);
        let file = parse(source);
        (file.note().unwrap_or_default().0, file.lacks_diff())
    };
    assert_eq!(of(|_| {}), ("no diff", true));
    assert_eq!(of(|source| (source.old_mode, source.new_mode) = (None, Some("100755".into()))), ("no diff", true));
    assert_eq!(of(|source| source.collapsed = true), ("large", true));
    assert_eq!(of(|source| source.diff = "Binary files a/t and b/t differ\n".into()), ("bin", true));
    assert_eq!(of(|source| source.diff = NEW.into()), ("", false));
    assert_eq!(of(|source| (source.tells_omitted, source.new_mode) = (true, Some("100755".into()))), ("mode", true));
}

#[test]
fn two_files_of_one_path_have_their_own_insets() {
    let of = |is_deleted: bool, diff: &str| {
        let (old_path, new_path) = ("src/t.rs".to_owned(), "src/t.rs".to_owned());
        Arc::new(parse(Source {
            old_path,
            new_path,
            is_deleted,
            is_new: !is_deleted,
            diff: diff.into(),
            ..Source::default()
        }))
    };
    let files = vec![of(true, "@@ -1,2 +0,0 @@\n-a\n-b\n"), of(false, "@@ -0,0 +1 @@\n+target\n")];
    let mut doc = DiffDoc::new(files.clone());
    let on = |key: &str, file: usize, at: At| Inset { file: files[file].key(), ..inset(key, at, 1) };
    doc.set_insets(Arc::new(vec![
        on("old line", 0, At::Line(Side::Old, 2)),
        on("new line", 1, At::Line(Side::New, 1)),
        on("whole", 1, At::File),
    ]));
    let at = |key: &str| doc.inset(key).map(RowContent::file);
    assert_eq!([at("old line"), at("new line"), at("whole")], [Some(0), Some(1), Some(1)]);
    let insets = (0..doc.len()).filter(|row| matches!(doc.content(*row), Some(RowContent::Inset { .. }))).count();
    assert_eq!(insets, 3, "each is shown once");
}

#[test]
fn lines_keep_their_colors_when_hidden_lines_are_expanded() {
    let old: Vec<String> = (1..=60).map(|n| format!("let line_{n} = {n};")).collect();
    let mut new = old.clone();
    (new[19], new[39]) = ("let changed = 20;".into(), "let changed = 40;".into());
    let text = |lines: &[String]| Arc::new(Text::new((lines.join("\n") + "\n").into_bytes()));
    let source = Source { old_path: "src/t.rs".into(), new_path: "src/t.rs".into(), ..Source::default() };
    let file = compute(&source, &text(&old), &text(&new));
    let mut doc = DiffDoc::new(vec![Arc::new(file.clone())]);
    for hunk in [0, 1] {
        doc.insert((0, hunk, 0), highlight_hunk(&file, hunk, 0, &|| false));
    }
    let theme = Theme::for_background(Background::Dark);
    let keyword = theme.style(Role::SyntaxKeyword).fg;
    let colored = |doc: &DiffDoc| -> Vec<String> {
        let lines = (0..doc.len()).map(|row| line(doc, row, &theme));
        let is_colored = |line: &DocLine| {
            line.text.spans.iter().any(|span| span.text == "let" && span.paint.style(&theme).fg == keyword)
        };
        lines.filter(is_colored).map(|line| drawn(&line)).collect()
    };
    let before = colored(&doc);
    assert_eq!(before.len(), 16, "two hunks with a change and six lines around it: {before:#?}");
    let (more, down, up) = file.expanded(&text(&new), 1, Expansion::Both(3)).unwrap();
    doc.replace(0, Arc::new(more), Some((1, down, up)));
    assert_eq!(colored(&doc), before);
}

#[test]
fn hidden_lines_expand_on_the_requested_side() {
    let old: Vec<String> = (1..=60).map(|n| format!("line {n}")).collect();
    let mut new = old.clone();
    (new[19], new[39]) = ("changed".into(), "changed".into());
    let text = |lines: &[String]| Arc::new(Text::new((lines.join("\n") + "\n").into_bytes()));
    let (old, new) = (text(&old), text(&new));
    let file = compute(&Source { new_path: "t".into(), ..Source::default() }, &old, &new);
    let come = |hunk, more| file.expanded(&new, hunk, more).map(|(_, down, up)| (down, up));
    // Above the first hunk and below the last one, lines can be added only to that hunk.
    assert_eq!([Expansion::Up(3), Expansion::Down(3), Expansion::Both(3)].map(|more| come(0, more)), [Some((0, 3)); 3]);
    let between = [Expansion::Up(3), Expansion::Down(3), Expansion::Both(3), Expansion::All].map(|more| come(1, more));
    assert_eq!(between, [Some((0, 3)), Some((3, 0)), Some((3, 3)), Some((0, 13))]);
    assert_eq!([Expansion::Up(3), Expansion::Down(3), Expansion::Both(3)].map(|more| come(2, more)), [Some((3, 0)); 3]);
}

#[test]
fn the_marker_of_a_missing_line_feed_is_shown_on_its_side_only() {
    let file = file("@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n");
    let sides: Vec<_> = file.pairs.iter().map(|pair| (pair.left().is_some(), pair.right().is_some())).collect();
    assert_eq!(sides, [(true, true), (false, true), (false, true)]);
}

#[test]
fn changed_line_endings_are_shown_and_named() {
    let heading = |diff: &str| rows(&doc(&[diff]))[0].clone();
    let to_crlf = "@@ -1,2 +1,2 @@\n-one\n-\n+one\r\n+\r\n";
    let shown = rows(&doc(&[to_crlf]));
    assert!(shown[0].ends_with("line endings changed"), "{shown:?}");
    assert_eq!(shown.iter().filter(|row| row.ends_with('␍')).count(), 2, "{shown:?}");
    assert_eq!(shown.iter().filter(|row| row.ends_with("- one")).count(), 1, "{shown:?}");
    let to_lf = "@@ -1,2 +1,2 @@\n \r\n-one\r\n+one\n";
    assert!(heading(to_lf).ends_with("line endings changed"));
    // A line with another end than the rest of the file.
    let mixed = "@@ -1,2 +1,3 @@\n one\r\n+two\n three\r\n";
    assert!(heading(mixed).ends_with("mixed line endings"));
    assert_eq!(rows(&doc(&[mixed])).iter().filter(|row| row.ends_with('␍')).count(), 2);
    // Expanded lines show their ends, too.
    let blob = Arc::new(Text::new(b"one\r\ntwo\nthree\r\nfour\nfive\r\n".to_vec()));
    let mixed = file("@@ -3,2 +3,3 @@\n three\r\n+four\n five\r\n");
    let (more, ..) = mixed.expanded(&blob, 0, Expansion::All).expect("two lines are hidden");
    let shown = rows(&DiffDoc::new(vec![Arc::new(more)]));
    let with_return = |word: &str| shown.iter().any(|row| row.contains(word) && row.ends_with('␍'));
    assert_eq!(["one", "two", "three", "four", "five"].map(with_return), [true, false, true, false, true], "{shown:?}");
    // The same ends everywhere are no news, nor is a last line without one.
    for same in [
        "@@ -1,3 +1,3 @@\n one\r\n-two\r\n+2\r\n\r\n",
        "@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\n\\ No newline at end of file\n",
        DIFF,
    ] {
        let shown = rows(&doc(&[same]));
        assert!(!shown.concat().contains('␍') && !shown[0].contains("line endings"), "{shown:?}");
    }
}
