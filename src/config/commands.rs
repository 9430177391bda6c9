//! Custom commands, as written in the configuration file.

use serde::Deserialize;
use toml::Spanned;

/// A custom command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The title.
    pub name: Spanned<String>,
    /// The key sequence, such as `M-w`.
    pub key: Option<Spanned<String>>,
    /// The names of the places that offer the command; every place if empty.
    #[serde(default)]
    pub places: Vec<Spanned<String>>,
    /// The program or shell line to run.
    pub run: Spanned<Run>,
    /// The destination of the output: `pane`, `terminal` or `silent`.
    pub show: Option<Spanned<String>>,
    /// The part of the place that it gets on its standard input: `thread`, `diff`, `trace`, `test` or `mr`.
    pub input: Option<Spanned<String>>,
    /// The use of its standard output: `show`, `comment`, `suggestion`, `review` or `staged`.
    pub result: Option<Spanned<String>>,
}

/// A program or shell line to run.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string for sh, or a list of a program and its arguments")]
pub enum Run {
    /// A command line for `sh -c`.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}
