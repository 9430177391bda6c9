//! Histories whose truth is known by construction: each line names who wrote it and when. Lines of the target branch must
//! never be shown as the author's (foreign), and the lines that the author wrote since the review always must be (hidden).

use super::*;
use crate::dice::Dice;
use api::Raw;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The files of a commit with their modes.
type Tree = BTreeMap<String, (String, Vec<u8>)>;

/// The four commits of two versions, and the renames that a server finds between them.
#[derive(Clone, Default)]
struct History {
    base_before: Tree,
    head_before: Tree,
    base_now: Tree,
    head_now: Tree,
    renames: Vec<(&'static str, &'static str)>,
    /// What the server does: it leaves out all diffs, or does not find the target branch's changes.
    withholds: bool,
    knows_target: bool,
    /// The sides whose texts are gone.
    gone: Vec<Side>,
}

fn entries(old: &Tree, new: &Tree, renames: &[(&str, &str)]) -> Vec<DiffEntry> {
    let none = (String::from("000000"), Vec::new());
    let is_renamed = |from: &str, to: &str| {
        renames.contains(&(from, to)) && !old.contains_key(to) && !new.contains_key(from) && old.contains_key(from)
    };
    let mut all = Vec::new();
    for path in old.keys().chain(new.keys().filter(|path| !old.contains_key(*path))) {
        let renamed_to =
            renames.iter().find(|(from, to)| from == path && is_renamed(from, to) && new.contains_key(*to));
        if renames.iter().any(|(from, to)| to == path && is_renamed(from, to)) {
            continue;
        }
        let new_path = renamed_to.map_or(path.as_str(), |(_, to)| to);
        let (before, after) = (old.get(path), new.get(new_path));
        if before == after && renamed_to.is_none() {
            continue;
        }
        let ((a_mode, a), (b_mode, b)) = (before.unwrap_or(&none), after.unwrap_or(&none));
        // Git compares bytes, and the server converts the result to UTF-8.
        let (a_lines, b_lines) = (lines(a), lines(b));
        let diff = match a.contains(&0) || b.contains(&0) {
            true => format!("Binary files a/{path} and b/{new_path} differ\n"),
            false => hunks(&a_lines, &b_lines, &edits(&a_lines, &b_lines, Duration::from_secs(60)), &[]),
        };
        all.push(DiffEntry {
            old_path: path.clone(),
            new_path: new_path.to_owned(),
            diff,
            a_mode: Some(a_mode.clone()),
            b_mode: Some(b_mode.clone()),
            new_file: before.is_none(),
            deleted_file: after.is_none(),
            renamed_file: renamed_to.is_some(),
            ..DiffEntry::default()
        });
    }
    all
}

impl History {
    /// Compares as a client does: texts are read until none is needed. Also returns the number of reads.
    fn carried(&self) -> (Carried, usize) {
        let mut lists = [
            entries(&self.base_before, &self.head_before, &self.renames),
            entries(&self.base_now, &self.head_now, &self.renames),
            entries(&self.base_before, &self.base_now, &self.renames),
        ];
        if self.withholds {
            lists.iter_mut().flatten().for_each(|entry| (entry.diff, entry.too_large) = (String::new(), Some(true)));
        }
        let [before, now, target] = lists;
        let mut texts = Texts::new();
        loop {
            let versions = Versions {
                before: &before,
                now: &now,
                target: if self.knows_target { &target } else { &[] },
                target_is_complete: self.knows_target,
                target_branch: "main",
                shows_target: false,
                shows_reviewed: false,
                texts: &texts,
            };
            let carried = carry(&versions, &|| false);
            if carried.needed.is_empty() {
                return (carried, texts.len());
            }
            for key in carried.needed {
                let tree = match key.side {
                    Side::BaseBefore => &self.base_before,
                    Side::HeadBefore => &self.head_before,
                    Side::BaseNow => &self.base_now,
                    Side::HeadNow => &self.head_now,
                };
                let text = tree.get(&key.path).filter(|_| !self.gone.contains(&key.side));
                let raw = text.map(|(_, bytes)| Arc::new(Raw { bytes: bytes.clone(), content_type: None }));
                let is_new = texts.insert(key, raw.ok_or_else(|| "404 not found".to_owned())).is_none();
                assert!(is_new, "a text is read once");
            }
        }
    }

    /// Returns a row for each file, with the changed lines of those to review.
    fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for file in self.carried().0.files {
            let conflicts = if file.conflicts > 0 { format!(", {} conflicts", file.conflicts) } else { String::new() };
            let entry = &file.entry;
            let arrow = if entry.renamed_file { format!("{} to ", entry.old_path) } else { String::new() };
            let is_one_sided = entry.new_file || entry.deleted_file;
            let mode = if entry.a_mode == entry.b_mode || is_one_sided { "" } else { ", mode" };
            rows.push(format!("{:?} {arrow}{}{mode}{conflicts}", file.outcome, entry.new_path));
            let is_shown = |line: &&str| line.starts_with(['+', '-', '@']) || line.starts_with("Binary");
            let name = |line: &str| match line.splitn(3, "@@").last() {
                Some(name) if !name.is_empty() => format!(" {name}"),
                _ => String::new(),
            };
            let lines = entry.diff.lines().filter(is_shown);
            let lines = lines.map(|line| if line.starts_with('@') { name(line) } else { line.to_owned() });
            rows.extend(lines.filter(|line| !line.is_empty()));
        }
        rows
    }
}

/// Returns a text of 40 lines, after some replacements: of a line by its number, by nothing or by others.
fn text(changes: &[(usize, &str)]) -> Vec<u8> {
    let line = |at: usize| match changes.iter().find(|(line, _)| *line == at) {
        Some((_, "")) => String::new(),
        Some((_, new)) => format!("{new}\n"),
        None => format!("line {at}\n"),
    };
    (1..=40).map(line).collect::<String>().into_bytes()
}

fn tree(files: &[(&str, Vec<u8>)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), ("100644".to_owned(), text.clone()))).collect()
}

/// Returns a history of one file.
fn file(texts: [&[u8]; 4]) -> History {
    let [base_before, head_before, base_now, head_now] = texts.map(|text| tree(&[("a", text.to_vec())]));
    History { base_before, head_before, base_now, head_now, knows_target: true, ..History::default() }
}

/// Returns a history of one file of 40 lines, from its changes: the author's, the target branch's, and both with what the
/// author did since.
fn lines_of(mine: &[(usize, &str)], main: &[(usize, &str)], now: &[(usize, &str)]) -> History {
    file([&text(&[]), &text(mine), &text(main), &text(now)])
}

/// Returns the tree without a file, or with another one instead.
fn without(tree: &Tree, path: &str) -> Tree {
    tree.iter().filter(|(name, _)| *name != path).map(|(name, file)| (name.clone(), file.clone())).collect()
}

fn moved(tree: &Tree, to: &str) -> Tree {
    tree.values().map(|file| (to.to_owned(), file.clone())).collect()
}

#[test]
fn only_what_the_author_did_since_the_review_is_shown() {
    let (mine, main) = ((10, "mine"), (30, "main"));
    let both = [mine, main];
    let usual = lines_of(&[mine], &[main], &both);
    let edited = lines_of(&[mine], &[main], &[mine, main, (20, "since")]);
    let check = |kind: &str, history: &History, rows: &[&str]| assert_eq!(history.rows(), rows, "{kind}");

    check("a rebase", &usual, &["Rebased a"]);
    check("a rebase and an edit", &edited, &["Changed a", "-line 20", "+since"]);
    check(
        "a reviewed line edited",
        &lines_of(&[mine], &[main], &[(10, "since"), main]),
        &["Changed a", "-mine", "+since"],
    );
    check("a line restored", &lines_of(&[mine], &[main], &[main]), &["TakenBack a", "-mine", "+line 10"]);
    check("a push", &lines_of(&[mine], &[], &[mine, (20, "since")]), &["Changed a", "-line 20", "+since"]);
    check("commits rearranged", &lines_of(&[mine], &[], &[mine]), &["Same a"]);
    check("taken over by the target", &lines_of(&[mine], &[mine, main], &[mine, main]), &["TakenOver a"]);
    check(
        "taken over, edited since",
        &lines_of(&[mine], &[mine, main], &[mine, main, (20, "since")]),
        &["Changed a", "-line 20", "+since"],
    );
    check("onto an older base", &file([&text(&[main]), &text(&both), &text(&[]), &text(&[mine])]), &["Rebased a"]);
    check(
        "a conflict solved by hand",
        &lines_of(&[mine], &[(10, "main")], &[(10, "since")]),
        &["Changed a, 1 conflicts", "  conflict with main, solved by hand", "-mine", "+since"],
    );
    check(
        "a conflict kept as reviewed",
        &lines_of(&[mine], &[(10, "main")], &[mine]),
        &["Changed a, 1 conflicts", "  conflict with main, kept as reviewed"],
    );
    check(
        "a conflict that took the target's text",
        &lines_of(&[mine, (20, "mine 2")], &[(10, "main")], &[(10, "main"), (20, "mine 2")]),
        &["Changed a, 1 conflicts", "  conflict with main, took the text of main", "-mine", "+main"],
    );
    check(
        "changes that touch",
        &lines_of(&[mine], &[(11, "main")], &[mine, (11, "main")]),
        &["Changed a, 1 conflicts", "  conflict with main, solved by hand", "-line 11", "+main"],
    );
    check(
        "a deletion and a change",
        &lines_of(&[(10, "")], &[(10, "main")], &[(10, "")]),
        &["Changed a, 1 conflicts", "  conflict with main, kept as reviewed"],
    );
    check("whitespace", &lines_of(&[mine], &[main], &[(10, "mine "), main]), &["Changed a", "-mine", "+mine "]);
    check("carriage returns", &lines_of(&[mine], &[main], &[(10, "mine\r"), main]), &["Changed a", "-mine", "+mine"]);

    // Blocks that are equal: an insertion that moved from one to another is a change, though both patches have equal lines.
    let blocks = |at: usize, main: &str| {
        let block = |is_here: bool| format!("begin\nx\n{}y\nend\n", if is_here { "mine\n" } else { "" });
        format!("{main}{}{}", block(at == 1), block(at == 2)).into_bytes()
    };
    let twins = file([&blocks(0, ""), &blocks(1, ""), &blocks(0, "main\n"), &blocks(2, "main\n")]);
    check("an insertion moved between twin blocks", &twins, &["Changed a", "-mine", "+mine"]);

    let no_end = |text: Vec<u8>| text.strip_suffix(b"\n").map(<[u8]>::to_vec).unwrap_or_default();
    let last = file([&text(&[]), &text(&[mine]), &text(&[main]), &no_end(text(&both))]);
    check("the last line feed", &last, &["Changed a", "-line 40", "+line 40"]);
    let latin = |changes: &[(usize, &str)]| [text(changes), b"\xe9t\xe9\n".to_vec()].concat();
    let other = |changes: &[(usize, &str)]| [text(changes), b"\xe8t\xe8\n".to_vec()].concat();
    let bytes = file([&latin(&[]), &latin(&[mine]), &latin(&[main]), &latin(&both)]);
    check("texts that are not UTF-8", &bytes, &["Rebased a"]);
    let bytes = file([&latin(&[]), &latin(&[mine]), &latin(&[main]), &other(&both)]);
    check("a byte that changed", &bytes, &["Changed a", "-\u{fffd}t\u{fffd}", "+\u{fffd}t\u{fffd}"]);
    let binary = |text: &str| format!("\0{text}").into_bytes();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(binary);
    check("a binary file", &file([&a, &b, &a, &b]), &["Same a"]);
    check("a binary file that changed", &file([&a, &b, &a, &c]), &["Changed a", "Binary files a/a and b/a differ"]);
    check("a binary conflict", &file([&a, &b, &c, &d]), &["Changed a, 1 conflicts", "Binary files a/a and b/a differ"]);
    check("a binary conflict kept", &file([&a, &b, &c, &b]), &["Changed a, 1 conflicts"]);

    let mut mode = usual.clone();
    mode.head_before.get_mut("a").unwrap().0 = "100755".into();
    check("a mode taken back", &mode, &["Changed a, mode"]);
    mode.head_now.get_mut("a").unwrap().0 = "100755".into();
    check("a mode", &mode, &["Rebased a"]);

    // Without the diffs, or without the comparison of the target branch, texts are read instead.
    for history in [&usual, &edited, &twins, &last] {
        let withheld = History { withholds: true, ..history.clone() };
        assert_eq!(withheld.rows(), history.rows());
        let cut = History { knows_target: false, ..history.clone() };
        assert_eq!(cut.rows(), history.rows());
    }
    assert_eq!(usual.carried().1, 1, "one text of a file that both sides changed");
    assert_eq!(lines_of(&[mine], &[], &[mine]).carried().1, 0, "none of one that did not change");
}

#[test]
fn files_are_followed_when_they_are_renamed_added_and_deleted() {
    let (mine, main) = ((10, "mine"), (30, "main"));
    let usual = lines_of(&[mine], &[main], &[mine, main]);
    let edited = lines_of(&[mine], &[main], &[mine, main, (20, "since")]);
    let check = |kind: &str, history: History, rows: &[&str]| assert_eq!(history.rows(), rows, "{kind}");
    let renames = vec![("a", "b")];
    let by_target = |history: &History| History {
        base_now: moved(&history.base_now, "b"),
        head_now: moved(&history.head_now, "b"),
        renames: renames.clone(),
        ..history.clone()
    };
    check("renamed by the target", by_target(&usual), &["Rebased a to b"]);
    check("renamed by the target and edited", by_target(&edited), &["Changed b", "-line 20", "+since"]);
    let since = History { head_now: moved(&edited.head_now, "b"), renames: renames.clone(), ..edited.clone() };
    check("renamed by the author since", since, &["Changed a to b", "-line 20", "+since"]);
    let always = History {
        head_before: moved(&usual.head_before, "b"),
        head_now: moved(&usual.head_now, "b"),
        renames: renames.clone(),
        ..usual.clone()
    };
    check("renamed by the author before", always, &["Rebased b"]);
    let cut = History { knows_target: false, ..by_target(&usual) };
    let rows = cut.rows();
    assert!(rows[0].starts_with("New b") && rows.iter().any(|row| row.starts_with("Whole(")), "{rows:?}");

    let none = || Tree::new();
    let dropped = History { base_now: none(), head_now: none(), ..usual.clone() };
    let rows = dropped.rows();
    assert_eq!((rows[0].as_str(), rows.len()), ("Dropped a", 41), "all reviewed lines are gone");
    let kept = History { base_now: none(), head_now: usual.head_before.clone(), ..usual.clone() };
    check("deleted by the target, kept", kept, &["Kept a"]);
    let both = History { head_before: none(), base_now: none(), head_now: none(), ..usual.clone() };
    check("deleted by both", both, &["TakenOver a"]);
    let deleted =
        History { head_before: none(), head_now: none(), base_now: usual.base_before.clone(), ..usual.clone() };
    check("deleted", deleted, &["Same a"]);
    let conflict = History { head_before: none(), head_now: none(), ..usual.clone() };
    assert_eq!(conflict.rows()[0], "Changed a, 1 conflicts", "the target changed what the author deleted");
    let since = History { head_now: none(), ..usual.clone() };
    assert_eq!(since.rows()[0], "Changed a", "deleted since");

    let new = History { base_before: none(), base_now: none(), head_now: usual.head_before.clone(), ..usual.clone() };
    check("a new file", new.clone(), &["Same a"]);
    check(
        "a new file edited",
        History { head_now: edited.head_now.clone(), ..new.clone() },
        &["Changed a", "-line 20", "+since", "-line 30", "+main"],
    );
    check("a new file renamed", History { head_now: moved(&new.head_now, "c"), ..new.clone() }, &["Changed a to c"]);
    check("a new file taken over", History { base_now: new.head_before.clone(), ..new.clone() }, &["TakenOver a"]);
    let other = History { base_now: usual.base_now.clone(), ..new.clone() };
    check("added by both", other, &["Changed a, 1 conflicts", "  conflict with main, kept as reviewed"]);
    let first = History {
        base_before: none(),
        head_before: none(),
        base_now: none(),
        head_now: tree(&[("n", b"since\n".to_vec())]),
        ..usual.clone()
    };
    check("a file that is new in the review", first, &["New n", "+since"]);
    let mut only_main = usual.clone();
    for tree in [&mut only_main.base_now, &mut only_main.head_now] {
        tree.insert("m".into(), ("100644".into(), b"main\n".to_vec()));
    }
    check("a file that only the target has", only_main, &["Rebased a"]);
    let two = |a: &Tree, text: &[u8]| -> Tree {
        without(a, "s").into_iter().chain([("s".to_owned(), ("160000".to_owned(), text.to_vec()))]).collect()
    };
    let [old, new, newer] =
        ["Subproject commit 1\n", "Subproject commit 2\n", "Subproject commit 3\n"].map(str::as_bytes);
    let submodule = |main: &[u8], now: &[u8]| History {
        base_before: two(&none(), old),
        head_before: two(&none(), new),
        base_now: two(&none(), main),
        head_now: two(&none(), now),
        ..usual.clone()
    };
    check("a submodule", submodule(old, newer), &["Changed s", "-Subproject commit 2", "+Subproject commit 3"]);
    check(
        "a submodule in conflict",
        submodule(newer, new),
        &["Changed s, 1 conflicts", "  conflict with main, kept as reviewed"],
    );
}

#[test]
fn files_that_cannot_be_compared_are_shown_whole() {
    let (mine, main) = ((10, "mine"), (30, "main"));
    let edited = lines_of(&[mine], &[main], &[mine, main, (20, "since")]);
    let gone = History { gone: vec![Side::BaseBefore, Side::HeadBefore], ..edited.clone() };
    let rows = gone.rows();
    assert_eq!(rows[0], "Whole(Unreadable(\"404 not found\")) a");
    assert!(rows.contains(&"+mine".to_owned()) && rows.contains(&"+since".to_owned()), "{rows:?}");
    // Equal changes are the same as long as nothing else is known, but that proves nothing.
    let same = lines_of(&[mine], &[], &[mine]);
    let all_gone = vec![Side::BaseBefore, Side::HeadBefore, Side::BaseNow, Side::HeadNow];
    let (carried, _) = History { gone: all_gone, knows_target: false, ..same.clone() }.carried();
    assert_eq!((carried.files[0].outcome.clone(), carried.is_proof), (Outcome::Same, false));
    assert!(same.carried().0.is_proof);
    let large = |line: &str| [text(&[]), line.repeat(MAX_BYTES).into_bytes()].concat();
    let large = file([&large("a"), &large("b"), &large("a"), &large("c")]);
    assert_eq!(large.carried().0.files[0].outcome, Outcome::Whole(Reason::TooLarge));
    let many = |line: &str| [text(&[]), format!("{line}\n").repeat(MAX_LINES).into_bytes()].concat();
    let many = file([&many(""), &many("b"), &many(""), &many("c")]);
    assert_eq!(many.carried().0.files[0].outcome, Outcome::Whole(Reason::TooLarge));
    // Replies that contradict each other, or are not diffs.
    for diff in
        ["@@ -1,2 +1 @@\n-x\n", "@@ -9 +9 @@\n-x\n+y\n", "hello\n", "@@ -1 +1 @@\n\u{1b}[2J\n", "\\ No newline\n"]
    {
        let entry = DiffEntry { old_path: "a".into(), new_path: "a".into(), diff: diff.into(), ..DiffEntry::default() };
        let other = DiffEntry { diff: "@@ -1 +1 @@\n-a\n+b\n".into(), ..entry.clone() };
        let raw = Arc::new(Raw { bytes: b"a\n".to_vec(), content_type: None });
        let key = |side| TextKey { side, path: "a".into() };
        let sides = [Side::BaseNow, Side::HeadBefore, Side::HeadNow];
        let texts: Texts = sides.into_iter().map(|side| (key(side), Ok(raw.clone()))).collect();
        let (before, now) = ([entry.clone(), entry], [other.clone(), other]);
        let versions = Versions {
            before: &before,
            now: &now,
            target: &[],
            target_is_complete: true,
            target_branch: "main",
            shows_target: false,
            shows_reviewed: false,
            texts: &texts,
        };
        assert!(carry(&versions, &|| false).needed.is_empty());
    }
}

/// A file of any size costs one text at most: 100 MB are as much beyond the limit as one byte.
#[test]
fn texts_beyond_the_limits_are_not_compared() {
    assert_eq!((MAX_BYTES, MAX_LINES, TIME_LIMIT), (5 * 1024 * 1024, 200_000, Duration::from_secs(3)));
    let entry = DiffEntry { old_path: "a".into(), new_path: "a".into(), too_large: Some(true), ..DiffEntry::default() };
    let all = [entry];
    let compared = |text: Vec<u8>| {
        let raw = Arc::new(Raw { bytes: text, content_type: None });
        let mut texts = Texts::new();
        loop {
            let versions = Versions {
                before: &all,
                now: &all,
                target: &all,
                target_is_complete: true,
                target_branch: "main",
                shows_target: false,
                shows_reviewed: false,
                texts: &texts,
            };
            let carried = carry(&versions, &|| false);
            if carried.needed.is_empty() {
                return (carried.files[0].outcome == Outcome::Whole(Reason::TooLarge), texts.len());
            }
            texts.extend(carried.needed.into_iter().map(|key| (key, Ok(raw.clone()))));
        }
    };
    assert_eq!(compared(vec![b'a'; 100_000_000]), (true, 1));
    assert_eq!(compared(vec![b'a'; MAX_BYTES + 1]), (true, 1));
    assert_eq!(compared(vec![b'a'; MAX_BYTES]), (false, 4));
    assert_eq!(compared(vec![b'\n'; MAX_LINES + 1]), (true, 4));
    assert_eq!(compared(vec![b'\n'; MAX_LINES]), (false, 4));
}

/// Counts the foreign and the hidden lines of files to review. Lines in conflicts are of both sides by their nature.
fn count(history: &History, is_foreign: impl Fn(&str) -> bool, is_new: impl Fn(&str) -> bool) -> (usize, usize, usize) {
    let (carried, _) = history.carried();
    let (mut foreign, mut shown, mut conflicts) = (0, 0, 0);
    for file in carried.files.iter().filter(|file| !file.is_reviewed()) {
        conflicts += file.conflicts;
        let mut is_conflict = false;
        for line in file.entry.diff.lines() {
            is_conflict = if line.starts_with("@@") { line.contains("conflict with") } else { is_conflict };
            let text = line.strip_prefix(['+', '-']);
            foreign += usize::from(!is_conflict && text.is_some_and(&is_foreign));
            shown += usize::from(line.strip_prefix('+').is_some_and(&is_new));
        }
    }
    let all = history
        .head_now
        .values()
        .map(|(_, text)| String::from_utf8_lossy(text).lines().filter(|line| is_new(line)).count());
    (foreign, all.sum::<usize>() - shown, conflicts)
}

#[test]
fn random_histories_show_no_foreign_line_and_hide_none() {
    let mut dice = Dice(57);
    let (mut conflicts, mut rebased) = (0, 0);
    for round in 0..2000 {
        // Few different lines make many equal blocks.
        let words = if round % 2 == 0 { 1000 } else { 4 };
        let mut next = 0;
        let base: Vec<String> = (0..dice.below(60) + 20).map(|_| format!("line {}", dice.below(words))).collect();
        // Each change is in a part of its own, so that a merge is unambiguous, unless parts are made to touch.
        let gap = if round % 5 == 0 { 1 } else { 8 };
        let mut parts: Vec<(usize, usize, String)> = Vec::new();
        for at in (0..base.len()).step_by(gap).flat_map(|at| if gap > 1 { vec![at] } else { vec![at; 2] }) {
            next += 1;
            parts.push((at, dice.below(6), format!("{next}")));
        }
        let with = |sides: &[(usize, &str)]| {
            let mut lines = Vec::new();
            for (at, line) in base.iter().enumerate() {
                for (_, side, id) in parts.iter().filter(|(from, ..)| *from == at) {
                    let name = sides.iter().find(|(number, _)| number == side);
                    lines.extend(name.map(|(_, name)| format!("{name} {id}")));
                }
                lines.push(line.clone());
            }
            tree(&[("a", (lines.join("\n") + "\n").into_bytes())])
        };
        let history = History {
            base_before: with(&[]),
            head_before: with(&[(1, "mine")]),
            base_now: with(&[(2, "main")]),
            head_now: with(&[(1, "mine"), (2, "main"), (3, "since")]),
            knows_target: round % 3 > 0,
            ..History::default()
        };
        let found = count(&history, |line| line.starts_with("main"), |line| line.starts_with("since"));
        assert_eq!((found.0, found.1), (0, 0), "round {round}: {:?}", history.carried().0);
        conflicts += found.2;
        rebased += usize::from(history.carried().0.files.iter().all(CarriedFile::is_reviewed));
    }
    assert!(conflicts > 100 && rebased > 20, "{conflicts} {rebased}");
    // Rebases in other repositories: LABSCOPE_REPOSITORIES=/path/one:/path/two.
    let repositories = std::env::var("LABSCOPE_REPOSITORIES").unwrap_or_default();
    repositories.split(':').filter(|folder| !folder.is_empty()).map(Path::new).for_each(check_rebases_in);
}

fn git(folder: &Path, arguments: &[&str]) -> (bool, Vec<u8>) {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    (output.status.success(), output.stdout)
}

/// Adds the files that differ between two trees to both.
fn add_files(folder: &Path, from: &str, to: &str, trees: [&mut Tree; 2]) {
    let (_, list) = git(folder, &["diff-tree", "-r", "--no-renames", from, to]);
    let list = String::from_utf8_lossy(&list).into_owned();
    for line in list.lines().filter_map(|line| line.strip_prefix(':')) {
        let Some((facts, path)) = line.split_once('\t') else { continue };
        let facts: Vec<&str> = facts.split(' ').collect();
        for (mode, blob, at) in [(facts[0], facts[2], 0), (facts[1], facts[3], 1)] {
            if mode != "000000" && mode != "160000" {
                let text = git(folder, &["cat-file", "blob", blob]).1;
                trees[at].insert(path.to_owned(), (mode.to_owned(), text));
            }
        }
    }
}

/// Rebases commits of a repository onto older commits with git. Nobody edits them, or a line is added to each file.
fn check_rebases_in(folder: &Path) {
    let (_, list) = git(folder, &["log", "--no-merges", "--min-parents=1", "--format=%H", "-n", "3000"]);
    let list = String::from_utf8_lossy(&list).into_owned();
    let (mut cases, mut foreign, mut hidden, mut conflicts, mut nothing) = (0, 0, 0, 0, 0);
    for commit in list.lines().step_by(29) {
        let (base, onto) = (format!("{commit}^"), format!("{commit}~25"));
        let onto = if git(folder, &["rev-parse", "--verify", "-q", &onto]).0 { onto } else { continue };
        let (is_clean, merged) = git(folder, &["merge-tree", "--write-tree", "--merge-base", &base, &onto, commit]);
        if !is_clean {
            continue;
        }
        let merged = String::from_utf8_lossy(&merged).trim().to_owned();
        let mut history = History { knows_target: true, ..History::default() };
        add_files(folder, &base, commit, [&mut history.base_before, &mut history.head_before]);
        add_files(folder, &onto, &merged, [&mut history.base_now, &mut history.head_now]);
        add_files(folder, &base, &onto, [&mut history.base_before, &mut history.base_now]);
        // Files that are in one list only are the same in the other commit.
        for (path, file) in history.base_before.clone() {
            history.head_before.entry(path).or_insert(file);
        }
        for (path, file) in history.base_now.clone() {
            history.head_now.entry(path).or_insert(file);
        }
        let (_, deleted) =
            git(folder, &["diff-tree", "-r", "--no-renames", "--diff-filter=D", "--name-only", &base, commit]);
        String::from_utf8_lossy(&deleted).lines().for_each(|path| _ = history.head_before.remove(path));
        let (_, deleted) =
            git(folder, &["diff-tree", "-r", "--no-renames", "--diff-filter=D", "--name-only", &onto, &merged]);
        String::from_utf8_lossy(&deleted).lines().for_each(|path| _ = history.head_now.remove(path));
        cases += 1;
        let is_new = |line: &str| line == "a line of the author since";
        let found = count(&history, |line| !is_new(line), is_new);
        (foreign, hidden, conflicts) = (foreign + found.0, hidden + found.1, conflicts + found.2);
        nothing += usize::from(history.carried().0.files.iter().all(CarriedFile::is_reviewed));
        for (path, (_, text)) in &mut history.head_now {
            if history.head_before.contains_key(path) && !text.contains(&0) {
                let at = memchr::memchr(b'\n', text).map_or(0, |at| at + 1);
                text.splice(at..at, b"a line of the author since\n".iter().copied());
            }
        }
        let found = count(&history, |line| !is_new(line), is_new);
        (foreign, hidden) = (foreign + found.0, hidden + found.1);
    }
    println!(
        "{}: {cases} rebases, nothing to review in {nothing}, {conflicts} conflicts, {foreign} foreign and {hidden} hidden lines",
        folder.display()
    );
    assert_eq!((foreign, hidden), (0, 0), "{}", folder.display());
}
