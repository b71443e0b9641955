//! The console over a file and a server that is killed: it goes on with the file, says what it could not read, and reads
//! the server again when it is back.

use super::postgres::Postgres;
use crate::pty::terminal::{Start, Terminal};
use crate::world::World;

#[test]
fn the_console_goes_on_with_the_other_sources() {
    let Some(mut server) = Postgres::start() else { return };
    let world = World::new();
    let mails = world.database("mails.db", super::MAILS);
    let arguments = format!("--db sqlite://{} --db {}", mails.display(), server.url("ana:s3cr3t-of-ana"));
    let mut terminal = Terminal::start(&Start { arguments: &arguments, size: (160, 40), ..Start::default() });
    terminal.shows("3 findings  read");
    terminal.shows("jobs ok");
    server.kill();
    terminal.press("R");
    terminal.shows("! jobs NOT READ");
    terminal.shows("sent_emails ok");
    terminal.shows(&format!("! jobs: {}: cannot be reached (Connection refused", server.shown("ana")));
    // What was known of it stays, and the others can be worked on.
    for key in ["inv-1", "inv-2", "mail-1"] {
        terminal.shows(key);
    }
    terminal.press("/mail\r");
    terminal.hides("inv-1");
    terminal.shows("-- Item  mail-1");
    terminal.press("/\x7f\x7f\x7f\x7f\r");
    terminal.shows("inv-1");
    server.restart();
    server.sql("DELETE FROM jobs WHERE key = 'inv-1'; UPDATE jobs SET key = 'inv-9' WHERE key = 'inv-2'");
    terminal.press("R");
    terminal.shows("inv-9");
    terminal.shows("jobs ok");
    terminal.hides("NOT READ");
    terminal.hides("inv-1");
    assert!(!terminal.written().contains("s3cr3t"), "a password was written to the terminal");
    terminal.press("q");
    terminal.is_over(0);
}
