//! A secret that a program writes: a password manager, a vault's client.

use super::SECRET_FILE_BYTES_MAX;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that a program may take; one that waits for a person's answer has nobody to ask here.
const TIME_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What the program writes; `None` when it cannot be run, fails, writes too much or takes too long.
///
/// It gets no input, and what it says on stderr is not shown: it could be the secret.
pub(super) fn output(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A copy of the pipe's end may live on in a child of the program: the reading is given up with it, not waited for.
    let mut child = Ended(child);
    let mut out = child.0.stdout.take()?.take(SECRET_FILE_BYTES_MAX + 1);
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let is_read = out.read_to_string(&mut text).is_ok();
        // Nobody listens any more where it took too long.
        let _given_up = told.send(is_read.then_some(text));
    });
    let text = heard.recv_timeout(TIME_MAX).ok()??;
    let is_short = text.len() as u64 <= SECRET_FILE_BYTES_MAX;
    (is_short && child.succeeds()).then_some(text)
}

/// A child that is ended when nobody waits for it any more.
struct Ended(Child);

impl Ended {
    fn succeeds(&mut self) -> bool {
        let until = Instant::now() + TIME_MAX;
        while Instant::now() < until {
            match self.0.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) => std::thread::sleep(LOOK_EVERY),
                Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended already cannot be ended again, and that is as good.
        let _ended_already = self.0.kill();
        let _ended_already = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::written(&["printf", "s3cret"], Some("s3cret"))]
    #[case::arguments_are_no_shells(&["printf", "%s", "$HOME; ls"], Some("$HOME; ls"))]
    #[case::fails(&["false"], None)]
    #[case::fails_after_writing(&["sh", "-c", "echo half; exit 3"], None)]
    #[case::is_not_there(&["/nowhere/at/all"], None)]
    #[case::writes_without_end(&["yes"], None)]
    #[case::no_words(&[], None)]
    #[case::asks_nobody(&["cat"], Some(""))]
    fn what_a_program_writes_is_the_secret_where_it_succeeds(
        #[case] words: &[&str],
        #[case] secret: Option<&str>,
    ) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(output(&words).as_deref(), secret);
    }
}
