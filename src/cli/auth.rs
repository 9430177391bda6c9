//! `labscope auth`: keeps a token for a server, says which would be used, forgets it.

use super::args::{Auth, Global};
use super::failure::Failure;
use super::{configuration, open, print, threads};
use crate::api::client::{Client, Server};
use crate::api::users::GetCurrentUser;
use crate::config::token::StoredToken;
use crate::config::{Config, host, token};
use crate::ui::text::shown;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use secrecy::SecretString;
use std::io::{self, IsTerminal, Write};
use url::Url;

/// What is said of a token under `--offline`.
const UNTRIED: &str = "With --offline the server was not asked whether it is good.";

/// Runs one of its commands.
pub fn run(global: &Global, what: Auth) -> Result<(), Failure> {
    let config = configuration(global)?;
    let url = open::need(global, &config)?.url;
    match what {
        Auth::Login => login(global, &config, &url),
        Auth::Status => status(global, &config, &url),
        Auth::Logout => logout(&config, &url),
    }
}

fn login(global: &Global, config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::short(url);
    let text = read_token(&name)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::failed("no token was given, and nothing was kept"));
    }
    let secret = SecretString::from(text.to_owned());
    let mut server = Server::new(url.clone());
    server.token = Some(secret);
    server.ca_cert = global.ca_cert.clone();
    let who = if global.offline { None } else { Some(who(server)?) };
    let kept = token::keep(config, url, text).map_err(|e| Failure::failed(format!("the token cannot be kept: {e}")))?;
    let place = match kept {
        StoredToken::Keyring => "It is in the keyring of the system.".to_owned(),
        StoredToken::File(path, why) => {
            format!(
                "It is in {}, for you alone to read, and not in the keyring: {why}.",
                shown(&path.to_string_lossy())
            )
        }
    };
    let said = match who {
        Some(who) => format!("Signed in to {name} as {who}.\n{place}\n"),
        None => format!("The token for {name} is kept. {UNTRIED}\n{place}\n"),
    };
    print(said.as_bytes())
}

fn status(global: &Global, config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::short(url);
    let (server, origin) = open::server(global, config, url)?;
    let Some(origin) = origin else {
        return Err(Failure::failed(format!("there is no token for {name}; labscope auth login keeps one")));
    };
    if global.offline {
        return print(format!("There is a token for {name}, that of {origin}. {UNTRIED}\n").as_bytes());
    }
    let who = who(server)?;
    print(format!("Signed in to {name} as {who}, with the token of {origin}.\n").as_bytes())
}

fn logout(config: &Config, url: &Url) -> Result<(), Failure> {
    let name = host::short(url);
    let forgotten = token::forget(config, url);
    if !forgotten.map_err(|e| Failure::failed(format!("the token cannot be forgotten: {e}")))? {
        return Err(Failure::failed(format!("no token is kept for {name}")));
    }
    print(
        format!("The token for {name} is forgotten here; on the server it is still valid until you revoke it.\n")
            .as_bytes(),
    )
}

/// Whose token it is, as the server says.
///
/// # Errors
/// Where it refuses the token, or answers with something that is not a user.
fn who(server: Server) -> Result<String, Failure> {
    let threads = threads()?;
    let name = host::short(&server.base_url);
    let user: Result<_, crate::api::Error> =
        threads.block_on(async { Client::new(server)?.call(&GetCurrentUser::default()).await });
    let user = user?;
    if user.id == 0 || user.username.trim().is_empty() {
        return Err(Failure::failed(format!("{name} did not answer with a user; check that it is a GitLab server")));
    }
    Ok(shown(&user.username).into_owned())
}

/// The token from the standard input, or typed without being shown.
fn read_token(name: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line);
    }
    // Where nobody can read the question, the answer is still taken.
    let mut asked = io::stderr();
    let _ = write!(asked, "Token for {name} (it is not shown; Enter ends, C-c gives up): ");
    crossterm::terminal::enable_raw_mode()?;
    let typed = type_hidden();
    crossterm::terminal::disable_raw_mode()?;
    let _ = writeln!(asked);
    match typed? {
        Some(text) => Ok(text),
        None => Err(Failure::failed("given up, and nothing was kept")),
    }
}

fn type_hidden() -> io::Result<Option<String>> {
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
