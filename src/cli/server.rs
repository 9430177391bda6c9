//! Selects the server of a command: its URL, its token, and the folder of its drafts.

use super::args::Global;
use super::failure::Failure;
use super::renewal;
use crate::api::client::Server;
use crate::api::endpoint::encode;
use crate::config::{Config, host, remote, token};
use std::path::PathBuf;
use url::Url;

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
    let var = |name: &str| std::env::var(name).ok();
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

/// Returns the server at `url` with its token, and the source of the token.
///
/// # Errors
/// Returns a failure if a token file or the keyring cannot be read.
pub fn server(global: &Global, config: &Config, url: &Url) -> Result<(Server, Option<String>), Failure> {
    let var = |name: &str| std::env::var(name).ok();
    let token = token::find(global.token_file.as_deref(), &var, config, url).map_err(Failure::usage)?;
    let mut server = Server::new(url.clone());
    server.oauth = token.as_ref().is_some_and(|token| token.oauth);
    let sign_in = token.as_ref().and_then(|token| token.sign_in.clone());
    server.renewal = sign_in.map(|sign_in| renewal::renewed_tokens(config, url, global.ca_cert.clone(), sign_in));
    let (secret, origin) = token.map_or((None, None), |token| (Some(token.secret), Some(token.origin)));
    server.token = secret;
    server.ca_cert = global.ca_cert.clone();
    server.read_only = global.read_only;
    Ok((server, origin))
}

/// Returns the folder for the drafts of a server.
pub fn drafts_folder(server: &str) -> Option<PathBuf> {
    dirs::data_local_dir().map(|folder| folder.join("labscope/drafts").join(encode(server)))
}
