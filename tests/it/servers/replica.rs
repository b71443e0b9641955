//! Servers that can be read and not written.

use super::Desk;
use super::postgres::Postgres;
use super::process::wait_until;
use pretty_assertions::assert_eq;

const DECIDE: &str = "decide inv-1 --source billing --done --override --reason seen";

/// Listed as ever; a decision fails in one clear line and is on record as that.
fn reads_and_does_not_write(desk: &Desk, place: &str, why: &str) {
    assert_eq!(desk.listed(), ["inv-1", "inv-2", "mail-1"]);
    let ran = desk.run(DECIDE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lines: Vec<&str> = ran.err.lines().collect();
    let told = format!("unstuck: inv-1: mark done failed: nothing was written: {place}: {why}");
    assert_eq!((lines[0], lines.len()), (told.as_str(), 2));
    assert_eq!(desk.run("audit list --json").each("event"), ["failed", "intended"]);
    desk.hides_passwords();
}

#[test]
fn a_replica() {
    let Some(primary) = Postgres::start() else { return };
    let replica = primary.replica();
    let desk = Desk::new(&replica.url("ana:s3cr3t-of-ana"), "");
    let (code, health, server) = desk.doctor("server");
    assert_eq!((code, health.as_str()), (Some(0), "doubtful"));
    assert!(server.ends_with("; a replica: no decision can be written"), "{server}");
    let why = "cannot be written: it is a replica, or set to read only \
        (cannot execute UPDATE in a read-only transaction)";
    reads_and_does_not_write(&desk, &replica.shown("ana"), why);
    assert_eq!(primary.status_of("inv-1"), "running");
    // What the primary writes is seen there, and what became a primary takes decisions.
    primary.sql("UPDATE jobs SET status = 'done' WHERE key = 'inv-2'");
    wait_until("the change on the replica", || replica.status_of("inv-2") == "done");
    assert_eq!(desk.listed(), ["inv-1", "mail-1"]);
    replica.sql("SELECT pg_promote()");
    assert_eq!(desk.run(DECIDE).code, Some(0));
    assert_eq!(
        (replica.status_of("inv-1").as_str(), primary.status_of("inv-1").as_str()),
        ("done", "running")
    );
}

/// A session could ask for more than its role or its server has by default. A decision does not: whoever set that meant it.
#[test]
fn a_role_that_only_reads_by_default() {
    let Some(server) = Postgres::start() else { return };
    server.sql("ALTER ROLE ana SET default_transaction_read_only = on");
    let desk = Desk::new(&server.url("ana:s3cr3t-of-ana"), "");
    let (code, health, told) = desk.doctor("server");
    assert_eq!((code, health.as_str()), (Some(0), "doubtful"));
    let refuses = "; set to read only (default_transaction_read_only): no decision can be written";
    assert!(told.ends_with(refuses), "{told}");
    let why = "cannot be written: it is a replica, or set to read only (cannot execute UPDATE in a read-only transaction)";
    reads_and_does_not_write(&desk, &server.shown("ana"), why);
    assert_eq!(server.status_of("inv-1"), "running");
}

/// A ledger on a replica: what is there counts, and what is not there is `unknown`, unless somebody says how far it may lag.
#[test]
fn a_ledger_on_a_replica() {
    let Some(primary) = Postgres::start() else { return };
    primary.sql(
        "CREATE TABLE ledger_entries (id bigint PRIMARY KEY, reference text, status text, amount numeric, currency text, created_at timestamptz);
         INSERT INTO ledger_entries VALUES (1, 'inv-2', 'booked', 12, 'EUR', now()); GRANT SELECT ON ledger_entries TO ana",
    );
    let replica = primary.replica();
    let desk = |provider: &str| {
        let desk = Desk::new(&primary.url("ana:s3cr3t-of-ana"), "kind = \"invoice\"");
        let config = std::fs::read_to_string(desk.world.path("config.toml")).unwrap();
        let kind = "[kinds.invoice]\nrisk = \"financial\"\ncheck = \"ledger.entry\"\n";
        let ledger = format!("[providers.ledger]\npreset = \"sql_ledger\"\n{provider}\n");
        desk.world.write("config.toml", format!("{config}\n{kind}\n{ledger}"));
        desk
    };
    let told = |desk: &Desk, key: &str| {
        let line = desk.run(&format!("check {key} --json")).json().remove(0);
        (line["verdict"].as_str().unwrap().to_owned(), line["reasons"][0].as_str().unwrap().to_owned())
    };
    let database = |server: &Postgres| format!("database = \"{}\"", server.url("ana:s3cr3t-of-ana"));
    let on_primary = desk(&database(&primary));
    assert_eq!(told(&on_primary, "inv-2").0, "happened");
    assert_eq!(told(&on_primary, "inv-1").0, "not_found");

    let on_replica = desk(&database(&replica));
    assert_eq!(told(&on_replica, "inv-2").0, "happened");
    let why = "No answer that counts: ledger.entry: nothing was found on a replica, which may lag: name the primary, or say `replica_lag_max`.";
    assert_eq!(told(&on_replica, "inv-1"), ("unknown".to_owned(), why.to_owned()));
    let doctor = on_replica.run("doctor");
    assert!(doctor.out.contains("an absence stays `unknown` there"), "{}", doctor.out);

    // With a bound the replica is asked how far it is, and settles that much later.
    primary.sql("CREATE TABLE beat (at timestamptz)");
    let bounded = desk(&format!("{}\nreplica_lag_max = \"10m\"", database(&replica)));
    wait_until("the replica's answer", || {
        primary.sql("INSERT INTO beat VALUES (now())");
        told(&bounded, "inv-1").0 == "not_found"
    });
    let narrow = desk(&format!("{}\nreplica_lag_max = \"1ms\"", database(&replica)));
    std::thread::sleep(std::time::Duration::from_millis(50));
    let (verdict, why) = told(&narrow, "inv-1");
    assert_eq!(verdict, "unknown");
    assert!(why.contains("nothing was found on a replica that lags"), "{why}");
    for desk in [&on_replica, &bounded] {
        desk.hides_passwords();
    }
}
