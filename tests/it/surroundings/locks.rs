//! An audit that somebody else holds.

use super::*;

/// How long the program waits for its turn; the tests hold for less, or until it has given up.
const SHORT: Duration = Duration::from_millis(1_500);

fn hold(incident: &Incident) -> Connection {
    let holder = Connection::open(incident.world.path("audit.db")).unwrap();
    holder.busy_timeout(PATIENCE).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    holder
}

#[test]
fn an_audit_that_is_held_for_less_than_the_wait_is_waited_for() {
    let incident = witnessed();
    incident.run("check inv-1");
    let holder = hold(&incident);
    let ran = std::thread::scope(|scope| {
        let run = scope.spawn(|| decide(&incident));
        std::thread::sleep(SHORT);
        assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"), "written without an intent");
        holder.execute_batch("COMMIT").unwrap();
        run.join().unwrap()
    });
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(changes(&incident).len(), 1);
    assert_on_record(&incident, &["applied"]);
}

#[test]
fn an_audit_that_stays_held_keeps_the_row_from_being_written() {
    let incident = witnessed();
    incident.run("check inv-1");
    let holder = hold(&incident);
    let ran = decide(&incident);
    holder.execute_batch("COMMIT").unwrap();
    assert_two_lines(&ran, 3, "nothing was changed, because the audit cannot be written");
    assert!(ran.err.contains("stayed locked by another program for 10 s"), "{}", ran.err);
    nothing_was_written_and_a_good_start_decides(&incident, &["applied"]);
}

#[test]
fn an_audit_that_is_held_when_the_outcome_is_due_is_waited_for() {
    let incident = witnessed();
    let intended = Intended::begin(&incident);
    let holder = hold(&incident);
    intended.let_go();
    wait_until("the write", || incident.status_of("inv-1").as_deref() == Some("done"));
    holder.execute_batch("COMMIT").unwrap();
    let ran = intended.ended();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(changes(&incident).len(), 1);
    assert_on_record(&incident, &["applied"]);
}

#[test]
fn an_outcome_that_cannot_be_recorded_is_told_and_settled_by_the_next_start() {
    let incident = witnessed();
    let intended = Intended::begin(&incident);
    let holder = hold(&incident);
    intended.let_go();
    let ran = intended.ended();
    holder.execute_batch("COMMIT").unwrap();
    assert_two_lines(&ran, 1, "stayed locked by another program for 10 s");
    it_was_written_once_and_a_good_start_says_so(&incident);
}
