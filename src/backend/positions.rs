//! Positions in the diff of a merge request: their validation, and their updates after a push.

use super::git::{Changes, Git};
use super::rejection::Rejection;
use api::commits::DiffEntry;
use api::notes::{self, LineRange, LineRangeEnd, NewPosition, Pixels, Position};
use git2::Oid;

/// The lines in the diff of a file.
#[derive(Clone, Debug, Default)]
pub struct DiffLines(Vec<HunkLine>);

/// A line of a hunk. The old number of an added line is that of the next old line, and the new number of a removed line
/// that of the next new line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HunkLine {
    /// The marker `+`, `-` or a space.
    mark: u8,
    old: u64,
    new: u64,
}

impl HunkLine {
    /// Returns the old and new numbers of the following line.
    fn next(self) -> (u64, u64) {
        (self.old + u64::from(self.mark != b'+'), self.new + u64::from(self.mark != b'-'))
    }
}

impl DiffLines {
    /// Parses the diff of a file.
    pub fn read(diff: &str) -> DiffLines {
        let (mut lines, mut old, mut new) = (Vec::new(), 0u64, 0u64);
        // The lines before the first hunk name the file.
        for text in diff.lines().skip_while(|text| !text.starts_with("@@ -")) {
            if let Some(header) = text.strip_prefix("@@ -") {
                let number = |part: &str| part.split([',', ' ']).next().and_then(|n| n.parse().ok()).unwrap_or(0);
                old = number(header);
                new = header.split_once('+').map_or(0, |(_, rest)| number(rest));
                continue;
            }
            let Some(mark) = text.bytes().next().filter(|mark| b"+- ".contains(mark)) else { continue };
            let line = HunkLine { mark, old, new };
            (old, new) = line.next();
            lines.push(line);
        }
        DiffLines(lines)
    }

    /// Finds the line with the given numbers: an added line has only a new one, a removed line only an old one.
    /// Unchanged lines outside the hunks are found, too; `length` is the number of lines in the new file.
    fn find(&self, old: Option<u64>, new: Option<u64>, length: u64) -> Option<HunkLine> {
        match (old, new) {
            (None, None) => None,
            (None, Some(new)) => self.0.iter().find(|line| line.mark == b'+' && line.new == new).copied(),
            (Some(old), None) => self.0.iter().find(|line| line.mark == b'-' && line.old == old).copied(),
            (Some(old), Some(new)) => {
                let line = HunkLine { mark: b' ', old, new };
                let is_context = self.new_line_of(old) == Some(new) && (1..=length).contains(&new);
                is_context.then_some(line)
            }
        }
    }

    /// Returns the new number of an unchanged old line.
    fn new_line_of(&self, old: u64) -> Option<u64> {
        let mut after = (1, 1);
        for line in self.0.iter().take_while(|line| line.old <= old) {
            match line.mark {
                b' ' if line.old == old => return Some(line.new),
                b'-' if line.old == old => return None,
                _ => after = line.next(),
            }
        }
        // The distance to the last changed line stays the same.
        old.checked_sub(after.0).map(|behind| after.1 + behind)
    }
}

/// Returns the error for an invalid position: the text of a printed Ruby hash, as GitLab servers send it.
fn position_error(why: &str) -> Rejection {
    Rejection::message(400, format!("400 Bad request - Note {{{why}}}"))
}

/// Returns the error for a position that is not on a line of the diff.
fn no_line() -> Rejection {
    position_error(":line_code=>[\"can't be blank\", \"must be a valid line code\"]")
}

/// Returns the error for a position with missing parts.
fn incomplete() -> Rejection {
    position_error(":line_code=>[\"can't be blank\", \"must be a valid line code\"], :position=>[\"is incomplete\"]")
}

/// Converts a position from a request to the form of records. It need not be in the diff.
///
/// # Errors
/// Fails with 400 for missing inputs and unknown position types.
pub fn to_record(new: &NewPosition) -> Result<Position, Rejection> {
    for (name, text) in [
        ("base_sha", &new.base_sha),
        ("start_sha", &new.start_sha),
        ("head_sha", &new.head_sha),
        ("position_type", &new.position_type),
    ] {
        if text.is_empty() {
            return Err(Rejection::error(400, format!("position[{name}] is missing")));
        }
    }
    if !matches!(new.position_type.as_str(), "text" | "file" | "image") {
        return Err(Rejection::no_valid_value("position[position_type]"));
    }
    let is_text = new.position_type == "text";
    let end = |end: &notes::NewLineRangeEnd| LineRangeEnd {
        line_code: end.line_code.clone(),
        r#type: end.r#type.clone(),
        ..LineRangeEnd::default()
    };
    let range = new.line_range.as_ref().filter(|_| is_text);
    Ok(Position {
        base_sha: Some(new.base_sha.clone()),
        start_sha: Some(new.start_sha.clone()),
        head_sha: Some(new.head_sha.clone()),
        position_type: Some(new.position_type.clone()),
        old_path: Some(new.old_path.clone()).filter(|path| !path.is_empty()),
        new_path: Some(new.new_path.clone()).filter(|path| !path.is_empty()),
        old_line: new.old_line.filter(|_| is_text).map(u64::from),
        new_line: new.new_line.filter(|_| is_text).map(u64::from),
        width: new.width.map(|width| Pixels(width.into())),
        height: new.height.map(|height| Pixels(height.into())),
        x: new.x.map(|x| Pixels(x.into())),
        y: new.y.map(|y| Pixels(y.into())),
        line_range: range.map(|range| LineRange { start: end(&range.start), end: end(&range.end) }),
    })
}

/// Returns the code of the line of a position in the diff; `None` for a position on a whole file.
///
/// # Errors
/// Fails with 400 if the position is incomplete or not in the diff between its commits.
pub fn line_code(git: &Git, position: &Position) -> Result<Option<String>, Rejection> {
    let id = |sha: &Option<String>| {
        let id = sha.as_deref().and_then(|sha| Oid::from_str(sha).ok()).filter(|id| git.has_commit(*id));
        id.ok_or_else(no_line)
    };
    let (base, head) = (id(&position.base_sha)?, id(&position.head_sha)?);
    id(&position.start_sha)?;
    let is_text = position.position_type.as_deref() == Some("text");
    let lacks = |path: &Option<String>| path.is_none();
    if lacks(&position.old_path) || lacks(&position.new_path) {
        return Err(incomplete());
    }
    if is_text && position.old_line.is_none() && position.new_line.is_none() {
        return Err(incomplete());
    }
    let changes = git.changes(Some(base), head)?;
    let mut entries = entries_of(&changes, position).peekable();
    entries.peek().ok_or_else(no_line)?;
    if !is_text {
        return Ok(None);
    }
    let (old, new) = (position.old_line, position.new_line);
    let code_in = |entry: &DiffEntry| {
        let line = DiffLines::read(&entry.diff).find(old, new, length(git, head, &entry.new_path))?;
        Some(code(entry, line))
    };
    entries.find_map(code_in).map(Some).ok_or_else(no_line)
}

/// Returns the entries of the file of a position: one, or two if a file becomes a link, or the other way round.
fn entries_of<'c>(changes: &'c Changes, position: &Position) -> impl Iterator<Item = &'c DiffEntry> + use<'c> {
    let paths = position.old_path.clone().zip(position.new_path.clone());
    let is_of = move |entry: &&DiffEntry| {
        paths.as_ref().is_some_and(|(old, new)| entry.new_path == *new && entry.old_path == *old)
    };
    changes.entries.iter().filter(is_of)
}

/// Returns the number of lines in a file at a commit; 0 if it does not exist.
fn length(git: &Git, commit: Oid, path: &str) -> u64 {
    let text = git
        .tree(commit)
        .and_then(|tree| git.file(&tree, path))
        .ok()
        .flatten()
        .map(|(_, bytes)| bytes)
        .unwrap_or_default();
    let ends = memchr::memchr_iter(b'\n', &text).count();
    (ends + usize::from(text.last().is_some_and(|last| *last != b'\n'))) as u64
}

fn code(entry: &DiffEntry, line: HunkLine) -> String {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    notes::line_code(&entry.new_path, number(line.old), number(line.new))
}

/// Parses the old and new line numbers in a line code.
fn numbers(code: &str) -> Option<(u64, u64)> {
    let (rest, new) = code.rsplit_once('_')?;
    let (_, old) = rest.rsplit_once('_')?;
    Some((old.parse().ok()?, new.parse().ok()?))
}

/// The commits of a version: merge base, head of the target branch, head of the source branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VersionEnds {
    pub base: Oid,
    pub start: Oid,
    pub head: Oid,
}

impl VersionEnds {
    /// Parses the hashes of a version.
    pub fn of(version: &super::records::Version) -> Option<VersionEnds> {
        let id = |text: &str| Oid::from_str(text).ok();
        Some(VersionEnds { base: id(&version.base)?, start: id(&version.start)?, head: id(&version.head)? })
    }
}

/// The changes of a push, which determine the new positions.
pub struct PositionUpdate<'g> {
    git: &'g Git,
    to: VersionEnds,
    /// The changes from the old base to the new one, and from the old head to the new one.
    bases: Changes,
    heads: Changes,
    /// The diff of the merge request after the push.
    changes: Changes,
}

impl<'g> PositionUpdate<'g> {
    /// Compares two versions.
    pub fn new(git: &'g Git, from: VersionEnds, to: VersionEnds) -> Result<PositionUpdate<'g>, Rejection> {
        Ok(PositionUpdate {
            git,
            to,
            bases: git.changes(Some(from.base), to.base)?,
            heads: git.changes(Some(from.head), to.head)?,
            changes: git.changes(Some(to.base), to.head)?,
        })
    }

    /// Returns a position after the push; `None` if its line was changed or is no longer in the diff.
    pub fn position(&self, position: &Position) -> Option<Position> {
        let (old_path, before) = follow(&self.bases, position.old_path.as_ref()?)?;
        let (new_path, after) = follow(&self.heads, position.new_path.as_ref()?)?;
        let moved = |line: Option<u64>, by: &DiffLines| match line {
            Some(line) => by.new_line_of(line).map(Some),
            None => Some(None),
        };
        let mut updated = Position {
            base_sha: Some(self.to.base.to_string()),
            start_sha: Some(self.to.start.to_string()),
            head_sha: Some(self.to.head.to_string()),
            old_path: Some(old_path),
            new_path: Some(new_path),
            old_line: moved(position.old_line, &before)?,
            new_line: moved(position.new_line, &after)?,
            ..position.clone()
        };
        let mut entries = entries_of(&self.changes, &updated).peekable();
        let first = entries.peek()?;
        if position.position_type.as_deref() != Some("text") {
            return Some(updated);
        }
        let length = length(self.git, self.to.head, &first.new_path);
        let (entry, lines) = entries
            .map(|entry| (entry, DiffLines::read(&entry.diff)))
            .find(|(_, lines)| lines.find(updated.old_line, updated.new_line, length).is_some())?;
        if let Some(range) = &position.line_range {
            let end = |end: &LineRangeEnd| {
                let (old, new) = numbers(&end.line_code)?;
                let kind = end.r#type.as_deref();
                let old = moved(Some(old).filter(|_| kind != Some("new")), &before)?;
                let new = moved(Some(new).filter(|_| kind != Some("old")), &after)?;
                Some(LineRangeEnd { line_code: code(entry, lines.find(old, new, length)?), ..end.clone() })
            };
            updated.line_range = Some(LineRange { start: end(&range.start)?, end: end(&range.end)? });
        }
        Some(updated)
    }
}

/// Returns the new path of a file and its changes; `None` if it was deleted or its diff is not available.
fn follow(changes: &Changes, path: &str) -> Option<(String, DiffLines)> {
    match changes.entries.iter().find(|entry| entry.old_path == path && !entry.new_file) {
        None if changes.overflow => None,
        None => Some((path.to_owned(), DiffLines::default())),
        Some(entry) if entry.deleted_file || entry.too_large == Some(true) => None,
        Some(entry) => Some((entry.new_path.clone(), DiffLines::read(&entry.diff))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -3,4 +3,5 @@ fn\n three\n-four\n+vier\n+and\n five\n six\n\
                        @@ -20,2 +21,1 @@\n twenty\n-gone\n";

    #[test]
    fn lines_are_found_by_their_numbers() {
        let lines = DiffLines::read(DIFF);
        let found = |old, new| lines.find(old, new, 40).map(|line| (line.mark as char, line.old, line.new));
        assert_eq!(found(None, Some(4)), Some(('+', 5, 4)));
        assert_eq!(found(None, Some(5)), Some(('+', 5, 5)));
        assert_eq!(found(Some(4), None), Some(('-', 4, 4)));
        assert_eq!(found(Some(3), Some(3)), Some((' ', 3, 3)));
        assert_eq!(found(Some(5), Some(6)), Some((' ', 5, 6)));
        // Lines outside the hunks: before, between and after them.
        for (old, new) in [(1, 1), (2, 2), (7, 8), (19, 20), (22, 22), (40, 40)] {
            assert_eq!(found(Some(old), Some(new)), Some((' ', old, new)), "{old} {new}");
        }
        for (old, new) in [
            (None, None),
            (None, Some(3)),
            (Some(3), None),
            (Some(4), Some(4)),
            (Some(5), Some(5)),
            (Some(7), Some(7)),
            (Some(21), Some(22)),
            (Some(41), Some(41)),
            (Some(0), Some(0)),
        ] {
            assert_eq!(found(old, new), None, "{old:?} {new:?}");
        }
    }

    #[test]
    fn lines_of_new_and_deleted_files_are_found() {
        let new = DiffLines::read("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
        assert_eq!(new.find(None, Some(1), 2), Some(HunkLine { mark: b'+', old: 0, new: 1 }));
        let gone = DiffLines::read("--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(gone.find(Some(2), None, 0), Some(HunkLine { mark: b'-', old: 2, new: 0 }));
    }
}
