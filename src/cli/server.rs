//! Selects the server of a command: its URL, its token, and the folder of its drafts.

use super::args::Global;
use super::failure::Failure;
use super::renewal;
use crate::api::client::Server;
use crate::api::endpoint::encode;
use crate::config::host::KnownServer;
use crate::config::token::Token;
use crate::config::token_source::Source;
use crate::config::{Config, host, remote, token};
use std::path::PathBuf;

/// The message if no server is configured.
pub const NO_SERVER: &str = "\
No server configured. To get started:

  labscope demo                     explore demo data, without an account or a network
  labscope local                    browse the git repository of this folder
  labscope auth login --host HOST   sign in to a server such as git.example.com; labscope then remembers it
  labscope --host HOST              open a server without signing in

LABSCOPE_HOST, or `host` in the configuration, sets the server permanently. labscope --help lists everything.";

/// Finds the server from options, environment, git remotes and configuration; returns `None` if none of them specifies
/// one.
///
/// # Errors
/// Returns a failure that names an invalid server.
pub fn search(global: &Global, config: &Config) -> Result<Option<host::FoundHost>, Failure> {
    let remotes = std::env::current_dir().map(|folder| remote::Remote::all(&folder)).unwrap_or_default();
    let sources = host::Sources { option: global.host.as_deref(), var: &var, config, remotes };
    host::find(&sources).map_err(Failure::usage)
}

/// Finds the server like [`search`], but fails if there is none.
///
/// # Errors
/// Returns a failure if there is no server, or if it is invalid.
pub fn require(global: &Global, config: &Config) -> Result<host::FoundHost, Failure> {
    search(global, config)?.ok_or_else(|| Failure::usage(NO_SERVER))
}

/// Returns the value of an environment variable.
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the sources of the token for the server that the options select.
pub fn token_sources<'a>(global: &'a Global, config: &'a Config) -> token::Sources<'a> {
    token::Sources { option: global.token_file.as_deref(), is_named: global.host.is_some(), var: &var, config }
}

/// Returns a message if the environment has a token for another server, and this server has none.
pub fn withheld(global: &Global, config: &Config, server: &KnownServer) -> Option<String> {
    match token::source(&token_sources(global, config), server) {
        Source::Nothing(Some(withheld)) => Some(withheld.message(server)),
        _ => None,
    }
}

/// Returns a server without its token.
pub fn anonymous(global: &Global, server: &KnownServer) -> Server {
    Server { ca_cert: global.ca_cert.clone(), read_only: global.read_only, ..Server::new(server.url.clone()) }
}

/// Returns a server with its token, and the source of the token.
///
/// # Errors
/// Returns a failure if a token file or the keyring cannot be read.
pub fn server(global: &Global, config: &Config, server: &KnownServer) -> Result<(Server, Option<String>), Failure> {
    let token = token::find(&token_sources(global, config), server).map_err(Failure::usage)?;
    let origin = token.as_ref().map(|token| token.origin.clone());
    Ok((with_token(config, server, anonymous(global, server), token), origin))
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
