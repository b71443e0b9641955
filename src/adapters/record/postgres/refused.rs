//! What went wrong with an audit on a server: one line what, one line what to do.

use crate::adapters::postgres::client::Error;
use crate::adapters::postgres::fault::{fault_of_sql, told};
use crate::adapters::record::fault;
use crate::ports::record::RecordFault;
use crate::ports::source::{SourceFault, SourceFaultKind};
use std::path::Path;

/// What keeps the server from being used at all.
pub(super) fn of_place(fault: &SourceFault) -> RecordFault {
    let do_next = match fault.kind {
        SourceFaultKind::Broken | SourceFaultKind::Interrupted => {
            "Try again: it is connected to anew, and what broke off is settled at the next start."
        }
        SourceFaultKind::Unreachable | SourceFaultKind::Busy | SourceFaultKind::Mismatch => &fault.do_next,
    };
    RecordFault { is_absent: false, what: format!("audit {}", fault.what), do_next: do_next.to_owned() }
}

/// What an error of the server means here.
pub(super) fn fault_of(shown: &Path, fault: &Error) -> RecordFault {
    let told = told(fault);
    let of = |what: &str, do_next: &str| fault::of(shown, what, do_next);
    match fault.code().map(tokio_postgres::error::SqlState::code) {
        Some("42P01" | "3F000") => fault::absent(
            shown,
            "there is no audit in this database yet",
            "Make it once with `unstuck audit init`; with --dry-run it shows the statements and makes nothing.",
        ),
        Some("42704") => of(
            &format!("a role that is to use it is not there ({told})"),
            "Make the role first (CREATE ROLE …), or name one that is there with --grant.",
        ),
        Some("42501") => of(
            &format!("the role lacks a right ({told})"),
            "Whoever owns the audit grants it: `unstuck audit init --grant ROLE`.",
        ),
        Some("55P03") => of(
            "stayed locked by another console for 10 s",
            "Try again; if it stays locked, find who holds it in pg_stat_activity and pg_locks.",
        ),
        Some("25006") => of(
            &format!("cannot be written: the server is a replica, or set to read only ({told})"),
            "Name the primary server in the audit's address.",
        ),
        Some("23505") if told.contains("entries_once_a_decision") => of(
            "a decision is intended, withdrawn or lapsed once, and this one was",
            "Look at the item as it is now; `unstuck audit list` shows what another console did.",
        ),
        Some("23505") if told.contains("entries_end_a_decision_once") => of(
            "the decision has an outcome already: another console settled it",
            "Look at the item as it is now; `unstuck audit list` shows what the other console found.",
        ),
        // Raised by a trigger of ours.
        Some("P0001") => {
            of(&format!("refused by the database: {told}"), "`unstuck audit list` shows what is on record.")
        }
        Some("53100") => {
            of("the server's disk is full, nothing was written", "Make room on that disk, then try again.")
        }
        _ => of_place(&fault_of_sql(&shown.display().to_string(), fault)),
    }
}
