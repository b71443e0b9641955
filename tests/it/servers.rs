//! Servers that refuse, hide, cannot be written, restart and die, through the real program: each a clear line and the right
//! exit code, no password ever shown, and the other sources go on.
//!
//! Each test starts a server of its own, on loopback and in a folder of its own, and ends it.

mod address;
mod console;
mod killed;
mod mariadb;
mod pages;
mod postgres;
mod process;
mod proxy;
mod refused;
mod replica;
mod rights;
mod tls;

use crate::world::{Ran, World, two_lines};
use pretty_assertions::assert_eq;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

/// A finding in a file beside the server, which goes on whatever the server does.
const MAILS: &str = "
CREATE TABLE sent_emails (email_key, status, created_at);
INSERT INTO sent_emails VALUES ('mail-1', 'running', '2026-01-01 00:00:00');
";

/// A configuration with a server's jobs as `billing` and a file's mails as `mails`.
pub struct Desk {
    pub world: World,
    environment: Vec<(String, String)>,
}

impl Desk {
    /// On an address; `more` are further lines of the source.
    pub fn new(url: &str, more: &str) -> Self {
        let world = World::new();
        world.database("mails.db", MAILS);
        world.write(
            "config.toml",
            format!(
                "[audit]\npath = \"audit.db\"\n\n[[sources]]\nname = \"billing\"\nurl = \"{url}\"\npreset = \"jobs\"\n{more}\n\n\
                 [[sources]]\nname = \"mails\"\nurl = \"sqlite://mails.db\"\npreset = \"sent_emails\"\n"
            ),
        );
        Self { world, environment: Vec::new() }
    }

    /// The same with a variable in the program's environment.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The password file of whoever runs the program.
    pub fn passfile(&self, lines: &str) {
        let path = self.world.write(".pgpass", lines);
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    /// The program with these arguments, ready to be started.
    pub fn program(&self, arguments: &str) -> std::process::Command {
        let mut command = self.world.program(env!("CARGO_BIN_EXE_unstuck"));
        command.args(["--config", "config.toml"]).args(arguments.split_whitespace());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with arguments that are parted by spaces. It never prints a password.
    pub fn run(&self, arguments: &str) -> Ran {
        self.ended(self.program(arguments).spawn().unwrap())
    }

    /// What a program that was started came to.
    pub fn ended(&self, child: Child) -> Ran {
        let ran = self.world.ran(child.wait_with_output().unwrap());
        for printed in [&ran.out, &ran.err] {
            assert!(!printed.contains("s3cr3t"), "a password is printed: {printed}");
        }
        ran
    }

    /// The keys that are listed.
    pub fn listed(&self) -> Vec<String> {
        let ran = self.run("list --json");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.each("key")
    }

    /// What is told of `billing` by `doctor` under a name.
    pub fn doctor(&self, what: &str) -> (Option<i32>, String, String) {
        let ran = self.run("doctor --json");
        let is_it = |line: &&serde_json::Value| line["subject"] == "source billing" && line["what"] == what;
        let lines = ran.json();
        let line = lines.iter().find(is_it).unwrap_or_else(|| panic!("no {what} in {}", ran.out));
        (ran.code, text(&line["health"]), text(&line["finding"]))
    }

    /// All commands tell the same fault of `billing`, in two lines with the right exit code, and go on with the mails.
    pub fn tells(&self, code: i32, what: &str, do_next: &str) {
        let told = two_lines(what, do_next);
        let list = self.run("list --json");
        assert_eq!(
            (list.code, list.err.as_str(), list.each("key")),
            (Some(code), &*told, vec!["mail-1".to_owned()])
        );
        let text = self.run("list --source billing");
        assert_eq!(
            (text.code, text.err),
            (Some(code), format!("{told}No findings in what could be read.\n"))
        );
        let check = self.run("check inv-1");
        assert_eq!((check.code, check.err.as_str(), check.out.as_str()), (Some(code), &*told, ""));
        let all = self.run("check --all --json");
        assert!(all.err.starts_with(&told), "{}", all.err);
        assert_eq!((all.code, all.each("key")), (Some(code), vec!["mail-1".to_owned()]));
        let nothing = two_lines(&format!("nothing was changed: {what}"), do_next);
        let decide = self.run("decide inv-1 --source billing --escalate --reason look");
        assert_eq!((decide.code, decide.err.as_str(), decide.out.as_str()), (Some(code), &*nothing, ""));
        let many = self.run("decide --all --where source:billing --escalate --reason look");
        assert_eq!(many.code, Some(code), "{many:?}");
        assert!(many.err.starts_with(&told), "{}", many.err);
        let (ended, health, finding) = self.doctor_of_fault();
        let expected = if code == 3 { (Some(3), "unreachable") } else { (Some(2), "bad") };
        assert_eq!((ended, health.as_str()), expected, "{finding}");
        assert_eq!(finding, format!("{what}. {do_next}"));
        // Nothing of it is on record as intended or done.
        let audit = self.run("audit list --json");
        assert!(!audit.out.contains("inv-1"), "{}", audit.out);
        self.hides_passwords();
    }

    /// The worst line of `doctor` on `billing`.
    fn doctor_of_fault(&self) -> (Option<i32>, String, String) {
        let ran = self.run("doctor --json");
        let lines = ran.json();
        let own = lines.iter().filter(|line| line["subject"] == "source billing");
        let bad = own.filter(|line| line["health"] == "bad" || line["health"] == "unreachable");
        let [bad] = bad.collect::<Vec<_>>()[..] else { panic!("not one fault in {}", ran.out) };
        (ran.code, text(&bad["health"]), text(&bad["finding"]))
    }

    /// No password is in anything that was put on record. (What is printed is looked at with every run.)
    pub fn hides_passwords(&self) {
        for arguments in
            ["decide inv-1 --source billing --done --dry-run --reason look", "doctor", "audit export"]
        {
            self.run(arguments);
        }
        let audit = std::fs::read(self.world.path("audit.db")).unwrap();
        assert!(!audit.windows(6).any(|bytes| bytes == b"s3cr3t"), "a password is in the audit");
    }
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
