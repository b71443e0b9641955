//! A PostgreSQL server of one test: it asks for passwords on its port, and for none on its socket.

use super::process::{Account, Process, free_port, program, run, skipped, wait_until};
use rustix::process::Signal;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Where Debian and others keep a version's own programs, the newest first.
const FOLDERS: [&str; 8] = [
    "/usr/lib/postgresql/18/bin",
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/14/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/bin",
    "/usr/pgsql/bin",
];

/// The table of the tests, with a job that never ended, one that timed out, and one that is done.
pub const JOBS: &str = "
CREATE TABLE jobs (key text PRIMARY KEY, status text NOT NULL, updated_at timestamptz, last_error text);
INSERT INTO jobs VALUES ('inv-1', 'running', now() - interval '2 hours', NULL),
    ('inv-2', 'failed', now() - interval '1 hour', 'Read timed out'),
    ('inv-3', 'done', now() - interval '1 hour', NULL);
CREATE ROLE ana LOGIN PASSWORD 's3cr3t-of-ana';
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO ana;
";

/// The password of `ana`, which nobody may ever see.
pub const PASSWORD: &str = "s3cr3t-of-ana";

/// The server, as long as this lives.
pub struct Postgres {
    folder: TempDir,
    account: Account,
    data: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Postgres {
    /// A server with the tests' table; `None`, and said so, where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let server = Self::empty(&[])?;
        server.sql(JOBS);
        Some(server)
    }

    /// A server without any table, with further settings.
    pub fn empty(settings: &[&str]) -> Option<Self> {
        let (Some(initdb), Some(account)) = (program("initdb", &FOLDERS), Account::of("postgres")) else {
            skipped("PostgreSQL is not installed, or has no account");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        account.owns(folder.path());
        let data = folder.path().join("data");
        let mut make = account.command(&initdb);
        make.arg("-D").arg(&data).args(["-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]);
        run(make.args(["--auth-local=trust", "--auth-host=scram-sha-256"]));
        let mut all = String::from("fsync = off\nlisten_addresses = '127.0.0.1'\nshared_buffers = 16MB\n");
        writeln!(all, "unix_socket_directories = '{}'", folder.path().display()).unwrap();
        for setting in settings {
            all += &setting.replace("FOLDER", &folder.path().display().to_string());
            all.push('\n');
        }
        std::fs::write(data.join("postgresql.auto.conf"), all).unwrap();
        let mut server = Self { folder, account, data, port: free_port(), process: None };
        server.restart();
        Some(server)
    }

    /// A copy of it that follows it and can only be read.
    pub fn replica(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        self.account.owns(folder.path());
        let data = folder.path().join("data");
        let mut copy = self.account.command(&program("pg_basebackup", &FOLDERS).unwrap());
        copy.arg("-D").arg(&data).args(["-R", "-X", "stream", "--checkpoint=fast", "--no-sync"]);
        run(copy.arg("-d").arg(format!("{} dbname=postgres", self.socket())));
        let socket = format!("unix_socket_directories = '{}'\n", folder.path().display());
        let kept = std::fs::read_to_string(data.join("postgresql.auto.conf")).unwrap();
        std::fs::write(data.join("postgresql.auto.conf"), kept + &socket).unwrap();
        let mut replica = Self { folder, account: self.account, data, port: free_port(), process: None };
        replica.restart();
        replica
    }

    /// Starts it, and waits until it answers.
    pub fn restart(&mut self) {
        assert!(self.process.is_none(), "it runs already");
        let mut start = self.account.command(&program("postgres", &FOLDERS).unwrap());
        start.arg("-D").arg(&self.data).args(["-p", &self.port.to_string()]);
        let log = self.folder.path().join("log");
        let mut process = Process::start(&mut start, &log);
        wait_until("the server", || {
            let told = std::fs::read_to_string(&log).unwrap_or_default();
            assert!(!process.has_ended(), "the server did not start:\n{told}");
            self.psql("SELECT 1").output().unwrap().status.success()
        });
        self.process = Some(process);
    }

    /// Kills it, as a machine that loses its power.
    pub fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    /// Stops it: TERM waits for the sessions, INT ends them, QUIT takes no time for it.
    pub fn stop(&mut self, signal: Signal) {
        self.process.take().unwrap().stop(signal);
    }

    /// Its folder: of its socket, its certificates, its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a setting, which counts from the next start on.
    pub fn set(&self, setting: &str) {
        let file = self.data.join("postgresql.auto.conf");
        let kept = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, format!("{kept}{setting}\n")).unwrap();
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Lets it read a file as only it may.
    pub fn owns(&self, path: &Path) {
        self.account.owns(path);
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// An address on its port; the role may have a password behind a colon.
    pub fn url(&self, role: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/postgres", self.port)
    }

    /// The same without a password: as it is shown.
    pub fn shown(&self, role: &str) -> String {
        self.url(role.split(':').next().unwrap())
    }

    fn socket(&self) -> String {
        format!("host={} port={} user=postgres", self.folder.path().display(), self.port)
    }

    fn psql(&self, sql: &str) -> Command {
        let mut psql = Command::new(program("psql", &FOLDERS).unwrap());
        psql.env_clear().args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        psql.arg(format!("{} dbname=postgres", self.socket()));
        psql
    }

    /// Runs statements as its superuser; what they print.
    pub fn sql(&self, sql: &str) -> String {
        run(&mut self.psql(sql)).trim().to_owned()
    }

    /// A session that has run statements and stays open.
    pub fn session(&self, sql: &str) -> Session {
        let mut psql = self.psql("");
        psql.args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = psql.spawn().unwrap();
        let name = format!("holder-{}", child.id());
        let input = child.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, format!("SET application_name = '{name}';\n{sql};\n").as_bytes())
            .unwrap();
        let asked = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}' AND state = 'idle in transaction'"
        );
        wait_until("the session", || self.sql(&asked) == "1");
        Session { child }
    }

    /// Waits until a session of the program is like that, in the words of `pg_stat_activity`.
    pub fn has_session(&self, like: &str) {
        let asked =
            format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'unstuck' AND {like}");
        wait_until(like, || self.sql(&asked) != "0");
    }

    /// The status of a job; empty where there is no such row.
    pub fn status_of(&self, key: &str) -> String {
        self.sql(&format!("SELECT status FROM jobs WHERE key = '{key}'"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // At once, without waiting for sessions.
        if let Some(process) = self.process.take() {
            process.stop(Signal::QUIT);
        }
    }
}

/// A session that holds what it holds until it is dropped.
pub struct Session {
    child: Child,
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
