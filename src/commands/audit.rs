//! `unstuck audit`: the record.

use super::arguments::{Audit, AuditAction, Common, ExportFormat};
use super::failure::{Exit, Failure};
use super::session;
use crate::adapters::record::SqliteRecord;
use crate::adapters::record::export::{export_csv, export_json_lines};
use crate::adapters::record::verify::verify;
use crate::domain::audit::Entry;
use crate::domain::text::{clean, clean_cut};
use crate::output::{json, say};
use crate::ports::record::Record;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Lists, verifies or exports.
pub(super) async fn run(common: &Common, arguments: &Audit) -> Result<Exit, Failure> {
    let path = audit_path(common)?;
    let result = match &arguments.action {
        AuditAction::List { key, limit, json } => list(&path, key.as_deref(), *limit, *json).await,
        AuditAction::Verify => verify_file(&path),
        AuditAction::Export { format } => export_file(&path, *format),
    };
    session::end(result)
}

/// The audit's place: named, or the configuration's. A database to look into has none of its own.
fn audit_path(common: &Common) -> Result<PathBuf, Failure> {
    match &common.audit_file {
        Some(path) => Ok(path.clone()),
        None => Ok(session::settings(common)?.audit),
    }
}

async fn list(path: &Path, key: Option<&str>, limit: usize, as_json: bool) -> Result<Exit, Failure> {
    let record = SqliteRecord::open_to_read(path)?;
    let mut out = BufWriter::new(std::io::stdout());
    let mut before = None;
    let mut shown = 0;
    while shown < limit {
        let page = record.page(before, PAGE_ENTRIES).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.seq);
        let wanted = page.iter().filter(|entry| key.is_none_or(|key| entry.key == key));
        for entry in wanted.take(limit - shown) {
            shown += 1;
            writeln!(out, "{}", if as_json { json::line(&entry_json(entry)) } else { entry_row(entry) })?;
        }
    }
    out.flush()?;
    if shown == 0 {
        say::aside("No entries.");
    }
    Ok(Exit::Fine)
}

/// How many entries are read at once.
const PAGE_ENTRIES: usize = 500;

fn entry_json(entry: &Entry) -> Value {
    json!({
        "seq": entry.seq,
        "at": entry.at,
        "event": entry.event,
        "decision": Some(&entry.decision).filter(|id| !id.is_empty()),
        "source": entry.source,
        "key": entry.key,
        "operator": entry.operator,
        "origin": entry.origin,
        "body": serde_json::from_str::<Value>(&entry.body).unwrap_or(Value::Null),
        "hash": entry.hash,
    })
}

fn entry_row(entry: &Entry) -> String {
    let body: Value = serde_json::from_str(&entry.body).unwrap_or(Value::Null);
    let word = |name: &str| body[name].as_str().map(str::to_owned);
    let told = [
        word("choice"),
        word("verdict").or_else(|| body["check"]["verdict"].as_str().map(str::to_owned)),
        word("advice"),
        word("why"),
        word("reason"),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    format!(
        "{:>6}  {}  {:<9} {:<14} {:<16} {:<28} {}",
        entry.seq,
        entry.at,
        entry.event,
        clean_cut(&entry.operator, 14),
        clean_cut(&entry.source, 16),
        clean_cut(&entry.key, 28),
        clean(&told.join(": ")),
    )
    .trim_end()
    .to_owned()
}

fn verify_file(path: &Path) -> Result<Exit, Failure> {
    let verified = verify(path)?;
    let shown = clean(&path.display().to_string());
    if verified.is_whole() {
        say::line(format_args!(
            "{shown}: {} entries, the chain is whole (head {})",
            verified.entries, verified.head
        ))?;
        return Ok(Exit::Fine);
    }
    for flaw in &verified.flaws {
        say::line(format_args!("{shown}: {}", clean(&flaw.to_string())))?;
    }
    Err(Failure::new(
        Exit::No,
        format!("{}: the audit is not what was written", path.display()),
        "Keep this file as it is, and compare it with a copy or an export.",
    ))
}

fn export_file(path: &Path, format: ExportFormat) -> Result<Exit, Failure> {
    let mut out = Heard { out: BufWriter::new(std::io::stdout()), gone: false };
    let exported = match format {
        ExportFormat::Json => export_json_lines(path, &mut out),
        ExportFormat::Csv => export_csv(path, &mut out),
    };
    match exported {
        Err(_) if out.gone => Ok(Exit::Fine),
        other => Ok(other.map(|_| Exit::Fine)?),
    }
}

/// An output that remembers whether its reader has gone (`| head`), which is no fault of the audit.
struct Heard<W> {
    out: W,
    gone: bool,
}

impl<W: Write> Heard<W> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        self.gone |= result.as_ref().is_err_and(|fault| fault.kind() == std::io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Heard<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.out.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.out.flush();
        self.note(result)
    }
}
