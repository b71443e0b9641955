//! A report of an incident with 500 decisions, every number of it counted again from the audit.

use crate::incident::Incident;
use crate::ledger::Ledger;
use crate::world::{Ran, TABLES, World};
use pretty_assertions::assert_eq;
use rusqlite::Connection;
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;

/// How many jobs a provider knows an effect of, how many it does not, and how many of those are handed on.
const CHARGED: usize = 250;
const ABSENT: usize = 245;

/// An incident that was settled with 500 decisions: marked done, tried again, handed on, refused.
struct Settled {
    world: World,
    _ledger: Ledger,
}

impl Settled {
    fn new() -> Self {
        let (world, ledger) = (World::in_memory(), Ledger::new());
        let rows = format!(
            "{TABLES}
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {CHARGED})
             INSERT INTO jobs SELECT printf('charged-%d', i), 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'),
               'Read timed out' FROM n;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ABSENT})
             INSERT INTO jobs SELECT printf('absent-%d', i), 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'),
               'Read timed out' FROM n;
             INSERT INTO jobs SELECT 'done-1', 'done', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), NULL;
             INSERT INTO jobs SELECT 'odd|<b>-1', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';
             INSERT INTO jobs SELECT 'left-1', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';"
        );
        world.database("jobs.db", &rows);
        world.write("config.toml", ledger.configuration());
        let settled = Self { world, _ledger: ledger };
        settled.settle();
        settled
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.world.run_all(&[&["--config", "config.toml"], arguments].concat())
    }

    fn settle(&self) {
        let opened = self.run(&[
            "incident",
            "open",
            "card outage",
            "--since",
            "3h",
            "--note",
            "time-outs since the deploy",
        ]);
        assert_eq!(opened.code, Some(0), "{opened:?}");
        let ends = [
            (vec!["decide", "done-1", "--source", "jobs", "--done", "--reason", "is it not done?"], Some(1)),
            (vec!["decide", "absent-1", "--source", "jobs", "--done", "--reason", "I think so"], Some(1)),
            (vec!["decide", "charged-1", "--source", "jobs", "--retry", "--reason", "again"], Some(1)),
            (
                vec![
                    "decide",
                    "odd|<b>-1",
                    "--source",
                    "jobs",
                    "--escalate",
                    "--reason",
                    "who <script> is this?",
                ],
                Some(0),
            ),
            (
                vec![
                    "decide",
                    "charged-2",
                    "--source",
                    "jobs",
                    "--escalate",
                    "--override",
                    "--reason",
                    "the bank asks",
                ],
                Some(0),
            ),
            (
                vec![
                    "decide",
                    "--all",
                    "--where",
                    "kind:invoice key:charged",
                    "--done",
                    "--reason",
                    "charged",
                ],
                None,
            ),
            (
                vec![
                    "decide",
                    "--all",
                    "--where",
                    "kind:invoice key:absent",
                    "--retry",
                    "--reason",
                    "never arrived",
                ],
                None,
            ),
            (vec!["check", "left-1"], Some(0)),
            (vec!["incident", "note", "card outage", "the provider | is back"], Some(0)),
            (vec!["incident", "close", "card outage", "--note", "all settled"], Some(0)),
        ];
        for (arguments, code) in ends {
            let ran = self.run(&arguments);
            assert!(code.is_none_or(|code| ran.code == Some(code)), "{arguments:?}: {ran:?}");
        }
    }

    fn report(&self, format: &str) -> String {
        let ran = self.run(&["report", "--incident", "card outage", "--format", format]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.out
    }

    /// What a question to the audit answers, one row after the other.
    fn ask(&self, sql: &str) -> Vec<Vec<String>> {
        ask(&self.world, sql)
    }
}

/// What a question to a folder's audit answers, one row after the other.
fn ask(world: &World, sql: &str) -> Vec<Vec<String>> {
    let audit = Connection::open(world.path("audit.db")).unwrap();
    let mut statement = audit.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<String>> {
        (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at).map(shown)).collect()
    };
    statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

fn count(world: &World, sql: &str) -> u64 {
    ask(world, sql)[0][0].parse().unwrap()
}

fn shown(value: rusqlite::types::Value) -> String {
    match value {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        rusqlite::types::Value::Null => String::new(),
        other => panic!("{other:?}"),
    }
}

/// The last word of each decision.
const ENDS: &str = "WITH ends AS (
  SELECT e.decision, e.source, e.key, e.event, e.seq, first.body AS opening, first.operator
    FROM entries e JOIN (SELECT decision, max(seq) AS last, min(seq) AS begun FROM entries WHERE decision <> '' GROUP BY 1) d
      ON e.seq = d.last JOIN entries first ON first.seq = d.begun)";
/// The last answer about each item.
const LASTS: &str = "WITH answers AS (
  SELECT source, key, seq, CASE event WHEN 'checked' THEN body ELSE json_extract(body, '$.check') END AS answer FROM entries
   WHERE event = 'checked' OR json_extract(body, '$.check.verdict') IS NOT NULL),
  lasts AS (SELECT * FROM answers WHERE seq IN (SELECT max(seq) FROM answers GROUP BY source, key))";

/// The numbers of a report, counted from a folder's audit.
pub fn recounted(world: &World) -> BTreeMap<&'static str, u64> {
    let of_event =
        |event: &str| count(world, &format!("SELECT count(*) FROM entries WHERE event = '{event}'"));
    let ended =
        |event: &str| count(world, &format!("{ENDS} SELECT count(*) FROM ends WHERE event = '{event}'"));
    BTreeMap::from([
        ("decisions", count(world, "SELECT count(DISTINCT decision) FROM entries WHERE decision <> ''")),
        ("applied", ended("applied")),
        ("refused", ended("refused")),
        ("failed", ended("failed")),
        ("unfinished", ended("intended")),
        ("waiting", ended("proposed")),
        ("withdrawn", ended("withdrawn")),
        ("lapsed", ended("lapsed")),
        ("by_two", count(world, "SELECT count(*) FROM entries WHERE event = 'intended' AND json_extract(body, '$.approval') IS NOT NULL")),
        (
            "insisted",
            count(world, "SELECT count(DISTINCT decision) FROM entries WHERE decision <> '' AND json_extract(body, '$.insisted') = 1"),
        ),
        ("items", count(world, &format!("{LASTS} SELECT count(*) FROM lasts"))),
        ("checks", of_event("checked")),
        ("lists", of_event("listed")),
        ("dry_runs", of_event("dry_run")),
        ("unmasked", of_event("unmasked")),
        (
            "open_items",
            count(world, &format!(
                "{LASTS} SELECT count(*) FROM lasts WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.event = 'applied'
                   AND e.source = lasts.source AND e.key = lasts.key AND e.seq > lasts.seq)"
            )),
        ),
    ])
}

/// The sums that the decisions add up to, counted as cents from what the provider told.
fn recounted_money(settled: &Settled) -> BTreeMap<String, String> {
    let rows = settled.ask(
        "SELECT json_extract(i.body, '$.choice'), json_extract(i.body, '$.check.effects_told[0].currency'),
                sum(CAST(round(json_extract(i.body, '$.check.effects_told[0].amount') * 100) AS INTEGER))
           FROM entries i JOIN entries a ON a.decision = i.decision AND a.event = 'applied'
          WHERE i.event = 'intended' AND json_extract(i.body, '$.check.effects_told[0].amount') IS NOT NULL GROUP BY 1, 2",
    );
    let sum = |cents: &str| Decimal::new(cents.parse().unwrap(), 2).normalize().to_string();
    rows.iter().map(|row| (format!("{} {}", row[0], row[1]), sum(&row[2]))).collect()
}

/// The numbers that a page marks as such.
pub fn marked(page: &str) -> BTreeMap<String, u64> {
    let marked = page.split("<data data-n=\"").skip(1).map(|rest| {
        let (name, rest) = rest.split_once("\">").unwrap();
        (name.to_owned(), rest.split_once("</data>").unwrap().0.parse().unwrap())
    });
    marked.collect()
}

/// The rows of the table whose first head cell says so, each cell without its tags.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(&format!("<thead><tr><th>{head}</th>")).unwrap();
    let body = rest.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cells = |row: &str| {
        row.split("<td")
            .skip(1)
            .map(|cell| cell.split_once('>').unwrap().1.split_once("</td>").unwrap().0.to_owned())
            .collect()
    };
    body.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn every_number_of_a_report_is_in_the_audit() {
    let settled = Settled::new();
    let expected = recounted(&settled.world);
    assert_eq!(expected["decisions"], 500);
    assert_eq!((expected["refused"], expected["insisted"], expected["open_items"]), (3, 1, 1));

    let json: Value = serde_json::from_str(&settled.report("json")).unwrap();
    let page = settled.report("html");
    let text = settled.report("md");
    let mut told = marked(&page);
    let in_window = "event NOT IN ('closed')";
    assert_eq!(
        told.remove("entries"),
        Some(count(&settled.world, &format!("SELECT count(*) FROM entries WHERE {in_window}")))
    );
    let findings = settled.run(&["list", "--json"]).json().len() as u64;
    assert_eq!(
        (told.remove("findings_now"), json["now"]["findings"].as_u64()),
        (Some(findings), Some(findings))
    );
    for (name, count) in &expected {
        assert_eq!(json["counts"][name].as_u64(), Some(*count), "{name} in JSON");
        assert_eq!(told.remove(*name), Some(*count), "{name} on the page");
    }
    assert_eq!(told, BTreeMap::new(), "numbers that nobody counted again");
    assert_eq!(json["counts"].as_object().unwrap().len(), expected.len());
    // The list of Markdown has them in the order of the page.
    let listed: Vec<u64> = text
        .split_once("## In short\n\n")
        .unwrap()
        .1
        .lines()
        .take_while(|line| line.starts_with("- "))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(listed.iter().sum::<u64>(), expected.values().sum::<u64>());
    assert_eq!((listed.len(), listed[0], listed[1]), (expected.len(), 500, expected["applied"]));

    // By choice, by verdict, by operator.
    let by_choice = settled.ask(&format!(
        "{ENDS} SELECT json_extract(opening, '$.choice'), sum(event = 'applied'), sum(event = 'refused'), sum(event = 'failed'),
           sum(event NOT IN ('applied', 'refused', 'failed')) FROM ends GROUP BY 1 ORDER BY 1"
    ));
    let words = |mut rows: Vec<Vec<String>>| {
        for row in &mut rows {
            row[0] = row[0].replace('_', " ");
        }
        rows
    };
    assert_eq!(table(&page, "chosen"), words(by_choice));
    let by_verdict = settled.ask(&format!(
        "{LASTS} SELECT json_extract(answer, '$.verdict'), count(*) FROM lasts GROUP BY 1 ORDER BY 1"
    ));
    assert_eq!(table(&page, "last verdict"), words(by_verdict));
    let by_operator = settled.ask(&format!(
        "{ENDS} SELECT operator, count(*), sum(event = 'applied') FROM ends GROUP BY 1 ORDER BY 1"
    ));
    assert_eq!(table(&page, "operator"), by_operator);

    // Money.
    let expected = recounted_money(&settled);
    assert_eq!(expected.keys().map(String::as_str).collect::<Vec<_>>(), ["escalate EUR", "mark_done EUR"]);
    let sums = &json["money"][0];
    for (field, choice) in [("marked_done", "mark_done EUR"), ("escalated", "escalate EUR")] {
        assert_eq!(sums[field], expected[choice].as_str(), "{field}");
    }
    let row = ["EUR", &expected["mark_done EUR"], "0", &expected["escalate EUR"], "0"];
    assert_eq!(table(&page, "currency"), [row.map(str::to_owned)]);
    assert!(text.contains(&format!("| {} |\n", row.join(" | "))), "money in Markdown");

    decisions_are_those_of_the_audit(&settled, &json, &page, &text);
}

/// Each decision with its evidence: hash, verdict, effects, operator, reason, outcome, entries.
fn decisions_are_those_of_the_audit(settled: &Settled, json: &Value, page: &str, text: &str) {
    let rows = settled.ask(&format!(
        "{ENDS} SELECT ends.decision, key, event, operator, json_extract(opening, '$.reason'),
           coalesce(json_extract(opening, '$.check.verdict'), ''), coalesce(json_extract(opening, '$.check.evidence.hash'), ''),
           coalesce(json_extract(opening, '$.check.effects'), ''), coalesce(json_extract(opening, '$.check.effect_ids[0]'), ''),
           (SELECT group_concat(seq, ' ') FROM (SELECT seq FROM entries x WHERE x.decision = ends.decision ORDER BY seq))
           FROM ends ORDER BY (SELECT min(seq) FROM entries y WHERE y.decision = ends.decision)"
    ));
    let text_of = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.as_u64().map(|n| n.to_string()).unwrap_or_default(), str::to_owned)
    };
    let decisions = json["decisions"].as_array().unwrap();
    let told: Vec<Vec<String>> = decisions
        .iter()
        .map(|one| {
            let entries: Vec<String> =
                one["entries"].as_array().unwrap().iter().map(Value::to_string).collect();
            let fields =
                ["decision", "key", "outcome", "operator", "reason", "verdict", "evidence", "effects"];
            let mut row: Vec<String> = fields.iter().map(|field| text_of(&one[field])).collect();
            row.extend([text_of(&one["effect_ids"][0]), entries.join(" ")]);
            row
        })
        .collect();
    assert_eq!(told, rows);
    let sheet = settled.report("csv");
    let mut reader = csv::Reader::from_reader(sheet.as_bytes());
    let in_sheet: Vec<Vec<String>> = reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            [0, 4, 7, 11, 9, 15, 21, 17, 18, 22].map(|at| row[at].to_owned()).to_vec()
        })
        .collect();
    assert_eq!(in_sheet, rows);
    assert_eq!(page.matches("<tr class=\"decision\">").count(), rows.len());
    assert_eq!(text.matches("\n### ").count(), rows.len());
    // Shown, and not run.
    assert!(
        page.contains("odd|&lt;b&gt;-1")
            && page.contains("who &lt;script&gt; is this?")
            && !page.contains("<script")
    );
    assert!(text.contains("odd\\|&lt;b>-1") && !text.contains("<script"));
    for line in text.lines() {
        assert!(line.chars().count() < 400, "too long for a pager: {line}");
    }
}

#[test]
fn an_incident_is_opened_noted_and_closed() {
    let incident = Incident::new();
    let opened = incident.run("incident open card_outage --since 2026-11-30T07:30 --note it_began");
    assert_eq!(
        (opened.code, opened.out.as_str()),
        (Some(0), "card outage: open since 2026-11-30T07:30:00Z (audit entry 1)\n")
    );
    assert_eq!(incident.run("incident open Card_outage").code, Some(1), "one of a name is open at a time");
    assert_eq!(incident.run("incident note card_outage token:_sk_live_51Habcdefghijklmnop").code, Some(0));
    assert_eq!(incident.run("incident note mail x").code, Some(1));
    assert_eq!(incident.run("incident close card_outage --note over").code, Some(0));
    assert_eq!(incident.run("incident close card_outage").code, Some(1));
    assert_eq!(incident.run("incident open card_outage --since 9999-01-01").code, Some(2));
    let listed = incident.run("incident list --json");
    assert_eq!(listed.each("name"), ["card outage"]);
    let line = &listed.json()[0];
    let texts: Vec<&str> =
        line["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), texts[0], texts[2]), (3, "it began", "over"));
    assert!(!listed.out.contains("sk_live"), "{}", listed.out);
    assert_eq!(incident.events(), ["opened incident", "noted incident", "closed incident"]);
    assert_eq!(incident.run("audit verify").code, Some(0));
}

#[test]
fn a_report_overwrites_nothing_and_says_what_it_misses() {
    let incident = Incident::new();
    incident.run("check --all");
    let written = incident.run("report --since 1h --output report.md");
    assert_eq!((written.code, written.err.as_str()), (Some(0), "Written to report.md.\n"));
    let again = incident.run("report --since 1h --output report.md");
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_eq!(incident.run("report --incident nothing").code, Some(1));
    assert_eq!(incident.run("report --since 1h --until 2h").code, Some(2));
    std::fs::remove_file(&incident.database).unwrap();
    let unread = incident.run("report --since 1h");
    assert_eq!(unread.code, Some(3));
    assert!(unread.out.contains("- jobs could not be read: what it holds is not known"), "{}", unread.out);
}

/// Whoever only has `--db` finds what it put on record, without naming a file.
#[test]
fn the_audit_of_a_database_without_configuration_is_found() {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!("{TABLES} INSERT INTO jobs VALUES ('a', 'failed', '2026-05-04 10:00:00', 'timed out')"),
    );
    assert_eq!(world.run("check --all --db sqlite://jobs.db").code, Some(0));
    for audit in [
        "audit list --json",
        "audit list --json --db sqlite://jobs.db",
        "audit list --json --db sqlite://gone.db",
    ] {
        let ran = world.run(audit);
        assert_eq!((ran.code, ran.each("key")), (Some(0), vec!["a".to_owned()]), "{audit}: {ran:?}");
    }
    assert_eq!(world.run("audit verify").code, Some(0));
    let report = world.run("report --since 1h");
    assert_eq!(report.code, Some(0), "{report:?}");
    assert!(report.out.contains("No source was looked at"), "{}", report.out);
    let with_sources = world.run("report --since 1h --db sqlite://jobs.db");
    assert!(with_sources.out.contains("Findings now: 1."), "{}", with_sources.out);
}
