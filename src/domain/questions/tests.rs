use super::*;
use crate::domain::evidence::EffectState;
use crate::domain::mark::MarkKind;
use crate::domain::moment::Reading;
use crate::domain::timeline::{Clock, Ending, Gaps, Happening, Origin, Told, What, merge, runs};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::sync::LazyLock;

fn table() -> &'static ErrorTable {
    static TABLE: LazyLock<ErrorTable> =
        LazyLock::new(|| ErrorTable::parse(include_str!("../../../assets/errors.toml")).unwrap());
    &TABLE
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_040_000 + seconds, 500_000_000).unwrap()
}

/// What is known, in the shape in which a case is told.
struct Case {
    items: Vec<ItemFacts>,
    reference: Result<&'static str, &'static str>,
    happenings: Vec<Happening>,
    effects: EffectsKnown,
    logs: Coverage,
    marks: Coverage,
}

fn name() -> ItemName {
    ItemName { source: "jobs".into(), key: "k".into() }
}

fn item(state: State, attempts: Option<i64>) -> ItemFacts {
    ItemFacts {
        name: name(),
        kind: "order".into(),
        status: state.as_str().into(),
        state,
        attempts,
        tried_once: false,
    }
}

fn log(first: i64, last: i64) -> Coverage {
    Coverage {
        given: 1,
        files: 1,
        lines: 9,
        first: Some(at(first)),
        last: Some(at(last)),
        ..Coverage::default()
    }
}

fn from(origin: Origin, clock: Clock, seconds: i64, what: What) -> Happening {
    let item = (origin != Origin::Effect && origin != Origin::Mark).then(name);
    Happening { at: Reading::Known(at(seconds)), clock, origin, place: format!("{seconds}"), item, what }
}

fn end(seconds: i64, attempt: Option<i64>, error: Option<&str>) -> Happening {
    let told = Told { attempt, error: error.map(str::to_owned), ..Told::default() };
    let ending = if error.is_some() { Ending::Failed } else { Ending::Done };
    from(Origin::Receipt, Clock::Log("log".into()), seconds, What::Ended(ending, told))
}

fn row(seconds: i64, what: What) -> Happening {
    from(Origin::Row, Clock::Source("jobs".into()), seconds, what)
}

fn effect(seconds: i64, id: &str) -> Happening {
    let what = What::Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: None,
    };
    from(Origin::Effect, Clock::Provider("ledger.charge".into()), seconds, what)
}

fn mark(seconds: i64) -> Happening {
    from(Origin::Mark, Clock::Marks("deploys".into()), seconds, What::Mark(MarkKind::Deploy, "v2".to_owned()))
}

impl Case {
    /// An item that ran once, was counted, logged and asked about: nothing is missing.
    fn whole() -> Self {
        Self {
            items: vec![item(State::Done, Some(1))],
            reference: Ok("order:7"),
            happenings: vec![effect(10, "ch_1"), end(20, Some(1), None)],
            effects: EffectsKnown::Told,
            logs: log(0, 100),
            marks: Coverage { given: 1, files: 1, lines: 1, ..Coverage::default() },
        }
    }

    /// The same after a time-out and a second run with a second effect.
    fn doubled() -> Self {
        Self {
            items: vec![item(State::Done, Some(2))],
            happenings: vec![
                effect(10, "ch_1"),
                end(40, Some(1), Some("timed out")),
                effect(50, "ch_2"),
                end(60, Some(2), None),
            ],
            ..Self::whole()
        }
    }

    fn answers(&self) -> Vec<Answered> {
        let timeline = merge(self.happenings.clone(), Gaps::default());
        let runs = runs(&timeline);
        answer(&Known {
            items: &self.items,
            reference: self.reference,
            timeline: &timeline,
            runs: &runs,
            effects: &self.effects,
            logs: &self.logs,
            marks: &self.marks,
            errors: table(),
        })
    }

    fn said(&self, question: Question) -> String {
        let answers = self.answers();
        answers.into_iter().find(|answered| answered.question == question).unwrap().sentence()
    }

    fn words(&self) -> Vec<&'static str> {
        self.answers().iter().map(|answered| answered.answer.as_str()).collect()
    }
}

#[test]
fn where_nothing_is_missing_each_question_has_its_answer() {
    assert_eq!(Case::whole().words(), ["yes", "yes", "no", "no", "yes", "yes"]);
    let doubled = Case::doubled();
    assert_eq!(doubled.words(), ["yes", "yes", "yes", "yes", "yes", "yes"]);
    assert_eq!(doubled.said(Question::Runs), "yes: 2 runs or more (2 are told, the row counts 2)");
    assert_eq!(doubled.said(Question::Trouble), "yes: time-out (attempt 1 of jobs k)");
    let lines: Vec<_> = doubled.answers().into_iter().map(|answered| answered.lines).collect();
    assert_eq!(lines, [vec![], vec![], vec![2, 4], vec![2], vec![1, 2, 3, 4], vec![2, 4]]);
}

/// Takes one thing after the other away from what is known: no answer ever becomes "no" by that.
#[test]
fn what_is_missing_never_becomes_a_no() {
    type Taking = (&'static str, fn(&mut Case));
    let takings: [Taking; 13] = [
        ("the item", |case| case.items.clear()),
        ("its count", |case| case.items[0].attempts = None),
        ("its reference", |case| case.reference = Err("the payload is closed")),
        ("every effect", |case| case.happenings.retain(|one| one.origin != Origin::Effect)),
        ("the provider's word", |case| {
            case.happenings.retain(|one| one.origin != Origin::Effect);
            case.effects = EffectsKnown::NotAsked;
        }),
        ("a good answer", |case| {
            case.happenings.retain(|one| one.origin != Origin::Effect);
            case.effects = EffectsKnown::Fault("no connection".to_owned());
        }),
        ("the record", |case| {
            case.happenings.retain(|one| one.origin != Origin::Effect);
            case.effects = EffectsKnown::RecordUnread("locked".to_owned());
        }),
        ("the effects' times", |case| {
            for one in case.happenings.iter_mut().filter(|one| one.origin == Origin::Effect) {
                one.at = Reading::Missing;
            }
        }),
        ("the log", |case| {
            case.happenings.retain(|one| one.origin != Origin::Receipt);
            case.logs = Coverage::default();
        }),
        ("a line of the log", |case| {
            let place = case.happenings.iter().position(|one| one.origin == Origin::Receipt).unwrap();
            case.happenings.remove(place);
            case.logs.broken = 1;
        }),
        ("the log's times", |case| {
            for one in case.happenings.iter_mut().filter(|one| one.origin == Origin::Receipt) {
                one.at = Reading::unit_unclear("17");
            }
            (case.logs.first, case.logs.last) = (None, None);
        }),
        ("the marks", |case| case.marks = Coverage::default()),
        ("everything", |case| {
            case.items.clear();
            case.happenings.clear();
            case.effects = EffectsKnown::NotAsked;
            (case.logs, case.marks) = (Coverage::default(), Coverage::default());
            case.reference = Err("its row is gone");
        }),
    ];
    for (name, make) in [("whole", Case::whole as fn() -> Case), ("doubled", Case::doubled)] {
        let before = make().answers();
        for (taken, take) in takings {
            let mut case = make();
            take(&mut case);
            for (was, is) in before.iter().zip(case.answers()) {
                let became_no = is.answer == Answer::No && was.answer != Answer::No;
                assert!(!became_no, "{name} without {taken}: {} {}", is.question.sentence(), is.sentence());
                if is.answer == Answer::NotKnown {
                    assert!(!is.told.is_empty(), "{name} without {taken}: no reason");
                }
            }
        }
    }
}

#[rstest]
#[case::no_count(|case: &mut Case| case.items[0].attempts = None, "its row counts no attempts, and a run that is killed writes no line")]
#[case::deleted(|case: &mut Case| case.items[0].tried_once = true, "the row of `k` may be deleted to be tried again, so it counts no earlier run")]
#[case::no_log(|case: &mut Case| case.logs = Coverage::default(), "no log of receipts was given (`[[receipts]]`)")]
#[case::later_log(|case: &mut Case| case.logs = log(50, 100), "the logs reach only from 2026-11-30T12:00:50.500Z to 2026-11-30T12:01:40.500Z")]
#[case::broken(|case: &mut Case| case.logs.broken = 1, "1 of 9 lines of the logs cannot be read")]
#[case::old_check(|case: &mut Case| case.effects = EffectsKnown::OnRecord("10:00".to_owned()), "the provider was last asked at 10:00, and not since (--check asks)")]
#[case::fault(|case: &mut Case| case.effects = EffectsKnown::Fault("timed out".to_owned()), "the provider gave no answer that counts (timed out)")]
#[case::running(|case: &mut Case| case.items[0].state = State::Running, "it still says that it is running")]
#[case::two_effects(|case: &mut Case| case.happenings.push(effect(12, "ch_2")), "2 effects and 1 run told: it called more than once, or a run left no trace")]
fn that_it_ran_once_takes_row_log_and_provider(#[case] change: fn(&mut Case), #[case] why: &str) {
    let mut case = Case::whole();
    assert_eq!(case.said(Question::Runs), "no: one run: its row, the log and the provider agree");
    change(&mut case);
    assert_eq!(case.said(Question::Runs), format!("not known, because {why}"));
}

#[rstest]
#[case::none_around(|_: &mut Case| {}, "no: every run ended without one, and no mark lies around them")]
#[case::deploy(|case: &mut Case| case.happenings.push(mark(30)), "yes: deploy: v2")]
#[case::deploy_before(|case: &mut Case| case.happenings.push(mark(-200)), "yes: deploy: v2")]
#[case::long_before(|case: &mut Case| case.happenings.push(mark(-900)), "no: every run ended without one, and no mark lies around them")]
#[case::no_marks(|case: &mut Case| case.marks = Coverage::default(), "not known, because nobody gave deploys and restarts (`[[marks]]` or --mark)")]
#[case::unknown_error(|case: &mut Case| case.happenings[1] = end(20, Some(1), Some("E4711")), "not known, because no rule knows the error of attempt 1 of jobs k")]
#[case::refused(|case: &mut Case| case.happenings[1] = end(20, Some(1), Some("card_declined")), "no: every run ended without one, and no mark lies around them")]
#[case::open(|case: &mut Case| case.happenings[1] = row(5, What::Started(Told::default())), "not known, because nobody wrote down how a run of jobs k ended")]
#[case::untold(|case: &mut Case| case.items[0].attempts = Some(2), "not known, because not every run is told of")]
#[case::row_alone(|case: &mut Case| case.happenings[1] = row(20, What::Ended(Ending::Done, Told::default())), "not known, because an earlier run may have met one, and only the row tells of its runs")]
#[case::dead(|case: &mut Case| case.happenings.push(from(Origin::Receipt, Clock::Log("log".into()), 30, What::DeclaredDead(Told::default()))), "yes: restart (its run was said to be dead)")]
fn trouble_is_told_by_errors_and_marks(#[case] change: fn(&mut Case), #[case] said: &str) {
    let mut case = Case::whole();
    change(&mut case);
    assert_eq!(case.said(Question::Trouble), said);
}

#[rstest]
#[case::before(vec![effect(10, "a"), end(20, Some(1), None)], "yes: a came 10 s before line 2")]
#[case::after(vec![end(20, Some(1), None), effect(30, "a")], "no: a came 10 s after line 1 was recorded")]
#[case::close(vec![effect(10, "a"), end(10, Some(1), None)], "not known, because a came too close to line 2 for their clocks to tell")]
#[case::late_effect_of_the_first(
    vec![end(20, Some(1), Some("timed out")), effect(30, "a"), effect(50, "b"), end(60, Some(2), None)],
    "no: a came 10 s after line 1 was recorded and 30 s before line 4; b came 30 s after line 1 was recorded"
)]
#[case::called_twice(
    vec![effect(10, "a"), effect(44, "b"), end(60, Some(1), None)],
    "yes: a came 50 s before line 3; b came 16 s before line 3"
)]
#[case::never(vec![row(5, What::Started(Told::default())), effect(10, "a")], "no: no end was ever recorded: the row still says `running`")]
#[case::row_set_back(
    vec![row(-7200, What::Ended(Ending::Done, Told::default())), effect(10, "a"), end(20, Some(1), None)],
    "yes: a came 10 s before line 3"
)]
fn an_effect_is_placed_among_what_was_recorded(#[case] happenings: Vec<Happening>, #[case] said: &str) {
    let state = if said.contains("running") { State::Running } else { State::Done };
    let case = Case { items: vec![item(state, Some(1))], happenings, ..Case::whole() };
    assert_eq!(case.said(Question::EffectFirst), said);
}

#[rstest]
#[case::all(|_: &mut Case| {}, "yes: 2 attempts with item and result; none names its effect")]
#[case::no_attempt(|case: &mut Case| case.happenings[1] = end(40, None, Some("timed out")), "no: a log has the item and no number of the attempt")]
#[case::one_less(|case: &mut Case| drop(case.happenings.remove(1)), "no: 2 effects and 1 attempt on record")]
#[case::one_less_and_broken(
    |case: &mut Case| { case.happenings.remove(1); case.logs.broken = 1; },
    "not known, because there are 2 effects and 1 attempt on record, and 1 of 9 lines of the logs cannot be read"
)]
#[case::no_log(
    |case: &mut Case| { case.happenings.retain(|one| one.origin != Origin::Receipt); case.logs = Coverage::default(); },
    "not known, because no log of receipts was given (`[[receipts]]`)"
)]
#[case::none_in_the_log(
    |case: &mut Case| case.happenings.retain(|one| one.origin != Origin::Receipt),
    "no: the logs reach from 2026-11-30T12:00:00.500Z to 2026-11-30T12:01:40.500Z and have no line of it"
)]
#[case::killed(
    |case: &mut Case| { case.happenings.retain(|one| one.origin != Origin::Receipt); case.happenings.push(row(5, What::Started(Told::default()))); },
    "no: a run of jobs k is in the row alone; the logs reach from 2026-11-30T12:00:00.500Z to 2026-11-30T12:01:40.500Z"
)]
fn a_record_ties_attempt_item_and_result(#[case] change: fn(&mut Case), #[case] said: &str) {
    let mut case = Case::doubled();
    change(&mut case);
    assert_eq!(case.said(Question::Record), said);
}

#[test]
fn items_and_natural_keys_are_named() {
    let mut case = Case::whole();
    case.items.push(ItemFacts {
        name: ItemName { source: "other".into(), key: "l".into() },
        ..case.items[0].clone()
    });
    assert_eq!(
        case.said(Question::Item),
        "yes: 2 items share the reference: `k` of jobs (done), `l` of other (done)"
    );
    case.items.clear();
    assert_eq!(case.said(Question::Item), "yes: `jobs k`; its row is gone");
    let keyed = |key: &str| Told { natural_key: Some(key.to_owned()), ..Told::default() };
    for (place, key) in ["a", "b"].into_iter().enumerate() {
        let what = What::Noted(keyed(key));
        let seconds = i64::try_from(place).unwrap();
        case.happenings.push(from(Origin::Receipt, Clock::Log("log".into()), seconds, what));
    }
    assert_eq!(case.said(Question::NaturalKey), "no: its runs name 2: a, b");
}

/// Whatever an unread record could make otherwise is not known; what rests on row, log and marks alone stays.
#[test]
fn an_unread_record_leaves_every_answer_that_leans_on_it_open() {
    let mut case = Case::whole();
    case.happenings.retain(|one| one.origin != Origin::Effect);
    case.effects = EffectsKnown::RecordUnread("audit a.db: locked".to_owned());
    assert_eq!(case.words(), ["yes", "yes", "not_known", "not_known", "not_known", "not_known"]);
    for question in [Question::Runs, Question::Trouble, Question::EffectFirst, Question::Record] {
        let why = "not known, because the record could not be read: audit a.db: locked";
        assert_eq!(case.said(question), why);
    }
    case.items.clear();
    case.happenings.clear();
    assert_eq!(
        case.said(Question::Item),
        "not known, because the record could not be read: audit a.db: locked"
    );
}
