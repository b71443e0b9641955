//! The world behind the ports: one folder, one port each.

pub mod http;
