//! Providers and webhooks over HTTP.
//!
//! ```text
//!  Question ─> request (pure) ─> pacer ─> client ─> extract (pure) ─> paging (pure) ─> Answer
//!                  ^                        │                              │
//!                  └────── next page ───────┼──────────────────────────────┘
//!                                           └─> record ─> Evidence
//! ```
//! Wiring builds one [`Endpoint`] for each configured provider and one [`HttpProvider`] for each of its operations.

mod client;
mod endpoint;
pub mod extract;
mod listing;
mod notice;
pub(super) mod pacer;
pub mod paging;
mod provider;
mod reach;
mod record;
mod request;
mod secret;
mod sigv4;
mod target;
mod token;
pub mod trial;
pub mod webhook;

pub use crate::adapters::secret::Environment;
pub use client::install_tls;
pub use endpoint::Endpoint;
pub use provider::HttpProvider;
pub use target::Target;
pub use webhook::Webhook;

#[cfg(test)]
mod tests;
