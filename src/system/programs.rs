//! Starts other programs. All child processes are created here, so that none inherits a token.

use std::ffi::OsStr;
pub use std::process::Command;

/// The environment variables that may contain a token.
pub const TOKENS: [&str; 2] = ["LABSCOPE_TOKEN", "GITLAB_TOKEN"];

/// Returns a command that starts a program without the token variables in its environment.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    without_tokens(Command::new(program))
}

/// Lists the commands that can open a URL, the preferred one first.
pub fn browsers(address: &str) -> impl Iterator<Item = Command> {
    open::commands(address).into_iter().map(without_tokens)
}

fn without_tokens(mut command: Command) -> Command {
    for name in TOKENS {
        command.env_remove(name);
    }
    command
}
