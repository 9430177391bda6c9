//! The client: sends requests to one server, waits and tries again where that is safe, and says in words what failed.

use crate::api::endpoint::{Endpoint, Method, Reply, Request, mask};
use crate::api::error::{Error, Fault, Unreadable, network_fault, words_of};
use crate::api::page::{Page, PageInfo};
use bytes::Bytes;
use futures::stream::{Stream, try_unfold};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RANGE, RETRY_AFTER};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Hops of a redirect that are followed.
const MAX_HOPS: usize = 5;
/// How often a call is sent again.
const MAX_RETRIES: u32 = 3;
/// A server that asks for a longer pause than this gets its way: the call fails and says how long.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Replies from this size on are read on a thread of their own.
const BIG_BODY: usize = 256 * 1024;
/// What a reply may weigh that is kept in memory; larger things are streamed.
const LARGEST_BODY: usize = 512 * 1024 * 1024;
/// How much of an error page is read for its words.
const LARGEST_ERROR: usize = 64 * 1024;

/// A server and how to speak to it.
#[derive(Clone, Debug)]
pub struct Server {
    /// The root of its web pages, `https://host` or `https://host/gitlab`; `/api/v4` is appended.
    pub base_url: Url,
    /// Goes with every request to this server, and to no other.
    pub token: Option<SecretString>,
    /// A PEM file of authorities to trust beside the system's.
    pub ca_cert: Option<PathBuf>,
    /// Refuse everything that is not a read before it is sent.
    pub read_only: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Server {
    /// A server without a token, to read and write.
    pub fn new(base_url: Url) -> Server {
        Server { base_url, token: None, ca_cert: None, read_only: false, timeouts: Timeouts::default() }
    }
}

/// How long to wait for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the next bytes of an answer.
    pub read: Duration,
    /// Before a call is sent again; each further time is twice as long.
    pub retry: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: Duration::from_secs(10), read: Duration::from_secs(30), retry: Duration::from_millis(250) }
    }
}

/// Speaks to one server; cheap to clone, and dropping a call's future cancels the call.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    server: Arc<Server>,
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The body, unpacked.
    pub body: Bytes,
    /// `Content-Type`, where the server named one.
    pub content_type: Option<String>,
    /// What the headers say of paging.
    pub page: PageInfo,
}

/// A reply whose body is read as it comes.
#[derive(Debug)]
pub struct Download {
    /// The offset of the first byte that comes: where the caller asked to start, or 0 where the server sends all.
    pub start: u64,
    /// Bytes to come, where the server said.
    pub length: Option<u64>,
    /// `Content-Type`, where the server named one.
    pub content_type: Option<String>,
    /// Absent where there is nothing to come.
    reply: Option<reqwest::Response>,
    tried: String,
    read_timeout: Duration,
}

impl Download {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(reply) = &mut self.reply else { return Ok(None) };
        reply.chunk().await.map_err(|e| cut(&e, &self.tried, self.read_timeout))
    }
}

/// One call in the form in which it is sent, and sent again.
struct Call<'a> {
    method: Method,
    url: Url,
    accept: &'static str,
    form: Option<&'a [(String, String)]>,
    json: Option<&'a str>,
    range: Option<u64>,
    /// What errors say was tried.
    tried: String,
}

impl Client {
    /// A client of `server`. Building it reads the system's certificates, which takes some milliseconds; it connects
    /// to nothing yet.
    pub fn new(server: Server) -> Result<Client, Error> {
        // Whoever installs a provider first wins, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("labscope/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(server.timeouts.connect)
            .read_timeout(server.timeouts.read)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&server.base_url) {
            builder = builder.no_proxy();
        }
        if let Some(path) = &server.ca_cert {
            let name = path.display();
            let tried = format!("read {name}");
            let fault = |why: String| Error { tried: tried.clone(), fault: Fault::Tls(why) };
            let pem = std::fs::read(path).map_err(|e| fault(format!("the file of authorities cannot be read: {e}")))?;
            let authorities = reqwest::Certificate::from_pem_bundle(&pem).ok().filter(|found| !found.is_empty());
            let Some(authorities) = authorities else {
                return Err(fault(format!("{name} holds no PEM certificate")));
            };
            builder = builder.tls_certs_merge(authorities);
        }
        let tried = format!("connect to {}", server.base_url);
        let http = builder.build().map_err(|e| Error { tried, fault: Fault::Tls(e.to_string()) })?;
        Ok(Client { http, server: Arc::new(server) })
    }

    /// The server that it speaks to.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Sends a request; a status that is not a success is an error.
    pub async fn send(&self, request: &Request) -> Result<Response, Error> {
        let call = self.call_of(request, None)?;
        let reply = self.exchange(&call).await?;
        let reply = self.accepted(reply, &call.tried).await?;
        self.whole(reply, &call.tried).await
    }

    /// Performs an operation and reads its output.
    pub async fn call<E: Endpoint>(&self, endpoint: &E) -> Result<E::Output, Error> {
        let request = endpoint.request();
        let response = self.send(&request).await?;
        read::<E::Output>(response, request.line()).await
    }

    /// Reads one page of a list; pages count from 1, and servers hold `per_page` to 100.
    pub async fn page<E: Endpoint>(&self, endpoint: &E, page: u32, per_page: u32) -> Result<Page<E::Output>, Error> {
        let request = endpoint.request().at_page(page, per_page);
        let response = self.send(&request).await?;
        let info = response.page;
        let items = read::<E::Output>(response, request.line()).await?;
        Ok(Page { items, info })
    }

    /// All pages of a list, one after the other, as they are asked for.
    pub fn all<E: Endpoint>(&self, endpoint: E, per_page: u32) -> impl Stream<Item = Result<Page<E::Output>, Error>> {
        let start = (self.clone(), endpoint, Some(1_u32));
        try_unfold(start, move |(client, endpoint, page)| async move {
            let Some(number) = page else { return Ok(None) };
            let page = client.page(&endpoint, number, per_page).await?;
            // A server that names the same page again would never end.
            let next = page.info.next.filter(|next| *next > number);
            Ok(Some((page, (client, endpoint, next))))
        })
    }

    /// Starts a download whose first `from` bytes are known already: a trace that grows, a file that was cut.
    ///
    /// A server that honours ranges sends what is new, another sends all: [`Download::start`] tells which.
    pub async fn stream(&self, request: &Request, from: u64) -> Result<Download, Error> {
        let mut call = self.call_of(request, (from > 0).then_some(from))?;
        let mut reply = self.exchange(&call).await?;
        if reply.status() == 416 {
            let total = content_range(reply.headers()).and_then(|(_, total)| total);
            if total.is_none_or(|total| total == from) {
                return Ok(self.download(None, from, call.tried));
            }
            // It is shorter than it was: begin again.
            call.range = None;
            reply = self.exchange(&call).await?;
        }
        let reply = self.accepted(reply, &call.tried).await?;
        let start = match (reply.status().as_u16(), content_range(reply.headers())) {
            (206, Some((first, _))) => first.unwrap_or(from),
            (206, None) => from,
            _ => 0,
        };
        Ok(self.download(Some(reply), start, call.tried))
    }

    /// One call as a person typed it; errors of the server are replies like others.
    ///
    /// `target` is a path below `/api/v4`, with or without a query; `form` goes into the query of a `GET` and into the
    /// form of anything else.
    pub async fn raw(&self, method: Method, target: &str, form: &[(String, String)]) -> Result<Response, Error> {
        let below = target.trim_start_matches('/');
        let below = below.strip_prefix("api/v4/").unwrap_or(below);
        let mut url = self.url(&format!("/{below}"), method.as_str())?;
        let in_query = method == Method::GET || method == Method::HEAD;
        if in_query && !form.is_empty() {
            url.query_pairs_mut().extend_pairs(form);
        }
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("/{}{query}", below.split('?').next().unwrap_or_default());
        let tried = mask(&format!("{method} {path}"));
        self.permit(&method, &tried)?;
        let form = (!in_query && !form.is_empty()).then_some(form);
        let call = Call { method, url, accept: "*/*", form, json: None, range: None, tried };
        let reply = self.exchange(&call).await?;
        self.whole(reply, &call.tried).await
    }

    fn permit(&self, method: &Method, tried: &str) -> Result<(), Error> {
        if self.server.read_only && method != Method::GET && method != Method::HEAD {
            return Err(Error { tried: tried.to_owned(), fault: Fault::ReadOnly });
        }
        Ok(())
    }

    fn url(&self, target: &str, tried: &str) -> Result<Url, Error> {
        let mut base = self.server.base_url.clone();
        base.set_query(None);
        base.set_fragment(None);
        let text = format!("{}/api/v4{target}", base.as_str().trim_end_matches('/'));
        Url::parse(&text).map_err(|e| Error {
            tried: tried.to_owned(),
            fault: Fault::Refused(400, format!("{} is no address: {e}", mask(&text))),
        })
    }

    fn call_of<'a>(&self, request: &'a Request, range: Option<u64>) -> Result<Call<'a>, Error> {
        let tried = request.line();
        let method = match request.method {
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            "DELETE" => Method::DELETE,
            _ => Method::GET,
        };
        self.permit(&method, &tried)?;
        let url = self.url(&request.target(), &tried)?;
        // An address folds `.` and `..` away, and the call would go elsewhere.
        if !url.path().ends_with(&request.path) {
            return Err(Error { tried, fault: Fault::Refused(400, "a name of dots alone cannot be asked for".into()) });
        }
        Ok(Call {
            method,
            url,
            accept: request.accept,
            form: request.form.then_some(request.fields.as_slice()),
            json: request.json.as_deref(),
            range,
            tried,
        })
    }

    /// Sends a call, follows redirects, and sends it again where that is safe and may help.
    async fn exchange(&self, call: &Call<'_>) -> Result<reqwest::Response, Error> {
        let reads = call.method == Method::GET || call.method == Method::HEAD;
        let mut attempt = 0;
        loop {
            let outcome = self.follow(call).await;
            let pause = self.server.timeouts.retry * 2_u32.pow(attempt);
            let last = attempt == MAX_RETRIES;
            attempt += 1;
            let wait = match &outcome {
                _ if last => return outcome,
                Ok(reply) => match reply.status().as_u16() {
                    // The server refused it before it did anything, so a write may come again, too.
                    429 => wait_asked(reply.headers(), Timestamp::now()).unwrap_or(pause),
                    502..=504 if reads => retry_after(reply.headers(), Timestamp::now()).unwrap_or(pause),
                    _ => return outcome,
                },
                Err(error) if reads && matches!(error.fault, Fault::Offline(_)) => pause,
                Err(_) => return outcome,
            };
            if wait > LONGEST_PAUSE {
                return outcome;
            }
            tracing::debug!(call = %call.tried, ?wait, attempt, "trying again");
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends a call once and follows where it is sent to.
    async fn follow(&self, call: &Call<'_>) -> Result<reqwest::Response, Error> {
        let home = self.server.base_url.origin();
        let mut url = call.url.clone();
        for _ in 0..=MAX_HOPS {
            let mut request = self.http.request(call.method.clone(), url.clone()).header(ACCEPT, call.accept);
            // Storage and other hosts that a server sends us to must not learn the token.
            if let Some(token) = self.server.token.as_ref().filter(|_| url.origin() == home) {
                let mut value = HeaderValue::from_str(token.expose_secret().trim()).map_err(|_| Error {
                    tried: call.tried.clone(),
                    fault: Fault::Unauthorized("the token holds characters that no token has".into()),
                })?;
                value.set_sensitive(true);
                request = request.header("PRIVATE-TOKEN", value);
            }
            if let Some(from) = call.range {
                request = request.header(RANGE, format!("bytes={from}-"));
            }
            if let Some(form) = call.form {
                request = request.form(form);
            }
            if let Some(json) = call.json {
                request = request.header(CONTENT_TYPE, "application/json").body(json.to_owned());
            }
            let began = Instant::now();
            let reply = request.send().await.map_err(|e| self.unsent(&e, &url, &call.tried))?;
            tracing::debug!(call = %call.tried, status = reply.status().as_u16(), took = ?began.elapsed(), "answered");
            if !matches!(reply.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(reply);
            }
            let place = reply.headers().get(LOCATION).and_then(|l| l.to_str().ok()).and_then(|l| url.join(l).ok());
            let Some(place) = place.filter(|place| matches!(place.scheme(), "http" | "https")) else {
                return Ok(reply);
            };
            if call.method != Method::GET && call.method != Method::HEAD {
                let host = place.host_str().unwrap_or_default();
                let said = format!("the server sends writes on to {host}; give that host with --host");
                return Err(Error { tried: call.tried.clone(), fault: Fault::Refused(reply.status().as_u16(), said) });
            }
            url = place;
        }
        let said = format!("the server redirects more than {MAX_HOPS} times");
        Err(Error { tried: call.tried.clone(), fault: Fault::Refused(302, said) })
    }

    fn unsent(&self, error: &reqwest::Error, url: &Url, tried: &str) -> Error {
        let timeouts = self.server.timeouts;
        let after = if error.is_connect() { timeouts.connect } else { timeouts.read };
        Error { tried: tried.to_owned(), fault: network_fault(error, url, after) }
    }

    /// A reply with a status of success; any other becomes an error in the server's words.
    async fn accepted(&self, mut reply: reqwest::Response, tried: &str) -> Result<reqwest::Response, Error> {
        let status = reply.status();
        if status.is_success() {
            return Ok(reply);
        }
        let wait = wait_asked(reply.headers(), Timestamp::now());
        let mut body = Vec::new();
        // An error page that ends early still says what it says.
        while let Ok(Some(chunk)) = reply.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_ERROR {
                break;
            }
        }
        Err(Error::from_status(tried.to_owned(), status.as_u16(), words_of(&body), wait))
    }

    async fn whole(&self, mut reply: reqwest::Response, tried: &str) -> Result<Response, Error> {
        let status = reply.status().as_u16();
        let page = PageInfo::from_headers(reply.headers());
        let content_type = content_type(reply.headers());
        let mut body = Vec::with_capacity(reply.content_length().unwrap_or(0).min(BIG_BODY as u64) as usize);
        while let Some(chunk) = reply.chunk().await.map_err(|e| cut(&e, tried, self.server.timeouts.read))? {
            if body.len() + chunk.len() > LARGEST_BODY {
                let said = format!("the reply is larger than {} MB", LARGEST_BODY / (1024 * 1024));
                return Err(Error { tried: tried.to_owned(), fault: Fault::Cut(said) });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status, body: body.into(), content_type, page })
    }

    fn download(&self, reply: Option<reqwest::Response>, start: u64, tried: String) -> Download {
        Download {
            start,
            length: reply.as_ref().map_or(Some(0), reqwest::Response::content_length),
            content_type: reply.as_ref().and_then(|reply| content_type(reply.headers())),
            reply,
            tried,
            read_timeout: self.server.timeouts.read,
        }
    }
}

/// Reads a reply; a big one off the threads that keep everything moving.
async fn read<R: Reply>(response: Response, tried: String) -> Result<R, Error> {
    let big = response.body.len() > BIG_BODY;
    let work = move || R::read(&response.body, response.content_type.as_deref());
    let result = if big {
        let gone = |error: tokio::task::JoinError| Err(Unreadable { field: ".".into(), reason: error.to_string() });
        tokio::task::spawn_blocking(work).await.unwrap_or_else(gone)
    } else {
        work()
    };
    result.map_err(|unreadable| Error { tried, fault: Fault::Unreadable(unreadable) })
}

fn cut(error: &reqwest::Error, tried: &str, read_timeout: Duration) -> Error {
    let fault = if error.is_timeout() {
        Fault::Timeout(read_timeout)
    } else {
        Fault::Cut("the connection ended before the reply was whole".into())
    };
    Error { tried: tried.to_owned(), fault }
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// `bytes 5-9/10` is `(Some(5), Some(10))`, `bytes */10` is `(None, Some(10))`.
fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().strip_prefix("bytes")?.trim_start();
    let (range, total) = text.split_once('/')?;
    let first = range.split_once('-').and_then(|(first, _)| first.trim().parse().ok());
    Some((first, total.trim().parse().ok()))
}

/// The pause that a server asks for: seconds or a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Some(until(jiff::fmt::rfc2822::parse(text).ok()?.timestamp(), now))
}

/// The pause that a server asks for when there were too many requests, in any of its headers.
fn wait_asked(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    retry_after(headers, now).or_else(|| {
        let reset = headers.get("ratelimit-reset")?.to_str().ok()?.trim().parse().ok()?;
        Some(until(Timestamp::from_second(reset).ok()?, now))
    })
}

/// From now to a moment; nothing to one that has passed.
fn until(moment: Timestamp, now: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(moment.as_second().saturating_sub(now.as_second())).unwrap_or(0))
}

/// Whether the host is this machine, which no proxy can reach.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(reqwest::header::HeaderName::from_static(name), value.parse().unwrap())])
    }

    #[test]
    fn a_server_asks_for_a_pause_in_seconds_by_date_or_by_the_second_of_its_clock() {
        let now: Timestamp = "2018-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(wait_asked(&headers("retry-after", "7"), now), Some(Duration::from_secs(7)));
        let date = headers("retry-after", "Mon, 01 Jan 2018 00:00:05 GMT");
        assert_eq!(wait_asked(&date, now), Some(Duration::from_secs(5)));
        let past = headers("retry-after", "Sun, 31 Dec 2017 00:00:05 GMT");
        assert_eq!(wait_asked(&past, now), Some(Duration::ZERO));
        let reset = headers("ratelimit-reset", &(now.as_second() + 9).to_string());
        assert_eq!(wait_asked(&reset, now), Some(Duration::from_secs(9)));
        assert_eq!(wait_asked(&headers("retry-after", "soon"), now), None);
    }

    #[test]
    fn a_range_says_where_it_starts_and_how_much_there_is() {
        assert_eq!(content_range(&headers("content-range", "bytes 5-9/10")), Some((Some(5), Some(10))));
        assert_eq!(content_range(&headers("content-range", "bytes */10")), Some((None, Some(10))));
        assert_eq!(content_range(&headers("content-range", "bytes 5-9/*")), Some((Some(5), None)));
        assert_eq!(content_range(&headers("content-range", "lines 5")), None);
    }

    #[test]
    fn no_proxy_stands_between_this_machine_and_itself() {
        for (url, own) in [
            ("http://127.0.0.1:1/", true),
            ("http://[::1]/", true),
            ("http://localhost/gitlab", true),
            ("https://git.example.org", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), own, "{url}");
        }
    }

    #[test]
    fn a_root_below_the_host_is_kept() {
        let client = Client::new(Server::new(Url::parse("https://h.example/gitlab/?x=1").unwrap())).unwrap();
        let url = client.url("/projects/a%2Fb?page=1", "").unwrap();
        assert_eq!(url.as_str(), "https://h.example/gitlab/api/v4/projects/a%2Fb?page=1");
    }
}
