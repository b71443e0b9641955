//! What an address, the environment and a server's own settings add up to.

use super::Desk;
use super::postgres::{JOBS, PASSWORD, Postgres};
use pretty_assertions::assert_eq;
use rstest::rstest;

const ALL: [&str; 3] = ["inv-1", "inv-2", "mail-1"];

#[test]
fn a_socket_s_folder_in_the_address() {
    let Some(server) = Postgres::start() else { return };
    let folder = server.folder().display().to_string();
    let escaped = folder.replace('/', "%2F");
    for place in [
        format!("postgres://postgres@{escaped}:{}/postgres", server.port()),
        format!("postgres:///postgres?host={folder}&port={}&user=postgres", server.port()),
    ] {
        let desk = Desk::new(&place, "");
        assert_eq!(desk.listed(), ALL);
        let (_, health, told) = desk.doctor("server");
        assert_eq!(health, "good");
        assert!(told.ends_with("postgres in postgres, without TLS"), "{told}");
    }
}

#[test]
fn a_socket_that_there_is_not() {
    let url = "postgres://postgres@%2Fnowhere:5432/app";
    Desk::new(url, "").tells(
        3,
        &format!("{url}: cannot be reached (No such file or directory (os error 2))"),
        "Check host, port and network, and that the server runs.",
    );
}

#[test]
fn what_the_address_leaves_open_comes_from_libpq_s_environment() {
    let Some(server) = Postgres::start() else { return };
    server.sql("CREATE DATABASE other");
    let desk = Desk::new("postgres://", "")
        .with("PGHOST", "127.0.0.1")
        .with("PGPORT", &server.port().to_string())
        .with("PGUSER", "ana")
        .with("PGDATABASE", "postgres")
        .with("PGPASSWORD", PASSWORD);
    assert_eq!(desk.listed(), ALL);
    desk.hides_passwords();
    // What the address says counts more.
    let named = Desk::new(&server.url("ana:s3cr3t-of-ana"), "")
        .with("PGHOST", "nowhere.invalid")
        .with("PGPORT", "1")
        .with("PGUSER", "nobody")
        .with("PGDATABASE", "other")
        .with("PGPASSWORD", "s3cr3t-but-wrong");
    assert_eq!(named.listed(), ALL);
    let odd = Desk::new("postgres://ana@127.0.0.1/app", "").with("PGPORT", "many");
    odd.tells(
        2,
        "postgres://ana@127.0.0.1/app: $PGPORT is `many`, which is no port",
        "Write postgres://USER@HOST:PORT/DATABASE?sslmode=…; docs/sources.md explains each part.",
    );
}

/// `?schema=` says where the tables are looked for, whatever the role's own path says, for looking and for deciding.
#[test]
fn a_schema() {
    let Some(server) = Postgres::start() else { return };
    server.sql(
        "CREATE SCHEMA \"Old Jobs\"; GRANT USAGE ON SCHEMA \"Old Jobs\" TO ana; \
         CREATE TABLE \"Old Jobs\".jobs AS SELECT * FROM jobs WHERE key = 'inv-2'; \
         GRANT ALL ON \"Old Jobs\".jobs TO ana",
    );
    let url = server.url("ana:s3cr3t-of-ana");
    assert_eq!(Desk::new(&url, "").listed(), ALL);
    let desk = Desk::new(&format!("{url}?schema=Old%20Jobs"), "");
    assert_eq!(desk.listed(), ["inv-2", "mail-1"]);
    let ran = desk.run("decide inv-2 --source billing --done --override --reason seen");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(server.sql("SELECT status FROM \"Old Jobs\".jobs"), "done");
    assert_eq!(server.status_of("inv-2"), "failed");
}

/// A query that takes too long is stopped by the server, and the line says how to allow more.
#[test]
fn a_time_out() {
    let Some(server) = Postgres::start() else { return };
    server.sql(
        "ALTER TABLE jobs RENAME TO stored; \
         CREATE VIEW jobs AS SELECT key, status, updated_at, last_error FROM stored, pg_sleep(3); \
         GRANT SELECT ON jobs TO ana",
    );
    let url = server.url("ana:s3cr3t-of-ana");
    let desk = Desk::new(&format!("{url}?statement_timeout=100ms"), "");
    let place = format!("{}?statement_timeout=100ms", server.shown("ana"));
    let ran = desk.run("list --source billing");
    let told = crate::world::two_lines(
        &format!("{place}: the query took too long and was stopped"),
        "Add an index on the status, or allow more: ?statement_timeout=5m in the address.",
    );
    assert_eq!((ran.code, ran.err), (Some(3), format!("{told}No findings in what could be read.\n")));
    assert_eq!(Desk::new(&format!("{url}?statement_timeout=1m"), "").listed(), ALL);
}

#[rstest]
#[case::time_out("statement_timeout=soon", "`soon` is not a duration; write for example")]
#[case::mode(
    "sslmode=maybe",
    "`sslmode` is `maybe`; there are disable, prefer, require, verify-ca and verify-full"
)]
#[case::parameter("keepalive_mood=good", "is no address (unknown option `keepalive_mood`)")]
fn a_parameter_that_means_nothing(#[case] parameter: &str, #[case] what: &str) {
    let place = format!("postgres://ana@127.0.0.1:1/app?{parameter}");
    let ran = Desk::new(&place, "").run("list --source billing");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.starts_with(&format!("unstuck: {place}: {what}")), "{}", ran.err);
}

/// Whatever a pooler gives the session to next finds it as it was: everything is set for one transaction alone, and reading
/// happens in transactions that cannot write.
#[test]
fn a_session_is_left_as_it_was_found() {
    let Some(server) = Postgres::empty(&["log_statement = 'all'", "log_line_prefix = '%a|'"]) else { return };
    server.sql(JOBS);
    let desk = Desk::new(&format!("{}?schema=public", server.url("ana:s3cr3t-of-ana")), "");
    assert_eq!(desk.listed(), ALL);
    assert_eq!(desk.run("doctor").code, Some(0));
    assert_eq!(desk.run("check inv-1").code, Some(0));
    let decided = desk.run("decide inv-1 --source billing --done --override --reason seen");
    assert_eq!(decided.code, Some(0), "{decided:?}");
    let log = server.log();
    let own: Vec<&str> = log.split("unstuck|LOG:  ").skip(1).collect();
    let each: Vec<&str> = own.iter().flat_map(|logged| logged.split(';')).map(str::trim).collect();
    assert!(each.len() > 30, "{log}");
    let settings = each.iter().filter(|part| part.contains("SET ") && !part.contains("UPDATE"));
    let outliving: Vec<_> = settings.filter(|part| !part.contains("SET LOCAL ")).collect();
    assert!(outliving.is_empty(), "{outliving:#?}");
    let begun = each.iter().filter(|part| part.contains("BEGIN "));
    let may_write = begun.filter(|part| !part.ends_with("READ ONLY")).count();
    assert_eq!(may_write, 1, "one decision writes: {own:#?}");
}
