//! MySQL and MariaDB: a database of its own on the server that the environment names.

use super::{Bench, Printed, Session, address_of, fresh_name, to_the_end, with_database};
use crate::adapters::mysql::{MysqlEffects, MysqlSource};
use crate::adapters::sql::effects::EffectsDatabase;
use crate::ports::source::Source;
use crate::preset::source::SourcePreset;
use async_trait::async_trait;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Value};

const WORDS: &[(&str, &str)] = &[
    // A length that an index of every row format takes.
    ("{name}", "VARCHAR(191)"),
    ("{text}", "LONGTEXT"),
    ("{int}", "BIGINT"),
    ("{real}", "DOUBLE"),
    ("{bytes}", "LONGBLOB"),
    ("{moment}", "DATETIME(6)"),
    ("{begin}", "START TRANSACTION"),
];
/// The applications of these tests are in another zone than UTC, and write SQL as the standard has it.
const APPLICATION: &str = "SET time_zone = '+05:30', \
     sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'";

pub(super) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(super) async fn new(server: &str) -> Self {
        let name = fresh_name();
        let mut conn = connect(server).await;
        // The collation that most have: it minds neither case nor spaces at the end.
        let create = format!("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");
        conn.query_drop(create).await.unwrap();
        conn.disconnect().await.unwrap();
        Self { server: server.to_owned(), name }
    }

    fn address(&self) -> String {
        with_database(&self.server, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        to_the_end(async move {
            let mut conn = connect(&server).await;
            conn.query_drop("SET lock_wait_timeout = 20").await.unwrap();
            conn.query_drop(format!("DROP DATABASE {name}")).await.unwrap();
            conn.disconnect().await.unwrap();
        });
    }
}

async fn connect(address: &str) -> Conn {
    Conn::from_url(address).await.unwrap()
}

#[async_trait]
impl Bench for Database {
    fn words(&self) -> &'static [(&'static str, &'static str)] {
        WORDS
    }

    fn bytes(&self, digits: &str) -> String {
        format!("x'{digits}'")
    }

    fn source(&self, preset: SourcePreset) -> Box<dyn Source> {
        Box::new(MysqlSource::new("mapped", address_of(&self.address(), &self.place()), preset))
    }

    fn effects(&self) -> Box<dyn EffectsDatabase> {
        Box::new(MysqlEffects::new(address_of(&self.address(), &self.place())))
    }

    async fn session(&self) -> Box<dyn Session> {
        let mut conn = connect(&self.address()).await;
        conn.query_drop(APPLICATION).await.unwrap();
        Box::new(Application(conn))
    }

    fn waiting(&self) -> Option<&'static str> {
        Some(
            // The engine's own list of waits is renewed only when nobody has looked for a while. Whoever asks for the lock
            // while another one has it waits.
            "SELECT count(*) FROM information_schema.processlist \
             WHERE db = DATABASE() AND id <> connection_id() AND info LIKE '%FOR UPDATE%'",
        )
    }

    fn running(&self, word: &str) -> Option<String> {
        Some(format!(
            "SELECT count(*) FROM information_schema.processlist \
             WHERE db = DATABASE() AND id <> connection_id() AND info LIKE '%{word}%'"
        ))
    }

    fn place(&self) -> String {
        self.name.clone()
    }
}

struct Application(Conn);

#[async_trait]
impl Session for Application {
    async fn run(&mut self, sql: &str) -> Result<(), String> {
        self.0.query_drop(sql).await.map_err(|fault| fault.to_string())
    }

    async fn rows(&mut self, sql: &str) -> Vec<Printed> {
        let rows: Vec<mysql_async::Row> = self.0.query(sql).await.unwrap();
        rows.into_iter().map(|row| row.unwrap().into_iter().map(print).collect()).collect()
    }
}

/// Outside of prepared statements every value is a text.
fn print(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(bytes),
        other => Some(other.as_sql(true).into_bytes()),
    }
}
