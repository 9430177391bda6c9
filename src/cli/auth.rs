//! `labscope auth`: stores the token for a server, shows which one is used, and removes it.

use super::args::{Auth, Global};
use super::failure::Failure;
use super::{configuration, open, print, threads};
use crate::api::client::{Client, Server};
use crate::api::users::GetCurrentUser;
use crate::config::token::StoredToken;
use crate::config::{Config, host, token};
use crate::ui::text::sanitize;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use secrecy::SecretString;
use std::io::{self, IsTerminal, Write};
use url::Url;

/// The note about a token under `--offline`.
const UNTRIED: &str = "It was not verified because of --offline.";

/// Runs one of the subcommands.
pub fn run(global: &Global, what: Auth) -> Result<(), Failure> {
    let config = configuration(global)?;
    let url = open::require(global, &config)?.url;
    match what {
        Auth::Login => login(global, &config, &url),
        Auth::Status => status(global, &config, &url),
        Auth::Logout => logout(&config, &url),
    }
}

fn login(global: &Global, config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::display_name(url);
    let text = read_token(&name)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::failed("no token given; nothing was stored"));
    }
    let secret = SecretString::from(text.to_owned());
    let mut server = Server::new(url.clone());
    server.token = Some(secret);
    server.ca_cert = global.ca_cert.clone();
    let username = if global.offline { None } else { Some(fetch_username(server)?) };
    let stored =
        token::store(config, url, text).map_err(|e| Failure::failed(format!("cannot store the token: {e}")))?;
    let place = match stored {
        StoredToken::Keyring => "The token is stored in the system keyring.".to_owned(),
        StoredToken::File(path, why) => {
            format!(
                "The token is stored in {}, which only you can read. The keyring was not used: {why}.",
                sanitize(&path.to_string_lossy())
            )
        }
    };
    let message = match username {
        Some(username) => format!("Signed in to {name} as {username}.\n{place}\n"),
        None => format!("Stored the token for {name}. {UNTRIED}\n{place}\n"),
    };
    print(message.as_bytes())
}

fn status(global: &Global, config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::display_name(url);
    let (server, origin) = open::server(global, config, url)?;
    let Some(origin) = origin else {
        return Err(Failure::failed(format!("no token for {name}; sign in with labscope auth login")));
    };
    if global.offline {
        return print(format!("Found a token for {name} (from {origin}). {UNTRIED}\n").as_bytes());
    }
    let username = fetch_username(server)?;
    print(format!("Signed in to {name} as {username} (token from {origin}).\n").as_bytes())
}

fn logout(config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::display_name(url);
    let removed = token::remove(config, url);
    if !removed.map_err(|e| Failure::failed(format!("cannot remove the token: {e}")))? {
        return Err(Failure::failed(format!("no token is stored for {name}")));
    }
    print(format!("Removed the token for {name}. It stays valid on the server until you revoke it there.\n").as_bytes())
}

/// Asks the server for the user name of the token's owner.
///
/// # Errors
/// The server refuses the token, or its response is not a user.
fn fetch_username(server: Server) -> Result<String, Failure> {
    let threads = threads()?;
    let name = host::display_name(&server.base_url);
    let user: Result<_, crate::api::Error> =
        threads.block_on(async { Client::new(server)?.call(&GetCurrentUser::default()).await });
    let user = user?;
    if user.id == 0 || user.username.trim().is_empty() {
        return Err(Failure::failed(format!("{name} did not return a user; check that it is a GitLab server")));
    }
    Ok(sanitize(&user.username).into_owned())
}

/// Reads the token from standard input, or from the terminal without showing it.
fn read_token(name: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line);
    }
    // If the prompt cannot be written, the token can still be read.
    let mut prompt = io::stderr();
    let _ = write!(prompt, "Token for {name} (not shown; Enter confirms, Ctrl-C cancels): ");
    crossterm::terminal::enable_raw_mode()?;
    let typed = read_hidden_line();
    crossterm::terminal::disable_raw_mode()?;
    let _ = writeln!(prompt);
    match typed? {
        Some(text) => Ok(text),
        None => Err(Failure::failed("canceled; nothing was stored")),
    }
}

fn read_hidden_line() -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        let Event::Key(key) = crossterm::event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Enter, _) => return Ok(Some(text)),
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'd'), true) => return Ok(None),
            (KeyCode::Char('u'), true) => text.clear(),
            (KeyCode::Backspace, _) => drop(text.pop()),
            (KeyCode::Char(c), false) => text.push(c),
            _ => {}
        }
    }
}
