//! The whole audit in a database as text: the same lines and rows as of a file, out of one snapshot.

use super::refused::fault_of;
use super::verify::checkpoints;
use super::{Inner, walk};
use crate::adapters::postgres::client::Client;
use crate::adapters::record::export::{Exported, FIELDS, cells_of, line_of, unwritten};
use crate::domain::audit::Attachment;
use crate::domain::checkpoint::Signed;
use crate::ports::record::RecordFault;
use std::io::{self, Write};

pub(super) async fn json_lines(inner: &Inner, out: &mut (dyn Write + Send)) -> Result<i64, RecordFault> {
    let lent = inner.lent().await?;
    let work = async {
        let client = lent.client();
        let count = each_entry(inner, client, |whole| writeln!(out, "{}", line_of(&whole))).await?;
        // After the entries, so that none of them is lost when the end is. Out of the same snapshot, so of no entry that is
        // not in it, but for a checkpoint that came from elsewhere.
        for line in checkpoints(client).await.map_err(|fault| fault_of(&inner.shown, &fault))? {
            let is_later =
                serde_json::from_str::<Signed>(&line).is_ok_and(|signed| signed.checkpoint.entries > count);
            if !is_later {
                writeln!(out, "{line}").map_err(|fault| unwritten(&inner.shown, &fault))?;
            }
        }
        out.flush().map_err(|fault| unwritten(&inner.shown, &fault))?;
        Ok(count)
    };
    let exported = work.await;
    lent.ended(exported).await
}

pub(super) async fn csv(inner: &Inner, out: &mut (dyn Write + Send)) -> Result<i64, RecordFault> {
    let lent = inner.lent().await?;
    let work = async {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(FIELDS).map_err(|fault| unwritten(&inner.shown, &fault.into()))?;
        let write = |whole: Exported| table.write_record(cells_of(&whole)).map_err(io::Error::from);
        let count = each_entry(inner, lent.client(), write).await?;
        table.flush().map_err(|fault| unwritten(&inner.shown, &fault))?;
        Ok(count)
    };
    let exported = work.await;
    lent.ended(exported).await
}

async fn each_entry(
    inner: &Inner,
    client: &Client,
    mut write: impl FnMut(Exported) -> io::Result<()> + Send,
) -> Result<i64, RecordFault> {
    let (mut from, mut count) = (i64::MIN, 0);
    loop {
        let page = walk::page(client, from).await.map_err(|fault| fault_of(&inner.shown, &fault))?;
        let (is_last, next) = (page.is_last(), page.next(from));
        for whole in page.entries {
            let Ok(entry) = whole.entry else { continue };
            let texts = whole.beside.into_iter().filter_map(|kept| kept.texts);
            let attachments =
                texts.map(|texts| Attachment { sha256: texts.sha256, text: texts.text }).collect();
            write(Exported { entry, attachments }).map_err(|fault| unwritten(&inner.shown, &fault))?;
            count += 1;
        }
        if is_last {
            return Ok(count);
        }
        from = next;
    }
}
