//! The tests that look at the program from outside, in one binary: linking is what costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod architecture;
mod documentation;
mod error_class_sets;
mod error_class_wrappers;
#[cfg(unix)]
mod picture;
#[cfg(unix)]
mod pty;
