//! The whole console, pure: messages in, tasks and screens out. No thread, no terminal, no clock.
//!
//! ```text
//! key, resize, tick ─┐                                            ┌─> view(&Model) -> screen
//!                    ├─> Message ─> update(&mut Model, Message) ──┤
//!  finished task ────┘                                            └─> Vec<Task> ─> runtime
//! ```
//! - [`model`]: what is known; rules of the dialogs.
//! - [`mod@update`]: one file a subject; the only code that changes the model.
//! - [`mod@view`]: one file a region of the screen; changes nothing but [`ViewState`].
//! - [`lead`]: the first run, from no configuration to a written one.
//! - [`keymap`], [`words`], [`theme`]: keys, words, signs and colours as data.

pub mod keymap;
pub mod lead;
pub mod message;
pub mod model;
pub mod sample;
mod shown;
pub mod task;
pub mod theme;
pub mod update;
pub mod view;
pub mod words;

pub use keymap::Keymap;
pub use message::Message;
pub use model::Model;
pub use model::trail::SavedView;
pub use task::Task;
pub use update::update;
pub use view::{ViewState, view};

use ratatui::layout::Size;
use std::collections::HashMap;
use std::sync::Arc;

/// What the console is started with.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The sources: name and place, in order.
    pub sources: Vec<(String, String)>,
    /// Who sits here.
    pub operator: String,
    /// Whether every decision is refused.
    pub read_only: bool,
    /// Why there is no audit, if there is none.
    pub audit_fault: Option<String>,
    /// Whether to do without colours.
    pub no_color: bool,
    /// The terminal's size.
    pub size: Size,
    /// The present moment.
    pub now: chrono::DateTime<chrono::Utc>,
    /// A line for the header ("demo, seed 7").
    pub title: Option<String>,
    /// Names of fields that the policy of a kind hides, by kind.
    pub masks: HashMap<Arc<str>, Arc<[String]>>,
    /// How old evidence may be when a decision uses it, by kind.
    pub evidence_age_max: HashMap<Arc<str>, chrono::TimeDelta>,
    /// The keys.
    pub keys: Keymap,
    /// How often the sources are read again without being asked for; `None` is never.
    pub refresh: Option<chrono::TimeDelta>,
    /// Views under a name, those of the configuration first.
    pub views: Vec<SavedView>,
}

#[cfg(test)]
mod tests;
