//! Servers that take a connection and then say nothing: every command ends within the limits that the documentation names,
//! says which source it was and what to do, and shows the other sources all the same.
//!
//! None of these tests looks at a clock: without a limit they would never end.

mod mute;

use crate::databases::Database;
use crate::servers::Desk;
use crate::world::{TABLES, World, two_lines};
use mute::{Mute, Says};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::net::{SocketAddr, ToSocketAddrs};
use unstuck::preset::source::Engine;

const CHECK: &str = "Check host, port and network, and that the server runs and answers.";
const AGAIN: &str = "Check that the server runs and the network to it, then try again.";

fn url_of(scheme: &str, mute: &Mute) -> String {
    format!("{scheme}://ana@127.0.0.1:{}/app?connect_timeout=1", mute.port())
}

#[rstest]
#[case::postgres_says_nothing("postgres", Says::Nothing)]
#[case::postgres_lets_in("postgres", Says::Welcome)]
#[case::mysql_says_nothing("mysql", Says::Nothing)]
#[case::mysql_half_a_greeting("mysql", Says::HalfAGreeting)]
fn a_server_that_says_nothing_is_told_and_holds_no_other_up(#[case] scheme: &str, #[case] says: Says) {
    let mute = Mute::that(says);
    let url = url_of(scheme, &mute);
    let desk = Desk::new(&url, "");
    let what = format!("{url}: cannot be reached (no answer in 1 s)");
    desk.tells(3, &what, CHECK);
    let watched = desk.run("watch --once");
    assert_eq!(watched.code, Some(3), "{watched:?}");
    assert!(watched.out.contains("\"key\":\"mail-1\""), "{}", watched.out);
    assert!(watched.err.contains(&what), "{}", watched.err);
    // Without a configuration as well.
    let listed = desk.world.run(&format!("list --json --db {url} --db sqlite://mails.db"));
    assert_eq!(
        (listed.code, listed.err, listed.out.matches("\"key\":\"mail-1\"").count()),
        (Some(3), two_lines(&what, CHECK), 1)
    );
    let begun = desk.world.run(&format!("init --db {url}"));
    assert_eq!(begun.code, Some(3), "{begun:?}");
}

/// Where a server that is there listens.
fn address_of(database: &Database) -> Option<(SocketAddr, String)> {
    let url = url::Url::parse(&database.url()).ok()?;
    let address = (url.host_str()?, url.port_or_known_default()?).to_socket_addrs().ok()?.next()?;
    Some((address, database.url()))
}

/// The same address by way of a server that falls silent.
fn by_way_of(mute: &Mute, url: &str) -> String {
    let mut url = url::Url::parse(url).unwrap();
    url.set_ip_host("127.0.0.1".parse().unwrap()).unwrap();
    url.set_port(Some(mute.port())).unwrap();
    url.set_query(Some("statement_timeout=100ms&sslmode=disable"));
    url.to_string()
}

fn make_jobs(database: &Database, engine: Engine) {
    let key = if engine == Engine::Mysql { "`key`" } else { "key" };
    database.execute(&format!(
        "CREATE TABLE jobs ({key} varchar(40) PRIMARY KEY, status varchar(20), updated_at timestamp, last_error varchar(200))"
    ));
    database.execute("INSERT INTO jobs VALUES ('inv-1', 'failed', '2026-01-01 00:00:00', 'Read timed out')");
}

#[rstest]
#[case::postgres_catalogue(Engine::Postgres, "FROM pg_class", 0)]
#[case::postgres_page(Engine::Postgres, "ORDER BY", 0)]
#[case::postgres_half_a_catalogue(Engine::Postgres, "FROM pg_class", 40)]
#[case::mysql_catalogue(Engine::Mysql, "information_schema", 0)]
#[case::mysql_half_a_catalogue(Engine::Mysql, "information_schema", 40)]
fn a_server_that_falls_silent_half_way_is_told(
    #[case] engine: Engine,
    #[case] words: &'static str,
    #[case] bytes: usize,
) {
    let Some(database) = Database::new(engine) else { return };
    let (server, url) = address_of(&database).expect("an address of a server");
    make_jobs(&database, engine);
    let whole = Desk::new(&url, "");
    assert_eq!(whole.listed(), ["inv-1", "mail-1"]);
    let mute = Mute::that(Says::Until(server, words, bytes));
    let url = by_way_of(&mute, &url);
    let ran = Desk::new(&url, "").run("list --json");
    let shown = url.replace(":@", "@");
    let what = format!("{shown}: stopped answering (nothing came for 5.1 s)");
    assert_eq!(
        (ran.code, ran.err.as_str(), ran.each("key")),
        (Some(3), &*two_lines(&what, AGAIN), vec!["mail-1".to_owned()])
    );
}

#[test]
fn a_commit_that_is_never_answered_is_told_as_not_confirmed() {
    let Some(database) = Database::new(Engine::Postgres) else { return };
    let (server, url) = address_of(&database).expect("an address of a server");
    make_jobs(&database, Engine::Postgres);
    let mute = Mute::that(Says::Until(server, "COMMIT", 0));
    let desk = Desk::new(&by_way_of(&mute, &url), "");
    let ran = desk.run("decide inv-1 --source billing --done --override --reason seen");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("the commit was not confirmed"), "{told}");
    assert!(!told.contains("nothing was written"), "{told}");
    // Intent and outcome are both on record.
    let events = desk.run("audit list --json").each("event");
    assert!(events.contains(&"intended".to_owned()), "{events:?}");
    assert!(events.contains(&"failed".to_owned()), "{events:?}");
    assert_eq!(database.first("SELECT status FROM jobs"), "failed");
}

#[rstest]
#[case::says_nothing(Says::Nothing)]
#[case::lets_in(Says::Welcome)]
fn an_audit_on_a_server_that_says_nothing_is_told(#[case] says: Says) {
    let mute = Mute::that(says);
    let url = url_of("postgres", &mute);
    let world = World::new();
    world.database("jobs.db", TABLES);
    world.write(
        "config.toml",
        format!(
            "[audit]\ndatabase = \"{url}\"\n\n[[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\n"
        ),
    );
    for command in ["audit list", "audit verify", "audit export"] {
        let ran = world.run(&format!("--config config.toml {command}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{command}: {ran:?}");
        assert_eq!(
            ran.err,
            two_lines(&format!("audit {url}: cannot be reached (no answer in 1 s)"), CHECK),
            "{command}"
        );
    }
}

#[rstest]
fn a_ledger_on_a_server_that_says_nothing_is_unknown(#[values("postgres", "mysql")] scheme: &str) {
    let mute = Mute::that(Says::Nothing);
    let url = url_of(scheme, &mute);
    let world = World::new();
    let row = "INSERT INTO jobs SELECT 'inv-1', 'failed', '2026-01-01 00:00:00', 'Read timed out';";
    world.database("jobs.db", &format!("{TABLES}{row}"));
    world.write(
        "config.toml",
        format!(
            "[audit]\npath = \"audit.db\"\n\n[[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\nkind = \"invoice\"\n\n\
             [kinds.invoice]\nrisk = \"financial\"\ncheck = \"ledger.entry\"\nreference = \"{{{{ key }}}}\"\n\n\
             [providers.ledger]\npreset = \"sql_ledger\"\ndatabase = \"{url}\"\n"
        ),
    );
    let ran = world.run("--config config.toml check inv-1 --json");
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(ran.each("verdict"), ["unknown"]);
    assert!(ran.err.contains(&format!("{url}: cannot be reached (no answer in 1 s)")), "{}", ran.err);
}
