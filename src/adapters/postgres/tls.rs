//! TLS as libpq's `sslmode` means it, by rustls.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What makes a connection's TLS.
pub(super) type Tls = MakeRustlsConnect;

/// What a mode asks for. `verify-ca` looks at the host's name too: it is stricter than libpq, never laxer.
///
/// # Errors
/// A sentence: a mode that there is not, or certificates that cannot be read.
pub(super) fn of(mode: &str, roots: Option<&str>) -> Result<(SslMode, Tls), String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (ssl_mode, verifies) = match (mode, roots) {
        ("disable", _) => (SslMode::Disable, false),
        // As libpq: encrypted where the server can, whoever the server is.
        ("allow" | "prefer", _) => (SslMode::Prefer, false),
        ("require", None) => (SslMode::Require, false),
        ("require", Some(_)) | ("verify-ca" | "verify-full", _) => (SslMode::Require, true),
        (other, _) => {
            return Err(format!(
                "`sslmode` is `{}`; there are disable, prefer, require, verify-ca and verify-full",
                crate::domain::text::clean_cut(other, 20)
            ));
        }
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|fault| fault.to_string())?;
    let config = match (verifies, roots) {
        (false, _) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
            .with_no_client_auth(),
        (true, Some(path)) => builder.with_root_certificates(read_roots(path)?).with_no_client_auth(),
        (true, None) => builder
            .with_platform_verifier()
            .map_err(|fault| format!("this machine's certificates cannot be read ({fault})"))?
            .with_no_client_auth(),
    };
    Ok((ssl_mode, MakeRustlsConnect::new(config)))
}

fn read_roots(path: &str) -> Result<RootCertStore, String> {
    let odd = |why: String| format!("`sslrootcert` {path} cannot be used ({why})");
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|fault| odd(fault.to_string()))? {
        let certificate = certificate.map_err(|fault| odd(fault.to_string()))?;
        store.add(certificate).map_err(|fault| odd(fault.to_string()))?;
    }
    if store.is_empty() { Err(odd("it holds no certificate".to_owned())) } else { Ok(store) }
}

/// Takes any certificate: what `sslmode=require` means without one to compare with.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
