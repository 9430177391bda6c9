//! The rows of a conversation: how many each unit and draft has, and what is at a row.

use super::chunks::{CHUNK_NOTES, RenderedChunk};
use super::content::{Content, FIRST_COMMENT};
use super::units::{Thread, Unit};
use super::{Conversation, lines};
use crate::app::view::View;
use crate::parts::review::thread_frame::{self, CODE_LINES, CodeLine};
use crate::ui::doc::DocLine;
use crate::ui::markdown;

/// The number of rows of each kind of a comment, from top to bottom.
#[derive(Clone, Copy, Default)]
pub struct CommentHeight {
    /// The upper border.
    pub top: usize,
    pub code: usize,
    pub text: usize,
    pub reactions: usize,
    /// The lower border.
    pub bottom: usize,
    /// The empty row below.
    pub gap: usize,
}

impl CommentHeight {
    fn rows(self) -> usize {
        self.above() + self.text + self.reactions + self.bottom + self.gap
    }

    /// Returns the number of rows above the heading.
    fn above(self) -> usize {
        self.top + self.code
    }
}

/// The content of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationRow {
    Head(usize),
    Between(usize),
    /// A line of a unit.
    Unit(usize, usize),
    /// A line of a draft.
    Draft(usize, usize),
    Tail,
}

impl Conversation {
    /// Returns the rendered text of a note.
    pub(super) fn body<'a>(
        &self,
        view: &View<'a>,
        content: &Content<'a>,
        note: usize,
    ) -> Option<&'a [DocLine<'static>]> {
        let images = content.note_at(note).and_then(|note| self.images.get(&note.id));
        let illustrated = images.and_then(|images| images.illustrated(view));
        illustrated.or_else(|| self.plain(view, content, note)).map(|rendered| rendered.lines.as_slice())
    }

    /// Returns the text of a note, rendered without its images.
    pub(super) fn plain<'a>(
        &self,
        view: &View<'a>,
        content: &Content<'a>,
        note: usize,
    ) -> Option<&'a markdown::Rendered> {
        if note >= FIRST_COMMENT {
            return content.rendered_comment(view, note);
        }
        let rendered = view.store.result::<RenderedChunk>(self.chunks.get(note / CHUNK_NOTES)?)?;
        rendered.0.get(note % CHUNK_NOTES)
    }

    /// Returns the lines of code above the comments of a thread.
    pub(super) fn code(&self, content: &Content, thread: &Thread) -> Vec<CodeLine> {
        let first = thread.notes.first().and_then(|first| content.note_at(*first));
        let (Some(position), Some(note)) = (&thread.position, first) else { return Vec::new() };
        match thread_frame::quoted(position) {
            quoted if quoted.is_empty() => (content.code)(note, position),
            quoted => quoted,
        }
    }

    /// Returns the heights of the rows of a comment.
    pub(super) fn comment_height(&self, view: &View, content: &Content, thread: &Thread, at: usize) -> CommentHeight {
        let Some(index) = thread.notes.get(at).copied() else { return CommentHeight::default() };
        let (is_first, is_last, is_framed) = (at == 0, at + 1 == thread.notes.len(), thread.is_framed());
        let text = match self.body(view, content, index) {
            Some(body @ [_]) => {
                content.note_at(index).map_or(1, |note| lines::comment(view, note, at > 0, body, content).height())
            }
            Some(body) => 1 + body.len(),
            // The heading, and a mark that the text is being rendered.
            None => 2,
        };
        let note = content.note_at(index).filter(|_| index < FIRST_COMMENT);
        let has_reactions = note.is_some_and(|note| self.reacted.contains(&note.id));
        CommentHeight {
            top: usize::from(is_framed && is_first),
            code: if is_first { self.code(content, thread).len().min(CODE_LINES) } else { 0 },
            text,
            reactions: usize::from(has_reactions),
            bottom: usize::from(is_framed && is_last),
            gap: usize::from(is_last),
        }
    }

    /// Returns the number of rows of a unit, and how many of them are above its first text.
    fn unit_height(&self, view: &View, content: &Content, index: usize) -> (usize, usize) {
        // One-row units are followed by an empty row if something else comes next.
        let next = self.units.get(index + 1);
        match self.units.get(index) {
            Some(Unit::System { notes, open }) => {
                let gap = !matches!(next, Some(Unit::System { .. }) | None);
                ((if *open { notes.len() } else { 1 }) + usize::from(gap), 0)
            }
            Some(Unit::Resolved { .. }) => (1 + usize::from(!matches!(next, Some(Unit::Resolved { .. }))), 0),
            Some(Unit::Comment { thread, at }) => {
                let thread = self.threads.get(*thread);
                let height = thread.map(|thread| self.comment_height(view, content, thread, *at)).unwrap_or_default();
                (height.rows(), height.above())
            }
            None => (0, 0),
        }
    }

    /// Measures the units: all of them for new units or a new width, otherwise those around the viewport, because there
    /// may be twenty thousand.
    pub(super) fn measure(&mut self, view: &View, content: &Content) {
        let is_new = self.measured != Some(content.width);
        let units = if is_new { 0..self.units.len() } else { self.range_near(view) };
        self.heights.resize(self.units.len(), (0, 0));
        let mut moved = is_new;
        for index in units {
            let now = self.unit_height(view, content, index);
            if let Some(known) = self.heights.get_mut(index) {
                moved |= std::mem::replace(known, now) != now;
            }
        }
        self.measured = Some(content.width);
        if moved {
            let mut row = 0;
            self.starts.clear();
            for (height, _) in &self.heights {
                self.starts.push(row);
                row += height;
            }
            self.starts.push(row);
        }
        let mut row = self.starts.last().copied().unwrap_or(0);
        self.drafts.clear();
        self.drafted = content.drafts.iter().map(|(_, draft)| lines::drafted(draft, content.width)).collect();
        for lines in &self.drafted {
            self.drafts.push(row);
            row += 2 + lines.len().max(1);
        }
        self.drafts.push(row);
    }

    pub(super) fn row_of(&self, unit: usize) -> Option<usize> {
        let start = self.starts.get(unit).filter(|_| unit < self.units.len())?;
        Some(self.head + self.between + start)
    }

    pub(super) fn row_of_note(&self, index: usize) -> Option<usize> {
        let has_it = |thread: &usize| self.threads.get(*thread).is_some_and(|thread| thread.notes.contains(&index));
        let is_it = |unit: &Unit| match unit {
            Unit::Comment { .. } => self.note_of(unit) == Some(index),
            Unit::Resolved { thread } => has_it(thread),
            Unit::System { .. } => false,
        };
        let unit = self.units.iter().position(is_it)?;
        Some(self.row_of(unit)? + self.heights.get(unit).map_or(0, |(_, above)| *above))
    }

    pub(super) fn row_of_draft(&self, draft: usize) -> Option<usize> {
        let start = self.drafts.get(draft).filter(|_| draft + 1 < self.drafts.len())?;
        Some(self.head + self.between + start)
    }

    pub(super) fn height_of(&self, unit: usize) -> usize {
        let ends = self.starts.get(unit).zip(self.starts.get(unit + 1));
        ends.map_or(0, |(start, end)| end - start)
    }

    pub(super) fn len(&self) -> usize {
        let rows = self.drafts.last().copied().unwrap_or(0);
        self.head + self.between + rows + usize::from(self.tail)
    }

    pub(super) fn at(&self, row: usize) -> Option<ConversationRow> {
        let Some(row) = row.checked_sub(self.head) else { return Some(ConversationRow::Head(row)) };
        let Some(row) = row.checked_sub(self.between) else { return Some(ConversationRow::Between(row)) };
        if row < self.starts.last().copied().unwrap_or(0) {
            let unit = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
            return Some(ConversationRow::Unit(unit, row - self.starts.get(unit)?));
        }
        if row < self.drafts.last().copied().unwrap_or(0) {
            let draft = self.drafts.partition_point(|start| *start <= row).checked_sub(1)?;
            return Some(ConversationRow::Draft(draft, row - self.drafts.get(draft)?));
        }
        Some(ConversationRow::Tail)
    }

    /// Returns the unit at a row, or the nearest one.
    pub(super) fn unit_near(&self, row: usize) -> usize {
        let row = row.saturating_sub(self.head + self.between);
        let at = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        at.min(self.units.len().saturating_sub(1))
    }

    /// Returns whether a row below a comment has no text.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        let Some(ConversationRow::Unit(unit, line)) = self.at(row) else { return false };
        let from_end = self.height_of(unit) - line;
        match self.units.get(unit) {
            Some(Unit::Comment { thread, at }) => {
                let thread = self.threads.get(*thread);
                let is_last = thread.is_some_and(|thread| at + 1 == thread.notes.len());
                let blank = if thread.is_some_and(Thread::is_framed) { 2 } else { 1 };
                is_last && from_end <= blank
            }
            Some(Unit::Resolved { .. }) => line > 0,
            Some(Unit::System { notes, open }) => line >= if *open { notes.len() } else { 1 },
            None => false,
        }
    }
}
