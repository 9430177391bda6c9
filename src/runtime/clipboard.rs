//! Copying to the clipboard with programs of the desktop, or with tmux, if the terminal may not support it.

use super::capabilities::{Capabilities, Emulator};
use crate::system::programs;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// The time that a program gets to read the text. Some stay in the background to serve it.
const COPY_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the programs to try, in order, each with its arguments; `None` if the terminal is known to support copying.
pub fn copy_commands(
    terminal: &Capabilities,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Vec<&'static [&'static str]>> {
    if terminal.copies {
        return None;
    }
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let mut found: Vec<&'static [&'static str]> = Vec::new();
    // Over SSH from within tmux, a tmux here is another one.
    if terminal.emulator == Emulator::Tmux && is_set("TMUX") {
        // tmux passes on what its own command is given, but by default not what programs write.
        found.push(&["tmux", "load-buffer", "-w", "-"]);
    }
    // Over SSH, these would set the clipboard of the other machine.
    if !is_set("SSH_CONNECTION") {
        if is_set("WAYLAND_DISPLAY") {
            found.push(&["wl-copy"]);
        }
        if is_set("DISPLAY") {
            found.extend([&["xclip", "-selection", "clipboard"][..], &["xsel", "--input", "--clipboard"]]);
        }
        if cfg!(target_os = "macos") {
            found.push(&["pbcopy"]);
        }
        if is_set("WSL_DISTRO_NAME") {
            found.push(&["clip.exe"]);
        }
    }
    Some(found)
}

/// Copies `text` with the first program that succeeds, and returns its name.
///
/// # Errors
///
/// Returns the reason if none succeeded.
pub async fn copy(commands: &[&'static [&'static str]], text: &str) -> Result<&'static str, String> {
    let mut last_error = "no clipboard program found".to_owned();
    for words in commands {
        let Some((name, arguments)) = words.split_first() else { continue };
        match pipe_to(name, arguments, text).await {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => last_error = format!("{name}: {error}"),
        }
    }
    Err(last_error)
}

async fn pipe_to(name: &str, arguments: &[&str], text: &str) -> io::Result<()> {
    let mut command = tokio::process::Command::from(programs::command(name));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A C-c typed in labscope must not reach the program.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let write_and_wait = async {
        if let Some(mut input) = child.stdin.take() {
            input.write_all(text.as_bytes()).await?;
        }
        match child.wait().await? {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(format!("it exited with {status}"))),
        }
    };
    timeout(COPY_TIMEOUT, write_and_wait).await.unwrap_or_else(|_| Err(io::Error::other("timed out")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_fit_the_environment() {
        type Pairs = &'static [(&'static str, &'static str)];
        let cases: &[(Pairs, &[&str])] = &[
            (&[("TERM", "xterm-kitty"), ("DISPLAY", ":0")], &[]),
            (&[("TERM", "xterm"), ("WAYLAND_DISPLAY", "w"), ("DISPLAY", ":0")], &["wl-copy", "xclip", "xsel"]),
            (&[("TERM", "xterm"), ("DISPLAY", ":0"), ("SSH_CONNECTION", "a b")], &[]),
            (&[("TERM", "tmux-256color"), ("TMUX", "x"), ("SSH_CONNECTION", "a b")], &["tmux"]),
        ];
        for (pairs, names) in cases {
            let variable = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            let found = copy_commands(&Capabilities::of(variable), variable).unwrap_or_default();
            let found: Vec<_> = found.iter().filter(|words| words[0] != "pbcopy").map(|words| words[0]).collect();
            assert_eq!(&found, names, "{pairs:?}");
        }
    }
}
