//! A console without a terminal: keys in, tasks and screens out.

use crate::console::message::{
    AuditMessage, CheckMessage, ItemMessage, Message, ProposalsMessage, SettleMessage,
};
use crate::console::{Model, Setup, Task, ViewState, sample, update, view};
use crate::domain::audit::Entry;
use crate::domain::cell::Cell;
use crate::domain::decision::{Choice, Operator, Outcome, Reason};
use crate::domain::item::Row;
use crate::domain::permission::permission;
use crate::domain::proposal::{Proposal, Sight};
use crate::domain::verdict::Verdict;
use crate::ports::source::{LateWriter, Payload, PlannedStatement};
use crate::workflow::settle::Reread;
use crate::workflow::settle::approve::Review;
use crate::workflow::{Decided, Found, Prepared};
use chrono::TimeDelta;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::sync::Arc;
use uuid::Uuid;

/// A console under test.
pub struct Console {
    pub model: Model,
    pub state: ViewState,
    pub terminal: Terminal<TestBackend>,
}

impl Console {
    /// A console that has read so many findings.
    pub fn with(width: u16, height: u16, findings: usize) -> Self {
        Self::from_setup(sample::setup(width, height), findings)
    }

    pub fn from_setup(setup: Setup, findings: usize) -> Self {
        let terminal = Terminal::new(TestBackend::new(setup.size.width, setup.size.height)).unwrap();
        let mut console =
            Self { model: sample::console(setup, findings), state: ViewState::default(), terminal };
        console.draw();
        console
    }

    pub fn send(&mut self, message: Message) -> Vec<Task> {
        let tasks = update(&mut self.model, &self.state, message);
        self.draw();
        tasks
    }

    pub fn draw(&mut self) {
        let (model, state) = (&self.model, &mut self.state);
        self.terminal.draw(|frame| view(model, state, frame)).unwrap();
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        self.send(Message::Resize { width, height });
    }

    /// Presses keys spelled as in the help, with spaces between: `"j Enter Ctrl-d"`.
    pub fn press(&mut self, keys: &str) -> Vec<Task> {
        keys.split(' ')
            .filter(|key| !key.is_empty())
            .flat_map(|key| self.send(Message::Key(key_of(key))))
            .collect()
    }

    /// Types a text letter by letter.
    pub fn enter(&mut self, text: &str) -> Vec<Task> {
        text.chars()
            .flat_map(|c| self.send(Message::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))))
            .collect()
    }

    pub fn screen(&self) -> String {
        text_of(self.terminal.backend().buffer())
    }

    pub fn buffer(&self) -> &Buffer {
        self.terminal.backend().buffer()
    }

    /// The finding under the cursor.
    pub fn current(&self) -> Arc<Found> {
        Arc::clone(&self.model.findings.current().unwrap().found)
    }

    /// Checks the finding under the cursor to a verdict.
    pub fn check_as(&mut self, verdict: Verdict) {
        let tasks = self.press("c");
        self.answer_checks(&tasks, |_| verdict);
    }

    /// Answers a check task.
    pub fn answer_checks(&mut self, tasks: &[Task], verdict: impl Fn(usize) -> Verdict) {
        let [Task::Check { run, found }] = tasks else { panic!("no check in {tasks:?}") };
        for (number, found) in found.iter().enumerate() {
            let checked = Arc::new(sample::checked(found, verdict(number)));
            self.send(Message::Check(CheckMessage::Done {
                run: *run,
                found: Arc::clone(found),
                checked,
                on_record: true,
            }));
        }
        self.send(Message::Check(CheckMessage::Ended { run: *run, record_fault: None }));
    }

    /// Answers the prepare task of a dialog that was just opened.
    pub fn answer_prepare(&mut self, tasks: &[Task], change: impl FnOnce(&mut Prepared)) {
        let [Task::Prepare { run, choice, recent, .. }] = tasks else { panic!("no prepare in {tasks:?}") };
        let found = self.current();
        let mut prepared =
            prepared(&found, *choice, recent.as_ref().map_or(Verdict::Unknown, |c| c.verdict()));
        change(&mut prepared);
        let prepared = Box::new(Ok(prepared));
        self.send(Message::Settle(SettleMessage::Prepared { run: *run, prepared }));
    }

    /// Opens the dialog of a key with a verdict known, and answers its prepare task.
    pub fn open_decision(&mut self, key: &str, verdict: Verdict) {
        self.check_as(verdict);
        let tasks = self.press(key);
        self.answer_prepare(&tasks, |_| {});
    }

    /// Tells what came of one order of a decide task, and that it ended after the last.
    pub fn answer_decide(&mut self, tasks: &[Task], outcome: impl Fn(usize) -> Outcome) -> Vec<Task> {
        let [Task::Decide { run, orders }] = tasks else { panic!("no decide in {tasks:?}") };
        for (number, order) in orders.iter().enumerate() {
            let decided = decided(order.choice, outcome(number));
            self.send(Message::Settle(SettleMessage::Decided {
                run: *run,
                source: Arc::clone(&order.source),
                key: Arc::clone(&order.key),
                choice: order.choice,
                result: Box::new(Ok(decided)),
            }));
        }
        self.send(Message::Settle(SettleMessage::Ended { run: *run }))
    }

    /// Opens the item under the cursor and answers with row, payload and history.
    pub fn open_item(&mut self, payload: &str) {
        let tasks = self.press("Enter");
        let [Task::Open { run, .. }] = tasks[..] else { panic!("no open in {tasks:?}") };
        let found = self.current();
        let now = Reread {
            status: Arc::clone(&found.finding.item.status),
            row: row("running"),
            found: Some((*found).clone()),
        };
        let payload = Payload {
            bytes: payload.as_bytes().to_vec(),
            size_bytes: payload.len() as u64,
            is_closed: false,
        };
        let details = crate::console::message::Details {
            now: Some(now),
            payload: Some(payload),
            history: Ok(entries(2)),
        };
        self.send(Message::Item(ItemMessage::Opened { run, details: Box::new(details) }));
    }

    /// A second person has something to look at: what was proposed for the finding under the cursor.
    pub fn hear_of_proposal(&mut self, choice: Choice, verdict: Verdict) -> Proposal {
        let proposal = proposal(&self.current(), choice, verdict);
        self.hear_of_proposals(vec![proposal.clone()]);
        proposal
    }

    /// The proposals that wait were read.
    pub fn hear_of_proposals(&mut self, waiting: Vec<Proposal>) {
        let read = ProposalsMessage::Read { at: sample::now(), waiting: Ok(waiting) };
        assert_eq!(self.send(Message::Proposals(read)), []);
    }

    /// Opens the proposals with one of a choice on a verdict, and its dialog, answered with what it is now.
    pub fn open_approval(&mut self, choice: Choice, verdict: Verdict, change: impl FnOnce(&mut Review)) {
        let found = self.current();
        let proposal = self.hear_of_proposal(choice, verdict);
        assert_eq!(self.press("P"), [Task::ReadProposals]);
        let tasks = self.press("a");
        let [Task::Review { run, decision }] = tasks[..] else { panic!("no review in {tasks:?}") };
        assert_eq!(decision, proposal.id);
        let now = Ok(prepared(&found, choice, verdict));
        let mut review = Review { proposal, why_not: None, now };
        change(&mut review);
        let review = Box::new(Ok(review));
        self.send(Message::Proposals(ProposalsMessage::Reviewed { run, review }));
    }

    /// Opens the audit and answers with so many entries.
    pub fn open_audit(&mut self, count: i64) {
        let tasks = self.press("A");
        let [Task::ReadAudit { run, before: None }] = tasks[..] else { panic!("no audit in {tasks:?}") };
        self.send(Message::Audit(AuditMessage::Page { run, entries: entries(count), more: false }));
    }
}

pub fn text_of(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    buffer
        .content
        .chunks(width.max(1))
        .map(|line| {
            line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned() + "\n"
        })
        .collect()
}

pub fn key_of(spelled: &str) -> KeyEvent {
    let (name, modifiers) = match spelled.strip_prefix("Ctrl-") {
        Some(name) => (name, KeyModifiers::CONTROL),
        None => (spelled, KeyModifiers::NONE),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Shift-Tab" => KeyCode::BackTab,
        "Space" => KeyCode::Char(' '),
        "Down" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

pub fn row(status: &str) -> Row {
    let text = |text: &str| Cell::text(text);
    Row {
        columns: vec![
            ("key".into(), text("invoice:0:2026-05")),
            ("status".into(), text(status)),
            ("updated_at".into(), text("2026-05-04T02:29:40")),
            ("last_error".into(), Cell::Null),
            ("api_token".into(), text("tok-123456")),
        ],
    }
}

pub fn prepared(found: &Found, choice: Choice, verdict: Verdict) -> Prepared {
    let checked = sample::checked(found, verdict);
    let statement = PlannedStatement {
        sql:
            "UPDATE jobs SET status = :status, updated_at = :now WHERE key = :key AND status IS :seen_status"
                .to_owned(),
        parameters: vec![
            (":status".to_owned(), Cell::text("done")),
            (":now".to_owned(), Cell::text("2026-05-04T03:00:00")),
            (":key".to_owned(), Cell::text(found.finding.item.key.as_str().to_owned())),
            (":seen_status".to_owned(), Cell::text(found.finding.item.status.to_string())),
        ],
        rows: crate::ports::source::Rows::exactly(1),
        why: None,
    };
    Prepared {
        found: found.clone(),
        row: row("running"),
        permission: permission(choice, found.stakes(), &checked.judgement, &checked.advised),
        checked,
        statements: Ok(if choice == Choice::Escalate { Vec::new() } else { vec![statement] }),
        late_writer: LateWriter::Unguarded,
        escalates_to: (choice == Choice::Escalate).then(|| "https://pager.example/v2/enqueue".to_owned()),
    }
}

/// What Ben proposed for a finding on a verdict, half an hour ago.
pub fn proposal(found: &Found, choice: Choice, verdict: Verdict) -> Proposal {
    let prepared = prepared(found, choice, verdict);
    Proposal {
        writes_sha256: String::new(),
        id: Uuid::from_u128(0x0196_a1b2_0000_7000_8000_0012_7c1f_02ab),
        entry: 40,
        choice,
        source: Arc::clone(&found.finding.item.source),
        key: found.finding.item.key.as_str().into(),
        proposer: Operator { name: "ben".into(), login: "ben".into(), host: "ops-2".into() },
        recorded_by: None,
        reason: Reason::new("the bank statement of the 3rd has nothing").unwrap(),
        insists: prepared.permission.against.is_some(),
        row_sha256: prepared.row.sha256(),
        seen: prepared.row,
        sight: Sight::of(&prepared.checked.judgement),
        advice: prepared.checked.advice().as_str().to_owned(),
        at: sample::now() - TimeDelta::minutes(30),
        until: sample::now() + TimeDelta::minutes(210),
        closed: None,
    }
}

pub fn applied() -> Outcome {
    Outcome::Applied { before: row("running"), after: Some(row("done")) }
}

pub fn proposed(found: &Found, choice: Choice, verdict: Verdict) -> Outcome {
    let why = "A financial retry against the advice takes two persons: one proposes, another approves.";
    Outcome::Proposed { proposal: Box::new(proposal(found, choice, verdict)), why: why.to_owned() }
}

pub fn refused() -> Outcome {
    Outcome::Refused {
        why: "the row changed since it was shown: status was `running` and is `done`".to_owned(),
        now: Some(row("done")),
    }
}

pub fn decided(choice: Choice, outcome: Outcome) -> Decided {
    let do_next = match outcome {
        Outcome::Applied { .. } => None,
        Outcome::Proposed { .. } => {
            Some("A second person approves it: unstuck approve 7c1f02ab --reason TEXT --override".to_owned())
        }
        Outcome::Refused { .. } | Outcome::Failed { .. } => {
            Some("Look at it as it is now, then decide again.".to_owned())
        }
    };
    Decided {
        decision: Uuid::nil(),
        choice,
        outcome,
        do_next,
        hindrance: None,
        checked: None,
        entry: Some(42),
        record_fault: None,
    }
}

pub fn entries(count: i64) -> Vec<Entry> {
    (1..=count)
        .rev()
        .map(|seq| Entry {
            seq,
            at: format!("2026-05-04T02:{:02}:00Z", seq % 60),
            event: if seq % 2 == 0 { "applied" } else { "intended" }.to_owned(),
            decision: "0196a1b2-0000-7000-8000-000000000001".to_owned(),
            source: "billing".to_owned(),
            key: format!("invoice:{seq}:2026-05"),
            operator: "ana".to_owned(),
            origin: "ana@ops-1".to_owned(),
            body: r#"{"choice":"mark_done","reason":"seen in the ledger","row_seen":{"status":"running","api_token":"tok-123456"}}"#.to_owned(),
            prev: "0".repeat(64),
            hash: "ab".repeat(32),
        })
        .collect()
}
