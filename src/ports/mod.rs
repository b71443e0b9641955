//! What the workflow needs from the world, in our words: plain requests, plain answers, an error enum each.

pub mod alerts;
pub mod clock;
pub mod escalation;
pub mod logs;
pub mod provider;
pub mod receipts;
pub mod record;
pub mod source;
