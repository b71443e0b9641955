//! Rows of the server's as entries. What is asked is the same as of a file.

use super::Values;
use super::text::text_at;
use crate::adapters::postgres::client::{Client, Error, value_at};
use crate::adapters::record::read::COLUMNS;
use crate::domain::audit::{Entry, RecordedBy};
use std::sync::Arc;
use tokio_postgres::Row;

/// The entry in a row of [`COLUMNS`].
pub(super) fn entry_of(row: &Row) -> Result<Entry, Error> {
    let text = |at: usize| text_at(row, at);
    Ok(Entry {
        seq: row.try_get(0)?,
        at: text(1)?,
        event: text(2)?,
        decision: text(3)?,
        source: text(4)?,
        key: text(5)?,
        operator: text(6)?,
        origin: text(7)?,
        body: text(8)?,
        prev: text(9)?,
        hash: text(10)?,
    })
}

/// How many columns [`COLUMNS`] are: what is selected behind them comes at this place.
pub(super) const BEHIND_COLUMNS: usize = 11;

/// The entries that a question of the record is answered with.
pub(super) async fn entries(client: &Client, asked: &str, values: &Values<'_>) -> Result<Vec<Entry>, Error> {
    client.query_typed(&spelled(asked), values).await?.iter().map(entry_of).collect()
}

/// A question as PostgreSQL numbers its values.
pub(super) fn spelled(asked: &str) -> String {
    asked.replace('?', "$")
}

/// Who the server let in, and from where.
pub(super) async fn recorded_by(client: &Client) -> Result<RecordedBy, Error> {
    let row = client.query_typed_one("SELECT session_user::text, host(inet_client_addr())", &[]).await?;
    let (login, address): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(RecordedBy { login: Arc::from(login), address: address.map(Arc::from) })
}

/// The hash of an entry.
pub(super) async fn hash_at(client: &Client, seq: i64) -> Result<Option<String>, Error> {
    let asked = "SELECT hash FROM entries WHERE seq = $1";
    let row = client.query_typed_opt(asked, &[(&seq, tokio_postgres::types::Type::INT8)]).await?;
    row.map(|row| value_at(&row, 0)).transpose()
}

/// The last entry.
pub(super) async fn last(client: &Client) -> Result<Option<Entry>, Error> {
    let asked = format!("SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1");
    client.query_typed_opt(&asked, &[]).await?.as_ref().map(entry_of).transpose()
}

/// The number and hash of the last entry that was ever written, as the database remembers them.
pub(super) async fn head(client: &Client) -> Result<(i64, String), Error> {
    let row = client.query_typed_one("SELECT seq, hash FROM head", &[]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}
