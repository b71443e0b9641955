use super::*;
use crate::domain::advice::Advice;
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::evidence::EffectState;
use crate::domain::evidence::FaultKind;
use crate::domain::policy::{Approvals, Risk};
use crate::domain::proposal::SeenEffect;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rstest::rstest;
use uuid::Uuid;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn operator(name: &str, login: &str, host: &str) -> Operator {
    Operator { name: name.into(), login: login.into(), host: host.into() }
}

fn row(status: &str) -> Row {
    Row { columns: vec![("status".into(), Cell::text(status))] }
}

fn sight(verdict: Verdict, ids: &[&str]) -> Sight {
    let effect = |id: &&str| SeenEffect {
        id: (*id).to_owned(),
        state: EffectState::Happened,
        amount: Some("12.00 EUR".to_owned()),
    };
    Sight { verdict, effects: ids.iter().map(effect).collect() }
}

/// What Ana proposed an hour ago, good for three more.
fn proposal() -> Proposal {
    Proposal {
        writes_sha256: String::new(),
        id: Uuid::from_u128(7),
        entry: 3,
        choice: Choice::Retry,
        source: "jobs".into(),
        key: "inv-1".into(),
        proposer: operator("Ana", "ana", "desk-1"),
        recorded_by: None,
        reason: Reason::new("the bank has nothing").unwrap(),
        insists: true,
        seen: row("failed"),
        row_sha256: row("failed").sha256(),
        sight: sight(Verdict::Happened, &["ch_1"]),
        advice: "mark_done".to_owned(),
        at: now() - TimeDelta::hours(1),
        until: now() + TimeDelta::hours(3),
        closed: None,
    }
}

fn approver(operator: Operator, insists: bool) -> Approver {
    Approver { operator, recorded_by: None, reason: Reason::new("I called the bank").unwrap(), insists }
}

fn bob() -> Operator {
    operator("Bob", "bob", "desk-1")
}

/// An approval by Bob of what is exactly as it was, but for what a test changes.
struct Case {
    proposal: Proposal,
    approver: Approver,
    now: DateTime<Utc>,
    row: Row,
    sight: Sight,
    fault: Option<Fault>,
    rules: ApprovalRules,
}

impl Case {
    fn new() -> Self {
        Self {
            proposal: proposal(),
            approver: approver(bob(), true),
            now: now(),
            row: row("failed"),
            sight: sight(Verdict::Happened, &["ch_1"]),
            fault: None,
            rules: ApprovalRules::default(),
        }
    }

    fn decide(&self) -> Result<Approval, WhyNot> {
        let row_sha256 = self.row.sha256();
        let present = Present {
            now: self.now,
            row_sha256: &row_sha256,
            sight: &self.sight,
            fault: self.fault.as_ref(),
        };
        may_approve(&self.proposal, &self.approver, &present, self.rules)
    }
}

#[test]
fn another_person_approves_exactly_what_was_proposed() {
    let approval = Case::new().decide().unwrap();
    assert_eq!((approval.proposal(), approval.same_login()), (&proposal(), false));
    assert_eq!(approval.approver().operator, bob());
}

#[rstest]
#[case::own(|case: &mut Case| case.approver.operator = operator("Ana", "bob", "desk-2"),
    "Ana proposed it, and nobody approves a proposal of their own")]
#[case::same_account(|case: &mut Case| case.approver.operator = operator("Bob", "ana", "desk-1"),
    "it was proposed from the same account (ana@desk-1): another name is not another person")]
#[case::same_account_otherwise_spelled(|case: &mut Case| case.approver.operator = operator("Bob", "ANA ", "Desk-1"),
    "it was proposed from the same account (ANA @Desk-1): another name is not another person")]
#[case::no_account(|case: &mut Case| case.approver.operator = operator("Bob", "", "desk-2"),
    "the account of the proposer or of the approver is not told, so they may be the same person")]
#[case::unknown_account(|case: &mut Case| case.approver.operator = operator("Bob", Operator::UNKNOWN, "desk-2"),
    "the account of the proposer or of the approver is not told, so they may be the same person")]
#[case::no_account_of_the_proposer(|case: &mut Case| case.proposal.proposer = operator("Ana", " ", "desk-2"),
    "the account of the proposer or of the approver is not told, so they may be the same person")]
#[case::clock_behind(|case: &mut Case| case.now = now() - TimeDelta::hours(2),
    "this machine's clock stands before the moment of the proposal (2027-01-15T07:00:00Z): one of the two is wrong")]
#[case::too_late(|case: &mut Case| case.now = now() + TimeDelta::hours(3),
    "it could be approved until 2027-01-15T11:00:00Z and has lapsed")]
#[case::row(|case: &mut Case| case.row = row("running"), "the row changed since it was proposed, so it has lapsed")]
#[case::row_gone(|case: &mut Case| case.row = Row::default(), "the row changed since it was proposed, so it has lapsed")]
#[case::verdict(|case: &mut Case| case.sight = sight(Verdict::Duplicated, &["ch_1", "ch_2"]),
    "the verdict was `happened` and is `duplicated` now, so it has lapsed")]
#[case::effects(|case: &mut Case| case.sight = sight(Verdict::Happened, &["ch_2"]),
    "the effects were ch_1 (12.00 EUR) and are ch_2 (12.00 EUR) now, so it has lapsed")]
#[case::silence(|case: &mut Case| {
    case.sight = sight(Verdict::Unknown, &[]);
    case.fault = Some(Fault::new(FaultKind::Timeout, "no answer in 10 s"));
}, "the provider gave no answer that counts (no answer in 10 s), so what was proposed cannot be compared")]
#[case::no_secret(|case: &mut Case| {
    case.sight = sight(Verdict::Unknown, &[]);
    case.fault = Some(Fault::new(FaultKind::Secret, "the secret is missing"));
}, "the provider gave no answer that counts (the secret is missing), so what was proposed cannot be compared")]
#[case::unknown_by_an_answer(|case: &mut Case| case.sight = sight(Verdict::Unknown, &["ch_1"]),
    "the verdict was `happened` and is `unknown` now, so it has lapsed")]
#[case::not_insisting(|case: &mut Case| case.approver.insists = false,
    "it is against the advice: the proposer insists, and the second person has to insist too")]
#[case::approved(|case: &mut Case| case.proposal.closed = Some(closed(Closing::Approved)),
    "it was approved by Cleo at 2027-01-15T07:30:00Z (audit entry 9)")]
#[case::withdrawn(|case: &mut Case| case.proposal.closed = Some(closed(Closing::Withdrawn)),
    "it was withdrawn by Cleo at 2027-01-15T07:30:00Z (audit entry 9)")]
#[case::lapsed(|case: &mut Case| case.proposal.closed = Some(closed(Closing::Lapsed)),
    "it had lapsed at 2027-01-15T07:30:00Z (audit entry 9)")]
fn each_forbidden_way_is_told_in_a_sentence(#[case] change: fn(&mut Case), #[case] told: &str) {
    let mut case = Case::new();
    change(&mut case);
    let why = case.decide().unwrap_err();
    assert_eq!(why.to_string(), told);
    assert!(why.do_next().ends_with('.'), "{why:?}");
    assert_eq!(why.lapses(), told.ends_with("lapsed"), "{why:?}");
}

fn closed(closing: Closing) -> Closed {
    Closed { closing, by: "Cleo".to_owned(), at: "2027-01-15T07:30:00Z".to_owned(), entry: 9 }
}

/// Each spelling is the same name, so it is the same person.
#[rstest]
#[case::exactly("Ana")]
#[case::capitals("ANA")]
#[case::spaces("  ana\t")]
#[case::invisible("a\u{200b}n\u{2060}a")]
#[case::turned_round("\u{202e}Ana")]
fn a_name_in_another_spelling_is_no_other_person(#[case] name: &str) {
    let mut case = Case::new();
    case.approver.operator = operator(name, "bob", "desk-2");
    // Not even where one account may be used by both.
    for from_same_login in [false, true] {
        case.rules = ApprovalRules { from_same_login };
        assert_eq!(case.decide().unwrap_err(), WhyNot::OwnProposal { name: "Ana".to_owned() });
    }
}

#[test]
fn names_are_folded_beyond_ascii() {
    assert_eq!(folded("Jürgen  WEISS"), folded(" jürgen weiß"));
    assert_ne!(folded("Ana"), folded("Anna"));
    assert_ne!(folded("ana maria"), folded("anamaria"));
}

#[rstest]
#[case::same("ana", "desk-1")]
#[case::untold("", "desk-1")]
#[case::unknown(Operator::UNKNOWN, "desk-9")]
fn one_account_for_both_is_an_exception_that_the_record_shows(#[case] login: &str, #[case] host: &str) {
    let mut case = Case::new();
    case.approver.operator = operator("Bob", login, host);
    assert!(case.decide().is_err());
    case.rules = ApprovalRules { from_same_login: true };
    assert!(case.decide().unwrap().same_login());
}

#[rstest]
#[case::another_account("bob", "desk-1")]
#[case::another_machine("ana", "desk-2")]
fn another_account_or_machine_needs_no_exception(#[case] login: &str, #[case] host: &str) {
    let mut case = Case::new();
    case.approver.operator = operator("Bob", login, host);
    assert!(!case.decide().unwrap().same_login());
}

/// No configuration and no other name makes one login of the audit's database two persons.
#[rstest]
#[case::files(None, None, None)]
#[case::two_logins(Some("ana"), Some("bob"), None)]
#[case::one_login(Some("ops"), Some("ops"), Some(WhyNot::SameDatabaseLogin { login: "ops".to_owned() }))]
#[case::only_the_proposer_has_one(Some("ana"), None, Some(WhyNot::NoDatabaseLogin))]
#[case::only_the_approver_has_one(None, Some("bob"), Some(WhyNot::NoDatabaseLogin))]
fn one_login_of_the_database_is_one_person(
    #[case] proposer: Option<&str>,
    #[case] approver: Option<&str>,
    #[case] why_not: Option<WhyNot>,
) {
    let mut case = Case::new();
    case.proposal.recorded_by = proposer.map(Into::into);
    case.approver.recorded_by = approver.map(Into::into);
    for from_same_login in [false, true] {
        case.rules = ApprovalRules { from_same_login };
        assert_eq!(case.decide().err(), why_not);
    }
    // Two logins are no excuse for one account, which takes the configuration's word as ever.
    case.approver.operator = operator("Bob", "ana", "desk-1");
    case.rules = ApprovalRules::default();
    assert!(case.decide().is_err());
}

#[test]
fn what_was_unknown_and_is_unknown_still_stands() {
    let mut case = Case::new();
    case.proposal.sight = sight(Verdict::Unknown, &[]);
    case.sight = sight(Verdict::Unknown, &[]);
    case.fault = Some(Fault::new(FaultKind::Timeout, "no answer in 10 s"));
    assert!(case.decide().is_ok());
}

fn judgement(verdict: Verdict) -> Judgement {
    Judgement { verdict, effects: Vec::new(), settled: true, fault: None, reasons: Vec::new() }
}

/// An approval is no way around the rules: they are asked once more, with the approver's own word.
#[test]
fn an_approval_permits_what_the_rules_permit_and_nothing_on_another_row() {
    let advised = Advised { advice: Advice::MarkDone, reasons: Vec::new() };
    let stakes = Stakes { risk: Risk::Financial, approvals: Approvals::One };
    let key = ItemKey::new(vec![Cell::text("inv-1")]);
    let permit = |approval: Approval, seen: Row| {
        approval.permit(key.clone(), stakes, &judgement(Verdict::Happened), &advised, seen)
    };
    let approval = Case::new().decide().unwrap();
    let permitted = permit(approval.clone(), row("failed")).unwrap();
    let draft = permitted.draft();
    assert_eq!((draft.id, draft.choice, &draft.operator), (proposal().id, Choice::Retry, &bob()));
    assert_eq!((draft.reason.as_str(), draft.insists), ("I called the bank", true));
    assert_eq!(permitted.approval(), Some(&approval));

    assert!(permit(approval, row("running")).unwrap_err().why.contains("not the one that was proposed on"));

    // Proposed with the advice, approved against it: the proposer never insisted, so nobody does.
    let mut case = Case::new();
    (case.proposal.insists, case.approver.insists) = (false, false);
    let denied = permit(case.decide().unwrap(), row("failed")).unwrap_err();
    assert!(denied.do_next.contains("--override"), "{denied:?}");
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-b]{0,2}", "[A-B ]{0,3}", Just(Operator::UNKNOWN.to_owned()), any::<String>()]
}

proptest! {
    /// Whoever approves goes by another name and, without the exception, comes from an account that is told and another;
    /// within the time, on the same row and the same sight.
    #[test]
    fn an_approval_is_always_by_another_on_the_same(
        names in [any_name(), any_name()],
        logins in [any_name(), any_name()],
        hosts in [any_name(), any_name()],
        minutes in -200_i64..400,
        from_same_login in any::<bool>(),
        same_row in any::<bool>(),
        same_sight in any::<bool>(),
        insists in [any::<bool>(), any::<bool>()],
        closing in prop::option::of(prop::sample::select(vec![
            Closing::Approved, Closing::Withdrawn, Closing::Lapsed,
        ])),
    ) {
        let mut case = Case::new();
        case.proposal.proposer = operator(&names[0], &logins[0], &hosts[0]);
        case.approver.operator = operator(&names[1], &logins[1], &hosts[1]);
        case.now = now() + TimeDelta::minutes(minutes);
        case.rules = ApprovalRules { from_same_login };
        if !same_row { case.row = row("running"); }
        if !same_sight { case.sight = sight(Verdict::NotFound, &[]); }
        (case.proposal.insists, case.approver.insists) = (insists[0], insists[1]);
        case.proposal.closed = closing.map(closed);
        if let Ok(approval) = case.decide() {
            prop_assert!(names[0].trim().to_lowercase() != names[1].trim().to_lowercase());
            prop_assert!(from_same_login || (logins[0] != logins[1] || hosts[0] != hosts[1]));
            let is_told = |login: &String| !login.trim().is_empty() && login.trim() != Operator::UNKNOWN;
            prop_assert!(from_same_login || logins.iter().all(is_told));
            prop_assert!(same_row && same_sight && closing.is_none());
            prop_assert!(case.now >= case.proposal.at && case.now < case.proposal.until);
            prop_assert!(!insists[0] || insists[1]);
            prop_assert!(!approval.same_login() || from_same_login);
        }
    }

    /// To take a proposal up is refused for nothing that a full look would not refuse too.
    #[test]
    fn the_first_look_and_the_full_one_agree(
        name in any_name(), login in any_name(), minutes in -200_i64..400, from_same_login in any::<bool>(),
    ) {
        let mut case = Case::new();
        case.approver.operator = operator(&name, &login, "desk-1");
        case.now = now() + TimeDelta::minutes(minutes);
        case.rules = ApprovalRules { from_same_login };
        let first = may_take_up(&case.proposal, &case.approver.operator, None, case.now, case.rules);
        prop_assert_eq!(first.err(), case.decide().err());
    }
}
