//! The TLS configuration of a server: the certificates that the user trusts in addition to the system's, and the one that
//! labscope presents.

use crate::api::error::is_authority_as_server;
use crate::system::files;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum size of a file with certificates, in bytes.
const MAX_PEM: u64 = 16 << 20;

/// The files with certificates of a server, in PEM format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates to trust in addition to the system's: of authorities, or the server's own.
    pub ca_cert: Option<PathBuf>,
    /// The certificate that labscope presents, followed by its chain.
    pub client_cert: Option<PathBuf>,
    /// The private key of `client_cert`, if that file does not contain it.
    pub client_key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// Returns a message with the path of a file that cannot be read or used.
    pub fn config(&self) -> Result<ClientConfig, String> {
        let trusted = self.ca_cert.as_deref().map_or(Ok(Vec::new()), certificates)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let system = Verifier::new_with_extra_roots(trusted.iter().cloned(), provider.clone());
        let verifier = ExactVerifier { inner: system.map_err(|error| error.to_string())?, trusted };
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let Some(path) = &self.client_cert else { return Ok(config.with_no_client_auth()) };
        let key = private_key(self.client_key.as_deref().unwrap_or(path))?;
        let config = config.with_client_auth_cert(certificates(path)?, key);
        config.map_err(|error| format!("the client certificate {} cannot be used: {error}", path.display()))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    files::read(path, MAX_PEM).map_err(|error| format!("cannot read the certificate file {}: {error}", path.display()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let found = found.ok().filter(|found| !found.is_empty());
    found.ok_or_else(|| format!("{} contains no PEM certificate", path.display()))
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let text = read(path)?;
    let is_encrypted = memchr::memmem::find(&text, b"ENCRYPTED").is_some();
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| match is_encrypted {
        true => format!("the private key in {} is encrypted; store it without a passphrase", path.display()),
        false => format!("{} contains no PEM private key; set client_key", path.display()),
    })
}

/// Verifies certificates like the system, and accepts a certificate that the user trusts even if it is the server's own:
/// `openssl req -x509` makes certificates of authorities, which the system refuses as those of servers.
#[derive(Debug)]
struct ExactVerifier {
    inner: Verifier,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for ExactVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let outcome = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match outcome {
            // The validity is checked before this, and the name is checked here.
            Err(error) if is_authority_as_server(&error) && self.trusted.iter().any(|known| known == end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
