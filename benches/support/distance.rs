//! A proxy that puts a local server at a distance: connections over TLS, with a given time for each round trip, and a
//! record of all requests.

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ServerConfig;
use rustls::{ServerConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The size of the buffers, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Returns the path of a file with a certificate or its key.
fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates")).join(name)
}

/// Returns the path of the certificate that clients of the proxy must trust.
pub fn certificate() -> String {
    path("own.pem").to_string_lossy().into_owned()
}

/// A request that passed the proxy.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method and target.
    pub line: String,
    pub status: u16,
    /// The number of bytes of the request and the reply, before they are encrypted.
    pub bytes: usize,
    /// The time at which the client has the reply; `None` while it is not complete.
    pub ended: Option<Instant>,
}

/// The record of the requests since the last call of [`Proxy::take`].
#[derive(Default)]
struct Record {
    exchanges: Mutex<Vec<Exchange>>,
    connections: AtomicUsize,
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
        let key = PrivateKeyDer::from_pem_file(path("own.key")).expect("a key");
        let certificate = CertificateDer::from_pem_file(path("own.pem")).expect("a certificate");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("a configuration")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a certificate with its key");
        let config = Arc::new(config);
        let [near, far] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = near.local_addr().expect("an address").port();
        let record = Arc::<Record>::default();
        let proxy = Proxy { url: format!("https://localhost:{port}"), record: record.clone() };
        std::thread::spawn(move || {
            let behind = far.local_addr().expect("an address");
            for client in near.incoming().map_while(Result::ok) {
                record.connections.fetch_add(1, Ordering::Relaxed);
                let remote = TcpStream::connect(behind).expect("it listens");
                let (terminated, _) = far.accept().expect("the connection");
                delay(&client, &remote, round_trip);
                let (config, record) = (config.clone(), record.clone());
                std::thread::spawn(move || {
                    let _ = serve(terminated, config, server, &record, round_trip / 2);
                });
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

    /// Returns the recorded requests and the number of opened connections, and begins another record.
    pub fn take(&self) -> (Vec<Exchange>, usize) {
        (self.record.change(std::mem::take), self.record.connections.swap(0, Ordering::Relaxed))
    }
}

/// Passes bytes on between two connections, each half a round trip late; the first one a whole round trip later, because
/// opening a connection takes one.
fn delay(client: &TcpStream, remote: &TcpStream, round_trip: Duration) {
    let copy = |stream: &TcpStream| {
        let _ = stream.set_nodelay(true);
        stream.try_clone().expect("a handle")
    };
    for (mut from, mut to, opening) in
        [(copy(client), copy(remote), round_trip), (copy(remote), copy(client), Duration::ZERO)]
    {
        let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
        let opened = Instant::now() + opening;
        std::thread::spawn(move || {
            let mut buffer = vec![0; BUFFER_BYTES];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
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
fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    server: SocketAddr,
    record: &Record,
    way: Duration,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let tls = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut client = BufReader::new(StreamOwned::new(tls, stream));
    let server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    let mut server = BufReader::with_capacity(BUFFER_BYTES, server);
    loop {
        let mut request = Message::default();
        request.read_head(&mut client)?;
        if request.first_line().is_empty() {
            return Ok(());
        }
        request.read_body(&mut client, false)?;
        let mut words = request.first_line().split(' ').map(str::to_owned);
        let line = [words.next(), words.next()].map(Option::unwrap_or_default).join(" ");
        let number = record.change(|all| {
            all.push(Exchange { line, status: 0, bytes: request.bytes.len(), ended: None });
            all.len() - 1
        });
        server.get_mut().write_all(&request.bytes)?;
        let mut reply = Message::default();
        reply.read_head(&mut server)?;
        let status = reply.first_line().split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        reply.read_body(&mut server, !matches!(status, 204 | 304))?;
        client.get_mut().write_all(&reply.bytes)?;
        client.get_mut().flush()?;
        record.change(|all| {
            if let Some(exchange) = all.get_mut(number) {
                exchange.status = status;
                exchange.bytes += reply.bytes.len();
                exchange.ended = Some(Instant::now() + way);
            }
        });
    }
}

/// A request or a reply of HTTP/1.1.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
    head_len: usize,
}

impl Message {
    fn read_head(&mut self, from: &mut impl BufRead) -> io::Result<()> {
        while !self.bytes.ends_with(b"\r\n\r\n") {
            if from.read_until(b'\n', &mut self.bytes)? == 0 {
                break;
            }
        }
        self.head_len = self.bytes.len();
        Ok(())
    }

    fn head(&self) -> &str {
        self.bytes.get(..self.head_len).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or_default()
    }

    fn first_line(&self) -> &str {
        self.head().lines().next().unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head().lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value.trim())
    }

    /// Reads the body; if it `may_end_the_connection`, one without a length lasts until the end of the connection.
    fn read_body(&mut self, from: &mut impl BufRead, may_end_the_connection: bool) -> io::Result<()> {
        if self.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            loop {
                let start = self.bytes.len();
                from.read_until(b'\n', &mut self.bytes)?;
                let line = self.bytes.get(start..).and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
                let size = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
                from.take(size + 2).read_to_end(&mut self.bytes)?;
                if size == 0 {
                    return Ok(());
                }
            }
        }
        match self.header("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => from.take(length).read_to_end(&mut self.bytes)?,
            None if may_end_the_connection => from.read_to_end(&mut self.bytes)?,
            None => 0,
        };
        Ok(())
    }
}
