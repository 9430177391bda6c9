//! The HTTP client of one server: sends requests, retries them where that is safe, and describes failures.

mod clock;
mod encoded_slashes;
mod exchange;
mod full_refs;
mod kept_connections;
mod moved_endpoints;
mod moved_projects;
mod oauth;
mod pace;
mod pages;
mod payload;
mod shared_connection;
mod short_refs;
mod tails;
mod tls;
mod transfer;

use crate::endpoint::{Endpoint, Method, Request};
use crate::error::{Error, Fault, proxy_mistake};
use crate::expected::ExpectedReply;
use crate::page::PageInfo;
use crate::proxy::is_bypassed;
use bytes::Bytes;
pub use clock::ClockOffset;
use encoded_slashes::EncodedSlashes;
pub use exchange::{ByteRange, Etag};
use exchange::{Call, read};
use full_refs::FullRefs;
use kept_connections::KeptConnections;
use moved_endpoints::MovedEndpoints;
use moved_projects::MovedProjects;
pub use oauth::{DeviceCode, Grant, Poll, TokenSource};
use pace::Pace;
pub use pace::Priority;
use payload::Payload;
use rustls::ClientConfig;
use secrecy::SecretString;
use shared_connection::SharedConnection;
use short_refs::ShortForm;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tails::Tails;
pub use tls::TlsFiles;
pub use transfer::{Download, OnProgress, Progress};
use url::{Url, form_urlencoded};

/// A server and the settings of its connection.
#[derive(Clone, Debug)]
pub struct Server {
    /// The URL of the web interface, `https://host` or `https://host/gitlab`; `/api/v4` is appended.
    pub base_url: Url,
    /// The token, sent with every request to this server, and never to another.
    pub token: Option<SecretString>,
    /// Whether `token` is an OAuth token, which servers accept only as `Authorization: Bearer`.
    pub oauth: bool,
    /// The source of tokens that are renewed; used instead of `token`.
    pub renewal: Option<TokenSource>,
    /// The files with certificates.
    pub tls: TlsFiles,
    /// Whether writes are refused before they are sent.
    pub read_only: bool,
    pub timeouts: Timeouts,
}

impl Server {
    /// Creates a server without a token that allows writes.
    pub fn new(base_url: Url) -> Server {
        Server {
            base_url,
            token: None,
            oauth: false,
            renewal: None,
            tls: TlsFiles::default(),
            read_only: false,
            timeouts: Timeouts::default(),
        }
    }
}

/// The timeouts of requests, and the delay before retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The timeout for connecting.
    pub connect: Duration,
    /// The timeout for the next bytes of a reply.
    pub read: Duration,
    /// The delay before the first retry; it doubles with each further retry.
    pub retry_delay: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(30),
            retry_delay: Duration::from_millis(250),
        }
    }
}

/// The number of bytes that a server with HTTP/2 may send before any of them is read: 16 times as many as of one reply.
const HTTP2_WINDOW: u32 = 32 << 20;

/// A client of one server. Cheap to clone. Dropping the future of a call cancels the call.
#[derive(Clone, Debug)]
pub struct Client {
    kept: KeptConnections,
    /// The clients for other origins, such as a storage that a redirect names: without a proxy, and with one.
    outside: Arc<[OnceLock<Result<reqwest::Client, Error>>; 2]>,
    server: Arc<Server>,
    clock: Arc<ClockOffset>,
    moved_projects: Arc<MovedProjects>,
    moved_endpoints: Arc<MovedEndpoints>,
    full_refs: Arc<FullRefs>,
    encoded_slashes: Arc<EncodedSlashes>,
    pace: Arc<Pace>,
    /// The pace of reads of changes, which servers limit separately.
    changes_pace: Arc<Pace>,
    tails: Arc<Tails>,
    connection: SharedConnection,
    priority: Priority,
    on_part: Option<OnPart>,
}

/// The function of an [`OnPart`].
type OnPartFn = dyn Fn(&[u8], Option<u64>) + Send + Sync;

/// A callback for what has been received of a long reply so far, and the size of the whole if the server sent it. It must not
/// block.
#[derive(Clone)]
pub struct OnPart(Arc<OnPartFn>);

impl OnPart {
    pub fn new(on_part: impl Fn(&[u8], Option<u64>) + Send + Sync + 'static) -> OnPart {
        OnPart(Arc::new(on_part))
    }
}

impl std::fmt::Debug for OnPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnPart")
    }
}

/// A complete reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// The decompressed body.
    pub body: Bytes,
    pub content_type: Option<String>,
    /// The pagination headers.
    pub page: PageInfo,
    /// The entity tag of the body, if the server sent one.
    pub etag: Option<Etag>,
}

impl Client {
    /// Creates a client of `server` without connecting. This loads the system's certificates, which takes some
    /// milliseconds.
    pub fn new(server: Server) -> Result<Client, Error> {
        // Fails if a provider is already installed; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connection = SharedConnection::new(server.base_url.scheme() == "https");
        let (layer, timeouts, url) = (connection.clone(), server.timeouts, server.base_url.clone());
        let tls = tls_config(&server.tls);
        let kept = KeptConnections::new(Box::new(move || {
            build(http_builder(timeouts, &url).connector_layer(layer.clone()), &url, tls.clone())
        }))?;
        let (clock, moved_projects, moved_endpoints, full_refs, encoded_slashes, tails, outside) = Default::default();
        let pace = || Arc::new(Pace::new(server.timeouts.retry_delay));
        let (pace, changes_pace) = (pace(), pace());
        Ok(Client {
            kept,
            outside,
            server: Arc::new(server),
            clock,
            moved_projects,
            moved_endpoints,
            full_refs,
            encoded_slashes,
            pace,
            changes_pace,
            tails,
            connection,
            priority: Priority::default(),
            on_part: None,
        })
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the HTTP client for an address. Another origin than the server's is shown no client certificate, and what
    /// only this server's users trust is not trusted there.
    fn http(&self, url: &Url) -> Result<reqwest::Client, Error> {
        if url.origin() == self.server.base_url.origin() || self.server.tls == TlsFiles::default() {
            return Ok(self.kept.http());
        }
        let [direct, proxied] = &*self.outside;
        let http = if is_bypassed(url, &env_variable) { direct } else { proxied };
        let build = || {
            // The rest of the address of a storage is as good as a password.
            let mut origin = url.clone();
            origin.set_path("");
            origin.set_query(None);
            build(http_builder(self.server.timeouts, &origin), &origin, tls_config(&TlsFiles::default()))
        };
        http.get_or_init(build).clone()
    }

    /// Returns the server's clock, which is shared by clones of the client.
    pub fn clock(&self) -> &ClockOffset {
        &self.clock
    }

    /// Waits until the server has refused requests for being too many, and returns the pause until the next one.
    pub async fn limited(&self) -> Duration {
        self.pace.limited().await
    }

    /// Returns the pause between two polls with which the limits that the server announces last until they are reset.
    pub fn poll_pause(&self) -> Duration {
        self.pace.poll_pause()
    }

    /// Returns a client of the same server whose requests have this priority.
    pub fn with_priority(self, priority: Priority) -> Client {
        Client { priority, ..self }
    }

    /// Returns a client of the same server that tells what has been received of long replies.
    pub fn with_parts(self, on_part: Option<OnPart>) -> Client {
        Client { on_part, ..self }
    }

    /// Expects that the server has HTTP/2, or that it has not, as in an earlier session. Without this, servers with HTTPS
    /// are expected to have it: the first requests wait for one connection, which they share if it has.
    pub fn expect_http2(&self, had_http2: bool) {
        self.connection.expect_http2(had_http2);
    }

    /// Returns whether the server has HTTP/2, or is expected to.
    pub fn is_http2(&self) -> bool {
        self.connection.is_http2()
    }

    /// Sends a request; a status other than success is an error. If the server has the endpoint at another path, the
    /// request is repeated there.
    pub async fn send(&self, request: &Request) -> Result<Response, Error> {
        self.send_unless_known(request, None).await
    }

    /// Sends a request like [`Client::send`]. If its reply is known, by the entity tag `known`, and has not changed, the
    /// response is a 304 without a body.
    pub async fn send_unless_known(&self, request: &Request, known: Option<&Etag>) -> Result<Response, Error> {
        let elsewhere = self.moved_endpoints.known(request);
        let request = elsewhere.as_ref().unwrap_or(request);
        let call = Call { known: known.cloned(), ..self.build_call(request)? };
        let error = match self.fetch(&call).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        match moved_endpoints::moved(request, &error).filter(|_| elsewhere.is_none()) {
            Some(moved) => {
                let response = self.fetch(&self.build_call(&moved)?).await?;
                self.moved_endpoints.learn(request, &error);
                Ok(response)
            }
            None if self.needs_token_info(request, &error) => self.token_info().await,
            None => Err(error),
        }
    }

    /// Sends the request of an endpoint and parses its output.
    pub async fn call<E: Endpoint>(&self, endpoint: &E) -> Result<E::Output, Error> {
        let request = endpoint.request();
        let response = self.send(&request).await?;
        read::<E::Output>(response, request.line()).await
    }

    /// Sends a request that the user typed; an error status of the server is returned as its reply.
    ///
    /// `target` is a path below `/api/v4`, with or without a query; `form` is sent in the query of a `GET` or `HEAD`
    /// request, and in the form of any other.
    pub async fn raw(&self, method: Method, target: &str, form: &[(String, String)]) -> Result<Response, Error> {
        self.fetch_with_any_status(&self.raw_call(method, target, form)?).await
    }

    /// Sends a request like [`Client::raw`], but streams the body of a successful reply to the file `path`, which is
    /// created or replaced when the body is complete. I/O errors are returned as [`Fault::Disk`].
    pub async fn raw_into(
        &self,
        method: Method,
        target: &str,
        form: &[(String, String)],
        path: &Path,
    ) -> Result<Response, Error> {
        let call = self.raw_call(method, target, form)?;
        let reply = self.exchange_with_any_status(&call).await?;
        if reply.status().is_success() {
            self.write_to_file(reply, &call, path).await
        } else {
            self.read_whole(reply, &call).await
        }
    }

    /// Builds the call for a request that the user typed.
    fn raw_call(&self, method: Method, target: &str, form: &[(String, String)]) -> Result<Call, Error> {
        let below = target.trim_start_matches('/');
        let below = below.strip_prefix("api/v4/").unwrap_or(below);
        let mut target = format!("/{}", below.split('#').next().unwrap_or_default());
        let mut payload = None;
        if method != Method::GET && method != Method::HEAD {
            payload = (!form.is_empty()).then(|| Payload::form(form));
        } else if !form.is_empty() {
            target.push(if target.contains('?') { '&' } else { '?' });
            target += &form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        }
        let call = Call { method, accept: "*/*", payload, ..Call::read(target) };
        self.permit(&call)?;
        Ok(call)
    }

    fn build_call(&self, request: &Request) -> Result<Call, Error> {
        let method = match request.method {
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            "PATCH" => Method::PATCH,
            "DELETE" => Method::DELETE,
            _ => Method::GET,
        };
        let payload = match &request.json {
            Some(json) => Some(Payload::json(json)),
            None => request.form.then(|| Payload::form(&request.fields)),
        };
        let (route, accept) = (request.route, request.accept);
        let (short_form, expected) = (ShortForm::of(request), ExpectedReply::of(request));
        let call = Call { method, route, accept, payload, short_form, expected, ..Call::read(request.target()) };
        self.permit(&call)?;
        // URL parsing removes `.` and `..` segments, so the request would go to another path.
        if !self.url(&call)?.path().ends_with(&request.path) {
            return Err(call.error(Fault::Refused(400, "a name of only dots cannot be requested".into())));
        }
        Ok(call)
    }
}

fn env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the settings of all connections, and whether a proxy is used for an address.
fn http_builder(timeouts: Timeouts, url: &Url) -> reqwest::ClientBuilder {
    // A connection that is gone without a word, such as after a night, would stay in use.
    let silence = timeouts.read / 4;
    let builder = reqwest::Client::builder()
        .user_agent(concat!("labscope/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        .read_timeout(timeouts.read)
        .tcp_nodelay(true)
        // The library would repeat what a server refuses at once, also writes.
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .http2_keep_alive_interval(silence)
        .http2_keep_alive_timeout(silence)
        // What is read slowly, such as a trace that waits for the disk, leaves room for other replies.
        .http2_initial_connection_window_size(HTTP2_WINDOW);
    if is_bypassed(url, &env_variable) { builder.no_proxy() } else { builder }
}

/// Returns the settings for TLS with certificates from files.
fn tls_config(files: &TlsFiles) -> Result<ClientConfig, Error> {
    let mut tls = files.config().map_err(|why| Error { tried: "set up TLS".into(), fault: Fault::Tls(why) })?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// Creates the HTTP client for an address.
fn build(
    builder: reqwest::ClientBuilder,
    url: &Url,
    tls: Result<ClientConfig, Error>,
) -> Result<reqwest::Client, Error> {
    let tried = format!("connect to {url}");
    // The library would ignore the proxy and connect directly.
    if let Some(fault) = proxy_mistake(url) {
        return Err(Error { tried, fault });
    }
    builder.tls_backend_preconfigured(tls?).build().map_err(|e| {
        // The outer errors only say that the builder failed.
        let causes = std::iter::successors(Some(&e as &dyn std::error::Error), |e| e.source());
        let cause = causes.last().map_or_else(String::new, ToString::to_string);
        Error { tried, fault: Fault::Tls(cause) }
    })
}
