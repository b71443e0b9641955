//! Facts and rules: no clock, no I/O, no async. Everything that decides what is safe lives here.

pub mod advice;
pub mod approval;
pub mod attempt;
pub mod audit;
pub mod cell;
pub mod checkpoint;
pub mod decision;
pub mod error_class;
mod error_json;
mod error_rules;
mod error_text;
pub mod evidence;
pub mod filter;
pub mod finding;
pub mod item;
pub mod listing;
pub mod mask;
pub mod moment;
pub mod money;
pub mod pace;
pub mod permission;
pub mod plan;
pub mod policy;
pub mod proposal;
pub mod signing;
pub mod text;
pub mod verdict;
