//! `unstuck audit`: the record.

use super::arguments::{Audit, AuditAction, AuditInit, Common, ExportFormat, Verify};
use super::failure::{Exit, Failure};
use super::session;
use crate::adapters::record::export::{export_checkpoints, export_csv, export_json_lines};
use crate::adapters::record::key::{self, KeyState};
use crate::adapters::record::verify::export::verify_export;
use crate::adapters::record::verify::signed::{Against, Bytes};
use crate::adapters::record::verify::{Verified, verify};
use crate::adapters::record::{Seals, SqliteRecord};
use crate::config::Database;
use crate::domain::audit::Entry;
use crate::domain::checkpoint::entries_in_words;
use crate::domain::signing::PublicKey;
use crate::domain::text::{clean, clean_cut};
use crate::output::{json, say};
use crate::ports::record::Record;
use crate::wiring::{record_on, seals};
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Lists, verifies or exports.
pub(super) async fn run(common: &Common, arguments: &Audit) -> Result<Exit, Failure> {
    let result = match &arguments.action {
        AuditAction::Init(arguments) => make(&places(common).await?.audit, arguments).await,
        AuditAction::List { key, limit, json } => {
            list(&places(common).await?.audit, key.as_deref(), *limit, *json).await
        }
        AuditAction::Verify(arguments) => verify_file(common, arguments).await,
        AuditAction::Key => print_key(&places(common).await?),
        AuditAction::Export { format } => export_audit(&places(common).await?, *format).await,
    };
    session::end(result)
}

/// Where the audit is, and what belongs to it.
struct Places {
    audit: Database,
    seals: Seals,
    /// Files with the public keys that the configuration names.
    public_keys: Vec<PathBuf>,
}

/// The places that the configuration names; without one, those that `--db` uses.
async fn places(common: &Common) -> Result<Places, Failure> {
    let settings = session::audit_settings(common).await?;
    let public_keys = settings.audit_public_keys.clone();
    Ok(Places { seals: seals(&settings), audit: settings.audit, public_keys })
}

/// Makes an audit in a database, or shows how.
async fn make(audit: &Database, arguments: &AuditInit) -> Result<Exit, Failure> {
    let Database::Server(server) = audit else {
        return Err(Failure::usage(
            "the audit is a file, which needs no making",
            "Name a database: `database = \"postgres://USER@HOST/DATABASE\"` in the configuration's `[audit]`, or --audit-file.",
        ));
    };
    let record = record_on(server);
    if arguments.dry_run {
        for statement in record.statements(&arguments.grant)? {
            say::line(format_args!("{statement};"))?;
        }
        return Ok(Exit::Fine);
    }
    let missing = record.missing_roles(&arguments.grant).await?;
    if !missing.is_empty() {
        return Err(Failure::usage(
            format!("{} has no role {}: nothing was made", server.shown, missing.join(", ")),
            "Make the role first (CREATE ROLE …), or name one that is there with --grant.",
        ));
    }
    let done = match (record.make(&arguments.grant).await?, arguments.grant.is_empty()) {
        (true, _) => "made",
        (false, false) => "there already, and may be used as asked",
        (false, true) => "there already",
    };
    say::line(format_args!("audit {}: {done}", clean(&server.shown)))?;
    Ok(Exit::Fine)
}

async fn list(audit: &Database, key: Option<&str>, limit: usize, as_json: bool) -> Result<Exit, Failure> {
    let record: Box<dyn Record> = match audit {
        Database::File(path) => Box::new(SqliteRecord::open_to_read(path)?),
        Database::Server(server) => Box::new(record_on(server)),
    };
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
        word("name"),
        word("text"),
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

async fn verify_file(common: &Common, arguments: &Verify) -> Result<Exit, Failure> {
    let given = public_keys(&arguments.key)?;
    let copies = arguments.checkpoint.clone();
    if let Some(export) = &arguments.export {
        // An auditor has neither configuration nor key; whoever wrote the export has both.
        let keys = match places(common).await {
            Ok(places) if given.is_empty() => {
                let own = own_key(&places.seals).into_iter();
                own.chain(public_keys(&places.public_keys)?).collect()
            }
            Ok(_) | Err(_) => given,
        };
        let against = Against { keys, copies, ..Against::default() };
        return tell(export, &verify_export(export, &against)?);
    }
    let Places { audit, seals, public_keys: known } = places(common).await?;
    match &audit {
        Database::File(path) => {
            let against = Against::of(path, &seals, given, copies)?;
            tell(path, &verify(path, &against)?)
        }
        Database::Server(server) => {
            let record = record_on(server);
            let against = Against::of_many(record.shown(), &seals, &given, &public_keys(&known)?, copies)?;
            tell(record.shown(), &record.verify(&against).await?)
        }
    }
}

fn tell(path: &Path, verified: &Verified) -> Result<Exit, Failure> {
    let shown = clean(&path.display().to_string());
    if verified.is_whole() {
        say::line(format_args!(
            "{shown}: {}, the chain is whole (head {})",
            entries_in_words(verified.entries),
            verified.head
        ))?;
        say::line(format_args!("{shown}: {}", signatures_in_words(verified)))?;
        return Ok(Exit::Fine);
    }
    for flaw in &verified.flaws {
        say::line(format_args!("{shown}: {}", clean(&flaw.to_string())))?;
    }
    Err(Failure::new(
        Exit::No,
        format!("{}: the audit is not what was written", path.display()),
        "Keep it as it is, and compare it with a copy or an export.",
    ))
}

/// What the checkpoints add to a whole chain, and what they do not reach.
fn signatures_in_words(verified: &Verified) -> String {
    let signatures = &verified.signatures;
    let Some(last) = &signatures.last else {
        return "nothing is signed, so a chain written anew as a whole would not show".to_owned();
    };
    let after = match verified.entries - last.entries {
        0 => "no entry after it".to_owned(),
        count => format!("{} after the last checkpoint", entries_in_words(count)),
    };
    let bytes = match signatures.bytes {
        Bytes::AsSealed => ", every byte of the file is as it was sealed",
        Bytes::Unsealed => "",
    };
    let fit = match signatures.count {
        1 => "1 checkpoint fits, it is".to_owned(),
        count => format!("{count} checkpoints fit, the last"),
    };
    let others = match signatures.others {
        0 => String::new(),
        1 => "; what 1 other key signed counts for nothing here: name it with --key".to_owned(),
        count => format!("; what {count} other keys signed counts for nothing here: name them with --key"),
    };
    format!("{fit} of {} for {}, {after}{bytes}{others}", last.at, entries_in_words(last.entries))
}

fn public_keys(files: &[PathBuf]) -> Result<Vec<PublicKey>, Failure> {
    let mut keys = Vec::new();
    for file in files {
        keys.extend(key::read_public(file).map_err(|why| {
            Failure::usage(
                format!("the key {} {why}", file.display()),
                "Name the file that `unstuck audit key` was written to.",
            )
        })?);
    }
    Ok(keys)
}

/// This machine's key, its public half.
fn own_key(seals: &Seals) -> Result<PublicKey, Failure> {
    let Some(file) = &seals.key else {
        return Err(Failure::usage(
            "there is no home folder for the key",
            "Set $HOME, or name a file as `key` in the configuration's `[audit]`.",
        ));
    };
    let why = match key::look(file) {
        Ok(KeyState::Private(key) | KeyState::Shared(key)) => return Ok(key),
        Ok(KeyState::Missing) => "does not exist".to_owned(),
        Err(why) => why,
    };
    Err(Failure::new(
        Exit::Unreachable,
        format!("the key {} {why}", file.display()),
        "Check the path; the key is made when something is put on record for the first time.",
    ))
}

fn print_key(places: &Places) -> Result<Exit, Failure> {
    let key = own_key(&places.seals)?;
    say::line(format_args!("fingerprint: {}", key.fingerprint()))?;
    say::text(key.to_text())?;
    Ok(Exit::Fine)
}

async fn export_audit(places: &Places, format: ExportFormat) -> Result<Exit, Failure> {
    let mut out = Heard { out: BufWriter::new(std::io::stdout()), gone: false };
    let exported = match (&places.audit, format) {
        (Database::File(path), ExportFormat::Json) => export_json_lines(path, &mut out)
            .and_then(|entries| export_checkpoints(path, &places.seals.checkpoints, entries, &mut out)),
        (Database::File(path), ExportFormat::Csv) => export_csv(path, &mut out).map(|_| ()),
        (Database::Server(server), ExportFormat::Json) => {
            record_on(server).export_json_lines(&mut out).await.map(|_| ())
        }
        (Database::Server(server), ExportFormat::Csv) => {
            record_on(server).export_csv(&mut out).await.map(|_| ())
        }
    };
    match exported {
        Err(_) if out.gone => Ok(Exit::Fine),
        other => Ok(other.map(|()| Exit::Fine)?),
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
