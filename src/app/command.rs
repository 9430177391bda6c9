//! The command table: one row drives dispatch, help, palette, footer, the `a` menu, `labscope keys` and the docs.

use super::command_info::{Disabled, Info};
use super::context::Cx;
use super::view::View;

/// A command of a place `P`.
pub struct Command<P> {
    /// See [`Info::id`].
    pub id: &'static str,
    /// See [`Info::keys`].
    pub keys: &'static [&'static str],
    /// See [`Info::title`].
    pub title: &'static str,
    /// See [`Info::short`].
    pub short: &'static str,
    /// See [`Info::writes`].
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
