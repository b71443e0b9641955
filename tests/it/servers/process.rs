//! A server's processes: started for one test on a free port of this machine, and ended by their numbers.

use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until something is so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} was awaited in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A program in one of these folders or on the path; `None` where it is not installed.
pub fn program(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().map(PathBuf::from).chain(std::env::split_paths(&path));
    all.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Says that a test is left out; a failure where none may be.
pub fn skipped(why: &str) {
    assert!(std::env::var_os("UNSTUCK_TEST_NO_SKIP").is_none(), "{why}");
    println!("skipped: {why}");
}

/// The account that a server's programs run as: servers do not run as root.
#[derive(Debug, Clone, Copy)]
pub struct Account(Option<(u32, u32)>);

impl Account {
    /// An account's numbers, where this is root; else our own. `None` where there is no such account.
    pub fn of(name: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Some(Self(None));
        }
        let number = |kind: &str| {
            let told = Command::new("id").args([kind, name]).output().ok()?;
            String::from_utf8(told.stdout).ok()?.trim().parse().ok()
        };
        Some(Self(Some((number("-u")?, number("-g")?))))
    }

    /// Gives a file or folder to it.
    pub fn owns(self, path: &Path) {
        if let Some((user, group)) = self.0 {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }

    /// A program that runs as it, with nothing of this test's environment but the path.
    pub fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdin(Stdio::null())
            .current_dir("/");
        if let Some((user, group)) = self.0 {
            command.uid(user).gid(group);
        }
        command
    }
}

/// Runs a program to a good end.
pub fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// A running server.
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts it; its log goes to a file.
    pub fn start(command: &mut Command, log: &Path) -> Self {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        Self { child }
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills it with all its processes, as a machine that loses its power.
    pub fn kill(mut self) {
        let children = self.children();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        for child in children {
            // It may have seen that its parent is gone, and have ended.
            let _gone = kill_process(child, Signal::KILL);
        }
    }

    /// Ends it in good order.
    pub fn stop(mut self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
        wait_until("the server's end", || self.has_ended());
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Its processes: those whose parent it is.
    fn children(&self) -> Vec<Pid> {
        let own = self.pid().as_raw_nonzero().get().to_string();
        let parent = |process: &str| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // The name stands in brackets and may hold anything.
            Some(stat.rsplit_once(')')?.1.split_whitespace().nth(1)? == own)
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| parent(name) == Some(true))
            .filter_map(|name| Pid::from_raw(name.parse().ok()?))
            .collect()
    }
}
