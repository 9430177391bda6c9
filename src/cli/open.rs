//! `labscope [TARGET]`: the interface on a server.

use super::args::Global;
use super::connect::{self, Options, Secret};
use super::failure::Failure;
use super::interface::{self, Opening, Preferences};
use super::threads;
use crate::api::client::Server;
use crate::api::endpoint::encode;
use crate::app::pane::Session;
use crate::app::registry::{self, Thing};
use crate::app::{Place, target};
use crate::config::{Config, host, remote, token};
use crate::panes::PANES;
use std::time::Duration;
use url::Url;

/// What is said where nothing names a server.
const BEGIN: &str = "\
No server configured. To begin:
  labscope demo                     look around in a demo world, with no account and no network
  labscope --host git.example.com   open a server; LABSCOPE_HOST or `host` in the configuration do the same
  labscope auth login --host HOST   keep a token for it";

/// Opens the interface on the server that options, environment and configuration name.
pub fn run(global: &Global, text: Option<&str>) -> Result<(), Failure> {
    let manner = Preferences::read(global)?;
    let found = find(global, &manner.config, text)?;
    let place = place(&found, text)?;
    let var = |name: &str| std::env::var(name).ok();
    let token = token::seek(global.token_file.as_deref(), &var, &manner.config, &found.url).map_err(Failure::usage)?;
    interface::need_terminal()?;
    let config = &manner.config;
    let session = Session {
        server: host::short(&found.url),
        web_url: found.url.as_str().trim_end_matches('/').to_owned(),
        read_only: global.read_only,
        offline: global.offline,
        signed_in: token.is_some(),
        others: connect::others(config, &found.url),
        ..Session::default()
    };
    let drafts = drafts(&session.server);
    let secret = Secret::of(token, found.url.clone());
    let connection = connect::connection(&Options::of(global, config), found.url, secret);
    let (dial, open) = (connect::dial(global, config), connect::open(global, config, &session));
    let opening = Opening { session, place, connection, dial, open: Some(open), drafts };
    let threads = threads()?;
    let ended = interface::run(manner, opening, &threads);
    // A keyring that waits for a person must not hold up the end.
    threads.shutdown_timeout(Duration::from_secs(1));
    ended
}

/// The server; a target that is a web address of a server that is known names it, where nothing else does.
fn find(global: &Global, config: &Config, text: Option<&str>) -> Result<host::FoundHost, Failure> {
    let named = named_by_target(config, text.unwrap_or_default());
    match search(global, config)? {
        // What was said outright counts; the clone's server and the default give way to the target's.
        Some(found) if named.is_none() || is_explicit(global) => Ok(found),
        found => match named {
            Some(url) => Ok(host::FoundHost { url, project: None }),
            None => found.ok_or_else(|| Failure::usage(unknown(text).unwrap_or_else(|| BEGIN.to_owned()))),
        },
    }
}

/// What is said where a target is the address of a server that nobody told of.
fn unknown(text: Option<&str>) -> Option<String> {
    let url = Url::parse(text?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let origin = url.origin().ascii_serialization();
    Some(format!(
        "{origin} is no server that is known here. To open it:\n  labscope --host {origin} {url}\n\
         Sign in once with labscope auth login --host {origin}, and it is known from then on."
    ))
}

fn is_explicit(global: &Global) -> bool {
    let set = |name: &str| std::env::var(name).is_ok_and(|v| !v.trim().is_empty());
    global.host.is_some() || set("LABSCOPE_HOST") || set("GITLAB_HOST")
}

fn named_by_target(config: &Config, text: &str) -> Option<Url> {
    if !text.contains("://") {
        return None;
    }
    host::known(config).into_iter().find(|url| target::below(text, url.as_str()).is_some())
}

/// The server of the surroundings; `None` where nothing names one.
pub fn search(global: &Global, config: &Config) -> Result<Option<host::FoundHost>, Failure> {
    let remotes = std::env::current_dir().map(|folder| remote::Remote::all(&folder)).unwrap_or_default();
    let var = |name: &str| std::env::var(name).ok();
    let places = host::Places { option: global.host.as_deref(), var: &var, config, remotes };
    host::find(&places).map_err(Failure::usage)
}

/// The same, for commands that cannot do without.
pub fn need(global: &Global, config: &Config) -> Result<host::FoundHost, Failure> {
    search(global, config)?.ok_or_else(|| Failure::usage(BEGIN))
}

/// How to speak to the server at `url`, and what its token came from.
pub fn server(global: &Global, config: &Config, url: &Url) -> Result<(Server, Option<String>), Failure> {
    let var = |name: &str| std::env::var(name).ok();
    let token = token::find(global.token_file.as_deref(), &var, config, url).map_err(Failure::usage)?;
    let mut server = Server::new(url.clone());
    server.oauth = token.as_ref().is_some_and(|token| token.oauth);
    let (secret, origin) = token.map_or((None, None), |token| (Some(token.secret), Some(token.origin)));
    server.token = secret;
    server.ca_cert = global.ca_cert.clone();
    server.read_only = global.read_only;
    Ok((server, origin))
}

/// Where to begin: the target, else the project of the clone, else all projects.
fn place(found: &host::FoundHost, text: Option<&str>) -> Result<Place, Failure> {
    match (text, &found.project) {
        (Some(text), _) => target::parse(PANES, text, found.url.as_str()).map_err(Failure::usage),
        (None, Some(project)) => Ok(registry::place_of(PANES, Thing::Project).project(project.as_str())),
        (None, None) => Ok(registry::root(PANES)),
    }
}

/// Where texts typed for a server are kept until it has them.
pub fn drafts(server: &str) -> Option<std::path::PathBuf> {
    dirs::data_local_dir().map(|folder| folder.join("labscope/drafts").join(encode(server)))
}
