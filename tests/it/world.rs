//! A folder with databases and a configuration, and the real program run in it.

use assert_cmd::Command;
use rusqlite::Connection;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The three tables that everyone starts with.
pub const TABLES: &str = "
CREATE TABLE jobs (key, status, updated_at, last_error);
CREATE TABLE processed_items (item_key, status, attempts, updated_at, last_error);
CREATE TABLE sent_emails (email_key, status, created_at);
";

/// What a run of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Standard output, the folder's path replaced.
    pub out: String,
    /// The error output, the folder's path replaced.
    pub err: String,
}

impl Ran {
    /// Each line of standard output as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// One field of each line of JSON, as text.
    pub fn each(&self, field: &str) -> Vec<String> {
        self.json().iter().map(|line| line[field].as_str().unwrap_or("-").to_owned()).collect()
    }
}

/// A folder of one test, which is also the home of whoever runs the program.
pub struct World {
    folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A folder in memory where the machine has such a place: nobody waits for a disk, so that more happens at once.
    pub fn in_memory() -> Self {
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        Self { folder: folder.unwrap() }
    }

    /// The folder's own path, as the program may write it where nothing is replaced.
    pub fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A database with these tables and rows.
    pub fn database(&self, name: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program, ready to be run in the folder, without anything of this machine's own settings.
    pub fn command(&self) -> Command {
        Command::from_std(self.program(env!("CARGO_BIN_EXE_unstuck")))
    }

    /// The same for whoever starts it and does not wait, and for a copy of the program or another one that starts it.
    pub fn program(&self, program: impl AsRef<OsStr>) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command.current_dir(self.folder.path()).env_clear().env("HOME", self.folder.path());
        command.env("UNSTUCK_OPERATOR", "ana").env("UNSTUCK_LEDGER_TOKEN", "sk_test_7");
        command
    }

    /// What somebody does to the audit who can write its file, triggers or not.
    pub fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.path("audit.db")).unwrap();
        let triggers: Vec<(String, String)> = connection
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for (name, _) in &triggers {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        connection.execute_batch(sql).unwrap();
        for (_, again) in &triggers {
            connection.execute_batch(again).unwrap();
        }
    }

    /// Takes away what was signed, for an audit that a test makes by itself.
    pub fn unsign(&self) {
        std::fs::remove_file(self.path("audit.db.checkpoints")).unwrap();
        std::fs::remove_dir_all(self.path(".local/state/unstuck/keys")).unwrap();
    }

    /// Runs the program with arguments that are parted by spaces.
    pub fn run(&self, arguments: &str) -> Ran {
        self.run_all(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with these arguments.
    pub fn run_all(&self, arguments: &[&str]) -> Ran {
        self.ran(self.command().args(arguments).output().unwrap())
    }

    /// What a run came to.
    pub fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&*self.folder.path().to_string_lossy(), "FOLDER")
        };
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Every row of a table, each value as SQLite quotes it.
pub fn rows_of(path: &Path, table: &str) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let columns: Vec<String> = connection
        .prepare("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info(?1)")
        .unwrap()
        .query_map([table], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let sql = format!("SELECT {} FROM {table}", columns.join(" || ',' || "));
    let mut statement = connection.prepare(&sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The two lines of a trouble, as they are printed.
pub fn two_lines(what: &str, do_next: &str) -> String {
    format!("unstuck: {what}\n         {do_next}\n")
}
