//! Whether the audit in a database is as it was written.

use super::read::head;
use super::refused::fault_of;
use super::walk::follow;
use super::{Inner, schema};
use crate::adapters::postgres::client::{Client, Error, value_at};
use crate::adapters::record::verify::signed::{Against, Read};
use crate::adapters::record::verify::walk::Stop;
use crate::adapters::record::verify::{Comparison, Flaw, Verified};
use crate::domain::audit::Walk;
use crate::domain::checkpoint::entries_in_words;
use crate::ports::record::RecordFault;

pub(super) async fn verify(inner: &Inner, against: &Against) -> Result<Verified, RecordFault> {
    let lent = inner.lent().await?;
    let verified = look(inner, lent.client(), against).await;
    lent.ended(verified).await
}

async fn look(inner: &Inner, client: &Client, against: &Against) -> Result<Verified, RecordFault> {
    let shown = &inner.shown;
    let sql = |fault: Error| fault_of(shown, &fault);
    let format = client.query_typed_one("SELECT format FROM about", &[]).await.map_err(sql)?;
    schema::refuse_other_version(shown, value_at(&format, 0).map_err(sql)?)?;
    let mut verified = Verified::nothing_yet();
    let flaws = schema::flaws(client, &inner.schema()?).await.map_err(sql)?;
    verified.flaws.extend(flaws.into_iter().map(Flaw::File));
    let lines = checkpoints(client).await.map_err(sql)?;
    let against = Against { lines: Some(lines), ..against.clone() };
    let Read { marks, flaws, others } = against.read(shown)?;
    let mut comparison = Comparison::new(marks);
    let mut walk = Walk::default();
    let walked = match follow(shown, client, &mut walk, |walk| comparison.see(walk)).await {
        Ok(()) => look_at_end(inner, client, &walk).await,
        stopped => stopped,
    };
    verified.take(&walk);
    comparison.end(walked, shown, &mut verified)?;
    verified.signatures.others = others;
    verified.take_flaws_of_checkpoints(flaws, &against);
    Ok(verified)
}

/// The checkpoints that the database holds, in the order in which they came.
pub(super) async fn checkpoints(client: &Client) -> Result<Vec<String>, Error> {
    let rows = client.query_typed("SELECT line FROM checkpoints ORDER BY id", &[]).await?;
    rows.iter().map(|row| value_at(row, 0)).collect()
}

/// What the chain cannot say of itself: whether its last entry is the last that was written. Attachments without their
/// entry there cannot be: the database holds the one to the other.
async fn look_at_end(inner: &Inner, client: &Client, walk: &Walk) -> Result<(), Stop> {
    let head = head(client).await.map_err(|fault| Stop::Fault(fault_of(&inner.shown, &fault)))?;
    let (last, (highest, hash)) = (walk.count(), head);
    if highest > last {
        return Err(Stop::at(last + 1, format!("is missing (entries up to {highest} were written)")));
    }
    if highest < last {
        return Err(Stop::File(format!("it remembers {} and has {last}", entries_in_words(highest))));
    }
    if hash != walk.head() {
        return Err(Stop::File(format!("it remembers another entry {last}")));
    }
    Ok(())
}
