//! Running the scripts of `tests/systems`.

use crate::databases::{Database, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a late worker may take to say what came of it.
const PATIENCE: Duration = Duration::from_secs(30);

/// One system's script, ready to be run.
pub struct StandIn {
    folder: PathBuf,
    script: &'static str,
    version: &'static str,
}

impl StandIn {
    /// `None` where the libraries are not installed, which is told.
    pub fn new(script: &'static str, version: &'static str) -> Option<Self> {
        let Some(folder) = std::env::var_os("UNSTUCK_TEST_STANDINS") else {
            skip("UNSTUCK_TEST_STANDINS is not set: tests/systems/install.sh FOLDER makes it");
            return None;
        };
        Some(Self { folder: PathBuf::from(folder), script, version })
    }

    /// Runs a command of the contract; each line that it prints.
    pub fn run(&self, database: &Database, arguments: &[&str]) -> Vec<Value> {
        let mut command = self.command();
        let (verb, rest) = arguments.split_first().unwrap();
        command.arg(verb).args(["--db", &database.url()]).args(rest);
        let output = command.output().unwrap_or_else(|fault| panic!("{}: {fault}", self.script));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{} {arguments:?}: {text}\n{}",
            self.script,
            String::from_utf8_lossy(&output.stderr)
        );
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn command(&self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
        let folder = std::path::absolute(&self.folder).unwrap();
        if self.script == "apalis" {
            return Command::new(folder.join("apalis/debug/apalis-stand-in"));
        }
        let is_node = Path::new(self.script).extension().is_some_and(|extension| extension == "mjs");
        let mut command =
            if is_node { Command::new("node") } else { Command::new(folder.join("py/bin/python")) };
        command.arg(scripts.join(self.script));
        command.env("STANDINS_NODE", folder.join("node")).env("PGBOSS", self.version);
        command
    }
}

/// Ends a worker that a script left running, with all that it started.
pub fn end(pid: i64) {
    let _gone_already = Command::new("kill").args(["-9", "--", &format!("-{pid}")]).output();
    let _gone_already = Command::new("kill").args(["-9", &pid.to_string()]).output();
}

/// The line that a late worker writes when it is done.
pub fn wait_for(file: &Path) -> Value {
    let began = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(file)
            && let Ok(line) = serde_json::from_str(text.trim())
        {
            return line;
        }
        assert!(began.elapsed() < PATIENCE, "{} is not there", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}
