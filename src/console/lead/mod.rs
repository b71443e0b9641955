//! The first run, led: from no configuration to a written one, in four steps. Pure, as the console is.
//!
//! ```text
//! 1 where the databases are ─> 2 what is in them ─> 3 who knows, what it may cost ─> 4 the text, and where it goes
//! ```
//! `Esc` goes a step back; nothing is written before the last step's key.

mod judge;
pub mod message;
pub mod model;
mod update;
mod view;

pub use message::{
    Answers, Ended, Finding, KindAnswer, LeadMessage, LeadTask, Needs, ProviderAnswer, ProviderOffer, Seen,
    SeenDatabase, SeenKind, SeenSystem, Told, Tried, Variable,
};
pub use model::Lead;
pub use update::update;
pub use view::{LeadView, view};

use ratatui::layout::Size;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the first run is started with.
#[derive(Debug, Clone, Default)]
pub struct LeadSetup {
    /// SQLite files that lie here, each with the address it is looked into by.
    pub files: Vec<(String, String)>,
    /// Where the configuration goes when nobody says otherwise.
    pub place: String,
    /// Who can be asked, by what the configuration calls it.
    pub providers: Arc<[ProviderOffer]>,
    /// The environment's variables that are set, by name.
    pub variables: Arc<BTreeSet<String>>,
    /// Whether to do without colours.
    pub no_color: bool,
    /// The terminal's size.
    pub size: Size,
}

#[cfg(test)]
mod tests;
