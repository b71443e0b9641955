//! A connection on which nothing is waited for without an end: the driver itself waits for an answer for ever.
//!
//! Only what is here asks a server, so nothing can be asked without its limit.

use crate::adapters::sql::silence::{KEPT_ANSWERS_MAX, spelled};
use mysql_async::prelude::{AsQuery, FromRow, Queryable, StatementLike};
use mysql_async::{Error, IoError, Params, Row, Statement};
use std::fmt;
use std::io;
use std::time::Duration;
use tokio::time::timeout;

/// The server said nothing for so long. What it was asked may have been done.
#[derive(Debug)]
pub(super) struct Silent(pub(super) Duration);

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer in {}", spelled(self.0))
    }
}

impl std::error::Error for Silent {}

impl Silent {
    /// How long a server said nothing, where that is the fault.
    pub(super) fn of(fault: &Error) -> Option<Duration> {
        let Error::Io(IoError::Io(fault)) = fault else { return None };
        fault.get_ref()?.downcast_ref::<Self>().map(|silent| silent.0)
    }
}

/// How long one answer is waited for on a connection, and whether it was in vain.
#[derive(Debug)]
struct Patience {
    answer_max: Duration,
    is_lost: bool,
}

impl Patience {
    /// The answer, within a time. A connection that was waited for in vain is not waited for again: half of an answer may
    /// still be on it.
    async fn within<T>(
        &mut self,
        answer_max: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        if !self.is_lost {
            // Until it is whole it may break off at any point.
            self.is_lost = true;
            if let Ok(answer) = timeout(answer_max, answer).await {
                self.is_lost = false;
                return answer;
            }
        }
        Err(Error::Io(IoError::Io(io::Error::new(io::ErrorKind::TimedOut, Silent(answer_max)))))
    }

    async fn answer<T>(&mut self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.within(self.answer_max, answer).await
    }
}

/// What came of a statement.
pub(super) struct Counted {
    /// How many rows it changed, or found where that is what counts.
    pub(super) changed: u64,
    /// How many rows it returned; `None` where it returns none ever.
    pub(super) returned: Option<usize>,
}

/// A connection, with how long each of its answers is waited for.
#[derive(Debug)]
pub(super) struct Conn {
    driver: mysql_async::Conn,
    patience: Patience,
}

impl Conn {
    /// A connection that has come about.
    pub(super) fn new(driver: mysql_async::Conn, answer_max: Duration) -> Self {
        Self { driver, patience: Patience { answer_max, is_lost: false } }
    }

    /// The number that the server calls it by.
    pub(super) fn id(&self) -> u32 {
        self.driver.id()
    }

    /// Whether one that was kept still answers.
    pub(super) async fn still_answers(&mut self) -> bool {
        self.patience.within(KEPT_ANSWERS_MAX, self.driver.ping()).await.is_ok()
    }

    /// Takes leave of the server.
    pub(super) async fn disconnect(self) {
        if !self.patience.is_lost {
            // A server that does not hear it finds the connection gone.
            drop(timeout(KEPT_ANSWERS_MAX, self.driver.disconnect()).await);
        }
    }

    pub(super) async fn query_drop(&mut self, sql: impl AsQuery) -> Result<(), Error> {
        self.patience.answer(self.driver.query_drop(sql)).await
    }

    pub(super) async fn query<T: FromRow + Send + 'static>(
        &mut self,
        sql: impl AsQuery,
    ) -> Result<Vec<T>, Error> {
        self.patience.answer(self.driver.query(sql)).await
    }

    pub(super) async fn query_first<T: FromRow + Send + 'static>(
        &mut self,
        sql: impl AsQuery,
    ) -> Result<Option<T>, Error> {
        self.patience.answer(self.driver.query_first(sql)).await
    }

    pub(super) async fn prep(&mut self, sql: impl AsQuery) -> Result<Statement, Error> {
        self.patience.answer(self.driver.prep(sql)).await
    }

    pub(super) async fn close(&mut self, statement: Statement) -> Result<(), Error> {
        self.patience.answer(self.driver.close(statement)).await
    }

    pub(super) async fn exec<T: FromRow + Send + 'static>(
        &mut self,
        sql: impl StatementLike,
        values: impl Into<Params> + Send,
    ) -> Result<Vec<T>, Error> {
        self.patience.answer(self.driver.exec(sql, values)).await
    }

    pub(super) async fn exec_first<T: FromRow + Send + 'static>(
        &mut self,
        sql: impl StatementLike,
        values: impl Into<Params> + Send,
    ) -> Result<Option<T>, Error> {
        self.patience.answer(self.driver.exec_first(sql, values)).await
    }

    /// Runs a statement and counts.
    pub(super) async fn exec_counted(
        &mut self,
        sql: impl StatementLike,
        values: impl Into<Params>,
    ) -> Result<Counted, Error> {
        let driver = &mut self.driver;
        let counted = async {
            let result = driver.exec_iter(sql, values).await?;
            let returns = !result.columns_ref().is_empty();
            let changed = result.affected_rows();
            let returned = result.collect_and_drop::<Row>().await?.len();
            Ok(Counted { changed, returned: returns.then_some(returned) })
        };
        self.patience.answer(counted).await
    }

    /// Hands on each row of a query as it comes, until somebody has enough: the inner fault is theirs.
    pub(super) async fn exec_each<E>(
        &mut self,
        sql: impl StatementLike,
        values: impl Into<Params>,
        mut each: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<Result<(), E>, Error> {
        let mut rows = self.patience.answer(self.driver.exec_iter(sql, values)).await?;
        while let Some(row) = self.patience.answer(rows.next()).await? {
            if let Err(enough) = each(row) {
                return Ok(Err(enough));
            }
        }
        Ok(Ok(()))
    }
}
