//! Servers and programs that are killed in the middle: what came of it is told as it was, and a good start goes on.

use super::Desk;
use super::postgres::{PASSWORD, Postgres};
use super::process::wait_until;
use super::proxy::{Proxy, When};
use crate::witness::entries_of;
use crate::world::two_lines;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use std::process::Child;

const DECIDE: &str = "decide inv-1 --source billing --done --override --reason seen";
const ALL: [&str; 3] = ["inv-1", "inv-2", "mail-1"];
const LOST: &str = "the connection was lost while it was used";
const HELD: &str = "BEGIN; SELECT 1 FROM jobs WHERE key = 'inv-1' FOR UPDATE";

fn desk(server: &Postgres) -> Desk {
    Desk::new(&server.url("ana:s3cr3t-of-ana"), "")
}

/// The events on record, the oldest first, of an audit that is whole.
fn events(desk: &Desk) -> Vec<String> {
    let verified = desk.run("audit verify");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    entries_of(&desk.world.path("audit.db")).into_iter().map(|entry| entry.event).collect()
}

/// A decision that is on record as intended and waits for a row that another session holds.
fn intended(desk: &Desk, server: &Postgres) -> Child {
    let child = desk.program(DECIDE).spawn().unwrap();
    server.has_session("wait_event_type = 'Lock'");
    let audit = desk.world.path("audit.db");
    assert!(entries_of(&audit).iter().any(|entry| entry.event == "intended"), "it writes before it intends");
    child
}

#[test]
fn in_the_middle_of_a_scan_the_other_sources_are_listed() {
    let Some(mut server) = Postgres::start() else { return };
    server.sql(
        "ALTER TABLE jobs RENAME TO stored; \
         CREATE VIEW jobs AS SELECT key, status, updated_at, last_error FROM stored, pg_sleep(50); \
         GRANT SELECT ON jobs TO ana",
    );
    let desk = desk(&server);
    let listing = desk.program("list --json").spawn().unwrap();
    server.has_session("wait_event = 'PgSleep'");
    server.kill();
    let ran = desk.ended(listing);
    let told = two_lines(&format!("{}: {LOST}", server.shown("ana")), "Scan again: it is connected to anew.");
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), &*told));
    assert_eq!(ran.each("key"), ["mail-1"]);
    // And while it is gone.
    let place = server.shown("ana");
    desk.tells(
        3,
        &format!("{place}: cannot be reached (Connection refused (os error 111))"),
        "Check host, port and network, and that the server runs.",
    );
    server.restart();
    server.sql("DROP VIEW jobs; ALTER TABLE stored RENAME TO jobs");
    assert_eq!(desk.listed(), ALL);
}

/// What a decision says of an item that nobody is asked about.
fn unasked(key: &str, kind: &str) -> String {
    format!(
        "{key}: the verdict is `unknown`: No answer that counts: nobody is configured to ask about kind `{kind}`.\n"
    )
}

/// A server that is stopped in good order says so itself.
#[test]
fn stopped_in_the_middle_of_a_scan() {
    let Some(mut server) = Postgres::start() else { return };
    let held = server.session("BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE");
    let desk = desk(&server);
    let listing = desk.program("list --source billing").spawn().unwrap();
    server.has_session("wait_event_type = 'Lock'");
    server.stop(Signal::INT);
    let ran = desk.ended(listing);
    drop(held);
    let what = "the server is stopping or starting (terminating connection due to administrator command)";
    let told = two_lines(
        &format!("{}: {what}", server.shown("ana")),
        "Scan again once it is up: it is connected to anew.",
    );
    assert_eq!((ran.code, ran.err), (Some(3), format!("{told}No findings in what could be read.\n")));
}

#[test]
fn between_intent_and_write_nothing_was_written_and_that_is_told() {
    let Some(mut server) = Postgres::start() else { return };
    let desk = desk(&server);
    let held = server.session(HELD);
    let deciding = intended(&desk, &server);
    server.kill();
    let ran = desk.ended(deciding);
    drop(held);
    let place = server.shown("ana");
    let told = two_lines(
        &format!("inv-1: mark done failed: nothing was written: {place}: {LOST}"),
        "Run `unstuck doctor`, look at the item, then decide again.",
    );
    assert_eq!((ran.code, ran.err), (Some(1), told));
    assert_eq!(events(&desk), ["intended", "failed"]);
    server.restart();
    assert_eq!(server.status_of("inv-1"), "running");
    let again = desk.run(DECIDE);
    assert_eq!((again.code, again.err), (Some(0), unasked("inv-1", "jobs")));
    assert_eq!(server.status_of("inv-1"), "done");
    assert_eq!(events(&desk), ["intended", "failed", "intended", "applied"]);
    desk.hides_passwords();
}

/// A row that stays held is given up on in time, and the line says how to find who holds it.
#[test]
fn a_row_that_stays_held() {
    let Some(server) = Postgres::start() else { return };
    let desk = desk(&server);
    let held = server.session(HELD);
    let ran = desk.ended(intended(&desk, &server));
    drop(held);
    let place = server.shown("ana");
    let what = format!("{place}: the row is held by another session for too long");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.starts_with(&format!("unstuck: inv-1: mark done failed: nothing was written: {what}\n")),
        "{}",
        ran.err
    );
    assert_eq!((server.status_of("inv-1").as_str(), desk.run(DECIDE).code), ("running", Some(0)));
}

/// The program and the server are both killed: as long as the row cannot be read nothing is said of the decision.
#[test]
fn both_killed_between_intent_and_write() {
    let Some(mut server) = Postgres::start() else { return };
    let desk = desk(&server);
    let held = server.session(HELD);
    let mut deciding = intended(&desk, &server);
    deciding.kill().unwrap();
    deciding.wait().unwrap();
    server.kill();
    drop(held);
    let early = desk.run("decide mail-1 --source mails --escalate --reason look");
    assert_eq!(early.code, Some(0), "{early:?}");
    let (place, down) = (server.shown("ana"), "cannot be reached (Connection refused (os error 111))");
    let told = format!(
        "Broken off earlier: mark done inv-1 (audit entry 1): its row cannot be read now: {place}: {down}"
    );
    assert_eq!(early.err, format!("{told}\n{}", unasked("mail-1", "sent_emails")));
    assert_eq!(events(&desk), ["intended", "intended", "applied"]);
    server.restart();
    let late = desk.run(DECIDE);
    assert_eq!(late.code, Some(0), "{late:?}");
    assert!(late.err.starts_with("Broken off earlier: mark done inv-1 (audit entry 1): "), "{}", late.err);
    assert!(!late.err.contains("cannot be read"), "{}", late.err);
    assert_eq!(server.status_of("inv-1"), "done");
    assert_eq!(events(&desk), ["intended", "intended", "applied", "refused", "intended", "applied"]);
}

/// The server wrote, and its answer was lost on the way: the row itself is asked.
#[test]
fn an_answer_to_a_commit_that_is_lost() {
    let Some(server) = Postgres::start() else { return };
    let proxy = Proxy::before(server.port(), When::Answered);
    let desk = Desk::new(&proxy.url("ana", PASSWORD), "");
    let ran = desk.run(DECIDE);
    assert_eq!((ran.code, ran.err), (Some(0), unasked("inv-1", "jobs")));
    assert!(proxy.has_cut(), "the commit's answer was not lost");
    assert_eq!(
        (server.status_of("inv-1").as_str(), events(&desk)),
        ("done", vec!["intended".to_owned(), "applied".to_owned()])
    );
}

/// The server wrote, and was gone before it could say so: that is what is told, and the row shows it later.
#[test]
fn an_answer_to_a_commit_that_is_lost_with_the_server() {
    let Some(mut server) = Postgres::start() else { return };
    let proxy = Proxy::before(server.port(), When::Held);
    let desk = Desk::new(&proxy.url("ana", PASSWORD), "");
    let deciding = desk.program(DECIDE).spawn().unwrap();
    wait_until("the commit's answer", || proxy.has_cut());
    server.kill();
    let ran = desk.ended(deciding);
    let place = proxy.shown("ana");
    let told = format!(
        "inv-1: mark done failed: the commit was not confirmed ({place}: {LOST}), and the row cannot be read: {place}: {LOST}"
    );
    let do_next = "Run `unstuck doctor`, look at the item, then decide again.";
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&told, do_next)));
    assert_eq!(events(&desk), ["intended", "failed"]);
    server.restart();
    assert_eq!(server.status_of("inv-1"), "done");
    let again = desk.run(DECIDE);
    let told = "inv-1: mark done refused: the item is `done` (done) and needs no decision";
    assert_eq!(
        (again.code, again.err),
        (Some(1), two_lines(told, "Look at it as it is now, then decide again."))
    );
}

/// The commit never arrived: the row is as it was, and that is what is told.
#[test]
fn a_commit_that_is_lost() {
    let Some(server) = Postgres::start() else { return };
    let proxy = Proxy::before(server.port(), When::Asked);
    let desk = Desk::new(&proxy.url("ana", PASSWORD), "");
    let ran = desk.run(DECIDE);
    let place = proxy.shown("ana");
    let told =
        format!("inv-1: mark done failed: nothing was written (the row is as it was): {place}: {LOST}");
    assert_eq!(
        (ran.code, ran.err),
        (Some(1), two_lines(&told, "Run `unstuck doctor`, look at the item, then decide again."))
    );
    assert_eq!((server.status_of("inv-1").as_str(), desk.run(DECIDE).code), ("running", Some(0)));
}

/// The server wrote, and the program was killed before it heard of it: the next start reads the row.
#[test]
fn killed_between_write_and_outcome() {
    let Some(mut server) = Postgres::start() else { return };
    let proxy = Proxy::before(server.port(), When::Held);
    let desk = Desk::new(&proxy.url("ana", PASSWORD), "");
    let mut deciding = desk.program(DECIDE).spawn().unwrap();
    wait_until("the commit's answer", || proxy.has_cut());
    assert_eq!(server.status_of("inv-1"), "done");
    deciding.kill().unwrap();
    deciding.wait().unwrap();
    // What was written is there after a crash.
    server.kill();
    server.restart();
    let ran = desk.run("decide mail-1 --source mails --escalate --reason look");
    let told = "it was carried out: the row is as the decision leaves it";
    let unasked = unasked("mail-1", "sent_emails");
    assert_eq!(
        (ran.code, ran.err),
        (Some(0), format!("Broken off earlier: mark done inv-1 (audit entry 1): {told}\n{unasked}"))
    );
    assert_eq!(events(&desk), ["intended", "applied", "intended", "applied"]);
}
