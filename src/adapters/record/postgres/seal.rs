//! Signs what the audit holds, with this operator's own key. A checkpoint is kept here first, where only this account can
//! take it away again, and then in the database, for everybody who knows the key's public half.

use super::append::locked;
use super::read::hash_at;
use super::refused::fault_of;
use super::walk::follow;
use super::{Inner, Writer};
use crate::adapters::postgres::client::{Client, Error, value_at};
use crate::adapters::record::fault;
use crate::adapters::record::seal::{Last, Seals, Signer, is_of};
use crate::adapters::record::verify::walk::Stop;
use crate::domain::audit::Walk;
use crate::domain::checkpoint::Signed;
use crate::ports::record::RecordFault;
use tokio_postgres::types::Type;

/// Signs what the audit holds now, if what was added since this key's last checkpoint is whole.
pub(super) async fn take(
    inner: &Inner,
    writer: &mut Writer,
    seals: &Seals,
    at: &str,
) -> Result<(), RecordFault> {
    let signer = Signer::new(&inner.shown, seals)?;
    let before = signer.last()?;
    let (first, walk) = walked(inner, &signer, &before).await?;
    let Some(first) = first else { return Ok(()) };
    // One run at a time keeps a checkpoint, also of those that share this key and its files.
    let session = locked(inner, writer).await?;
    let kept = keep(inner, session.client(), &signer, &before, (&first, &walk), at).await;
    let is_over = session.client().batch_execute(if kept.is_ok() { "COMMIT" } else { "ROLLBACK" }).await;
    let is_over = is_over.map_err(|fault| not_in_database(inner, &fault));
    writer.kept = Some(session).filter(|_| is_over.is_ok());
    kept.and(is_over)
}

/// Holds the audit against what this key signed last, before anything is added: one that became shorter, or another one in
/// its place (an older copy, a standby that was behind), is not written on. Without a key or a checkpoint there is nothing to
/// hold it against.
pub(super) async fn compare(inner: &Inner, client: &Client) -> Result<(), RecordFault> {
    let Some(seals) = &inner.seals else { return Ok(()) };
    // Why there is no key is told when it comes to signing.
    let Ok(signer) = Signer::new(&inner.shown, seals) else { return Ok(()) };
    let Some(checkpoint) = signer.last()?.signed.map(|last| last.checkpoint) else { return Ok(()) };
    let sql = |fault: Error| fault_of(&inner.shown, &fault);
    let first = hash_at(client, 1).await.map_err(sql)?;
    let there = hash_at(client, checkpoint.entries).await.map_err(sql)?;
    if is_of(&checkpoint, first.as_deref(), there.as_deref()) {
        return Ok(());
    }
    let what = format!(
        "it is not the audit that was signed here on {} with {}: it became shorter, or another is in its place",
        checkpoint.at,
        crate::domain::checkpoint::entries_in_words(checkpoint.entries)
    );
    Err(fault::broken_end(&inner.shown, &what))
}

/// Walks from the last checkpoint on, whose entry must still be there; the hash of the first entry, and where the walk ended.
async fn walked(
    inner: &Inner,
    signer: &Signer<'_>,
    last: &Last,
) -> Result<(Option<String>, Walk), RecordFault> {
    let lent = inner.lent().await?;
    let work = async {
        let (client, sql) = (lent.client(), |fault: Error| fault_of(&inner.shown, &fault));
        let first = hash_at(client, 1).await.map_err(sql)?;
        let mut walk = match last.signed.as_ref().map(|signed| &signed.checkpoint) {
            None => Walk::default(),
            Some(checkpoint) => {
                let there = hash_at(client, checkpoint.entries).await.map_err(sql)?;
                signer.go_on(checkpoint, first.as_deref(), there.as_deref())?
            }
        };
        follow(&inner.shown, client, &mut walk, |_| {}).await.map_err(|stop| match stop {
            Stop::Entry(broken) => signer.refused(&broken.to_string()),
            Stop::File(what) => signer.refused(&what),
            Stop::Sql(fault) => fault::of_sql(&inner.shown, &fault),
            Stop::Fault(fault) => fault,
        })?;
        Ok((first, walk))
    };
    let walked = work.await;
    lent.ended(walked).await
}

async fn keep(
    inner: &Inner,
    client: &Client,
    signer: &Signer<'_>,
    before: &Last,
    (first, walk): (&str, &Walk),
    at: &str,
) -> Result<(), RecordFault> {
    let last = signer.last()?;
    // Another run of this key was faster: what it signed holds, and this one's entries are signed by the next.
    let is_other = last.signed != before.signed;
    let is_signed = last.signed.as_ref().is_some_and(|signed| signed.checkpoint.entries >= walk.count());
    let line = if is_other || is_signed {
        last.signed.as_ref().map(Signed::to_line)
    } else {
        Some(signer.keep(&last, first, walk, at, None)?)
    };
    let Some(line) = line else { return Ok(()) };
    let lines = match &before.signed {
        Some(before) if !is_in_database(inner, client, &before.to_line()).await? => {
            // An earlier run could not put its own there.
            match std::fs::read_to_string(&signer.seals.checkpoints) {
                Ok(text) => text.lines().map(str::to_owned).collect(),
                Err(_) => vec![line],
            }
        }
        Some(_) | None => vec![line],
    };
    put(client, signer, &lines).await.map_err(|fault| not_in_database(inner, &fault))
}

async fn is_in_database(inner: &Inner, client: &Client, line: &str) -> Result<bool, RecordFault> {
    let asked = "SELECT EXISTS (SELECT 1 FROM checkpoints WHERE line = $1)";
    let there = client.query_typed_one(asked, &[(&line, Type::TEXT)]).await.and_then(|row| value_at(&row, 0));
    there.map_err(|fault| not_in_database(inner, &fault))
}

/// Puts checkpoints into the database; those that are there stay as they are.
async fn put(client: &Client, signer: &Signer<'_>, lines: &[String]) -> Result<(), Error> {
    let key = signer.key.public().fingerprint();
    let into = "INSERT INTO checkpoints (key, line) VALUES ($1, $2) ON CONFLICT (line) DO NOTHING";
    for line in lines {
        client.execute_typed(into, &[(&key, Type::TEXT), (line, Type::TEXT)]).await?;
    }
    Ok(())
}

fn not_in_database(inner: &Inner, fault: &Error) -> RecordFault {
    let told = fault_of(&inner.shown, fault);
    RecordFault {
        is_absent: false,
        what: format!("{}; what this run put on record is signed here and not in the database", told.what),
        do_next: format!("{} The next run that signs puts it there.", told.do_next),
    }
}
