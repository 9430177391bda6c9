//! Redirects to other servers with TLS: they are shown no client certificate, and what only the host trusts is not trusted.
//! The certificates are in `tests/certificates`.

use crate::home::Home;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates")).join(name)
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path(name)).expect("a certificate")
}

/// A server that asks for a client certificate and gives the same answer to every request.
struct TlsServer {
    port: u16,
    /// For each request, whether the client presented a certificate.
    presented: Arc<Mutex<Vec<bool>>>,
}

impl TlsServer {
    /// Starts a server with the certificate in `NAME.pem`, followed by other files.
    fn start(name: &str, chain: &[&str], reply: String) -> TlsServer {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificate("authority.pem")).expect("a certificate");
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
        let verifier = verifier.allow_unauthenticated().build().expect("a verifier");
        let certificates = [&format!("{name}.pem")[..]].iter().chain(chain).map(|name| certificate(name)).collect();
        let key = PrivateKeyDer::from_pem_file(path(&format!("{name}.key"))).expect("a key");
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("a configuration").with_client_cert_verifier(verifier);
        let config = Arc::new(config.with_single_cert(certificates, key).expect("a certificate with its key"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let presented = Arc::new(Mutex::new(Vec::new()));
        let seen = presented.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(config.clone(), stream.expect("a connection"), &reply, &seen);
            }
        });
        TlsServer { port, presented }
    }

    fn presented(&self) -> Vec<bool> {
        self.presented.lock().expect("no one panics").clone()
    }
}

fn answer(config: Arc<ServerConfig>, stream: TcpStream, reply: &str, seen: &Mutex<Vec<bool>>) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).expect("a connection"), stream);
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.extend(byte),
            // The client ended the handshake.
            _ => return,
        }
    }
    seen.lock().expect("no one panics").push(stream.conn.peer_certificates().is_some());
    let _ = stream.write_all(reply.as_bytes());
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// Requests something from a host with a client certificate that redirects to `to`; returns the exit code and the error.
fn follow(to: &str) -> (Option<i32>, String) {
    let home = Home::new();
    let server = TlsServer::start("address", &[], redirect(to));
    let [ca_cert, client_cert, client_key] = ["address.pem", "client.pem", "client.key"].map(path);
    let config = format!(
        "[hosts.here]\nurl = \"https://127.0.0.1:{}\"\nca_cert = {ca_cert:?}\nclient_cert = {client_cert:?}\n\
         client_key = {client_key:?}\n",
        server.port
    );
    home.write("config/labscope/config.toml", &config);
    let mut command = home.command(&["--host", "here", "api", "GET", "version"]);
    // The system trusts the authority.
    let output = command.env("SSL_CERT_FILE", path("authority.pem")).output().expect("it starts");
    assert!(!server.presented().is_empty() && server.presented().iter().all(|has| *has), "the host itself gets it");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn other_servers_get_no_client_certificate_and_are_not_trusted_like_the_host() {
    let body = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    let storage = TlsServer::start("server", &["intermediate.pem"], body.to_owned());
    let (code, error) = follow(&format!("https://localhost:{}/file", storage.port));
    assert_eq!((code, storage.presented()), (Some(0), vec![false]), "{error}");

    // The certificate that the configuration of the host trusts, on another port.
    let same = TlsServer::start("address", &[], body.to_owned());
    let (code, error) = follow(&format!("https://127.0.0.1:{}/file?signature=s3cret", same.port));
    assert!(code == Some(1) && error.contains("self-signed") && !error.contains("s3cret"), "{error}");
    assert_eq!(same.presented(), Vec::<bool>::new());

    let (code, error) = follow("http://127.0.0.1:9/file");
    assert!(code == Some(1) && error.contains("redirects to 127.0.0.1 without encryption"), "{error}");
}
