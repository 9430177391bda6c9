//! Other programs: all of them are made here, and none inherits a token.

use std::ffi::OsStr;
use std::process::Command;

/// Variables of the environment that may hold a token.
pub const TOKENS: [&str; 2] = ["LABSCOPE_TOKEN", "GITLAB_TOKEN"];

/// A program to be started.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    without_tokens(Command::new(program))
}

/// Programs that may open a web address, the best first.
pub fn browsers(address: &str) -> impl Iterator<Item = Command> {
    open::commands(address).into_iter().map(without_tokens)
}

fn without_tokens(mut command: Command) -> Command {
    for name in TOKENS {
        command.env_remove(name);
    }
    command
}
