//! Lines to the two outputs of a program, without breaking off where their reader has gone.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to standard output.
///
/// # Errors
/// The output's own; a closed pipe is the reader's way to say "enough".
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// Writes a text as it is to standard output.
///
/// # Errors
/// The output's own.
pub fn text(text: impl Display) -> io::Result<()> {
    write!(io::stdout().lock(), "{text}")?;
    io::stdout().lock().flush()
}

/// Writes a line to the error output. Who closed it does not want to know: that changes nothing of what is done.
pub fn aside(text: impl Display) {
    let _closed = writeln!(io::stderr().lock(), "{text}");
}
