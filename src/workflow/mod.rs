//! The work itself, each step written once and shared by console and commands: scan, check, settle, recover.
//! The only code that calls ports.

pub mod check;
pub mod desk;
#[cfg(test)]
pub(crate) mod fakes;
pub mod incident;
pub mod list;
pub mod look;
pub mod reconcile;
pub mod recover;
pub mod report;
pub mod scan;
pub mod settle;
#[cfg(test)]
mod sim;
pub mod slowness;
pub mod story;
pub mod sweep;
pub mod watch;

pub use check::Checked;
pub use desk::Desk;
pub use scan::Found;
pub use settle::{Decided, Order, Prepared};
