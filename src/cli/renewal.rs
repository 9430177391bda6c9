//! Renews the token of a sign-in before it expires: one process at a time, and a new token is stored before it is used.

use crate::api::client::{Client, Grant, Server, TokenSource};
use crate::api::{Error, Fault};
use crate::config::host::KnownServer;
use crate::config::sign_in::SignIn;
use crate::config::{Config, token};
use crate::runtime::sign_in::token_source;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Mutex, PoisonError};
use tokio::runtime::Handle;

/// Returns the token source of a sign-in at a server; `anonymous` is the server without a token.
pub fn renewed_tokens(config: &Config, server: &KnownServer, anonymous: Server, sign_in: SignIn) -> TokenSource {
    let (config, server) = (config.clone(), server.clone());
    // Renewing a token changes nothing else, so it is allowed in read-only sessions.
    let anonymous = Server { read_only: false, ..anonymous };
    let known = Mutex::new(sign_in);
    token_source(move |refused| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_good(&known, refused.as_ref()) {
            *known = renew(&config, &server, &anonymous, refused.as_ref())?;
        }
        Ok(known.access_token.clone().into())
    })
}

fn is_good(sign_in: &SignIn, refused: Option<&SecretString>) -> bool {
    sign_in.is_fresh(Timestamp::now()) && refused.is_none_or(|token| token.expose_secret() != sign_in.access_token)
}

fn renew(
    config: &Config,
    server: &KnownServer,
    anonymous: &Server,
    refused: Option<&SecretString>,
) -> Result<SignIn, Error> {
    let failed = |fault: Fault| Error { tried: "renew the token".into(), fault };
    let disk = |error: std::io::Error| failed(Fault::Disk(format!("the token cannot be stored: {error}")));
    // Another process may be renewing the token: a refresh token can be used only once.
    let _lock = token::lock(config).map_err(disk)?;
    let stored = token::stored_sign_in(config, server);
    let stored = stored.ok_or_else(|| failed(Fault::Unauthorized("you signed out or in again; start again".into())))?;
    if is_good(&stored, refused) {
        return Ok(stored);
    }
    let client = Client::new(anonymous.clone())?;
    let grant = Handle::current().block_on(client.renew(&stored.client_id, &stored.refresh_token))?;
    let expires_at = expiry(&grant);
    let renewed = stored.renewed(grant.access_token, grant.refresh_token, expires_at);
    token::store(config, server, &renewed.to_text()).map_err(disk)?;
    Ok(renewed)
}

/// Returns the expiration time of a token that was granted just now.
pub fn expiry(grant: &Grant) -> Option<Timestamp> {
    let seconds = i64::try_from(grant.expires_in?).ok()?;
    Timestamp::now().checked_add(SignedDuration::from_secs(seconds)).ok()
}
