//! Three jobs of two hours ago and a provider that knows of one: what the tests of the commands settle.

use crate::world::{Ran, World, rows_of};
use serde_json::json;
use std::path::PathBuf;
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

const ROWS: &str = "
INSERT INTO jobs SELECT 'inv-1', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';
INSERT INTO jobs SELECT 'inv-2', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';
INSERT INTO jobs SELECT 'inv-3', 'done', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), NULL;
";

/// The incident: a folder, its database and the provider, as long as this lives.
pub struct Incident {
    pub world: World,
    pub database: PathBuf,
    _provider: MockServer,
    _runtime: tokio::runtime::Runtime,
}

impl Incident {
    /// The incident under the shipped example's configuration.
    pub fn new() -> Self {
        let world = World::new();
        let database = world.database("jobs.db", &format!("{}{ROWS}", crate::world::TABLES));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let provider = runtime.block_on(provider());
        let example =
            include_str!("../../config.example.toml").replace("http://127.0.0.1:8421", &provider.uri());
        world.write("config.toml", example);
        Self { world, database, _provider: provider, _runtime: runtime }
    }

    /// Runs the program on the configuration; arguments are parted by spaces, and `_` stands for one within a reason.
    pub fn run(&self, arguments: &str) -> Ran {
        let words: Vec<String> = arguments.split_whitespace().map(|word| word.replace('_', " ")).collect();
        let mut all = vec!["--config", "config.toml"];
        all.extend(words.iter().map(String::as_str));
        self.world.run_all(&all)
    }

    pub fn jobs(&self) -> Vec<String> {
        rows_of(&self.database, "jobs")
    }

    /// The status of a job; `None` where there is no such row.
    pub fn status_of(&self, key: &str) -> Option<String> {
        let connection = rusqlite::Connection::open(&self.database).unwrap();
        connection.query_row("SELECT status FROM jobs WHERE key = ?1", [key], |row| row.get(0)).ok()
    }

    /// The events on record, the oldest first, each with its key.
    pub fn events(&self) -> Vec<String> {
        let lines = self.run("audit list --json").json();
        let told = |line: &serde_json::Value| {
            format!("{} {}", line["event"].as_str().unwrap(), line["key"].as_str().unwrap())
        };
        lines.iter().rev().map(told).collect()
    }
}

async fn provider() -> MockServer {
    let server = MockServer::start().await;
    let charge = json!({
        "id": "ch_1", "status": "succeeded", "reference": "inv-1", "amount": 1200, "currency": "eur",
        "created": 1_800_000_000,
    });
    let list = |data: &[serde_json::Value]| {
        ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": false }))
    };
    for book in ["/v1/charges", "/v1/emails"] {
        Mock::given(method("GET"))
            .and(path(book))
            .respond_with(list(&[]))
            .with_priority(9)
            .mount(&server)
            .await;
    }
    Mock::given(method("GET"))
        .and(path("/v1/charges"))
        .and(query_param("reference", "inv-1"))
        .respond_with(list(&[charge]))
        .mount(&server)
        .await;
    server
}
