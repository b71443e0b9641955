//! A provider that wants to see a certificate of ours.

use super::*;
use pretty_assertions::assert_eq;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

fn server_config() -> Arc<ServerConfig> {
    super::super::install_tls();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("ca.pem")).unwrap()).unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let chain =
        CertificateDer::pem_file_iter(fixture("server.pem")).unwrap().collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("server.pem")).unwrap();
    let config = ServerConfig::builder().with_client_cert_verifier(verifier);
    Arc::new(config.with_single_cert(chain, key).unwrap())
}

/// A provider that knows nothing and answers only who shows a certificate; every connection is one question.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let config = server_config();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut tls = StreamOwned::new(connection, stream.unwrap());
            let mut buffer = [0; 4096];
            if matches!(tls.read(&mut buffer), Ok(count) if count > 0) {
                let body = r#"{"data":[],"more":false}"#;
                let length = body.len();
                let _gone = write!(
                    tls,
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                tls.conn.send_close_notify();
                let _gone = tls.flush();
            }
        }
    });
    base
}

fn asker(base: &str, client_certificate: Option<PathBuf>) -> HttpProvider {
    let settings =
        ProviderSettings { certificates: Some(fixture("ca.pem")), client_certificate, ..settings(base) };
    provider_of(PRESET, &settings, "list")
}

#[tokio::test]
async fn a_certificate_of_ours_is_shown_where_one_is_named() {
    let base = serve();
    let answered = asker(&base, Some(fixture("client.pem"))).ask(&question()).await;
    assert_eq!(told(&answered.answer), Ok(vec![]), "{:?}", answered.answer);
    let answered = asker(&base, None).ask(&question()).await;
    assert!(
        matches!(told(&answered.answer), Err(FaultKind::Tls | FaultKind::CutOff)),
        "{:?}",
        answered.answer
    );
}

#[tokio::test]
async fn a_certificate_that_cannot_be_read_is_said() {
    for (file, part) in [("nowhere.pem", "No such file"), ("ca.pem", "a certificate and its key, both PEM")] {
        let answered = asker("https://127.0.0.1:9", Some(fixture(file))).ask(&question()).await;
        let Answer::Fault(fault) = &answered.answer else { panic!("{:?}", answered.answer) };
        assert_eq!(fault.kind, FaultKind::Tls);
        assert!(fault.detail.contains(file) && fault.detail.contains(part), "{}", fault.detail);
    }
}
