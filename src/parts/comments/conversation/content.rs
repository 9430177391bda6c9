//! The data that a conversation is built from, and its comments in chronological order.

use crate::api::notes::Note;
use crate::api::{Error, Noteable, Time};
use crate::app::outbox::{DiffPosition, Draft};
use crate::app::view::View;
use crate::parts::review::drafts::DraftId;
use crate::parts::review::thread_frame::{self, CodeLine};
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::links::TextOrigin;
use crate::parts::text::rendered_markdown;
use crate::store::{Cut, Rows};
use crate::ui::doc::DocLine;
use crate::ui::markdown::Rendered;

/// The lines above the comments.
pub struct Head<'a> {
    /// The number of lines.
    pub len: usize,
    /// The number of lines above the text. When it changes, a cursor in the text stays on its line.
    pub facts: usize,
    pub line: &'a dyn Fn(usize) -> DocLine<'static>,
    /// The images in the text.
    pub images: Option<&'a IllustratedText>,
    /// The lines below the text and the reactions to it.
    pub below: &'a [DocLine<'static>],
}

/// The state of the list of comments.
#[derive(Clone, Copy, Default)]
pub struct ListStatus<'a> {
    pub is_loaded: bool,
    pub has_more: bool,
    pub error: Option<&'a Error>,
    pub cut: Option<Cut>,
}

/// The loaded data that the document is built from.
pub struct Content<'a> {
    pub head: Head<'a>,
    /// The object.
    pub on: Noteable,
    pub notes: Rows<'a, Note>,
    /// The comments on commits, as notes, oldest first, each with a key of its text; and a number that changes with
    /// them.
    pub comments: &'a [(String, Note)],
    pub comments_revision: u64,
    pub list: ListStatus<'a>,
    /// The unsent drafts with their keys.
    pub drafts: &'a [(DraftId, Draft)],
    /// The head commit of the changes; threads on lines of another one are outdated.
    pub head_sha: Option<&'a str>,
    /// The head commits and the numbers of the versions of the changes, as far as they are known.
    pub versions: Vec<(String, usize)>,
    /// Finds the lines of code that a thread is about; empty until they are loaded.
    pub code: &'a dyn Fn(&Note, &DiffPosition) -> Vec<CodeLine>,
    /// The width of the text in columns.
    pub width: usize,
    /// The hint if there are no comments.
    pub empty: &'a str,
}

impl<'a> ListStatus<'a> {
    /// Returns the state of a list of rows.
    pub fn of<T>(rows: &Rows<'a, T>) -> ListStatus<'a> {
        ListStatus { is_loaded: rows.is_loaded, has_more: rows.has_more, error: rows.error, cut: rows.cut }
    }
}

/// The index of the first comment on a commit; smaller indices are notes.
pub const FIRST_COMMENT: usize = usize::MAX / 2;

/// Returns the note at an index or, from `FIRST_COMMENT` on, the comment on a commit.
pub fn note_at<'a>(notes: &Rows<'a, Note>, comments: &'a [(String, Note)], index: usize) -> Option<&'a Note> {
    match index.checked_sub(FIRST_COMMENT) {
        Some(comment) => comments.get(comment).map(|(_, note)| note),
        None => notes.get(index),
    }
}

impl<'a> Content<'a> {
    pub(super) fn note_at(&self, index: usize) -> Option<&'a Note> {
        note_at(&self.notes, self.comments, index)
    }

    /// Returns the comment on a commit at an index, with the key of its text.
    pub(super) fn comment(&self, index: usize) -> Option<&'a (String, Note)> {
        self.comments.get(index.checked_sub(FIRST_COMMENT)?)
    }

    /// Returns whether a note is on lines of an older version of the changes.
    pub(super) fn is_outdated(&self, note: &Note, position: &DiffPosition) -> bool {
        let head = self.head_sha.filter(|_| note.position.is_some());
        // A note on a single commit never becomes outdated.
        note.commit_id.is_none() && head.is_some_and(|head| !position.sha.is_empty() && head != position.sha)
    }

    /// Returns all notes and comments with their indices, in chronological order.
    pub(super) fn all(&self) -> Vec<(usize, &'a Note)> {
        let when = |note: &Note| note.created_at.as_ref().and_then(Time::instant);
        let mut comments =
            self.comments.iter().enumerate().map(|(index, (_, note))| (FIRST_COMMENT + index, note)).peekable();
        let mut all = Vec::with_capacity(self.notes.len() + self.comments.len());
        for (index, note) in (0..self.notes.len()).filter_map(|index| Some((index, self.notes.get(index)?))) {
            while let Some(comment) = comments.next_if(|(_, comment)| when(comment) < when(note)) {
                all.push(comment);
            }
            all.push((index, note));
        }
        all.extend(comments);
        all
    }

    /// Returns the rendered text of a comment on a commit.
    pub(super) fn rendered_comment(&self, view: &View<'a>, index: usize) -> Option<&'a Rendered> {
        let (name, _) = self.comment(index)?;
        rendered_markdown::rendered(view, name, self.text_width())
    }

    /// Returns the origin of the comments: what their links and images are relative to.
    pub(super) fn origin(&self) -> TextOrigin {
        TextOrigin { project: self.on.project().cloned(), ..TextOrigin::default() }
    }

    /// Returns the width of the text of comments, which may be in a frame.
    pub(super) fn text_width(&self) -> usize {
        self.width.saturating_sub(thread_frame::COLUMNS)
    }

    /// Returns the number of rows between the head and the comments.
    pub(super) fn between(&self) -> usize {
        if self.head.len == 0 { 0 } else { 2 + self.head.below.len() }
    }
}
