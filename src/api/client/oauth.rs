//! Signing in by OAuth, outside of the REST API: the grant for devices, the renewal of tokens, and what they may do.

use super::{Client, Response, Server};
use crate::api::Time;
use crate::api::endpoint::{Endpoint, JSON, Request};
use crate::api::error::{Error, Fault, Unreadable, network_fault, words_of};
use crate::api::identity::{AccessToken, GetOwnToken};
use crate::api::page::PageInfo;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::ACCEPT;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// What a reply may weigh.
const LARGEST: usize = 64 * 1024;
/// The grant that a device asks for.
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Returns the token to send, given one that the server has refused, if any.
type FindToken = dyn Fn(Option<SecretString>) -> BoxFuture<'static, Result<SecretString, Error>> + Send + Sync;

/// Where a client gets a token that is renewed from time to time.
#[derive(Clone)]
pub struct TokenSource(Arc<FindToken>);

impl TokenSource {
    /// A source that calls `find` before each request.
    pub fn new(
        find: impl Fn(Option<SecretString>) -> BoxFuture<'static, Result<SecretString, Error>> + Send + Sync + 'static,
    ) -> TokenSource {
        TokenSource(Arc::new(find))
    }

    /// Returns the token, which is not `refused`.
    ///
    /// # Errors
    /// It cannot be renewed.
    pub async fn token(&self, refused: Option<SecretString>) -> Result<SecretString, Error> {
        (self.0)(refused).await
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSource")
    }
}

/// The code of a device, for which somebody signs in with a browser.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct DeviceCode {
    pub device_code: String,
    /// What is typed on the page.
    pub user_code: String,
    verification_uri: String,
    verification_uri_complete: String,
    expires_in: u64,
    interval: u64,
}

impl DeviceCode {
    /// Returns how long the code is good.
    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(self.expires_in.clamp(60, 3600))
    }

    /// Returns the pause between two questions whether somebody has signed in.
    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval.clamp(1, 60))
    }

    /// Returns the page on which the code is typed, and the one where it is filled in. Both are of the server: it names
    /// them without the path under which it stands, and another host is none of its pages.
    pub fn pages(&self, server: &Server) -> (Url, Url) {
        let page = page_of(server, &self.verification_uri).unwrap_or_else(|| below(server, "/oauth/device"));
        let complete = page_of(server, &self.verification_uri_complete).unwrap_or_else(|| page.clone());
        (page, complete)
    }
}

fn page_of(server: &Server, text: &str) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|url| url.origin() == server.base_url.origin())?;
    let root = server.base_url.path().trim_end_matches('/');
    if url.path().starts_with(&format!("{root}/")) {
        return Some(url);
    }
    let mut page = below(server, url.path());
    page.set_query(url.query());
    Some(page)
}

fn below(server: &Server, path: &str) -> Url {
    let mut url = server.base_url.clone();
    url.set_path(&format!("{}{path}", server.base_url.path().trim_end_matches('/')));
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// A token, and what renews it.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Grant {
    pub access_token: String,
    pub refresh_token: String,
    /// Seconds.
    pub expires_in: Option<u64>,
    pub scope: String,
}

/// What a token of OAuth may do.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenInfo {
    scope: Vec<String>,
    scopes: Vec<String>,
    /// Seconds; `None` if it never expires.
    expires_in_seconds: Option<i64>,
}

/// What the server says to a device that asks for its token.
pub enum Poll {
    Granted(Grant),
    /// Nobody has signed in yet.
    Pending,
    /// It is asked too often.
    SlowDown,
    /// The code is no longer good.
    Expired,
    /// Somebody refused it.
    Denied,
}

impl Client {
    /// Asks for a code to sign in with at another device.
    ///
    /// # Errors
    /// [`Fault::Missing`] on servers without the grant, [`Fault::Unauthorized`] for an unknown client ID.
    pub async fn begin_device(&self, client_id: &str, scope: &str) -> Result<DeviceCode, Error> {
        let path = "/oauth/authorize_device";
        let (status, body) = self.post_outside(path, &[("client_id", client_id), ("scope", scope)]).await?;
        let code: DeviceCode = granted(&format!("POST {path}"), status, &body)?;
        match code.device_code.is_empty() || code.user_code.is_empty() {
            true => Err(failed(&format!("POST {path}"), unreadable("device_code", "it is missing"))),
            false => Ok(code),
        }
    }

    /// Asks whether somebody has signed in for a device.
    ///
    /// # Errors
    /// The server refuses it for another reason than those of [`Poll`].
    pub async fn poll_device(&self, client_id: &str, device_code: &str) -> Result<Poll, Error> {
        let form = [("grant_type", DEVICE_GRANT), ("device_code", device_code), ("client_id", client_id)];
        let (status, body) = self.post_outside("/oauth/token", &form).await?;
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        let word = value.as_ref().and_then(|value| value.get("error")?.as_str()).filter(|_| status == 400);
        match word {
            Some("authorization_pending") => Ok(Poll::Pending),
            Some("slow_down") => Ok(Poll::SlowDown),
            // Codes that have expired are swept, and unknown from then on.
            Some("expired_token" | "invalid_grant") => Ok(Poll::Expired),
            Some("access_denied") => Ok(Poll::Denied),
            _ => grant(status, &body).map(Poll::Granted),
        }
    }

    /// Exchanges a refresh token for a new pair; the old pair is dead at once.
    ///
    /// # Errors
    /// [`Fault::Unauthorized`] if it is used up or revoked.
    pub async fn renew(&self, client_id: &str, refresh_token: &str) -> Result<Grant, Error> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("client_id", client_id)];
        let (status, body) = self.post_outside("/oauth/token", &form).await?;
        grant(status, &body).map_err(|error| match error.fault {
            Fault::Refused(400, said) => Error { fault: Fault::Unauthorized(said), ..error },
            _ => error,
        })
    }

    /// Returns whether it is the token of OAuth that a server has refused to describe: it knows personal tokens alone.
    pub(super) fn asks_for_oauth(&self, request: &Request, error: &Error) -> bool {
        let refused = matches!(error.fault, Fault::Refused(..) | Fault::Missing(_) | Fault::Unsupported(_));
        refused && self.server.oauth && request.route == GetOwnToken::ROUTE
    }

    /// Returns the reply of [`GetOwnToken`] for a token of OAuth. It has no expiry where the token is renewed.
    ///
    /// # Errors
    /// The server does not describe it.
    pub(super) async fn token_info(&self) -> Result<Response, Error> {
        let tried = "GET /oauth/token/info";
        let token = match &self.server.renewal {
            Some(renewal) => renewal.token(None).await?,
            None => self.server.token.clone().unwrap_or_default(),
        };
        let url = below(&self.server, "/oauth/token/info");
        let request = self.http.get(url).bearer_auth(token.expose_secret().trim());
        let (status, body) = self.outside(tried, request).await?;
        let info: TokenInfo = granted(tried, status, &body)?;
        let seconds = info.expires_in_seconds.filter(|_| self.server.renewal.is_none());
        let expiry = seconds.and_then(|seconds| {
            let now = Timestamp::now().checked_add(self.clock.ahead()).ok()?;
            now.checked_add(SignedDuration::from_secs(seconds)).ok()
        });
        let scopes = if info.scopes.is_empty() { info.scope } else { info.scopes };
        let token = AccessToken { scopes, expires_at: expiry.map(Time::from_instant), ..AccessToken::default() };
        let body = serde_json::to_vec(&token).map_err(|error| failed(tried, unreadable(".", &error.to_string())))?;
        Ok(Response { status, body: body.into(), content_type: Some(JSON.into()), page: PageInfo::default() })
    }

    /// Sends a form to a path outside of the REST API, without the token; returns status and body.
    async fn post_outside(&self, path: &str, form: &[(&str, &str)]) -> Result<(u16, Vec<u8>), Error> {
        let request = self.http.post(below(&self.server, path)).form(form);
        self.outside(&format!("POST {path}"), request).await
    }

    /// Sends a request outside of the REST API; returns status and body.
    async fn outside(&self, tried: &str, request: reqwest::RequestBuilder) -> Result<(u16, Vec<u8>), Error> {
        let unsent = |error: reqwest::Error| {
            let timeouts = self.server.timeouts;
            let after = if error.is_connect() { timeouts.connect } else { timeouts.read };
            failed(tried, network_fault(&error, &self.server.base_url, after))
        };
        let mut reply = request.header(ACCEPT, JSON).send().await.map_err(unsent)?;
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(unsent)? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST {
                return Err(failed(tried, Fault::TooLarge("the reply is larger than 64 kB".into())));
            }
        }
        Ok((reply.status().as_u16(), body))
    }
}

fn failed(tried: &str, fault: Fault) -> Error {
    Error { tried: tried.to_owned(), fault }
}

/// Reads a reply; its values are in no error.
fn granted<T: DeserializeOwned>(tried: &str, status: u16, body: &[u8]) -> Result<T, Error> {
    if !(200..300).contains(&status) {
        return Err(Error::from_status(tried.to_owned(), status, words_of(body), None));
    }
    serde_json::from_slice(body).map_err(|_| failed(tried, unreadable(".", "it is not what OAuth describes")))
}

fn grant(status: u16, body: &[u8]) -> Result<Grant, Error> {
    let tried = "POST /oauth/token";
    let grant: Grant = granted(tried, status, body)?;
    match grant.access_token.is_empty() {
        true => Err(failed(tried, unreadable("access_token", "it is missing"))),
        false => Ok(grant),
    }
}

fn unreadable(field: &str, reason: &str) -> Fault {
    Fault::Unreadable(Unreadable { field: field.into(), reason: reason.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_for_a_code_is_one_of_the_server_and_below_its_root() {
        let pages = |root: &str, page: &str, complete: &str| {
            let server = Server::new(root.parse().unwrap());
            let (page, complete) = (page.to_owned(), complete.to_owned());
            let code = DeviceCode { verification_uri: page, verification_uri_complete: complete, ..Default::default() };
            let (page, complete) = code.pages(&server);
            (page.to_string(), complete.to_string())
        };
        let (page, complete) = ("https://h.example/oauth/device", "https://h.example/oauth/device?user_code=0A0B0C0D");
        assert_eq!(pages("https://h.example/", page, complete), (page.into(), complete.into()));
        let moved = page.replace("example/", "example/git/");
        let filled = complete.replace("example/", "example/git/");
        assert_eq!(pages("https://h.example/git", page, complete), (moved.clone(), filled.clone()));
        assert_eq!(pages("https://h.example/git/", &moved, &filled), (moved.clone(), filled));
        for other in ["https://evil.example/oauth/device", "javascript:alert(1)", "", "https://h.example:1/"] {
            assert_eq!(pages("https://h.example/git", other, other), (moved.clone(), moved.clone()), "{other}");
        }
    }
}
