//! What stands behind the ports: one folder a port and engine.

pub mod receipts;
pub mod record;
pub mod sqlite;
