//! The cursor of a conversation: it stays on its item when rows change, and steps through threads and comments.

use super::Conversation;
use super::content::{Content, note_at};
use super::layout::ConversationRow;
use super::units::{Thread, Unit};
use crate::api::notes::Note;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::comments::{Comment, Target};
use crate::parts::review::drafts::Drafts;
use crate::store::Rows;

/// The item under the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderCursor {
    /// A line of the head.
    Head(usize),
    /// A note or comment by a user, by its index; see [`note_at`].
    Note(usize),
    /// System notes.
    System,
    /// A draft, by its index.
    Draft(usize),
    Other,
}

/// The position of the cursor in terms that stay valid when rows change.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    at: ConversationRow,
    note: u64,
    /// The ID of the first note of its thread, which stays when the thread is folded.
    thread: u64,
    /// The number of lines above the text of the head.
    facts: usize,
}

/// A note being sent; when it arrives, the cursor moves to it.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedNote {
    /// The highest ID of a note before; that of the new note is higher.
    before: u64,
    /// Whether all notes were loaded when `before` was computed.
    whole: bool,
}

impl Conversation {
    pub(super) fn anchor(&self, content: &Content) -> Option<Anchor> {
        let at = self.at(self.scroll.at(self.len()))?;
        let note = match at {
            ConversationRow::Unit(unit, _) => content.note_at(self.first_note(unit)?)?.id,
            _ => 0,
        };
        let thread = match at {
            ConversationRow::Unit(unit, _) => self.thread_of(unit).map_or(0, |thread| thread.id),
            _ => 0,
        };
        Some(Anchor { at, note, thread, facts: self.facts })
    }

    fn thread_of(&self, unit: usize) -> Option<&Thread> {
        match self.units.get(unit)? {
            Unit::Resolved { thread } | Unit::Comment { thread, .. } => self.threads.get(*thread),
            Unit::System { .. } => None,
        }
    }

    pub(super) fn first_note(&self, unit: usize) -> Option<usize> {
        match self.units.get(unit)? {
            Unit::System { notes, .. } => notes.first().copied(),
            Unit::Resolved { thread } => self.threads.get(*thread)?.notes.first().copied(),
            unit => self.note_of(unit),
        }
    }

    /// Moves the cursor back to the item it was on, and scrolls by the same number of rows.
    pub(super) fn restore_cursor(&mut self, anchor: Option<Anchor>, content: &Content) {
        let before = self.scroll.cursor();
        // A cursor at the top stays there, whatever arrives.
        let Some(anchor) = anchor.filter(|_| before > 0) else { return };
        let after = match anchor.at {
            ConversationRow::Unit(unit, line) => {
                let id = |unit: usize| content.note_at(self.first_note(unit)?).map(|note| note.id);
                let is_it = |unit: &usize| id(*unit) == Some(anchor.note);
                let is_thread = |unit: &usize| self.thread_of(*unit).is_some_and(|thread| thread.id == anchor.thread);
                let all = || 0..self.units.len();
                let unit =
                    Some(unit).filter(is_it).or_else(|| all().rev().find(is_it)).or_else(|| all().find(is_thread));
                let unit = unit.unwrap_or_else(|| self.units.len().saturating_sub(1));
                self.row_of(unit).map(|start| start + line.min(self.height_of(unit).saturating_sub(1)))
            }
            ConversationRow::Head(line) => {
                let text = line.checked_sub(anchor.facts);
                text.map(|line| (self.facts + line).min(self.head.saturating_sub(1)))
            }
            ConversationRow::Between(line) => Some(self.head + line),
            ConversationRow::Draft(draft, line) => {
                let draft = draft.min(self.drafts.len().saturating_sub(2));
                let rows = self.drafted.get(draft).map_or(0, |lines| 1 + lines.len().max(1));
                self.row_of_draft(draft).map(|start| start + line.min(rows))
            }
            ConversationRow::Tail => None,
        };
        let Some(after) = after.filter(|after| *after != before) else { return };
        let len = self.len();
        self.scroll.select(after, len);
        let top = self.scroll.top().saturating_add_signed(after as isize - before as isize);
        self.scroll.set_top(top);
    }

    pub(super) fn go_to_awaited(&mut self, view: &View, notes: &Rows<Note>) {
        let Some(awaited) = self.awaited else { return };
        if !awaited.whole {
            self.await_note(notes);
            return;
        }
        let me = view.me().map(|me| me.id);
        let author = |note: &Note| note.author.as_ref().map(|author| author.id);
        let mine = |note: &Note| note.id > awaited.before && !note.system && author(note) == me;
        // A reply is shown in its thread, which may be anywhere.
        let found = (0..notes.len()).rev().find(|index| notes.get(*index).is_some_and(mine));
        if let Some(row) = found.and_then(|index| self.row_of_note(index)) {
            self.awaited = None;
            self.go_to_row(row);
        }
    }

    /// Goes to a comment once it is loaded, unless the user moves first.
    pub fn want_note(&mut self, id: Option<u64>) {
        self.wanted = id;
    }

    /// Stays on the wanted note until the user moves: rows above it may still be rendered.
    pub(super) fn go_to_wanted(&mut self, notes: &Rows<Note>) {
        let Some(wanted) = self.wanted else { return };
        let found = notes.iter().position(|note| note.id == wanted);
        match found.and_then(|index| self.row_of_note(index)) {
            Some(row) if row != self.scroll.at(self.len()) => self.go_to_row(row),
            None if notes.is_loaded && !notes.has_next(u32::MAX) => self.wanted = None,
            _ => {}
        }
    }

    pub(super) fn await_note(&mut self, notes: &Rows<Note>) {
        let before = notes.iter().map(|note| note.id).max().unwrap_or(0);
        self.awaited = Some(AwaitedNote { before, whole: notes.is_loaded && !notes.has_more });
    }

    /// Returns the item under the cursor.
    pub fn at_cursor(&self) -> UnderCursor {
        match self.at(self.scroll.at(self.len())) {
            Some(ConversationRow::Head(line)) => UnderCursor::Head(line),
            Some(ConversationRow::Unit(unit, _)) => match self.units.get(unit) {
                Some(Unit::System { .. }) => UnderCursor::System,
                Some(_) => self.first_note(unit).map_or(UnderCursor::Other, UnderCursor::Note),
                None => UnderCursor::Other,
            },
            Some(ConversationRow::Draft(draft, _)) => UnderCursor::Draft(draft),
            _ => UnderCursor::Other,
        }
    }

    /// Returns the comment or draft under the cursor, of the notes and the comments on commits that are shown.
    pub fn target<'a>(
        &self,
        notes: &Rows<'a, Note>,
        comments: &'a [(String, Note)],
        drafts: &'a Drafts,
    ) -> Option<Target<'a>> {
        match self.at_cursor() {
            UnderCursor::Note(index) => Some(Target::Comment(Comment::of(note_at(notes, comments, index)?))),
            UnderCursor::Draft(index) => drafts.drafts().get(index).map(|(id, _)| Target::Draft(id)),
            UnderCursor::System => Some(Target::System),
            UnderCursor::Head(_) | UnderCursor::Other => None,
        }
    }

    /// Returns the index of the note under the cursor.
    pub fn note(&self) -> Option<usize> {
        if let UnderCursor::Note(note) = self.at_cursor() { Some(note) } else { None }
    }

    /// Returns the unit under the cursor.
    pub(super) fn unit(&self) -> Option<usize> {
        match self.at(self.scroll.at(self.len()))? {
            ConversationRow::Unit(unit, _) => Some(unit),
            _ => None,
        }
    }

    /// Returns whether Enter folds or unfolds what is under the cursor: system notes or a folded resolved thread.
    pub fn is_fold(&self) -> bool {
        let unit = self.unit().and_then(|unit| self.units.get(unit));
        matches!(unit, Some(Unit::System { .. } | Unit::Resolved { .. }))
    }

    /// Folds or unfolds the unit under the cursor: system notes or a resolved thread.
    pub fn toggle(&mut self, content: &Content) {
        let first = match self.unit().and_then(|unit| self.units.get(unit)) {
            Some(Unit::System { notes, .. }) => {
                notes.first().and_then(|index| content.note_at(*index)).map(|note| note.id)
            }
            Some(Unit::Resolved { thread } | Unit::Comment { thread, .. }) => {
                self.threads.get(*thread).map(|thread| thread.id)
            }
            None => None,
        };
        let Some(first) = first else { return };
        if !self.open.remove(&first) {
            self.open.insert(first);
        }
        self.units_key = None;
    }

    /// Goes to the next or previous unresolved thread; returns `false` if there is none. Where threads cannot be
    /// resolved, it goes to the next or previous unit.
    pub fn step_thread(&mut self, forward: bool) -> bool {
        if !self.has_resolvable {
            self.step_note(forward);
            return true;
        }
        let here = self.scroll.at(self.len());
        let rows = self.unresolved.iter().filter_map(|unit| self.row_of(*unit));
        let row = if forward { rows.filter(|row| *row > here).min() } else { rows.filter(|row| *row < here).max() };
        if let Some(row) = row {
            self.wanted = None;
            self.go_to_row(row);
        }
        row.is_some()
    }

    /// Goes to the next or previous unit or draft; backward from the first one, to the top.
    pub fn step_note(&mut self, forward: bool) {
        let rows = (0..self.units.len()).filter_map(|unit| self.row_of(unit));
        let rows = rows.chain((0..self.drafts.len()).filter_map(|draft| self.row_of_draft(draft)));
        let here = self.scroll.at(self.len());
        let to = if forward { rows.into_iter().find(|row| *row > here) } else { rows.filter(|row| *row < here).last() };
        self.wanted = None;
        if let Some(row) = to.or((!forward).then_some(0)) {
            self.go_to_row(row);
        }
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        let len = self.len();
        self.scroll.goto(row, len);
    }

    /// Moves the cursor. It does not stop on the borders of threads, or on the empty rows between comments.
    pub fn motion(&mut self, motion: Motion) {
        let len = self.len();
        self.wanted = None;
        let before = self.scroll.at(len);
        motion.scroll(&mut self.scroll, len);
        let step = match motion {
            Motion::Up => -1,
            Motion::Down => 1,
            _ => return,
        };
        let mut at = self.scroll.at(len);
        while self.is_blank(at) {
            self.scroll.move_by(step, len);
            let next = self.scroll.at(len);
            if next == at {
                return self.scroll.select(before, len);
            }
            at = next;
        }
    }

    /// Scrolls with the wheel and moves the cursor to a clicked row. Returns whether the row is to be opened.
    pub fn pointer(&mut self, pointer: Pointer) -> bool {
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows)),
            Pointer::Press { column, row, double } => {
                self.click(column, row);
                return double;
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        false
    }

    /// Moves the cursor to the clicked row, if it is in the document.
    pub fn click(&mut self, column: u16, row: u16) {
        let (area, len) = (self.area.get(), self.len());
        self.wanted = None;
        let line = Some(row).filter(|row| area.contains((column, *row).into()));
        if let Some(line) = line.and_then(|row| self.scroll.line_at(row - area.y, len)) {
            self.scroll.goto(line, len);
        }
    }
}
