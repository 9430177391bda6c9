//! `labscope demo` and `labscope local`: run the interface against a local server in the same process.

use super::args::Global;
use super::failure::Failure;
use super::interface::{self, Preferences, UiOptions};
use super::{async_runtime, connect, server};
use crate::api;
use crate::api::Fault;
use crate::api::client::{Client, Server};
use crate::app::place_info::{self, Subject};
use crate::app::registry::places;
use crate::app::session::Session;
use crate::app::tour::TourStep;
use crate::app::{Place, target};
use crate::backend::{self, RunningServer, StartError, WorldKind};
use crate::config::address;
use crate::panes::PANES;
use crate::parts::tour;
use crate::runtime::connections::{self, Connection};
use secrecy::SecretString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// The address of the local server: a free port on the loopback interface.
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A local server, and the place to open on it.
struct Launch {
    /// The display name of the server.
    name: &'static str,
    options: backend::Options,
    /// The user who signs in; the default user of the world if `None`.
    user: Option<String>,
    /// The initial place.
    place: Place,
    drafts: Option<PathBuf>,
    tour: &'static [TourStep],
    /// Whether the tour starts at once.
    starts_tour: bool,
}

/// Opens the interface on the demo data.
pub fn demo(global: &Global, text: Option<&str>, user: Option<&str>, starts_tour: bool) -> Result<(), Failure> {
    if let Some(user) = user {
        let all = backend::demo_users().map_err(Failure::failed)?;
        if !all.iter().any(|known| known == user) {
            return Err(Failure::usage(format!("--as: the demo has no user \"{user}\"; it has {}", all.join(", "))));
        }
    }
    let listener = listen()?;
    let web_url = web_url(&listener)?;
    let places = places(PANES);
    let place = match text {
        Some(text) => target::parse(&places, text, &web_url).map_err(Failure::usage)?,
        None => place_info::place_of(&places, Subject::Home),
    };
    let options = backend::Options { world: WorldKind::Demo, ..backend::Options::default() };
    let (user, tour) = (user.map(str::to_owned), tour::DEMO);
    run(global, listener, web_url, Launch { name: "demo", options, user, place, drafts: None, tour, starts_tour })
}

/// Opens the interface on a git repository.
pub fn local(global: &Global, path: &Path, text: Option<&str>) -> Result<(), Failure> {
    // Checked before the interface opens, so that the error is printed to the shell.
    let project = backend::local_project(path).map_err(Failure::failed)?;
    let listener = listen()?;
    let web_url = web_url(&listener)?;
    let places = places(PANES);
    let place = match text {
        Some(text) => target::parse(&places, &within(&project, text), &web_url).map_err(Failure::usage)?,
        None => place_info::place_of(&places, Subject::Project).project(project.as_str()),
    };
    let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let drafts = server::drafts_folder(&full.to_string_lossy());
    let options = backend::Options {
        world: WorldKind::Empty,
        repos: vec![path.to_path_buf()],
        identity: backend::local_identity(path),
        ..backend::Options::default()
    };
    let (tour, starts_tour) = (&[], false);
    run(global, listener, web_url, Launch { name: "local", options, user: None, place, drafts, tour, starts_tour })
}

/// Prefixes a target that begins after the project's path, such as `@main` or `-/commits`, with the path of the only
/// project.
fn within(project: &str, text: &str) -> String {
    match text.chars().next() {
        Some('@' | '!' | '$' | '#') => format!("{project}{text}"),
        Some('-') if text.starts_with("-/") => format!("{project}/{text}"),
        _ => text.to_owned(),
    }
}

fn listen() -> Result<TcpListener, Failure> {
    backend::listen(LOOPBACK).map_err(Failure::failed)
}

fn web_url(listener: &TcpListener) -> Result<String, Failure> {
    Ok(format!("http://{}", listener.local_addr()?))
}

fn run(global: &Global, listener: TcpListener, web_url: String, launch: Launch) -> Result<(), Failure> {
    let preferences = Preferences::read(global)?;
    interface::require_terminal()?;
    let runtime = async_runtime()?;
    let session = Session {
        server: launch.name.to_owned(),
        web_url: web_url.clone(),
        // What is changed in the copy of a repository ends with the server.
        read_only: global.read_only || launch.name == "local",
        offline: global.offline,
        signed_in: true,
        tour: launch.tour,
        ..Session::default()
    };
    // The server starts with the first request, after the first frame. It is stored here, so that it can be stopped
    // when the interface ends.
    let slot: Arc<Mutex<Option<RunningServer>>> = Arc::default();
    let (options, user) = (launch.options, launch.user);
    let start = ServerStart { listener, options, user, slot: slot.clone(), read_only: global.read_only };
    let handle = runtime.handle().clone();
    // With --offline, only creating the client fails; everything else is the same.
    let offline = global.offline.then(|| connect::offline(&web_url));
    let client = move || offline.map_or_else(|| start.client(&handle), Err);
    let ui_options = UiOptions {
        session,
        place: launch.place,
        connection: Connection::new(Box::new(client), None),
        // The settings for other servers do not apply to the local server.
        dial: connections::no_other_servers(),
        open: None,
        drafts: launch.drafts,
        warning: None,
        starts_tour: launch.starts_tour,
    };
    let ended = interface::run(preferences, ui_options, &runtime);
    let running = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(running) = running {
        runtime.block_on(running.stop());
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

/// The data for starting the server and creating its client.
struct ServerStart {
    listener: TcpListener,
    options: backend::Options,
    user: Option<String>,
    slot: Arc<Mutex<Option<RunningServer>>>,
    read_only: bool,
}

impl ServerStart {
    /// Starts the server and returns its client. Blocks until the server responds, so it runs on a worker thread.
    fn client(self, handle: &Handle) -> Result<Client, api::Error> {
        // The lock is held during the start, so that stopping waits for it and nothing is left behind.
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |why: String| api::Error { tried: "start the local server".into(), fault: Fault::Offline(why) };
        let running = handle
            .block_on(backend::start_on(self.listener, self.options))
            .map_err(|error: StartError| failed(error.to_string()))?;
        let mut server = Server::new(address::parse_address(&running.base_url).map_err(failed)?);
        let token = match &self.user {
            Some(user) => running.tokens.get(user).ok_or_else(|| failed(format!("{user} cannot sign in")))?,
            None => running.token(),
        };
        server.token = Some(SecretString::from(token.to_owned()));
        server.read_only = self.read_only;
        *slot = Some(running);
        drop(slot);
        Client::new(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_targets_may_omit_the_project() {
        for (text, whole) in [
            ("@main:src/a.rs:3", "local/web@main:src/a.rs:3"),
            ("!1", "local/web!1"),
            ("-/commits", "local/web/-/commits"),
            ("local/web@main", "local/web@main"),
        ] {
            assert_eq!(within("local/web", text), whole);
        }
    }
}
