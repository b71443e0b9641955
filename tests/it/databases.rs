//! Databases of one test, on each engine that is there.

use mysql_async::prelude::Queryable;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::{NoTls, SimpleQueryMessage};
use unstuck::preset::source::Engine;

/// A fresh database, gone at the end of its test.
pub struct Database {
    runtime: Runtime,
    place: Place,
}

enum Place {
    Sqlite { folder: TempDir },
    Server { engine: Engine, server: String, name: String },
}

/// The variable that says where an engine's test server is.
fn variable(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => "UNSTUCK_TEST_POSTGRES",
        Engine::Mysql => "UNSTUCK_TEST_MYSQL",
        Engine::Sqlite => "",
    }
}

/// A server's address up to its database; `None` where none is named, which is told, or a failure where nothing may be
/// skipped.
fn server(engine: Engine) -> Option<String> {
    let name = variable(engine);
    let Some(url) = std::env::var_os(name).and_then(|url| url.into_string().ok()) else {
        skip(&format!("{engine}: {name} is not set"));
        return None;
    };
    Some(url.rsplit_once('/').expect("an address with a database").0.to_owned())
}

/// Says that a test is skipped; a failure where nothing may be.
pub fn skip(why: &str) {
    assert!(std::env::var_os("UNSTUCK_TEST_NO_SKIP").is_none(), "nothing may be skipped here: {why}");
    println!("skipped: {why}");
}

impl Database {
    /// A fresh database; `None` where the engine has no server here.
    pub fn new(engine: Engine) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let runtime = Runtime::new().unwrap();
        if engine == Engine::Sqlite {
            return Some(Self { runtime, place: Place::Sqlite { folder: TempDir::new().unwrap() } });
        }
        let server = server(engine)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("unstuck_{}_{number}", std::process::id());
        let database = Self { runtime, place: Place::Server { engine, server, name } };
        database.on_server(&format!("CREATE DATABASE {}", database.name()));
        Some(database)
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        match &self.place {
            Place::Sqlite { .. } => "jobs.db",
            Place::Server { name, .. } => name,
        }
    }

    /// Its address.
    pub fn url(&self) -> String {
        match &self.place {
            Place::Sqlite { folder } => format!("sqlite://{}", folder.path().join("jobs.db").display()),
            Place::Server { server, name, .. } => format!("{server}/{name}"),
        }
    }

    /// Runs statements.
    pub fn execute(&self, sql: &str) {
        self.try_execute(&self.url(), sql).unwrap_or_else(|fault| panic!("{fault}\n{sql}"));
    }

    /// The first value of a query's first row as text; empty where there is none.
    pub fn first(&self, sql: &str) -> String {
        let engine = match &self.place {
            Place::Sqlite { folder } => {
                let connection = rusqlite::Connection::open(folder.path().join("jobs.db")).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                let mut rows = statement.query([]).unwrap();
                let value = rows.next().unwrap().map(|row| row.get::<_, rusqlite::types::Value>(0).unwrap());
                return match value {
                    Some(rusqlite::types::Value::Text(text)) => text,
                    Some(rusqlite::types::Value::Integer(number)) => number.to_string(),
                    Some(rusqlite::types::Value::Real(number)) => number.to_string(),
                    Some(rusqlite::types::Value::Blob(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
                    Some(rusqlite::types::Value::Null) | None => String::new(),
                };
            }
            Place::Server { engine, .. } => *engine,
        };
        let url = self.url();
        self.runtime.block_on(async {
            if engine == Engine::Postgres {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                tokio::spawn(connection);
                let messages =
                    client.simple_query(sql).await.unwrap_or_else(|fault| panic!("{fault:?}\n{sql}"));
                let row = messages.iter().find_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("").to_owned()),
                    _ => None,
                });
                row.unwrap_or_default()
            } else {
                let mut conn = mysql_async::Conn::from_url(&url).await.unwrap();
                let value: Option<Option<String>> = conn.query_first(sql).await.unwrap();
                value.flatten().unwrap_or_default()
            }
        })
    }

    fn on_server(&self, sql: &str) {
        if let Place::Server { engine, server, .. } = &self.place {
            let database = if *engine == Engine::Postgres { "postgres" } else { "mysql" };
            self.try_execute(&format!("{server}/{database}"), sql).unwrap();
        }
    }

    fn try_execute(&self, url: &str, sql: &str) -> Result<(), String> {
        match &self.place {
            Place::Sqlite { folder } => {
                let connection = rusqlite::Connection::open(folder.path().join("jobs.db")).unwrap();
                connection.execute_batch(sql).map_err(|fault| fault.to_string())
            }
            Place::Server { engine: Engine::Postgres, .. } => self.runtime.block_on(async {
                let (client, connection) =
                    tokio_postgres::connect(url, NoTls).await.map_err(|fault| fault.to_string())?;
                tokio::spawn(connection);
                client.batch_execute(sql).await.map_err(|fault| format!("{fault:?}"))
            }),
            Place::Server { .. } => self.runtime.block_on(async {
                let mut conn = mysql_async::Conn::from_url(url).await.map_err(|fault| fault.to_string())?;
                conn.query_drop(sql).await.map_err(|fault| fault.to_string())?;
                conn.disconnect().await.map_err(|fault| fault.to_string())
            }),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        match &self.place {
            Place::Sqlite { .. } => {}
            Place::Server { engine: Engine::Postgres, name, .. } => {
                self.on_server(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            }
            Place::Server { name, .. } => self.on_server(&format!("DROP DATABASE IF EXISTS {name}")),
        }
    }
}
