//! A server with HTTP/2 over TLS that reacts by script: it answers, resets streams or ends connections, and records the
//! requests that it receives.

#[path = "tls.rs"]
pub mod tls;

use axum::http::{Request, Response};
use h2::server::{Connection, SendResponse};
use h2::{Ping, PingPong, Reason, RecvStream};
use labscope::api::client::{Server, TlsFiles};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use url::Url;

/// A reaction of the server to a request.
#[derive(Clone, Debug)]
pub enum Reaction {
    Answer(u16, &'static str),
    /// The beginning of a reply, after which the stream is reset.
    Half(&'static str),
    /// The stream is reset before there is a reply.
    Reset(Reason),
    /// A reply after which the connection ends.
    LastAnswer(&'static str),
    /// The connection ends with a frame that says so.
    GoAway(Reason),
    /// The connection ends without a word.
    Close,
    /// The connection stays open, and nothing more is read from it.
    Freeze,
    /// The stream stays open, without a reply.
    Silence,
}

use Reaction::*;

/// A function that reacts to a request, by its line.
type Mind = Box<dyn Fn(&str) -> Reaction + Send + Sync>;

struct Shared {
    mind: Mind,
    asked: Mutex<Vec<String>>,
    connections: AtomicUsize,
    /// The number of connections that were closed by both sides.
    ended: AtomicUsize,
}

/// A server on a free local port; it stops with the test's runtime.
pub struct Http2Server {
    /// The root URL of the server.
    pub url: Url,
    shared: Arc<Shared>,
}

impl Http2Server {
    /// Starts a server that reacts by `mind`.
    pub async fn start(mind: impl Fn(&str) -> Reaction + Send + Sync + 'static) -> Http2Server {
        let acceptor = tls::acceptor(&[b"h2", b"http/1.1"]);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let shared = Arc::new(Shared {
            mind: Box::new(mind),
            asked: Mutex::default(),
            connections: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
        });
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepting.connections.fetch_add(1, Ordering::Relaxed);
                let (acceptor, shared) = (acceptor.clone(), accepting.clone());
                tokio::spawn(async move {
                    serve(acceptor, stream, &shared).await;
                    shared.ended.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        let url = Url::parse(&format!("https://localhost:{port}")).expect("an address is a URL");
        Http2Server { url, shared }
    }

    /// Returns the settings with which a client trusts this server.
    pub fn trusted(&self, server: Server) -> Server {
        Server { tls: TlsFiles { ca_cert: Some(tls::certificate()), ..TlsFiles::default() }, ..server }
    }

    /// Returns the lines of all requests received so far.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().expect("no test panics while it holds this").clone()
    }

    /// Returns the number of connections opened so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits until `count` connections have ended.
    pub async fn ended(&self, count: usize) {
        let all_ended = async {
            while self.shared.ended.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all_ended).await.expect("the client closes the connection");
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, shared: &Shared) -> Option<()> {
    let _ = stream.set_nodelay(true);
    let stream = acceptor.accept(stream).await.ok()?;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()), "the client speaks HTTP/2");
    let mut connection: Connection<TlsStream<TcpStream>, _> = h2::server::handshake(stream).await.ok()?;
    let pings = Arc::new(tokio::sync::Mutex::new(connection.ping_pong()?));
    while let Some(Ok((request, respond))) = connection.accept().await {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let line = format!("{} {target}", request.method());
        let reaction = (shared.mind)(&line);
        shared.asked.lock().expect("no test panics while it holds this").push(line);
        match reaction {
            Close => return None,
            Freeze => std::future::pending().await,
            GoAway(reason) => connection.abrupt_shutdown(reason),
            LastAnswer(_) => {
                tokio::spawn(react(request, respond, reaction, pings.clone()));
                connection.graceful_shutdown();
            }
            _ => drop(tokio::spawn(react(request, respond, reaction, pings.clone()))),
        }
    }
    Some(())
}

/// Reads a request to its end, and answers it or resets its stream.
async fn react(
    request: Request<RecvStream>,
    mut respond: SendResponse<axum::body::Bytes>,
    reaction: Reaction,
    pings: Arc<tokio::sync::Mutex<PingPong>>,
) -> Option<()> {
    let mut body = request.into_body();
    while let Some(data) = body.data().await {
        body.flow_control().release_capacity(data.ok()?.len()).ok()?;
    }
    let (status, text) = match reaction {
        Answer(status, text) => (status, text),
        LastAnswer(text) | Half(text) => (200, text),
        Reset(reason) => {
            respond.send_reset(reason);
            return None;
        }
        Silence => std::future::pending().await,
        GoAway(_) | Close | Freeze => return None,
    };
    let head = Response::builder().status(status).header("content-type", "application/json").body(()).ok()?;
    let mut stream = respond.send_response(head, false).ok()?;
    let is_half = matches!(reaction, Half(_));
    stream.send_data(text.into(), !is_half).ok()?;
    if is_half {
        // A reset discards what was not sent yet. The answer comes after it.
        pings.lock().await.ping(Ping::opaque()).await.ok()?;
        stream.send_reset(Reason::INTERNAL_ERROR);
    }
    Some(())
}
