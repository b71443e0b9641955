//! TLS as `sslmode` asks for it, against certificates that these tests sign.

use super::Desk;
use super::postgres::{JOBS, Postgres};
use super::process::{program, run, skipped};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::path::Path;
use std::process::Command;

const ALL: [&str; 3] = ["inv-1", "inv-2", "mail-1"];
const CHECK_IT: &str = "Check `sslmode` and `sslrootcert` in the address, and the server's certificate: its names, its \
     dates, who signed it.";

/// An authority and the certificate that it gave a server of that name.
struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    fn new(name: &str) -> Option<Self> {
        let Some(openssl) = program("openssl", &[]) else {
            skipped("openssl is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let openssl = |arguments: &str| {
            let mut command = Command::new(&openssl);
            run(command.current_dir(folder.path()).args(arguments.split_whitespace()));
        };
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        openssl(&format!("req -x509 {key} -keyout ca.key -out ca.crt -days 2 -subj /CN=test-authority"));
        openssl(&format!(
            "req -x509 {key} -keyout other.key -out other.crt -days 2 -subj /CN=other-authority"
        ));
        openssl(&format!("req -new {key} -keyout server.key -out server.csr -subj /CN=server"));
        std::fs::write(
            folder.path().join("names"),
            format!("subjectAltName={name}\nbasicConstraints=CA:FALSE\n"),
        )
        .unwrap();
        openssl(
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt",
        );
        Some(Self { folder })
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// A server with the certificate that takes no connection without TLS.
fn server(certificates: &Certificates) -> Option<Postgres> {
    let mut server =
        Postgres::empty(&["ssl_cert_file = 'FOLDER/server.crt'", "ssl_key_file = 'FOLDER/server.key'"])?;
    server.sql(JOBS);
    for name in ["server.crt", "server.key"] {
        let copy = server.folder().join(name);
        std::fs::copy(certificates.file(name), &copy).unwrap();
        std::fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        server.owns(&copy);
    }
    server.kill();
    let hba = server.folder().join("data/pg_hba.conf");
    std::fs::write(hba, "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n").unwrap();
    server.set("ssl = on");
    server.restart();
    Some(server)
}

fn address(server: &Postgres, parameters: &str) -> (String, String) {
    let with = |url: String| if parameters.is_empty() { url } else { format!("{url}?{parameters}") };
    (with(server.url("ana:s3cr3t-of-ana")), with(server.shown("ana")))
}

#[test]
fn a_server_is_spoken_to_as_the_mode_asks() {
    let Some(certificates) = Certificates::new("IP:127.0.0.1") else { return };
    let Some(server) = server(&certificates) else { return };
    let (ca, other) = (certificates.file("ca.crt"), certificates.file("other.crt"));
    for parameters in [
        String::new(),
        "sslmode=prefer".to_owned(),
        "sslmode=require".to_owned(),
        format!("sslmode=require&sslrootcert={ca}"),
        format!("sslmode=verify-ca&sslrootcert={ca}"),
        format!("sslmode=verify-full&sslrootcert={ca}"),
    ] {
        let desk = Desk::new(&address(&server, &parameters).0, "");
        assert_eq!(desk.listed(), ALL, "{parameters}");
        let (_, _, told) = desk.doctor("server");
        assert!(told.ends_with("with TLS"), "{parameters}: {told}");
        desk.hides_passwords();
    }
    let untrusted = "no TLS could be agreed on (invalid peer certificate: UnknownIssuer)";
    for parameters in [
        format!("sslmode=require&sslrootcert={other}"),
        format!("sslmode=verify-ca&sslrootcert={other}"),
        format!("sslmode=verify-full&sslrootcert={other}"),
        "sslmode=verify-full".to_owned(),
    ] {
        let (url, shown) = address(&server, &parameters);
        let ran = Desk::new(&url, "").run("list --source billing");
        let told = crate::world::two_lines(&format!("{}: {untrusted}", encoded(&shown)), CHECK_IT);
        assert_eq!((ran.code, ran.err), (Some(3), format!("{told}No findings in what could be read.\n")));
    }
}

/// As an address is shown: the parameters' values escaped.
fn encoded(shown: &str) -> String {
    let mut url = url::Url::parse(shown).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.to_string()
}

#[test]
fn a_certificate_for_another_name() {
    let Some(certificates) = Certificates::new("DNS:db.example.com") else { return };
    let Some(server) = server(&certificates) else { return };
    let (url, shown) =
        address(&server, &format!("sslmode=verify-full&sslrootcert={}", certificates.file("ca.crt")));
    let ran = Desk::new(&url, "").run("list --source billing");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let told = format!(
        "unstuck: {}: no TLS could be agreed on (invalid peer certificate: certificate not valid",
        encoded(&shown)
    );
    assert!(ran.err.starts_with(&told), "{}", ran.err);
}

#[test]
fn a_server_that_wants_tls_and_is_not_given_any() {
    let Some(certificates) = Certificates::new("IP:127.0.0.1") else { return };
    let Some(server) = server(&certificates) else { return };
    let (url, shown) = address(&server, "sslmode=disable");
    Desk::new(&url, "").tells(
        3,
        &format!(
            "{shown}: the server refuses the login (no pg_hba.conf entry for host \"127.0.0.1\", user \"ana\", \
             database \"postgres\", no encryption)"
        ),
        "Check the user and its password (in the address, `secret_env`, `secret_file`, $PGPASSWORD or ~/.pgpass), and the \
         server's pg_hba.conf.",
    );
}

#[rstest]
#[case::asked_in_the_address("?sslmode=require", None)]
#[case::asked_in_the_environment("", Some("require"))]
fn a_server_that_speaks_no_tls(#[case] parameters: &str, #[case] variable: Option<&str>) {
    let Some(server) = Postgres::start() else { return };
    let url = format!("{}{parameters}", server.url("ana:s3cr3t-of-ana"));
    let mut desk = Desk::new(&url, "");
    if let Some(mode) = variable {
        desk = desk.with("PGSSLMODE", mode);
    }
    let place = format!("{}{parameters}", server.shown("ana"));
    desk.tells(3, &format!("{place}: no TLS could be agreed on (server does not support TLS)"), CHECK_IT);
    // Without a wish of either it is spoken to as it can be.
    let any = Desk::new(&server.url("ana:s3cr3t-of-ana"), "");
    assert!(any.doctor("server").2.ends_with("without TLS"));
}

#[test]
fn authorities_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.crt");
    std::fs::write(&empty, "no certificate").unwrap();
    let told = |path: &Path| {
        let url =
            format!("postgres://ana@127.0.0.1:1/app?sslmode=verify-full&sslrootcert={}", path.display());
        let ran = Desk::new(&url, "").run("list --source billing");
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.err
    };
    assert!(told(&empty).contains("cannot be used (it holds no certificate)"), "{}", told(&empty));
    let missing = folder.path().join("missing.crt");
    assert!(told(&missing).contains("missing.crt cannot be used ("), "{}", told(&missing));
}
