//! Processes of git that end with the requests that they answer.

use crate::backend::rejection::Rejection;
use crate::system::programs::Command;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;
use tokio::runtime::Handle;

/// The maximum length of the error messages of a process that are read, in bytes.
const MAX_ERROR_BYTES: u64 = 16 << 10;

/// A running process, which is killed with the processes that it started when this is dropped.
pub struct Process(Child);

impl Process {
    /// Starts a process that reads `input`, and returns its output.
    ///
    /// # Errors
    /// Fails with 501 if git is not installed.
    pub fn start(mut command: Command, input: File) -> Result<(Process, ChildStdout), Rejection> {
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().map_err(not_started)?);
        let output = process.0.stdout.take().ok_or_else(|| Rejection::internal_error("git has no output"))?;
        Ok((process, output))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(group) = libc::pid_t::try_from(self.0.id()) {
            // SAFETY: kill has no preconditions. The process has not been waited for, so no other has its ID.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        if let Err(why) = self.0.wait() {
            tracing::warn!("a process of git could not be waited for: {why}");
        }
    }
}

/// Runs a process that starts no others, and waits until it ends. Returns its error messages if it fails.
///
/// # Errors
/// Fails with 501 if git is not installed, and with 408 if the process does not end in time; it is killed then.
pub fn run(mut command: Command, input: File, within: Duration) -> Result<Result<(), String>, Rejection> {
    let mut errors = tempfile::tempfile().map_err(Rejection::internal_error)?;
    let copy = errors.try_clone().map_err(Rejection::internal_error)?;
    command.stdin(input).stdout(Stdio::null()).stderr(copy);
    let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn().map_err(not_started)?;
    // Handlers run on threads that are allowed to block.
    let ended = Handle::current().block_on(async { tokio::time::timeout(within, child.wait()).await });
    let late = |_| {
        let why = format!("408 Request Timeout: git did not check the push within {} seconds", within.as_secs_f32());
        Rejection::message(408, why)
    };
    if ended.map_err(late)?.map_err(Rejection::internal_error)?.success() {
        return Ok(Ok(()));
    }
    let read = |errors: &mut File| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        errors.rewind()?;
        errors.take(MAX_ERROR_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(Err(String::from_utf8_lossy(&read(&mut errors).unwrap_or_default()).into_owned()))
}

/// Returns the rejection for a process that could not be started.
fn not_started(why: io::Error) -> Rejection {
    if why.kind() != io::ErrorKind::NotFound {
        return Rejection::internal_error(why);
    }
    let next = "Install git there to clone, fetch and push. Everything else works without it.";
    Rejection::message(501, format!("git is not installed on the machine of this server. {next}"))
}
