//! SQLite's errors in our words: one line what, one line what to do.

use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use rusqlite::{ErrorCode, ffi};
use std::path::Path;

/// SQLite's own words, without the statement they are about: that is ours, and long.
fn told(fault: &rusqlite::Error) -> String {
    let words = match fault {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    clean_cut(&words, 200)
}

/// What an error of SQLite means.
pub(super) fn fault_of_sql(path: &Path, fault: &rusqlite::Error) -> SourceFault {
    if let rusqlite::Error::SqliteFailure(failure, _) = fault
        && failure.extended_code == ffi::SQLITE_READONLY_ROLLBACK
    {
        return SourceFault::at(
            path.display(),
            SourceFaultKind::Unreachable,
            "a write to it was broken off and has to be rolled back before anybody can read it",
            "Start its application, or run `sqlite3 FILE .schema` once; keep the `-journal` file beside it.",
        );
    }
    let told = told(fault);
    let (kind, what, do_next) = match fault.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => (
            SourceFaultKind::Unreachable,
            "is not a SQLite database (or is encrypted)".to_owned(),
            "Check the path; an encrypted file cannot be read.",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            SourceFaultKind::Broken,
            format!("is damaged ({told})"),
            "Copy it away before anything else; `sqlite3 FILE .recover` may save rows.",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            SourceFaultKind::Busy,
            "is locked by another program".to_owned(),
            "Try again; if it stays locked, find who holds it (`fuser FILE`).",
        ),
        Some(ErrorCode::ReadOnly) => (
            SourceFaultKind::Unreachable,
            "cannot be written".to_owned(),
            "Check the permissions of the file and its folder.",
        ),
        Some(ErrorCode::CannotOpen) => (
            SourceFaultKind::Unreachable,
            format!("cannot be opened ({told})"),
            "Check the permissions of the file and its folder (a WAL database needs its -shm file).",
        ),
        Some(ErrorCode::PermissionDenied) => {
            (SourceFaultKind::Unreachable, "may not be opened".to_owned(), "Check the file's permissions.")
        }
        Some(ErrorCode::OperationInterrupted) => {
            (SourceFaultKind::Interrupted, "reading was stopped".to_owned(), "Scan again.")
        }
        Some(ErrorCode::DiskFull) => {
            (SourceFaultKind::Broken, "the disk is full".to_owned(), "Make room, then try again.")
        }
        Some(ErrorCode::SystemIoFailure) => (
            SourceFaultKind::Broken,
            format!("the disk failed ({told})"),
            "Look at the system's log; then try again.",
        ),
        Some(ErrorCode::ConstraintViolation) => (
            SourceFaultKind::Mismatch,
            format!("cannot be written ({told})"),
            "The database itself refuses this change: read its words, or escalate.",
        ),
        _ => (
            SourceFaultKind::Mismatch,
            format!("cannot be read as its preset says ({told})"),
            "`unstuck doctor` shows the table's columns beside the preset's.",
        ),
    };
    SourceFault::at(path.display(), kind, &what, do_next)
}
