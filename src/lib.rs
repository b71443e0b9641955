//! unstuck: *did it happen?* Reads the tables where jobs keep their state, finds the entries nobody can vouch for, asks the
//! provider, and settles each one with every decision on record.
//!
//! The map, from the inside out; a module uses only those above it:
//! - [`domain`]: facts and rules; no clock, no I/O.
//! - [`preset`]: what the program knows how to read and ask, from TOML files.
//! - [`config`]: what an operator may write, and what the program uses.
//! - [`ports`]: what the workflow needs from the world.
//! - [`adapters`]: SQLite, HTTP, files, clocks behind those ports.
//! - [`workflow`]: scan, check, settle, recover, each step written once.
//! - [`output`]: text, JSON Lines and CSV of one value.
//! - [`console`]: the whole console, pure: keys in, tasks and screens out.
//! - [`commands`]: one file a command.
//! - [`demo`]: an incident and its provider, inside the program.
//! - [`runtime`]: threads, channels, signals and the terminal.
//! - [`wiring`]: settings become adapters, handed on as ports.
#![forbid(unsafe_code)]

pub mod adapters;
pub mod commands;
pub mod config;
pub mod console;
pub mod demo;
pub mod domain;
pub mod output;
pub mod ports;
pub mod preset;
pub mod runtime;
pub mod wiring;
pub mod workflow;
