//! Renews the token of a sign-in before it expires: one process at a time, and a new token is stored before it is used.

use crate::api::client::{Client, Grant, Server, TokenSource};
use crate::api::{Error, Fault};
use crate::config::sign_in::SignIn;
use crate::config::{Config, token};
use crate::runtime::sign_in::token_source;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tokio::runtime::Handle;
use url::Url;

/// Returns the token source of a sign-in at the server at `url`.
pub fn renewed_tokens(config: &Config, url: &Url, ca_cert: Option<PathBuf>, sign_in: SignIn) -> TokenSource {
    let server = Server { ca_cert, ..Server::new(url.clone()) };
    let config = config.clone();
    let known = Mutex::new(sign_in);
    token_source(move |refused| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_good(&known, refused.as_ref()) {
            *known = renew(&config, &server, refused.as_ref())?;
        }
        Ok(known.access_token.clone().into())
    })
}

fn is_good(sign_in: &SignIn, refused: Option<&SecretString>) -> bool {
    sign_in.is_fresh(Timestamp::now()) && refused.is_none_or(|token| token.expose_secret() != sign_in.access_token)
}

fn renew(config: &Config, server: &Server, refused: Option<&SecretString>) -> Result<SignIn, Error> {
    let failed = |fault: Fault| Error { tried: "renew the token".into(), fault };
    let disk = |error: std::io::Error| failed(Fault::Disk(format!("the token cannot be stored: {error}")));
    // Another process may be renewing the token: a refresh token can be used only once.
    let _lock = token::lock(config).map_err(disk)?;
    let stored = token::stored_sign_in(config, &server.base_url);
    let stored = stored.ok_or_else(|| failed(Fault::Unauthorized("you signed out or in again; start again".into())))?;
    if is_good(&stored, refused) {
        return Ok(stored);
    }
    let client = Client::new(server.clone())?;
    let grant = Handle::current().block_on(client.renew(&stored.client_id, &stored.refresh_token))?;
    let expires_at = expiry(&grant);
    let renewed = stored.renewed(grant.access_token, grant.refresh_token, expires_at);
    token::store(config, &server.base_url, &renewed.to_text()).map_err(disk)?;
    Ok(renewed)
}

/// Returns the expiration time of a token that was granted just now.
pub fn expiry(grant: &Grant) -> Option<Timestamp> {
    let seconds = i64::try_from(grant.expires_in?).ok()?;
    Timestamp::now().checked_add(SignedDuration::from_secs(seconds)).ok()
}
