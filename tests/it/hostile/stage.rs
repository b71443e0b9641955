//! A place where every text that comes from outside means harm: `tests/fixtures/hostile/texts/`, in every field there is.

use super::server::{Act, Asked, Server, answer, tells};
use crate::world::World;
use rusqlite::Connection;
use std::path::Path;

/// Every hostile text by its name, bytes as they are.
pub fn texts() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hostile/texts");
    let mut texts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    texts.sort();
    assert!(texts.len() >= 25, "{} texts", texts.len());
    texts
}

/// The texts that are UTF-8, joined, without NUL: for places that can hold neither (arguments, variables, names of tables).
pub fn all_in_one() -> String {
    let texts = texts().into_iter().filter(|(name, _)| !["combining", "wide"].contains(&name.as_str()));
    texts.filter_map(|(_, bytes)| String::from_utf8(bytes).ok()).collect::<String>().replace('\0', "")
}

/// A short one, for names of files: they have a limit, and cannot have a slash.
pub const FILE: &str = "j\u{1b}[31m\u{9b}1m\u{202e}\u{200b}\u{7}=é";

/// A text as TOML writes it.
pub fn quoted(text: &str) -> String {
    let escaped =
        text.chars().fold(String::new(), |all, character| format!("{all}\\U{:08x}", character as u32));
    format!("\"{escaped}\"")
}

/// A text as JSON writes it.
pub fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name as SQL writes it.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The place, its databases, its configuration, and a provider and a webhook that mean harm.
pub struct Stage {
    pub world: World,
    pub server: Server,
}

impl Stage {
    pub fn new() -> Self {
        let (world, server) = (World::new(), Server::start(provider()));
        fill(&world.path(&format!("{FILE}.db")));
        std::fs::create_dir(world.path("presets")).unwrap();
        world.write("presets/hostile.toml", preset());
        world.write("config.toml", configuration(&server.base));
        Self { world, server }
    }

    /// Runs the program as a hostile operator; bytes that are no text fail the test.
    pub fn run(&self, arguments: &[&str]) -> crate::world::Ran {
        let mut command = self.world.command();
        command.env("UNSTUCK_OPERATOR", all_in_one());
        let output = command.args(["--config", "config.toml"]).args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        crate::world::Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Each text as key, status, error and payload of a row of its own, in a table whose every name is hostile.
fn fill(path: &Path) {
    let all = all_in_one();
    let connection = Connection::open(path).unwrap();
    let (table, column) = (name(&format!("t{all}")), |short: &str| name(&format!("{short}{all}")));
    connection
        .execute_batch(&format!(
            "CREATE TABLE jobs (key, status, updated_at, last_error);
             CREATE TABLE {table} ({}, {}, {}, {}, {}, {});",
            column("k"),
            column("s"),
            column("e"),
            column("p"),
            column("u"),
            column("q"),
        ))
        .unwrap();
    for (_, bytes) in texts() {
        // Bad UTF-8 too: SQLite calls it a text.
        let sql = "INSERT INTO jobs VALUES (CAST(?1 AS TEXT), 'failed', CAST(?1 AS TEXT), CAST(?1 AS TEXT))";
        connection.execute(sql, [&bytes]).unwrap();
        let sql = format!(
            "INSERT INTO {table} VALUES (CAST('o' || ?1 AS TEXT), 'failed', CAST(?1 AS TEXT), CAST(?1 AS TEXT),
                                         strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'q')"
        );
        connection.execute(&sql, [&bytes]).unwrap();
    }
    let sql = format!("INSERT INTO {table} VALUES ('odd', 'odd' || ?1, ?1, ?2, ?1, ?1)");
    connection.execute(&sql, [&all, &format!("{{{}:{}}}", json(&all), json(&all))]).unwrap();
}

fn preset() -> String {
    let all = quoted(&all_in_one());
    format!(
        r#"
type = "provider"
name = "hostile"
title = {all}
verified_with = [{all}]
source = {all}
auth = {{ kind = "bearer" }}
pace_per_second = 1000
[limits]
tries_max = 1
[operations.charge]
title = {all}
settle = "1s"
lookback = "90d"
path = "/v1/charges"
query = {{ reference = "{{{{ reference }}}}" }}
success = [{{ path = "$.error", exists = false }}]
effects = {{ list = "$.data", id = "$.id", reference = "$.reference", status = "$.status", amount = "$.amount", currency = "$.currency", unit = "minor", time = "$.created", time_format = "iso", link = "$.link" }}
statuses = {{ happened = ["succeeded", {all}] }}
paging = {{ kind = "none" }}
[operations.silent]
unanswerable = {all}
"#
    )
}

fn configuration(base: &str) -> String {
    let all = all_in_one();
    let named = |short: &str| quoted(&format!("{short}{all}"));
    let url = quoted(&format!("sqlite://{FILE}.db"));
    format!(
        r#"
operator = {operator}
[audit]
path = "audit.db"
[receipts]
path = {receipts}
[[sources]]
name = {source}
url = {url}
preset = "jobs"
kind = {kind}
[[sources]]
name = "mapped"
url = {url}
kind = {kind}
[sources.mapping]
table = {table}
key = {key}
status = {status}
error = {error}
payload = {payload}
version = [{status}]
times = {{ format = "iso", updated = {updated} }}
state = [
    {{ is = "running", when = {{ {status} = ["running"] }} }},
    {{ is = "failed", when = {{ {status} = ["failed"] }} }},
    {{ is = "done", when = {{ {status} = ["done"] }} }},
]
[sources.mapping.decisions]
late_writer = "unguarded"
retry = {{ unsupported = {why} }}
[kinds.{kind}]
risk = "check_first"
check = "hostile.charge"
reference = "{{{{ key }}}}"
mask = [{operator}]
[kinds.silent]
risk = "safe"
check = "hostile.silent"
[providers.hostile]
base_url = "{base}"
secret_env = "UNSTUCK_LEDGER_TOKEN"
[escalation]
url = "{base}/hook"
"#,
        operator = quoted(&all),
        receipts = quoted(&format!("{FILE}.jsonl")),
        source = named("source"),
        kind = named("kind"),
        table = named("t"),
        key = named("k"),
        status = named("s"),
        error = named("e"),
        payload = named("p"),
        updated = named("u"),
        why = named("why"),
    )
}

/// Answers in turn with every field that an answer has.
fn provider() -> Act {
    let all = all_in_one();
    tells(move |asked: &Asked| {
        let head =
            |status: &str, headers: &str| answer(status, headers, format!("{{\"error\":{}}}", json(&all)));
        // What a header can hold: no control characters, but those of Latin-1.
        let header: String = all.chars().filter(|character| !character.is_ascii_control()).collect();
        if asked.head.starts_with("POST") {
            return head("400 Bad", &format!("X-Hostile: {header}\r\n"));
        }
        let reference: String =
            url::form_urlencoded::parse(format!("r={}", asked.query("reference")).as_bytes())
                .map(|(_, value)| value.into_owned())
                .collect();
        let effect = |id: &str, status: &str, currency: &str, created: &str| {
            let body = format!(
                r#"{{"data":[{{"id":{},"reference":{},"status":{},"amount":1200,"currency":{},"created":{},"link":{}}}]}}"#,
                json(id),
                json(&reference),
                json(status),
                json(currency),
                json(created),
                json(&format!("https://x/{all}"))
            );
            answer("200 OK", &format!("X-Hostile: {header}\r\n"), body)
        };
        let cut: String = all.chars().take(400).collect();
        match asked.nth % 9 {
            0 => effect(&cut, "succeeded", "eur", "2026-05-04T10:00:00Z"),
            1 => effect("ch_1", &all, "eur", "2026-05-04T10:00:00Z"),
            2 => effect("ch_1", "succeeded", &all, "2026-05-04T10:00:00Z"),
            3 => effect("ch_1", "succeeded", "eur", &all),
            4 => head("401 No", &format!("X-Hostile: {header}\r\n")),
            5 => head("302 Found", &format!("Location: {header}\r\n")),
            6 => head("200 OK", &format!("Content-Encoding: {header}\r\n")),
            7 => head("200 OK", ""),
            _ => answer("200 OK", "", all.as_bytes()),
        }
    })
}
