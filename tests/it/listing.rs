//! Many items at once: the provider's list instead of a question for each, and both ways over a window.

use crate::world::{Ran, TABLES, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const PAGE_EFFECTS_MAX: usize = 10;

/// A ledger with pages, which counts what it is asked.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Shelf>>);

#[derive(Default)]
struct Shelf {
    /// When every effect came about, in seconds.
    created: i64,
    /// Of these it was another moment; `None` where none is told.
    others: BTreeMap<String, Option<i64>>,
    /// Newest first: id, reference, amount.
    effects: Vec<(String, String, i64)>,
    questions: usize,
    pages: usize,
    /// Whether every page but the first is an error.
    breaks_off: bool,
    /// Whether every page is one, and only single references are answered.
    has_no_list: bool,
}

impl Respond for Book {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut ledger = self.0.lock().unwrap();
        let asked: BTreeMap<String, String> = request.url.query_pairs().into_owned().collect();
        let reference = asked.get("reference").or(asked.get("message_key"));
        *if reference.is_some() { &mut ledger.questions } else { &mut ledger.pages } += 1;
        let after = asked.get("starting_after");
        if (after.is_some() && ledger.breaks_off) || (reference.is_none() && ledger.has_no_list) {
            return ResponseTemplate::new(500);
        }
        let is_emails = request.url.path() == "/v1/emails";
        let wanted: Vec<_> = ledger
            .effects
            .iter()
            .filter(|(_, of, _)| !is_emails && reference.is_none_or(|reference| reference == of))
            .collect();
        let from = after.map_or(0, |id| 1 + wanted.iter().position(|(known, _, _)| known == id).unwrap());
        let page = wanted.iter().skip(from).take(PAGE_EFFECTS_MAX);
        let data: Vec<Value> = page
            .map(|(id, reference, amount)| {
                let created = ledger.others.get(id).copied().unwrap_or(Some(ledger.created));
                json!({ "id": id, "reference": reference, "status": "succeeded", "amount": amount,
                        "currency": "eur", "created": created })
            })
            .collect();
        let more = wanted.len() > from + data.len();
        ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": more }))
    }
}

fn an_hour_ago() -> i64 {
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    memory.query_row("SELECT unixepoch('now', '-1 hours')", [], |row| row.get(0)).unwrap()
}

/// Sixty invoices that timed out an hour ago, half of them charged, and some that are done.
struct Incident {
    world: World,
    book: Book,
    _server: MockServer,
    _runtime: Runtime,
}

impl Incident {
    fn new() -> Self {
        let world = World::new();
        let mut rows = String::new();
        let mut add = |key: &str, status: &str, error: &str| {
            rows += &format!(
                "INSERT INTO jobs SELECT '{key}', '{status}', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-1 hours'), {error};"
            );
        };
        let book = Book::default();
        book.0.lock().unwrap().created = an_hour_ago();
        let charge = |id: &str, reference: &str, amount: i64| {
            book.0.lock().unwrap().effects.push((id.to_owned(), reference.to_owned(), amount));
        };
        for number in 0..60 {
            add(&format!("inv-{number}"), "failed", "'Read timed out'");
            if number % 2 == 0 {
                charge(&format!("ch_{number}"), &format!("inv-{number}"), 1_200);
            }
        }
        for key in ["done-well", "done-twice", "done-nothing", "done-other"] {
            add(key, "done", "NULL");
        }
        charge("ch_a", "done-well", 1_200);
        charge("ch_b", "done-twice", 1_200);
        charge("ch_c", "done-twice", 1_200);
        charge("ch_d", "done-other", 900);
        charge("ch_e", "of-nobody", 1_200);
        world.database("jobs.db", &format!("{TABLES}{rows}"));
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            Mock::given(method("GET")).respond_with(book.clone()).mount(&server).await;
            server
        });
        let (url, pace) = (server.uri(), "pace_per_second = 50 ");
        let example = include_str!("../../config.example.toml").replace("http://127.0.0.1:8421", &url);
        let amounts = "risk = \"financial\"\namount = \"12.00\"\ncurrency = \"EUR\"";
        assert!(example.contains(pace));
        let example =
            example.replace(pace, "pace_per_second = 100000 ").replacen("risk = \"financial\"", amounts, 1);
        world.write("config.toml", example);
        Self { world, book, _server: server, _runtime: runtime }
    }

    fn run(&self, arguments: &str) -> Ran {
        self.world.run(&format!("--config config.toml {arguments}"))
    }

    /// How many questions for single references there were since last time, and how many pages of a list.
    fn asked(&self) -> (usize, usize) {
        let mut ledger = self.book.0.lock().unwrap();
        (std::mem::take(&mut ledger.questions), std::mem::take(&mut ledger.pages))
    }
}

/// What a check says of each item, without what differs from one run to the next.
fn said(ran: &Ran) -> BTreeMap<String, Value> {
    let line = |mut line: Value| {
        for changing in ["evidence", "checked_at", "age_seconds"] {
            line[changing].take();
        }
        (line["key"].as_str().unwrap().to_owned(), line)
    };
    ran.json().into_iter().map(line).collect()
}

#[test]
fn a_check_of_many_reads_the_list_and_says_the_same() {
    let incident = Incident::new();
    let plan = incident.run("check --all --plan");
    assert_eq!((plan.code, plan.out.as_str(), incident.asked()), (Some(0), "", (0, 0)));
    assert!(plan.err.contains("ledger.charge: 60 findings by listing from "), "{}", plan.err);
    assert!(plan.err.contains("1 request or more"), "{}", plan.err);
    let for_programs = incident.run("check --all --plan --json");
    assert_eq!((for_programs.code, for_programs.err.as_str(), incident.asked()), (Some(0), "", (0, 0)));
    let line = &for_programs.json()[0];
    assert_eq!((&line["operation"], &line["findings"]), (&"ledger.charge".into(), &60.into()));
    assert_eq!((&line["one_by_one"], &line["listing"]["findings"]), (&0.into(), &60.into()));
    assert_eq!(line["requests_min"], 1);
    let by_list = incident.run("check --all --json");
    assert_eq!((by_list.code, incident.asked()), (Some(0), (0, 4)), "{}", by_list.err);
    assert_eq!(by_list.err, plan.err.replace(&window_of(&plan.err), &window_of(&by_list.err)));
    assert!(by_list.err.contains("how long a page of its list takes is not known"), "{}", by_list.err);
    let by_item = incident.run("check --all --json --by item");
    assert_eq!((by_item.code, incident.asked()), (Some(0), (60, 0)));
    assert!(by_item.err.contains("how long an answer takes is not known"), "{}", by_item.err);
    assert!(by_item.err.contains("60 findings one by one: 60 requests"), "{}", by_item.err);
    assert_eq!(said(&by_list), said(&by_item));
    assert_eq!(said(&by_list).len(), 60);
    let events = incident.run("audit list --json --limit 500").each("event");
    assert_eq!(events.iter().filter(|event| *event == "listed").count(), 1);
    assert_eq!(events.len(), 121);
    assert_eq!(incident.run("audit verify").code, Some(0));
    // What it took is on record now, and the next plan goes by it, each way by its own times.
    let measured = |err: &str, of: &str| {
        assert!(err.contains("where it is as slow as before (") && err.contains(of), "{err}");
    };
    measured(
        &incident.run("check --all --plan --by item").err,
        " a question, the median of 60 former checks",
    );
    measured(&incident.run("check --all --plan").err, " a page, the median of 1 former listing");
    let line = incident.run("check --all --plan --json").json().remove(0);
    assert!(line["page_seconds_median"].is_number() && line["seconds_as_slow"].is_number(), "{line}");
}

/// The moment in a plan's line, which is another each time.
fn window_of(plan: &str) -> String {
    let (_, after) = plan.split_once("listing from ").unwrap();
    after.split_once(' ').unwrap().0.to_owned()
}

/// What a canary takes is told before it is asked for, and a list is as little worth as a look-up where it is not found.
#[test]
fn a_canary_is_counted_and_vouches_for_the_list() {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let with = |canary: &str| {
        let line = format!("key_ttl = \"24h\"\ncanary = \"{canary}\"\n");
        incident.world.write("config.toml", config.replacen("key_ttl = \"24h\"", &line, 1));
    };
    with("done-well");
    let plan = incident.run("check --all --plan --by item");
    assert!(plan.err.contains("60 requests and up to 60 more"), "{}", plan.err);
    let plan = incident.run("check --all --plan");
    assert!(plan.err.contains("1 request or more and up to 1 more"), "{}", plan.err);
    let found = incident.run("check --all --json");
    assert_eq!(found.each("verdict").iter().filter(|verdict| *verdict == "not_found").count(), 30);
    assert_eq!(incident.asked(), (0, 4), "the list shows it by itself");
    with("no-such-charge");
    let missed = incident.run("check --all --json");
    assert!(missed.err.contains("neither is the canary `no-such-charge`"), "{}", missed.err);
    assert!(!missed.each("verdict").contains(&"not_found".to_owned()), "{}", missed.out);
}

#[test]
fn a_list_that_breaks_off_is_not_read() {
    let incident = Incident::new();
    incident.book.0.lock().unwrap().breaks_off = true;
    let checked = incident.run("check --all --json");
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    assert!(checked.err.contains("ledger.charge: the list counts as not read"), "{}", checked.err);
    assert_eq!(incident.asked().0, 60);
    let verdicts = checked.each("verdict");
    assert_eq!(verdicts.iter().filter(|verdict| *verdict == "not_found").count(), 30);
    let insisted = incident.run("check --all --json --by listing");
    assert_eq!((insisted.code, incident.asked().0), (Some(3), 0), "{}", insisted.err);
    assert!(insisted.each("verdict").iter().all(|verdict| verdict == "unknown"));
}

#[test]
fn both_ways_over_a_window_nothing_odd_is_missed_and_nothing_else_is_named() {
    let incident = Incident::new();
    let ran = incident.run("reconcile --since 2h --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = |line: &Value| {
        let named = line["key"].as_str().or(line["reference"].as_str()).unwrap();
        format!("{} {named} {}", line["finding"].as_str().unwrap(), line["effects"])
    };
    let mut lines: Vec<String> = ran.json().iter().map(told).collect();
    lines.sort();
    assert_eq!(
        lines,
        ["duplicate done-twice 2", "lost done-nothing 0", "mismatch done-other 1", "unaccounted of-nobody 1"]
    );
    // Only what seems lost is asked for alone.
    assert_eq!(incident.asked().0, 1);
    assert_eq!(incident.run("reconcile --since 2h --fail-on-findings").code, Some(1));
    let csv = incident.run("reconcile --since 2h --csv --source jobs");
    assert_eq!((csv.code, csv.out.lines().count()), (Some(0), 4), "{}", csv.out);
    assert!(!csv.out.contains("unaccounted"), "another source may account for it");
    assert_eq!(incident.run("reconcile --since soon").code, Some(2));
    let narrow = incident.run("reconcile --since 5m --json");
    assert_eq!((narrow.code, narrow.each("finding").contains(&"lost".to_owned())), (Some(0), false));
}

#[test]
fn nothing_is_lost_by_a_list_that_is_not_whole() {
    let incident = Incident::new();
    incident.book.0.lock().unwrap().breaks_off = true;
    let ran = incident.run("reconcile --since 2h --json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{}", ran.err);
    assert!(ran.err.contains("ledger.charge was not listed, so 64 items were not matched"), "{}", ran.err);
}

/// What is on the list for an item does not count: it is named, whatever the item says of itself.
#[test]
fn an_item_whose_listed_answer_does_not_count_is_named() {
    let incident = Incident::new();
    // Almost the reference of an item that failed: references are changed on the way.
    incident.book.0.lock().unwrap().effects.push(("ch_f".to_owned(), "INV-1".to_owned(), 1_200));
    for command in ["reconcile --since 2h --json", "duplicates --since 2h --json"] {
        let ran = incident.run(command);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("1 item was not matched, `inv-1` among them"), "{}", ran.err);
        assert!(ran.err.contains("almost our reference"), "{}", ran.err);
    }
}

/// A list sees so far back and no further; that nothing is told of what is older is said.
#[test]
fn a_window_beyond_what_the_provider_sees_is_told() {
    let incident = Incident::new();
    for command in ["reconcile", "duplicates"] {
        let told = "ledger.charge is listed for the last 90 d alone (its `lookback`)";
        let far = incident.run(&format!("{command} --since 200d"));
        assert!(far.err.contains(told), "{}", far.err);
        let near = incident.run(&format!("{command} --since 2h"));
        assert!(!near.err.contains("lookback"), "{}", near.err);
    }
}

/// What happened twice under a reference that no item has has no story, and is told all the same.
#[test]
fn doubles_without_an_item_are_counted() {
    let incident = Incident::new();
    let ran = incident.run("duplicates --since 2h");
    assert!(!ran.err.contains("no item has"), "once is no double: {}", ran.err);
    incident.book.0.lock().unwrap().effects.push(("ch_g".to_owned(), "of-nobody".to_owned(), 1_200));
    let ran = incident.run("duplicates --since 2h");
    let told = "1 reference that no item has happened more than once too: `unstuck reconcile` shows";
    assert!(ran.err.contains(told) && ran.err.contains("1 reference happened more than once"), "{}", ran.err);
    let narrow = incident.run("duplicates --since 2h --source jobs");
    assert!(narrow.err.contains("without --source"), "{}", narrow.err);
}

/// The book knows no filter by time: what lies outside the window is left out on our side, but for the twin of what lies in it.
#[test]
fn what_lies_outside_the_window_is_left_out_by_its_own_time_and_told() {
    let incident = Incident::new();
    let page = PAGE_EFFECTS_MAX;
    // The newest stand first; what follows on a page that goes beyond the window is not read.
    incident.book.0.lock().unwrap().effects.reverse();
    let told = format!(
        "0 items and 0 effects of the last 5 min were matched ({page} effects lie outside the window, left out)"
    );
    for command in ["reconcile --since 5m --json", "duplicates --since 5m"] {
        let ran = incident.run(command);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        assert!(ran.err.contains(&told), "{}", ran.err);
    }
    // The second charge is of now, the first is an hour old: the customer was charged twice.
    let now = an_hour_ago() + 3_600;
    let moved = |created: Option<i64>| {
        let mut book = incident.book.0.lock().unwrap();
        let place = book.effects.iter().position(|(id, _, _)| id == "ch_c").unwrap();
        let second = book.effects.remove(place);
        book.effects.insert(0, second);
        book.others.insert("ch_c".to_owned(), created);
    };
    moved(Some(now));
    let ran = incident.run("duplicates --since 5m --json");
    assert_eq!(ran.each("reference"), ["done-twice"], "{}", ran.err);
    assert_eq!(ran.json()[0]["effects"], 2);
    let told = format!("2 effects of the last 5 min were matched ({} effects lie outside", page - 2);
    assert!(ran.err.contains(&told), "{}", ran.err);
    // So is one whose time nobody tells.
    moved(None);
    let ran = incident.run("reconcile --since 5m");
    assert!(ran.out.contains("done-twice"), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("1 effect tells no time that can be read, kept"), "{}", ran.err);
}

/// One by one the same holds: that there is no list is no reason to tell of last month's doubles.
#[test]
fn what_was_asked_about_alone_is_told_within_the_window_only() {
    let incident = Incident::new();
    incident.book.0.lock().unwrap().has_no_list = true;
    for number in [1, 3] {
        let mut book = incident.book.0.lock().unwrap();
        for twin in ["a", "b"] {
            book.effects.push((format!("tw_{number}{twin}"), format!("inv-{number}"), 1_200));
        }
    }
    let wide = incident.run("duplicates --since 2h --json");
    assert_eq!(wide.each("reference"), ["inv-1", "inv-3"], "{}", wide.err);
    let now = an_hour_ago() + 3_600;
    incident.book.0.lock().unwrap().others.insert("tw_3b".to_owned(), Some(now));
    let narrow = incident.run("duplicates --since 5m --json");
    assert_eq!(narrow.each("reference"), ["inv-3"], "{}", narrow.err);
    assert!(narrow.err.contains("2 effects lie outside the window, left out"), "{}", narrow.err);
}
