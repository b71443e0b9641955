//! The first run without a terminal.
