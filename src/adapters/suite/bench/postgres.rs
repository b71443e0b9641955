//! PostgreSQL: a database of its own on the server that the environment names.

use super::{Bench, Printed, Session, address_of, fresh_name, to_the_end, with_database};
use crate::adapters::postgres::{PostgresEffects, PostgresSource};
use crate::adapters::sql::effects::EffectsDatabase;
use crate::ports::source::Source;
use crate::preset::source::SourcePreset;
use async_trait::async_trait;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

const WORDS: &[(&str, &str)] = &[
    ("{name}", "text"),
    ("{text}", "text"),
    ("{int}", "bigint"),
    ("{real}", "double precision"),
    ("{bytes}", "bytea"),
    ("{moment}", "timestamptz"),
    ("{begin}", "BEGIN"),
];

pub(super) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(super) async fn new(server: &str, options: &str) -> Self {
        let name = fresh_name();
        let client = connect(server).await;
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 {options}")).await.unwrap();
        // Nobody's own settings may change how values are spelled.
        let odd = format!(
            "ALTER DATABASE {name} SET TimeZone = 'Asia/Kolkata'; ALTER DATABASE {name} SET DateStyle = 'German'; \
             ALTER DATABASE {name} SET extra_float_digits = 0; ALTER DATABASE {name} SET bytea_output = 'escape'; \
             ALTER DATABASE {name} SET IntervalStyle = 'sql_standard'"
        );
        client.batch_execute(&odd).await.unwrap();
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
            let drop = format!("DROP DATABASE {name} WITH (FORCE)");
            connect(&server).await.batch_execute(&drop).await.unwrap();
        });
    }
}

async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}

#[async_trait]
impl Bench for Database {
    fn words(&self) -> &'static [(&'static str, &'static str)] {
        WORDS
    }

    fn bytes(&self, digits: &str) -> String {
        format!("'\\x{digits}'::bytea")
    }

    fn source(&self, preset: SourcePreset) -> Box<dyn Source> {
        Box::new(PostgresSource::new("mapped", address_of(&self.address(), &self.place()), preset))
    }

    fn effects(&self) -> Box<dyn EffectsDatabase> {
        Box::new(PostgresEffects::new(address_of(&self.address(), &self.place())))
    }

    async fn session(&self) -> Box<dyn Session> {
        let client = connect(&self.address()).await;
        client
            .batch_execute("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'")
            .await
            .unwrap();
        client.batch_execute("SET extra_float_digits = 1").await.unwrap();
        Box::new(Application(client))
    }

    fn waiting(&self) -> Option<&'static str> {
        Some(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
    }

    fn running(&self, word: &str) -> Option<String> {
        Some(format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
             AND pid <> pg_backend_pid() AND position('{word}' IN query) > 0"
        ))
    }

    fn place(&self) -> String {
        self.name.clone()
    }
}

struct Application(Client);

#[async_trait]
impl Session for Application {
    async fn run(&mut self, sql: &str) -> Result<(), String> {
        self.0.batch_execute(sql).await.map_err(|fault| format!("{fault:?}"))
    }

    async fn rows(&mut self, sql: &str) -> Vec<Printed> {
        let print = |text: &str| text.as_bytes().to_vec();
        let messages = self.0.simple_query(sql).await.unwrap();
        messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|at| row.get(at).map(print)).collect())
                }
                _ => None,
            })
            .collect()
    }
}
