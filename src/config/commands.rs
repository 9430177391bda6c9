//! The user's own commands in the configuration, as they are written there.

use serde::Deserialize;
use toml::Spanned;

/// A command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its title.
    pub name: Spanned<String>,
    /// Its keys, as in `M-w`.
    pub key: Option<Spanned<String>>,
    /// The names of the places where it is offered; every place without.
    #[serde(default)]
    pub places: Vec<Spanned<String>>,
    /// What it starts.
    pub run: Spanned<Run>,
    /// Where its output goes: `pane`, `terminal` or `silent`.
    pub show: Option<Spanned<String>>,
}

/// What a command starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string for sh, or a list of a program and its arguments")]
pub enum Run {
    /// A line for `sh -c`.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}
