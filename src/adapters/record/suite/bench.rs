//! A fresh audit of one engine: a file of its own, or a schema of its own on the server that the environment names.

use crate::adapters::record::verify::signed::Against;
use crate::adapters::record::verify::{Verified, tests::tamper, verify};
use crate::adapters::record::{PostgresRecord, Seals, SqliteRecord};
use crate::adapters::suite::bench::{address_of, fresh_name, server, to_the_end};
use crate::domain::signing::PublicKey;
use crate::ports::record::Record;
use crate::preset::source::Engine;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

/// A fresh audit.
pub(super) struct Audit {
    /// Where keys and checkpoints of its operators are; the file too, where it is one.
    pub(super) folder: TempDir,
    server: Option<Schema>,
}

/// A schema on the server, and the roles that were made for it.
struct Schema {
    address: String,
    name: String,
    roles: Mutex<Vec<String>>,
}

impl Audit {
    /// An audit without an entry; `None` where the environment names no server of the engine.
    pub(super) async fn of(engine: Engine) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let server = match engine {
            Engine::Sqlite | Engine::Mysql => None,
            Engine::Postgres => {
                let (address, name) = (server("UNSTUCK_TEST_POSTGRES")?, fresh_name());
                Some(Schema { address, name, roles: Mutex::default() })
            }
        };
        let audit = Self { folder, server };
        if audit.server.is_some() {
            assert!(audit.record_of("").make(&[]).await.unwrap());
        }
        Some(audit)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("audit.db")
    }

    fn server(&self) -> &Schema {
        self.server.as_ref().expect("an audit on a server")
    }

    /// The address for a login, without the schema; the server's own for none.
    pub(super) fn bare_address(&self, login: &str) -> String {
        let mut url = url::Url::parse(&self.server().address).unwrap();
        if !login.is_empty() {
            url.set_username(login).unwrap();
        }
        url.into()
    }

    /// The address for a login.
    pub(super) fn address(&self, login: &str) -> String {
        format!("{}?schema={}", self.bare_address(login), self.server().name)
    }

    /// The schema's name.
    pub(super) fn schema(&self) -> &str {
        &self.server().name
    }

    /// A role that may look and add.
    pub(super) async fn role(&self, name: &str) -> String {
        let role = format!("{name}_{}", self.schema());
        self.sql(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
        self.server().roles.lock().unwrap().push(role.clone());
        assert!(!self.record_of("").make(std::slice::from_ref(&role)).await.unwrap());
        role
    }

    /// Another connection to it, as another process has one.
    pub(super) fn record(&self) -> Arc<dyn Record> {
        match &self.server {
            None => Arc::new(SqliteRecord::open(&self.path()).unwrap()),
            Some(_) => Arc::new(self.record_of("")),
        }
    }

    /// One of somebody else's, whom a server knows by another login: nobody approves a proposal of their own.
    pub(super) async fn other(&self) -> Arc<dyn Record> {
        if self.server.is_none() {
            return self.record();
        }
        let login = self.role("other").await;
        Arc::new(self.record_of(&login))
    }

    /// The same for a login.
    pub(super) fn record_of(&self, login: &str) -> PostgresRecord {
        PostgresRecord::new(address_of(&self.address(login), "server"))
    }

    /// Where an operator's key and checkpoints are.
    pub(super) fn seals_of(&self, operator: &str) -> Seals {
        let key = Some(self.folder.path().join(operator).join("keys/audit.key"));
        match &self.server {
            None => Seals::of(&self.path(), key, None),
            Some(_) => Seals::of_server("server", key, None),
        }
    }

    /// A connection whose runs are signed by an operator.
    pub(super) fn signed_by(&self, operator: &str) -> Arc<dyn Record> {
        let seals = self.seals_of(operator);
        match &self.server {
            None => Arc::new(SqliteRecord::open(&self.path()).unwrap().signed(seals)),
            Some(_) => Arc::new(PostgresRecord::signed(address_of(&self.address(""), "server"), seals)),
        }
    }

    /// What is found of its chain alone.
    pub(super) async fn verify(&self) -> Verified {
        if self.server.is_none() {
            return verify(&self.path(), &Against::default()).unwrap();
        }
        // Checkpoints that nobody here knows a key of.
        let key = crate::domain::signing::tests::key(200).public();
        let against = Against { keys: vec![key], ..Against::default() };
        self.record_of("").verify(&against).await.unwrap()
    }

    /// What an operator finds, who knows some keys of others.
    pub(super) async fn verify_as(&self, operator: &str, known: &[PublicKey]) -> Verified {
        let seals = self.seals_of(operator);
        if self.server.is_none() {
            let against = Against::of(&self.path(), &seals, known.to_vec(), Vec::new()).unwrap();
            return verify(&self.path(), &against).unwrap();
        }
        let record = self.record_of("");
        let against = Against::of_many(record.shown(), &seals, &[], known, Vec::new()).unwrap();
        record.verify(&against).await.unwrap()
    }

    /// An operator's public key.
    pub(super) fn key_of(&self, operator: &str) -> PublicKey {
        use crate::adapters::record::key::{KeyState, look};
        match look(&self.seals_of(operator).key.unwrap()).unwrap() {
            KeyState::Private(key) | KeyState::Shared(key) => key,
            KeyState::Missing => panic!("{operator} has no key yet"),
        }
    }

    /// A statement past the program: of the file's owner, or of the server's.
    pub(super) async fn sql(&self, statement: &str) -> Result<(), String> {
        if self.server.is_none() {
            let file = rusqlite::Connection::open(self.path()).unwrap();
            return file.execute_batch(statement).map_err(|fault| fault.to_string());
        }
        self.sql_of("", statement).await
    }

    /// The same of a login.
    pub(super) async fn sql_of(&self, login: &str, statement: &str) -> Result<(), String> {
        let client = connect(&self.bare_address(login)).await;
        client.batch_execute(&format!("SET search_path = {}", self.schema())).await.unwrap();
        client.batch_execute(statement).await.map_err(|fault| {
            fault.as_db_error().map_or_else(|| fault.to_string(), |told| told.message().to_owned())
        })
    }

    /// A statement of whoever owns the audit, past every trigger; all of them are there again after it.
    pub(super) async fn tamper(&self, statement: &str) {
        if self.server.is_none() {
            return tamper(&self.path(), statement);
        }
        let each = |how: &str| -> String {
            let tables = ["entries", "attachments", "checkpoints"];
            let switched = tables.map(|table| format!("ALTER TABLE {table} {how} TRIGGER ALL;"));
            switched.concat()
        };
        let always = "ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_place;
            ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER checkpoints_sign;
            ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_stay;
            ALTER TABLE attachments ENABLE ALWAYS TRIGGER attachments_stay;
            ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER checkpoints_stay;";
        let (off, on) = (each("DISABLE"), each("ENABLE"));
        self.sql(&format!("{off} {statement}; {on} {always}")).await.unwrap();
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (address, name) = (self.address.clone(), self.name.clone());
        let roles = std::mem::take(&mut *self.roles.lock().unwrap());
        to_the_end(async move {
            let client = connect(&address).await;
            client.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE")).await.unwrap();
            for role in roles {
                client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
            }
        });
    }
}

/// A connection past our own ways.
pub(super) async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}
