//! The world behind the ports: one folder, one port each.

mod canary;
pub mod http;
pub mod logs;
pub mod mysql;
pub mod postgres;
pub mod receipts;
pub mod record;
pub mod secret;
pub mod sql;
pub mod sqlite;
#[cfg(test)]
mod suite;
pub mod system;
pub mod whole_file;
