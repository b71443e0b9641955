//! The real program in a real (pseudo-)terminal: what it does to the terminal, and what it leaves behind.
//!
//! These tests wait for what is to be seen, with a deadline, and never for a time.

mod ends;
mod first_run;
mod frames;
mod incident;
mod keys;
pub mod steps;
pub mod terminal;
