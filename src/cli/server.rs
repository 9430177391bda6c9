//! Selects the server of a command: its URL, its token, and the folder of its drafts.

use super::args::Global;
use super::failure::Failure;
use super::renewal;
use crate::api::client::{Server, TlsFiles};
use crate::api::endpoint::encode;
use crate::config::host::KnownServer;
use crate::config::token::Token;
use crate::config::token_source::Source;
use crate::config::{Config, host, remote, token};
pub use crate::runtime::terminal::environment as var;
use crate::system::ssh;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Returns the message if no server is configured; `host` is the server that the clone seems to be from.
fn getting_started(host: Option<&str>) -> String {
    let (host, server) =
        host.map_or(("HOST", "a server such as git.example.com"), |host| (host, "the server of this clone"));
    let ways = [
        ("labscope demo".to_owned(), "explore demo data, without an account or a network".to_owned()),
        ("labscope local".to_owned(), "browse the git repository of this folder".to_owned()),
        (format!("labscope auth login --host {host}"), format!("sign in to {server}; labscope then remembers it")),
        (format!("labscope --host {host}"), "open a server without signing in".to_owned()),
    ];
    let width = ways.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let ways: String = ways.iter().map(|(command, about)| format!("  {command:width$}   {about}\n")).collect();
    format!(
        "No server configured. To get started:\n\n{ways}\nLABSCOPE_HOST, or `host` in the configuration, sets the server \
         permanently. labscope --help lists everything."
    )
}

/// Finds the server from options, environment, git remotes and configuration; returns `None` if none of them specifies
/// one.
///
/// # Errors
/// Returns a failure that names an invalid server.
pub fn search(global: &Global, config: &Config) -> Result<Option<host::FoundHost>, Failure> {
    let remotes = clone().unwrap_or_default().remotes;
    let sources = host::HostSources { option: global.host.as_deref(), var: &var, config, remotes };
    host::find(&sources).map_err(Failure::usage)
}

/// Reads the clone that contains the current folder, once.
///
/// # Errors
/// Returns a message if it cannot be read.
pub fn clone() -> Result<remote::LocalClone, String> {
    static CLONE: OnceLock<Result<remote::LocalClone, String>> = OnceLock::new();
    let read = |folder: PathBuf| remote::LocalClone::read(&folder).map(|clone| clone.with_aliases(ssh::host_name));
    CLONE.get_or_init(|| std::env::current_dir().map_or_else(|_| Ok(remote::LocalClone::default()), read)).clone()
}

/// Returns the host of a remote of the clone, as `--host` takes it.
pub fn clone_host() -> Option<String> {
    clone().ok()?.host_option()
}

/// Returns the message if no server was found; a clone that could not be read may be the reason.
pub fn no_server() -> String {
    match clone() {
        Ok(_) => getting_started(clone_host().as_deref()),
        Err(why) => format!("the clone in this folder was not read: {why}\n{}", getting_started(None)),
    }
}

/// Finds the server like [`search`], but fails if there is none.
///
/// # Errors
/// Returns a failure if there is no server, or if it is invalid.
pub fn require(global: &Global, config: &Config) -> Result<host::FoundHost, Failure> {
    search(global, config)?.ok_or_else(|| Failure::usage(no_server()))
}

/// Returns the sources of the token for the server that the options select.
pub fn token_sources<'a>(global: &'a Global, config: &'a Config) -> token::TokenSources<'a> {
    token::TokenSources { option: global.token_file.as_deref(), is_named: global.host.is_some(), var: &var, config }
}

/// Returns a message if the environment has a token for another server, and this server has none.
pub fn withheld(global: &Global, config: &Config, server: &KnownServer) -> Option<String> {
    match token::source(&token_sources(global, config), server) {
        Source::Nothing(Some(withheld)) => Some(withheld.message(server)),
        _ => None,
    }
}

/// Returns a server without its token.
pub fn anonymous(global: &Global, config: &Config, server: &KnownServer) -> Server {
    let tls = config.tls(server);
    let tls = TlsFiles { ca_cert: global.ca_cert.clone().or(tls.ca_cert), ..tls };
    Server { tls, read_only: global.read_only, ..Server::new(server.url.clone()) }
}

/// Returns a server with its token, and the source of the token.
///
/// # Errors
/// Returns a failure if a token file or the keyring cannot be read.
pub fn server(global: &Global, config: &Config, server: &KnownServer) -> Result<(Server, Option<String>), Failure> {
    let token = token::find(&token_sources(global, config), server).map_err(Failure::usage)?;
    let origin = token.as_ref().map(|token| token.origin.clone());
    Ok((with_token(config, server, anonymous(global, config, server), token), origin))
}

/// Returns `anonymous` with a token.
pub fn with_token(config: &Config, server: &KnownServer, anonymous: Server, token: Option<Token>) -> Server {
    let Some(token) = token else { return anonymous };
    let renewal = token.sign_in.map(|sign_in| renewal::renewed_tokens(config, server, anonymous.clone(), sign_in));
    Server { token: Some(token.secret), oauth: token.oauth, renewal, ..anonymous }
}

/// Returns the folder for the drafts of a server.
pub fn drafts_folder(server: &str) -> Option<PathBuf> {
    dirs::data_local_dir().map(|folder| folder.join("labscope/drafts").join(encode(server)))
}
