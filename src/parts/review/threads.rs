//! Groups comments on changes into threads by commit, path and line.

use crate::api::Time;
use crate::api::commits::CommitComment;
pub use crate::api::discussions::is_resolved;
use crate::api::notes::{LineRangeEnd, Note, Position, Suggestion};
use crate::api::users::User;
use crate::app::clone::{CloneFolder, ThreadLine};
use crate::app::outbox::DiffPosition;
use crate::parts::review::suggestions;
use crate::ui::diff::{At, FileDiff, FileKey, Kind, Side};
use crate::ui::text;
use crate::ui::theme::Role;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A comment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadComment {
    /// The ID of the note; `None` for a commit comment.
    pub note: Option<u64>,
    pub author: Option<User>,
    pub at: Option<Time>,
    pub is_edited: bool,
    pub is_resolved: bool,
    /// The line in front of the text that names the position, on some servers.
    pub head: String,
    /// The Markdown text, without that line.
    pub body: String,
    /// The suggestions in the text that the server knows.
    pub suggestions: Vec<Suggestion>,
}

/// Comments on the same lines.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffThread {
    pub position: DiffPosition,
    /// The ID of the thread, on servers with threads.
    pub discussion: Option<String>,
    /// Whether it is resolved; `None` if it cannot be.
    pub resolved: Option<bool>,
    /// The username of the user who resolved it.
    pub resolver: Option<String>,
    /// The point in an image, in pixels from the left and from the top.
    pub point: Option<(u64, u64)>,
    /// Whether the thread is on a single commit, which `position` names.
    pub is_on_commit: bool,
    /// The comments, oldest first.
    pub comments: Vec<ThreadComment>,
}

/// The comments on one commit, with its SHA.
pub type CommitComments = (String, Vec<Arc<Vec<CommitComment>>>);

/// Returns the position of a note, from its text or from the server, and the text without the line that names it.
pub fn place(note: &Note) -> (Option<DiffPosition>, &str) {
    if note.system {
        return (None, &note.body);
    }
    match DiffPosition::parse_note(&note.body) {
        Some((position, rest)) => (Some(position), rest),
        None => (positioned(note), &note.body),
    }
}

/// Returns the lines that the thread of a note is about, with a commit that has them; `None` if it is on none, or the commit
/// is not known.
pub fn line(note: &Note) -> Option<ThreadLine> {
    let DiffPosition { path, sha, old, lines, .. } = place(note).0?;
    let (discussion, lines) = (note.discussion_id.clone().unwrap_or_default(), lines?);
    if !old {
        return Some(ThreadLine { discussion, path, sha, lines, removed_in: None });
    }
    let base = note.position.as_ref()?.base_sha.clone()?;
    Some(ThreadLine { discussion, path, sha: base, lines, removed_in: Some(sha) })
}

/// Returns whether the lines of a thread changed in the clone, or where they are there now.
pub fn in_clone(clone: &CloneFolder, discussion: Option<&str>, position: &DiffPosition) -> Option<(String, Role)> {
    let here = clone.line(discussion?)?;
    let is_moved = |line: u32| !position.old && position.lines.is_some_and(|(first, _)| first != line);
    match &here.commit {
        Some((sha, _)) if here.is_changed => Some((format!("changed here in {}", text::head(sha, 8)), Role::Success)),
        _ if here.is_changed => Some(("changed here".to_owned(), Role::Success)),
        _ if here.path != position.path => {
            let name = text::sanitize(here.path.rsplit('/').next().unwrap_or_default());
            Some((format!("{name}:{} here", here.line), Role::Dim))
        }
        _ => is_moved(here.line).then(|| (format!("line {} here", here.line), Role::Dim)),
    }
}

/// Returns the text of a note as it is shown: without the line that names the position, and with the lines that its
/// suggestions replace.
pub fn shown_body(note: &Note) -> Cow<'_, str> {
    let (position, body) = place(note);
    let quote = position.as_ref().map(|position| position.quote.as_slice()).unwrap_or_default();
    suggestions::with_replaced_lines(body, note.suggestions.as_deref().unwrap_or_default(), quote)
}

/// Returns the point in an image that a note is on.
pub fn point_of(note: &Note) -> Option<(u64, u64)> {
    let position = note.position.as_ref()?;
    Some((position.x?.0, position.y?.0)).filter(|_| position.position_type.as_deref() == Some("image"))
}

fn positioned(note: &Note) -> Option<DiffPosition> {
    from_api(note.position.as_ref()?)
}

/// Converts a position from the server; `None` if it names no file.
pub fn from_api(position: &Position) -> Option<DiffPosition> {
    let old = position.new_line.is_none() && position.old_line.is_some();
    let path = if old { position.old_path.as_deref() } else { position.new_path.as_deref() };
    let path = path.or(position.new_path.as_deref()).or(position.old_path.as_deref())?;
    let small = |line: u64| u32::try_from(line).ok();
    let last = position.new_line.or(position.old_line).and_then(small);
    let start = position.line_range.as_ref().map(|range| &range.start);
    let first = start.and_then(|start| if old { numbers(start).0 } else { numbers(start).1 }).and_then(small);
    Some(DiffPosition {
        path: path.to_owned(),
        sha: position.head_sha.clone().unwrap_or_default(),
        old,
        lines: last.map(|last| (first.filter(|first| *first <= last && *first > 0).unwrap_or(last), last)),
        ..DiffPosition::default()
    })
}

/// Returns the numbers of a line in the old and in the new file, from the server's fields or from its line code.
fn numbers(line: &LineRangeEnd) -> (Option<u64>, Option<u64>) {
    if line.old_line.is_some() || line.new_line.is_some() {
        return (line.old_line, line.new_line);
    }
    let mut code = line.line_code.rsplitn(3, '_');
    let (new, old) = (code.next(), code.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
    (number(old), number(new))
}

/// Groups the comments with a position into threads, in the order of their first comments.
pub fn group_comments(notes: &[Arc<Vec<Note>>], comments: &[CommitComments]) -> Vec<DiffThread> {
    let mut threads: Vec<DiffThread> = Vec::new();
    let mut by_line: HashMap<(String, bool, Option<u32>), Vec<usize>> = HashMap::new();
    // The server's threads, each with its notes so far.
    let mut by_id: HashMap<&str, (usize, Vec<&Note>)> = HashMap::new();
    for note in notes.iter().flat_map(|page| page.iter()).filter(|note| !note.system) {
        let Some(id) = note.discussion_id.as_deref() else { continue };
        if let Some((thread, all)) = by_id.get_mut(id) {
            all.push(note);
            if let Some(thread) = threads.get_mut(*thread) {
                thread.comments.push(comment(note, &note.body));
            }
        } else if let Some(position) = positioned(note) {
            let (discussion, comments) = (Some(id.to_owned()), vec![comment(note, &note.body)]);
            let is_on_commit = note.commit_id.is_some();
            let (resolved, resolver, point) = (None, None, point_of(note));
            let thread = DiffThread { position, discussion, resolved, resolver, point, is_on_commit, comments };
            by_id.insert(id, (threads.len(), vec![note]));
            threads.push(thread);
        }
    }
    for (at, notes) in by_id.values() {
        if let Some(thread) = threads.get_mut(*at) {
            thread.resolved = is_resolved(notes.iter().copied());
            thread.resolver = notes.iter().find_map(|note| Some(note.resolved_by.as_ref()?.username.clone()));
        }
    }
    let mut add = |position: DiffPosition, comment: ThreadComment, discussion: Option<&str>| {
        let near = by_line.entry((position.path.clone(), position.old, position.line())).or_default();
        let same = near
            .iter()
            .copied()
            .find(|at| threads.get(*at).is_some_and(|thread| thread.position.has_same_end(&position)));
        match same.and_then(|at| threads.get_mut(at)) {
            Some(thread) => {
                if thread.position.quote.is_empty() {
                    thread.position.quote = position.quote;
                }
                thread.comments.push(comment);
            }
            None => {
                near.push(threads.len());
                let discussion = discussion.map(str::to_owned);
                let comments = vec![comment];
                threads.push(DiffThread {
                    position,
                    discussion,
                    resolved: None,
                    resolver: None,
                    point: None,
                    is_on_commit: false,
                    comments,
                });
            }
        }
    };
    let threaded = |note: &Note| note.discussion_id.as_deref().is_some_and(|id| by_id.contains_key(id));
    for note in notes.iter().flat_map(|page| page.iter()).filter(|note| !threaded(note)) {
        if let (Some(position), rest) = place(note) {
            add(position, comment(note, rest), note.discussion_id.as_deref());
        }
    }
    for (sha, pages) in comments {
        for comment in pages.iter().flat_map(|page| page.iter()) {
            if let (Some(position), rest) = comment_place(sha, comment) {
                add(position, comment_of(comment, rest), None);
            }
        }
    }
    for thread in &mut threads {
        thread.comments.sort_by_key(|comment| comment.at.as_ref().and_then(Time::instant));
    }
    threads
}

/// Returns the position of a commit comment, and its text without the line that names it.
pub fn comment_place<'a>(sha: &str, comment: &'a CommitComment) -> (Option<DiffPosition>, &'a str) {
    if let Some((position, rest)) = DiffPosition::parse_note(&comment.note) {
        return (Some(position), rest);
    }
    let line = comment.line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    let position = comment.path.as_ref().map(|path| DiffPosition {
        path: path.clone(),
        sha: sha.to_owned(),
        old: comment.line_type.as_deref() == Some("old"),
        lines: line.map(|line| (line, line)),
        ..DiffPosition::default()
    });
    (position, &comment.note)
}

/// Converts a note to a comment with the given text.
fn comment(note: &Note, body: &str) -> ThreadComment {
    ThreadComment {
        note: Some(note.id),
        author: note.author.clone(),
        at: note.created_at.clone(),
        is_edited: note.is_edited(),
        is_resolved: note.resolved == Some(true),
        head: note.body.strip_suffix(body).unwrap_or_default().to_owned(),
        body: body.to_owned(),
        suggestions: note.suggestions.clone().unwrap_or_default(),
    }
}

/// Converts a commit comment to a comment with the given text.
pub fn comment_of(comment: &CommitComment, body: &str) -> ThreadComment {
    ThreadComment {
        author: comment.author.clone(),
        at: comment.created_at.clone(),
        body: body.to_owned(),
        ..ThreadComment::default()
    }
}

/// The location of a thread in the current changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPosition {
    /// The lines are still there with the same text.
    At(At),
    /// The file is changed, but the diff does not show the line.
    Hidden,
    /// The file is changed, but the lines no longer exist or have another text. Lines of the current version are never
    /// outdated, even if only some of the changes are shown.
    Outdated,
    /// The file is not among the changes.
    Gone,
}

/// The changed files by path.
pub struct ChangedPaths<'a> {
    /// The files by the path that they have on a side.
    by_path: HashMap<(&'a str, Side), &'a FileDiff>,
    /// The commit that the shown changes lead to.
    head: &'a str,
    /// The commit that all changes lead to.
    current: &'a str,
    /// Whether the old lines are those before all of the changes, so that line numbers of positions apply to them.
    whole: bool,
    /// A cache of the lines of each side, because there may be many threads on one file.
    sides: RefCell<HashMap<(FileKey, Side), LineNumbers<'a>>>,
}

/// Lines with their numbers, in ascending order.
type LineNumbers<'a> = Rc<Vec<(u32, &'a str)>>;

impl<'a> ChangedPaths<'a> {
    /// Creates the lookup for the changes that lead to `head`: all of them if `whole`, or only some. All changes lead to
    /// `current`.
    pub fn new(files: &'a [Arc<FileDiff>], head: &'a str, current: &'a str, whole: bool) -> ChangedPaths<'a> {
        let mut by_path = HashMap::new();
        // A path may belong to several files: the one of a deleted and an added file, or the old one of a renamed file
        // and the new one of another. The file that has the path on the side comes first.
        for file in files.iter().filter(|file| !file.source.is_new) {
            by_path.entry((file.source.old_path.as_str(), Side::Old)).or_insert(file.as_ref());
        }
        for file in files.iter().filter(|file| !file.source.is_deleted) {
            by_path.entry((file.path(), Side::New)).or_insert(file.as_ref());
        }
        for path in [|file: &'a FileDiff| file.path(), |file: &'a FileDiff| file.source.old_path.as_str()] {
            for (file, side) in files.iter().flat_map(|file| [(file, Side::Old), (file, Side::New)]) {
                by_path.entry((path(file), side)).or_insert(file.as_ref());
            }
        }
        ChangedPaths { by_path, head, current, whole, sides: RefCell::default() }
    }

    /// Returns the lines of one side that the diff shows.
    fn side_of(&self, file: &'a FileDiff, side: Side) -> LineNumbers<'a> {
        let mut sides = self.sides.borrow_mut();
        sides.entry((file.key(), side)).or_insert_with(|| Rc::new(side_of(file, side))).clone()
    }

    /// Returns the changed file that a position is in.
    pub fn file(&self, position: &DiffPosition) -> Option<&'a FileDiff> {
        self.by_path.get(&(position.path.as_str(), side_of_position(position))).copied()
    }

    /// Finds a position: by line number in the same changes, by its quoted text in others.
    pub fn find(&self, position: &DiffPosition) -> ThreadPosition {
        let Some(file) = self.file(position) else { return ThreadPosition::Gone };
        let Some(last) = position.line() else { return ThreadPosition::At(At::File) };
        let side = side_of_position(position);
        let is_at = |head: &str| head.starts_with(&position.sha) || position.sha.starts_with(head);
        let same = is_at(self.head);
        let known = !position.sha.is_empty() && !self.head.is_empty();
        let is_current = !position.sha.is_empty() && !self.current.is_empty() && is_at(self.current);
        // If the server names no commit, a line without its text can only be found by number.
        let by_number = if known { same } else { position.quote.is_empty() };
        let lines = self.side_of(file, side);
        if by_number && (self.whole || !position.old) {
            let shown = lines.binary_search_by_key(&last, |(number, _)| *number).is_ok();
            return if shown { ThreadPosition::At(At::Line(side, last)) } else { ThreadPosition::Hidden };
        }
        match position.find_moved_line(&lines) {
            Some(line) => ThreadPosition::At(At::Line(side, line)),
            None if is_current => ThreadPosition::Hidden,
            None => ThreadPosition::Outdated,
        }
    }

    /// Returns up to two lines before and after a position.
    pub fn around(&self, path: &str, side: Side, first: u32, last: u32) -> (Vec<String>, Vec<String>) {
        let Some(file) = self.by_path.get(&(path, side)) else { return Default::default() };
        let lines = self.side_of(file, side);
        let within = |from: u32, to: u32| {
            let fitting = lines.iter().filter(|(number, _)| (from..to).contains(number));
            fitting.map(|(_, text)| (*text).to_owned()).collect()
        };
        (within(first.saturating_sub(2), first), within(last.saturating_add(1), last.saturating_add(3)))
    }
}

fn side_of_position(position: &DiffPosition) -> Side {
    if position.old { Side::Old } else { Side::New }
}

fn side_of(file: &FileDiff, side: Side) -> Vec<(u32, &str)> {
    let lines = file.lines.iter().filter(|line| !matches!(line.kind, Kind::NoNewline | Kind::Plain));
    lines.filter_map(|line| Some((line.number(side)?, file.text(line)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::diff::{Source, parse};

    const HEAD: &str = "9f3c2abd00112233445566778899aabbccddeeff";
    const BEFORE: &str = "1111111100112233445566778899aabbccddeeff";

    fn note(id: u64, body: &str) -> Note {
        let at = Some(Time(format!("2026-06-15T10:00:{id:02}Z")));
        Note { id, body: body.into(), created_at: at, ..Note::default() }
    }

    fn on(sha: &str, line: u32, words: &str) -> String {
        let position =
            DiffPosition { path: "a.rs".into(), sha: sha.into(), lines: Some((line, line)), ..DiffPosition::default() };
        format!("{}{words}", position.note_header().expect("it can be written"))
    }

    #[test]
    fn comments_on_the_same_line_are_one_thread() {
        let pages = [
            Arc::new(vec![note(1, &on(HEAD, 2, "one")), note(2, "of the whole"), note(3, &on(HEAD, 3, "two"))]),
            Arc::new(vec![note(4, &on(HEAD, 2, "three")), note(5, &on(BEFORE, 2, "four"))]),
        ];
        let comment = CommitComment {
            note: "five".into(),
            path: Some("a.rs".into()),
            line: Some(2),
            created_at: Some("2026-06-15T10:00:00Z".into()),
            ..CommitComment::default()
        };
        let threads = group_comments(&pages, &[(HEAD.into(), vec![Arc::new(vec![comment])])]);
        let bodies: Vec<Vec<&str>> = threads
            .iter()
            .map(|thread| thread.comments.iter().map(|comment| comment.body.as_str()).collect())
            .collect();
        assert_eq!(bodies, [vec!["five", "one", "three"], vec!["two"], vec!["four"]]);
    }

    #[test]
    fn positions_are_found_by_text_in_other_changes() {
        let diff = "@@ -1,3 +1,4 @@\n one line\n+put in\n second line\n third line\n";
        let source =
            Source { old_path: "a.rs".into(), new_path: "a.rs".into(), diff: diff.into(), ..Source::default() };
        let files = [Arc::new(parse(source))];
        let changed_paths = ChangedPaths::new(&files, HEAD, HEAD, true);
        let mut position = DiffPosition {
            path: "a.rs".into(),
            sha: BEFORE.into(),
            lines: Some((2, 2)),
            quote: vec!["second line".into()],
            ..DiffPosition::default()
        };
        assert_eq!(changed_paths.find(&position), ThreadPosition::At(At::Line(Side::New, 3)));
        position.quote = vec!["another line".into()];
        assert_eq!(changed_paths.find(&position), ThreadPosition::Outdated);
        position.sha = HEAD.into();
        assert_eq!(changed_paths.find(&position), ThreadPosition::At(At::Line(Side::New, 2)));
        // A line that the diff does not show does not count as removed.
        position.lines = Some((9, 9));
        assert_eq!(changed_paths.find(&position), ThreadPosition::Hidden);
        position.path = "b.rs".into();
        assert_eq!(changed_paths.find(&position), ThreadPosition::Gone);
    }

    #[test]
    fn old_lines_of_partial_changes_are_not_found_by_number() {
        let diff = "@@ -1,2 +1,1 @@\n one line\n-second line\n";
        let source =
            Source { old_path: "a.rs".into(), new_path: "a.rs".into(), diff: diff.into(), ..Source::default() };
        let files = [Arc::new(parse(source))];
        let quote = vec!["another line".to_owned()];
        let position = DiffPosition {
            path: "a.rs".into(),
            sha: HEAD.into(),
            old: true,
            lines: Some((2, 2)),
            quote,
            ..DiffPosition::default()
        };
        assert_eq!(
            ChangedPaths::new(&files, HEAD, HEAD, true).find(&position),
            ThreadPosition::At(At::Line(Side::Old, 2))
        );
        let partial = ChangedPaths::new(&files, HEAD, HEAD, false);
        assert_eq!(partial.find(&position), ThreadPosition::Hidden, "it is a line of the current version");
        let before = DiffPosition { sha: BEFORE.into(), ..position };
        assert_eq!(partial.find(&before), ThreadPosition::Outdated);
    }

    #[test]
    fn a_file_that_becomes_a_link_is_found_on_its_side() {
        let of = |is_deleted: bool, diff: &str| {
            let (old_path, new_path) = ("a.rs".to_owned(), "a.rs".to_owned());
            let source =
                Source { old_path, new_path, is_deleted, is_new: !is_deleted, diff: diff.into(), ..Source::default() };
            Arc::new(parse(source))
        };
        let (gone, link) = (of(true, "@@ -1,2 +0,0 @@\n-a\n-b\n"), of(false, "@@ -0,0 +1 @@\n+target\n"));
        let on = |old: bool, line: Option<u32>| DiffPosition {
            path: "a.rs".into(),
            sha: HEAD.into(),
            old,
            lines: line.map(|line| (line, line)),
            ..DiffPosition::default()
        };
        for files in [[gone.clone(), link.clone()], [link, gone]] {
            let changed_paths = ChangedPaths::new(&files, HEAD, HEAD, true);
            let is_deleted = |position: &DiffPosition| changed_paths.file(position).map(|file| file.source.is_deleted);
            assert_eq!(changed_paths.find(&on(true, Some(2))), ThreadPosition::At(At::Line(Side::Old, 2)));
            assert_eq!(changed_paths.find(&on(false, Some(1))), ThreadPosition::At(At::Line(Side::New, 1)));
            assert_eq!([is_deleted(&on(true, Some(2))), is_deleted(&on(false, Some(1)))], [Some(true), Some(false)]);
            assert_eq!(is_deleted(&on(false, None)), Some(false), "a comment on the whole file");
        }
    }

    #[test]
    fn lines_of_the_current_version_are_not_outdated_in_one_commit() {
        let diff = "@@ -1,2 +1,3 @@\n one line\n+put in\n second line\n";
        let source =
            Source { old_path: "a.rs".into(), new_path: "a.rs".into(), diff: diff.into(), ..Source::default() };
        let files = [Arc::new(parse(source))];
        let commit = "3333333300112233445566778899aabbccddeeff";
        let changed_paths = ChangedPaths::new(&files, commit, HEAD, false);
        let at = |sha: &str, old: bool| DiffPosition {
            path: "a.rs".into(),
            sha: sha.into(),
            old,
            lines: Some((2, 2)),
            ..DiffPosition::default()
        };
        assert_eq!(changed_paths.find(&at(HEAD, false)), ThreadPosition::Hidden);
        assert_eq!(changed_paths.find(&at(HEAD, true)), ThreadPosition::Hidden);
        assert_eq!(changed_paths.find(&at(commit, false)), ThreadPosition::At(At::Line(Side::New, 2)));
        assert_eq!(changed_paths.find(&at(BEFORE, false)), ThreadPosition::Outdated);
    }
}
