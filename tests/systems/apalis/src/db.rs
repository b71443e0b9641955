//! The library's storages, and the SQL beside them: ageing, and our own table of effects.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config as PostgresConfig, PgPool, PostgresStorage};
use apalis_sqlite::{Config as SqliteConfig, SqliteConnectOptions, SqlitePool, SqliteStorage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::Result;

const QUEUE: &str = "payments";

/// Both libraries put a dead worker's jobs back as soon as another worker starts or beats. Here no
/// worker counts as dead within a test's life.
const MISSED_HEARTBEATS: usize = 1_000_000;

#[derive(Serialize, Deserialize)]
struct Payment {
    job: String,
}

pub type Running = Pin<Box<dyn Future<Output = Result<String>> + Send>>;
pub type Body = Arc<dyn Fn(String) -> Running + Send + Sync>;

pub struct Worker {
    pub name: String,
    pub heartbeat: Duration,
    pub limit: Option<Duration>,
    pub context: WorkerContext,
}

impl Worker {
    pub fn new(role: &str) -> Self {
        let name = format!("{role}-{}", std::process::id());
        Self { context: WorkerContext::new(&name), name, heartbeat: Duration::from_secs(30), limit: None }
    }
}

#[derive(Clone)]
pub enum Db {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// The same code for both: the types differ, their methods do not.
macro_rules! each {
    ($db:expr, $pool:ident => $body:expr) => {
        match $db {
            Db::Postgres($pool) => $body,
            Db::Sqlite($pool) => $body,
        }
    };
}

macro_rules! each_storage {
    ($db:expr, $heartbeat:expr, $storage:ident => $body:expr) => {
        match $db {
            Db::Postgres(pool) => {
                #[allow(unused_mut)]
                let mut $storage = PostgresStorage::<Payment>::new(pool).with_config(
                    PostgresConfig::default()
                        .queue(QUEUE)
                        .batch_size(1)
                        .heartbeat_interval($heartbeat)
                        .missed_heartbeats(MISSED_HEARTBEATS),
                );
                $body
            }
            Db::Sqlite(pool) => {
                #[allow(unused_mut)]
                let mut $storage = SqliteStorage::<Payment>::new(pool).with_config(
                    SqliteConfig::default()
                        .queue(QUEUE)
                        .batch_size(1)
                        .heartbeat_interval($heartbeat)
                        .missed_heartbeats(MISSED_HEARTBEATS),
                );
                $body
            }
        }
    };
}

const BEAT: Duration = Duration::from_secs(30);

impl Db {
    pub async fn open(url: &str) -> Result<Self> {
        Ok(if url.starts_with("sqlite:") {
            let options: SqliteConnectOptions = url.parse()?;
            Self::Sqlite(SqlitePool::connect_with(options.create_if_missing(true)).await?)
        } else {
            Self::Postgres(PgPool::connect(url).await?)
        })
    }

    fn sql(&self, postgres: &'static str, sqlite: &'static str) -> &'static str {
        match self {
            Self::Postgres(_) => postgres,
            Self::Sqlite(_) => sqlite,
        }
    }

    pub async fn install(&self) -> Result<()> {
        match self {
            Self::Postgres(pool) => PostgresStorage::setup(pool).await?,
            Self::Sqlite(pool) => SqliteStorage::setup(pool).await?,
        }
        let effects = self.sql(
            "CREATE TABLE effects (id serial PRIMARY KEY, job text NOT NULL, at timestamptz NOT NULL)",
            "CREATE TABLE effects (id INTEGER PRIMARY KEY, job TEXT NOT NULL, at TEXT NOT NULL)",
        );
        each!(self, pool => { sqlx::query(effects).execute(pool).await?; });
        Ok(())
    }

    pub fn facts(&self) -> Value {
        let (library, migrations) = match self {
            Self::Postgres(_) => ("apalis-postgres", PostgresStorage::migrations()),
            Self::Sqlite(_) => ("apalis-sqlite", SqliteStorage::migrations()),
        };
        let schema = migrations.iter().map(|migration| migration.version).max();
        let version = include_str!("../Cargo.lock")
            .split_once(&format!("name = \"{library}\"\nversion = \""))
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(version, _)| version);
        json!({"library": library, "version": version, "schema": schema.map(|version| version.to_string())})
    }

    pub async fn act(&self, job: &str) -> Result<()> {
        let sql = "INSERT INTO effects (job, at) VALUES ($1, CURRENT_TIMESTAMP)";
        each!(self, pool => { sqlx::query(sql).bind(job).execute(pool).await?; });
        Ok(())
    }

    pub async fn effects(&self, job: &str) -> Result<i64> {
        let sql = "SELECT count(*) FROM effects WHERE job = $1";
        Ok(each!(self, pool => sqlx::query_scalar(sql).bind(job).fetch_one(pool).await?))
    }

    /// The new row's key. A failed job is taken again until it had all its tries, 25 by default.
    pub async fn enqueue(&self, job: &str, tries: Option<usize>) -> Result<String> {
        let mut task = TaskBuilder::new(Payment { job: job.to_owned() });
        if let Some(tries) = tries {
            task = task.max_attempts(tries);
        }
        each_storage!(self, BEAT, storage => storage.push_task(task.build()).await?);
        Ok(self.find(job).await?.ok_or("the job was not enqueued")?)
    }

    pub async fn find(&self, job: &str) -> Result<Option<String>> {
        let sql = self.sql(
            "SELECT id FROM apalis.jobs WHERE convert_from(job, 'UTF8')::jsonb ->> 'job' = $1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM Jobs WHERE json_extract(CAST(job AS TEXT), '$.job') = $1 ORDER BY id DESC LIMIT 1",
        );
        Ok(each!(self, pool => sqlx::query_scalar(sql).bind(job).fetch_optional(pool).await?))
    }

    /// The library's word for the row, and the job's name.
    pub async fn fetch(&self, key: &str) -> Result<Option<(String, String)>> {
        let id: TaskId = key.parse()?;
        let task = each_storage!(self, BEAT, storage => storage.fetch_by_id(&id).await?);
        let Some(task) = task else { return Ok(None) };
        let payment: Payment = serde_json::from_slice(&task.args)?;
        Ok(Some((task.status().to_string(), payment.job)))
    }

    /// The row's times, and those of the worker that holds it: its heartbeat is the lease.
    pub async fn age(&self, key: &str) -> Result<()> {
        let row = self.sql(
            "UPDATE apalis.jobs SET run_at = run_at - interval '2 hours', lock_at = lock_at - interval '2 hours'
             WHERE id = $1",
            "UPDATE Jobs SET run_at = run_at - 7200, lock_at = lock_at - 7200 WHERE id = $1",
        );
        let holder = self.sql(
            "UPDATE apalis.workers SET last_seen = last_seen - interval '2 hours',
                                       started_at = started_at - interval '2 hours'
             WHERE id = (SELECT lock_by FROM apalis.jobs WHERE id = $1)",
            "UPDATE Workers SET last_seen = last_seen - 7200, started_at = started_at - 7200
             WHERE id = (SELECT lock_by FROM Jobs WHERE id = $1)",
        );
        for sql in [row, holder] {
            each!(self, pool => { sqlx::query(sql).bind(key).execute(pool).await?; });
        }
        Ok(())
    }

    /// The library writes `Running` a moment after the body began; till then the row is `Queued`.
    pub async fn until_running(&self, job: &str) -> Result<()> {
        let sql =
            self.sql("SELECT status FROM apalis.jobs WHERE id = $1", "SELECT status FROM Jobs WHERE id = $1");
        let key = self.find(job).await?;
        loop {
            let status: String =
                each!(self, pool => sqlx::query_scalar(sql).bind(&key).fetch_one(pool).await?);
            if status == "Running" {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// How many rows a worker could take now, or the named one holds.
    pub async fn waiting(&self, worker: &str) -> Result<i64> {
        let sql = self.sql(
            "SELECT count(*) FROM apalis.jobs
             WHERE run_at < now() AND (status = 'Pending' OR status = 'Failed' AND attempts < max_attempts)
                OR lock_by = $1 AND status = 'Queued'",
            "SELECT count(*) FROM Jobs
             WHERE run_at <= strftime('%s', 'now')
                   AND (status = 'Pending' OR status = 'Failed' AND attempts < max_attempts)
                OR lock_by = $1 AND status = 'Queued'",
        );
        Ok(each!(self, pool => sqlx::query_scalar(sql).bind(worker).fetch_one(pool).await?))
    }

    /// Whether the row's result is what a body returned.
    pub async fn returned(&self, key: &str, said: &str) -> Result<bool> {
        let sql = self.sql(
            "SELECT count(*) FROM apalis.jobs WHERE id = $1 AND last_result ->> 'Ok' = $2",
            "SELECT count(*) FROM Jobs WHERE id = $1 AND last_result ->> '$.Ok' = $2",
        );
        let rows: i64 =
            each!(self, pool => sqlx::query_scalar(sql).bind(key).bind(said).fetch_one(pool).await?);
        Ok(rows > 0)
    }

    pub async fn serve(&self, worker: Worker, body: Body) -> Result<(), WorkerError> {
        async fn pay(payment: Payment, body: Data<Body>) -> Result<String> {
            body(payment.job).await
        }
        // Of the library's own layers, that of time-outs is always there: a day is no limit here.
        let limit = worker.limit.unwrap_or(Duration::from_secs(24 * 60 * 60));
        each_storage!(self, worker.heartbeat, storage => {
            WorkerBuilder::new(worker.context)
                .backend(storage.poll_with_interval(Duration::from_millis(200)))
                .data(body)
                .concurrency(1)
                .timeout(limit)
                .build(pay)
                .run()
                .await
        })
    }
}
