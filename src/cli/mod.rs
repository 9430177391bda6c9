//! The command line: one file per command, and shared functions here.

pub mod api;
pub mod api_path;
pub mod appearance;
pub mod args;
pub mod auth;
pub mod cache;
pub mod ci;
pub mod connect;
pub mod crash;
pub mod doctor;
pub mod embedded_server;
pub mod failure;
pub mod interface;
pub mod json;
pub mod keys;
pub mod manual;
pub mod open;
pub mod renewal;
pub mod serve;
pub mod server;
pub mod status;
pub mod watch;
pub mod welcome;

use crate::config::Config;
use crate::domain::mistakes::nearest;
use crate::system::files;
use args::{Cli, Command, Global};
use clap::{CommandFactory, Parser, ValueHint};
use failure::{EXIT_FAILURE, EXIT_UNKNOWN, EXIT_USAGE, Failure};
use open::Opened;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use tokio::runtime::{Builder, Runtime};

/// The message of a command that needs the server, under `--offline`.
const NOT_SENT: &str = "nothing was sent because of --offline";

/// Runs the program.
pub fn main() -> ExitCode {
    crash::install();
    crate::system::memory::return_freed_memory();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Requests for help or the version are also reported as errors here.
            let _ = error.print();
            let code = usage_code();
            return ExitCode::from(if error.use_stderr() { code } else { 0 });
        }
    };
    let ended = run(cli);
    if let Some(error) = LOG_ERROR.get() {
        Failure::failed(format!("the log is incomplete: {error}")).report();
    }
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code)
        }
    }
}

/// Returns the exit code for the invalid command line: some commands document codes of their own.
fn usage_code() -> u8 {
    let read = Cli::command().ignore_errors(true).try_get_matches();
    match read.as_ref().ok().and_then(|found| found.subcommand_name()) {
        Some("api") => EXIT_FAILURE,
        Some("watch") => EXIT_UNKNOWN,
        _ => EXIT_USAGE,
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Some(path) = &cli.global.log {
        let draws = matches!(cli.command, None | Some(Command::Mr | Command::Demo { .. } | Command::Local { .. }));
        init_logging(path, draws)?;
    }
    let global = &cli.global;
    if let (Some(target), Some(_)) = (&cli.target, &cli.command) {
        return Err(Failure::usage(format!(
            "unexpected target \"{target}\" before a command; put it after the command or leave it out"
        )));
    }
    match cli.command {
        None => match cli.target.as_deref().and_then(suggest_command) {
            Some(why) => Err(Failure::usage(why)),
            None => open::run(global, Opened::Target(cli.target.as_deref())),
        },
        Some(Command::Mr) => open::run(global, Opened::ThisBranch),
        Some(Command::Demo { target, user, tour }) => {
            embedded_server::demo(global, target.as_deref(), user.as_deref(), tour)
        }
        Some(Command::Local { path, target }) => embedded_server::local(global, &path, target.as_deref()),
        Some(Command::Serve(serve)) => serve::run(serve),
        Some(Command::Api(api)) => api::run(global, &api),
        Some(Command::Watch(watch)) => watch::run(global, &watch),
        Some(Command::Status(status)) => status::run(global, &status),
        Some(Command::Auth { command }) => auth::run(global, command),
        Some(Command::Ci { command }) => ci::run(global, command),
        Some(Command::Cache { command }) => cache::run(command),
        Some(Command::Doctor { json }) => doctor::run(global, json),
        Some(Command::Keys { markdown }) => keys::run(global, markdown),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut offering_files_only_for_paths(Cli::command()), "labscope", &mut text);
            write_stdout(&text)
        }
        Some(Command::Man) => manual::run(),
    }
}

/// Returns the command with a hint that the values of its options are no files, unless they are paths.
fn offering_files_only_for_paths(command: clap::Command) -> clap::Command {
    let is_path = |arg: &clap::Arg| {
        let names = arg.get_value_names().map(|names| names.concat()).unwrap_or_default();
        arg.get_value_hint() != ValueHint::Unknown || names.contains("FILE")
    };
    let hinted = command.mut_args(|arg| match arg.get_action().takes_values() && !is_path(&arg) {
        true => arg.value_hint(ValueHint::Other),
        false => arg,
    });
    hinted.mut_subcommands(offering_files_only_for_paths)
}

/// Returns a message if the target is a single word that resembles the name of a command and would be opened as a
/// group.
fn suggest_command(target: &str) -> Option<String> {
    if target.len() < 3 || !target.chars().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    let command = Cli::command();
    let names = |command: &clap::Command, before: &str| -> Vec<String> {
        command.get_subcommands().map(|sub| format!("{before}{}", sub.get_name())).collect()
    };
    let mut all = names(&command, "");
    all.extend(command.find_subcommand("auth").map(|auth| names(auth, "auth ")).unwrap_or_default());
    let last_words = all.iter().filter_map(|name| name.rsplit(' ').next());
    let nearest = nearest(target, last_words)?;
    let command = all.iter().find(|name| name.rsplit(' ').next() == Some(nearest))?;
    Some(format!(
        "there is no command \"{target}\". Did you mean:\n  labscope {command}\n\
         For the group of that name: labscope groups/{target}"
    ))
}

/// Loads the configuration file that the options specify.
fn load_config(global: &Global) -> Result<Config, Failure> {
    Config::load(global.config.as_deref()).map_err(Failure::usage)
}

/// Writes to standard output.
fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Creates the async runtime. Two threads are enough because computations run on blocking workers.
fn async_runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|e| Failure::failed(format!("cannot start threads: {e}")))
}

/// The first error of the log, which is reported when the interface is gone.
static LOG_ERROR: OnceLock<String> = OnceLock::new();

/// A writer of the log that never fails: an error would be printed over the interface.
struct LogWriter(Arc<File>);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = (&*self.0).write_all(bytes) {
            LOG_ERROR.get_or_init(|| error.to_string());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the log to a file that only its owner can read. `LABSCOPE_LOG` sets the filter, for example `labscope=trace`.
/// The file must not be a terminal if the interface `draws` there.
fn init_logging(path: &Path, draws: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A symbolic link is followed only to a target that is not a regular file, such as `/dev/stderr`.
    let file = if files::is_special(path) { options.open(path) } else { files::open(path, &options) };
    let file = file.map_err(|e| Failure::usage(format!("--log: {} cannot be written: {e}", path.display())))?;
    if draws && file.is_terminal() {
        let why = "is a terminal, and the log would be written over the interface. Name a file, or redirect the output";
        return Err(Failure::usage(format!("--log: {} {why}.", path.display())));
    }
    let file = Arc::new(file);
    let filter = std::env::var("LABSCOPE_LOG").unwrap_or_else(|_| "labscope=debug".into());
    let filter = tracing_subscriber::EnvFilter::try_new(&filter)
        .map_err(|e| Failure::usage(format!("LABSCOPE_LOG: invalid filter \"{filter}\": {e}")))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .log_internal_errors(false)
        .with_writer(move || LogWriter(file.clone()))
        .finish();
    tracing::subscriber::set_global_default(subscriber).map_err(Failure::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_commands_are_suggested() {
        for (typed, meant) in [("dmeo", "demo"), ("lcoal", "local"), ("serv", "serve"), ("login", "auth login")] {
            assert!(suggest_command(typed).is_some_and(|why| why.contains(&format!("labscope {meant}\n"))), "{typed}");
        }
        for target in ["acme", "gitlab-org", "a/b", "me", "tools", "demo/web", "documentation"] {
            assert_eq!(suggest_command(target), None, "{target}");
        }
    }
}
