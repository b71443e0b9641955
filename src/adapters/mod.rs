//! The world behind the ports: one folder, one port each.

pub mod http;
pub mod sqlite;
pub mod system;
pub mod record;
pub mod receipts;
