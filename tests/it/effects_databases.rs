//! Providers that are a table of a database, through the real program on each engine: one by one, by the list, both ways, and what
//! `doctor` sees. The preset is the built-in `sql_ledger`, or the ten lines that the page on providers shows.

use crate::databases::Database;
use crate::world::{Ran, TABLES, World};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::collections::BTreeMap;
use unstuck::preset::source::Engine;

/// The ledger as each engine declares it, with an hour ago in its own words.
fn ledger(engine: Engine) -> (&'static str, &'static str) {
    match engine {
        Engine::Sqlite => (
            "CREATE TABLE ledger_entries (id INTEGER PRIMARY KEY, reference TEXT, status TEXT, amount TEXT, currency TEXT, created_at TEXT)",
            "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hours')",
        ),
        Engine::Postgres => (
            "CREATE TABLE ledger_entries (id bigint PRIMARY KEY, reference text, status text, amount numeric(20, 4), currency char(3), created_at timestamptz)",
            "now() - interval '1 hour'",
        ),
        Engine::Mysql => (
            "CREATE TABLE ledger_entries (id BIGINT PRIMARY KEY, reference VARCHAR(64), status VARCHAR(20), amount DECIMAL(20, 4), currency CHAR(3), created_at DATETIME(6))",
            "utc_timestamp(6) - interval 1 hour",
        ),
    }
}

const KEYS: [&str; 6] = ["once", "twice", "never", "open", "declined", "other"];

/// Jobs that timed out, and what the ledger has of them.
struct Incident {
    world: World,
    database: Database,
}

impl Incident {
    fn new(engine: Engine, further_items: usize) -> Option<Self> {
        let database = Database::new(engine)?;
        let (create, hour_ago) = ledger(engine);
        database.execute(create);
        let mut id = 0;
        let mut add = |reference: &str, status: &str, amount: &str| {
            id += 1;
            database.execute(&format!(
                "INSERT INTO ledger_entries VALUES ({id}, '{reference}', '{status}', {amount}, 'EUR', {hour_ago})"
            ));
        };
        for (reference, status, amount) in [
            ("once", "booked", "12"),
            ("twice", "booked", "12"),
            ("twice", "booked", "12"),
            ("open", "pending", "12"),
            ("declined", "rejected", "12"),
            ("other", "booked", "99.5"),
            ("done-twice", "booked", "12"),
            ("done-twice", "booked", "12"),
            ("of-nobody", "booked", "1"),
        ] {
            add(reference, status, amount);
        }
        let world = World::new();
        let mut rows = String::new();
        let mut job = |key: &str, status: &str, error: &str| {
            rows += &format!(
                "INSERT INTO jobs SELECT '{key}', '{status}', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-1 hours'), {error};"
            );
        };
        for key in KEYS {
            job(key, "failed", "'Read timed out'");
        }
        for number in 0..further_items {
            job(&format!("more-{number}"), "failed", "'Read timed out'");
        }
        job("done-twice", "done", "NULL");
        world.database("jobs.db", &format!("{TABLES}{rows}"));
        let incident = Self { world, database };
        incident.configure("preset = \"sql_ledger\"");
        Some(incident)
    }

    /// A configuration with further lines of the provider.
    fn configure(&self, provider: &str) {
        let url = self.database.url();
        self.world.write(
            "config.toml",
            format!(
                "[audit]\npath = \"audit.db\"\n\n[[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\nkind = \"invoice\"\n\n\
                 [kinds.invoice]\nrisk = \"financial\"\ncheck = \"ledger.entry\"\nreference = \"{{{{ key }}}}\"\namount = \"12.00\"\ncurrency = \"EUR\"\n\n\
                 [providers.ledger]\n{provider}\ndatabase = \"{url}\"\n"
            ),
        );
    }

    fn run(&self, arguments: &str) -> Ran {
        self.world.run(&format!("--config config.toml {arguments}"))
    }

    fn verdicts(&self, arguments: &str) -> BTreeMap<String, String> {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.each("key").into_iter().zip(ran.each("verdict")).collect()
    }
}

fn expected() -> BTreeMap<String, String> {
    let verdicts = ["happened", "duplicated", "not_found", "pending", "failed", "mismatch"];
    KEYS.iter().zip(verdicts).map(|(key, verdict)| ((*key).to_owned(), verdict.to_owned())).collect()
}

#[rstest]
fn a_ledger_table_is_asked_one_by_one(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
) {
    let Some(incident) = Incident::new(engine, 0) else { return };
    assert_eq!(incident.verdicts("check --all --json"), expected());
    let told = incident.run("check once --json").json().remove(0);
    assert_eq!((&told["advice"], &told["effects"]), (&"mark_done".into(), &1.into()));
    assert_eq!(told["effect_ids"][0], "1");
    assert_eq!(incident.run("audit verify").code, Some(0));
    let export = incident.run("audit export").out;
    assert!(
        export.contains("\"SQL\"") && export.contains("FROM") && export.contains("ledger_entries"),
        "{export}"
    );

    let doctor = incident.run("doctor --json");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    let lines = doctor.json();
    let line = |what: &str| {
        let own =
            |line: &&serde_json::Value| line["subject"] == "provider ledger.entry" && line["what"] == what;
        lines.iter().find(own).unwrap_or_else(|| panic!("no {what}: {}", doctor.out))
    };
    assert_eq!(line("server")["health"], "good");
    assert_eq!(line("index")["health"], "doubtful", "nobody made one");
    assert_eq!(line("statuses")["health"], "good");
    assert_eq!(line("clock")["health"], "good");
}

#[rstest]
fn many_are_read_from_one_query_and_say_the_same(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
) {
    let Some(incident) = Incident::new(engine, 30) else { return };
    let plan = incident.run("check --all --plan");
    assert!(plan.err.contains("ledger.entry: 36 findings by listing"), "{}", plan.err);
    let listed = incident.verdicts("check --all --json");
    assert_eq!(listed, incident.verdicts("check --all --json --by item"));
    assert_eq!(listed.len(), 36);
    assert!(expected().iter().all(|(key, verdict)| listed[key] == *verdict), "{listed:?}");
    let events = incident.run("audit list --json --limit 500").each("event");
    assert_eq!(events.iter().filter(|event| *event == "listed").count(), 1);

    let ran = incident.run("reconcile --since 2h --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut told: Vec<String> = ran
        .json()
        .iter()
        .map(|line| {
            let named = line["key"].as_str().or(line["reference"].as_str()).unwrap();
            format!("{} {named}", line["finding"].as_str().unwrap())
        })
        .collect();
    told.sort();
    assert_eq!(told, ["duplicate done-twice", "duplicate twice", "mismatch other", "unaccounted of-nobody"]);
}

/// A decision asks again, right before the write.
#[rstest]
fn a_decision_rests_on_the_ledger(#[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine) {
    let Some(incident) = Incident::new(engine, 0) else { return };
    let done = incident.run("decide once --source jobs --done --reason booked");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let refused = incident.run("decide twice --source jobs --retry --reason again");
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    assert_eq!(incident.verdicts("check --all --json").get("once"), None, "it is no finding any more");
}

#[rstest]
#[case::table("preset = \"ledger_table\"", "has no table `ledger_of_nobody`")]
#[case::column("preset = \"ledger_column\"", "`ledger_entries` has no column `ref_no`")]
fn what_is_not_as_the_preset_says_is_unknown(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
    #[case] provider: &str,
    #[case] told: &str,
) {
    let Some(incident) = Incident::new(engine, 0) else { return };
    std::fs::create_dir(incident.world.path("presets")).unwrap();
    let own = |name: &str, table: &str, reference: &str| {
        let text = format!(
            "type = \"provider\"\nname = \"{name}\"\ntitle = \"x\"\n[operations.entry]\nsettle = \"5m\"\nlookback = \"90d\"\n\
             sql = {{ table = \"{table}\", id = \"id\", reference = \"{reference}\", status = \"status\" }}\n\
             statuses = {{ happened = [\"booked\"] }}\n"
        );
        incident.world.write(&format!("presets/{name}.toml"), text);
    };
    own("ledger_table", "ledger_of_nobody", "reference");
    own("ledger_column", "ledger_entries", "ref_no");
    incident.configure(provider);
    let ran = incident.run("check never --json");
    let line = ran.json().remove(0);
    assert_eq!((&line["verdict"], &line["advice"]), (&"unknown".into(), &"escalate".into()));
    assert!(line["reasons"][0].as_str().unwrap().contains(told), "{line}");
    let doctor = incident.run("doctor");
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.out.contains(told), "{}", doctor.out);
}

/// The preset that the page on providers shows for a table of one's own reads the table that stands above it.
#[test]
fn the_preset_for_a_table_of_ones_own_works() {
    let page = include_str!("../../docs/providers.md");
    let (_, own) = page.split_once("## A table of your own").unwrap();
    let block =
        |language: &str| own.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0;
    let (create, preset) = (block("sql"), block("toml"));
    assert!(preset.lines().count() <= 12, "about ten lines");
    let incident = Incident::new(Engine::Sqlite, 0).unwrap();
    incident.database.execute(create);
    std::fs::create_dir(incident.world.path("presets")).unwrap();
    incident.world.write("presets/bookings.toml", preset);
    incident.configure("preset = \"bookings\"");
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    incident.world.write("config.toml", config.replace("ledger.entry", "ledger.booking"));
    assert_eq!(incident.verdicts("check --all --json")["once"], "happened");
    assert_eq!(incident.verdicts("check --all --json")["never"], "not_found");
}
