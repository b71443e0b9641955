//! A MariaDB server of one test, and its faults.

use super::Desk;
use super::process::{Account, Process, free_port, program, run, skipped, wait_until};
use crate::world::two_lines;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use std::process::Command;
use tempfile::TempDir;

const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/bin"];
const ALL: [&str; 3] = ["inv-1", "inv-2", "mail-1"];
const DECIDE: &str = "decide inv-1 --source billing --done --override --reason seen";

const JOBS: &str = "
CREATE DATABASE app; USE app;
CREATE TABLE jobs (`key` varchar(80) PRIMARY KEY, status varchar(20) NOT NULL, updated_at datetime(6), last_error text);
INSERT INTO jobs VALUES ('inv-1', 'running', utc_timestamp() - INTERVAL 2 HOUR, NULL),
    ('inv-2', 'failed', utc_timestamp() - INTERVAL 1 HOUR, 'Read timed out'),
    ('inv-3', 'done', utc_timestamp() - INTERVAL 1 HOUR, NULL);
CREATE USER ana@'127.0.0.1' IDENTIFIED BY 's3cr3t-of-ana';
GRANT SELECT, INSERT, UPDATE, DELETE ON app.jobs TO ana@'127.0.0.1';
";

/// Temporary tables in a folder of its own: a server that starts removes every `#sql…` of its temporary folder, those of
/// a neighbour in `/tmp` too.
fn own_tmpdir(folder: &TempDir) -> String {
    format!("--tmpdir={}", folder.path().display())
}

/// The server, as long as this lives.
struct MariaDb {
    folder: TempDir,
    account: Account,
    port: u16,
    process: Option<Process>,
}

impl MariaDb {
    /// A server with the tests' table; `None`, and said so, where MariaDB is not installed.
    fn start() -> Option<Self> {
        let install =
            program("mariadb-install-db", &FOLDERS).filter(|_| program("mariadbd", &FOLDERS).is_some());
        let (Some(install), Some(account)) = (install, Account::of("mysql")) else {
            skipped("MariaDB is not installed, or has no account");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        account.owns(folder.path());
        let mut make = account.command(&install);
        make.arg("--no-defaults").arg(format!("--datadir={}", folder.path().join("data").display()));
        make.arg(own_tmpdir(&folder));
        run(make.args(["--auth-root-authentication-method=normal", "--skip-test-db"]));
        let mut server = Self { folder, account, port: free_port(), process: None };
        server.restart();
        server.sql(JOBS);
        Some(server)
    }

    fn restart(&mut self) {
        let mut start = self.account.command(&program("mariadbd", &FOLDERS).unwrap());
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        start.arg("--no-defaults").arg(format!("--datadir={}", file("data")));
        start.arg(own_tmpdir(&self.folder));
        start.arg(format!("--socket={}", file("socket"))).arg(format!("--port={}", self.port));
        start.args([
            "--bind-address=127.0.0.1",
            "--innodb-buffer-pool-size=16M",
            "--innodb-flush-log-at-trx-commit=0",
        ]);
        let log = self.folder.path().join("log");
        let mut process = Process::start(&mut start, &log);
        wait_until("the server", || {
            let told = std::fs::read_to_string(&log).unwrap_or_default();
            assert!(!process.has_ended(), "the server did not start:\n{told}");
            self.client("SELECT 1").output().unwrap().status.success()
        });
        self.process = Some(process);
    }

    fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    fn client(&self, sql: &str) -> Command {
        let mut client = Command::new(program("mariadb", &FOLDERS).unwrap());
        client
            .env_clear()
            .arg("--no-defaults")
            .arg(format!("--socket={}", self.folder.path().join("socket").display()));
        client.args(["--user=root", "--batch", "--skip-column-names", "--execute", sql]);
        client
    }

    fn sql(&self, sql: &str) -> String {
        run(&mut self.client(sql)).trim().to_owned()
    }

    fn status_of(&self, key: &str) -> String {
        self.sql(&format!("SELECT status FROM app.jobs WHERE `key` = '{key}'"))
    }

    fn shown(&self, account: &str) -> String {
        format!("mysql://{account}@127.0.0.1:{}/app", self.port)
    }

    fn desk(&self) -> Desk {
        Desk::new(&self.shown("ana:s3cr3t-of-ana"), "")
    }

    fn told(&self, what: &str) -> String {
        format!("{}: {what}", self.shown("ana"))
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop(Signal::TERM);
        }
    }
}

#[test]
fn a_closed_port() {
    let port = free_port();
    let shown = format!("mysql://ana@127.0.0.1:{port}/app");
    Desk::new(&shown.replace("ana@", "ana:s3cr3t@"), "").tells(
        3,
        &format!("{shown}: cannot be reached (Connection refused (os error 111))"),
        "Check host, port and network, and that the server runs.",
    );
}

/// Who is let in and who is not, what is there and what is not: one server for all of it, as starting one takes seconds.
#[test]
fn passwords_databases_tables_and_rights() {
    let Some(server) = MariaDb::start() else { return };
    let login = "Check the user and its password (in the address, `secret_env` or `secret_file`), and the account's rights.";
    let denied = server.told("the server refuses the login (Access denied for user 'ana'@'localhost')");
    Desk::new(&server.shown("ana:s3cr3t-but-wrong"), "").tells(3, &denied, login);
    let file = Desk::new(&server.shown("ana"), "secret_file = \"password\"");
    file.world.write("password", "s3cr3t-but-wrong\n");
    file.tells(3, &denied, login);
    let none = server
        .told("the server refuses the login (Access denied for user 'ana'@'localhost', without a password)");
    Desk::new(&server.shown("ana"), "").tells(3, &none, login);

    file.world.write("password", "s3cr3t-of-ana\n");
    assert_eq!(file.listed(), ALL);
    file.hides_passwords();

    // Its socket asks nobody for a password.
    let socket = server.folder.path().join("socket");
    let near = Desk::new(&format!("mysql://root@localhost/app?socket={}", socket.display()), "");
    assert_eq!(near.listed(), ALL);

    // Whether it may write is told before anybody decides.
    let (_, health, told) = server.desk().doctor("decisions");
    assert_eq!(health, "good", "{told}");
    server.sql("REVOKE INSERT, UPDATE, DELETE ON app.jobs FROM ana@'127.0.0.1'");
    let (_, health, told) = server.desk().doctor("decisions");
    let refused = "this account may not UPDATE and DELETE: decisions will be refused";
    assert_eq!((health.as_str(), told.as_str()), ("doubtful", refused));
    let ran = server.desk().run(DECIDE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let lacking = server.told(
        "the account lacks a right (UPDATE command denied to user 'ana'@'localhost' for table `app`.`jobs`)",
    );
    assert!(
        ran.err.starts_with(&format!("unstuck: inv-1: mark done failed: nothing was written: {lacking}\n")),
        "{}",
        ran.err
    );
    assert_eq!(server.status_of("inv-1"), "running");

    // The catalogue leaves out what an account may not see; it is told apart from what is not there.
    server.sql("CREATE TABLE app.other (n int); GRANT SELECT ON app.other TO ana@'127.0.0.1'; REVOKE SELECT ON app.jobs FROM ana@'127.0.0.1'");
    let lacking = server.told(
        "the account lacks a right (SELECT command denied to user 'ana'@'localhost' for table `app`.`jobs`)",
    );
    let grant = "GRANT it: SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.";
    server.desk().tells(3, &lacking, grant);

    server.sql("GRANT SELECT ON app.* TO ana@'127.0.0.1'; RENAME TABLE app.jobs TO app.tasks");
    let missing = server.told("has no table `jobs`");
    let name_it = "Name the right table in the configuration; `unstuck doctor` lists those there are.";
    server.desk().tells(2, &missing, name_it);
    server.sql("RENAME TABLE app.tasks TO app.jobs; ALTER TABLE app.jobs RENAME COLUMN last_error TO error");
    let column = server.told("table `jobs` has no column `last_error`");
    let map_it = "Map the columns in the configuration; `unstuck doctor` lists those there are.";
    server.desk().tells(2, &column, map_it);
}

#[test]
fn read_only_and_killed() {
    let Some(mut server) = MariaDb::start() else { return };
    let desk = server.desk();
    server.sql("SET GLOBAL read_only = 1");
    assert_eq!(desk.listed(), ALL);
    let (code, health, told) = desk.doctor("server");
    assert_eq!((code, health.as_str()), (Some(0), "doubtful"));
    assert!(told.ends_with("; read only: no decision can be written"), "{told}");
    let ran = desk.run(DECIDE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let why = server.told(
        "cannot be written: it is a replica, or set to read only \
         (The MariaDB server is running with the --read-only option so it cannot execute this statement)",
    );
    assert!(
        ran.err.starts_with(&format!("unstuck: inv-1: mark done failed: nothing was written: {why}\n")),
        "{}",
        ran.err
    );
    server.sql("SET GLOBAL read_only = 0");

    server.sql(
        "USE app; RENAME TABLE jobs TO stored; CREATE SQL SECURITY INVOKER VIEW jobs AS \
         SELECT `key`, status, updated_at, last_error FROM stored WHERE sleep(20) = 0; \
         GRANT SELECT, UPDATE ON app.* TO ana@'127.0.0.1'",
    );
    let listing = desk.program("list --json").spawn().unwrap();
    wait_until("the scan", || {
        server.sql("SELECT count(*) FROM information_schema.processlist WHERE state = 'User sleep'") != "0"
    });
    server.kill();
    let ran = desk.ended(listing);
    let lost = server.told("the connection was lost while it was used");
    assert_eq!((ran.code, ran.err), (Some(3), two_lines(&lost, "Scan again: it is connected to anew.")));
    assert!(ran.out.contains("mail-1"), "{}", ran.out);
    server.restart();
    server.sql("USE app; DROP VIEW jobs; RENAME TABLE stored TO jobs");
    assert_eq!(desk.listed(), ALL);
    assert_eq!((desk.run(DECIDE).code, server.status_of("inv-1").as_str()), (Some(0), "done"));
}

/// Case 62: what has finished has an index of its own, and is not read.
#[test]
fn case_62_finished_jobs_are_not_read() {
    let Some(server) = MariaDb::start() else { return };
    let fixture = include_str!("../../fixtures/systems/solid_queue.mysql.sql");
    server.sql(&format!(
        "USE app; {fixture}
         CREATE INDEX index_solid_queue_jobs_on_finished_at ON solid_queue_jobs (finished_at);
         INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, finished_at, created_at, updated_at)
         SELECT seq, 'default', 'ChargeJob', '{{}}', utc_timestamp(), utc_timestamp(), utc_timestamp() FROM seq_1001_to_21000;
         ANALYZE TABLE solid_queue_jobs; GRANT SELECT ON app.* TO ana@'127.0.0.1'"
    ));
    let read = || -> i64 {
        let sql = "SELECT CAST(sum(variable_value) AS SIGNED) FROM information_schema.global_status WHERE variable_name LIKE 'HANDLER_READ%'";
        server.sql(sql).trim().parse().unwrap()
    };
    let before = read();
    let world = crate::world::World::new();
    let url = format!("mysql://ana:s3cr3t-of-ana@127.0.0.1:{}/app", server.port);
    let ran = world.run_all(&["list", "--json", "--source", "solid_queue", "--db", &url]);
    assert_eq!((ran.code, ran.each("key").len()), (Some(0), 7), "{ran:?}");
    let rows = read() - before;
    assert!((1..10_000).contains(&rows), "{rows} rows were read");
}
