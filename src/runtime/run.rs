//! Running the commands of the configuration, and reporting their output and exit status.

use super::signals;
use crate::app::action::Msg;
use crate::app::custom::{RunEvent, RunSpec, VALUES, variable};
use crate::system::programs;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The time to wait for the last output of a command that ended but left another program running.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// The process group of a command, which is told to exit when this is dropped.
struct ProcessGroup(Option<u32>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        signals::terminate_group(self.0);
    }
}

pub fn command(spec: &RunSpec) -> tokio::process::Command {
    let mut words = spec.program.iter();
    let mut command = programs::command(words.next().map(String::as_str).unwrap_or_default());
    command.args(words);
    // Variables of an outer labscope must not be taken for values of this one.
    for value in VALUES {
        command.env_remove(variable(value));
    }
    command.envs(spec.variables.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &spec.folder {
        command.current_dir(folder);
    }
    tokio::process::Command::from(command)
}

pub fn outcome(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("failed with {status}")) }
}

/// Runs a command to completion.
pub async fn run(number: u64, spec: RunSpec, sender: mpsc::Sender<Msg>) {
    let mut command = command(&spec);
    command.stdin(if spec.input.is_some() { Stdio::piped() } else { Stdio::null() });
    #[cfg(unix)]
    command.process_group(0);
    let out = if spec.has_result { RunEvent::Result } else { RunEvent::Output };
    let ended = follow(number, command, (spec.input, out), &sender).await;
    let _ = sender.send(Msg::CustomCommand(number, RunEvent::Ended(ended))).await;
}

/// Runs a command in a process group of its own to completion, and sends what it prints.
pub async fn print(number: u64, command: tokio::process::Command, sender: &mpsc::Sender<Msg>) -> Result<(), String> {
    follow(number, command, (None, RunEvent::Output), sender).await
}

/// The event of bytes that a command printed.
type ToEvent = fn(Vec<u8>) -> RunEvent;

/// Like [`print`], with a text for the standard input, and another event for the standard output.
async fn follow(
    number: u64,
    mut command: tokio::process::Command,
    (input, out): (Option<String>, ToEvent),
    sender: &mpsc::Sender<Msg>,
) -> Result<(), String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    match command.spawn() {
        Ok(child) => to_the_end(number, child, (input, out), sender).await,
        Err(error) => {
            let program = command.as_std().get_program().to_string_lossy().into_owned();
            Err(format!("could not be started: {program}: {error}"))
        }
    }
}

async fn to_the_end(
    number: u64,
    mut child: Child,
    (input, of_out): (Option<String>, ToEvent),
    sender: &mpsc::Sender<Msg>,
) -> Result<(), String> {
    let mut group = ProcessGroup(child.id());
    let (to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let pumps = async {
        tokio::join!(
            pump(number, out, of_out, sender),
            pump(number, err, RunEvent::Output, sender),
            feed(to, input.unwrap_or_default())
        )
    };
    tokio::pin!(pumps);
    let status = tokio::select! {
        status = child.wait() => {
            // The last output may still be on its way, but a program that the command left running may print forever.
            let _ = timeout(LAST_OUTPUT_TIMEOUT, &mut pumps).await;
            status
        }
        _ = &mut pumps => child.wait().await,
    };
    // A program that was left running on purpose is not stopped.
    group.0 = None;
    status.map_err(|error| format!("failed: {error}")).and_then(outcome)
}

/// Writes the input of a program. A program need not read all of it.
async fn feed(to: Option<ChildStdin>, input: String) {
    if let Some(mut to) = to {
        let _ = to.write_all(input.as_bytes()).await;
    }
}

/// Sends the output of a program.
async fn pump(number: u64, from: Option<impl AsyncRead + Unpin>, event: ToEvent, sender: &mpsc::Sender<Msg>) {
    let Some(mut from) = from else { return };
    let mut bytes = vec![0; 8 * 1024];
    while let Ok(len) = from.read(&mut bytes).await {
        let Some(read) = bytes.get(..len).filter(|read| !read.is_empty()) else { return };
        if sender.send(Msg::CustomCommand(number, event(read.to_vec()))).await.is_err() {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::app::custom::Show;

    fn spec(program: &[&str], variables: &[(&str, &str)]) -> RunSpec {
        RunSpec {
            title: "x".into(),
            program: program.iter().map(|word| (*word).to_owned()).collect(),
            variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            folder: None,
            show: Show::Pane,
            input: None,
            has_result: false,
        }
    }

    async fn ran(spec: RunSpec) -> (String, Result<(), String>) {
        let (sender, mut inbox) = mpsc::channel(64);
        tokio::spawn(run(1, spec, sender));
        let mut printed = Vec::new();
        let mut outcome = Err("it never ended".to_owned());
        while let Some(msg) = inbox.recv().await {
            match msg {
                Msg::CustomCommand(1, RunEvent::Output(bytes) | RunEvent::Result(bytes)) => printed.extend(bytes),
                Msg::CustomCommand(1, RunEvent::Ended(ended)) => outcome = ended,
                _ => {}
            }
        }
        (String::from_utf8_lossy(&printed).into_owned(), outcome)
    }

    #[tokio::test]
    async fn hostile_values_are_never_read_by_a_shell() {
        let hostile = "$(echo no)`echo no`'; echo no; \"";
        let as_argument = ran(spec(&["printf", "%s", hostile], &[])).await;
        assert_eq!(as_argument, (hostile.to_owned(), Ok(())));
        let line = "printf %s \"$LABSCOPE_TITLE\"";
        let as_variable = ran(spec(&["sh", "-c", line], &[("LABSCOPE_TITLE", hostile)])).await;
        assert_eq!(as_variable, (hostile.to_owned(), Ok(())));
    }

    #[tokio::test]
    async fn failed_and_missing_commands_are_reported() {
        let (printed, ended) = ran(spec(&["sh", "-c", "echo out; echo err >&2; exit 3"], &[])).await;
        assert!(printed.contains("out\n") && printed.contains("err\n"), "{printed}");
        assert_eq!(ended, Err("failed with exit status: 3".into()));
        let (_, ended) = ran(spec(&["labscope-no-such-program"], &[])).await;
        assert!(ended.is_err_and(|why| why.starts_with("could not be started: labscope-no-such-program: ")));
    }

    #[tokio::test]
    async fn the_input_is_written_while_the_output_is_read() {
        let large = "x".repeat(3 << 20);
        let echo = RunSpec { input: Some(large.clone()), has_result: true, ..spec(&["cat"], &[]) };
        let (printed, ended) = ran(echo).await;
        assert_eq!((printed.len(), ended), (large.len(), Ok(())));
        let deaf = RunSpec { input: Some(large), ..spec(&["sh", "-c", "exec <&-; echo done"], &[]) };
        assert_eq!(ran(deaf).await, ("done\n".to_owned(), Ok(())));
    }

    #[tokio::test]
    async fn background_processes_do_not_delay_the_end() {
        let (printed, ended) = ran(spec(&["sh", "-c", "echo begun; sleep 30 &"], &[])).await;
        assert_eq!((printed.as_str(), ended), ("begun\n", Ok(())));
    }
}
