//! An engine with a fresh database for one test: its tables are made and changed as an application would, beside the source.

mod mysql;
mod postgres;
mod sqlite;

use crate::adapters::sql::effects::EffectsDatabase;
use crate::adapters::sql::{Address, quoted};
use crate::adapters::system;
use crate::domain::text::escape_bytes;
use crate::ports::source::Source;
use crate::preset::catalogue::Catalogue;
use crate::preset::source::file::SourceFile;
use crate::preset::source::{Engine, SourcePreset};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A mapping of an own table, with everything that a test does not care about.
pub(super) const MAPPING: &str = r#"
table = "t"
key = "k"
status = "s"
version = ["s"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
"#;

/// How long a condition is waited for before a test fails.
const WAITS_MAX: Duration = Duration::from_secs(20);
/// How long between two looks at a condition.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// A row as the engine prints it; `None` for NULL.
pub(super) type Printed = Vec<Option<Vec<u8>>>;

/// What each engine brings.
#[async_trait]
trait Bench: Send + Sync {
    /// How it spells `{name}` and the like.
    fn words(&self) -> &'static [(&'static str, &'static str)];

    /// Bytes as a literal, from their digits.
    fn bytes(&self, digits: &str) -> String;

    /// A source over the database, and whether it is still there to be asked.
    fn source(&self, preset: SourcePreset) -> Box<dyn Source>;

    /// The database as one that holds effects.
    fn effects(&self) -> Box<dyn EffectsDatabase>;

    /// Another session, as an application has one.
    async fn session(&self) -> Box<dyn Session>;

    /// A query that counts the sessions waiting for somebody's row; `None` where the engine does not tell.
    fn waiting(&self) -> Option<&'static str>;

    /// A query that counts the running statements that hold a word; `None` where the engine does not tell.
    fn running(&self, word: &str) -> Option<String>;

    /// Where the database is, as faults tell it.
    fn place(&self) -> String;
}

/// A connection of an application's.
#[async_trait]
pub(super) trait Session: Send {
    /// Runs statements.
    async fn run(&mut self, sql: &str) -> Result<(), String>;

    /// The rows of a query.
    async fn rows(&mut self, sql: &str) -> Vec<Printed>;
}

/// A fresh database of one engine.
pub(super) struct Db {
    pub(super) engine: Engine,
    bench: Box<dyn Bench>,
}

impl Db {
    /// A database with these tables and rows; `None` where the environment names no server of the engine.
    ///
    /// Types are written `{name}` (a text that may be a key), `{text}`, `{int}`, `{real}`, `{bytes}` and `{moment}`;
    /// bytes `{x:CAFE}`. Identifiers are quoted with `"`, texts joined with `||`.
    pub(super) async fn with(engine: Engine, sql: &str) -> Option<Self> {
        let bench: Box<dyn Bench> = match engine {
            Engine::Sqlite => Box::new(sqlite::File::new()),
            Engine::Postgres => {
                Box::new(postgres::Database::new(&server("UNSTUCK_TEST_POSTGRES")?, "").await)
            }
            Engine::Mysql => Box::new(mysql::Database::new(&server("UNSTUCK_TEST_MYSQL")?).await),
        };
        let db = Self { engine, bench };
        db.run(sql).await;
        Some(db)
    }

    /// A PostgreSQL database that was made with these options.
    pub(super) async fn postgres_with(options: &str, sql: &str) -> Option<Self> {
        let bench = postgres::Database::new(&server("UNSTUCK_TEST_POSTGRES")?, options).await;
        let db = Self { engine: Engine::Postgres, bench: Box::new(bench) };
        db.run(sql).await;
        Some(db)
    }

    /// SQL in the engine's own words.
    pub(super) fn spell(&self, sql: &str) -> String {
        let mut spelled = sql.to_owned();
        for (word, own) in self.bench.words() {
            spelled = spelled.replace(word, own);
        }
        while let Some((before, rest)) = spelled.split_once("{x:") {
            let (digits, after) = rest.split_once('}').expect("`{x:` is closed");
            spelled = format!("{before}{}{after}", self.bench.bytes(digits));
        }
        spelled
    }

    /// Runs statements in a session of their own.
    pub(super) async fn run(&self, sql: &str) {
        self.session().await.run(sql).await;
    }

    /// Another session, as an application has one.
    pub(super) async fn session(&self) -> Asked<'_> {
        Asked { db: self, session: self.bench.session().await }
    }

    /// Every row of a table as the engine prints it, sorted: to compare before and after.
    pub(super) async fn dump(&self, table: &str) -> Vec<String> {
        let rows =
            self.session().await.rows(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""))).await;
        let mut lines: Vec<String> = rows.iter().map(printed).collect();
        lines.sort();
        lines
    }

    /// The database through a built-in preset.
    pub(super) fn preset(&self, name: &str) -> Box<dyn Source> {
        self.source(built_in(name))
    }

    /// The database through a mapping; what is given is added to [`MAPPING`].
    pub(super) fn mapped(&self, more: &str) -> Box<dyn Source> {
        self.through(&format!("{MAPPING}{more}"))
    }

    /// The database through a mapping of the test's own.
    pub(super) fn through(&self, text: &str) -> Box<dyn Source> {
        self.source(mapping(text))
    }

    /// The database through a preset.
    pub(super) fn source(&self, preset: SourcePreset) -> Box<dyn Source> {
        self.bench.source(preset)
    }

    /// The database as one that holds effects.
    pub(super) fn effects(&self) -> Box<dyn EffectsDatabase> {
        self.bench.effects()
    }

    /// Waits until a session waits for a row that another one holds. SQLite does not tell: there the holder has the whole
    /// file from before the other one starts.
    pub(super) async fn until_somebody_waits(&self) {
        if let Some(query) = self.bench.waiting() {
            self.until(query, |count| count > 0).await;
        }
    }

    /// Waits until a statement that holds a word runs, or runs no more. `false` where the engine does not tell.
    pub(super) async fn until_runs(&self, word: &str, runs: bool) -> bool {
        let Some(query) = self.bench.running(word) else { return false };
        self.until(&query, |count| (count > 0) == runs).await;
        true
    }

    async fn until(&self, query: &str, is_so: impl Fn(i64) -> bool) {
        let mut session = self.bench.session().await;
        let wait = async {
            loop {
                let rows = session.rows(query).await;
                let count = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
                if is_so(count.parse().unwrap()) {
                    return;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        tokio::time::timeout(WAITS_MAX, wait).await.unwrap_or_else(|_| panic!("in vain: {query}"));
    }

    /// A name as the engine quotes it.
    pub(super) fn quoted(&self, name: &str) -> String {
        quoted(self.engine, name)
    }

    /// The two lines of a fault, with the database's place taken out.
    pub(super) fn told(&self, fault: &crate::ports::source::SourceFault) -> [String; 2] {
        [fault.what.replace(&self.bench.place(), "db"), fault.do_next.clone()]
    }
}

/// A session whose SQL is spelled for its engine.
pub(super) struct Asked<'a> {
    db: &'a Db,
    session: Box<dyn Session>,
}

impl Asked<'_> {
    pub(super) async fn run(&mut self, sql: &str) {
        let spelled = self.db.spell(sql);
        self.session.run(&spelled).await.unwrap_or_else(|fault| panic!("{fault}\n{spelled}"));
    }

    pub(super) async fn rows(&mut self, sql: &str) -> Vec<Printed> {
        let spelled = self.db.spell(sql);
        self.session.rows(&spelled).await
    }
}

fn printed(row: &Printed) -> String {
    let cells =
        row.iter().map(|cell| cell.as_ref().map_or_else(|| "∅".to_owned(), |bytes| escape_bytes(bytes)));
    cells.collect::<Vec<_>>().join("|")
}

pub(super) fn built_in(name: &str) -> SourcePreset {
    Catalogue::new(&[]).unwrap().sources[name].1.clone()
}

pub(super) fn mapping(text: &str) -> SourcePreset {
    let mut file = SourceFile::parse("mapped", text).unwrap();
    "mapped".clone_into(&mut file.name);
    file.check().unwrap()
}

/// The address of a server to test on; a test without one passes and says so, unless none may be skipped.
pub(in crate::adapters) fn server(variable: &str) -> Option<String> {
    let address = system::environment(variable);
    if address.is_none() {
        assert!(system::environment("UNSTUCK_TEST_NO_SKIP").is_none(), "${variable} is not set");
        eprintln!("skipped: ${variable} is not set");
    }
    address
}

/// A name that no other test's database has.
pub(in crate::adapters) fn fresh_name() -> String {
    format!("unstuck_suite_{}", Uuid::now_v7().simple())
}

/// A server's address with another database.
fn with_database(address: &str, name: &str) -> String {
    let mut url = url::Url::parse(address).unwrap();
    url.set_path(name);
    url.into()
}

/// An address as a configuration's becomes one.
pub(in crate::adapters) fn address_of(url: &str, shown: &str) -> Address {
    Address { url: url.into(), shown: shown.to_owned(), password: None, environment: Arc::new(|_| None) }
}

/// Carries out what remains to be done when a test is over, also where it failed.
pub(in crate::adapters) fn to_the_end(work: impl Future<Output = ()> + Send + 'static) {
    let thread = std::thread::spawn(|| tokio::runtime::Runtime::new().unwrap().block_on(work));
    if thread.join().is_err() {
        eprintln!("a test's database was not dropped");
    }
}
