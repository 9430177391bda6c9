//! Hiding of whitespace changes: lines that differ only in whitespace become unchanged lines.

use super::parse::finish;
use super::{DiffLine, FileDiff, Hunk, Kind};
use domain::edits::edits;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The time limit for comparing a block. When it expires, the rest of the block remains as it is.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// Returns a copy of a file in which changes of only whitespace are not changes. Runs on a worker thread.
pub fn without_whitespace_changes(file: &FileDiff) -> FileDiff {
    if file.malformed || file.lines.is_empty() {
        return file.clone();
    }
    let mut out = FileDiff { lines: Vec::with_capacity(file.lines.len()), hunks: Vec::new(), ..file.clone() };
    (out.additions, out.deletions) = (0, 0);
    for hunk in &file.hunks {
        let start = out.lines.len();
        let lines = file.lines.get(hunk.lines.clone()).unwrap_or_default();
        rewrite(file, lines, &mut out.lines);
        let kept = out.lines.get(start..).unwrap_or_default();
        let count = |kind| kept.iter().filter(|line| line.kind == kind).count();
        let (added, removed) = (count(Kind::Added), count(Kind::Removed));
        if added + removed == 0 && !hunk.is_rest {
            // No change is left, so the lines are hidden like others between hunks.
            out.lines.truncate(start);
            continue;
        }
        out.additions += added;
        out.deletions += removed;
        out.hunks.push(Hunk { lines: start..out.lines.len(), ..hunk.clone() });
    }
    if out.lines.is_empty() {
        out.hunks.clear();
        out.only_whitespace = true;
    }
    finish(&mut out);
    out
}

fn rewrite(file: &FileDiff, lines: &[DiffLine], out: &mut Vec<DiffLine>) {
    let (mut removed, mut added): (Vec<DiffLine>, Vec<DiffLine>) = Default::default();
    for line in lines {
        match line.kind {
            Kind::Removed => {
                if !added.is_empty() {
                    block(file, &mut removed, &mut added, out);
                }
                removed.push(*line);
            }
            Kind::Added => added.push(*line),
            // The marker between removed and added lines is dropped, so that it does not keep them from being compared.
            Kind::NoNewline if !removed.is_empty() && added.is_empty() => {}
            _ => {
                block(file, &mut removed, &mut added, out);
                out.push(*line);
            }
        }
    }
    block(file, &mut removed, &mut added, out);
}

fn block(file: &FileDiff, removed: &mut Vec<DiffLine>, added: &mut Vec<DiffLine>, out: &mut Vec<DiffLine>) {
    let key = |line: &DiffLine| {
        let mut hasher = DefaultHasher::new();
        file.text(line).chars().filter(|c| !c.is_whitespace()).for_each(|c| c.hash(&mut hasher));
        hasher.finish()
    };
    for edit in edits(removed.iter().map(key), added.iter().map(key), TIME_LIMIT) {
        let (from, to) = (removed.get(edit.old), added.get(edit.new));
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
        if edit.is_equal {
            out.extend(from.iter().zip(to).map(|(old, new)| DiffLine { kind: Kind::Context, old: old.old, ..*new }));
        } else {
            out.extend(from);
            out.extend(to);
        }
    }
    removed.clear();
    added.clear();
}
