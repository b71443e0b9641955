//! What PostgreSQL's errors mean, each with what to do.

use super::client::Error;
use crate::adapters::sql::{is_broken_off, silence};
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use std::error::Error as _;
use tokio_postgres::error::{Severity, SqlState};

/// The server's own words, or the driver's with what lies behind them.
pub(in crate::adapters) fn told(fault: &Error) -> String {
    match fault {
        Error::Told(fault) => driver_told(fault),
        Error::Silent(_) => fault.to_string(),
    }
}

/// The same, of the driver's own error.
pub(super) fn driver_told(fault: &tokio_postgres::Error) -> String {
    let words = match fault.as_db_error() {
        Some(told) => match told.detail() {
            Some(detail) => format!("{}: {detail}", told.message()),
            None => told.message().to_owned(),
        },
        None => match fault.source() {
            Some(source) => source.to_string(),
            None => fault.to_string(),
        },
    };
    clean_cut(&words.replace('\n', " "), 240)
}

const CHECK_LOGIN: &str = "Check the user and its password (in the address, `secret_env`, `secret_file`, $PGPASSWORD or ~/.pgpass), and the server's pg_hba.conf.";

/// Whether a connection that stood is gone.
fn is_lost(fault: &tokio_postgres::Error) -> bool {
    let io = fault.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    fault.is_closed() || io.is_some_and(is_broken_off)
}

/// What an error means that is the driver's own. It tells its kind by its first words alone.
fn of_driver(place: &str, fault: &tokio_postgres::Error, told: &str) -> SourceFault {
    use SourceFaultKind::{Broken, Unreachable};
    let words = fault.to_string();
    let (kind, what, do_next) = if is_lost(fault) {
        (
            Broken,
            "the connection was lost while it was used".to_owned(),
            "Scan again: it is connected to anew.",
        )
    } else if told == "password missing" {
        (Unreachable, "the server wants a password, and there is none".to_owned(), CHECK_LOGIN)
    } else if words.starts_with("error performing TLS handshake") {
        (
            Unreachable,
            format!("no TLS could be agreed on ({told})"),
            "Check `sslmode` and `sslrootcert` in the address, and the server's certificate: its names, its dates, who signed it.",
        )
    } else {
        (
            Unreachable,
            format!("cannot be reached ({told})"),
            "Check host, port and network, and that the server runs.",
        )
    };
    SourceFault::at(place, kind, &what, do_next)
}

/// What an error means.
pub(in crate::adapters) fn fault_of_sql(place: &str, fault: &Error) -> SourceFault {
    use SourceFaultKind::{Broken, Busy, Interrupted, Mismatch, Unreachable};
    let fault = match fault {
        Error::Told(fault) => fault,
        Error::Silent(waited) => return silence::silent(place, *waited),
    };
    let told = driver_told(fault);
    let Some(code) = fault.code() else { return of_driver(place, fault, &told) };
    let (kind, what, do_next) = match code.code() {
        "28P01" | "28000" => (Unreachable, format!("the server refuses the login ({told})"), CHECK_LOGIN),
        "3D000" => (Unreachable, told, "Check the database's name in the address."),
        "53300" => (
            Unreachable,
            format!("the server takes no more connections ({told})"),
            "Try again, or close some.",
        ),
        "57P01" | "57P02" | "57P03" => (
            Broken,
            format!("the server is stopping or starting ({told})"),
            "Scan again once it is up: it is connected to anew.",
        ),
        "42501" => (
            Unreachable,
            format!("the role lacks a right ({told})"),
            "GRANT it: SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.",
        ),
        "42P01" | "3F000" => (
            Mismatch,
            format!("a table that the preset reads is not there ({told})"),
            "Name table and schema in the configuration; `unstuck doctor` lists those there are.",
        ),
        "25006" => (
            Unreachable,
            format!("cannot be written: it is a replica, or set to read only ({told})"),
            "Decide on the primary server, with a role that does not only read (default_transaction_read_only).",
        ),
        "42P05" | "26000" => (
            Mismatch,
            format!("a pooler before the server mixes up prepared statements ({told})"),
            "Connect to the server itself, or let the pooler keep them: PgBouncer 1.21 or newer with max_prepared_statements.",
        ),
        "57014" if told.contains("statement timeout") => (
            Busy,
            "the query took too long and was stopped".to_owned(),
            "Add an index on the status, or allow more: ?statement_timeout=5m in the address.",
        ),
        "57014" => (Interrupted, "reading was stopped".to_owned(), "Scan again."),
        "55P03" => (
            Busy,
            "the row is held by another session for too long".to_owned(),
            "Try again; if it stays held, find who holds it in pg_stat_activity.",
        ),
        "53100" => (Broken, format!("the server's disk is full ({told})"), "Make room, then try again."),
        _ if code.code().starts_with("23") => (
            Mismatch,
            format!("cannot be written ({told})"),
            "The database itself refuses this change: read its words (a duplicate may be live already), or escalate.",
        ),
        _ if code.code().starts_with("08") => {
            (Unreachable, format!("cannot be reached ({told})"), "Check host, port and network.")
        }
        other => (
            Mismatch,
            format!("cannot be read or written as its preset says ({told}, {other})"),
            "`unstuck doctor` shows the table's columns beside the preset's.",
        ),
    };
    SourceFault::at(place, kind, &what, do_next)
}

/// Whether a value was simply none of its column's type: a key that no row can have.
pub(super) fn is_no_such_value(fault: &Error) -> bool {
    fault.code().is_some_and(|code| {
        [
            SqlState::INVALID_TEXT_REPRESENTATION,
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            SqlState::INVALID_DATETIME_FORMAT,
            SqlState::DATETIME_FIELD_OVERFLOW,
            SqlState::INTERVAL_FIELD_OVERFLOW,
            // A NUL, or bytes that are no text.
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        ]
        .contains(code)
    })
}

/// Whether a commit that ended so wrote nothing for certain. A server that stops while it commits says so too, and may have
/// written.
pub(in crate::adapters) fn is_rolled_back(fault: &Error) -> bool {
    fault.as_db_error().is_some_and(|told| {
        told.parsed_severity() == Some(Severity::Error)
            && *told.code() != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
    })
}

/// Whether somebody else wrote what this transaction saw.
pub(super) fn is_overtaken(fault: &Error) -> bool {
    fault.code().is_some_and(|code| {
        [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code)
    })
}
