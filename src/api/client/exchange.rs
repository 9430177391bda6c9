//! A single exchange with a server: sending a call, redirects, retries, and reading the reply.

use super::clock;
use super::moved_projects;
use super::payload::Payload;
use super::short_refs::ShortForm;
use super::{Client, OnPart, Response};
use crate::endpoint::{JSON, Method, Reply, mask};
use crate::error::{
    Error, Fault, SERVER, Unreadable, error_message, is_aborted, is_from_gitlab, is_lost, is_moved, is_unknown_route,
    is_unprocessed, missing_permissions, missing_scopes, network_fault, proxy_refusal,
};
use crate::expected::ExpectedReply;
use crate::page::{self, PageInfo};
use crate::reply_limits::ReplyCounter;
use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, IF_NONE_MATCH, IF_RANGE, LOCATION, RANGE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::time::{Duration, Instant};
use url::{Position, Url};

/// The maximum number of redirects that are followed.
const MAX_HOPS: usize = 5;
/// The maximum number of retries of a call.
pub(super) const MAX_RETRIES: u32 = 3;
/// The longest pause before a retry. If the server requests a longer one, the call fails and reports it.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The body size in bytes above which replies are parsed on a separate thread.
const LARGE_BODY: usize = 256 * 1024;
/// The maximum size in bytes of a reply that is kept in memory; larger content is streamed.
const MAX_BODY: usize = 512 * 1024 * 1024;
/// The maximum number of bytes of an error page that are read for its message.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// A call in the form in which it is sent and retried.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub method: Method,
    /// The route of the endpoint; [`SERVER`] if the user typed the target.
    pub route: &'static str,
    /// The path and query below `/api/v4`.
    pub target: String,
    pub accept: &'static str,
    /// The body of a write.
    pub payload: Option<Payload>,
    /// The part of the reply that is requested.
    pub range: RangeRequest,
    /// The entity tag of the reply that is known: the whole reply is sent only if it changed.
    pub known: Option<Etag>,
    /// The form with short names of refs, if the call has full ones.
    pub short_form: Option<ShortForm>,
    /// The content that the reply must have.
    pub expected: ExpectedReply,
}

/// The entity tag of a reply, which changes with it (RFC 9110).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Etag(Box<str>);

/// The maximum length of an entity tag that is kept, in bytes. Those of servers are hashes.
const MAX_ETAG_BYTES: usize = 256;

impl Etag {
    /// Returns the entity tag in the headers of a reply, if there is one.
    fn of(headers: &HeaderMap) -> Option<Etag> {
        let tag = headers.get(ETAG)?.to_str().ok().filter(|tag| tag.len() <= MAX_ETAG_BYTES)?;
        Some(Etag(tag.into()))
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

/// The minimum size of a part of a reply that is told before the whole is there, in bytes, and the time before it.
const MIN_PART: usize = 64 << 10;
const PART_INTERVAL: Duration = Duration::from_millis(300);

/// A byte range of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// The whole resource.
    All,
    /// The last bytes, by their number.
    Tail(u64),
    /// A range of bytes, not empty.
    Span(Range<u64>),
}

/// The part of a reply that is requested.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeRequest {
    /// The offset of the first byte, unless `byte_range` sets a range.
    pub from: u64,
    /// A range, which takes precedence over `from`.
    pub byte_range: Option<ByteRange>,
    /// The `ETag` of the content that the range is valid for, sent as `If-Range`; if it changed, the whole resource is
    /// sent.
    pub etag: Option<HeaderValue>,
    /// Whether to disable compression, so that byte offsets refer to the content itself.
    pub disable_compression: bool,
}

impl RangeRequest {
    /// Returns the value of the `Range` header, or `None` for the whole resource.
    fn range(&self) -> Option<String> {
        match &self.byte_range {
            Some(ByteRange::Tail(bytes)) => Some(format!("bytes=-{bytes}")),
            Some(ByteRange::Span(span)) => Some(format!("bytes={}-{}", span.start, span.end.saturating_sub(1))),
            Some(ByteRange::All) | None => (self.from > 0).then(|| format!("bytes={}-", self.from)),
        }
    }
}

impl Call {
    /// Creates a read of JSON that another call needs.
    pub fn read(target: String) -> Call {
        let (method, route, accept) = (Method::GET, SERVER, JSON);
        let (payload, range, expected) = Default::default();
        Call { method, route, target, accept, payload, range, known: None, short_form: None, expected }
    }

    /// Returns the request line for errors and the log, without secrets.
    pub fn line(&self) -> String {
        mask(&format!("{} {}", self.method, self.target))
    }

    fn is_read(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }

    /// Returns whether this reads changes of files: of a merge request, its versions, or a commit, or between refs.
    fn reads_changes(&self) -> bool {
        let path = self.target.split('?').next().unwrap_or_default();
        let mut segments = path.rsplit('/');
        let (last, before) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
        self.is_read()
            && (matches!(last, "changes" | "diffs" | "raw_diffs" | "diff" | "compare") || before == "versions")
    }

    pub fn error(&self, fault: Fault) -> Error {
        Error { tried: self.line(), fault }
    }
}

impl Client {
    /// Refuses writes if the server is read-only.
    pub(super) fn permit(&self, call: &Call) -> Result<(), Error> {
        if self.server.read_only && !call.is_read() { Err(call.error(Fault::ReadOnly)) } else { Ok(()) }
    }

    /// Returns the URL of the call, below `/api/v4`.
    pub(super) fn url(&self, call: &Call) -> Result<Url, Error> {
        self.url_of(call, &call.target)
    }

    fn url_of(&self, call: &Call, target: &str) -> Result<Url, Error> {
        let mut base = self.server.base_url.clone();
        base.set_query(None);
        base.set_fragment(None);
        let text = format!("{}/api/v4{}", base.as_str().trim_end_matches('/'), target);
        let bad = |e| call.error(Fault::Refused(400, format!("invalid URL {}: {e}", mask(&text))));
        Url::parse(&text).map_err(bad)
    }

    /// Sends a call, follows redirects, and retries where that is safe and may help. If the server does not know full
    /// names of refs, the call is sent with short ones.
    pub(super) async fn exchange(&self, call: &Call) -> Result<reqwest::Response, Error> {
        if let Some(short) = self.with_short_refs(call) {
            return self.exchange_as_is(&short).await;
        }
        let reply = self.exchange_as_is(call).await?;
        // A write that was refused for its ref had no effect.
        let is_missing = reply.status() == 404 || reply.status() == 400 && !call.is_read();
        if is_missing && call.short_form.is_some() {
            let token = self.token(call, None).await?;
            self.check_full_refs(call, token.as_ref()).await;
            if let Some(short) = self.with_short_refs(call) {
                return self.exchange_as_is(&short).await;
            }
        }
        Ok(reply)
    }

    async fn exchange_as_is(&self, call: &Call) -> Result<reqwest::Response, Error> {
        let reads = call.is_read();
        let (mut attempt, mut refusals) = (0, 0);
        let mut token = self.token(call, None).await?;
        let mut renewed = false;
        loop {
            let outcome = self.follow(call, token.as_ref()).await;
            // The server refused the token before it did anything, so even a write may be repeated.
            if outcome.as_ref().is_ok_and(is_token_refused) && self.server.renewal.is_some() && !renewed {
                token = self.token(call, token).await?;
                renewed = true;
                continue;
            }
            let pause = self.server.timeouts.retry_delay * 2_u32.pow(attempt);
            let last = attempt == MAX_RETRIES;
            attempt += 1;
            let wait = match &outcome {
                _ if last => return outcome,
                Ok(reply) => match reply.status().as_u16() {
                    // The server refused the request before it did anything, so even a write may be repeated, after the
                    // pause that all requests make. Without a requested pause, it is repeated only once.
                    429 => match pause_after_refusal(reply.headers()) {
                        None if refusals > 0 => return outcome,
                        Some(wait) if wait > MAX_PAUSE => return outcome,
                        requested => {
                            refusals += 1;
                            if !limits_endpoint(reply) {
                                continue;
                            }
                            // The others make no pause.
                            requested.unwrap_or(pause)
                        }
                    },
                    502..=504 if reads => retry_after(reply.headers(), Timestamp::now()).unwrap_or_default().max(pause),
                    _ => return outcome,
                },
                Err(error) if reads && matches!(error.fault, Fault::Offline(_)) => pause,
                Err(_) => return outcome,
            };
            if wait > MAX_PAUSE || self.pace.is_away() {
                return outcome;
            }
            tracing::debug!(call = %call.line(), ?wait, attempt, "trying again");
            // The others, which wait a shorter time, try first: it may be this request that the server cannot answer.
            wait_before_retry(wait + wait / 4).await;
        }
    }

    /// Returns a token to send that differs from `refused`.
    pub(super) async fn token(
        &self,
        call: &Call,
        refused: Option<SecretString>,
    ) -> Result<Option<SecretString>, Error> {
        let Some(renewal) = &self.server.renewal else { return Ok(self.server.token.clone()) };
        let token = renewal.token(refused).await;
        token.map(Some).map_err(|error| Error { tried: format!("{}: {}", call.line(), error.tried), ..error })
    }

    /// Sends a call, and follows redirects. A write to a project that was moved is sent again to where it is now: servers
    /// refuse such a write before they do anything, and only redirect reads.
    async fn follow(&self, call: &Call, token: Option<&SecretString>) -> Result<reqwest::Response, Error> {
        let reply = self.send_once(call, token).await?;
        let lookup = moved_projects::lookup(&call.target).filter(|_| !call.is_read() && reply.status().as_u16() == 405);
        let Some(target) = lookup else { return Ok(reply) };
        let current = self.moved_projects.current(&call.target, false);
        let read = Call::read(target);
        let found = self.send_once(&read, token).await;
        // If another project has taken over the path, the write is not for that one.
        let now = self.moved_projects.current(&call.target, false);
        if now != current && now != call.target {
            return self.send_once(call, token).await;
        }
        // A project that is where it was named was not moved: the server has another reason.
        let failed = match found {
            Ok(found) => self.check_status(found, &read).await.err(),
            Err(error) => Some(error),
        };
        match failed {
            // The user's own request gets the reply as it is.
            Some(failed) if call.accept == JSON => Err(self.moved_error(reply, call, &failed).await),
            _ => Ok(reply),
        }
    }

    /// Returns the error for a write that was refused with 405, if looking for the project `failed`, too.
    async fn moved_error(&self, reply: reqwest::Response, call: &Call, failed: &Error) -> Error {
        let mut error = match self.check_status(reply, call).await {
            Ok(_) => call.error(Fault::Refused(405, String::new())),
            Err(error) => error,
        };
        if let Fault::Refused(_, message) = &mut error.fault
            && is_moved(message)
        {
            *message = format!("{message}; the new path could not be found: {}", failed.message());
        }
        error
    }

    /// Sends a call once and follows redirects.
    pub(super) async fn send_once(
        &self,
        call: &Call,
        token: Option<&SecretString>,
    ) -> Result<reqwest::Response, Error> {
        let home = self.server.base_url.origin();
        let target = self.moved_projects.current(&call.target, call.is_read());
        let mut url = self.url_of(call, &target)?;
        // Servers may limit reads of changes on their own, which must not stop other requests.
        let changes = match call.reads_changes() {
            true => {
                let permit = self.changes_pace.permit(self.priority, false).await;
                Some(permit.map_err(|fault| call.error(fault.of_route(call.route)))?)
            }
            false => None,
        };
        let permit = self.pace.permit(self.priority, !call.is_read()).await.map_err(|fault| call.error(fault))?;
        for hop in 0..=MAX_HOPS {
            let is_home = url.origin() == home;
            let mut request = self.http(&url)?.request(call.method.clone(), url.clone()).header(ACCEPT, call.accept);
            // Redirects to other hosts, such as storage, must not receive the token.
            if let Some(token) = token.filter(|_| is_home) {
                let strange = || call.error(Fault::Unauthorized("the token contains invalid characters".into()));
                let secret = token.expose_secret().trim();
                let (name, value) = match self.server.oauth {
                    true => ("Authorization", HeaderValue::from_str(&format!("Bearer {secret}"))),
                    false => ("PRIVATE-TOKEN", HeaderValue::from_str(secret)),
                };
                let mut value = value.map_err(|_| strange())?;
                value.set_sensitive(true);
                request = request.header(name, value);
            }
            if call.range.disable_compression {
                request = request.header(ACCEPT_ENCODING, "identity");
            }
            if let Some(range) = call.range.range() {
                request = request.header(RANGE, range);
                if let Some(etag) = &call.range.etag {
                    request = request.header(IF_RANGE, etag);
                }
            }
            // The tag of one server means nothing to another.
            if let Some(etag) = call.known.as_ref().filter(|_| is_home) {
                request = request.header(IF_NONE_MATCH, etag.as_str());
            }
            if let Some(payload) = &call.payload {
                request = request
                    .header(CONTENT_TYPE, payload.content_type())
                    .header(CONTENT_LENGTH, payload.length())
                    .body(payload.body());
            }
            let (began, sent) = (Instant::now(), Timestamp::now());
            let reply = match request.send().await {
                Ok(reply) => reply,
                Err(error) => {
                    let error = self.send_error(&error, &url, call);
                    if matches!(error.fault, Fault::Timeout(_)) {
                        self.kept.leave_all();
                    }
                    if is_home {
                        permit.record_error(&error);
                    }
                    return Err(if is_home || call.accept == JSON { error } else { storage_error(error, &url) });
                }
            };
            tracing::debug!(call = %call.line(), status = reply.status().as_u16(), took = ?began.elapsed(), "answered");
            // The proxy's answer to a request that it would pass on in the clear.
            if reply.status().as_u16() == 407
                && let Some(refusal) = proxy_refusal(&url)
            {
                return Err(call.error(refusal));
            }
            if is_home {
                self.clock.update(reply.headers(), sent, Timestamp::now());
                let status = reply.status().as_u16();
                match &changes {
                    Some(changes) => {
                        changes.record(status, reply.headers());
                        permit.record_unlimited(status);
                    }
                    // Its headers announce the limits of all requests, which are not used up.
                    None if limits_endpoint(&reply) => permit.record(200, reply.headers()),
                    None => permit.record(status, reply.headers()),
                }
            }
            if !matches!(reply.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                let is_answer = reply.status().is_success() || reply.status() == 404;
                if call.is_read() && is_answer && hop == 0 {
                    self.moved_projects.forget(&target);
                }
                // The token was not sent there.
                if !is_home && call.accept == JSON && matches!(reply.status().as_u16(), 401 | 403 | 404) {
                    let message = format!("the server has moved to {}; pass it with --host", https_address(&url));
                    return Err(call.error(Fault::Refused(301, message)));
                }
                return Ok(reply);
            }
            let place = reply.headers().get(LOCATION).and_then(|l| l.to_str().ok()).and_then(|l| url.join(l).ok());
            let Some(place) = place.filter(|place| matches!(place.scheme(), "http" | "https")) else {
                return Ok(reply);
            };
            if let Some(address) = https_redirect(&url, reply.headers(), call.accept == JSON) {
                return Err(call.error(Fault::NeedsHttps(address)));
            }
            if !call.is_read() {
                let host = place.host_str().unwrap_or_default();
                let message = format!("the server redirects writes to {host}; pass it with --host");
                return Err(call.error(Fault::Refused(reply.status().as_u16(), message)));
            }
            if url.scheme() == "https" && place.scheme() == "http" {
                let host = place.host_str().unwrap_or_default();
                let message = format!("the server redirects to {host} without encryption, which is not followed");
                return Err(call.error(Fault::Refused(reply.status().as_u16(), message)));
            }
            if reply.status().as_u16() == 301 && place.origin() == home {
                self.moved_projects.learn(&target, &url, &place);
            }
            url = place;
        }
        Err(call.error(Fault::Refused(302, format!("the server redirects more than {MAX_HOPS} times"))))
    }

    fn send_error(&self, error: &reqwest::Error, url: &Url, call: &Call) -> Error {
        // Files are read while they are sent, and may have been deleted or changed.
        if let Some(unreadable) = super::payload::unreadable_file(error) {
            return call.error(Fault::Disk(unreadable));
        }
        let timeouts = self.server.timeouts;
        let after = if error.is_connect() { timeouts.connect } else { timeouts.read };
        match network_fault(error, url, after) {
            // The server may have processed it before the connection broke.
            Fault::Offline(why) if !call.is_read() && !is_unprocessed(error) => call.error(Fault::Cut(why)),
            fault => call.error(fault),
        }
    }

    /// Returns the reply if its status is a success and it is not a web page in place of content; otherwise returns an
    /// error with the server's message.
    pub(super) async fn check_status(
        &self,
        mut reply: reqwest::Response,
        call: &Call,
    ) -> Result<reqwest::Response, Error> {
        let status = reply.status();
        // A write that is already in effect is answered with 304, and a read whose reply is known.
        let is_success = status.is_success() || (status.as_u16() == 304 && (!call.is_read() || call.known.is_some()));
        let is_page = is_web_page(reply.headers());
        let is_replaced = is_success && call.expected.is_content() && is_page;
        if is_success && !is_replaced {
            return Ok(reply);
        }
        let wait = requested_pause(reply.headers(), Timestamp::now());
        let mut body = Vec::new();
        // An error page that is cut off may still contain the message.
        while let Ok(Some(chunk)) = reply.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR_BODY {
                break;
            }
        }
        if is_replaced {
            return Err(call.error(call.expected.web_page(&body)));
        }
        let mut error = Error::from_status(call.line(), status.as_u16(), error_message(&body), wait);
        if reply.url().origin() != self.server.base_url.origin() && !error.is_temporary() {
            error.fault = Fault::Refused(status.as_u16(), error.message());
            return Err(storage_error(error, reply.url()));
        }
        let is_slash_sent = call.target.split('?').next().is_some_and(|path| path.contains("%2F"));
        if status == 404
            && is_slash_sent
            && (is_page || is_unknown_route(&body))
            && let Err(Error { fault, .. }) = self.check_encoded_slashes().await
        {
            return Err(call.error(fault));
        }
        match &mut error.fault {
            Fault::Limited(route, _) if call.reads_changes() || limits_endpoint(&reply) => *route = call.route,
            Fault::Missing(message) if is_page && !call.expected.is_content() => {
                let reason = format!("404 with a web page instead of JSON: {message}");
                error.fault = Fault::Unreadable(Unreadable { field: ".".into(), reason });
            }
            Fault::Missing(message) if is_unknown_route(&body) => {
                error.fault = Fault::Unsupported(std::mem::take(message))
            }
            Fault::Unauthorized(message) | Fault::Denied(message) | Fault::Refused(_, message)
                if status != 413 && !is_from_gitlab(&body) =>
            {
                error.fault = Fault::Gateway(status.as_u16(), std::mem::take(message));
            }
            Fault::Denied(_) => {
                let scopes = missing_scopes(&body).map(Fault::Scope);
                if let Some(fault) = scopes.or_else(|| missing_permissions(&body).map(Fault::Permission)) {
                    error.fault = fault;
                }
            }
            _ => {}
        }
        Err(error)
    }

    /// Reads the complete reply.
    pub(super) async fn read_whole(&self, mut reply: reqwest::Response, call: &Call) -> Result<Response, Error> {
        let status = reply.status().as_u16();
        let (mut page, names_next) = (PageInfo::from_headers(reply.headers()), page::names_next(reply.headers()));
        let content_type = content_type(reply.headers());
        let etag = Etag::of(reply.headers());
        let mut body = Vec::with_capacity(reply.content_length().unwrap_or(0).min(LARGE_BODY as u64) as usize);
        let is_json = call.accept == JSON;
        let mut counter = ReplyCounter::default();
        let size = reply.content_length();
        let on_part = self.on_part.as_ref().filter(|_| status == 200);
        let (mut told, mut told_at) = (0, Instant::now());
        while let Some(chunk) =
            reply.chunk().await.map_err(|e| cut_error(&e, call.line(), self.server.timeouts.read))?
        {
            if body.len() + chunk.len() > MAX_BODY {
                let message = format!("the reply is larger than {} MB", MAX_BODY / (1024 * 1024));
                return Err(call.error(Fault::TooLarge(message)));
            }
            if is_json {
                counter.add(&chunk).map_err(|message| call.error(Fault::TooLarge(message)))?;
            }
            body.extend_from_slice(&chunk);
            // Each part is twice as long as the one before, so that all of them together cost little.
            if let Some(OnPart(on_part)) = on_part
                && body.len() >= (2 * told).max(MIN_PART)
                && told_at.elapsed() >= PART_INTERVAL
                && call.expected.check_beginning(&body, content_type.as_deref()).is_ok()
            {
                on_part(&body, size);
                (told, told_at) = (body.len(), Instant::now());
            }
        }
        if status == 304 && is_json {
            body = b"null".to_vec();
        }
        let body = Bytes::from(body);
        if !names_next {
            let (target, rows, total) = (call.target.clone(), body.clone(), page.total);
            let next = off_thread(body.len(), move || page::possible_page(&target, &rows, total)).await;
            page.next = next.map_err(|gone| call.error(internal_fault(&gone)))?;
        }
        Ok(Response { status, body, content_type, page, etag })
    }

    /// Sends a call and reads the complete reply; a status other than success, and anything but what is expected, is an
    /// error.
    pub(super) async fn fetch(&self, call: &Call) -> Result<Response, Error> {
        let response = self.exchange_whole(call, false).await?;
        if response.status != 304 {
            let (expected, body, kind) = (call.expected.clone(), response.body.clone(), response.content_type.clone());
            let check = move || expected.check(&body, kind.as_deref());
            let checked = off_thread(response.body.len(), check).await;
            checked.unwrap_or_else(|gone| Err(internal_fault(&gone))).map_err(|fault| call.error(fault))?;
        }
        Ok(response)
    }

    /// Sends a call and reads the complete reply, whatever its status.
    pub(super) async fn fetch_with_any_status(&self, call: &Call) -> Result<Response, Error> {
        self.exchange_whole(call, true).await
    }

    /// Sends a call and reads the complete reply. A read whose reply was cut is repeated once, unless the server cuts one
    /// reply after the other.
    async fn exchange_whole(&self, call: &Call, accepts_any_status: bool) -> Result<Response, Error> {
        let mut is_last = !call.is_read();
        loop {
            let reply = match accepts_any_status {
                true => self.exchange_with_any_status(call).await?,
                false => self.check_status(self.exchange(call).await?, call).await?,
            };
            let outcome = self.read_whole(reply, call).await;
            let is_cut = matches!(&outcome, Err(Error { fault: Fault::Cut(_), .. }));
            if self.pace.count_cuts(is_cut) > MAX_RETRIES || !is_cut || is_last {
                return outcome;
            }
            is_last = true;
            wait_before_retry(self.server.timeouts.retry_delay).await;
        }
    }

    /// Sends a call; only a web page in place of a success, such as that of a sign-in, is an error.
    pub(super) async fn exchange_with_any_status(&self, call: &Call) -> Result<reqwest::Response, Error> {
        let reply = self.exchange(call).await?;
        if reply.status().is_success() { self.check_status(reply, call).await } else { Ok(reply) }
    }
}

/// Returns the error for a file that the server keeps in a storage at `url`, which failed or cannot be reached.
fn storage_error(error: Error, url: &Url) -> Error {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let fault = match error.fault {
        Fault::Offline(why) | Fault::Tls(why) => Fault::Storage(why),
        Fault::Timeout(_) | Fault::Refused(..) => Fault::Storage(format!("{host}: {}", error.message())),
        fault => fault,
    };
    Error { fault, ..error }
}

/// Returns the `https://` address of the server if a reply redirects to it from the `http://` address. A storage has
/// files only, `is_data` means that something else was requested.
pub(super) fn https_redirect(from: &Url, headers: &HeaderMap, is_data: bool) -> Option<String> {
    let place = headers.get(LOCATION)?.to_str().ok()?;
    let place = from.join(place).ok().filter(|place| is_upgrade(from, place, is_data))?;
    Some(https_address(&place))
}

/// Returns whether a redirect leads from the `http://` address of a server to its `https://` address, and not to a
/// storage.
fn is_upgrade(from: &Url, to: &Url, is_data: bool) -> bool {
    let is_same_host = from.host() == to.host() && (to.port().is_none() || is_data);
    from.scheme() == "http" && to.scheme() == "https" && (is_same_host || from.path() == to.path())
}

/// Returns the address of the server from the place to which it redirects a request.
fn https_address(place: &Url) -> String {
    let mut address = place.clone();
    address.set_query(None);
    address.set_fragment(None);
    // Neither fails for an address with a host.
    let _ = address.set_username("").and_then(|()| address.set_password(None));
    let path = address.path().split("/api/v4").next().unwrap_or_default().trim_end_matches('/').to_owned();
    // A server that redirects everything to one page does not say where its API is.
    address.set_path(if place.path().contains("/api/v4") { &path } else { "" });
    address.as_str().trim_end_matches('/').to_owned()
}

/// Returns whether the token was refused because it expired or was revoked. The status alone is not enough: a 401 can
/// also mean a missing permission.
fn is_token_refused(reply: &reqwest::Response) -> bool {
    let challenge = reply.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    reply.status().as_u16() == 401 && challenge.contains("invalid_token")
}

/// Parses a reply; a large one on a blocking thread, so that the async threads stay responsive.
pub(super) async fn read<R: Reply>(response: Response, tried: String) -> Result<R, Error> {
    let size = response.body.len();
    let read = off_thread(size, move || R::read(&response.body, response.content_type.as_deref())).await;
    let read = read.map_err(|gone| internal_fault(&gone)).and_then(|read| read.map_err(Fault::Unreadable));
    read.map_err(|fault| Error { tried, fault })
}

/// Runs work on a body of this size; on a blocking thread if it is large, so that the async threads stay responsive.
pub(super) async fn off_thread<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    if size > LARGE_BODY { tokio::task::spawn_blocking(work).await } else { Ok(work()) }
}

fn internal_fault(error: &tokio::task::JoinError) -> Fault {
    Fault::Unreadable(Unreadable { field: ".".into(), reason: error.to_string() })
}

pub(super) async fn wait_before_retry(pause: Duration) {
    tokio::time::sleep(pause).await;
}

/// Returns the error for a reply that ended early.
pub(super) fn cut_error(error: &reqwest::Error, tried: String, read_timeout: Duration) -> Error {
    let fault = match error {
        error if error.is_timeout() && !is_lost(error) => Fault::Timeout(read_timeout),
        error if is_aborted(error) => Fault::Cut("the server aborted the reply".into()),
        _ => Fault::Cut("the connection closed before the reply was complete".into()),
    };
    Error { tried, fault }
}

/// Returns whether a reply is a web page to be shown by a browser: servers send files of that type as attachments.
pub(super) fn is_web_page(headers: &HeaderMap) -> bool {
    let kind = content_type(headers).unwrap_or_default().to_ascii_lowercase();
    let is_html = kind.starts_with("text/html") || kind.starts_with("application/xhtml");
    is_html && !headers.contains_key(CONTENT_DISPOSITION)
}

pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Parses the `Content-Range` header: `bytes 5-9/10` is `(Some(5), Some(10))`, `bytes */10` is `(None, Some(10))`.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().strip_prefix("bytes")?.trim_start();
    let (range, total) = text.split_once('/')?;
    let first = range.split_once('-').and_then(|(first, _)| first.trim().parse().ok());
    Some((first, total.trim().parse().ok()))
}

/// Parses the `Retry-After` header: seconds, or a date by the server's clock. If the reply has no `Date` header, the
/// local clock is used.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = clock::date(headers).unwrap_or(now);
    Some(until(jiff::fmt::rfc2822::parse(text).ok()?.timestamp(), now))
}

/// Returns whether a reply refuses only requests of its endpoint: GitLab sends JSON and a pause then, and plain text if all
/// requests of the user are too many.
fn limits_endpoint(reply: &reqwest::Response) -> bool {
    let headers = reply.headers();
    let is_json = || content_type(headers).is_some_and(|kind| kind.starts_with(JSON));
    reply.status() == 429 && headers.contains_key(RETRY_AFTER) && is_json()
}

/// Returns the pause that a server requests after too many requests, from any of its headers; `None` if it has passed.
pub(super) fn pause_after_refusal(headers: &HeaderMap) -> Option<Duration> {
    requested_pause(headers, Timestamp::now()).filter(|pause| !pause.is_zero())
}

/// Returns the pause that a server requests after too many requests, from any of its headers.
fn requested_pause(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    retry_after(headers, now).or_else(|| {
        let reset = headers.get("ratelimit-reset")?.to_str().ok()?.trim().parse().ok()?;
        Some(until(Timestamp::from_second(reset).ok()?, clock::date(headers).unwrap_or(now)))
    })
}

/// Returns the time from `now` until `moment`; zero if that has passed.
pub(super) fn until(moment: Timestamp, now: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(moment.as_second().saturating_sub(now.as_second())).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(reqwest::header::HeaderName::from_static(name), value.parse().unwrap())])
    }

    #[test]
    fn retry_after_formats() {
        let now: Timestamp = "2018-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(requested_pause(&headers("retry-after", "7"), now), Some(Duration::from_secs(7)));
        let date = headers("retry-after", "Mon, 01 Jan 2018 00:00:05 GMT");
        assert_eq!(requested_pause(&date, now), Some(Duration::from_secs(5)));
        let past = headers("retry-after", "Sun, 31 Dec 2017 00:00:05 GMT");
        assert_eq!(requested_pause(&past, now), Some(Duration::ZERO));
        let reset = headers("ratelimit-reset", &(now.as_second() + 9).to_string());
        assert_eq!(requested_pause(&reset, now), Some(Duration::from_secs(9)));
        assert_eq!(requested_pause(&headers("retry-after", "soon"), now), None);
        // If the server's clock is ten minutes ahead or a year behind, the pause is just as long.
        for (date, second) in
            [("Mon, 01 Jan 2018 00:10:00 GMT", 1_514_765_400), ("Sun, 01 Jan 2017 00:00:00 GMT", 1_483_228_800)]
        {
            let mut message = headers("date", date);
            message.insert("ratelimit-reset", (second + 9).to_string().parse().unwrap());
            assert_eq!(requested_pause(&message, now), Some(Duration::from_secs(9)));
            message.insert(RETRY_AFTER, date.replace("00 GMT", "05 GMT").parse().unwrap());
            assert_eq!(requested_pause(&message, now), Some(Duration::from_secs(5)));
        }
    }

    #[test]
    fn content_ranges_are_parsed() {
        assert_eq!(content_range(&headers("content-range", "bytes 5-9/10")), Some((Some(5), Some(10))));
        assert_eq!(content_range(&headers("content-range", "bytes */10")), Some((None, Some(10))));
        assert_eq!(content_range(&headers("content-range", "bytes 5-9/*")), Some((Some(5), None)));
        assert_eq!(content_range(&headers("content-range", "lines 5")), None);
    }

    #[test]
    fn a_path_prefix_is_kept() {
        let server = super::super::Server::new(Url::parse("https://h.example/gitlab/?x=1").unwrap());
        let client = Client::new(server).unwrap();
        let url = client.url(&client.raw_call(Method::GET, "projects/a%2Fb?page=1", &[]).unwrap()).unwrap();
        assert_eq!(url.as_str(), "https://h.example/gitlab/api/v4/projects/a%2Fb?page=1");
    }
}
