//! A connection on which nothing is waited for without an end: the driver itself waits for an answer for ever.
//!
//! Only what is here asks a server, so nothing can be asked without its limit.

use crate::adapters::sql::silence::spelled;
use futures_util::StreamExt;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::{BorrowToSql, FromSql, ToSql, Type};
use tokio_postgres::{CancelToken, Row, Statement};

/// What keeps something from being answered.
#[derive(Debug)]
pub(in crate::adapters) enum Error {
    /// The server's own word, or the driver's.
    Told(tokio_postgres::Error),
    /// The server said nothing for so long. What it was asked may have been done.
    Silent(Duration),
}

impl Error {
    /// The server's own word, if it is one.
    pub(in crate::adapters) fn as_db_error(&self) -> Option<&DbError> {
        match self {
            Self::Told(told) => told.as_db_error(),
            Self::Silent(_) => None,
        }
    }

    /// The server's own code, if it is one.
    pub(in crate::adapters) fn code(&self) -> Option<&SqlState> {
        self.as_db_error().map(DbError::code)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(told: tokio_postgres::Error) -> Self {
        Self::Told(told)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(told) => told.fmt(f),
            Self::Silent(waited) => write!(f, "no answer in {}", spelled(*waited)),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Told(told) => told.source(),
            Self::Silent(_) => None,
        }
    }
}

/// How long one answer is waited for on a connection, and whether it was in vain.
#[derive(Debug, Clone)]
struct Patience {
    answer_max: Duration,
    is_lost: Arc<AtomicBool>,
}

impl Patience {
    /// The answer, within a time. A connection that was waited for in vain is not waited for again.
    async fn within<T>(
        &self,
        answer_max: Duration,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        if self.is_lost.load(Ordering::Relaxed) {
            return Err(Error::Silent(answer_max));
        }
        if let Ok(answer) = timeout(answer_max, answer).await {
            return answer.map_err(Error::Told);
        }
        self.is_lost.store(true, Ordering::Relaxed);
        Err(Error::Silent(answer_max))
    }

    async fn answer<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        self.within(self.answer_max, answer).await
    }
}

/// Values with the types that they are sent as.
type Typed<'a> = [(&'a (dyn ToSql + Sync), Type)];

/// A connection, with how long each of its answers is waited for.
#[derive(Debug)]
pub(in crate::adapters) struct Client {
    driver: tokio_postgres::Client,
    patience: Patience,
}

impl Client {
    /// A connection that has come about.
    pub(super) fn new(driver: tokio_postgres::Client, answer_max: Duration) -> Self {
        Self { driver, patience: Patience { answer_max, is_lost: Arc::default() } }
    }

    /// Whether it is of no use any more.
    pub(super) fn is_closed(&self) -> bool {
        self.driver.is_closed() || self.patience.is_lost.load(Ordering::Relaxed)
    }

    /// What tells the server to stop.
    pub(super) fn cancel_token(&self) -> CancelToken {
        self.driver.cancel_token()
    }

    /// Runs statements, which are waited for no longer than this.
    pub(super) async fn batch_execute_within(&self, sql: &str, answer_max: Duration) -> Result<(), Error> {
        self.patience.within(answer_max, self.driver.batch_execute(sql)).await
    }

    pub(in crate::adapters) async fn batch_execute(&self, sql: &str) -> Result<(), Error> {
        self.patience.answer(self.driver.batch_execute(sql)).await
    }

    pub(in crate::adapters) async fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.patience.answer(self.driver.query(sql, values)).await
    }

    pub(in crate::adapters) async fn query_one(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, Error> {
        self.patience.answer(self.driver.query_one(sql, values)).await
    }

    pub(in crate::adapters) async fn query_typed(
        &self,
        sql: &str,
        values: &Typed<'_>,
    ) -> Result<Vec<Row>, Error> {
        self.patience.answer(self.driver.query_typed(sql, values)).await
    }

    pub(in crate::adapters) async fn query_typed_one(
        &self,
        sql: &str,
        values: &Typed<'_>,
    ) -> Result<Row, Error> {
        self.patience.answer(self.driver.query_typed_one(sql, values)).await
    }

    pub(in crate::adapters) async fn query_typed_opt(
        &self,
        sql: &str,
        values: &Typed<'_>,
    ) -> Result<Option<Row>, Error> {
        self.patience.answer(self.driver.query_typed_opt(sql, values)).await
    }

    pub(in crate::adapters) async fn execute(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Error> {
        self.patience.answer(self.driver.execute(sql, values)).await
    }

    pub(in crate::adapters) async fn execute_typed(
        &self,
        sql: &str,
        values: &Typed<'_>,
    ) -> Result<u64, Error> {
        self.patience.answer(self.driver.execute_typed(sql, values)).await
    }

    pub(in crate::adapters) async fn prepare(&self, sql: &str) -> Result<Statement, Error> {
        self.patience.answer(self.driver.prepare(sql)).await
    }

    /// The rows of a query as they come.
    pub(in crate::adapters) async fn stream<P, I>(&self, sql: &str, values: I) -> Result<RowStream, Error>
    where
        P: BorrowToSql,
        I: IntoIterator<Item = P>,
        I::IntoIter: ExactSizeIterator,
    {
        let rows = self.patience.answer(self.driver.query_raw(sql, values)).await?;
        Ok(RowStream { rows: Box::pin(rows), patience: self.patience.clone() })
    }
}

/// Rows that come one after the other, each of them waited for as long as an answer is.
pub(in crate::adapters) struct RowStream {
    rows: Pin<Box<tokio_postgres::RowStream>>,
    patience: Patience,
}

impl RowStream {
    /// The next row; `None` at the end.
    pub(in crate::adapters) async fn next(&mut self) -> Result<Option<Row>, Error> {
        let rows = &mut self.rows;
        self.patience.answer(async { rows.next().await.transpose() }).await
    }
}

/// A row's value at a place.
pub(in crate::adapters) fn value_at<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at).map_err(Error::Told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::future::pending;

    fn patience() -> Patience {
        Patience { answer_max: Duration::from_secs(65), is_lost: Arc::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_is_waited_for_without_an_end_nor_twice() {
        let patience = patience();
        let began = tokio::time::Instant::now();
        let first = patience.answer(pending::<Result<(), tokio_postgres::Error>>()).await;
        assert_eq!(first.unwrap_err().to_string(), "no answer in 65 s");
        assert_eq!(began.elapsed().as_secs(), 65);
        // Whatever is asked on the same connection then, also what would answer.
        let second = patience.answer(async { Ok(()) }).await;
        assert_eq!(second.unwrap_err().to_string(), "no answer in 65 s");
        assert_eq!(began.elapsed().as_secs(), 65);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_within_its_time_is_taken() {
        let late = async {
            tokio::time::sleep(Duration::from_secs(64)).await;
            Ok(7)
        };
        assert_eq!(patience().answer(late).await.unwrap(), 7);
    }
}
