//! What the program knows how to read and ask: source presets, provider presets and the error table, from TOML.

pub mod provider;
pub mod template;
pub mod webhook;
