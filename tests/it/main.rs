//! The tests that look at the program from outside, in one binary: linking is what costs.

mod error_class_sets;
mod error_class_wrappers;
#[cfg(unix)]
mod picture;
#[cfg(unix)]
mod pty;
