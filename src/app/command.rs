//! The command table: one row drives dispatch, help, palette, footer, the `a` menu, `labscope keys` and the docs.

use super::pane::{Cx, View};
use crate::ui::doc::{DocState, SIDEWAYS};
use std::borrow::Cow;

/// Why a command cannot be run here; said where it is shown.
pub type Disabled = Cow<'static, str>;

/// One thing that can be done in a place `P`.
pub struct Command<P> {
    /// The name that configuration rebinds: `files.open`.
    pub id: &'static str,
    /// Its keys, each a sequence: `g h`.
    pub keys: &'static [&'static str],
    /// What it does, a few words beginning with a verb.
    pub title: &'static str,
    /// One word for the footer; empty where it is not shown there.
    pub short: &'static str,
    /// Whether it changes something on the server: refused under `--read-only`.
    pub writes: bool,
    /// Whether it can be run now, or why not.
    pub enabled: fn(&P, &View) -> Result<(), Disabled>,
    /// Runs it.
    pub run: fn(&mut P, &mut Cx),
}

impl<P> Command<P> {
    /// A command that can always be run.
    pub const fn new(
        id: &'static str,
        keys: &'static [&'static str],
        title: &'static str,
        run: fn(&mut P, &mut Cx),
    ) -> Command<P> {
        Command { id, keys, title, short: "", writes: false, enabled: |_, _| Ok(()), run }
    }

    /// Shown in the footer under this word.
    pub const fn footer(mut self, short: &'static str) -> Command<P> {
        self.short = short;
        self
    }

    /// Changes something on the server.
    pub const fn writes(mut self) -> Command<P> {
        self.writes = true;
        self
    }

    /// Can be run only where `enabled` says so.
    pub const fn when(mut self, enabled: fn(&P, &View) -> Result<(), Disabled>) -> Command<P> {
        self.enabled = enabled;
        self
    }

    /// The row without its functions.
    pub fn info(&self) -> Info {
        Info { id: self.id, keys: self.keys, title: self.title, short: self.short, writes: self.writes }
    }

    /// Returns whether it can be run now: whether anything can be changed first, then its own reason.
    pub fn can(&self, pane: &P, view: &View) -> Result<(), Disabled> {
        if self.writes {
            view.can_write()?;
        }
        (self.enabled)(pane, view)
    }
}

/// A row of the command table, for those who only read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// [`Command::id`].
    pub id: &'static str,
    /// [`Command::keys`].
    pub keys: &'static [&'static str],
    /// [`Command::title`].
    pub title: &'static str,
    /// [`Command::short`].
    pub short: &'static str,
    /// [`Command::writes`].
    pub writes: bool,
}

/// A movement, meant for whatever has the focus.
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
    /// Rows of the mouse wheel, down positive.
    Wheel(i16),
}

impl Motion {
    /// The move as rows in a window of `height` rows; `None` for moves that are not by rows.
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
            Motion::Left => doc.left_by(-(SIDEWAYS as isize)),
            Motion::Right => doc.left_by(SIDEWAYS as isize),
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

    /// Moves the window over a text of `len` rows in which no cursor is shown; moves to a side are the pane's own.
    pub fn window(self, doc: &mut DocState, len: usize) {
        match self {
            Motion::Left | Motion::Right => {}
            Motion::First => doc.first(),
            Motion::Last => doc.last(len),
            other => doc.scroll_by(other.rows(doc.height.get()).unwrap_or(0), len),
        }
    }
}
