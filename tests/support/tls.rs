//! TLS of a server with the certificate of the tests, for `localhost`.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates")).join(name)
}

/// Returns the path of the certificate that clients must trust.
pub fn certificate() -> PathBuf {
    path("own.pem")
}

/// Returns what makes connections of clients TLS connections with one of these protocols.
pub fn acceptor(protocols: &[&[u8]]) -> TlsAcceptor {
    let key = PrivateKeyDer::from_pem_file(path("own.key")).expect("a key");
    let certificate = CertificateDer::from_pem_file(certificate()).expect("a certificate");
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("a configuration")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate with its key");
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}
