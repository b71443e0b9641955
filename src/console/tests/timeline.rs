//! The timeline of one item: opened from where its item is, told line by line, and left to where one came from.

use super::helpers::*;
use super::samples::story;
use crate::console::message::{Message, StoryMessage};
use crate::console::model::Screen;
use crate::console::model::matching::Matching;
use crate::console::{Setup, Task, sample};
use crate::domain::verdict::Verdict;
use crate::ports::record::RecordFault;
use crate::workflow::settle::OrderFault;
use crate::workflow::sweep::Unrecorded;

fn flat(console: &Console) -> String {
    console.screen().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_line_has_its_origin_and_moment_and_the_questions_stand_beside() {
    let mut console = Console::with(200, 60, 12);
    console.open_timeline(|_| {});
    let screen = console.screen();
    let line = |part: &str| screen.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned();
    assert!(line("attempt 1 started").contains("02:19:50.120Z receipt"), "{screen}");
    assert!(line("(deploys.log:3)").contains("mark"), "{screen}");
    assert!(line("effect ch_1a7f").contains("02:20:34Z"), "{screen}");
    assert!(line("no time").contains("receipt"), "{screen}");
    let head = screen.lines().nth(4).unwrap_or_default();
    assert!(head.contains("Timeline") && head.contains("Questions"), "beside each other: {head}");
    let text = flat(&console);
    for told in ["1. Is it known which item it is?", "6. Does a record tie", "+34s"] {
        assert!(text.contains(told), "{told} in\n{screen}");
    }
}

/// Nobody takes for a "no" what nobody knows.
#[test]
fn what_is_not_known_is_told_with_its_reason_and_looks_like_no_answer() {
    let mut console = Console::with(119, 60, 12);
    let found = console.current();
    console.open_timeline(|told| *told = story(&found, Verdict::Unknown));
    let text = flat(&console);
    assert!(
        text.contains("not known, because the provider gave no answer that counts (HTTP 503 three times)"),
        "{}",
        console.screen()
    );
    let theme = crate::console::theme::Theme::new(false);
    let screen = console.screen();
    let (y, line) = screen.lines().enumerate().find(|(_, line)| line.contains("not known, because")).unwrap();
    let x = line.find("not known").unwrap();
    let cell = console.buffer().cell((u16::try_from(x).unwrap(), u16::try_from(y).unwrap())).unwrap();
    assert_eq!(Some(cell.fg), theme.caution().fg);
}

#[test]
fn on_a_narrow_screen_the_questions_stand_below_and_everything_can_be_reached() {
    for (width, height) in [(40, 10), (80, 24)] {
        let mut console = Console::with(width, height, 12);
        console.open_timeline(|_| {});
        let mut seen = String::new();
        for _ in 0..40 {
            seen.push_str(&console.screen());
            console.press("PgDn");
        }
        for told in ["What happened when", "The six questions", "It happened more than once", "Also"] {
            assert!(seen.contains(told), "{width}x{height}: {told}");
        }
        // Tab has no second pane to go to, and scrolls on.
        console.press("Tab g");
        assert!(console.screen().contains("verdict "), "{}", console.screen());
    }
}

#[test]
fn it_is_left_to_where_one_came_from_with_cursor_and_selection() {
    let mut console = Console::with(80, 24, 12);
    console.press("j j Space j");
    let before = console.current();
    console.open_timeline(|_| {});
    console.press("Esc");
    assert_eq!(console.current().finding.item.key, before.finding.item.key);
    assert_eq!(console.model.findings.counts().selected, 1);
    assert!(console.screen().contains("-- Findings"));
    // From the opened item back to the opened item.
    console.press("Enter T");
    assert_eq!(console.model.screen, Screen::Timeline);
    console.press("T");
    assert!(console.screen().contains("-- Item"), "{}", console.screen());
    // Through the palette too.
    console.press(":");
    console.enter("timeline");
    assert!(matches!(console.press("Enter")[..], [Task::TellStory { .. }]));
}

#[test]
fn it_is_reached_from_a_matching_and_goes_back_there() {
    let mut console = Console::with(120, 40, 12);
    console.open_matching(Matching::Reconcile);
    let line = console.model.reconcile.cursor;
    let tasks = console.press("T");
    assert!(
        matches!(&tasks[..], [Task::TellStory { key, .. }] if &**key == "invoice:0:2026-05"),
        "{tasks:?}"
    );
    console.press("Esc");
    assert_eq!(console.model.screen, Screen::Matching(Matching::Reconcile));
    assert_eq!(console.model.reconcile.cursor, line);
}

/// Nothing is a dead end: each view opens from each other one, and `Esc` goes back to that.
#[test]
fn every_view_opens_from_every_other_and_goes_back() {
    let views = [
        ("A", Screen::Audit),
        ("P", Screen::Proposals),
        ("D", Screen::Matching(Matching::Duplicates)),
        ("M", Screen::Matching(Matching::Reconcile)),
    ];
    for (_, from) in views.into_iter().chain([("T", Screen::Timeline)]) {
        for (key, to) in views.into_iter().filter(|(_, to)| *to != from) {
            let mut console = Console::with(80, 24, 12);
            match from {
                Screen::Timeline => console.open_timeline(|_| {}),
                Screen::Matching(which) => console.open_matching(which),
                _ => drop(console.press(if from == Screen::Audit { "A" } else { "P" })),
            }
            assert_eq!(console.model.screen, from);
            console.press(key);
            assert_eq!(console.model.screen, to, "{key} in {from:?}");
            assert!(!console.screen().is_empty());
            console.press("Esc");
            // What runs is stopped first.
            if console.model.screen == to {
                console.press("Esc");
            }
            assert_eq!(console.model.screen, from, "Esc from {to:?}");
        }
    }
}

#[test]
fn the_provider_is_asked_by_a_key_and_the_list_learns_of_it() {
    let mut console = Console::with(80, 24, 12);
    console.open_timeline(|_| {});
    let found = console.current();
    let tasks = console.press("c");
    let [Task::TellStory { run, asks_anew: true, .. }] = tasks[..] else { panic!("{tasks:?}") };
    assert!(console.screen().contains("Asking the provider"), "{}", console.screen());
    console.tell_story(run, story(&found, Verdict::Happened));
    assert_eq!(console.model.findings.current().unwrap().verdict(), Some(Verdict::Happened));
    assert!(console.screen().contains("verdict    happened"), "{}", console.screen());
    // What is read again is told by the record alone.
    assert!(matches!(console.press("R")[..], [Task::TellStory { asks_anew: false, .. }]));
}

#[test]
fn late_answers_are_dropped_and_faults_are_told() {
    let mut console = Console::with(80, 24, 12);
    let found = console.current();
    let tasks = console.press("T R");
    let [Task::TellStory { run: old, .. }, Task::TellStory { run, .. }] = tasks[..] else {
        panic!("{tasks:?}")
    };
    console.tell_story(old, story(&found, Verdict::Happened));
    assert!(console.screen().contains("Reading row, logs, marks and audit, 0 s..."), "{}", console.screen());
    let failed = Err(OrderFault::NoSuchSource("billing".to_owned()));
    console.send(Message::Story(StoryMessage { run, story: failed, unrecorded: Unrecorded::default() }));
    assert!(console.screen().contains("there is no source `billing`"), "{}", console.screen());
    let [Task::TellStory { run, .. }] = console.press("R")[..] else { panic!() };
    console.send(Message::Story(StoryMessage { run, story: Ok(None), unrecorded: Unrecorded::default() }));
    let screen = console.screen();
    assert!(screen.contains("No source, no log and no record has such an item any more."), "{screen}");
    let [Task::TellStory { run, .. }] = console.press("c")[..] else { panic!() };
    let fault =
        RecordFault { is_absent: false, what: "disk full".to_owned(), do_next: "Make room.".to_owned() };
    let told = story(&found, Verdict::Happened);
    let unrecorded = Unrecorded::of([&told.members[0].found.finding.item], fault);
    console.send(Message::Story(StoryMessage {
        run,
        story: Ok(Some(std::sync::Arc::new(told))),
        unrecorded,
    }));
    let screen = console.screen();
    assert!(screen.contains("1 check is NOT ON RECORD: disk full. Make room."), "{screen}");
    assert!(screen.contains("u NOT ON RECORD: nobody will find this verdict later."), "{screen}");
    console.press("Esc");
    let row =
        console.model.findings.find(&crate::console::model::findings::Identity::of(&found.finding.item));
    assert!(row.unwrap().is_unrecorded);
}

/// "Nobody asked" is said only where the record was read.
#[test]
fn a_record_that_cannot_be_read_is_told_and_leans_on_nothing() {
    let mut console = Console::with(80, 24, 12);
    console.open_timeline(|told| {
        let what = "audit a.db: stayed locked by another program for 10 s".to_owned();
        told.unread = Some(RecordFault { is_absent: false, what, do_next: "Try again.".to_owned() });
        (told.checked, told.recorded) = (None, None);
    });
    let screen = console.screen();
    assert!(
        screen.contains("record     COULD NOT BE READ: audit a.db: stayed locked by another"),
        "{screen}"
    );
    assert!(screen.contains("verdict    not known: the record could not be read"), "{screen}");
    assert!(!screen.contains("nobody asked"), "{screen}");
}

#[test]
fn secrets_and_control_signs_of_a_story_reach_no_cell() {
    let mut console = Console::with(200, 60, 12);
    console.open_timeline(|told| {
        told.notes.push("password=hunter2 \u{1b}[31mred \u{202e}abc".to_owned());
        told.timeline.lines[0].happening.place = "a\u{7}b token=tok-123456".to_owned();
    });
    let screen = console.screen();
    for hidden in ["hunter2", "tok-123456"] {
        assert!(!screen.contains(hidden), "{hidden} in\n{screen}");
    }
    assert!(!screen.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{screen}");
}

#[test]
fn its_keys_can_be_others() {
    let keys = [("timeline".to_owned(), vec!["F4".to_owned()])].into_iter().collect();
    let keys = crate::console::Keymap::with(&keys).unwrap();
    let mut console = Console::from_setup(Setup { keys, ..sample::setup(80, 24) }, 3);
    assert_eq!(console.press("T"), []);
    let event = crossterm::event::KeyEvent::from(crossterm::event::KeyCode::F(4));
    assert!(matches!(console.send(Message::Key(event))[..], [Task::TellStory { .. }]));
}
