//! OAuth outside the REST API: the device grant, the renewal of tokens, and their scopes.

use super::exchange::https_redirect;
use super::{Client, Response, Server};
use crate::Time;
use crate::endpoint::{Endpoint, JSON, Request};
use crate::error::{Error, Fault, Unreadable, error_message, network_fault};
use crate::identity::{AccessToken, GetOwnToken};
use crate::page::PageInfo;
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

/// The maximum size of a reply, in bytes.
const MAX_REPLY_BYTES: usize = 64 * 1024;
/// The grant type of the device flow.
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Returns the token to send; the argument is a token that the server has refused, if any.
type FindToken = dyn Fn(Option<SecretString>) -> BoxFuture<'static, Result<SecretString, Error>> + Send + Sync;

/// A source of tokens that are renewed from time to time.
#[derive(Clone)]
pub struct TokenSource(Arc<FindToken>);

impl TokenSource {
    /// Creates a source that calls `find` before each request.
    pub fn new(
        find: impl Fn(Option<SecretString>) -> BoxFuture<'static, Result<SecretString, Error>> + Send + Sync + 'static,
    ) -> TokenSource {
        TokenSource(Arc::new(find))
    }

    /// Returns a token that differs from `refused`.
    ///
    /// # Errors
    /// Returns an error if the token cannot be renewed.
    pub async fn token(&self, refused: Option<SecretString>) -> Result<SecretString, Error> {
        (self.0)(refused).await
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSource")
    }
}

/// A device code, which the user confirms by signing in with a browser.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct DeviceCode {
    pub device_code: String,
    /// The code that the user enters on the page.
    pub user_code: String,
    verification_uri: String,
    verification_uri_complete: String,
    expires_in: u64,
    interval: Option<u64>,
}

impl DeviceCode {
    /// Returns the lifetime of the code, between 1 and 60 minutes.
    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(self.expires_in.clamp(60, 3600))
    }

    /// Returns the pause between two polls, between 1 and 60 seconds; 5 seconds if the server sends none (RFC 8628,
    /// section 3.2).
    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval.unwrap_or(5).clamp(1, 60))
    }

    /// Returns the page on which the code is entered, and the same page with the code filled in. Servers send these
    /// URLs without the path prefix under which they are installed, so it is added. URLs on another host are ignored.
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

/// An access token and its refresh token.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Grant {
    pub access_token: String,
    pub refresh_token: String,
    /// The lifetime in seconds.
    pub expires_in: Option<u64>,
    pub scope: String,
}

/// The scopes and the lifetime of an OAuth token.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenInfo {
    scope: Vec<String>,
    scopes: Vec<String>,
    /// The remaining lifetime in seconds; `None` if the token never expires.
    expires_in_seconds: Option<i64>,
}

/// The reply to a device that polls for its token.
pub enum Poll {
    Granted(Grant),
    /// The user has not signed in yet.
    Pending,
    /// The device polls too often.
    SlowDown,
    /// The code has expired.
    Expired,
    /// The user denied the request.
    Denied,
}

impl Client {
    /// Requests a code for signing in with a browser.
    ///
    /// # Errors
    /// Returns [`Fault::Missing`] on servers without the device grant, and [`Fault::Unauthorized`] for an unknown
    /// client ID.
    pub async fn request_device_code(&self, client_id: &str, scope: &str) -> Result<DeviceCode, Error> {
        let path = "/oauth/authorize_device";
        let (status, body) = self.post_outside_api(path, &[("client_id", client_id), ("scope", scope)]).await?;
        let code: DeviceCode = granted(&format!("POST {path}"), status, &body)?;
        match code.device_code.is_empty() || code.user_code.is_empty() {
            true => Err(failed(&format!("POST {path}"), unreadable("device_code", "it is missing"))),
            false => Ok(code),
        }
    }

    /// Polls for the token of a device.
    ///
    /// # Errors
    /// Returns an error if the server refuses for a reason other than those of [`Poll`].
    pub async fn poll_device(&self, client_id: &str, device_code: &str) -> Result<Poll, Error> {
        let form = [("grant_type", DEVICE_GRANT), ("device_code", device_code), ("client_id", client_id)];
        let (status, body) = self.post_outside_api("/oauth/token", &form).await?;
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        let word = value.as_ref().and_then(|value| value.get("error")?.as_str()).filter(|_| status == 400);
        match word {
            Some("authorization_pending") => Ok(Poll::Pending),
            Some("slow_down") => Ok(Poll::SlowDown),
            // Servers delete expired codes, which are unknown from then on.
            Some("expired_token" | "invalid_grant") => Ok(Poll::Expired),
            Some("access_denied") => Ok(Poll::Denied),
            _ => grant(status, &body).map(Poll::Granted),
        }
    }

    /// Exchanges a refresh token for a new pair of tokens; the old pair becomes invalid at once.
    ///
    /// # Errors
    /// Returns [`Fault::Unauthorized`] if the refresh token was used or revoked.
    pub async fn renew(&self, client_id: &str, refresh_token: &str) -> Result<Grant, Error> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("client_id", client_id)];
        let (status, body) = self.post_outside_api("/oauth/token", &form).await?;
        grant(status, &body).map_err(|error| match error.fault {
            Fault::Refused(400, message) => Error { fault: Fault::Unauthorized(message), ..error },
            _ => error,
        })
    }

    /// Returns whether the server refused to describe an OAuth token because the endpoint supports only personal access
    /// tokens.
    pub(super) fn needs_token_info(&self, request: &Request, error: &Error) -> bool {
        let refused = matches!(error.fault, Fault::Refused(..) | Fault::Missing(_) | Fault::Unsupported(_));
        refused && self.server.oauth && request.route == GetOwnToken::TAIL
    }

    /// Returns an OAuth token in the form of a reply to [`GetOwnToken`]. It has no expiry if the token is renewed.
    ///
    /// # Errors
    /// Returns an error if the server does not describe the token.
    pub(super) async fn token_info(&self) -> Result<Response, Error> {
        let tried = "GET /oauth/token/info";
        let token = match &self.server.renewal {
            Some(renewal) => renewal.token(None).await?,
            None => self.server.token.clone().unwrap_or_default(),
        };
        let url = below(&self.server, "/oauth/token/info");
        let request = self.kept.http().get(url).bearer_auth(token.expose_secret().trim());
        let (status, body) = self.send_outside_api(tried, request).await?;
        let info: TokenInfo = granted(tried, status, &body)?;
        let seconds = info.expires_in_seconds.filter(|_| self.server.renewal.is_none());
        let expiry = seconds.and_then(|seconds| {
            let now = Timestamp::now().checked_add(self.clock.ahead()).ok()?;
            now.checked_add(SignedDuration::from_secs(seconds)).ok()
        });
        let scopes = if info.scopes.is_empty() { info.scope } else { info.scopes };
        let token = AccessToken { scopes, expires_at: expiry.map(Time::from_instant), ..AccessToken::default() };
        let body = serde_json::to_vec(&token).map_err(|error| failed(tried, unreadable(".", &error.to_string())))?;
        Ok(Response {
            status,
            body: body.into(),
            content_type: Some(JSON.into()),
            page: PageInfo::default(),
            etag: None,
        })
    }

    /// Sends a form to a path outside the REST API, without the token; returns status and body.
    async fn post_outside_api(&self, path: &str, form: &[(&str, &str)]) -> Result<(u16, Vec<u8>), Error> {
        let request = self.kept.http().post(below(&self.server, path)).form(form);
        self.send_outside_api(&format!("POST {path}"), request).await
    }

    /// Sends a request outside the REST API; returns status and body.
    async fn send_outside_api(&self, tried: &str, request: reqwest::RequestBuilder) -> Result<(u16, Vec<u8>), Error> {
        let send_error = |error: reqwest::Error| {
            let timeouts = self.server.timeouts;
            let after = if error.is_connect() { timeouts.connect } else { timeouts.read };
            failed(tried, network_fault(&error, &self.server.base_url, after))
        };
        let mut reply = request.header(ACCEPT, JSON).send().await.map_err(send_error)?;
        if let Some(address) = https_redirect(reply.url(), reply.headers(), true) {
            return Err(failed(tried, Fault::NeedsHttps(address)));
        }
        let mut body = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(send_error)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_REPLY_BYTES {
                return Err(failed(tried, Fault::TooLarge("the reply is larger than 64 kB".into())));
            }
        }
        Ok((reply.status().as_u16(), body))
    }
}

fn failed(tried: &str, fault: Fault) -> Error {
    Error { tried: tried.to_owned(), fault }
}

/// Parses a reply; errors never contain its values, which may be secrets.
fn granted<T: DeserializeOwned>(tried: &str, status: u16, body: &[u8]) -> Result<T, Error> {
    if !(200..300).contains(&status) {
        return Err(Error::from_status(tried.to_owned(), status, error_message(body), None));
    }
    serde_json::from_slice(body).map_err(|_| failed(tried, unreadable(".", "it is not a valid OAuth reply")))
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
    fn a_device_code_without_an_interval_is_polled_every_five_seconds() {
        for (reply, seconds) in [("{}", 5), (r#"{"interval": 1}"#, 1), (r#"{"interval": 900}"#, 60)] {
            let code: DeviceCode = serde_json::from_str(reply).unwrap();
            assert_eq!(code.interval(), Duration::from_secs(seconds), "{reply}");
        }
    }

    #[test]
    fn device_pages_are_on_the_server_and_below_its_prefix() {
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
