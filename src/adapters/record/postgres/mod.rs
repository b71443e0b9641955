//! The audit in a PostgreSQL database, for many operators: the same chain, the same questions, the same checkpoints.
//!
//! - `schema`: the tables, the triggers that refuse changes and say who wrote, and the command that makes them.
//! - `append`: one transaction behind one lock that chains new entries to the last.
//! - `read`: rows as entries.
//! - `walk`: the chain, page by page, out of one snapshot.
//! - `seal`: each operator signs with a key of their own; `verify` and `export`: as of a file.
//! - `refused`: the server's errors; `text`: texts as it takes them.

mod append;
mod export;
mod read;
mod refused;
mod schema;
mod seal;
mod text;
mod verify;
mod walk;

use super::seal::{CHECKPOINT_ENTRIES, Seals};
use super::verify::Verified;
use super::verify::signed::Against;
use super::{fault, read as asked};
use crate::adapters::postgres::client::value_at;
use crate::adapters::postgres::connect::{Lent, Place, Writing};
use crate::adapters::sql::Address;
use crate::domain::audit::{Entry, NewEntry, RecordedBy, Subject};
use crate::domain::moment::stamp;
use crate::domain::proposal::IdEnding;
use crate::ports::record::{Once, Record, RecordFault};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

/// The audit in a schema of a PostgreSQL database.
///
/// Nothing is connected before something is asked. A write that has begun is carried to its end even when nobody waits for
/// it any more. Consoles on any machine may append: each waits for its turn.
#[derive(Debug, Clone)]
pub struct PostgresRecord {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    /// The address without a password, as every fault names it.
    shown: PathBuf,
    read_only: bool,
    seals: Option<Seals>,
    writer: Mutex<Writer>,
}

/// What one write at a time works with.
#[derive(Default)]
struct Writer {
    /// The connection that is kept for the next write.
    kept: Option<Writing>,
    /// How many entries this run has added since it last signed.
    unsigned: usize,
    /// How many entries there were when this run last wrote: they cannot become fewer.
    highest: i64,
    /// Whether the audit was held against what this key signed last: before this run's first write.
    is_compared: bool,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("unsigned", &self.unsigned).finish_non_exhaustive()
    }
}

/// Values with the types that they are sent as.
type Values<'a> = [(&'a (dyn ToSql + Sync), Type)];

impl PostgresRecord {
    /// The audit at an address, to read and append.
    pub fn new(address: Address) -> Self {
        Self::of(address, false, None)
    }

    /// The audit at an address, to read alone.
    pub fn to_read(address: Address) -> Self {
        Self::of(address, true, None)
    }

    /// The same, which also signs what this run adds: now and then, and when [`Record::seal`] is called.
    pub fn signed(address: Address, seals: Seals) -> Self {
        Self::of(address, false, Some(seals))
    }

    fn of(address: Address, read_only: bool, seals: Option<Seals>) -> Self {
        let shown = PathBuf::from(&address.shown);
        let place = Place::in_schema(address, schema::SCHEMA);
        Self { inner: Arc::new(Inner { place, shown, read_only, seals, writer: Mutex::default() }) }
    }

    /// Where it is, as faults tell it, for whoever looks for its checkpoints.
    pub fn shown(&self) -> &Path {
        &self.inner.shown
    }

    /// The statements that make an audit there and let roles use it.
    ///
    /// # Errors
    /// An address that cannot be read, or a schema that is not made.
    pub fn statements(&self, roles: &[String]) -> Result<Vec<String>, RecordFault> {
        let schema = self.inner.schema()?;
        schema::refuse_odd_name(&self.inner.shown, &schema)?;
        let mut all = schema::making(&schema);
        all.extend(roles.iter().flat_map(|role| schema::granting(&schema, role)));
        Ok(all)
    }

    /// Those of some roles that the server does not have.
    ///
    /// # Errors
    /// What keeps the server from being asked.
    pub async fn missing_roles(&self, roles: &[String]) -> Result<Vec<String>, RecordFault> {
        let lent = self.inner.lent().await?;
        let mut missing = Vec::new();
        for role in roles {
            let asked = "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = $1";
            let counted = lent.client().query_typed_one(asked, &[(role, Type::TEXT)]).await;
            match counted.and_then(|row| value_at::<i64>(&row, 0)) {
                Ok(0) => missing.push(role.clone()),
                Ok(_) => {}
                Err(fault) => return lent.ended(Err(refused::fault_of(&self.inner.shown, &fault))).await,
            }
        }
        lent.ended(Ok(missing)).await
    }

    /// Makes the audit where it is not there yet, and lets roles use it; says whether it was made. The only way in which it
    /// ever comes about.
    ///
    /// # Errors
    /// What keeps it from being made; then nothing was.
    pub async fn make(&self, roles: &[String]) -> Result<bool, RecordFault> {
        let schema = self.inner.schema()?;
        schema::make(&self.inner.place, &self.inner.shown, &schema, roles).await
    }

    /// Walks the whole audit and says what is not as it was written, out of one snapshot: others go on writing.
    ///
    /// # Errors
    /// [`RecordFault`] where it cannot be read, or a file to compare against cannot.
    pub async fn verify(&self, against: &Against) -> Result<Verified, RecordFault> {
        verify::verify(&self.inner, against).await
    }

    /// Writes every entry as one line of JSON and the checkpoints behind them, as of a file.
    ///
    /// # Errors
    /// [`RecordFault`] where the audit cannot be read or the export not be written.
    pub async fn export_json_lines(&self, out: &mut (dyn Write + Send)) -> Result<i64, RecordFault> {
        export::json_lines(&self.inner, out).await
    }

    /// Writes every entry as one row of CSV under a head row, as of a file.
    ///
    /// # Errors
    /// [`RecordFault`] where the audit cannot be read or the export not be written.
    pub async fn export_csv(&self, out: &mut (dyn Write + Send)) -> Result<i64, RecordFault> {
        export::csv(&self.inner, out).await
    }

    /// The entries of one item, those that a question of [`asked::ON_ITEM`] means.
    async fn of_subject(
        &self,
        asked: String,
        subject: &Subject,
        entries_max: Option<usize>,
    ) -> Result<Vec<Entry>, RecordFault> {
        let (source, key) = (text::kept(&subject.source), text::kept(&subject.key));
        let table = subject.table.as_deref().map(member_of_table);
        let limit = entries_max.map(asked::limit);
        let mut values: Vec<(&(dyn ToSql + Sync), Type)> =
            vec![(&source, Type::TEXT), (&key, Type::TEXT), (&table, Type::TEXT)];
        values.extend(limit.iter().map(|limit| (limit as &(dyn ToSql + Sync), Type::INT8)));
        let mut entries = self.entries(asked.replace(asked::ON_ITEM, ON_ITEM), &values).await?;
        entries.retain(|entry| subject.is_of(entry));
        Ok(entries)
    }

    async fn entries(&self, asked: String, values: &Values<'_>) -> Result<Vec<Entry>, RecordFault> {
        let lent = self.inner.lent().await?;
        let found = read::entries(lent.client(), &asked, values).await;
        lent.ended(found.map_err(|fault| refused::fault_of(&self.inner.shown, &fault))).await
    }

    /// Writes in a task of its own, which is not dropped with whoever waits for it, and signs at intervals.
    async fn write(&self, wanted: Wanted) -> Result<append::Written, RecordFault> {
        if self.inner.read_only {
            return Err(fault::opened_to_read(&self.inner.shown));
        }
        let inner = Arc::clone(&self.inner);
        let task = tokio::spawn(async move {
            let mut writer = inner.writer.lock().await;
            // What cannot be written cannot be signed: whoever is told of the one need not wait to be told of the other.
            let written =
                append::append(&inner, &mut writer, wanted).await.inspect_err(|_| writer.unsigned = 0)?;
            let before = writer.unsigned;
            writer.unsigned += written.placed.len();
            if let (Some(seals), Some(last)) = (&inner.seals, written.placed.last())
                && writer.unsigned / CHECKPOINT_ENTRIES > before / CHECKPOINT_ENTRIES
            {
                // What was appended is durable, signed or not: why it is not is told when the run is sealed.
                let _told_later = seal::take(&inner, &mut writer, seals, &last.at).await;
            }
            Ok(written)
        });
        task.await.unwrap_or_else(|_| Err(fault::stopped(&self.inner.shown)))
    }
}

/// What is to be written.
enum Wanted {
    /// All of these.
    Each(Vec<NewEntry>),
    /// One of which its decision has one at most.
    Once(Box<NewEntry>, Uuid),
}

impl Inner {
    async fn lent(&self) -> Result<Lent, RecordFault> {
        self.place.to_read().await.map_err(|fault| refused::of_place(&fault))
    }

    fn schema(&self) -> Result<String, RecordFault> {
        let schema = self.place.schema().map_err(|fault| refused::of_place(&fault))?;
        Ok(schema.unwrap_or_else(|| schema::SCHEMA.to_owned()))
    }
}

/// What makes an entry one of an item, in words that need no body to be JSON: one that is none must not keep the others from
/// being found. Whether the member is the one that is meant is looked at afterwards.
const ON_ITEM: &str = "key = ?2 AND (source = ?1 OR position(?3 IN body) > 0)";

/// The member of a body that names a table, as bodies are written.
fn member_of_table(table: &str) -> String {
    let member = serde_json::json!({ (Subject::TABLE): table }).to_string();
    text::kept(member.trim_start_matches('{').trim_end_matches('}')).into_owned()
}

#[async_trait]
impl Record for PostgresRecord {
    async fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault> {
        Ok(self.write(Wanted::Each(entries)).await?.placed)
    }

    async fn seal(&self, at: DateTime<Utc>) -> Result<(), RecordFault> {
        let inner = Arc::clone(&self.inner);
        let task = tokio::spawn(async move {
            let Some(seals) = &inner.seals else { return Ok(()) };
            let mut writer = inner.writer.lock().await;
            if writer.unsigned == 0 {
                return Ok(());
            }
            seal::take(&inner, &mut writer, seals, &stamp(at)).await?;
            writer.unsigned = 0;
            Ok(())
        });
        task.await.unwrap_or_else(|_| Err(fault::stopped(&self.inner.shown)))
    }

    async fn append_once(&self, entry: NewEntry) -> Result<Once, RecordFault> {
        use super::append::NOT_ONCE;
        let decision = entry.decision.filter(|_| crate::domain::audit::Event::ONCE.contains(&entry.event));
        let not_once = || fault::of_program(&self.inner.shown, NOT_ONCE);
        let written = self.write(Wanted::Once(Box::new(entry), decision.ok_or_else(not_once)?)).await?;
        if let Some(taken) = written.taken {
            return Ok(Once::Taken(taken));
        }
        written.placed.into_iter().next().map(Once::Placed).ok_or_else(not_once)
    }

    async fn unfinished(&self) -> Result<Vec<Entry>, RecordFault> {
        self.entries(asked::asked_for_unfinished(), &[]).await
    }

    async fn of_decision(&self, decision: Uuid) -> Result<Vec<Entry>, RecordFault> {
        self.entries(asked::asked_for_decision(), &[(&decision.to_string(), Type::TEXT)]).await
    }

    async fn intended_on(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.of_subject(asked::asked_for_intended(), subject, Some(entries_max)).await
    }

    async fn of_item(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.of_subject(asked::asked_for_item(), subject, Some(entries_max)).await
    }

    async fn escalated(&self, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.entries(asked::asked_for_escalated(), &[(&asked::limit(entries_max), Type::INT8)]).await
    }

    async fn waiting(&self, after: i64, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let values: &Values<'_> = &[(&after, Type::INT8), (&asked::limit(entries_max), Type::INT8)];
        self.entries(asked::asked_for_waiting(), values).await
    }

    async fn waiting_on(&self, subject: &Subject) -> Result<Vec<Entry>, RecordFault> {
        self.of_subject(asked::asked_for_waiting_on(), subject, None).await
    }

    async fn proposals_ending(
        &self,
        ending: &IdEnding,
        entries_max: usize,
    ) -> Result<Vec<Entry>, RecordFault> {
        let values: &Values<'_> = &[(&ending.as_str(), Type::TEXT), (&asked::limit(entries_max), Type::INT8)];
        self.entries(asked::asked_for_ending(), values).await
    }

    async fn page(&self, before: Option<i64>, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let before = before.unwrap_or(i64::MAX);
        let values: &Values<'_> = &[(&before, Type::INT8), (&asked::limit(entries_max), Type::INT8)];
        self.entries(asked::asked_for_page(), values).await
    }

    async fn recorded_by(&self) -> Result<Option<RecordedBy>, RecordFault> {
        let lent = self.inner.lent().await?;
        let told = read::recorded_by(lent.client()).await;
        lent.ended(told.map(Some).map_err(|fault| refused::fault_of(&self.inner.shown, &fault))).await
    }
}
