//! The tests that look at the program from outside, in one binary: linking is what costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod architecture;
mod broken_inputs;
mod cases;
mod command_line;
mod commands;
mod commands_approvals;
mod commands_audit;
mod commands_decide;
mod commands_recover;
mod commands_team;
mod configurations;
mod databases;
mod documentation;
mod effects_databases;
mod ended;
mod error_class_sets;
mod error_class_wrappers;
mod escalating;
mod fuzz;
mod hostile;
mod incident;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod ledger;
mod listing;
#[cfg(unix)]
mod picture;
mod provider_presets;
#[cfg(unix)]
mod provider_standins;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod races;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod servers;
#[cfg(unix)]
mod silent;
#[cfg(unix)]
mod standins;
#[cfg(unix)]
mod stories;
#[cfg(unix)]
mod surroundings;
mod systems;
mod timeline;
#[cfg(unix)]
mod trial;
mod trying;
#[cfg(unix)]
mod watching;
#[cfg(unix)]
mod witness;
mod world;
