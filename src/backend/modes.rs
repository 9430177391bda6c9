//! Modes for testing clients: the version that the server emulates, and the limits and faults that it simulates.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The version of the server that is emulated: the last release of a major version, except 10.6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Replies contain only what the specification describes, and later operations are missing.
    V10_6,
    V17,
    V18,
    #[default]
    V19,
}

impl Version {
    /// The versions by the names that the command line accepts.
    pub const NAMES: [(&'static str, Version); 4] =
        [("10.6", Version::V10_6), ("17", Version::V17), ("18", Version::V18), ("19", Version::V19)];

    /// Returns the number that the server reports, as `GET /version` does.
    pub fn number(self) -> &'static str {
        match self {
            Version::V10_6 => "10.6.0-labscope",
            Version::V17 => "17.11.0-labscope",
            Version::V18 => "18.11.0-labscope",
            Version::V19 => "19.5.0-labscope",
        }
    }
}

/// The behavior that a test of a client can choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    pub version: Version,
    /// Whether a request for a part of a file gets only that part.
    pub has_ranges: bool,
    /// Whether lists tell how many entries they have.
    pub has_totals: bool,
    /// The maximum number of requests with the same token in a minute.
    pub rate_limit: Option<u32>,
    /// The maximum number of reads of diffs with the same token in a minute.
    pub diff_limit: Option<u32>,
    /// Whether commits that no branch, tag or merge request has any more cannot be read.
    pub forgets_heads: bool,
    /// The time that each request waits before it is handled.
    pub latency: Duration,
    pub failures: Option<Failures>,
}

impl Default for Modes {
    fn default() -> Modes {
        Modes {
            version: Version::default(),
            has_ranges: true,
            has_totals: true,
            rate_limit: None,
            diff_limit: None,
            forgets_heads: false,
            latency: Duration::ZERO,
            failures: None,
        }
    }
}

impl Modes {
    /// Returns the modes of a server of a version.
    pub fn of(version: Version) -> Modes {
        Modes { version, ..Modes::default() }
    }

    /// Returns whether requests and replies pass unchanged.
    pub fn is_transparent(&self) -> bool {
        *self == Modes { forgets_heads: self.forgets_heads, ..Modes::of(self.version) }
    }
}

/// Requests that fail although nothing is wrong with them. The same seed makes the same requests of a series fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failures {
    /// The share of the requests, from 0 to 1.
    pub rate: f64,
    pub seed: u64,
}

/// The ways in which a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// 500, and the request has no effect.
    Internal,
    /// 503 with `Retry-After`, and the request has no effect.
    Unavailable,
    /// 502 from a proxy, although the request has been handled.
    Gateway,
    /// The connection is closed in the middle of the reply.
    HalfReply,
}

impl Failures {
    /// Returns how the request of this number fails, if it does.
    fn of(self, request: u64) -> Option<Failure> {
        let first = scramble(self.seed ^ scramble(request));
        // The largest number of the type is a share of 1.
        let share = first as f64 / u64::MAX as f64;
        let kind = match scramble(first) % 4 {
            0 => Failure::Internal,
            1 => Failure::Unavailable,
            2 => Failure::Gateway,
            _ => Failure::HalfReply,
        };
        (share < self.rate).then_some(kind)
    }
}

/// Maps numbers to numbers that look random (the finalizer of splitmix64).
fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A minute, and the number of requests in it by token.
type Window = (i64, HashMap<u64, u32>);

/// The modes and what they count.
pub struct ModeState {
    modes: Modes,
    /// The number of requests so far.
    requests: AtomicU64,
    /// The current minute, and the number of requests in it by token.
    window: Mutex<Window>,
    /// The same for reads of diffs.
    diffs: Mutex<Window>,
    hasher: RandomState,
    /// Returns the time in seconds.
    now: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl ModeState {
    pub fn new(modes: Modes, now: impl Fn() -> i64 + Send + Sync + 'static) -> ModeState {
        let (requests, window, diffs, hasher) = Default::default();
        ModeState { modes, requests, window, diffs, hasher, now: Box::new(now) }
    }

    /// Counts a request against the limit of its token, and returns the headers that tell about the limit, and the
    /// seconds to wait if the limit is exceeded.
    fn count(&self, window: &Mutex<Window>, limit: u32, headers: &HeaderMap) -> (HeaderMap, Option<i64>) {
        let mut hasher = self.hasher.build_hasher();
        let is_known = ["private-token", "authorization", "job-token"].into_iter().any(|name| {
            let value = headers.get(name);
            value.inspect(|value| hasher.write(value.as_bytes())).is_some()
        });
        let now = (self.now)();
        let minute = now.div_euclid(60);
        let observed = {
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            if window.0 != minute {
                *window = (minute, HashMap::new());
            }
            let count = window.1.entry(hasher.finish()).or_default();
            *count = count.saturating_add(1);
            *count
        };
        let reset = minute.saturating_add(1).saturating_mul(60);
        let name = if is_known { "throttle_authenticated_api" } else { "throttle_unauthenticated_api" };
        let mut told = HeaderMap::from_iter([
            number("ratelimit-limit", limit),
            number("ratelimit-observed", observed),
            number("ratelimit-remaining", limit.saturating_sub(observed)),
            number("ratelimit-reset", reset),
            (HeaderName::from_static("ratelimit-name"), HeaderValue::from_static(name)),
        ]);
        let wait = (observed > limit).then_some(reset - now);
        told.extend(wait.map(|wait| number("retry-after", wait)));
        told.extend(wait.and_then(|_| http_date(reset)).map(|at| (HeaderName::from_static("ratelimit-resettime"), at)));
        (told, wait)
    }
}

/// Returns a time, in seconds, as headers write it.
fn http_date(seconds: i64) -> Option<HeaderValue> {
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    HeaderValue::from_str(&at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).ok()
}

fn number(name: &'static str, value: impl Into<i64>) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static(name), HeaderValue::from(value.into()))
}

/// Handles a request under the modes.
pub async fn apply(State(state): State<Arc<ModeState>>, mut request: Request, next: Next) -> Response {
    let modes = &state.modes;
    if !modes.latency.is_zero() {
        tokio::time::sleep(modes.latency).await;
    }
    let of_diffs = modes.diff_limit.filter(|_| reads_diff(&request)).map(|limit| (&state.diffs, limit));
    let of_all = modes.rate_limit.map(|limit| (&state.window, limit));
    let (mut told, mut wait) = (HeaderMap::new(), None);
    for (window, limit) in of_diffs.into_iter().chain(of_all) {
        let (headers, seconds) = state.count(window, limit, request.headers());
        if wait.is_none() {
            (told, wait) = (headers, seconds);
        }
    }
    if wait.is_some() {
        return (StatusCode::TOO_MANY_REQUESTS, told, "Retry later\n").into_response();
    }
    if !modes.has_ranges {
        request.headers_mut().remove(header::RANGE);
    }
    let failure = modes.failures.and_then(|failures| failures.of(state.requests.fetch_add(1, Ordering::Relaxed)));
    let mut response = match failure {
        Some(Failure::Internal) => {
            failed(StatusCode::INTERNAL_SERVER_ERROR, r#"{"message":"500 Internal Server Error"}"#)
        }
        Some(Failure::Unavailable) => {
            let mut response = failed(StatusCode::SERVICE_UNAVAILABLE, r#"{"message":"503 Service Unavailable"}"#);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            response
        }
        Some(Failure::Gateway) => {
            next.run(request).await;
            // As nginx in front of GitLab writes it.
            let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n\
                        <center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
            (StatusCode::BAD_GATEWAY, [(header::CONTENT_TYPE, "text/html")], page).into_response()
        }
        Some(Failure::HalfReply) => break_off(next.run(request).await),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    if !modes.has_ranges {
        headers.remove(header::ACCEPT_RANGES);
    }
    if !modes.has_totals {
        remove_totals(headers);
    }
    headers.extend(told);
    response
}

/// Returns whether a request reads the changes of a commit, a merge request, or one of its versions, or compares commits.
fn reads_diff(request: &Request) -> bool {
    let path = request.uri().path().trim_end_matches('/');
    let is_version = path.rsplit_once('/').is_some_and(|(of, id)| of.ends_with("/versions") && !id.is_empty());
    let ends = ["/changes", "/diffs", "/raw_diffs", "/diff", "/repository/compare"];
    request.method() == Method::GET && (is_version || ends.iter().any(|end| path.ends_with(end)))
}

fn failed(status: StatusCode, body: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Ends a reply in the middle of its first part, and with it the connection.
fn break_off(response: Response) -> Response {
    let (head, body) = response.into_parts();
    let half = |part: Result<Bytes, axum::Error>| part.map(|bytes| bytes.slice(..bytes.len() / 2));
    let ends = stream::once(async {
        // What was sent so far must leave before the connection is closed.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(axum::Error::new(std::io::Error::other("broken off on purpose")))
    });
    let begins = body.into_data_stream().take(1).map(half);
    Response::from_parts(head, Body::from_stream(begins.chain(ends)))
}

/// Removes the number of entries and of pages of a list, as servers omit them for large lists.
fn remove_totals(headers: &mut HeaderMap) {
    headers.remove("x-total");
    headers.remove("x-total-pages");
    let text = headers.get(header::LINK).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kept: Vec<&str> = text.split(", ").filter(|link| !link.ends_with("rel=\"last\"")).collect();
    if let Ok(value) = HeaderValue::from_str(&kept.join(", "))
        && !text.is_empty()
    {
        headers.insert(header::LINK, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_which_requests_fail_and_how() {
        let failing = |rate, seed| (0..1_000).map(|n| Failures { rate, seed }.of(n)).collect::<Vec<_>>();
        assert_eq!(failing(0.1, 7), failing(0.1, 7));
        assert_ne!(failing(0.1, 7), failing(0.1, 8));
        let count = |rate| failing(rate, 7).iter().flatten().count();
        assert!((60..140).contains(&count(0.1)), "{}", count(0.1));
        assert_eq!((count(0.0), count(1.0)), (0, 1_000));
        for kind in [Failure::Internal, Failure::Unavailable, Failure::Gateway, Failure::HalfReply] {
            assert!(failing(0.1, 7).contains(&Some(kind)), "{kind:?}");
        }
    }

    #[test]
    fn a_limit_counts_by_token_and_starts_anew_each_minute() {
        static NOW: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(130);
        let state = ModeState::new(Modes::default(), || NOW.load(Ordering::Relaxed));
        let token = |secret: &str| {
            HeaderMap::from_iter([(
                HeaderName::from_static("private-token"),
                HeaderValue::from_str(secret).expect("a header"),
            )])
        };
        let wait = |headers: &HeaderMap| state.count(&state.window, 2, headers).1;
        assert_eq!([wait(&token("a")), wait(&token("a")), wait(&token("a"))], [None, None, Some(50)]);
        assert_eq!((wait(&token("b")), wait(&HeaderMap::new())), (None, None));
        NOW.store(180, Ordering::Relaxed);
        let (told, wait) = state.count(&state.window, 2, &token("a"));
        let text = |name| told.get(name).and_then(|value| value.to_str().ok());
        assert_eq!((wait, text("ratelimit-remaining"), text("ratelimit-reset")), (None, Some("1"), Some("240")));
    }

    #[test]
    fn a_list_without_totals_still_has_its_next_page() {
        let mut headers = HeaderMap::from_iter([
            number("x-total", 41),
            number("x-total-pages", 3),
            number("x-next-page", 2),
            (
                header::LINK,
                HeaderValue::from_static("<http://a/b?page=2>; rel=\"next\", <http://a/b?page=3>; rel=\"last\""),
            ),
        ]);
        remove_totals(&mut headers);
        let left: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        assert_eq!(
            headers.get(header::LINK).map(HeaderValue::as_bytes),
            Some(&b"<http://a/b?page=2>; rel=\"next\""[..])
        );
    }
}
