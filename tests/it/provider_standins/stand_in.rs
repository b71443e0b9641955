//! Running the scripts of `tests/providers`.

use crate::databases::skip;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A stand-in that takes requests. It ends with its test.
pub struct StandIn {
    folder: PathBuf,
    script: &'static str,
    process: Child,
    /// What it says of itself.
    pub started: Started,
}

/// The line of `start`.
#[derive(Debug, Deserialize)]
pub struct Started {
    pub url: String,
    pub token: Option<String>,
    /// Its name and version.
    pub stand_in: String,
}

/// One look-up, and what it must come to.
#[derive(Debug, Deserialize)]
pub struct LookUp {
    pub operation: String,
    pub reference: String,
    /// The verdict.
    pub expect: String,
    /// How many effects really happened; none where the look-up is a fault.
    #[serde(default)]
    pub effects: usize,
    /// Every effect that the provider has by the reference.
    #[serde(default)]
    pub ids: Vec<String>,
    /// What the job meant.
    pub amount: Option<String>,
    pub currency: Option<String>,
    /// The fault's name; `None` for a case.
    pub fault: Option<String>,
    /// What is asked with instead of the usual.
    #[serde(default)]
    pub ask: BTreeMap<String, String>,
    pub why: String,
}

impl StandIn {
    /// Starts one on a free port; `None` where the stand-ins are not installed, which is told.
    pub fn start(script: &'static str) -> Option<Self> {
        let Some(folder) = std::env::var_os("UNSTUCK_TEST_PROVIDERS") else {
            skip("UNSTUCK_TEST_PROVIDERS is not set: tests/providers/install.sh FOLDER makes it");
            return None;
        };
        let folder = std::path::absolute(folder).unwrap();
        let mut command = command(&folder, script);
        let mut process = command.args(["start", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let started = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{script} did not start");
            // Some libraries greet before anybody could keep them from it.
            if let Ok(started) = serde_json::from_str(&line) {
                break started;
            }
        };
        // Nobody may be held up because nobody reads.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Some(Self { folder, script, process, started })
    }

    /// Makes the effects: each case.
    pub fn seed(&self) -> Vec<LookUp> {
        self.run("seed")
    }

    /// Makes it misbehave, or says how to ask it amiss: each fault.
    pub fn break_down(&self) -> Vec<LookUp> {
        self.run("faults")
    }

    fn run(&self, verb: &str) -> Vec<LookUp> {
        let mut command = command(&self.folder, self.script);
        let output = command.args([verb, "--url", &self.started.url]).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {verb}: {complaint}", self.script);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let pid = self.process.id().to_string();
        let _gone_already = Command::new("kill").arg(&pid).output();
        let _gone_already = self.process.wait();
    }
}

fn command(folder: &Path, script: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers");
    let is_node = Path::new(script).extension().is_some_and(|extension| extension == "mjs");
    let mut command = if is_node { Command::new("node") } else { Command::new(folder.join("py/bin/python")) };
    command.arg(scripts.join(script)).env("PROVIDERS_NODE", folder.join("node"));
    command
}

/// The versions that are pinned beside the scripts: `moto 5.2.5`, as `start` tells them.
pub fn pinned() -> Vec<String> {
    let requirements = include_str!("../../providers/requirements.txt");
    let python = requirements.lines().filter_map(|line| line.split_once("=="));
    let package: Value = serde_json::from_str(include_str!("../../providers/package.json")).unwrap();
    let node = package["dependencies"].as_object().unwrap().iter();
    let told = |name: &str, version: &str| format!("{name} {version}");
    python
        .map(|(name, version)| told(name, version))
        .chain(node.map(|(name, version)| told(name, version.as_str().unwrap())))
        .collect()
}
