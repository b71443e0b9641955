//! Stub until the classifier lands.
use serde::{Deserialize, Serialize};
/// What an error text proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Never left.
    BeforeEffect,
    /// Proves nothing.
    Ambiguous,
    /// Turned down.
    Refused,
}
impl ErrorClass {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeEffect => "before_effect",
            Self::Ambiguous => "ambiguous",
            Self::Refused => "refused",
        }
    }
}
/// Stub.
#[derive(Debug, Default)]
pub struct ErrorTable;
/// Stub.
pub struct Classified<'a> {
    /// Class.
    pub class: ErrorClass,
    /// Rule.
    pub rule: Option<&'a str>,
    /// Why.
    pub why: &'a str,
}
impl ErrorTable {
    /// Stub.
    pub fn classify(&self, _text: Option<&str>) -> Classified<'_> {
        Classified { class: ErrorClass::Ambiguous, rule: None, why: "stub" }
    }
}
