//! Screens as snapshots, at four sizes; colours at one.
//!
//! Without colour the text is the same, so it is compared and not kept a second time.

use super::helpers::*;
use crate::console::Setup;
use crate::console::message::{MatchTold, Message, SettleMessage};
use crate::console::model::matching::Matching;
use crate::console::sample;
use crate::domain::approval::WhyNot;
use crate::domain::decision::Choice;
use crate::domain::verdict::Verdict;
use crate::workflow::reconcile::words::Step;
use crate::workflow::recover::Recovered;
use rstest::rstest;

/// A name and a way to a screen.
pub type Scene = (&'static str, fn(&mut Console));

pub const SCENES: [Scene; 46] = [
    ("unchecked", |_| {}),
    ("checked", |console| {
        let tasks = console.press("C");
        console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    }),
    ("checking", |console| {
        let tasks = console.press("C");
        let [crate::console::Task::Check { run, found }] = &tasks[..] else { panic!() };
        for found in found.iter().take(3) {
            let checked = std::sync::Arc::new(sample::checked(found, Verdict::Unknown));
            let message = crate::console::message::CheckMessage::Done {
                run: *run,
                found: found.clone(),
                checked,
                on_record: true,
            };
            console.send(Message::Check(message));
        }
    }),
    ("filter", |console| {
        console.press("/");
        console.enter("kind:invoice age>40m");
    }),
    ("filter_fault", |console| {
        console.press("/");
        console.enter("age>soon");
    }),
    ("find", |console| {
        console.press("f");
        console.enter("in20");
    }),
    ("find_none", |console| {
        console.press("f");
        console.enter("zz");
    }),
    ("notice_long", |console| {
        console.press("j");
        console.send(long_notice());
    }),
    ("message", |console| {
        console.send(long_notice());
        console.press("!");
    }),
    ("triage", |console| {
        let tasks = console.press("C");
        console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
        console.press("t");
    }),
    ("triage_filtered", |console| {
        let tasks = console.press("C");
        console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
        console.press("t a c");
    }),
    ("groups", |console| {
        let tasks = console.press("C");
        console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
        console.press("z");
    }),
    ("group_open", |console| {
        console.press("z z z j Enter");
    }),
    ("palette", |console| {
        console.press(":");
        console.enter("re");
    }),
    ("view_name", |console| {
        console.press("t a Esc V");
        console.enter("money");
    }),
    ("detail", |console| {
        console.check_as(Verdict::Happened);
        console.open_item(r#"{"amount": 10.41, "currency": "BRL", "card_number": "4242424242424242"}"#);
    }),
    ("decision_granted", |console| {
        console.open_decision("d", Verdict::Happened);
        console.enter("seen in the ledger");
        console.press("Tab");
    }),
    ("decision_caution", |console| {
        console.open_decision("r", Verdict::NotFound);
        console.enter("nothing in the ledger");
        console.press("Tab y");
    }),
    ("decision_insist", |console| {
        console.open_decision("d", Verdict::NotFound);
        console.enter("the customer has the mail");
        console.press("Tab Space Tab");
    }),
    ("decision_insist_missing", |console| {
        console.open_decision("d", Verdict::Unknown);
        console.enter("x");
        console.press("Tab Tab y");
    }),
    ("decision_approval", |console| console.open_decision("r", Verdict::Unknown)),
    ("decision_escalate", |console| {
        console.open_decision("e", Verdict::Duplicated);
        console.press("Tab y");
    }),
    ("decision_loading", |console| {
        console.press("d");
    }),
    ("bulk", |console| {
        let tasks = console.press("C");
        console.answer_checks(
            &tasks,
            |number| if number % 4 == 0 { Verdict::NotFound } else { Verdict::Happened },
        );
        console.press("/");
        console.enter("kind:invoice");
        console.press("Enter a r");
        console.enter("not in the ledger");
        console.press("Tab");
    }),
    ("outcome_applied", |console| {
        console.open_decision("d", Verdict::Happened);
        console.enter("seen");
        let tasks = console.press("Tab y");
        console.answer_decide(&tasks, |_| applied());
    }),
    ("outcome_refused", |console| {
        console.open_decision("d", Verdict::Happened);
        console.enter("seen");
        let tasks = console.press("Tab y");
        console.answer_decide(&tasks, |_| refused());
    }),
    ("outcome_proposed", |console| {
        console.open_decision("r", Verdict::Unknown);
        console.enter("the bank has nothing");
        console.press("Tab Space Tab y");
        console.enter("invoice:7:2026-05");
        let tasks = console.press("Enter");
        let found = console.current();
        console.answer_decide(&tasks, |_| proposed(&found, Choice::Retry, Verdict::Unknown));
    }),
    ("proposal_listed", |console| {
        console.check_as(Verdict::Unknown);
        console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    }),
    ("proposals", |console| {
        console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
        console.press("P");
    }),
    ("proposals_none", |console| {
        console.hear_of_proposals(Vec::new());
        console.press("P");
    }),
    ("proposal", |console| {
        console.hear_of_proposal(Choice::Retry, Verdict::Happened);
        console.press("P Enter");
    }),
    ("approve_override", |console| {
        console.open_approval(Choice::Retry, Verdict::Happened, |_| {});
        console.enter("I asked the bank");
        console.press("Tab Space Tab y");
    }),
    ("approve_lapsed", |console| {
        console.open_approval(Choice::MarkDone, Verdict::Happened, |review| {
            let prepared = review.now.as_mut().unwrap();
            prepared.row = row("failed");
            let what = "the row changed since it was proposed".to_owned();
            review.why_not = Some(WhyNot::RowChanged { what });
        });
    }),
    ("withdraw", |console| {
        console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
        console.press("P w");
        console.enter("paid in cash");
        console.press("Tab");
    }),
    ("timeline", |console| console.open_timeline(|_| {})),
    ("timeline_loading", |console| {
        console.press("T");
    }),
    ("duplicates", |console| console.open_matching(Matching::Duplicates)),
    ("duplicate", |console| {
        console.open_matching(Matching::Duplicates);
        console.press("Enter");
    }),
    ("duplicate_escalate", |console| {
        console.open_matching(Matching::Duplicates);
        console.press("e");
    }),
    ("reconcile", |console| console.open_matching(Matching::Reconcile)),
    ("reconcile_running", |console| {
        let [crate::console::Task::Match { run, .. }] = console.press("M")[..] else { panic!() };
        let step = MatchTold::Step(Step::Lists { read: 3, total: 4 });
        console.tell_matching(Matching::Reconcile, run, step);
    }),
    ("reconcile_item", |console| {
        console.open_matching(Matching::Reconcile);
        console.press("Enter");
    }),
    ("reconcile_effect", |console| {
        console.open_matching(Matching::Reconcile);
        console.press("G Enter");
    }),
    ("audit", |console| console.open_audit(30)),
    ("help", |console| {
        console.press("?");
    }),
    ("recovered", |console| {
        let recovered = Recovered {
            intent: entries(1).remove(0),
            choice: Some(Choice::MarkDone),
            outcome: Some(applied()),
            told: "it was carried out: the row is as the decision leaves it".to_owned(),
        };
        console.send(Message::Settle(SettleMessage::Recovered(Ok(vec![recovered]))));
    }),
];

/// A fault as a database tells it, and what to do.
fn long_notice() -> Message {
    Message::Notice {
        what: "The clipboard could not be reached: the terminal multiplexer answered nothing to OSC 52"
            .to_owned(),
        do_next: Some("Set `set-clipboard on` in tmux.conf, or select the text with the mouse.".to_owned()),
    }
}

#[rstest]
#[case(40, 10)]
#[case(80, 24)]
#[case(120, 40)]
#[case(200, 60)]
fn scenes_look_as_they_should(#[case] width: u16, #[case] height: u16) {
    for (name, play) in SCENES {
        let mut console = Console::with(width, height, 12);
        play(&mut console);
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), console.screen());
        let mut plain = Console::from_setup(Setup { no_color: true, ..sample::setup(width, height) }, 12);
        play(&mut plain);
        assert_eq!(plain.screen(), console.screen(), "{name} without colour");
    }
}

/// Each cell's colour as a letter, in capitals where it is bold; `%` is reversed, `-` is dim.
fn colors(console: &Console) -> String {
    use ratatui::style::{Color, Modifier};
    let buffer = console.buffer();
    let letter = |cell: &ratatui::buffer::Cell| {
        let color = match cell.fg {
            Color::Red => 'r',
            Color::Green => 'g',
            Color::Cyan => 'c',
            Color::Magenta => 'm',
            _ if cell.modifier.contains(Modifier::REVERSED) => '%',
            _ if cell.modifier.contains(Modifier::DIM) => '-',
            _ if cell.symbol() == " " => ' ',
            _ => '.',
        };
        if cell.modifier.contains(Modifier::BOLD) {
            if color == '.' { '!' } else { color.to_ascii_uppercase() }
        } else {
            color
        }
    };
    let lines = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    lines.map(|line| line.iter().map(letter).collect::<String>().trim_end().to_owned() + "\n").collect()
}

#[test]
fn scenes_are_coloured_as_they_should() {
    for name in [
        "checked",
        "triage_filtered",
        "group_open",
        "find",
        "palette",
        "decision_insist",
        "outcome_refused",
        "timeline",
        "duplicates",
        "reconcile",
    ] {
        let (_, play) = SCENES.iter().find(|(other, _)| *other == name).unwrap();
        let mut console = Console::with(80, 24, 12);
        play(&mut console);
        insta::assert_snapshot!(format!("{name}_colours"), colors(&console));
    }
}

#[test]
fn an_empty_list_says_what_was_read() {
    let console = Console::with(80, 24, 0);
    assert!(console.screen().contains("No findings. 2 sources read at 03:00:00Z."));
}

#[test]
fn read_only_and_a_missing_audit_stand_in_the_header() {
    let setup = Setup { read_only: true, audit_fault: Some("disk full".to_owned()), ..sample::setup(80, 24) };
    let console = Console::from_setup(setup, 3);
    assert!(console.screen().contains("READ-ONLY  NO AUDIT"));
}
