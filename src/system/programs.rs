//! Starts other programs. All of them are created here, so that none inherits a token.

use std::ffi::OsStr;
pub use std::process::Command;

/// The environment variables that may hold a token.
pub const TOKENS: [&str; 2] = ["LABSCOPE_TOKEN", "GITLAB_TOKEN"];

/// Prepares a program to start.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    without_tokens(Command::new(program))
}

/// Lists programs that can open a URL, the preferred one first.
pub fn browsers(address: &str) -> impl Iterator<Item = Command> {
    open::commands(address).into_iter().map(without_tokens)
}

fn without_tokens(mut command: Command) -> Command {
    for name in TOKENS {
        command.env_remove(name);
    }
    command
}
