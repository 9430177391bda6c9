//! The TLS configuration of a server: the certificates that the user trusts in addition to the system's, and the one
//! that labscope presents.

mod certificate;

use certificate::Certificate;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use system::files;

/// The maximum size of a file with certificates, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The files with certificates of a server.
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
    /// Returns a message with the path and the setting of a file that cannot be read or used.
    pub fn config(&self) -> Result<ClientConfig, String> {
        let trusted = self.ca_cert.as_deref().map(|path| certificates(path, "--ca-cert or ca_cert"));
        let trusted = trusted.transpose()?.unwrap_or_default();
        let provider = Arc::new(ring::default_provider());
        let system = Verifier::new_with_extra_roots(trusted.iter().cloned(), provider.clone());
        let algorithms = provider.signature_verification_algorithms;
        let inner = system.map_err(|error| format!("{error}; see --ca-cert, ca_cert and SSL_CERT_FILE"))?;
        let verifier = ExactVerifier { inner, trusted, algorithms };
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        match (&self.client_cert, &self.client_key) {
            (None, None) => Ok(config.with_no_client_auth()),
            (None, Some(key)) => {
                Err(format!("client_key is set to {}, but client_cert, the certificate for it, is not", key.display()))
            }
            (Some(path), key) => {
                let identity = identity(path, key.as_deref())?;
                Ok(config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))))
            }
        }
    }
}

/// Reads the certificate that labscope presents, and its private key.
fn identity(path: &Path, key_path: Option<&Path>) -> Result<CertifiedKey, String> {
    let chain = certificates(path, "client_cert")?;
    let key_path = key_path.unwrap_or(path);
    let key = ring::sign::any_supported_type(&private_key(key_path)?);
    let key = key.map_err(|error| format!("the private key in {} cannot be used: {error}", key_path.display()))?;
    let own = chain.first().and_then(|certificate| Certificate::parse(certificate));
    let is_own = own.zip(key.public_key()).is_none_or(|(own, key)| own.key_info == key.as_ref());
    match is_own {
        true => Ok(CertifiedKey::new(chain, key)),
        false => Err(format!(
            "the private key in {} is not of the first certificate in {} (client_cert)",
            key_path.display(),
            path.display()
        )),
    }
}

/// Reads a file. A byte order mark, which editors of Windows write, is removed.
fn read(path: &Path, setting: &str) -> Result<Vec<u8>, String> {
    let mut text = files::read(path, MAX_FILE)
        .map_err(|error| format!("cannot read the certificate file {} ({setting}): {error}", path.display()))?;
    if text.starts_with(b"\xef\xbb\xbf") {
        text.drain(..3);
    }
    match text.is_empty() {
        true => Err(format!("the certificate file {} ({setting}) is empty", path.display())),
        false => Ok(text),
    }
}

fn certificates(path: &Path, setting: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = read(path, setting)?;
    if Certificate::parse(&text).is_some_and(|certificate| certificate.der == text) {
        return Ok(vec![text.into()]);
    }
    let failed = |what: String| format!("{} ({setting}) contains {what}", path.display());
    let mut found = Vec::new();
    for section in CertificateDer::pem_slice_iter(&with_common_labels(&text)) {
        let section = section.map_err(|_| failed("a damaged or incomplete PEM section".to_owned()))?;
        // OpenSSL writes the purposes of a trusted certificate behind it.
        let certificate = Certificate::parse(&section)
            .ok_or_else(|| failed(format!("a damaged certificate, the one with number {}", found.len() + 1)))?;
        found.push(CertificateDer::from(certificate.der.to_vec()));
    }
    match found.is_empty() {
        true => Err(failed(format!("no certificate in PEM format{}", hint(&text)))),
        false => Ok(found),
    }
}

/// Returns the text with the usual label for certificates instead of the others that OpenSSL knows.
fn with_common_labels(text: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(text) {
        Ok(text) if text.contains("TRUSTED CERTIFICATE-") || text.contains("X509 CERTIFICATE-") => {
            let text =
                text.replace("TRUSTED CERTIFICATE-", "CERTIFICATE-").replace("X509 CERTIFICATE-", "CERTIFICATE-");
            text.into_bytes().into()
        }
        _ => text.into(),
    }
}

/// Returns what is said of a file that is in no text format, but perhaps in PKCS #12.
fn hint(text: &[u8]) -> &'static str {
    match text.first() {
        Some(0x30) => "; convert PKCS #12 with openssl pkcs12 -in FILE -out NEW.pem -nodes",
        _ => "",
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let text = read(path, "client_key")?;
    if let Ok(key) = PrivateKeyDer::try_from(text.as_slice()) {
        return Ok(key.clone_key());
    }
    let is_encrypted = memchr::memmem::find(&text, b"ENCRYPTED").is_some();
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| match is_encrypted {
        true => format!(
            "the private key in {} (client_key) is encrypted; store it without a passphrase: openssl pkey -in FILE -out NEW.key",
            path.display()
        ),
        false => format!("{} contains no private key in PEM format; set client_key{}", path.display(), hint(&text)),
    })
}

/// Verifies certificates like the system, and accepts a certificate that the user trusts itself, as curl and git do. The
/// system refuses those that `openssl req -x509` makes, because they are of an authority, and often have only a subject.
#[derive(Debug)]
struct ExactVerifier {
    inner: Verifier,
    trusted: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ExactVerifier {
    /// Returns the server's certificate if the user trusts it itself.
    fn trusted<'a>(&self, certificate: &'a CertificateDer<'_>) -> Option<Certificate<'a>> {
        self.trusted.iter().any(|known| known == certificate).then(|| Certificate::parse(certificate)).flatten()
    }
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
        match self.trusted(end_entity) {
            Some(certificate) => {
                certificate.check(server_name, now)?;
                Ok(ServerCertVerified::assertion())
            }
            None => self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(certificate) = self.trusted(cert) else {
            return self.inner.verify_tls12_signature(message, cert, dss);
        };
        let algorithms = self.algorithms.mapping.iter().find(|(scheme, _)| *scheme == dss.scheme);
        let is_valid = algorithms.map_or(&[][..], |(_, algorithms)| algorithms).iter().any(|algorithm| {
            algorithm.public_key_alg_id().as_ref() == certificate.key_algorithm
                && algorithm.verify_signature(certificate.key, message, dss.signature()).is_ok()
        });
        match is_valid {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trusted(cert) {
            Some(certificate) => {
                let key = SubjectPublicKeyInfoDer::from(certificate.key_info);
                verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
            }
            None => self.inner.verify_tls13_signature(message, cert, dss),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
