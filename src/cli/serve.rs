//! `labscope serve`: runs only the local server, in the foreground.

use super::args::Serve;
use super::failure::Failure;
use super::{async_runtime, write_stdout};
use crate::backend::{self, Failures, Modes, RunningServer, WorldKind};
use crate::config::token::write_private;
use crate::runtime::signals::{Signal, Signals};
use crate::system::files;
use serde_json::json;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Runs the server until SIGINT or SIGTERM.
pub fn run(serve: Serve) -> Result<(), Failure> {
    if let Some(path) = &serve.ready_file {
        remove_ready_file(path)?;
    }
    let options = backend::Options {
        listen: serve.listen,
        world: world(serve.world.as_deref(), !serve.repos.is_empty()),
        repos: serve.repos,
        data: serve.data,
        modes: Modes {
            version: serve.api,
            has_ranges: serve.range,
            has_totals: !serve.no_totals,
            rate_limit: serve.rate_limit,
            diff_limit: serve.diff_limit,
            forgets_heads: serve.forget_heads,
            latency: Duration::from_millis(serve.latency.into()),
            failures: serve.fail.map(|rate| Failures { rate, seed: serve.seed }),
        },
        ..backend::Options::default()
    };
    let runtime = async_runtime()?;
    let ended = runtime.block_on(async {
        // Signals are handled from the start, so that an early signal also stops the server cleanly.
        let mut signals = Signals::new()?;
        let running = tokio::select! {
            started = backend::start(options) => started.map_err(Failure::failed)?,
            () = wait_for_end(&mut signals) => return Ok(()),
        };
        let announced = announce(&running, serve.ready_file.as_deref());
        if announced.is_ok() {
            wait_for_end(&mut signals).await;
        }
        running.stop().await;
        announced
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn wait_for_end(signals: &mut Signals) {
    while !matches!(signals.next().await, Signal::End | Signal::Interrupt) {}
}

/// Removes the ready file of a previous run, which would tell a waiting script that this server is ready.
fn remove_ready_file(path: &Path) -> Result<(), Failure> {
    // The file is replaced by a rename, which must not happen to a pipe or a device.
    if files::is_special(path) {
        return Err(Failure::usage(format!("--ready-file: {} exists and is not a regular file", path.display())));
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::failed(format!("--ready-file: {} cannot be replaced: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

fn announce(running: &RunningServer, ready_file: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = ready_file {
        let ready = json!({
            "base_url": running.base_url,
            "tokens": running.tokens,
            "license": running.license,
        });
        write_private(path, format!("{ready}\n").as_bytes())
            .map_err(|e| Failure::failed(format!("--ready-file: {} cannot be written: {e}", path.display())))?;
    }
    match write_stdout(format!("labscope serves {}\n", running.base_url).as_bytes()) {
        // The server keeps running if standard output is closed.
        Err(Failure { code: 0, .. }) => Ok(()),
        other => other,
    }
}

fn world(name: Option<&str>, with_repositories: bool) -> WorldKind {
    match name {
        Some(name) => WorldKind::parse(name),
        None if with_repositories => WorldKind::Empty,
        None => WorldKind::Demo,
    }
}
