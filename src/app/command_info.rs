//! A command as data, and the reason why a command cannot be run.

use std::borrow::Cow;

/// The reason why a command cannot be run, displayed next to the command.
pub type Disabled = Cow<'static, str>;

/// A [`Command`](super::command::Command) without its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
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
}
