//! TLS with servers whose certificates are made as in real installations: self-signed, without names where libraries
//! expect them, of private authorities, and with client certificates. The files are in `tests/certificates`; each says in
//! its first line how it was made.

use crate::client::at;
use labscope::api::client::{Client, Server, TlsFiles};
use labscope::api::projects::GetProject;
use labscope::api::{Error, Fault};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

static BOTH: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates")).join(name)
}

fn certificates(names: &[&str]) -> Vec<CertificateDer<'static>> {
    names.iter().map(|name| CertificateDer::from_pem_file(path(name)).expect("a certificate")).collect()
}

/// A server with TLS on a free local port, for the time of a test.
struct TlsServer {
    chain: Vec<CertificateDer<'static>>,
    key: &'static str,
    versions: &'static [&'static SupportedProtocolVersion],
    /// Whether clients must present a certificate of `authority.pem`.
    is_closed: bool,
}

impl TlsServer {
    /// A server with the certificate in `NAME.pem`, followed by other files.
    fn of(name: &'static str, chain: &[&str]) -> TlsServer {
        let chain = [certificates(&[&format!("{name}.pem")]), certificates(chain)].concat();
        TlsServer { chain, key: name, versions: &BOTH, is_closed: false }
    }

    /// Starts the server, which describes a project in every reply. Returns its port.
    fn start(&self) -> u16 {
        let provider = Arc::new(ring::default_provider());
        let key = PrivateKeyDer::from_pem_file(path(&format!("{}.key", self.key))).expect("a key");
        let key = ring::sign::any_supported_type(&key).expect("a key");
        let config = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(self.versions);
        let config = config.expect("a configuration");
        let config = if self.is_closed {
            let mut roots = RootCertStore::empty();
            certificates(&["authority.pem"]).into_iter().for_each(|root| roots.add(root).expect("a certificate"));
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            config.with_client_cert_verifier(verifier.expect("a verifier"))
        } else {
            config.with_no_client_auth()
        };
        let identity = SingleCertAndKey::from(CertifiedKey::new(self.chain.clone(), key));
        let config = Arc::new(config.with_cert_resolver(Arc::new(identity)));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, stream) = (config.clone(), stream.expect("a connection"));
                std::thread::spawn(move || answer(config, stream));
            }
        });
        port
    }

    /// Requests a project from the server at `host`.
    async fn ask(&self, host: &str, files: TlsFiles) -> Result<(), Error> {
        let url = format!("https://{host}:{}", self.start()).parse().expect("a URL");
        let mut server = Server { tls: files, ..at(&url) };
        server.timeouts.read = Duration::from_secs(20);
        let project = Client::new(server)?.call(&GetProject { id: "a/b".into(), ..GetProject::default() }).await?;
        assert_eq!(project.name, "b");
        Ok(())
    }
}

fn answer(config: Arc<ServerConfig>, stream: std::net::TcpStream) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).expect("a connection"), stream);
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.extend(byte),
            // The client ended the handshake.
            _ => return,
        }
    }
    let body = r#"{"id":7,"name":"b"}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn trusting(name: &str) -> TlsFiles {
    TlsFiles { ca_cert: Some(path(name)), ..TlsFiles::default() }
}

/// Asserts that a request fails for a reason that contains each of `words`.
fn assert_refused(outcome: Result<(), Error>, words: &[&str], what: &str) {
    let error = outcome.expect_err(what);
    let message = error.to_string();
    assert!(matches!(error.fault, Fault::Tls(_)), "{what}: {message}");
    assert!(words.iter().all(|word| message.contains(word)), "{what}: {message}");
}

/// What curl does with `--cacert` and the server's own certificate, found out with curl 7.88 and OpenSSL 3.0.
#[tokio::test]
async fn a_certificate_that_the_user_trusts_itself_is_accepted_as_by_curl() {
    for versions in [&BOTH[..1], &BOTH[1..]] {
        for (name, host, refused) in [
            ("own", "localhost", None),
            ("own", "127.0.0.1", None),
            ("common-name", "localhost", None),
            ("address", "127.0.0.1", None),
            ("version-1", "localhost", None),
            ("server", "localhost", None),
            ("server-version-1", "localhost", None),
            ("common-name", "127.0.0.1", Some("not for 127.0.0.1, but for localhost;")),
            ("version-1", "127.0.0.1", Some("not for 127.0.0.1, but for localhost;")),
            // The common name does not count beside alternative names.
            ("other", "localhost", Some("not for localhost, but for git.example.com, 192.0.2.1;")),
            ("nameless", "localhost", Some("localhost has no name")),
            ("for-clients", "localhost", Some("not for servers")),
            ("expired", "localhost", Some("has expired")),
            ("future", "localhost", Some("not valid yet; check the clock")),
        ] {
            let server = TlsServer { versions, ..TlsServer::of(name, &[]) };
            let outcome = server.ask(host, trusting(&format!("{name}.pem"))).await;
            match refused {
                None => outcome.unwrap_or_else(|error| panic!("{name} {host}: {error}")),
                Some(words) => assert_refused(outcome, &[words], name),
            }
        }
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_trusts_is_refused_with_the_setting() {
    let setting = "--ca-cert FILE or ca_cert";
    for (name, words) in [
        ("own", "is self-signed"),
        ("version-1", "old version of X.509; trust the certificate itself"),
        ("server", "signed by an unknown authority"),
    ] {
        assert_refused(TlsServer::of(name, &[]).ask("localhost", TlsFiles::default()).await, &[words, setting], name);
        // Another certificate with the same subject is another certificate.
        let outcome = TlsServer::of(name, &[]).ask("localhost", trusting("common-name.pem")).await;
        assert_refused(outcome, &[words, setting], name);
    }
}

#[tokio::test]
async fn an_authority_is_trusted_with_the_chain_that_the_server_sends() {
    let server = TlsServer::of("server", &["intermediate.pem"]);
    server.ask("localhost", trusting("authority.pem")).await.expect("the chain is complete");
    server.ask("localhost", trusting("intermediate.pem")).await.expect("an intermediate certificate is enough");
    let incomplete = TlsServer::of("server", &[]);
    let outcome = incomplete.ask("localhost", trusting("authority.pem")).await;
    assert_refused(outcome, &["unknown authority", "ca_cert"], "no intermediate certificate");
    incomplete.ask("localhost", trusting("intermediate.pem")).await.expect("the file has what the server lacks");
    // The names of certificates that authorities signed are alternative names.
    let outcome = TlsServer::of("server-common-name", &[]).ask("localhost", trusting("authority.pem")).await;
    assert_refused(outcome, &["no alternative name; trust the certificate itself with --ca-cert"], "common name");
    let own = trusting("server-common-name.pem");
    TlsServer::of("server-common-name", &[]).ask("localhost", own).await.expect("the advice helps");
}

#[tokio::test]
async fn certificates_are_found_in_files_of_all_usual_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |name: &str| fs::read_to_string(path(name)).expect("a file");
    let own = text("own.pem");
    let der = certificates(&["own.pem"]).remove(0).to_vec();
    for (name, contents) in [
        ("after others", [text("authority.pem"), text("own.key"), own.clone()].concat().into_bytes()),
        ("of Windows", format!("\u{feff}{}", own.replace('\n', "\r\n")).into_bytes()),
        ("trusted", text("own.trusted.pem").into_bytes()),
        ("of old", own.replace(" CERTIFICATE", " X509 CERTIFICATE").into_bytes()),
        ("der", der),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, contents).expect("a file");
        let files = TlsFiles { ca_cert: Some(file), ..TlsFiles::default() };
        TlsServer::of("own", &[]).ask("localhost", files).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_setting_and_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = fs::read_to_string(path("own.pem")).expect("a file");
    let damaged = "-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n";
    for (name, contents, words) in [
        ("empty.pem", "", "is empty"),
        ("page.html", "<html>", "contains no certificate in PEM format"),
        ("key.pem", "-----BEGIN PRIVATE KEY-----\nMAAA\n-----END PRIVATE KEY-----\n", "contains no certificate"),
        ("me.p12", "0\u{2}\u{1}\u{1}", "openssl pkcs12"),
        ("short.pem", own.get(..400).expect("a part"), "incomplete PEM section"),
        ("damaged.pem", damaged, "damaged certificate, the one with number 1"),
        ("second.pem", &(own.clone() + damaged), "damaged certificate, the one with number 2"),
        ("nowhere.pem", "-", "cannot read"),
        (".", "-", "not a regular file"),
    ] {
        let file = folder.path().join(name);
        if contents != "-" {
            fs::write(&file, contents).expect("a file");
        }
        let shown = file.display().to_string();
        let message = |files: TlsFiles| files.config().expect_err(name);
        let why = message(TlsFiles { ca_cert: Some(file.clone()), ..TlsFiles::default() });
        assert!(why.contains(words) && why.contains(&shown) && why.contains("--ca-cert or ca_cert"), "{why}");
        let why = message(TlsFiles { client_cert: Some(file), ..TlsFiles::default() });
        assert!(why.contains(words) && why.contains(&shown) && why.contains("client_cert"), "{why}");
    }
}

fn presenting(certificate: &str, key: Option<&str>) -> TlsFiles {
    TlsFiles { client_cert: Some(path(certificate)), client_key: key.map(path), ..trusting("own.pem") }
}

#[tokio::test]
async fn a_server_that_requires_a_certificate_gets_it() {
    for versions in [&BOTH[..1], &BOTH[1..]] {
        let server = TlsServer { is_closed: true, versions, ..TlsServer::of("own", &[]) };
        for (certificate, key) in
            [("client.pem", Some("client.key")), ("client.pem", Some("client.sec1.key")), ("client-rsa.pem", None)]
        {
            let outcome = server.ask("localhost", presenting(certificate, key)).await;
            outcome.unwrap_or_else(|error| panic!("{certificate} {key:?}: {error}"));
        }
        let outcome = server.ask("localhost", trusting("own.pem")).await;
        assert_refused(outcome, &["client certificate", "client_cert"], "none");
        let outcome = server.ask("localhost", presenting("own.pem", Some("own.key"))).await;
        assert_refused(outcome, &["client certificate", "client_cert"], "a foreign one");
    }
}

#[test]
fn client_certificates_that_cannot_be_used_are_explained() {
    let config = |certificate: &str, key| presenting(certificate, key).config().map(|_| ());
    // `openssl x509 -req` makes certificates of version 1.
    assert_eq!(config("client-version-1.pem", Some("client-version-1.key")), Ok(()));
    for (certificate, key, words) in [
        ("client.pem", None, "client.pem contains no private key in PEM format; set client_key"),
        ("client.pem", Some("own.key"), "own.key is not of the first certificate in"),
        ("client.pem", Some("client.pem"), "client.pem contains no private key"),
        ("client.pem", Some("nowhere.key"), "cannot read the certificate file"),
        ("client.pem", Some("client.encrypted.key"), "is encrypted; store it without a passphrase: openssl pkey"),
        ("client.pem", Some("client.encrypted.sec1.key"), "is encrypted; store it without a passphrase: openssl pkey"),
    ] {
        let why = config(certificate, key).expect_err(words);
        assert!(why.contains(words) && !why.contains("secret"), "{why}");
    }
    let only_key = TlsFiles { client_key: Some(path("client.key")), ..TlsFiles::default() };
    assert!(only_key.config().expect_err("no certificate").contains("client_cert, the certificate for it, is not"));
}
