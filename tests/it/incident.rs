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
    provider: MockServer,
    runtime: tokio::runtime::Runtime,
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
        Self { world, database, provider, runtime }
    }

    /// The incident where decisions on invoices take two persons. `first` are further lines at the configuration's
    /// beginning, `policy` in the policy of invoices.
    pub fn of_two(first: &str, policy: &str) -> Self {
        let incident = Self::new();
        let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
        let two = format!("risk = \"financial\"\napprovals = 2\n{policy}\n");
        let config = config.replacen("risk = \"financial\"", &two, 1);
        incident.world.write("config.toml", format!("{first}\n{config}"));
        incident
    }

    /// The provider charges `inv-1` a second time.
    pub fn charges_again(&self) {
        let charges = [charge("ch_1"), charge("ch_2")];
        let answer = Mock::given(method("GET"))
            .and(path("/v1/charges"))
            .and(query_param("reference", "inv-1"))
            .respond_with(list(&charges))
            .with_priority(1)
            .mount(&self.provider);
        self.runtime.block_on(answer);
    }

    /// Does something that has to be waited for.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
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

fn charge(id: &str) -> serde_json::Value {
    json!({
        "id": id, "status": "succeeded", "reference": "inv-1", "amount": 1200, "currency": "eur",
        "created": 1_800_000_000,
    })
}

fn list(data: &[serde_json::Value]) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": false }))
}

async fn provider() -> MockServer {
    let server = MockServer::start().await;
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
        .respond_with(list(&[charge("ch_1")]))
        .mount(&server)
        .await;
    server
}
