//! `labscope auth`: stores the token for a server, shows which one is used, and removes it.

mod device;
pub mod identity;
pub mod input;

use super::args::{AuthCommand, Global};
use super::failure::Failure;
use super::{async_runtime, cache, load_config, server, write_stdout};
use crate::api::client::{Client, Server};
use crate::config::host::KnownServer;
use crate::config::token::StoredToken;
use crate::config::{Config, token};
use crate::runtime::open::browser;
use crate::ui::text::sanitize;
use jiff::Timestamp;
use secrecy::SecretString;
use std::io::{self, IsTerminal, Write};
use url::Url;

/// The note about an unverified token under `--offline`.
const UNVERIFIED: &str = "It was not verified because of --offline.";

/// Runs one of the subcommands.
pub fn run(global: &Global, command: AuthCommand) -> Result<(), Failure> {
    let config = load_config(global)?;
    let server = server::require(global, &config)?.server;
    match command {
        AuthCommand::Login { device: true } => login_device(global, &config, &server),
        AuthCommand::Login { device: false } => login(global, &config, &server),
        AuthCommand::Status => status(global, &config, &server),
        AuthCommand::Logout => logout(&config, &server),
    }
}

fn login(global: &Global, config: &Config, server: &KnownServer) -> Result<(), Failure> {
    let name = server.host().name().to_owned();
    let is_interactive = io::stdin().is_terminal();
    if is_interactive {
        show_token_page(global, config, server)?;
    }
    let (text, username) = loop {
        let text = input::read_token(&name)?;
        let text = text.trim();
        match verify_token(global, config, server, text) {
            Ok(username) => break (text.to_owned(), username),
            // The user can try again after a typo, or cancel.
            Err(failure) if is_interactive => failure.report(),
            Err(failure) => return Err(failure),
        }
    };
    let location_message = store(config, server, &text)?;
    let message = match username {
        Some(username) => format!("Signed in to {name} as {username}.\n{location_message}\n"),
        None => format!("Stored the token for {name}. {UNVERIFIED}\n{location_message}\n"),
    };
    write_stdout(message.as_bytes())
}

/// Returns the username of the token's owner, according to the server; `None` under `--offline`.
fn verify_token(
    global: &Global,
    config: &Config,
    server: &KnownServer,
    token: &str,
) -> Result<Option<String>, Failure> {
    if token.is_empty() {
        return Err(Failure::failed("no token given; nothing was stored"));
    }
    if global.offline {
        return Ok(None);
    }
    let token = Some(SecretString::from(token.to_owned()));
    let server = Server { token, ..server::anonymous(global, config, server) };
    Ok(Some(async_runtime()?.block_on(async { identity::username(&Client::new(server)?).await })?))
}

fn login_device(global: &Global, config: &Config, server: &KnownServer) -> Result<(), Failure> {
    if global.offline {
        return Err(Failure::usage("--device needs the server; leave out --offline"));
    }
    let Some(client_id) = config.client_id(server) else { return Err(Failure::usage(device::no_client(server))) };
    // Signing in changes nothing else, so it is allowed with --read-only.
    let anonymous = Server { read_only: false, ..server::anonymous(global, config, server) };
    let (sign_in, username) = async_runtime()?.block_on(device::sign_in(client_id, anonymous))?;
    let location_message = store(config, server, &sign_in.to_text())?;
    write_stdout(format!("Signed in to {} as {username}.\n{location_message}\n", server.host().name()).as_bytes())
}

/// Stores a token, and returns a message that says where.
fn store(config: &Config, server: &KnownServer, text: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("cannot store the token: {error}"));
    let _lock = token::lock(config).map_err(failed)?;
    Ok(match token::store(config, server, text).map_err(failed)? {
        StoredToken::Keyring => "The token is stored in the system keyring.".to_owned(),
        StoredToken::File(path, why) => format!(
            "The token is stored in {}, which only you can read. The keyring was not used: {why}.",
            sanitize(&path.to_string_lossy())
        ),
    })
}

/// Prints the URL of the page that creates a token, and opens it in the browser.
fn show_token_page(global: &Global, config: &Config, server: &KnownServer) -> Result<(), Failure> {
    if global.offline {
        return announce(&identity::current_token_page(&server.url));
    }
    async_runtime()?.block_on(async {
        let page = identity::token_page(server::anonymous(global, config, server)).await?;
        announce(&page)?;
        // The URL was printed above, in case no browser can be opened.
        let _ = browser(page.as_str()).await;
        Ok(())
    })
}

fn announce(page: &Url) -> Result<(), Failure> {
    Ok(writeln!(io::stderr(), "Create a token with the scope api on this page, and paste it here:\n  {page}")?)
}

fn status(global: &Global, config: &Config, server: &KnownServer) -> Result<(), Failure> {
    let host = server.host();
    let name = host.name();
    let withheld = server::withheld(global, config, server);
    let option = server.option();
    let (server, origin) = server::server(global, config, server)?;
    let Some(origin) = origin else {
        let none = || format!("no token for {name}; sign in with labscope auth login --host {option}");
        return Err(Failure::failed(withheld.unwrap_or_else(none)));
    };
    if global.offline {
        return write_stdout(format!("Found a token for {name} (from {origin}). {UNVERIFIED}\n").as_bytes());
    }
    let (username, facts) = async_runtime()?.block_on(async {
        let client = Client::new(server)?;
        Ok::<_, Failure>((identity::username(&client).await?, identity::describe(&client, Timestamp::now()).await))
    })?;
    write_stdout(format!("Signed in to {name} as {username} (token from {origin}).\n{facts}").as_bytes())
}

fn logout(config: &Config, server: &KnownServer) -> Result<(), Failure> {
    let host = server.host();
    let name = host.name();
    // If there is no folder to lock, nothing is stored in it either.
    let _lock = token::lock(config).ok();
    let removed = token::remove(config, server);
    if !removed.map_err(|e| Failure::failed(format!("cannot remove the token: {e}")))? {
        return Err(Failure::failed(format!("no token is stored for {name}")));
    }
    cache::remove_server(&server.key())
        .map_err(|e| Failure::failed(format!("removed the token for {name}, but not the kept replies: {e}")))?;
    let words = format!(
        "Removed the token for {name} and the replies kept here. The token stays valid on the server until you revoke it \
         there.\n"
    );
    write_stdout(words.as_bytes())
}
