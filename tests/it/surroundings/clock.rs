//! A clock that runs backwards. The program takes the machine's; the library takes any, so these go through the library,
//! with the real source, provider and audit.

use super::*;
use chrono::{DateTime, TimeDelta, Utc};
use std::path::PathBuf;
use std::sync::Arc;
use unstuck::adapters::system::SystemClock;
use unstuck::config::load;
use unstuck::domain::decision::{Choice, Outcome, Reason};
use unstuck::ports::clock::Clock;
use unstuck::wiring::{self, AuditUse, Options};
use unstuck::workflow::recover::recover;
use unstuck::workflow::settle::decide;
use unstuck::workflow::{Desk, Order};
use uuid::Uuid;

/// So much behind from the start, and further behind as soon as a decision is intended.
struct Backwards {
    start: TimeDelta,
    jump: TimeDelta,
    audit: PathBuf,
}

impl Clock for Backwards {
    fn now(&self) -> DateTime<Utc> {
        let is_intended =
            self.audit.exists() && entries_of(&self.audit).iter().any(|entry| entry.event == "intended");
        SystemClock.now() - self.start - if is_intended { self.jump } else { TimeDelta::zero() }
    }

    fn new_id(&self) -> Uuid {
        SystemClock.new_id()
    }

    fn process(&self) -> u32 {
        SystemClock.process()
    }

    fn lives(&self, process: u32) -> Option<bool> {
        SystemClock.lives(process)
    }
}

fn desk(incident: &Incident, start: TimeDelta, jump: TimeDelta) -> Arc<Desk> {
    unstuck::adapters::http::install_tls();
    let config = incident.world.path("config.toml");
    // The shipped example takes the secret from the environment; a test's own is in a file.
    let secret = incident.world.write("secret", "sk_test_7");
    let text = std::fs::read_to_string(&config).unwrap();
    let line = format!("secret_file = {:?}", secret.display().to_string());
    std::fs::write(&config, text.replace("secret_env = \"UNSTUCK_LEDGER_TOKEN\"", &line)).unwrap();
    let settings = load::load(&config, incident.world.path("audit.db")).unwrap();
    let options = Options { operator: Some("ana".to_owned()), audit: AuditUse::Write, ..Options::default() };
    let mut desk = wiring::desk(&settings, &options).unwrap();
    desk.clock = Arc::new(Backwards { start, jump, audit: incident.world.path("audit.db") });
    Arc::new(desk)
}

fn order() -> Order {
    Order {
        source: "jobs".into(),
        key: "inv-1".into(),
        shown: None,
        shown_verdict: None,
        choice: Choice::MarkDone,
        reason: Reason::new("charged").unwrap(),
        insists: false,
    }
}

#[test]
fn a_clock_that_jumps_back_between_intent_and_outcome_changes_neither() {
    let incident = witnessed();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let desk = desk(&incident, TimeDelta::zero(), TimeDelta::hours(1));
    let decided = runtime.block_on(decide(&desk, order())).unwrap();
    assert!(
        matches!(decided.outcome, Outcome::Applied { .. }) && decided.record_fault.is_none(),
        "{decided:?}"
    );
    let entries = entries_of(&incident.world.path("audit.db"));
    let [intent, outcome] = &entries[..] else { panic!("{entries:?}") };
    assert!(outcome.at < intent.at, "the clock did not run backwards");
    assert_eq!((changes(&incident).len(), incident.status_of("inv-1").as_deref()), (1, Some("done")));
    assert_on_record(&incident, &["applied"]);
}

#[test]
fn a_decision_of_tomorrow_is_settled_today() {
    let incident = witnessed();
    Intended::begin(&incident).killed();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let desk = desk(&incident, TimeDelta::days(1), TimeDelta::zero());
    let recovered = runtime.block_on(recover(&desk)).unwrap();
    let [one] = &recovered[..] else { panic!("{recovered:?}") };
    assert!(matches!(one.outcome, Some(Outcome::Refused { .. })), "{one:?}");
    let entries = entries_of(&incident.world.path("audit.db"));
    assert!(entries[1].at < entries[0].at, "the clock did not jump back");
    nothing_was_written_and_a_good_start_decides(&incident, &["refused", "applied"]);
}
