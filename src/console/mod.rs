//! The whole console, pure: messages in, tasks and screens out. No thread, no terminal, no clock.
//!
//! ```text
//! key, resize, tick ─┐                                            ┌─> view(&Model) -> screen
//!                    ├─> Message ─> update(&mut Model, Message) ──┤
//!  finished task ────┘                                            └─> Vec<Task> ─> runtime
//! ```

pub mod message;
pub mod task;

pub use message::Message;
pub use task::Task;

use ratatui::Frame;
use ratatui::layout::Size;

/// What the console is started with.
#[derive(Debug, Clone)]
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
}

/// The console's state.
#[derive(Debug)]
pub struct Model {
    _setup: Setup,
}

/// What drawing must remember: scroll offsets and where things were, for the mouse.
#[derive(Debug, Default)]
pub struct ViewState {}

impl Model {
    /// A console at its start, and the first tasks.
    pub fn start(setup: Setup) -> (Self, Vec<Task>) {
        (Self { _setup: setup }, vec![Task::Recover, Task::Scan { run: 1 }])
    }

    /// Whether something on the screen changes with time alone (ages, progress).
    pub fn wants_ticks(&self) -> bool {
        true
    }
}

/// Takes in what happened, and says what to do.
pub fn update(_model: &mut Model, _view: &ViewState, message: Message) -> Vec<Task> {
    match message {
        Message::Key(_) | Message::Terminate => vec![Task::Quit],
        _ => Vec::new(),
    }
}

/// Draws the console.
pub fn view(_model: &Model, _view: &mut ViewState, _frame: &mut Frame<'_>) {}
