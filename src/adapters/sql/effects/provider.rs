//! One operation of one configured database, behind the port.

use super::record::Record;
use super::spell::{Query, Spelled};
use super::{Bounds, EffectsDatabase, EffectsSession, Standing, read};
use crate::adapters::canary;
use crate::adapters::http::pacer::Pacer;
use crate::adapters::sql::health::{self, doubtful, good};
use crate::domain::cell::Cell;
use crate::domain::evidence::{Answer, Clocks, EffectState, Fault, FaultKind};
use crate::domain::listing::{EFFECTS_MAX, Listing};
use crate::domain::moment::span;
use crate::domain::plan::Confirming;
use crate::domain::text::clean_cut;
use crate::ports::clock::Clock;
use crate::ports::provider::{Listed, Provider, ProviderFacts, Question, Told, Window};
use crate::ports::source::{Examined, Health};
use crate::preset::provider::{
    How, LISTING_BYTES_MAX, LISTING_KEPT_BYTES_MAX, Limits, Lookback, OperationSettings, ProviderPreset,
    SQL_LISTING_SECONDS_MAX, SQL_PAGE_ROWS, SQL_PAGES_MAX, SqlLookUp,
};
use async_trait::async_trait;
use chrono::TimeDelta;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// How far a server's clock may be from ours before `doctor` says so.
const CLOCK_GAP_MAX: TimeDelta = TimeDelta::seconds(5);

/// What all operations of one configured database share.
pub struct SharedDatabase {
    database: Box<dyn EffectsDatabase>,
    pacer: Pacer,
    in_flight: Semaphore,
    in_flight_max: usize,
    replica_lag_max: Option<TimeDelta>,
    /// Another bound than the preset's on one whole check.
    check_max: Option<Duration>,
}

impl fmt::Debug for SharedDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedDatabase({})", self.database.place())
    }
}

impl SharedDatabase {
    /// A database with its pace. `replica_lag_max` is how far behind a replica may be; `None` where only the primary counts.
    pub fn new(
        database: Box<dyn EffectsDatabase>,
        pace_per_second: f64,
        in_flight_max: usize,
        replica_lag_max: Option<TimeDelta>,
        check_max: Option<Duration>,
    ) -> Self {
        let in_flight_max = in_flight_max.max(1);
        Self {
            database,
            pacer: Pacer::new(pace_per_second),
            in_flight: Semaphore::new(in_flight_max),
            in_flight_max,
            replica_lag_max,
            check_max,
        }
    }
}

/// What makes sure of an absence beside its own query, as so many queries more: whether anything is nearly ours, whether the
/// table shows anything, and the canary.
fn confirming(has_canary: bool) -> Confirming {
    let of_canary = usize::from(has_canary);
    Confirming { of_item: 2 + of_canary, of_list: of_canary }
}

/// One operation of one configured database.
pub struct SqlProvider {
    facts: ProviderFacts,
    how: Result<Box<SqlLookUp>, String>,
    limits: Limits,
    own_pacer: Option<Pacer>,
    own_in_flight: Option<Semaphore>,
    canary: Option<String>,
    shared: Arc<SharedDatabase>,
    clock: Arc<dyn Clock>,
}

impl SqlProvider {
    /// Makes ready one operation. `name` is what the configuration calls it (`ledger.entry`).
    ///
    /// # Errors
    /// A sentence: the preset has no such operation, or it is asked over HTTP.
    pub fn build(
        name: &str,
        preset: &ProviderPreset,
        operation: &str,
        otherwise: &OperationSettings,
        shared: Arc<SharedDatabase>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let wrong = |what: &str| format!("provider `{}`, operation `{operation}`: {what}", preset.name);
        let found = preset.operations.get(operation).ok_or_else(|| wrong("there is none of that name"))?;
        let how = match &found.how {
            How::Sql(look) => Ok(look.clone()),
            How::Unanswerable(why) => Err(why.clone()),
            How::Ask(_) => return Err(wrong("it is asked over HTTP, not read by SQL")),
        };
        let limits = preset.limits.within(shared.check_max);
        let own_pacer = otherwise.pace_per_second.or(found.pace_per_second).map(Pacer::new);
        let own_in_flight_max = otherwise.in_flight_max.or(found.in_flight_max).map(|max| max.max(1));
        let interval = own_pacer.as_ref().map_or(Duration::ZERO, Pacer::usual).max(shared.pacer.usual());
        Ok(Self {
            facts: ProviderFacts {
                name: name.into(),
                place: shared.database.place().to_owned(),
                clocks: clocks(found.clocks, otherwise, shared.replica_lag_max),
                in_flight_max: own_in_flight_max
                    .map_or(shared.in_flight_max, |max| max.min(shared.in_flight_max)),
                interval,
                listing: how.as_ref().ok().and_then(|look| look.listing_facts()),
                confirming: confirming(otherwise.canary.is_some()),
                check_max: limits.check_max,
            },
            how,
            limits,
            own_pacer,
            own_in_flight: own_in_flight_max.map(Semaphore::new),
            canary: otherwise.canary.clone(),
            shared,
            clock,
        })
    }

    /// A place among those that may be in flight at once. A closed semaphore would be an error; nobody closes these.
    async fn in_flight(&self) -> [Option<SemaphorePermit<'_>>; 2] {
        let own = match &self.own_in_flight {
            Some(bound) => bound.acquire().await.ok(),
            None => None,
        };
        [own, self.shared.in_flight.acquire().await.ok()]
    }

    async fn turn(&self, deadline: Instant) -> Result<(), Fault> {
        for pacer in self.own_pacer.iter().chain([&self.shared.pacer]) {
            pacer.turn(deadline).await.map_err(|_no_turn| {
                Fault::new(FaultKind::TookTooLong, "there was no turn in the time that it may take")
            })?;
        }
        Ok(())
    }

    /// A session, and the look-up spelled for what is there.
    async fn begin(&self, look: &SqlLookUp) -> Result<Box<dyn EffectsSession>, Fault> {
        let session = self.shared.database.begin(look).await.map_err(read::fault_of)?;
        self.spelled(look, &*session).check_columns()?;
        Ok(session)
    }

    fn spelled<'a>(&self, look: &'a SqlLookUp, session: &'a dyn EffectsSession) -> Spelled<'a> {
        Spelled { engine: self.shared.database.engine(), look, facts: session.facts() }
    }

    async fn read_all(
        &self,
        look: &SqlLookUp,
        reference: &str,
        record: &mut Record<'_>,
    ) -> Result<Answer, Fault> {
        self.turn(Instant::now() + self.limits.check_max).await?;
        let mut session = self.begin(look).await?;
        let query = self.spelled(look, &*session).of_reference(reference, EFFECTS_MAX)?;
        let rows = self.rows(&query, &mut *session, record).await?;
        let effects = read::effects_of(look, &rows, reference)?;
        if !read::shows_one(&effects) {
            // Whatever else there is rests on what was not seen.
            if let Some(doubt) = read::doubt(session.facts(), self.shared.replica_lag_max) {
                return Err(doubt);
            }
        }
        if effects.is_empty() {
            self.check_nothing_is_nearly_ours(look, reference, &mut *session, record).await?;
            self.check_shows_something(look, &mut *session, record).await?;
            self.check_canary(look, reference, &mut *session, record).await?;
        }
        session.end().await;
        Ok(Answer::Complete { effects, seen_from: None })
    }

    /// The rows of a query for effects, each noted.
    async fn rows(
        &self,
        query: &Query,
        session: &mut dyn EffectsSession,
        record: &mut Record<'_>,
    ) -> Result<Vec<Vec<Cell>>, Fault> {
        record.ask(&query.sql, self.clock.now());
        let began = Instant::now();
        let bounds = Bounds { rows_max: EFFECTS_MAX, bytes_max: self.limits.body_bytes_max };
        let rows = session.rows(&query.sql, &query.values, bounds).await?;
        record.rows(&rows, began);
        Ok(rows)
    }

    /// An absence counts only where a presence would have shown: in a table that has rows with references.
    async fn check_shows_something(
        &self,
        look: &SqlLookUp,
        session: &mut dyn EffectsSession,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        let sql = self.spelled(look, session).any();
        record.ask(&sql, self.clock.now());
        let began = Instant::now();
        let bounds = Bounds { rows_max: 1, bytes_max: self.limits.body_bytes_max };
        let rows = session.rows(&sql, &[], bounds).await?;
        record.took(began);
        if rows.is_empty() {
            let name = clean_cut(look.name(), 60);
            return Err(Fault::new(
                FaultKind::Shape,
                format!(
                    "no row of `{name}` has a reference, which proves nothing of ours: is it the right one?"
                ),
            ));
        }
        Ok(())
    }

    /// An absence counts only where nothing carries our reference but for case or blanks, as it does of a list.
    async fn check_nothing_is_nearly_ours(
        &self,
        look: &SqlLookUp,
        reference: &str,
        session: &mut dyn EffectsSession,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        let Some(query) = self.spelled(look, session).nearly(reference, EFFECTS_MAX) else { return Ok(()) };
        let rows = self.rows(&query, session, record).await?;
        read::effects_of(look, &rows, reference).map(drop)
    }

    /// With a canary, an absence counts only while that is found.
    async fn check_canary(
        &self,
        look: &SqlLookUp,
        reference: &str,
        session: &mut dyn EffectsSession,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        match canary::due(self.canary.as_deref(), reference) {
            Some(canary) => self.find_canary(look, canary, session, record).await,
            None => Ok(()),
        }
    }

    async fn find_canary(
        &self,
        look: &SqlLookUp,
        canary: &str,
        session: &mut dyn EffectsSession,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        let query = self.spelled(look, session).of_reference(canary, EFFECTS_MAX)?;
        let rows = self.rows(&query, session, record).await?;
        let is_found = read::effects_of(look, &rows, canary).map(|effects| !effects.is_empty());
        let doubt = format!("is `{}` the right table?", clean_cut(look.name(), 60));
        canary::confirmed(canary, is_found, &doubt)
    }

    async fn list_whole(
        &self,
        look: &SqlLookUp,
        window: &Window,
        record: &mut Record<'_>,
    ) -> Result<Listing, Fault> {
        self.turn(Instant::now() + Duration::from_secs(SQL_LISTING_SECONDS_MAX)).await?;
        let mut session = self.begin(look).await?;
        let rows_max = window.pages_max.min(SQL_PAGES_MAX) * SQL_PAGE_ROWS;
        let sql = self.spelled(look, &*session).listed(window.from, rows_max);
        record.ask(&sql, self.clock.now());
        let began = Instant::now();
        let bounds = Bounds { rows_max, bytes_max: LISTING_BYTES_MAX };
        let rows = session.rows(&sql, &[], bounds).await?;
        record.rows(&rows, began);
        // For some item this list will be an absence.
        if let Some(doubt) = read::doubt(session.facts(), self.shared.replica_lag_max) {
            return Err(doubt);
        }
        let listing = read::listing_of(look, &rows, window.from)?;
        // A list goes no further back than its window, so the canary need not be on it.
        if let Some(canary) = self.canary.as_deref().filter(|canary| listing.pages_of(canary).is_empty()) {
            self.find_canary(look, canary, &mut *session, record).await?;
        }
        session.end().await;
        Ok(listing)
    }

    async fn looked_at(&self, look: &SqlLookUp) -> Result<Vec<Examined>, Fault> {
        let mut session = self.shared.database.begin(look).await.map_err(read::fault_of)?;
        let facts = session.facts().clone();
        let server = session.server().await?;
        let mut lines = vec![standing(&server, facts.standing, self.shared.replica_lag_max)];
        let columns: Vec<(String, String)> =
            facts.columns.iter().map(|column| (column.name.to_string(), String::new())).collect();
        lines.push(health::columns(look.name(), &columns));
        if let Err(fault) = self.spelled(look, &*session).check_columns() {
            lines.push(Examined { what: "columns".to_owned(), health: Health::Bad, finding: fault.detail });
            return Ok(lines);
        }
        lines.extend(
            facts.doubts.iter().map(|doubt| {
                doubtful("absence", format!("{doubt}: what is not found there stays `unknown`"))
            }),
        );
        lines.push(indexes(look, session.indexed().await?));
        let bounds = Bounds { rows_max: super::spell::STATUSES_MAX, bytes_max: self.limits.body_bytes_max };
        if let Some(sql) = self.spelled(look, &*session).statuses() {
            lines.push(statuses(look, &session.rows(&sql, &[], bounds).await?));
        }
        let any = self.spelled(look, &*session).any();
        lines.push(if session.rows(&any, &[], bounds).await?.is_empty() {
            doubtful("rows", "none has a reference: what is not found there stays `unknown`")
        } else {
            good("rows", "there are some with a reference")
        });
        let gap = (self.clock.now() - facts.now).abs();
        lines.push(if gap > CLOCK_GAP_MAX {
            doubtful("clock", format!("the server's is {} away from this machine's", span(gap)))
        } else {
            good("clock", "the server's is this machine's")
        });
        session.end().await;
        Ok(lines)
    }
}

#[async_trait]
impl Provider for SqlProvider {
    fn facts(&self) -> &ProviderFacts {
        &self.facts
    }

    async fn ask(&self, question: &Question) -> Told {
        // The bounds in flight come first: waiting for others is not part of this check's time.
        let _in_flight = self.in_flight().await;
        let place = self.shared.database.place();
        let mut record = Record::new(place, &question.mask, self.limits.bodies_kept_bytes_max);
        let outcome = match &self.how {
            Err(why) => Err(Fault::new(FaultKind::Unanswerable, why.clone())),
            Ok(look) => {
                let work = self.read_all(look, &question.reference, &mut record);
                in_time(work, self.limits.check_max, "check", "check_seconds_max").await
            }
        };
        let answer = outcome.unwrap_or_else(|fault| {
            record.fault(&fault);
            Answer::Fault(fault)
        });
        Told {
            answer,
            evidence: record.finish(&self.facts.name, Some(&question.reference), self.clock.now()),
        }
    }

    async fn list(&self, window: &Window) -> Listed {
        let Some((Ok(look), facts)) = self.facts.listing.map(|facts| (&self.how, facts)) else {
            return Listed::not_listed(&self.facts.name);
        };
        let _in_flight = self.in_flight().await;
        let mut record = Record::new(self.shared.database.place(), &window.mask, LISTING_KEPT_BYTES_MAX);
        let work = self.list_whole(look, window, &mut record);
        let outcome = in_time(work, facts.listing_max, "listing", "SQL_LISTING_SECONDS_MAX").await;
        if let Err(fault) = &outcome {
            record.fault(fault);
        }
        Listed { outcome, evidence: Some(record.finish(&self.facts.name, None, self.clock.now())) }
    }

    async fn examine(&self) -> Vec<Examined> {
        let look = match &self.how {
            Ok(look) => look,
            Err(why) => return vec![doubtful("answer", why.clone())],
        };
        let looked = in_time(self.looked_at(look), self.limits.check_max, "look", "check_seconds_max").await;
        looked.unwrap_or_else(|fault| {
            let finding = format!("{fault}. Every verdict of it will be `unknown`.");
            vec![Examined { what: "answer".to_owned(), health: Health::of(fault.kind), finding }]
        })
    }
}

/// Work within its time. Dropped, it tells the server to stop.
async fn in_time<T>(
    work: impl Future<Output = Result<T, Fault>>,
    time_max: Duration,
    what: &str,
    limit: &str,
) -> Result<T, Fault> {
    tokio::time::timeout(time_max, work).await.unwrap_or_else(|_| {
        let sentence = format!("the {what} took longer than {} s ({limit})", time_max.as_secs_f64());
        Err(Fault::new(FaultKind::TookTooLong, sentence))
    })
}

/// A replica shows an effect later, by as much as it may lag.
fn clocks(preset: Clocks, otherwise: &OperationSettings, replica_lag_max: Option<TimeDelta>) -> Clocks {
    Clocks {
        settle: otherwise.settle.unwrap_or(preset.settle) + replica_lag_max.unwrap_or_default(),
        lookback: otherwise.lookback.map_or(preset.lookback, Lookback::span),
        key_ttl: otherwise.key_ttl.or(preset.key_ttl),
    }
}

fn standing(server: &str, standing: Standing, replica_lag_max: Option<TimeDelta>) -> Examined {
    let lag = |lag: Option<TimeDelta>| {
        lag.map_or_else(|| "does not tell how far it lags".to_owned(), |lag| format!("lags {}", span(lag)))
    };
    match (standing, replica_lag_max) {
        (Standing::Primary, _) => good("server", server),
        (Standing::Replica { lag: told }, None) => doubtful(
            "server",
            format!(
                "{server}; a replica or read-only, {}: an absence stays `unknown` there. Name the primary, or say `replica_lag_max`",
                lag(told)
            ),
        ),
        (Standing::Replica { lag: told }, Some(max)) if told.is_some_and(|told| told <= max) => {
            good("server", format!("{server}; a replica that {}", lag(told)))
        }
        (Standing::Replica { lag: told }, Some(max)) => doubtful(
            "server",
            format!("{server}; a replica that {}, and `replica_lag_max` is {}", lag(told), span(max)),
        ),
    }
}

fn indexes(look: &SqlLookUp, indexed: Option<Vec<String>>) -> Examined {
    let Some(indexed) = indexed else {
        return good("index", "a query is read: whether its tables have indexes is not looked at");
    };
    let has = |column: &str| indexed.iter().any(|known| known.eq_ignore_ascii_case(column));
    let wanted = [Some(look.reference.as_str()), look.time.as_ref().map(|time| time.column.as_str())];
    let missing: Vec<String> = wanted
        .into_iter()
        .flatten()
        .filter(|column| !has(column))
        .map(|column| format!("`{}`", clean_cut(column, 60)))
        .collect();
    if missing.is_empty() {
        good("index", "reference and time can be looked up")
    } else {
        doubtful(
            "index",
            format!(
                "there is none that begins with {}: each look reads the whole table",
                missing.join(" or ")
            ),
        )
    }
}

/// The statuses there are. One that the preset does not list makes every verdict of it `unknown`.
fn statuses(look: &SqlLookUp, rows: &[Vec<Cell>]) -> Examined {
    let mut is_whole = true;
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            let cell = |at: usize| row.get(at).unwrap_or(&Cell::Null);
            let status = cell(0).to_plain();
            let state = match status.as_deref().map(|status| look.state_of(status)) {
                Some(EffectState::Happened) => "happened",
                Some(EffectState::Pending) => "pending",
                Some(EffectState::Failed) => "failed",
                Some(EffectState::Unlisted) | None => {
                    is_whole = false;
                    "NOT IN THE PRESET"
                }
            };
            format!("`{}` = {state} ({})", clean_cut(&cell(0).shown(), 40), cell(1).shown())
        })
        .collect();
    let told = if told.is_empty() { "the table is empty".to_owned() } else { told.join(", ") };
    if is_whole { good("statuses", told) } else { doubtful("statuses", told) }
}
