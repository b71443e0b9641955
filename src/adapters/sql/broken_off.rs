//! Connections that broke off under whoever used them.

use std::io::{Error, ErrorKind};

/// Whether the machine says of a connection that it stood and is gone.
pub fn is_broken_off(fault: &Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(fault.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
}
