//! The first run without a terminal: keys in, tasks and screens out.

use super::*;
use crate::console::lead::model::Step;
use crate::domain::policy::Risk;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pretty_assertions::assert_eq;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rstest::rstest;

/// A first run under test.
struct Run {
    lead: Lead,
    state: LeadView,
    terminal: Terminal<TestBackend>,
}

fn offer(check: &str, needs: Needs, variables: &[(&str, bool)]) -> ProviderOffer {
    let variable = |(name, is_required): &(&str, bool)| Variable {
        name: (*name).to_owned(),
        means: "an account".to_owned(),
        is_required: *is_required,
    };
    ProviderOffer {
        check: check.to_owned(),
        preset: check.split('.').next().unwrap().to_owned(),
        title: format!("The title of {check}"),
        needs,
        takes_secret: true,
        variables: variables.iter().map(variable).collect(),
    }
}

fn setup(width: u16, height: u16) -> LeadSetup {
    LeadSetup {
        files: ["jobs.db", "mail.db"].map(|name| (name.to_owned(), format!("sqlite://{name}"))).to_vec(),
        place: "/home/ana/.config/unstuck/config.toml".to_owned(),
        providers: [
            offer("ledger.charge", Needs::BaseUrl(None), &[]),
            offer("ledger.email", Needs::BaseUrl(None), &[]),
            offer("sql_ledger.entry", Needs::Database, &[]),
            offer("stripe.charge", Needs::BaseUrl(Some("https://api.stripe.com".to_owned())), &[]),
            offer("twilio.message", Needs::BaseUrl(None), &[("account", true), ("region", false)]),
        ]
        .into(),
        variables: Arc::new(["UNSTUCK_LEDGER_TOKEN".to_owned()].into()),
        no_color: false,
        size: Size { width, height },
    }
}

impl Run {
    fn new(width: u16, height: u16) -> Self {
        Self::from(setup(width, height))
    }

    fn from(setup: LeadSetup) -> Self {
        let terminal = Terminal::new(TestBackend::new(setup.size.width, setup.size.height)).unwrap();
        let mut run = Self { lead: Lead::new(setup), state: LeadView::default(), terminal };
        run.draw();
        run
    }

    fn draw(&mut self) {
        let (lead, state) = (&self.lead, &mut self.state);
        self.terminal.draw(|frame| view(lead, state, frame)).unwrap();
    }

    fn send(&mut self, message: LeadMessage) -> Vec<LeadTask> {
        let tasks = update(&mut self.lead, &self.state, message);
        self.draw();
        tasks
    }

    /// Presses keys by their names, with spaces between.
    fn press(&mut self, keys: &str) -> Vec<LeadTask> {
        let key = |name: &str| match name {
            "Enter" => (KeyCode::Enter, KeyModifiers::NONE),
            "Esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "Tab" => (KeyCode::Tab, KeyModifiers::NONE),
            "Up" => (KeyCode::Up, KeyModifiers::NONE),
            "Down" => (KeyCode::Down, KeyModifiers::NONE),
            "PgDn" => (KeyCode::PageDown, KeyModifiers::NONE),
            "Space" => (KeyCode::Char(' '), KeyModifiers::NONE),
            "Ctrl-c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
            letter => (KeyCode::Char(letter.chars().next().unwrap()), KeyModifiers::NONE),
        };
        let keys: Vec<_> = keys.split_whitespace().map(key).collect();
        keys.into_iter()
            .flat_map(|(code, modifiers)| self.send(LeadMessage::Key(KeyEvent::new(code, modifiers))))
            .collect()
    }

    fn enter(&mut self, text: &str) -> Vec<LeadTask> {
        self.send(LeadMessage::Paste(text.to_owned()))
    }

    fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let lines = buffer.content.chunks(usize::from(buffer.area.width).max(1));
        lines
            .map(|line| {
                line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned()
                    + "\n"
            })
            .collect()
    }

    /// Every database that is looked into answers, the last one first.
    fn looked(&mut self) {
        self.looked_as(seen());
    }

    fn looked_as(&mut self, seen: Vec<Seen>) {
        let run = self.lead.run;
        for (at, seen) in seen.into_iter().enumerate().rev() {
            let kinds = if at == 0 { kinds() } else { Vec::new() };
            self.send(LeadMessage::Looked { run, at, seen, kinds });
        }
    }

    fn previewed(&mut self) {
        let run = self.lead.run;
        self.send(LeadMessage::Previewed { run, shown: Tried::Shown("inv-1".to_owned()) });
    }

    fn composed(&mut self) {
        let (run, text) = (self.lead.run, TEXT.repeat(6));
        self.send(LeadMessage::Composed { run, text, fault: None });
    }

    fn at_questions(&mut self) {
        self.press("Space Down Space Enter");
        self.looked();
        self.press("Enter");
        self.previewed();
    }

    fn at_text(&mut self) -> Vec<LeadTask> {
        self.at_questions();
        self.press("Enter Enter Enter");
        let tasks = self.press("Enter Enter Enter");
        self.composed();
        tasks
    }
}

const TEXT: &str = "# unstuck: which databases are read.\n\n[[sources]]\nname = \"jobs\"\nurl = \"sqlite:///srv/jobs.db\"\npreset = \"jobs\"\nkind = \"jobs\"\n";

fn seen() -> Vec<Seen> {
    let system = |name: &str, findings| SeenSystem {
        name: name.to_owned(),
        title: format!("{name}(key, status)"),
        findings,
    };
    let told = |what: &str, do_next: &str| Told { what: what.to_owned(), do_next: do_next.to_owned() };
    vec![
        Seen {
            address: "jobs.db".to_owned(),
            result: Ok(SeenDatabase {
                systems: vec![
                    system("jobs", Ok(Finding { count: 2, has_more: false })),
                    system("oban", Ok(Finding { count: 10_000, has_more: true })),
                    system("river", Err(told("the table is locked", "Try again."))),
                ],
                unknown: vec!["widgets".to_owned(), "bad\u{1b}[31m\nname".to_owned()],
                ..SeenDatabase::default()
            }),
        },
        Seen {
            address: "postgres://ana@db/app".to_owned(),
            result: Err(told("postgres://ana@db/app: cannot be reached", "Look whether it runs there.")),
        },
    ]
}

fn kinds() -> Vec<SeenKind> {
    [("jobs", 2), ("sent_emails", 0)]
        .map(|(name, findings)| SeenKind { name: name.to_owned(), findings })
        .to_vec()
}

/// A step's name, and how it is reached.
type Scene = (&'static str, fn(&mut Run));

const SCENES: &[Scene] = &[
    ("where", |run| {
        run.press("Space Tab Tab");
        run.enter("postgres://ana:s3cr3t@db/app");
        run.press("Enter");
    }),
    ("nothing_picked", |run| {
        run.press("Enter");
    }),
    ("looking", |run| {
        run.press("Space Down Space Enter");
        let now = run.lead.run;
        run.send(LeadMessage::Looked { run: now, at: 0, seen: seen().remove(0), kinds: kinds() });
    }),
    ("look", |run| {
        run.press("Space Down Space Enter");
        run.looked();
    }),
    ("ask", Run::at_questions),
    ("ask_provider", |run| {
        run.at_questions();
        run.enter("twilio");
        run.press("Enter");
        run.enter("https://api.example.com");
        run.press("Enter Enter");
    }),
    ("text", |run| {
        run.at_text();
    }),
    ("text_place", |run| {
        run.at_text();
        run.press("Tab");
    }),
];

#[rstest]
#[case(40, 10)]
#[case(80, 24)]
#[case(120, 40)]
#[case(200, 60)]
fn steps_look_as_they_should(#[case] width: u16, #[case] height: u16) {
    for (name, play) in SCENES {
        let mut run = Run::new(width, height);
        play(&mut run);
        assert!(!run.screen().contains("s3cr3t"), "{name}: a password is on the screen");
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), run.screen());
        let mut plain = Run::from(LeadSetup { no_color: true, ..setup(width, height) });
        play(&mut plain);
        assert_eq!(plain.screen(), run.screen(), "{name} without colour");
    }
}

#[test]
fn every_step_is_drawn_at_every_size() {
    for (_, play) in SCENES {
        let mut run = Run::new(80, 24);
        play(&mut run);
        for (width, height) in (0..45).step_by(4).flat_map(|width| (0..14).map(move |height| (width, height)))
        {
            run.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            run.send(LeadMessage::Resize { width, height });
        }
    }
}

#[test]
fn what_is_ticked_and_typed_is_looked_into() {
    let mut run = Run::new(80, 24);
    run.press("Down Space Down");
    run.enter("postgres://ana@db/app\n");
    run.press("Enter");
    let look = |at, address: &str| LeadTask::Look { run: 1, at, address: address.to_owned() };
    assert_eq!(run.press("Enter"), [look(0, "sqlite://mail.db"), look(1, "postgres://ana@db/app")]);
    assert!(run.lead.is_busy);
}

/// A wrong address is corrected: a step back, out of the list into the field again.
#[test]
fn an_address_is_corrected() {
    let mut run = Run::new(80, 24);
    run.press("Tab Tab");
    run.enter("sqlite://job.db");
    run.press("Enter Enter");
    run.looked_as(seen().split_off(1));
    run.press("Esc Up Space");
    assert_eq!((run.lead.step, run.lead.address.value()), (Step::Where, "sqlite://job.db"));
    assert_eq!(run.lead.picked(), Vec::<String>::new());
}

#[test]
fn an_answer_to_an_older_look_is_not_heard() {
    let mut run = Run::new(80, 24);
    run.press("Space Enter");
    let old = run.lead.run;
    run.press("Esc");
    run.send(LeadMessage::Looked { run: old, at: 0, seen: seen().remove(0), kinds: kinds() });
    assert_eq!((run.lead.seen().count(), run.lead.step), (0, Step::Where));
}

#[test]
fn nobody_asked_is_an_answer() {
    let mut run = Run::new(80, 24);
    let tasks = run.at_text();
    let [LeadTask::Compose { answers, path, .. }] = tasks.as_slice() else {
        panic!("{tasks:?}");
    };
    assert_eq!(path, "/home/ana/.config/unstuck/config.toml");
    let nobody = KindAnswer { risk: Risk::CheckFirst, check: None, reference: "{{ key }}".to_owned() };
    let kinds = [("jobs".to_owned(), nobody.clone()), ("sent_emails".to_owned(), nobody)];
    assert_eq!(*answers, Answers { kinds: kinds.into(), ..Answers::default() });
}

#[test]
fn a_provider_is_found_by_typing_and_asked_for_what_it_needs() {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("twil");
    run.press("Enter");
    // Address, secret, two variables, risk, reference: nothing goes on without the first and the required one.
    run.press("Enter Enter Enter Enter Enter Enter");
    assert!(run.screen().contains("! its address is missing"), "{}", run.screen());
    run.enter("https://api.example.com");
    run.press("Enter Enter Enter Enter Space Enter Enter");
    assert!(run.screen().contains("! `account` is missing"), "{}", run.screen());
    run.enter("ac-1");
    run.press("Enter Enter Enter");
    run.enter("x");
    run.press("Enter Enter Enter");
    let tasks = run.press("Enter");
    let [LeadTask::Compose { answers, .. }] = tasks.as_slice() else { panic!("{tasks:?}") };
    let twilio = ProviderAnswer {
        base_url: Some("https://api.example.com".to_owned()),
        database: None,
        secret_env: Some("UNSTUCK_TWILIO_TOKEN".to_owned()),
        variables: [("account".to_owned(), "ac-1".to_owned())].into(),
    };
    assert_eq!(answers.providers, [("twilio".to_owned(), twilio)].into());
    let jobs = KindAnswer {
        risk: Risk::Financial,
        check: Some("twilio.message".to_owned()),
        reference: "x".to_owned(),
    };
    assert_eq!(answers.kinds["jobs"], jobs);
}

/// What a preset knows by itself is not written down again.
#[test]
fn a_usual_address_is_left_to_the_preset() {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("stripe");
    let answers = run.lead.answers();
    assert_eq!(answers.providers["stripe"].base_url, None);
    assert_eq!(answers.kinds["jobs"].check.as_deref(), Some("stripe.charge"));
}

#[test]
fn a_password_is_asked_for_by_its_variable() {
    let mut run = Run::new(80, 24);
    run.press("Space Down Space Enter");
    let mut seen = seen();
    seen[0].result.as_mut().unwrap().had_password = true;
    run.looked_as(seen);
    run.press("Enter");
    run.enter("APP_PASSWORD");
    assert!(run.screen().contains("> Variable [APP_PASSWORD"), "{}", run.screen());
    assert_eq!(run.lead.answers().passwords, [("jobs.db".to_owned(), "APP_PASSWORD".to_owned())].into());
}

#[test]
fn it_is_written_on_one_key_and_only_there() {
    let mut run = Run::new(80, 24);
    run.at_text();
    assert_eq!(run.press("Enter Space PgDn j"), []);
    let path = "/home/ana/.config/unstuck/config.toml".to_owned();
    let text = TEXT.repeat(6);
    assert_eq!(run.press("w"), [LeadTask::Write { path: path.clone(), text }]);
    assert_eq!(run.press("w Esc q Ctrl-c"), [], "what is being written is waited for");
    let told = Told { what: "it is there already".to_owned(), do_next: "Name another.".to_owned() };
    run.send(LeadMessage::NotWritten(told));
    assert!(run.screen().contains("! it is there already. Name another."), "{}", run.screen());
    let tasks = run.send(LeadMessage::Written { path: path.clone() });
    assert_eq!(tasks, [LeadTask::End(Ended::Written { path, has_sources: true })]);
}

#[test]
fn a_text_that_would_be_refused_is_not_written() {
    let mut run = Run::new(80, 24);
    run.at_text();
    let (now, fault) = (run.lead.run, Told { what: "no URL".to_owned(), do_next: "Mend it.".to_owned() });
    run.send(LeadMessage::Composed { run: now, text: TEXT.to_owned(), fault: Some(fault) });
    assert_eq!(run.press("w"), []);
    assert!(run.screen().contains("this text would be refused"));
}

#[rstest]
#[case::first("", "q")]
#[case::in_a_field("Tab Tab", "Ctrl-c")]
#[case::second("Space Enter", "q")]
fn leaving_writes_nothing(#[case] keys: &str, #[case] leaving: &str) {
    let mut run = Run::new(80, 24);
    run.press(keys);
    assert_eq!(run.press(leaving), [LeadTask::End(Ended::Left)]);
}

#[rstest]
#[case::whole("postgres://ana:s3cr3t@db/app")]
#[case::without_its_beginning("ana:s3cr3t@db/app")]
fn a_password_in_a_list_is_hidden(#[case] address: &str) {
    let mut run = Run::new(80, 24);
    run.press("Tab Tab");
    run.enter(address);
    run.press("Enter");
    assert!(run.screen().contains("••••@db/app") && !run.screen().contains("s3cr3t"), "{}", run.screen());
}

/// The choice is in sight where only a line or two of the list are.
#[test]
fn a_choice_far_down_is_seen_on_a_small_screen() {
    let mut run = Run::new(40, 10);
    run.at_questions();
    for _ in 0..5 {
        run.press("Down");
        let chosen = run.lead.chosen(&run.lead.kinds[0]).unwrap().check.clone();
        assert!(run.screen().contains(&format!("> {chosen}")), "{}", run.screen());
    }
}

/// In a field a letter is a letter.
#[test]
fn a_letter_in_a_field_is_text() {
    let mut run = Run::new(80, 24);
    assert_eq!(run.press("Tab Tab q w"), []);
    assert_eq!(run.lead.address.value(), "qw");
}

#[test]
fn escape_goes_back_step_by_step_and_keeps_what_was_answered() {
    let mut run = Run::new(80, 24);
    run.at_text();
    run.press("Esc");
    assert_eq!((run.lead.step, run.lead.page), (Step::Ask, 1));
    run.press("Esc");
    run.enter("stripe");
    run.press("Esc");
    assert_eq!(run.lead.step, Step::Look);
    run.press("Esc");
    assert_eq!(run.lead.step, Step::Where);
    assert_eq!(run.press("Esc"), [], "there is nothing before the first step");
    run.press("Enter");
    run.looked();
    assert_eq!(run.lead.answers().kinds["jobs"].check.as_deref(), Some("stripe.charge"));
}

/// Who has answered is seen while another is waited for, and both are named.
#[test]
fn what_is_waited_for_is_named_beside_what_has_answered() {
    let mut run = Run::new(80, 24);
    run.press("Space Tab Tab");
    run.enter("postgres://ana:s3cr3t@db/app");
    run.press("Enter Enter");
    let now = run.lead.run;
    run.send(LeadMessage::Looked { run: now, at: 0, seen: seen().remove(0), kinds: kinds() });
    let screen = run.screen();
    for told in ["looking, 1 of 2 answered", "+ jobs", "postgres://ana", "@db/app", "waiting for its answer"]
    {
        assert!(screen.contains(told), "{told}: {screen}");
    }
    assert!(!screen.contains("s3cr3t"), "{screen}");
    assert!(run.lead.is_busy);
}

#[rstest]
#[case::spaces("my token")]
#[case::the_secret_itself("sk-live-1234")]
#[case::a_number_first("1TOKEN")]
#[case::with_its_sign("$TOKEN")]
fn what_is_no_variable_is_told_in_its_step_and_not_repeated(#[case] typed: &str) {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("ledger.charge");
    run.press("Enter");
    run.enter("https://ledger.example.com");
    run.press("Enter");
    run.enter(typed);
    let field = run.lead.field;
    assert_eq!(run.press("Enter"), []);
    assert_eq!(run.lead.field, field, "Enter went on");
    assert!(run.screen().contains("! that is no name of an environment variable."), "{}", run.screen());
    assert!(run.screen().contains("Write its name, as in BILLING_TOKEN"), "{}", run.screen());
    // Nor by way of Tab.
    run.press("Tab Tab Enter");
    assert_eq!((run.lead.step, run.lead.field), (Step::Ask, field));
}

#[test]
fn a_variable_that_is_not_set_now_is_told() {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("ledger.charge");
    assert!(!run.screen().contains("is not set now"), "{}", run.screen());
    run.press("Enter Tab");
    run.enter("OTHER_TOKEN");
    assert!(run.screen().contains("? $OTHER_TOKEN is not set now"), "{}", run.screen());
}

#[test]
fn a_reference_that_cannot_be_read_is_not_gone_on_with() {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.press("Enter Enter");
    run.enter("{{ key");
    let told =
        Told { what: "the template `{{ key` cannot be read".to_owned(), do_next: "Close it.".to_owned() };
    let now = run.lead.run;
    run.send(LeadMessage::Previewed { run: now, shown: Tried::Wrong(told) });
    assert!(run.screen().contains("Close it."), "{}", run.screen());
    run.press("Enter");
    assert_eq!((run.lead.step, run.lead.page, run.lead.field), (Step::Ask, 0, 2));
    assert!(run.screen().contains("! the template `{{ key` cannot be read. Close it."), "{}", run.screen());
}

#[test]
fn what_is_typed_takes_the_place_of_what_was_filled_in() {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("stripe");
    run.press("Enter");
    run.press("h t t p : / / [ : : 1 ]");
    let place = |run: &Run| run.lead.providers["stripe"].place.value().to_owned();
    assert_eq!(place(&run), "http://[::1]");
    run.press("Enter Enter Enter");
    run.enter("charge-");
    assert_eq!(run.lead.kinds[0].reference.value(), "charge-");
}

#[rstest]
#[case::two_in_one("https://a.example.comhttp://b.example.com", "that is two addresses in one")]
#[case::no_scheme("api.example.com", "`api.example.com` is no address")]
#[case::another_scheme("ftp://api.example.com", "`ftp` is not asked over HTTP")]
#[case::no_host("https://", "`https://` is no address")]
fn what_is_no_address_is_told_at_once(#[case] typed: &str, #[case] told: &str) {
    let mut run = Run::new(80, 24);
    run.at_questions();
    run.enter("ledger.charge");
    run.press("Enter");
    run.enter(typed);
    run.press("Enter");
    assert!(run.screen().contains(&format!("! {told}")), "{}", run.screen());
    assert_eq!(run.lead.field, 1, "Enter went on");
}

/// On eighty columns, what to do is told as whole as what is wrong.
#[test]
fn a_long_message_is_told_whole() {
    let mut run = Run::new(80, 24);
    run.at_text();
    let told = Told {
        what: format!("{}indeed", "what is wrong ".repeat(7)),
        do_next: format!("{}last.", "what to do ".repeat(9)),
    };
    run.send(LeadMessage::NotWritten(told));
    let screen = run.screen().replace('\n', " ");
    assert!(screen.contains("indeed."), "{screen}");
    assert!(screen.contains("last."), "{screen}");
}
