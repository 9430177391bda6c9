//! `labscope serve`: the local server alone, in the foreground, until it is told to end.

use super::args::Serve;
use super::failure::Failure;
use super::{print, threads};
use crate::backend::{self, Running, WorldKind};
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
        forget(path)?;
    }
    let options = backend::Options {
        listen: serve.listen,
        world: world(serve.world.as_deref(), !serve.repos.is_empty()),
        repos: serve.repos,
        data: serve.data,
        ..backend::Options::default()
    };
    let threads = threads()?;
    let ended = threads.block_on(async {
        // Listened for from the start: a signal that comes early ends it as cleanly as a later one.
        let mut signals = Signals::new()?;
        let running = tokio::select! {
            started = backend::start(options) => started.map_err(Failure::failed)?,
            () = end(&mut signals) => return Ok(()),
        };
        let announced = announce(&running, serve.ready_file.as_deref());
        if announced.is_ok() {
            end(&mut signals).await;
        }
        running.stop().await;
        announced
    });
    threads.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn end(signals: &mut Signals) {
    while !matches!(signals.next().await, Signal::End | Signal::Interrupt) {}
}

/// A file from an earlier run would tell a script that waits for it that this one is ready.
fn forget(path: &Path) -> Result<(), Failure> {
    // It is replaced by rename; a pipe or a device must not be.
    if files::is_place(path) {
        return Err(Failure::usage(format!("--ready-file: {} is there and no file", path.display())));
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::failed(format!("--ready-file: {} cannot be replaced: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

fn announce(running: &Running, ready_file: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = ready_file {
        let ready = json!({
            "base_url": running.base_url,
            "tokens": running.tokens,
            "license": running.license,
        });
        write_private(path, format!("{ready}\n").as_bytes())
            .map_err(|e| Failure::failed(format!("--ready-file: {} cannot be written: {e}", path.display())))?;
    }
    match print(format!("labscope serves {}\n", running.base_url).as_bytes()) {
        // Nobody reads along: that is no reason to stop serving.
        Err(Failure { code: 0, .. }) => Ok(()),
        other => other,
    }
}

fn world(name: Option<&str>, with_repositories: bool) -> WorldKind {
    match name {
        Some(name) => WorldKind::read(name),
        None if with_repositories => WorldKind::Empty,
        None => WorldKind::Demo,
    }
}
