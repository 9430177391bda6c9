//! How a command ends when it does not succeed: a sentence, and an exit code.

use crate::api;
use crate::ui::text::shown;
use std::fmt;
use std::io::{self, Write};

/// Something failed.
pub const FAILED: u8 = 1;
/// The command line or the configuration holds a mistake.
pub const USAGE: u8 = 2;

/// Why a command did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// A sentence that says what to do; empty where everything has been said.
    pub message: String,
}

impl Failure {
    /// A mistake in the command line or the configuration.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure { code: USAGE, message: message.to_string() }
    }

    /// Something that failed.
    pub fn failed(message: impl fmt::Display) -> Failure {
        Failure { code: FAILED, message: message.to_string() }
    }

    /// An exit code alone.
    pub fn code(code: u8) -> Failure {
        Failure { code, message: String::new() }
    }

    /// Says it on the standard error. Servers and files may have had a say in it, so it is cleaned.
    pub fn report(&self) {
        for (index, line) in self.message.lines().enumerate() {
            let prefix = if index == 0 { "labscope: " } else { "" };
            // Where nobody listens any more, there is nobody to tell.
            let _ = writeln!(io::stderr(), "{prefix}{}", shown(line));
        }
    }
}

impl From<api::Error> for Failure {
    /// What was tried and what came back; advice where it is not about keys of the interface.
    fn from(error: api::Error) -> Failure {
        let advice = if error.is_passing() { "" } else { error.advice() };
        Failure::failed(format!("{}: {} ({}). {advice}", error.title(), error.said(), error.tried).trim_end())
    }
}

impl From<io::Error> for Failure {
    /// A reader that has gone away (`labscope keys | head -1`) is no failure worth a word.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::code(0),
            _ => Failure::failed(error),
        }
    }
}
