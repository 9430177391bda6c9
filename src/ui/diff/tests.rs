//! What a diff shows, from the text that servers send.

use super::*;
use crate::ui::doc::DocLine;
use crate::ui::layers::tests::Noise;
use crate::ui::search;
use crate::ui::theme::{Background, Role, Theme};
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
    let gutter: String = line.gutter.iter().map(|(text, _)| text.as_str()).collect();
    gutter + &line.spans.iter().map(|(text, _)| text.as_ref()).collect::<String>()
}

fn doc(diffs: &[&str]) -> DiffDoc {
    DiffDoc::new(diffs.iter().map(|diff| Arc::new(file(diff))).collect())
}

fn rows(doc: &DiffDoc) -> Vec<String> {
    (0..doc.len()).map(|row| drawn(&doc.draw(row, &Theme::plain()))).collect()
}

#[test]
fn lines_are_numbered_on_both_sides() {
    let file = file(DIFF);
    let seen: Vec<_> = file.lines.iter().map(|l| (l.kind, l.old, l.new, file.text(l))).collect();
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
    // The same without the two lines that some servers leave out.
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
            "          @@ -40,5 +40,3 @@ impl Table {",
            " 40  40       let a = 1;",
            " 41     -     let rows = all();",
            " 42     -     gone();",
            "     41 +     let rows = some();",
            " 43  42   ",
            " 44     - -- keep",
            "          @@ -90 +91,2 @@ ",
            " 90     - end",
            "        \\  No newline at end of file",
            "     91 + end",
            "     92 + --- more",
        ]
    );
    assert!(rows(&doc)[1].starts_with(&" ".repeat(doc.gutter())));
    let theme = Theme::for_background(Background::Dark);
    assert_eq!(doc.draw(3, &theme).fill, Some(theme.style(Role::RemovedLine)));
    assert_eq!(doc.draw(5, &theme).fill, Some(theme.style(Role::AddedLine)));
}

#[test]
fn syntax_and_changed_words_come_when_they_are_ready() {
    let mut doc = doc(&[DIFF]);
    let theme = Theme::for_background(Background::Dark);
    assert_eq!(doc.missing(0..doc.len()), Some((0, 0)));
    let styles = highlight_hunk(&doc.files()[0], 0);
    doc.insert(0, 0, styles);
    assert_eq!(doc.missing(0..doc.len()), Some((0, 1)));
    for (row, word, role) in [(3, "all", Role::RemovedWord), (5, "some", Role::AddedWord)] {
        let line = doc.draw(row, &theme);
        let span = line.spans.iter().find(|(text, _)| text == word).unwrap();
        assert_eq!(span.1.bg, theme.style(role).bg);
        let keyword = line.spans.iter().find(|(text, _)| text == "let").unwrap();
        assert_eq!(keyword.1.fg, theme.style(Role::SyntaxKeyword).fg);
    }
}

#[test]
fn files_and_hunks_are_walked_both_ways() {
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
    assert_eq!(drawn(&doc.draw(14, &Theme::plain())).trim(), "No text changed: a binary, or its mode");
    for row in 0..doc.len() {
        assert_eq!(doc.row(doc.place(row).unwrap()), Some(row));
    }
    assert_eq!(doc.place(doc.len()), None);
    assert_eq!(doc.row_of_line(2, 92, false), Some(27));
    assert_eq!(doc.row_of_line(0, 42, true), Some(4));
}

#[test]
fn a_folded_file_is_its_heading() {
    let mut doc = doc(&[DIFF, DIFF]);
    doc.fold(0, true);
    assert_eq!(doc.next_file(0), Some(1));
    assert_eq!(doc.next_hunk(0), Some(2));
    assert_eq!(doc.row(Place::Hunk { file: 0, hunk: 1 }), Some(0));
    doc.fold(0, false);
    assert_eq!(doc.len(), 26);
}

#[test]
fn text_that_is_not_a_diff_is_shown_as_it_came() {
    let doc = doc(&["hello\n@@@ -1,1 -1,1 +1,2 @@@\n+x\n"]);
    assert!(doc.files()[0].malformed);
    let rows = rows(&doc);
    assert!(rows[0].ends_with("not a valid diff"), "{rows:?}");
    assert_eq!(rows[2].trim(), "hello");
    assert_eq!(rows.len(), 5);
    // Counts that lie about the lines.
    let wrong = file("@@ -1,9 +1,9 @@\n a\n@@ -20 +20 @@\n-b\n+c\n+d\n");
    assert_eq!((wrong.malformed, wrong.lines.len(), wrong.lines.last().map(|l| l.kind)), (true, 4, Some(Kind::Plain)));
}

#[test]
fn a_search_goes_over_all_files() {
    let doc = doc(&[DIFF, DIFF]);
    let found = doc.search(&search::pattern("rows = ").unwrap(), &|| false);
    assert_eq!(found.matches.iter().map(|m| m.line).collect::<Vec<_>>(), [3, 5, 16, 18]);
    assert_eq!(&doc.text(3)[found.matches[0].range.clone()], "rows = ");
}

#[test]
fn no_text_breaks_it() {
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
    let mut noise = Noise(11);
    for _ in 0..300 {
        let texts: Vec<String> =
            (0..3).map(|_| String::from_utf8_lossy(&noise.bytes(120, likely)).into_owned()).collect();
        let mut doc = doc(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        while let Some((file, hunk)) = doc.missing(0..doc.len()) {
            let styles = highlight_hunk(&doc.files()[file], hunk);
            doc.insert(file, hunk, styles);
        }
        assert_eq!(rows(&doc).len(), doc.len());
        for row in 0..doc.len() {
            assert_eq!(doc.row(doc.place(row).unwrap()), Some(row));
            let _ = (doc.next_hunk(row), doc.previous_hunk(row), doc.next_file(row), doc.previous_file(row));
        }
    }
}
