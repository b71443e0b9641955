//! The run time: the only code that owns threads, channels, signals and the terminal.
//!
//! ```text
//! terminal events ─┐
//! signals ─────────┼─> event_loop ─> console::update ─> Task ─> tasks ─> workflow
//! finished tasks ──┘        └─> console::view ─> screen              └─> Message ─> event_loop
//! ```

#[cfg(debug_assertions)]
mod breakage;
pub mod event_loop;
pub mod fault;
pub mod interrupt;
pub mod keyboard;
pub mod lead;
pub mod progress;
pub mod screen;
pub mod signals;
mod tasks;
pub mod terminal;

pub use event_loop::{Options, Seat, run};
pub use fault::RuntimeFault;
