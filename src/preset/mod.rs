//! What the program knows how to read and ask: source presets, provider presets and the error table, from TOML.

pub mod catalogue;
pub mod escalation;
pub mod provider;
pub mod source;
pub mod template;
pub mod webhook;

/// Why a preset cannot be used: which one, and what is wrong in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("preset `{preset}`: {what}")]
pub struct PresetFault {
    /// The preset's name, or its file's.
    pub preset: String,
    /// What is wrong, in a sentence.
    pub what: String,
}
