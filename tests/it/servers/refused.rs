//! Servers that do not answer, or that do not let us in.

use super::Desk;
use super::postgres::{PASSWORD, Postgres};
use super::process::free_port;
use rstest::rstest;

const LOGIN: &str = "Check the user and its password (in the address, `secret_env`, `secret_file`, $PGPASSWORD or \
     ~/.pgpass), and the server's pg_hba.conf.";

#[test]
fn a_closed_port() {
    let port = free_port();
    Desk::new(&format!("postgres://ana:s3cr3t-of-ana@127.0.0.1:{port}/app"), "").tells(
        3,
        &format!(
            "postgres://ana@127.0.0.1:{port}/app: cannot be reached (Connection refused (os error 111))"
        ),
        "Check host, port and network, and that the server runs.",
    );
}

/// Wherever the password comes from.
#[rstest]
#[case::in_the_address("ana:s3cr3t-but-wrong", "", None)]
#[case::in_the_environment("ana", "secret_env = \"BILLING\"", Some("BILLING"))]
#[case::in_libpq_s_environment("ana", "", Some("PGPASSWORD"))]
#[case::in_a_file("ana", "secret_file = \"password\"", None)]
#[case::in_a_password_file("ana", "", None)]
fn a_wrong_password(#[case] role: &str, #[case] more: &str, #[case] variable: Option<&str>) {
    let Some(server) = Postgres::start() else { return };
    let mut desk = Desk::new(&server.url(role), more);
    desk.world.write("password", "s3cr3t-but-wrong\n");
    desk.passfile(&format!("127.0.0.1:{}:*:ana:s3cr3t-but-wrong\n", server.port()));
    if let Some(variable) = variable {
        desk = desk.with(variable, "s3cr3t-but-wrong");
    }
    let told = "the server refuses the login (password authentication failed for user \"ana\")";
    desk.tells(3, &format!("{}: {told}", server.shown("ana")), LOGIN);
}

/// The same places with the right one, and nobody sees it.
#[rstest]
#[case::in_the_address("ana:s3cr3t-of-ana", "", None)]
#[case::in_the_environment("ana:s3cr3t-but-wrong", "secret_env = \"BILLING\"", Some("BILLING"))]
#[case::in_libpq_s_environment("ana", "", Some("PGPASSWORD"))]
#[case::in_a_file("ana", "secret_file = \"password\"", None)]
#[case::in_a_password_file("ana", "", None)]
fn the_right_password(#[case] role: &str, #[case] more: &str, #[case] variable: Option<&str>) {
    let Some(server) = Postgres::start() else { return };
    let mut desk = Desk::new(&server.url(role), more);
    desk.world.write("password", format!("{PASSWORD}\n"));
    desk.passfile(&format!("other:1:*:*:s3cr3t-of-nobody\n127.0.0.1:{}:*:ana:{PASSWORD}\n", server.port()));
    if let Some(variable) = variable {
        desk = desk.with(variable, PASSWORD);
    }
    assert_eq!(desk.listed(), ["inv-1", "inv-2", "mail-1"]);
    desk.hides_passwords();
}

#[test]
fn no_password_at_all() {
    let Some(server) = Postgres::start() else { return };
    let told = "the server wants a password, and there is none";
    Desk::new(&server.url("ana"), "").tells(3, &format!("{}: {told}", server.shown("ana")), LOGIN);
}

/// libpq leaves such a file alone, and so do we: the server then misses the password.
#[test]
fn a_password_file_that_others_may_read() {
    let Some(server) = Postgres::start() else { return };
    let desk = Desk::new(&server.url("ana"), "");
    desk.passfile(&format!("*:*:*:*:{PASSWORD}\n"));
    std::fs::set_permissions(desk.world.path(".pgpass"), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .unwrap();
    let told = "the server wants a password, and there is none";
    desk.tells(3, &format!("{}: {told}", server.shown("ana")), LOGIN);
}

#[test]
fn a_secret_that_is_not_there() {
    let port = free_port();
    let desk = Desk::new(&format!("postgres://ana@127.0.0.1:{port}/app"), "secret_env = \"BILLING\"");
    desk.tells(
        2,
        &format!(
            "postgres://ana@127.0.0.1:{port}/app: the secret is missing: $BILLING is not set, empty or not readable"
        ),
        "Set it where `secret_env` or `secret_file` says.",
    );
}

#[test]
fn a_role_that_there_is_not() {
    let Some(server) = Postgres::start() else { return };
    let told = "the server refuses the login (password authentication failed for user \"nobody\")";
    Desk::new(&server.url("nobody:s3cr3t-but-wrong"), "").tells(
        3,
        &format!("{}: {told}", server.shown("nobody")),
        LOGIN,
    );
}

#[test]
fn a_database_that_there_is_not() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url("ana:s3cr3t-of-ana").replace("/postgres", "/nowhere");
    let shown = server.shown("ana").replace("/postgres", "/nowhere");
    Desk::new(&url, "").tells(
        3,
        &format!("{shown}: database \"nowhere\" does not exist"),
        "Check the database's name in the address.",
    );
}

#[test]
fn a_server_that_is_full() {
    let Some(server) = Postgres::empty(&["max_connections = 5", "superuser_reserved_connections = 3"]) else {
        return;
    };
    server.sql(super::postgres::JOBS);
    server.sql("ALTER ROLE ana CONNECTION LIMIT 0");
    Desk::new(&server.url("ana:s3cr3t-of-ana"), "").tells(
        3,
        &format!(
            "{}: the server takes no more connections (too many connections for role \"ana\")",
            server.shown("ana")
        ),
        "Try again, or close some.",
    );
}
