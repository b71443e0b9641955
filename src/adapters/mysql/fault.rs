//! What MySQL's errors mean, each with what to do.

use super::conn::Silent;
use crate::adapters::sql::{is_broken_off, silence};
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use mysql_async::{DriverError, Error, IoError};

/// The server's own words, or the driver's.
pub(super) fn told(fault: &Error) -> String {
    let words = match fault {
        // Not "password: YES": what stands behind that word is hidden everywhere.
        Error::Server(told) => {
            let words = told.message.replace(" (using password: NO)", ", without a password");
            words.replace(" (using password: YES)", "")
        }
        Error::Io(IoError::Io(io)) => io.to_string(),
        Error::Io(io) => io.to_string(),
        Error::Driver(driver) => driver.to_string(),
        other => other.to_string(),
    };
    clean_cut(&words.replace('\n', " "), 240)
}

/// Whether a connection that stood is gone.
fn is_lost(fault: &Error) -> bool {
    match fault {
        Error::Driver(DriverError::ConnectionClosed) => true,
        Error::Io(IoError::Io(io)) => is_broken_off(io),
        _ => false,
    }
}

/// What an error means.
pub(super) fn fault_of_sql(place: &str, fault: &Error) -> SourceFault {
    use SourceFaultKind::{Broken, Busy, Interrupted, Mismatch, Unreachable};
    if let Some(waited) = Silent::of(fault) {
        return silence::silent(place, waited);
    }
    let told = told(fault);
    let Error::Server(server) = fault else {
        return match fault {
            _ if is_lost(fault) => SourceFault::at(
                place,
                Broken,
                "the connection was lost while it was used",
                "Scan again: it is connected to anew.",
            ),
            Error::Driver(DriverError::NoClientSslFlagFromServer) => SourceFault::at(
                place,
                Unreachable,
                "the server speaks no TLS",
                "Write ?sslmode=disable if the way to it is safe.",
            ),
            _ => SourceFault::at(
                place,
                Unreachable,
                &format!("cannot be reached ({told})"),
                "Check host, port and network, and that the server runs.",
            ),
        };
    };
    let (kind, what, do_next) = match server.code {
        1044 | 1045 | 1698 => (
            Unreachable,
            format!("the server refuses the login ({told})"),
            "Check the user and its password (in the address, `secret_env` or `secret_file`), and the account's rights.",
        ),
        1049 => (Unreachable, told, "Check the database's name in the address."),
        1040 | 1203 => (
            Unreachable,
            format!("the server takes no more connections ({told})"),
            "Try again, or close some.",
        ),
        1053 | 1927 => (
            Broken,
            format!("the server is stopping ({told})"),
            "Scan again once it is up: it is connected to anew.",
        ),
        1142 | 1143 | 1227 | 1370 => (
            Unreachable,
            format!("the account lacks a right ({told})"),
            "GRANT it: SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.",
        ),
        1146 => (
            Mismatch,
            format!("a table that the preset reads is not there ({told})"),
            "Name the table in the configuration; `unstuck doctor` lists those there are.",
        ),
        1290 | 1792 | 1836 => (
            Unreachable,
            format!("cannot be written: it is a replica, or set to read only ({told})"),
            "Decide on the primary server.",
        ),
        1205 => (
            Busy,
            "the row is held by another session for too long".to_owned(),
            "Try again; if it stays held, find who holds it with SHOW ENGINE INNODB STATUS.",
        ),
        1969 | 3024 => (
            Busy,
            "the query took too long and was stopped".to_owned(),
            "Add an index on the status, or allow more: ?statement_timeout=5m in the address.",
        ),
        1317 => (Interrupted, "reading was stopped".to_owned(), "Scan again."),
        1021 | 1114 => (Broken, format!("the server's disk is full ({told})"), "Make room, then try again."),
        _ if server.state.starts_with("23") => (
            Mismatch,
            format!("cannot be written ({told})"),
            "The database itself refuses this change: read its words (a duplicate may be live already), or escalate.",
        ),
        other => (
            Mismatch,
            format!("cannot be read or written as its preset says ({told}, {other})"),
            "`unstuck doctor` shows the table's columns beside the preset's.",
        ),
    };
    SourceFault::at(place, kind, &what, do_next)
}

/// Whether a deadlock was broken up by rolling this transaction back.
pub(super) fn is_overtaken(fault: &Error) -> bool {
    matches!(fault, Error::Server(server) if server.code == 1213 || server.code == 1020)
}
