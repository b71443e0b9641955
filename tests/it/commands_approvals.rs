//! Two persons through the real program: what is proposed, who may approve it, and each way that is refused.

use crate::incident::Incident;
use crate::world::{Ran, two_lines};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use unstuck::adapters::record::SqliteRecord;
use unstuck::config::load::load;
use unstuck::domain::audit::{Event, NewEntry};
use unstuck::domain::decision::Reason;
use unstuck::ports::record::Record;
use unstuck::wiring::{self, AuditUse, Options};
use unstuck::workflow::settle::approve::{ApprovalOrder, approve};

const ONE_ACCOUNT: &str = "approvals_from_same_login = true";
const NEXT: &str = "Look at the item as it is now: whoever still wants it proposes it anew.";

/// What Ana proposed: its short id.
fn proposed(incident: &Incident, decision: &str) -> String {
    let ran = incident.run(&format!("decide {decision} --source jobs --reason seen_at_the_bank --json"));
    assert_eq!((ran.code, ran.each("outcome")), (Some(0), vec!["proposed".to_owned()]), "{}", ran.err);
    ran.each("short").remove(0)
}

fn approved_by(incident: &Incident, operator: &str, short: &str, more: &str) -> Ran {
    incident.run(&format!("--operator {operator} approve {short} --reason I_looked_too {more}"))
}

/// An approval that is refused with exactly this, and after which the job is as it was.
#[track_caller]
fn refused(incident: &Incident, ran: &Ran, why: &str, do_next: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert_eq!(ran.err, two_lines(&format!("inv-1: mark done refused: {why}"), do_next));
    assert_ne!(incident.status_of("inv-1").as_deref(), Some("done"));
}

fn body(incident: &Incident, event: &str) -> Value {
    let entries = incident.run("audit list --json").json();
    entries.iter().find(|entry| entry["event"] == event).unwrap()["body"].clone()
}

#[test]
fn a_decision_that_takes_two_is_proposed_shown_to_everyone_and_approved_by_another() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let ran = incident.run("decide inv-1 --source jobs --done --reason charged,_see_the_ledger");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let short = ran.out.split("proposed as ").nth(1).unwrap()[..8].to_owned();
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with(&format!("inv-1: mark done proposed as {short}, until 20")), "{}", ran.out);
    assert!(lines[0].ends_with("Z (audit entry 1)"), "{}", ran.out);
    assert_eq!(
        lines[1..],
        [
            "Decisions on this kind take two persons: one proposes, another approves. Nothing was written yet.",
            &format!("A second person approves it: unstuck approve {short} --reason TEXT"),
        ]
    );
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));

    // Everybody is told, on the error output.
    let told = "1 proposal waits for a second person: `unstuck proposals` shows it.\n";
    for command in ["list --json", "check inv-3 --json", "doctor"] {
        let ran = incident.run(command);
        assert!(ran.err.ends_with(told), "{command}: {}", ran.err);
    }
    assert!(incident.run("doctor").out.contains("risk financial, two persons a decision, stuck after"));
    let listed = incident.run("proposals --json").json().remove(0);
    let said = |name: &str| listed[name].as_str().unwrap().to_owned();
    assert_eq!(
        [said("short"), said("key"), said("choice"), said("operator")],
        [&*short, "inv-1", "mark_done", "ana"]
    );
    assert_eq!(
        [said("verdict"), said("advice"), said("reason")],
        ["happened", "mark_done", "charged, see the ledger"]
    );
    let effects = json!([{ "id": "ch_1", "state": "happened", "amount": "12.00 EUR" }]);
    assert_eq!((&listed["effects"], &listed["insisted"]), (&effects, &json!(false)));
    assert!(said("decision").ends_with(&short));
    let text = incident.run("proposals").out;
    assert!(
        text.starts_with(&format!("{short}  mark done  jobs inv-1: happened, effects ch_1 (12.00 EUR)\n")),
        "{text}"
    );

    let ran = approved_by(&incident, "bob", &short, "");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "inv-1: mark done applied (audit entry 4)\n"),
        "{}",
        ran.err
    );
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("done"));
    assert_eq!(incident.events(), ["proposed inv-1", "checked inv-3", "intended inv-1", "applied inv-1"]);
    let both = body(&incident, "intended")["approval"].clone();
    let words = |who: &str| (both[who]["operator"].clone(), both[who]["reason"].clone());
    assert_eq!(words("proposed"), (json!("ana"), json!("charged, see the ledger")));
    assert_eq!(words("approved"), (json!("bob"), json!("I looked too")));
    assert_eq!((&both["proposed"]["entry"], &both["from_same_login"]), (&json!(1), &json!(true)));
    assert_eq!(both["proposed"]["origin"], both["approved"]["origin"]);
    assert_eq!(incident.run("audit verify").code, Some(0));
    let none = incident.run("proposals");
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "No proposals wait for a second person.\n"));
    assert_eq!(incident.run("list --json").err, "");
}

#[rstest]
#[case::own("ana")]
#[case::other_spelling("_ANA_")]
fn nobody_approves_a_proposal_of_their_own(#[case] operator: &str) {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let ran = approved_by(&incident, operator, &short, "--override");
    let why = "ana proposed it, and nobody approves a proposal of their own";
    refused(&incident, &ran, why, "Ask somebody else to approve it, or withdraw it.");
}

#[test]
fn another_name_on_the_same_account_is_not_another_person() {
    let incident = Incident::of_two("", "");
    let short = proposed(&incident, "inv-1 --done");
    let origin = incident.run("proposals --json").each("origin").remove(0);
    let ran = approved_by(&incident, "bob", &short, "");
    let why = format!("it was proposed from the same account ({origin}): another name is not another person");
    let do_next =
        "Approve it from another account; `approvals_from_same_login = true` allows this one, on record.";
    refused(&incident, &ran, &why, do_next);
    assert_eq!(incident.events(), ["proposed inv-1", "refused inv-1"]);
}

/// The program asks the operating system for the account, so another one comes in through the library.
#[test]
fn another_account_approves_without_any_exception() {
    let incident = Incident::of_two("", "");
    let file = incident.world.path("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    // From a file: this test has no variables of its own.
    let config = config.replace("secret_env = \"UNSTUCK_LEDGER_TOKEN\"", "secret_file = \"token\"");
    incident.world.write("config.toml", config);
    incident.world.write("token", "sk_test_7");
    proposed(&incident, "inv-1 --done");
    let id = incident.run("proposals --json").each("decision").remove(0);
    let settings = load(&file, PathBuf::new()).unwrap();
    let options = Options { operator: Some("bob".to_owned()), audit: AuditUse::Write, ..Options::default() };
    let mut desk = wiring::desk(&settings, &options).unwrap();
    desk.operator.login = "bob-of-accounting".into();
    let reason = Reason::new("I looked too").unwrap();
    let order = ApprovalOrder { decision: id.parse().unwrap(), reason, insists: false };
    unstuck::adapters::http::install_tls();
    let decided = incident.wait(approve(&Arc::new(desk), order)).unwrap();
    assert_eq!(decided.outcome.as_str(), "applied", "{:?}", decided.outcome);
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("done"));
    let both = body(&incident, "intended")["approval"].clone();
    assert_eq!((&both["from_same_login"], &both["approved"]["operator"]), (&json!(false), &json!("bob")));
    assert_ne!(both["proposed"]["origin"], both["approved"]["origin"]);
}

/// Silence is not another answer: a provider that cannot be asked lapses nothing.
#[test]
fn a_provider_that_cannot_be_asked_leaves_the_proposal_waiting() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let mut command = incident.world.command();
    command.env_remove("UNSTUCK_LEDGER_TOKEN").args(["--config", "config.toml", "--operator", "bob"]);
    let output = command.args(["approve", &short, "--reason", "I looked too"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the provider gave no answer that counts"), "{told}");
    assert_eq!((output.status.code(), incident.status_of("inv-1").as_deref()), (Some(2), Some("failed")));
    assert_eq!(approved_by(&incident, "bob", &short, "").code, Some(0));
}

#[test]
fn a_row_that_moved_on_lapses_the_proposal() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let write =
        |sql: &str| rusqlite::Connection::open(&incident.database).unwrap().execute_batch(sql).unwrap();
    write("UPDATE jobs SET last_error = 'Connection reset by peer' WHERE key = 'inv-1'");
    let ran = approved_by(&incident, "bob", &short, "");
    refused(&incident, &ran, "the row changed since it was proposed, so it has lapsed", NEXT);
    assert_eq!(incident.events(), ["proposed inv-1", "lapsed inv-1"]);
    // For good: also where the row is again as it was.
    write("UPDATE jobs SET last_error = 'Read timed out' WHERE key = 'inv-1'");
    let again = approved_by(&incident, "bob", &short, "");
    assert!(again.err.contains("inv-1: mark done refused: it had lapsed at 20"), "{}", again.err);
    assert!(again.err.contains("(audit entry 2)"), "{}", again.err);
}

#[test]
fn evidence_that_moved_on_lapses_the_proposal() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    incident.charges_again();
    let ran = approved_by(&incident, "bob", &short, "--override");
    refused(&incident, &ran, "the verdict was `happened` and is `duplicated` now, so it has lapsed", NEXT);
    assert_eq!(incident.events(), ["proposed inv-1", "lapsed inv-1"]);
}

#[test]
fn a_time_that_is_over_lapses_the_proposal() {
    let incident = Incident::of_two(ONE_ACCOUNT, "proposal_lasts = \"1ms\"");
    let ran = incident.run("decide inv-1 --source jobs --done --reason seen --json");
    let (short, until) = (ran.each("short").remove(0), ran.each("until").remove(0));
    assert_eq!(incident.run("proposals --json").out, "", "nothing waits whose time is over");
    let ran = approved_by(&incident, "bob", &short, "");
    refused(&incident, &ran, &format!("it could be approved until {until} and has lapsed"), NEXT);
    assert_eq!(incident.events(), ["proposed inv-1", "lapsed inv-1"]);
}

#[test]
fn what_was_approved_is_used_up() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    assert_eq!(approved_by(&incident, "bob", &short, "").code, Some(0));
    let ran = approved_by(&incident, "cleo", &short, "");
    assert!(
        ran.err.starts_with("unstuck: inv-1: mark done refused: it was approved by bob at 20"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.ends_with("(audit entry 2)\n         `unstuck audit list` shows what came of it.\n"),
        "{}",
        ran.err
    );
    assert_eq!(ran.code, Some(1));
    let withdrawn = incident.run(&format!("withdraw {short} --reason too_late"));
    assert_eq!(withdrawn.code, Some(1));
    assert!(
        withdrawn.err.contains(&format!("inv-1: {short} not withdrawn: it was approved by bob at 20")),
        "{}",
        withdrawn.err
    );
}

/// Two programs at the same time: one of them carries it out, and the other says who did.
#[test]
fn of_two_programs_that_approve_at_once_one_writes() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let approve = |operator: &'static str| {
            let mut command = incident.world.command();
            command.args(["--config", "config.toml", "--operator", operator, "approve", &short]);
            command.args(["--reason", "I looked too"]);
            scope.spawn(move || command.output().unwrap())
        };
        let both = ["bob", "cleo"].map(approve);
        both.into_iter().map(|program| program.join().unwrap()).collect()
    });
    let mut codes: Vec<_> = outputs.iter().map(|output| output.status.code()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(1)], "{outputs:?}");
    let late = outputs.iter().find(|output| output.status.code() == Some(1)).unwrap();
    let told = String::from_utf8_lossy(&late.stderr);
    assert!(told.contains("approved it a moment ago (") || told.contains("it was approved by "), "{told}");
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("done"));
    let events = incident.events();
    let count = |event: &str| events.iter().filter(|told| told.starts_with(event)).count();
    assert_eq!((count("intended"), count("applied"), count("lapsed")), (1, 1, 0), "{events:?}");
}

#[rstest]
#[case::by_the_proposer("ana", "withdrawn", true)]
#[case::by_another("bob", "rejected", false)]
fn what_was_withdrawn_is_not_approved(#[case] operator: &str, #[case] did: &str, #[case] by_proposer: bool) {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let ran = incident.run(&format!("--operator {operator} withdraw {short} --reason paid_in_cash"));
    assert_eq!((ran.code, ran.out), (Some(0), format!("inv-1: mark done {short} {did} (audit entry 2)\n")));
    let told = body(&incident, "withdrawn");
    assert_eq!((&told["by_proposer"], &told["reason"]), (&json!(by_proposer), &json!("paid in cash")));
    let ran = approved_by(&incident, "cleo", &short, "");
    assert!(ran.err.contains(&format!("it was withdrawn by {operator} at 20")), "{}", ran.err);
    assert_eq!((ran.code, incident.status_of("inv-1").as_deref()), (Some(1), Some("failed")));
}

#[rstest]
#[case::unknown(
    "0123abcd",
    1,
    "there is no proposal `0123abcd`",
    "`unstuck proposals` lists those that wait."
)]
#[case::too_short(
    "123abcd",
    2,
    "`123abcd` is no proposal's id",
    "Write the id, or at least 8 characters of its end; `unstuck proposals` lists those that wait."
)]
#[case::several(
    "eeeeffff",
    1,
    "several proposals end in `eeeeffff`: 22222222-0000-7000-8000-0000eeeeffff, 11111111-0000-7000-8000-0000eeeeffff",
    "Write more of its end."
)]
fn an_id_must_be_one_proposals(
    #[case] id: &str,
    #[case] code: i32,
    #[case] what: &str,
    #[case] do_next: &str,
) {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    proposed(&incident, "inv-1 --done");
    // Two that end alike: chance alone does not bring that about.
    let record = SqliteRecord::open(&incident.world.path("audit.db")).unwrap();
    for decision in ["11111111-0000-7000-8000-0000eeeeffff", "22222222-0000-7000-8000-0000eeeeffff"] {
        let entry = NewEntry {
            at: chrono::DateTime::from_timestamp(1_800_000_000, 0).unwrap(),
            event: Event::Proposed,
            decision: Some(decision.parse().unwrap()),
            source: "jobs".to_owned(),
            key: "inv-1".to_owned(),
            operator: "ana".to_owned(),
            origin: "ana@desk".to_owned(),
            body: json!({}),
            attachments: Vec::new(),
        };
        incident.wait(record.append(vec![entry])).unwrap();
    }
    for command in ["approve", "withdraw"] {
        let ran = incident.run(&format!("--operator bob {command} {id} --reason because"));
        assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(code), "", two_lines(what, do_next)));
    }
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

#[test]
fn read_only_refuses_to_propose_to_approve_and_to_withdraw() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let events = incident.events();
    let told = two_lines(
        "decisions are refused: the console is read-only",
        "Start it without `--read-only` to decide.",
    );
    for command in
        [format!("approve {short}"), format!("withdraw {short}"), "decide inv-2 --retry".to_owned()]
    {
        let ran = incident.run(&format!("--read-only --operator bob {command} --reason because"));
        assert_eq!((ran.code, ran.out.as_str(), &ran.err), (Some(1), "", &told), "{command}");
    }
    assert_eq!(incident.run("--read-only proposals --json").each("short"), [short]);
    assert_eq!(incident.events(), events);
}

/// Rule 4, also where a decision takes one person otherwise.
#[test]
fn a_financial_retry_against_the_advice_is_insisted_on_by_both() {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    incident.world.write("config.toml", format!("{ONE_ACCOUNT}\n{config}"));
    let ran = incident.run("decide inv-1 --source jobs --retry --override --reason the_bank_has_nothing");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("A financial retry against the advice takes two persons"), "{}", ran.out);
    let short = ran.out.split("proposed as ").nth(1).unwrap()[..8].to_owned();
    let command = format!("A second person approves it: unstuck approve {short} --reason TEXT --override\n");
    assert!(ran.out.ends_with(&command), "{}", ran.out);
    assert!(incident.run("proposals").out.contains(", AGAINST THE ADVICE\n"));

    let without = approved_by(&incident, "bob", &short, "");
    let what = "inv-1: retry refused: it is against the advice: the proposer insists, and the second person has to insist too";
    let do_next = "Insist with `--override` and a reason of your own, or withdraw it.";
    assert_eq!((without.code, without.err), (Some(1), two_lines(what, do_next)));
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
    let with = approved_by(&incident, "bob", &short, "--override --json");
    assert_eq!((with.code, with.each("outcome")), (Some(0), vec!["applied".to_owned()]), "{}", with.err);
    assert_eq!(incident.status_of("inv-1"), None);
    let both = body(&incident, "intended")["approval"].clone();
    assert_eq!([&both["proposed"]["insisted"], &both["approved"]["insisted"]], [&json!(true); 2]);
}

#[test]
fn a_second_proposal_on_the_item_is_refused_with_the_way_to_the_first() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let until = incident.run("proposals --json").each("until").remove(0);
    let ran = incident.run("--operator bob decide inv-1 --source jobs --done --reason me_too");
    let what =
        format!("inv-1: mark done refused: already proposed by ana as {short}: mark done, until {until}");
    let do_next = format!(
        "A second person approves it (unstuck approve {short}), or withdraws it: unstuck withdraw {short}"
    );
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&what, &do_next)));
    assert_eq!(incident.events(), ["proposed inv-1", "refused inv-1"]);
}

#[test]
fn many_are_proposed_one_by_one_and_counted() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let ran = incident.run("decide --all --where kind:invoice --done --reason seen");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told =
        "mark done: 0 applied, 1 proposed, 0 refused, 0 failed, 1 left out (their advice is another)\n";
    assert_eq!(ran.err, told);
    assert_eq!(incident.run("proposals --json").each("key"), ["inv-1"]);
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

#[test]
fn a_dry_run_shows_what_was_proposed_and_what_it_is_now() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let before = incident.run("decide inv-1 --source jobs --done --reason seen --dry-run");
    assert_eq!(before.code, Some(0), "{}", before.err);
    assert!(before.out.contains("permitted  only with a second person's approval\n"), "{}", before.out);
    let short = proposed(&incident, "inv-1 --done");
    let ran = approved_by(&incident, "bob", &short, "--dry-run");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for line in [
        "Dry run: nothing was written.\n",
        "by ana (",
        "verdict    happened\n",
        "UPDATE \"jobs\" SET status = 'done'",
        "approve    yes\n",
    ] {
        assert!(ran.out.contains(line), "{line} is not in\n{}", ran.out);
    }
    let own = approved_by(&incident, "ana", &short, "--dry-run");
    assert_eq!(own.code, Some(1));
    assert!(
        own.out.ends_with("approve    no: ana proposed it, and nobody approves a proposal of their own\n"),
        "{}",
        own.out
    );
    let json = approved_by(&incident, "ana", &short, "--dry-run --json").json().remove(0);
    assert_eq!((&json["proposal"]["short"], &json["now"]["verdict"]), (&json!(short), &json!("happened")));
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
    let looked = "dry_run inv-1";
    assert_eq!(incident.events(), [looked, "proposed inv-1", looked, looked, looked]);
}

#[test]
fn to_escalate_and_kinds_of_one_person_are_decided_as_before() {
    let incident = Incident::of_two("", "");
    let ran = incident.run("decide inv-1 --source jobs --escalate --reason look_at_this --json");
    assert_eq!((ran.code, ran.each("outcome")), (Some(0), vec!["applied".to_owned()]));
    let ran = Incident::new().run("decide inv-1 --source jobs --done --reason seen --json");
    assert_eq!((ran.code, ran.each("outcome")), (Some(0), vec!["applied".to_owned()]));
}

/// A policy that was lowered meanwhile, or no configuration at all, is no way past a proposal that waits.
#[rstest]
#[case::lowered("approvals = 2", "approvals = 1")]
#[case::less_at_stake("risk = \"financial\"", "risk = \"safe\"")]
fn nobody_decides_alone_where_a_proposal_waits(#[case] was: &str, #[case] is: &str) {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    let path = incident.world.path("config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, config.replace("approvals = 2", "approvals = 1").replace(was, is)).unwrap();
    let ran = incident.run("decide inv-1 --source jobs --done --override --reason alone");
    let why = format!(
        "inv-1: mark done refused: ana proposed to mark done it as {short}, and that waits for a second person"
    );
    let do_next = "Approve it or withdraw it first: `unstuck proposals` shows it.";
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&why, do_next)));
    let arguments = "--db sqlite://jobs.db --audit-file audit.db decide inv-1 --source jobs --done --override --reason alone";
    let ran = incident.world.run(arguments);
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&why, do_next)));
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
    // Handed on by whoever likes.
    assert_eq!(incident.run("decide inv-1 --source jobs --escalate --reason help").code, Some(0));
}

/// The table counts, whatever another configuration calls its source and the way to its file.
#[test]
fn nobody_decides_alone_under_another_name_of_the_source() {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    std::os::unix::fs::symlink("jobs.db", incident.world.path("other.db")).unwrap();
    let path = incident.world.path("config.toml");
    let config = std::fs::read_to_string(&path).unwrap().replace("approvals = 2", "approvals = 1");
    let config = config.replacen("name = \"jobs\"", "name = \"ledger\"", 1);
    std::fs::write(&path, config.replacen("sqlite://jobs.db", "sqlite://other.db", 1)).unwrap();
    let ran = incident.run("decide inv-1 --source ledger --done --reason alone");
    let why = format!(
        "inv-1: mark done refused: ana proposed to mark done it as {short}, and that waits for a second person"
    );
    let do_next = "Approve it or withdraw it first: `unstuck proposals` shows it.";
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&why, do_next)));
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

/// What is approved is what was proposed: the statements, and the database they are for.
#[rstest]
#[case::statements("preset = \"jobs\"", "preset = \"jobs\"\ndecisions_table = \"more\"")]
#[case::database("url = \"sqlite://jobs.db\"", "url = \"sqlite://copy.db\"")]
fn other_statements_or_another_database_are_not_approved(#[case] was: &str, #[case] is: &str) {
    let incident = Incident::of_two(ONE_ACCOUNT, "");
    let short = proposed(&incident, "inv-1 --done");
    std::fs::copy(&incident.database, incident.world.path("copy.db")).unwrap();
    let path = incident.world.path("config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, config.replacen(was, is, 1)).unwrap();
    let ran = approved_by(&incident, "bob", &short, "");
    let do_next = "Compare this configuration and its presets with the proposer's; whoever still wants it proposes it anew.";
    refused(
        &incident,
        &ran,
        "other statements would run here than were proposed, or on another database",
        do_next,
    );
    // As it was proposed it still stands.
    std::fs::write(&path, config).unwrap();
    assert_eq!(approved_by(&incident, "bob", &short, "").code, Some(0));
}
