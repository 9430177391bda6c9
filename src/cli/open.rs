//! `labscope [TARGET]` and `labscope mr`: opens the interface on a server.

use super::args::Global;
use super::connect::{self, LazyToken, Options};
use super::failure::Failure;
use super::interface::{self, Preferences, UiOptions};
use super::{async_runtime, server, welcome};
use crate::api::host::without_password;
use crate::app::clone::{CloneFolder, CloneRemote, PushAddress};
use crate::app::place_info::{self, Subject};
use crate::app::registry::places;
use crate::app::session::Session;
use crate::app::{Place, target};
use crate::config::host::KnownServer;
use crate::config::project_file::ProjectFile;
use crate::config::{Config, host, project_file, remote, token};
use crate::panes::{PANES, branch};
use std::io::{self, IsTerminal};
use std::time::Duration;
use url::Url;

/// The maximum number of ignored keys that are named.
const MAX_IGNORED: usize = 8;

/// The place that the interface opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened<'a> {
    /// The place that a target names; without one, the project of the clone, or Home.
    Target(Option<&'a str>),
    /// The merge request of the branch that is checked out in the clone.
    ThisBranch,
}

/// Opens the interface on the server that the options, the environment or the configuration select.
pub fn run(global: &Global, opened: Opened) -> Result<(), Failure> {
    let (text, of_branch) = match opened {
        Opened::Target(text) => (text, false),
        Opened::ThisBranch => (None, true),
    };
    let mut preferences = Preferences::read(global)?;
    let found = match find(global, &preferences.config, text)? {
        Some(found) => found,
        None if !of_branch && text.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal() => {
            return welcome::run(global, &preferences);
        }
        None => return Err(Failure::usage(unknown_server(text).unwrap_or_else(server::no_server))),
    };
    let clone = server::clone();
    let folder = clone_folder(&preferences.config, &found.server, clone.as_ref().cloned().unwrap_or_default());
    let ignored = match project_file(folder.as_ref()) {
        Ok(Some(shared)) => {
            let ignored = ignored_words(&shared.ignored);
            preferences.share(shared)?;
            ignored
        }
        Ok(None) => None,
        Err(why) => Some(why),
    };
    let config = &preferences.config;
    let token = token::locate(&server::token_sources(global, config), &found.server).map_err(Failure::usage)?;
    let place = match of_branch {
        true if folder.is_none() => return Err(Failure::usage(no_clone(clone, found.server.host().name()))),
        true => place_info::place_of(&places(PANES), Subject::Branch).item(branch::NEW),
        false => place(&found, text, token.is_some())?,
    };
    interface::require_terminal()?;
    let session = Session {
        server: found.server.host().name().to_owned(),
        web_url: found.server.host().web_url().to_owned(),
        account: found.server.account.clone(),
        read_only: global.read_only,
        offline: global.offline,
        signed_in: token.is_some(),
        others: connect::others(config, &found.server),
        clone: folder,
        ..Session::default()
    };
    let drafts = server::drafts_folder(&session.server);
    let warning = server::withheld(global, config, &found.server);
    let warning =
        warning.or(clone.err().map(|why| format!("The clone in this folder was not read: {why}"))).or(ignored);
    let secret = LazyToken::new(token, found.server.clone());
    let connection = connect::connection(&Options::new(global, config), found.server, secret);
    let (dial, open) = (connect::server_dialer(global, config), connect::server_opener(global, config, &session));
    let ui_options =
        UiOptions { session, place, connection, dial, open: Some(open), drafts, warning, starts_tour: false };
    let runtime = async_runtime()?;
    let ended = interface::run(preferences, ui_options, &runtime);
    // A keyring that waits for the user must not delay the exit.
    runtime.shutdown_timeout(Duration::from_millis(200));
    ended
}

/// Finds the server. A target that is a URL on a known server selects that server, unless an option or variable selects
/// another.
pub fn find(global: &Global, config: &Config, text: Option<&str>) -> Result<Option<host::FoundHost>, Failure> {
    let named = named_by_target(config, text.unwrap_or_default());
    match server::search(global, config)? {
        // An explicitly selected server takes precedence; the server of the clone and the default do not.
        Some(found) if named.is_none() || is_explicit(global) => Ok(Some(found)),
        found => match named {
            Some(server) => Ok(Some(host::FoundHost { server, origin: "the target".to_owned(), project: None })),
            None => Ok(found),
        },
    }
}

/// Explains why the current folder has no branch with a merge request on a server.
fn no_clone(clone: Result<remote::LocalClone, String>, server: &str) -> String {
    let clone = match clone {
        Ok(clone) => clone,
        Err(why) => return format!("the clone in this folder was not read: {why}"),
    };
    match (clone.remotes.as_slice(), clone.work_tree) {
        ([], None) => "labscope mr opens the merge request of a branch: run it in a git clone".to_owned(),
        ([], Some(_)) => format!("this clone has no remote; add one on {server} with git remote add"),
        (_, None) => "this clone has no working tree, so no branch is checked out".to_owned(),
        ([first, ..], Some(_)) => format!(
            "no remote of this clone is on {server}: {} is on {}. Name its server with --host, or sign in to it with \
            labscope auth login",
            first.name,
            first.host_words()
        ),
    }
}

/// Returns the error message for a target that is a URL on an unknown server.
pub fn unknown_server(text: Option<&str>) -> Option<String> {
    let url = Url::parse(text?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let origin = url.origin().ascii_serialization();
    Some(format!(
        "unknown server {origin}. To open it:\n  labscope --host {origin} {url}\n\
        Or sign in once with labscope auth login --host {origin}; labscope then remembers it."
    ))
}

fn is_explicit(global: &Global) -> bool {
    let set = |name: &str| server::var(name).is_some_and(|text| !text.trim().is_empty());
    global.host.is_some() || set("LABSCOPE_HOST") || set("GITLAB_HOST")
}

fn named_by_target(config: &Config, text: &str) -> Option<KnownServer> {
    if !text.contains("://") {
        return None;
    }
    host::known(config).into_iter().find(|server| target::below(text, server.url.as_str()).is_some())
}

/// Returns the clone that contains the current folder, if it has remotes on the server.
pub fn clone_folder(config: &Config, server: &KnownServer, clone: remote::LocalClone) -> Option<CloneFolder> {
    let ssh_hosts = config.ssh_hosts(server);
    let on_server = |remote: remote::Remote| {
        let project = remote.project_on(&server.url, &ssh_hosts)?;
        let pushed_to = match remote.pushed_to.as_slice() {
            [] => None,
            [other] => Some(match other.project_on(&server.url, &ssh_hosts) {
                Some(project) => Ok(PushAddress { url: other.url.clone(), project }),
                None => Err(format!(
                    "git pushes {} to {}, which is not on {}",
                    remote.name,
                    without_password(&other.url),
                    server.host().name()
                )),
            }),
            several => Some(Err(format!("git pushes {} to {} addresses", remote.name, several.len()))),
        };
        Some(CloneRemote { name: remote.name, url: remote.url, project, pushed_to })
    };
    let remotes: Vec<_> = clone.remotes.into_iter().filter_map(on_server).collect();
    let folder = clone.work_tree.filter(|_| !remotes.is_empty())?;
    Some(CloneFolder { folder, remotes, ..CloneFolder::default() })
}

/// Reads the file that the project of a clone shares.
///
/// # Errors
/// Returns a message if the file is ignored.
pub fn project_file(clone: Option<&CloneFolder>) -> Result<Option<ProjectFile>, String> {
    let Some((clone, remote)) = clone.and_then(|clone| Some((clone, clone.remotes.first()?))) else { return Ok(None) };
    ProjectFile::read(&clone.folder, &remote.project)
}

/// Names what is ignored of the file of a project; `None` if that is nothing.
pub fn ignored_words(ignored: &[String]) -> Option<String> {
    let (named, more) = ignored.split_at(ignored.len().min(MAX_IGNORED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let words = format!("Ignored in {}: {}{more}", project_file::NAME, named.join(", "));
    (!ignored.is_empty()).then_some(words)
}

/// Returns the initial place: the target, else the project of the clone, else Home, or the list of all projects if
/// there is no token.
fn place(found: &host::FoundHost, text: Option<&str>, signed_in: bool) -> Result<Place, Failure> {
    let places = places(PANES);
    match (text, &found.project) {
        (Some(text), _) => target::parse(&places, text, found.server.url.as_str()).map_err(Failure::usage),
        (None, Some(project)) => Ok(place_info::place_of(&places, Subject::Project).project(project.as_str())),
        (None, None) if signed_in => Ok(place_info::place_of(&places, Subject::Home)),
        (None, None) => Ok(place_info::root(&places)),
    }
}
