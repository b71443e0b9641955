//! Whatever means harm, from outside: texts, providers, and who looks for secrets afterwards.

mod acts;
#[cfg(unix)]
mod console;
mod harmless;
mod places;
mod provider;
mod secrets;
mod server;
mod stage;
mod storm;
mod table;
mod text;

pub use harmless::{highest_stack, is_formula, is_harmless};
