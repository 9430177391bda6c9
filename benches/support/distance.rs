//! A proxy that puts a local server at a distance: connections over TLS with HTTP/2, with a given time for each round
//! trip, and a record of all requests.

#[path = "../../tests/support/tls.rs"]
mod tls;

use axum::body::Bytes;
use axum::http::header::HOST;
use axum::http::{Request, Response};
use h2::RecvStream;
use h2::server::SendResponse;
use rustls::crypto::ring;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_rustls::TlsAcceptor;

/// The size of the buffers, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// The headers that are about a connection, and not about the reply.
const OF_CONNECTION: [&str; 3] = ["connection", "keep-alive", "transfer-encoding"];

/// Returns the path of the certificate that clients of the proxy must trust.
pub fn certificate() -> String {
    tls::certificate().to_string_lossy().into_owned()
}

/// A request that passed the proxy.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method and target.
    pub line: String,
    pub status: u16,
    /// The number of bytes of the bodies of the request and the reply.
    pub bytes: usize,
    /// The time at which the client has the reply; `None` while it is not complete.
    pub ended: Option<Instant>,
}

/// The record of the requests since the last call of [`Proxy::take`].
#[derive(Default)]
struct Record {
    exchanges: Mutex<Vec<Exchange>>,
    connections: AtomicUsize,
    /// The number of bytes on the wire, in both directions.
    bytes: AtomicUsize,
}

impl Record {
    /// Changes the exchanges.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<Exchange>) -> T) -> T {
        change(&mut self.exchanges.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A running proxy.
pub struct Proxy {
    /// The URL for clients, `https://localhost:PORT`.
    pub url: String,
    record: Arc<Record>,
}

impl Proxy {
    /// Starts a proxy in front of the server at `server` whose clients wait for `round_trip` for each reply, and also
    /// until a connection is open.
    pub fn start(server: SocketAddr, round_trip: Duration) -> Proxy {
        let acceptor = tls::acceptor(&[b"h2"]);
        let [near, far] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = near.local_addr().expect("an address").port();
        let record = Arc::<Record>::default();
        let proxy = Proxy { url: format!("https://localhost:{port}"), record: record.clone() };
        // The client needs a provider, even for a server without TLS. Any will do.
        let _ = ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().gzip(false).build().expect("a client");
        let upstream = Upstream { client, server, record: record.clone(), way: round_trip / 2 };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let behind = far.local_addr().expect("an address");
            for client in near.incoming().map_while(Result::ok) {
                record.connections.fetch_add(1, Ordering::Relaxed);
                let remote = TcpStream::connect(behind).expect("it listens");
                let (terminated, _) = far.accept().expect("the connection");
                delay(&client, &remote, round_trip, &record);
                runtime.spawn(serve(terminated, acceptor.clone(), upstream.clone()));
            }
        });
        proxy
    }

    /// Waits until no request was sent for a time, and all were answered.
    pub fn quiet(&self, time: Duration) {
        let (mut known, mut since) = (0, Instant::now());
        while since.elapsed() < time {
            std::thread::sleep(Duration::from_millis(10));
            let (sent, is_answered) =
                self.record.change(|all| (all.len(), all.iter().all(|exchange| exchange.ended.is_some())));
            if sent != known || !is_answered {
                (known, since) = (sent, Instant::now());
            }
        }
    }

    /// Returns the recorded requests, the number of opened connections and that of bytes on the wire, and begins another
    /// record.
    pub fn take(&self) -> (Vec<Exchange>, usize, usize) {
        let Record { connections, bytes, .. } = &*self.record;
        (self.record.change(std::mem::take), connections.swap(0, Ordering::Relaxed), bytes.swap(0, Ordering::Relaxed))
    }
}

/// Passes bytes on between two connections, each half a round trip late; the first one a whole round trip later, because
/// opening a connection takes one.
fn delay(client: &TcpStream, remote: &TcpStream, round_trip: Duration, record: &Arc<Record>) {
    let copy = |stream: &TcpStream| {
        let _ = stream.set_nodelay(true);
        stream.try_clone().expect("a handle")
    };
    for (mut from, mut to, opening) in
        [(copy(client), copy(remote), round_trip), (copy(remote), copy(client), Duration::ZERO)]
    {
        let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
        let opened = Instant::now() + opening;
        let record = record.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; BUFFER_BYTES];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                record.bytes.fetch_add(read, Ordering::Relaxed);
                let due = Instant::now().max(opened) + round_trip / 2;
                if sender.send((due, buffer.get(..read).unwrap_or_default().to_vec())).is_err() {
                    break;
                }
            }
        });
        std::thread::spawn(move || {
            for (due, bytes) in receiver {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
    }
}

/// Answers the requests of one connection with the replies of the server.
async fn serve(far: TcpStream, acceptor: TlsAcceptor, upstream: Upstream) -> Option<()> {
    far.set_nonblocking(true).ok()?;
    far.set_nodelay(true).ok()?;
    let stream = acceptor.accept(tokio::net::TcpStream::from_std(far).ok()?).await.ok()?;
    let mut connection = h2::server::handshake(stream).await.ok()?;
    while let Some(Ok((request, respond))) = connection.accept().await {
        let upstream = upstream.clone();
        tokio::spawn(async move { upstream.answer(request, respond).await });
    }
    Some(())
}

/// The server behind the proxy, with what its replies need.
#[derive(Clone)]
struct Upstream {
    client: reqwest::Client,
    server: SocketAddr,
    record: Arc<Record>,
    /// The time of half a round trip.
    way: Duration,
}

impl Upstream {
    /// Answers a request with the reply of the server, and records both.
    async fn answer(&self, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let line = format!("{} {target}", request.method());
        let number = self.record.change(|all| {
            all.push(Exchange { line, status: 0, bytes: 0, ended: None });
            all.len() - 1
        });
        // The client may cancel a request.
        let (status, bytes) = self.forward(&target, request, respond).await.unwrap_or_default();
        self.record.change(|all| {
            if let Some(exchange) = all.get_mut(number) {
                (exchange.status, exchange.bytes) = (status, bytes);
                exchange.ended = Some(Instant::now() + self.way);
            }
        });
    }

    /// Passes on a request and its reply; returns the status and the number of bytes of the bodies.
    async fn forward(
        &self,
        target: &str,
        request: Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
    ) -> Option<(u16, usize)> {
        let (mut head, mut body) = request.into_parts();
        if let Some(authority) = head.uri.authority() {
            head.headers.insert(HOST, authority.as_str().parse().ok()?);
        }
        let mut sent = Vec::new();
        while let Some(data) = body.data().await {
            let data = data.ok()?;
            body.flow_control().release_capacity(data.len()).ok()?;
            sent.extend_from_slice(&data);
        }
        let mut bytes = sent.len();
        let url = format!("http://{}{target}", self.server);
        let reply = self.client.request(head.method, url).headers(head.headers).body(sent).send().await.ok()?;
        let status = reply.status();
        let mut answer = Response::builder().status(status);
        for (name, value) in reply.headers().iter().filter(|(name, _)| !OF_CONNECTION.contains(&name.as_str())) {
            answer = answer.header(name, value);
        }
        let body = reply.bytes().await.ok()?;
        bytes += body.len();
        let mut stream = respond.send_response(answer.body(()).ok()?, body.is_empty()).ok()?;
        if !body.is_empty() {
            stream.send_data(body, true).ok()?;
        }
        Some((status.as_u16(), bytes))
    }
}
