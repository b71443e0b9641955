//! Adds entries to the end of the chain, behind a lock that every console takes.

use super::read::{entries, hash_at, head, last, recorded_by, spelled};
use super::refused::{fault_of, of_place};
use super::text::kept;
use super::{Inner, Wanted, Writer};
use crate::adapters::postgres::client::{Client, Error, value_at};
use crate::adapters::postgres::connect::Writing;
use crate::adapters::postgres::fault::is_rolled_back;
use crate::adapters::record::append::{ASKED_FOR_END, once_among, place, refuse_malformed, sha256_of};
use crate::adapters::record::fault;
use crate::adapters::record::read::{COLUMNS, asked_for_decision};
use crate::adapters::record::schema::APPLICATION_ID;
use crate::domain::audit::{Attachment, Entry, GENESIS, NewEntry};
use crate::ports::record::RecordFault;
use std::path::Path;
use tokio_postgres::types::Type;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The entries that are on record.
    pub placed: Vec<Entry>,
    /// The entry that was there before, where its decision has one at most.
    pub taken: Option<Entry>,
}

/// Writes all entries or none. When it returns, they are durable.
pub(super) async fn append(
    inner: &Inner,
    writer: &mut Writer,
    wanted: Wanted,
) -> Result<Written, RecordFault> {
    if matches!(&wanted, Wanted::Each(entries) if entries.is_empty()) {
        return Ok(Written::default());
    }
    let session = locked(inner, writer).await?;
    if !writer.is_compared {
        super::seal::compare(inner, session.client()).await?;
        writer.is_compared = true;
    }
    let written = write(&inner.shown, session.client(), wanted, writer.highest).await?;
    let Some(end) = written.placed.last() else {
        // Nothing is kept of a transaction that wrote nothing; the connection is good once it is over.
        let is_over = session.client().batch_execute("ROLLBACK").await.is_ok();
        writer.kept = Some(session).filter(|_| is_over);
        return Ok(written);
    };
    match session.client().batch_execute("COMMIT").await {
        Ok(()) => writer.kept = Some(session),
        Err(refused) if is_rolled_back(&refused) => return Err(fault_of(&inner.shown, &refused)),
        // The server may have done it: that is read, never guessed, and never written again.
        Err(lost) => is_there(inner, writer, end, &lost).await?,
    }
    writer.highest = end.seq;
    Ok(written)
}

/// A connection in a transaction that holds the lock: whoever has it is alone at the end of the chain.
pub(super) async fn locked(inner: &Inner, writer: &mut Writer) -> Result<Writing, RecordFault> {
    if let Some(kept) = writer.kept.take()
        && kept.begin_kept().await.is_ok()
    {
        lock(inner, &kept).await?;
        return Ok(kept);
    }
    let session = inner.place.to_append().await.map_err(|fault| of_place(&fault))?;
    session.begin().await.map_err(|fault| fault_of(&inner.shown, &fault))?;
    lock(inner, &session).await?;
    Ok(session)
}

async fn lock(inner: &Inner, session: &Writing) -> Result<(), RecordFault> {
    // One lock an audit, whatever its schema is called.
    let lock = format!(
        "SELECT pg_advisory_xact_lock(({APPLICATION_ID}::int8 << 32) | 'entries'::regclass::oid::int8)"
    );
    session.client().batch_execute(&lock).await.map_err(|fault| fault_of(&inner.shown, &fault))
}

async fn write(shown: &Path, client: &Client, wanted: Wanted, highest: i64) -> Result<Written, RecordFault> {
    let sql = |fault: Error| fault_of(shown, &fault);
    refuse_what_is_not_durable(shown, client).await?;
    let (seq, prev) = read_end(shown, client).await?;
    if seq < highest {
        let what = format!("it ends at entry {seq}, and this run has seen entry {highest}");
        return Err(fault::broken_end(shown, &what));
    }
    let new = match wanted {
        Wanted::Each(entries) => entries,
        Wanted::Once(entry, decision) => {
            let id = decision.to_string();
            let earlier = entries(client, &asked_for_decision(), &[(&id, Type::TEXT)]).await.map_err(sql)?;
            if let Some(taken) = once_among(earlier) {
                return Ok(Written { placed: Vec::new(), taken: Some(taken) });
            }
            vec![*entry]
        }
    };
    let placed = chain(shown, client, new, (seq, prev)).await?;
    Ok(Written { placed, taken: None })
}

async fn chain(
    shown: &Path,
    client: &Client,
    new: Vec<NewEntry>,
    (mut seq, mut prev): (i64, String),
) -> Result<Vec<Entry>, RecordFault> {
    for entry in &new {
        refuse_malformed(entry).map_err(|what| fault::of_program(shown, what))?;
    }
    let sql = |fault: Error| fault_of(shown, &fault);
    let recorded_by = recorded_by(client).await.map_err(sql)?;
    let mut placed = Vec::with_capacity(new.len());
    for entry in new {
        refuse_second_end(shown, client, &entry).await?;
        seq += 1;
        let (entry, attachments) = place(entry, seq, &prev, Some(&recorded_by));
        prev.clone_from(&entry.hash);
        insert(client, &entry, &attachments).await.map_err(sql)?;
        placed.push(entry);
    }
    Ok(placed)
}

/// What a commit that has returned promises here: that a crash of the server takes nothing back.
async fn refuse_what_is_not_durable(shown: &Path, client: &Client) -> Result<(), RecordFault> {
    let asked = "SELECT current_setting('synchronous_commit'), relpersistence = 'p' FROM pg_class WHERE oid = 'entries'::regclass";
    let row = client.query_typed_one(asked, &[]).await.map_err(|fault| fault_of(shown, &fault))?;
    let read = || Ok::<(String, bool), Error>((row.try_get(0)?, row.try_get(1)?));
    let (commit, is_logged) = read().map_err(|fault| fault_of(shown, &fault))?;
    if is_logged && ["on", "remote_apply"].contains(&&*commit) {
        return Ok(());
    }
    Err(fault::of(
        shown,
        &format!(
            "would not outlive a crash (synchronous_commit is {commit}, its tables are logged: {is_logged})"
        ),
        "Set synchronous_commit = on for the role, and keep the audit in tables that are not UNLOGGED.",
    ))
}

/// The number and hash that the next entry follows, as of a file: the last must be whole and the last that ever was.
async fn read_end(shown: &Path, client: &Client) -> Result<(i64, String), RecordFault> {
    let sql = |fault: Error| fault_of(shown, &fault);
    let (highest, head) = head(client).await.map_err(sql)?;
    let (seq, hash) = match last(client).await.map_err(sql)? {
        Some(entry) if entry.hash != entry.expected_hash() => {
            let what = format!("its last entry ({}) is not what was written", entry.seq);
            return Err(fault::broken_end(shown, &what));
        }
        Some(entry) => (entry.seq, entry.hash),
        None => (0, GENESIS.to_owned()),
    };
    if seq != highest {
        let what = format!("it ends at entry {seq}, and entry {highest} was written");
        return Err(fault::broken_end(shown, &what));
    }
    if hash != head {
        let what = format!("its last entry ({seq}) is not the one that was written");
        return Err(fault::broken_end(shown, &what));
    }
    Ok((seq, hash))
}

/// A decision ends once. Looked at behind the lock, and held by an index too.
async fn refuse_second_end(shown: &Path, client: &Client, entry: &NewEntry) -> Result<(), RecordFault> {
    let Some(decision) = entry.decision.filter(|_| entry.event.is_outcome()) else { return Ok(()) };
    let id = decision.to_string();
    let earlier = client.query_typed_opt(&spelled(ASKED_FOR_END), &[(&id, Type::TEXT)]).await;
    let earlier = earlier.and_then(|row| row.map(|row| value_at::<i64>(&row, 0)).transpose());
    match earlier.map_err(|fault| fault_of(shown, &fault))? {
        None => Ok(()),
        Some(seq) => Err(fault::ended_before(shown, seq)),
    }
}

async fn insert(client: &Client, entry: &Entry, attachments: &[Attachment]) -> Result<(), Error> {
    let into =
        format!("INSERT INTO entries ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    let (source, key) = (kept(&entry.source), kept(&entry.key));
    let (operator, origin, body) = (kept(&entry.operator), kept(&entry.origin), kept(&entry.body));
    let values: &super::Values<'_> = &[
        (&entry.seq, Type::INT8),
        (&entry.at, Type::TEXT),
        (&entry.event, Type::TEXT),
        (&entry.decision, Type::TEXT),
        (&source, Type::TEXT),
        (&key, Type::TEXT),
        (&operator, Type::TEXT),
        (&origin, Type::TEXT),
        (&body, Type::TEXT),
        (&entry.prev, Type::TEXT),
        (&entry.hash, Type::TEXT),
    ];
    client.execute_typed(&into, values).await?;
    let into = "INSERT INTO attachments (seq, place, sha256, text, text_sha256) VALUES ($1, $2, $3, $4, $5)";
    for (place, attached) in (1_i64..).zip(attachments) {
        let values: &super::Values<'_> = &[
            (&entry.seq, Type::INT8),
            (&place, Type::INT8),
            (&attached.sha256, Type::TEXT),
            (&kept(&attached.text), Type::TEXT),
            (&sha256_of(&attached.text), Type::TEXT),
        ];
        client.execute_typed(into, values).await?;
    }
    Ok(())
}

/// Whether what was to be committed is there, after the answer to the commit was lost. The lock is waited for: until then
/// the session that was lost may still be committing.
async fn is_there(inner: &Inner, writer: &mut Writer, end: &Entry, lost: &Error) -> Result<(), RecordFault> {
    let shown = &inner.shown;
    let told = fault_of(shown, lost);
    let look = async {
        let session = locked(inner, writer).await?;
        let found = hash_at(session.client(), end.seq).await.map_err(|fault| fault_of(shown, &fault))?;
        let is_over = session.client().batch_execute("ROLLBACK").await.is_ok();
        writer.kept = Some(session).filter(|_| is_over);
        Ok::<_, RecordFault>(found)
    };
    match look.await {
        Ok(Some(hash)) if hash == end.hash => Ok(()),
        Ok(_) => {
            Err(RecordFault { is_absent: false, what: format!("{}; nothing was written", told.what), ..told })
        }
        Err(unread) => Err(RecordFault {
            is_absent: false,
            what: format!("{}; whether it was written is not known ({})", told.what, unread.what),
            do_next: "Start again once the database answers: what broke off is then settled by reading."
                .to_owned(),
        }),
    }
}
