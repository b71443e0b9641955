//! A whole incident inside the program: databases as killed and timed-out workers leave them, and a provider on loopback
//! that remembers what it really did. The same seed makes the same incident.

pub mod faults;
pub mod incident;
pub mod ledger;
pub mod score;
pub mod server;
pub mod stage;
