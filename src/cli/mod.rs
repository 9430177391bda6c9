//! What is typed into a shell: one file a command, and here what they have in common.

pub mod api;
pub mod appearance;
pub mod args;
pub mod auth;
pub mod connect;
pub mod crash;
pub mod embedded_server;
pub mod failure;
pub mod interface;
pub mod json;
pub mod keys;
pub mod manual;
pub mod open;
pub mod serve;

use crate::config::Config;
use crate::system::files;
use args::{Cli, Command, Global};
use clap::{CommandFactory, Parser};
use failure::{FAILED, Failure, USAGE};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use tokio::runtime::{Builder, Runtime};

/// Runs the program.
pub fn main() -> ExitCode {
    crash::install();
    crate::runtime::memory::give_back();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way, too, and are no mistakes.
            let _ = error.print();
            let mistake = if is_raw_call() { FAILED } else { USAGE };
            return ExitCode::from(if error.use_stderr() { mistake } else { 0 });
        }
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code)
        }
    }
}

/// Whether `labscope api` was meant, as far as the command line can be read. Its exit codes are a contract of their own.
fn is_raw_call() -> bool {
    let read = Cli::command().ignore_errors(true).try_get_matches();
    read.is_ok_and(|found| found.subcommand_name() == Some("api"))
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Some(path) = &cli.global.log {
        log_to(path)?;
    }
    let global = &cli.global;
    if let (Some(target), Some(_)) = (&cli.target, &cli.command) {
        return Err(Failure::usage(format!("\"{target}\" stands before a command; put it behind, or leave it out")));
    }
    match cli.command {
        None => open::run(global, cli.target.as_deref()),
        Some(Command::Demo { target }) => embedded_server::demo(global, target.as_deref()),
        Some(Command::Local { path, target }) => embedded_server::local(global, &path, target.as_deref()),
        Some(Command::Serve(serve)) => serve::run(serve),
        Some(Command::Api(api)) => api::run(global, &api),
        Some(Command::Auth { what }) => auth::run(global, what),
        Some(Command::Keys { markdown }) => keys::run(global, markdown),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "labscope", &mut text);
            print(&text)
        }
        Some(Command::Man) => manual::run(),
    }
}

/// The configuration that the options name.
fn configuration(global: &Global) -> Result<Config, Failure> {
    Config::load(global.config.as_deref()).map_err(Failure::usage)
}

/// Writes to the standard output.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// What runs everything that waits. Two threads are plenty: whatever computes runs on workers.
fn threads() -> Result<Runtime, Failure> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|e| Failure::failed(format!("no threads can be started: {e}")))
}

/// Sends what happens to a file that only its owner can read. `LABSCOPE_LOG` says how much, as `labscope=trace`.
fn log_to(path: &Path) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // What a link leads to is written to where that is no file: `/dev/stderr` is one.
    let file = if files::is_place(path) { options.open(path) } else { files::open(path, &options) };
    let file = file.map_err(|e| Failure::usage(format!("--log: {} cannot be written: {e}", path.display())))?;
    let filter = std::env::var("LABSCOPE_LOG").unwrap_or_else(|_| "labscope=debug".into());
    let filter = tracing_subscriber::EnvFilter::try_new(&filter)
        .map_err(|e| Failure::usage(format!("LABSCOPE_LOG: \"{filter}\" cannot be read: {e}")))?;
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Mutex::new(file)).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(Failure::failed)
}
