//! What the event loop draws on: the terminal, or a test's.

use crate::runtime::terminal::{self, FrameOutput};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};
use std::io::{self, Write};
use std::mem::ManuallyDrop;

/// What the event loop draws on.
pub trait Screen {
    /// How large it is.
    ///
    /// # Errors
    /// The terminal's own.
    fn size(&self) -> io::Result<Size>;

    /// Draws a frame: what differs from the one before.
    ///
    /// # Errors
    /// The terminal's own; it is gone then.
    fn draw(&mut self, render: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()>;

    /// Puts text on the clipboard of the machine that the terminal is on.
    ///
    /// # Errors
    /// The terminal's own.
    fn copy(&mut self, text: &str) -> io::Result<()>;

    /// Turns mouse reports on or off.
    ///
    /// # Errors
    /// The terminal's own.
    fn capture_mouse(&mut self, on: bool) -> io::Result<()>;

    /// Lets the next frame be drawn whole, whatever stands on the terminal by now.
    ///
    /// # Errors
    /// The terminal's own.
    fn redraw(&mut self) -> io::Result<()>;

    /// Gives the terminal back for a while.
    fn leave(&mut self);

    /// Stops the program as the shell's job. It may return before that takes hold.
    ///
    /// # Errors
    /// There are no jobs here.
    fn stop(&mut self) -> io::Result<()>;

    /// Takes the terminal over again; the next frame is drawn whole.
    ///
    /// # Errors
    /// The terminal's own.
    fn enter(&mut self) -> io::Result<()>;

    /// Whether it hung up.
    fn is_gone(&self) -> bool;
}

/// The terminal that the program was started on.
#[derive(Debug)]
pub struct Tty<W: Write> {
    /// Never dropped: it would show the cursor, complain about a terminal that is gone to that terminal, and panic when
    /// that fails. The guard shows the cursor.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<W>>>,
    captures_mouse: bool,
}

impl Tty<FrameOutput> {
    /// Draws on the standard output. The terminal is taken over by a [`terminal::TerminalGuard`].
    ///
    /// # Errors
    /// The terminal's own.
    pub fn open() -> io::Result<Self> {
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(FrameOutput::open()?))?);
        Ok(Self { terminal, captures_mouse: false })
    }
}

impl<W: Write> Tty<W> {
    #[cfg(test)]
    fn on(terminal: Terminal<CrosstermBackend<W>>) -> Self {
        Self { terminal: ManuallyDrop::new(terminal), captures_mouse: false }
    }
}

impl<W: Write> Screen for Tty<W> {
    fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    fn draw(&mut self, render: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()> {
        // Always, and not where some variable says that the terminal can: who cannot ignores it.
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(render)?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        Backend::flush(self.terminal.backend_mut())
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(text))?;
        Backend::flush(self.terminal.backend_mut())
    }

    fn capture_mouse(&mut self, on: bool) -> io::Result<()> {
        self.captures_mouse = on;
        if on {
            queue!(self.terminal.backend_mut(), EnableMouseCapture)?;
        } else {
            queue!(self.terminal.backend_mut(), DisableMouseCapture)?;
        }
        Backend::flush(self.terminal.backend_mut())
    }

    fn redraw(&mut self) -> io::Result<()> {
        // Not `clear`: that asks the terminal for its cursor, and the answer would be taken for a key.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    fn leave(&mut self) {
        terminal::leave();
    }

    fn stop(&mut self) -> io::Result<()> {
        terminal::stop_job()
    }

    fn enter(&mut self) -> io::Result<()> {
        terminal::enter()?;
        self.capture_mouse(self.captures_mouse)?;
        self.redraw()
    }

    fn is_gone(&self) -> bool {
        terminal::has_hung_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::{TerminalOptions, Viewport};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Bytes(Rc<RefCell<Vec<u8>>>);

    impl Write for Bytes {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(buffer);
            Ok(buffer.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn screen() -> (Tty<Bytes>, Bytes) {
        let bytes = Bytes::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, 80, 24));
        let backend = CrosstermBackend::new(bytes.clone());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport }).unwrap();
        (Tty::on(terminal), bytes)
    }

    #[test]
    fn a_frame_is_one_synchronized_update_without_a_clear_and_small_where_little_changed() {
        let (mut screen, bytes) = screen();
        let page = "x".repeat(80 * 24);
        screen.draw(&mut |frame| frame.render_widget(page.as_str(), frame.area())).unwrap();
        bytes.0.borrow_mut().clear();
        screen
            .draw(&mut |frame| {
                frame.render_widget(page.as_str(), frame.area());
                frame.render_widget("y", Rect::new(7, 7, 1, 1));
            })
            .unwrap();
        let drawn = String::from_utf8(bytes.0.borrow().clone()).unwrap();
        assert!(drawn.starts_with("\x1b[?2026h"), "{drawn:?}");
        assert!(drawn.ends_with("\x1b[?2026l"), "{drawn:?}");
        assert!(!drawn.contains("\x1b[2J") && !drawn.contains("\x1b[J"), "{drawn:?}");
        assert!(drawn.len() < 200, "{} bytes: {drawn:?}", drawn.len());
    }

    #[test]
    fn copied_text_goes_out_as_osc_52() {
        let (mut screen, bytes) = screen();
        screen.copy("inv-41").unwrap();
        let sent = String::from_utf8(bytes.0.borrow().clone()).unwrap();
        assert_eq!(sent, "\x1b]52;c;aW52LTQx\x1b\\");
    }
}
