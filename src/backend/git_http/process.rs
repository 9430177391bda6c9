//! Processes of git that end with the requests that they answer.

use crate::rejection::Rejection;
use crate::slots::Permit;
use crate::spool::Spooled;
use crate::stop::Stop;
use crate::stream::{CHUNK, MAX_BUFFERED_CHUNKS, body_of};
use axum::body::{Body, Bytes};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use system::programs::Command;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// The maximum length of the error messages of a process that are read, in bytes.
const MAX_ERROR_BYTES: u64 = 16 << 10;

/// A running process, which is killed with the processes that it started when this is dropped.
struct Process {
    child: Child,
    errors: File,
}

impl Process {
    /// Starts a process that reads `input`.
    ///
    /// # Errors
    /// Fails with 501 if git is not installed.
    fn start(mut command: Command, input: File, output: Stdio) -> Result<Process, Rejection> {
        let errors = tempfile::tempfile().map_err(Rejection::internal_error)?;
        let copy = errors.try_clone().map_err(Rejection::internal_error)?;
        command.stdin(input).stdout(output).stderr(copy);
        let child = tokio::process::Command::from(command).spawn().map_err(not_started)?;
        Ok(Process { child, errors })
    }

    /// Returns the error messages.
    fn errors(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.errors.rewind().and_then(|()| (&self.errors).take(MAX_ERROR_BYTES).read_to_end(&mut bytes));
        if let Err(why) = read {
            tracing::warn!("the messages of git cannot be read: {why}");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has been waited for has no ID any more, so no other one is meant.
        if let Some(group) = self.child.id().and_then(|id| libc::pid_t::try_from(id).ok()) {
            // SAFETY: kill has no preconditions.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }
}

/// The output of a process that answers a request.
pub struct ProcessOutput {
    pub content_type: &'static str,
    /// The bytes before the output.
    head: Vec<u8>,
    /// Whether the first bytes are awaited: nothing at all is a failure then, which must not be taken for an empty answer.
    is_awaited: bool,
    process: Process,
    output: ChildStdout,
    /// The body of the request.
    _input: Spooled,
}

impl ProcessOutput {
    /// Starts a process that answers the request with the body `input`.
    ///
    /// # Errors
    /// Fails with 501 if git is not installed.
    pub fn start(command: Command, input: Spooled, content_type: &'static str) -> Result<ProcessOutput, Rejection> {
        let file = input.file.try_clone().map_err(Rejection::internal_error)?;
        let mut process = Process::start(command, file, Stdio::piped())?;
        let output = process.child.stdout.take().ok_or_else(|| Rejection::internal_error("git has no output"))?;
        Ok(ProcessOutput { content_type, head: Vec::new(), is_awaited: false, process, output, _input: input })
    }

    /// Puts something before the output, which must not be empty.
    pub fn after(self, head: Vec<u8>) -> ProcessOutput {
        ProcessOutput { head, is_awaited: true, ..self }
    }

    /// Returns the body of the reply. The process ends with the connection, after some time of `silence`, and when its slot
    /// is given to somebody else. A failure is in the output, in the form that clients understand.
    ///
    /// # Errors
    /// Fails with 500 if there is no output, but one is awaited.
    pub async fn body(mut self, permit: Permit, silence: Duration) -> Result<Body, Rejection> {
        let mut head = std::mem::take(&mut self.head);
        if self.is_awaited && self.read(&mut head, silence).await.map_err(Rejection::internal_error)? == 0 {
            let why = self.process.errors();
            return Err(Rejection::internal_error(format!("git did not list the refs: {}", why.trim_end())));
        }
        let (sender, receiver) = mpsc::channel(MAX_BUFFERED_CHUNKS);
        let sending = tokio::spawn(async move {
            let mut chunk = head;
            loop {
                if !chunk.is_empty() {
                    let sent = permit.waiting(sender.send(Bytes::from(std::mem::take(&mut chunk)))).await;
                    sent.and_then(Result::ok).ok_or(ErrorKind::BrokenPipe)?;
                }
                let read = tokio::select! {
                    read = self.read(&mut chunk, silence) => read?,
                    () = sender.closed() => return Err(ErrorKind::BrokenPipe.into()),
                };
                if read == 0 {
                    return Ok(());
                }
            }
        });
        Ok(body_of(receiver, sending))
    }

    /// Reads some output.
    async fn read(&mut self, out: &mut Vec<u8>, silence: Duration) -> io::Result<usize> {
        out.reserve(CHUNK);
        tokio::time::timeout(silence, self.output.read_buf(out)).await?
    }
}

/// Runs a process, and waits until it ends. Returns its error messages if it fails.
///
/// # Errors
/// Fails with 501 if git is not installed, with 408 if the process does not end in time, and with 499 if the client
/// disconnects. The process is killed then.
pub fn run(command: Command, input: File, within: Duration, stop: &Stop) -> Result<Result<(), String>, Rejection> {
    let mut process = Process::start(command, input, Stdio::null())?;
    let late = || {
        let why = format!("408 Request Timeout: git did not check the push within {} seconds", within.as_secs_f32());
        Rejection::message(408, why)
    };
    // Handlers run on threads that are allowed to block.
    let status: ExitStatus = Handle::current().block_on(async {
        tokio::select! {
            ended = tokio::time::timeout(within, process.child.wait()) => {
                ended.map_err(|_| late())?.map_err(Rejection::internal_error)
            }
            () = stop.cancelled() => Err(Rejection::message(499, "the client closed the request")),
        }
    })?;
    Ok(if status.success() { Ok(()) } else { Err(process.errors()) })
}

/// Returns the rejection for a process that could not be started.
fn not_started(why: io::Error) -> Rejection {
    if why.kind() != ErrorKind::NotFound {
        return Rejection::internal_error(why);
    }
    let next = "Install git there to clone, fetch and push. Everything else works without it.";
    Rejection::message(501, format!("git is not installed on the machine of this server. {next}"))
}
