//! The command table: one row drives dispatch, help, palette, footer, the `a` menu, `labscope keys` and the docs.

use super::pane::{Cx, View};
use crate::ui::doc::{DocState, SCROLL_COLUMNS};
use std::borrow::Cow;

/// The reason why a command cannot be run, displayed next to the command.
pub type Disabled = Cow<'static, str>;

/// A command of a place `P`.
pub struct Command<P> {
    /// The ID by which the configuration rebinds the command: `files.open`.
    pub id: &'static str,
    /// The keys, each a sequence: `g h`.
    pub keys: &'static [&'static str],
    /// The title: a few words that begin with a verb.
    pub title: &'static str,
    /// One word for the footer; empty if the command is not shown there.
    pub short: &'static str,
    /// Whether the command changes something on the server: such commands are refused under `--read-only`.
    pub writes: bool,
    /// Checks whether the command can be run now; the error is the reason why not.
    pub enabled: fn(&P, &View) -> Result<(), Disabled>,
    /// Runs the command.
    pub run: fn(&mut P, &mut Cx),
}

impl<P> Command<P> {
    /// Creates a command that can always be run.
    pub const fn new(
        id: &'static str,
        keys: &'static [&'static str],
        title: &'static str,
        run: fn(&mut P, &mut Cx),
    ) -> Command<P> {
        Command { id, keys, title, short: "", writes: false, enabled: |_, _| Ok(()), run }
    }

    /// Shows the command in the footer under this word.
    pub const fn footer(mut self, short: &'static str) -> Command<P> {
        self.short = short;
        self
    }

    /// Marks the command as one that changes something on the server.
    pub const fn writes(mut self) -> Command<P> {
        self.writes = true;
        self
    }

    /// Restricts the command to when `enabled` returns `Ok`.
    pub const fn when(mut self, enabled: fn(&P, &View) -> Result<(), Disabled>) -> Command<P> {
        self.enabled = enabled;
        self
    }

    /// Returns the row without its functions.
    pub fn info(&self) -> Info {
        Info { id: self.id, keys: self.keys, title: self.title, short: self.short, writes: self.writes }
    }

    /// Returns whether the command can be run now; checks first whether writes are possible, if it needs them.
    pub fn can(&self, pane: &P, view: &View) -> Result<(), Disabled> {
        if self.writes {
            view.can_write()?;
        }
        (self.enabled)(pane, view)
    }
}

/// A row of the command table without its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// See [`Command::id`].
    pub id: &'static str,
    /// See [`Command::keys`].
    pub keys: &'static [&'static str],
    /// See [`Command::title`].
    pub title: &'static str,
    /// See [`Command::short`].
    pub short: &'static str,
    /// See [`Command::writes`].
    pub writes: bool,
}

/// A movement in whatever has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    Left,
    Right,
    First,
    Last,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    /// Rows of the mouse wheel; positive is down.
    Wheel(i16),
}

impl Motion {
    /// Returns the movement in rows for a viewport of `height` rows; `None` for movements that are not by rows.
    pub fn rows(self, height: usize) -> Option<isize> {
        let height = height.max(2) as isize;
        Some(match self {
            Motion::Up => -1,
            Motion::Down => 1,
            Motion::HalfUp => -(height / 2),
            Motion::HalfDown => height / 2,
            Motion::PageUp => -(height - 1),
            Motion::PageDown => height - 1,
            Motion::Wheel(rows) => rows.into(),
            Motion::First => isize::MIN / 2,
            Motion::Last => isize::MAX / 2,
            Motion::Left | Motion::Right => return None,
        })
    }

    /// Moves in a document of `len` rows.
    pub fn scroll(self, doc: &mut DocState, len: usize) {
        match self {
            Motion::Left => doc.left_by(-(SCROLL_COLUMNS as isize)),
            Motion::Right => doc.left_by(SCROLL_COLUMNS as isize),
            Motion::Up => doc.move_by(-1, len),
            Motion::Down => doc.move_by(1, len),
            Motion::First => doc.first(),
            Motion::Last => doc.last(len),
            Motion::HalfUp => doc.half_page_by(-1, len),
            Motion::HalfDown => doc.half_page_by(1, len),
            Motion::PageUp => doc.page_by(-1, len),
            Motion::PageDown => doc.page_by(1, len),
            Motion::Wheel(rows) => doc.scroll_by(rows.into(), len),
        }
    }

    /// Scrolls the viewport of a text of `len` rows that shows no cursor; horizontal movements are left to the pane.
    pub fn window(self, doc: &mut DocState, len: usize) {
        match self {
            Motion::Left | Motion::Right => {}
            Motion::First => doc.first(),
            Motion::Last => doc.last(len),
            other => doc.scroll_by(other.rows(doc.height.get()).unwrap_or(0), len),
        }
    }
}
