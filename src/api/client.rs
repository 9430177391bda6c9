//! The client: sends requests to one server, waits and tries again where that is safe, and says in words what failed.

mod clock;
mod exchange;
mod pages;
mod payload;
mod today;
mod transfer;

use crate::api::endpoint::{Endpoint, Method, Request};
use crate::api::error::{Error, Fault};
use crate::api::page::PageInfo;
use bytes::Bytes;
pub use clock::Clock;
pub use exchange::Slice;
use exchange::{Call, Wanted, read};
use payload::Payload;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
pub use transfer::{Download, OnProgress, Progress};
use url::{Url, form_urlencoded};

/// A server and how to speak to it.
#[derive(Clone, Debug)]
pub struct Server {
    /// The root of its web pages, `https://host` or `https://host/gitlab`; `/api/v4` is appended.
    pub base_url: Url,
    /// Goes with every request to this server, and to no other.
    pub token: Option<SecretString>,
    /// Whether that is one of OAuth, which servers take as `Authorization: Bearer` alone.
    pub oauth: bool,
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
        Server { base_url, token: None, oauth: false, ca_cert: None, read_only: false, timeouts: Timeouts::default() }
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
    clock: Arc<Clock>,
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The body, unpacked.
    pub body: Bytes,
    /// `Content-Type`, if the server named one.
    pub content_type: Option<String>,
    /// What the headers say of paging.
    pub page: PageInfo,
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
            let pem = std::fs::read(path).map_err(|e| fault(format!("cannot read the CA certificate file: {e}")))?;
            let authorities = reqwest::Certificate::from_pem_bundle(&pem).ok().filter(|found| !found.is_empty());
            let Some(authorities) = authorities else {
                return Err(fault(format!("{name} contains no PEM certificate")));
            };
            builder = builder.tls_certs_merge(authorities);
        }
        let tried = format!("connect to {}", server.base_url);
        let http = builder.build().map_err(|e| Error { tried, fault: Fault::Tls(e.to_string()) })?;
        Ok(Client { http, server: Arc::new(server), clock: Arc::default() })
    }

    /// The server that it speaks to.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns what is known of the server's clock; copies of the client share it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sends a request; a status that is not a success is an error. What servers of today have moved is looked for there.
    pub async fn send(&self, request: &Request) -> Result<Response, Error> {
        let error = match self.fetch(&self.call_of(request)?).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        match today::elsewhere(request, &error) {
            Some(moved) => self.fetch(&self.call_of(&moved)?).await,
            None => Err(error),
        }
    }

    /// Performs an operation and reads its output.
    pub async fn call<E: Endpoint>(&self, endpoint: &E) -> Result<E::Output, Error> {
        let request = endpoint.request();
        let response = self.send(&request).await?;
        read::<E::Output>(response, request.line()).await
    }

    /// One call as the user typed it; errors of the server are replies like others.
    ///
    /// `target` is a path below `/api/v4`, with or without a query; `form` goes into the query of a `GET` and into the
    /// form of anything else.
    pub async fn raw(&self, method: Method, target: &str, form: &[(String, String)]) -> Result<Response, Error> {
        self.fetch_any(&self.raw_call(method, target, form)?).await
    }

    /// As [`Client::raw`], where the body of a success goes into a file, piece by piece, and is not held: the file takes
    /// its name when it is whole, and what is there already stays until then. An error of the disk is [`Fault::Disk`].
    pub async fn raw_into(
        &self,
        method: Method,
        target: &str,
        form: &[(String, String)],
        path: &Path,
    ) -> Result<Response, Error> {
        let call = self.raw_call(method, target, form)?;
        let reply = self.exchange(&call).await?;
        if reply.status().is_success() { self.keep(reply, &call, path).await } else { self.whole(reply, &call).await }
    }

    /// A call as the user typed it.
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
        let call = Call { method, target, accept: "*/*", payload, part: Wanted::default() };
        self.permit(&call)?;
        Ok(call)
    }

    fn call_of(&self, request: &Request) -> Result<Call, Error> {
        let method = match request.method {
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            "DELETE" => Method::DELETE,
            _ => Method::GET,
        };
        let payload = match &request.json {
            Some(json) => Some(Payload::json(json)),
            None => request.form.then(|| Payload::form(&request.fields)),
        };
        let call = Call { method, target: request.target(), accept: request.accept, payload, part: Wanted::default() };
        self.permit(&call)?;
        // An address folds `.` and `..` away, and the call would go elsewhere.
        if !self.url(&call)?.path().ends_with(&request.path) {
            return Err(call.failed(Fault::Refused(400, "a name of only dots cannot be requested".into())));
        }
        Ok(call)
    }
}

/// Returns whether the host is this machine, which no proxy can reach.
pub fn is_loopback(url: &Url) -> bool {
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
}
