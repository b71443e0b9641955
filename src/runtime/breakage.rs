//! Breaking on purpose, for the tests that prove the terminal comes back. No release can: it needs debug assertions.
#![expect(clippy::panic, clippy::disallowed_methods, reason = "it breaks on purpose, and never in a release")]

use crossterm::event::{KeyCode, KeyEvent};

/// Which part breaks: `console` or `worker`.
const VARIABLE: &str = "UNSTUCK_PANIC_ON_KEY";
/// The key on which it does: one that means nothing else.
const KEY: KeyCode = KeyCode::Char('!');

/// Panics if the environment asks for it on this key.
pub(super) fn on_key(event: KeyEvent) {
    if event.code != KEY {
        return;
    }
    match std::env::var(VARIABLE).as_deref() {
        Ok("console") => panic!("broken on purpose"),
        Ok("worker") => drop(tokio::spawn(async { panic!("broken on purpose") })),
        _ => {}
    }
}
