//! The item that somebody looks at.

use super::Loading;
use super::findings::Identity;
use crate::console::message::Details;
use crate::domain::mask::{MASK, mask_document};
use crate::domain::text::{clean_lines, escape_bytes};

/// How much of a payload is shown.
pub const PAYLOAD_SHOWN_BYTES_MAX: usize = 4_096;

/// What was read of the item that somebody looks at.
#[derive(Debug, Default)]
pub struct Looked {
    /// Which item.
    pub identity: Option<Identity>,
    /// What was read.
    pub details: Loading<Opened>,
    /// How far the detail is scrolled.
    pub scroll: u16,
}

/// The details, with the payload made ready for showing.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What was read.
    pub details: Details,
    /// The payload's lines with secrets hidden.
    pub payload_masked: Vec<String>,
    /// The payload's lines as they are, cleaned.
    pub payload_open: Vec<String>,
}

impl Opened {
    /// Makes details ready for showing. `named` are the fields that the policy hides.
    pub fn new(details: Details, named: &[String]) -> Self {
        let (mut payload_masked, mut payload_open) = (Vec::new(), Vec::new());
        if let Some(payload) = details.payload.as_ref().filter(|payload| payload.is_closed) {
            let size = crate::console::words::size(payload.size_bytes);
            payload_open = vec![format!("{size}, closed: only its own application may open it.")];
            payload_masked.clone_from(&payload_open);
        } else if let Some(payload) = &details.payload {
            let text = escape_bytes(&payload.bytes);
            let is_whole = u64::try_from(payload.bytes.len()).is_ok_and(|len| len >= payload.size_bytes);
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            payload_open = lines_of(&text);
            // Fields can be hidden by name only in a document that can be read whole.
            payload_masked = if !is_whole && !is_json && !named.is_empty() {
                vec![format!("{MASK} (too long to tell which fields the policy hides)")]
            } else {
                lines_of(&mask_document(&text, named))
            };
        }
        Self { details, payload_masked, payload_open }
    }
}

/// The beginning of a text as clean lines; a JSON document is laid out.
fn lines_of(text: &str) -> Vec<String> {
    let laid_out = serde_json::from_str::<serde_json::Value>(text)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok());
    let whole = laid_out.as_deref().unwrap_or(text);
    let end = (0..=PAYLOAD_SHOWN_BYTES_MAX.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at));
    clean_lines(whole.get(..end.unwrap_or(0)).unwrap_or(""))
}
