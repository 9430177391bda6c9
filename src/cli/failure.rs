//! The failure of a command: a message and an exit code.

use crate::api;
use crate::ui::text::sanitize;
use std::fmt;
use std::io::{self, Write};

/// The exit code for a failure.
pub const EXIT_FAILURE: u8 = 1;
/// The exit code for an invalid command line or configuration.
pub const EXIT_USAGE: u8 = 2;

/// The exit code of commands that answer a question, if they have no answer.
pub const EXIT_UNKNOWN: u8 = 3;

/// The reason why a command failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// A sentence that says what to do; empty if only the exit code matters.
    pub message: String,
}

impl Failure {
    /// Creates a failure for an invalid command line or configuration.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure { code: EXIT_USAGE, message: message.to_string() }
    }

    /// Creates a failure with the exit code [`EXIT_FAILURE`].
    pub fn failed(message: impl fmt::Display) -> Failure {
        Failure { code: EXIT_FAILURE, message: message.to_string() }
    }

    /// Creates a failure with an exit code and no message.
    pub fn code(code: u8) -> Failure {
        Failure { code, message: String::new() }
    }

    /// Prints the message to standard error, sanitized because it may quote servers and files.
    pub fn report(&self) {
        for (index, line) in self.message.lines().enumerate() {
            let prefix = if index == 0 { "labscope: " } else { "" };
            // Nothing can be done if standard error is closed.
            let _ = writeln!(io::stderr(), "{prefix}{}", sanitize(line));
        }
    }
}

impl From<api::Error> for Failure {
    /// Formats the error with its title, message and request, and with its advice unless that mentions keys of the
    /// interface.
    fn from(error: api::Error) -> Failure {
        let is_read = ["GET ", "HEAD "].iter().any(|method| error.tried.starts_with(method));
        let advice = match is_read {
            true if error.is_temporary() => "",
            true => error.advice(),
            false => error.write_advice(),
        };
        Failure::failed(format!("{}: {} ({}). {advice}", error.title(), error.message(), error.tried).trim_end())
    }
}

impl From<io::Error> for Failure {
    /// Converts an I/O error; a closed pipe (`labscope keys | head -1`) is not reported as a failure.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::code(0),
            _ => Failure::failed(error),
        }
    }
}
