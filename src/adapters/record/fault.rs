//! What went wrong with the audit's file: one line what (it names the path), one line what to do.

use crate::domain::text::{clean, clean_cut};
use crate::ports::record::RecordFault;
use rusqlite::{ErrorCode, ffi};
use std::path::Path;

/// How much of an error's own text is shown.
const TOLD_CHARS_MAX: usize = 200;

/// A fault about the audit's file.
pub(super) fn of(path: &Path, what: &str, do_next: &str) -> RecordFault {
    let shown = clean(&path.display().to_string());
    RecordFault { is_absent: false, what: format!("audit {shown}: {what}"), do_next: do_next.to_owned() }
}

/// There is no audit yet.
pub(super) fn absent(path: &Path, what: &str, do_next: &str) -> RecordFault {
    RecordFault { is_absent: true, ..of(path, what, do_next) }
}

/// A fault of the program itself.
pub(super) fn of_program(path: &Path, what: &str) -> RecordFault {
    of(path, what, "This is an error of the program: please report it.")
}

/// A fault of the file system.
pub(super) fn of_io(path: &Path, what: &str, fault: &std::io::Error) -> RecordFault {
    let told = clean_cut(&fault.to_string(), TOLD_CHARS_MAX);
    of(path, &format!("{what} ({told})"), "Check the path and the permissions of the file and its folder.")
}

/// What an error of SQLite means here.
pub(super) fn of_sql(path: &Path, fault: &rusqlite::Error) -> RecordFault {
    let told = clean_cut(&fault.to_string(), TOLD_CHARS_MAX);
    if let rusqlite::Error::SqliteFailure(failure, _) = fault
        && failure.extended_code == ffi::SQLITE_READONLY_ROLLBACK
    {
        return of(
            path,
            "a write was interrupted and has to be rolled back first",
            "Open it once to write (start `unstuck` without `--read-only`); keep the `-journal` file beside it.",
        );
    }
    let (what, do_next) = match fault.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => (
            "is not a SQLite database".to_owned(),
            "Check the path; if it was the audit, keep the file and restore the last copy.",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            format!("is damaged ({told})"),
            "Copy it away, run `unstuck audit verify`, and name a new file as the audit.",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            format!("stayed locked by another program for {} s", super::schema::LOCK_WAIT_MAX.as_secs()),
            "Try again; if it stays locked, find who holds it (`fuser FILE`).",
        ),
        Some(ErrorCode::DiskFull) => {
            ("the disk is full, nothing was written".to_owned(), "Make room on that disk, then try again.")
        }
        Some(ErrorCode::ReadOnly) => {
            ("cannot be written".to_owned(), "Check the permissions of the file and its folder.")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            (format!("cannot be opened ({told})"), "Check the permissions of the file and its folder.")
        }
        Some(ErrorCode::SystemIoFailure) => (
            format!("the disk failed ({told})"),
            "Look at the system's log; copy the file away before anything else.",
        ),
        _ => (
            format!("cannot be used ({told})"),
            "Run `unstuck audit verify`; it says whether the audit is whole.",
        ),
    };
    of(path, &what, do_next)
}

/// An append to an audit that was opened to read.
pub(super) fn opened_to_read(path: &Path) -> RecordFault {
    of(path, "was opened to read only, so nothing is written", "Start without `--read-only` to decide.")
}

/// Another outcome of a decision that has one.
pub(super) fn ended_before(path: &Path, seq: i64) -> RecordFault {
    of(
        path,
        &format!("the decision has an outcome already (entry {seq}): another console settled it"),
        "Look at the item as it is now; `unstuck audit list` shows what the other console found.",
    )
}

/// The thread that did the work is gone.
pub(super) fn stopped(path: &Path) -> RecordFault {
    of(path, "the work on it broke off", "Whether it was written is found at the next start; start again.")
}

/// The end of the chain is not as it was written, so nothing may be chained to it.
pub(super) fn broken_end(path: &Path, what: &str) -> RecordFault {
    of(
        path,
        &format!("{what}, so nothing is added to it"),
        "Keep the file, run `unstuck audit verify`, and name a new file as the audit.",
    )
}

/// What the audit holds is not signed. `kept` is where it is kept what was signed before.
pub(super) fn unsigned(path: &Path, why: &str, kept: [&Path; 2]) -> RecordFault {
    let [own, witness] = kept.map(|file| clean(&file.display().to_string()));
    of(
        path,
        &format!("what this run put on record is not signed, because {}", clean(why)),
        &format!(
            "Run `unstuck audit verify`: it says what is wrong. If you replaced the audit or the key yourself, move {own} \
             and {witness} away; they still show what was signed."
        ),
    )
}

/// The file was changed around its entries before a run added to it, which is kept in a file of its own.
pub(super) fn doubted(path: &Path, found: &str, kept: &Path) -> RecordFault {
    let kept = clean(&kept.display().to_string());
    of(
        path,
        &format!("what this run put on record is not signed, because {}", clean(found)),
        &format!(
            "Keep the file, run `unstuck audit verify`, and compare it with a copy; once you know who changed it, move \
             {kept} away, and the next run signs again."
        ),
    )
}

/// No place for the key is known.
pub(super) fn no_key_place(path: &Path) -> RecordFault {
    of(
        path,
        "what this run put on record is not signed, because there is no home folder for the key",
        "Set $HOME, or name a file as `key` in the configuration's `[audit]`.",
    )
}

/// The key cannot be used.
pub(super) fn no_key(path: &Path, key: &Path, why: &str) -> RecordFault {
    let shown = clean(&key.display().to_string());
    of(
        path,
        &format!("what this run put on record is not signed, because the key {shown} {}", clean(why)),
        "Mend that file or its folder; until then nobody could tell if the end of the audit were cut off.",
    )
}

/// The key cannot be read to check signatures.
pub(super) fn unreadable_key(path: &Path, key: &Path, why: &str) -> RecordFault {
    let shown = clean(&key.display().to_string());
    of(
        path,
        &format!("its checkpoints cannot be checked, because the key {shown} {}", clean(why)),
        "Mend that file, or name a copy of the public key with --key.",
    )
}

/// There are signatures, and nothing to check them with.
pub(super) fn no_key_to_check(path: &Path) -> RecordFault {
    of(
        path,
        "its checkpoints cannot be checked, because there is no key",
        "Name a copy of the public key with --key; `unstuck audit key` prints it where the audit is written.",
    )
}

/// A file of checkpoints cannot be read.
pub(super) fn unreadable_checkpoints(path: &Path, file: &Path, fault: &std::io::Error) -> RecordFault {
    let (shown, told) = (clean(&file.display().to_string()), clean_cut(&fault.to_string(), TOLD_CHARS_MAX));
    of(
        path,
        &format!("the checkpoints {shown} cannot be read ({told})"),
        "Check the path and the permissions of that file.",
    )
}
