//! Two operators, each with a login of their own, on one audit in a PostgreSQL database: through the real program.

use crate::databases::skip;
use crate::incident::Incident;
use crate::world::{Ran, two_lines};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_postgres::NoTls;

/// An incident of two whose audit is in a schema of its own, with two roles that may look and add.
pub struct Team {
    pub incident: Incident,
    server: String,
    name: String,
}

impl Team {
    /// `None`, and said so, where the environment names no server.
    pub fn new() -> Option<Self> {
        let named = std::env::var_os("UNSTUCK_TEST_POSTGRES").and_then(|url| url.into_string().ok());
        let Some(server) = named else {
            skip("UNSTUCK_TEST_POSTGRES is not set");
            return None;
        };
        // One account of this machine for both: only the database tells them apart.
        let incident = Incident::of_two("approvals_from_same_login = true", "");
        let name = format!("unstuck_team_{}", uuid::Uuid::now_v7().simple());
        let team = Self { incident, server, name };
        let roles = ["ana", "ben"].map(|who| format!("CREATE ROLE {who}_{} LOGIN", team.name));
        team.sql(&roles.join(";"));
        let config = std::fs::read_to_string(team.incident.world.path("config.toml")).unwrap();
        for who in ["", "ana", "ben"] {
            let place = format!("database = {:?}\nkey = \"{who}/audit.key\"", team.address(who));
            let own = config.replacen("path = \"audit.db\"", &place, 1);
            team.incident.world.write(&format!("{who}.toml"), own);
        }
        Some(team)
    }

    fn address(&self, who: &str) -> String {
        let mut url = url::Url::parse(&self.server).unwrap();
        if !who.is_empty() {
            url.set_username(&format!("{who}_{}", self.name)).unwrap();
        }
        url.query_pairs_mut().append_pair("schema", &self.name);
        url.into()
    }

    fn sql(&self, statements: &str) {
        self.incident.wait(async {
            let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await.unwrap();
            drop(tokio::spawn(connection));
            client.batch_execute(statements).await.unwrap();
        });
    }

    /// Runs the program as somebody with a login of their own; `~` stands for a space within a reason.
    pub fn run(&self, who: &str, arguments: &str) -> Ran {
        self.run_as(who, who, arguments)
    }

    /// The same under a name that may be another's.
    fn run_as(&self, name: &str, login: &str, arguments: &str) -> Ran {
        let config = format!("{login}.toml");
        let words: Vec<String> = arguments.split_whitespace().map(|word| word.replace('~', " ")).collect();
        let mut all = vec!["--config", config.as_str()];
        if !name.is_empty() {
            all.extend(["--operator", name]);
        }
        all.extend(words.iter().map(String::as_str));
        self.incident.world.run_all(&all)
    }

    /// The audit is made by whoever owns the server, for both.
    pub fn make(&self) {
        let grants = ["ana", "ben"].map(|who| format!("--grant {who}_{}", self.name)).join(" ");
        let ran = self.run("", &format!("audit init {grants}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
        assert!(ran.out.ends_with(": made\n"), "{}", ran.out);
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        let name = &self.name;
        let mut all = format!("DROP SCHEMA IF EXISTS {name} CASCADE;");
        for who in ["ana", "ben"] {
            all.push_str(&format!("DROP OWNED BY {who}_{name}; DROP ROLE {who}_{name};"));
        }
        self.sql(&all);
    }
}

#[test]
fn what_one_proposes_another_login_approves_and_both_sign() {
    let Some(team) = Team::new() else { return };
    let ran = team.run("ana", "decide inv-1 --source jobs --done --reason charged");
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert!(ran.err.contains("there is no audit in this database yet"), "{}", ran.err);
    assert_eq!(team.incident.status_of("inv-1").as_deref(), Some("failed"));
    team.make();

    let ran = team.run("ana", "decide inv-1 --source jobs --done --reason charged --json");
    assert_eq!((ran.code, ran.each("outcome")), (Some(0), vec!["proposed".to_owned()]), "{}", ran.err);
    let short = ran.each("short").remove(0);
    assert_eq!(team.run("ben", "proposals --json").each("operator"), ["ana"]);

    // Under another name, with the login that proposed it: refused, whatever the configuration says.
    let ran = team.run_as("ben", "ana", &format!("approve {short} --reason I~looked~too"));
    let login = format!("ana_{}", team.name);
    let why = format!(
        "inv-1: mark done refused: it was proposed with the same database login ({login}): another name is not another person"
    );
    let do_next = "Approve it with a database login of one's own: each operator has one, `unstuck audit init --grant ROLE`.";
    assert_eq!((ran.code, ran.err), (Some(1), two_lines(&why, do_next)));
    assert_eq!(team.incident.status_of("inv-1").as_deref(), Some("failed"));

    let ran = team.run("ben", &format!("approve {short} --reason I~looked~too"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(team.incident.status_of("inv-1").as_deref(), Some("done"));

    let entries = team.run("ben", "audit list --json").json();
    let told: Vec<_> = entries
        .iter()
        .rev()
        .map(|entry| (entry["event"].clone(), entry["body"]["recorded_by"]["login"].clone()))
        .collect();
    let by = |who: &str| json!(format!("{who}_{}", team.name));
    assert_eq!(
        told,
        [
            (json!("proposed"), by("ana")),
            (json!("refused"), by("ana")),
            (json!("intended"), by("ben")),
            (json!("applied"), by("ben")),
        ]
    );
    let both = &entries[1]["body"]["approval"];
    assert_eq!(both["proposed"]["recorded_by"], by("ana"));

    // Each signed what they added; with the other's public key each sees the whole.
    let key = team.run("ben", "audit key");
    team.incident.world.write("ben.pub", key.out);
    let ran = team.run("ana", "audit verify");
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("4 entries, the chain is whole"), "{}", ran.out);
    assert!(
        ran.out.contains("; what 1 other key signed counts for nothing here: name it with --key"),
        "{}",
        ran.out
    );
    let ran = team.run("ana", "audit verify --key ben.pub");
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.contains("3 checkpoints fit, the last of"), "{}", ran.out);
    assert!(ran.out.contains(" for 4 entries, no entry after it\n"), "{}", ran.out);

    // Whoever owns the tables can change an entry, and cannot hide it.
    let change =
        "ALTER TABLE {s}.entries DISABLE TRIGGER ALL; UPDATE {s}.entries SET operator = 'eve' WHERE seq = 1;
        ALTER TABLE {s}.entries ENABLE TRIGGER ALL";
    team.sql(&change.replace("{s}", &team.name));
    let ran = team.run("ana", "audit verify");
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("entry 1: is not what was written"), "{}", ran.out);
}

#[test]
fn the_statements_that_make_an_audit_are_shown_and_not_run() {
    let Some(team) = Team::new() else { return };
    let role = format!("ana_{}", team.name);
    let ran = team.run("", &format!("audit init --grant {role} --dry-run"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(team.run("ana", "audit list").err.contains("there is no audit in this database yet"));
    team.sql(&ran.out);
    assert_eq!(team.run("ana", "audit list").code, Some(0));
    let ran = team.run("", "audit init");
    assert!(ran.out.ends_with(": there already\n"), "{}", ran.out);
    let ran = team.run("ana", "doctor");
    assert!(ran.out.contains(&format!("knows this console as `{role}`")), "{}", ran.out);
}

/// A role that is not there is a matter of what was typed, and nothing is made for the others either.
#[test]
fn a_role_that_is_not_there_is_named_before_anything_is_made() {
    let Some(team) = Team::new() else { return };
    let role = format!("ana_{}", team.name);
    let ran = team.run("", &format!("audit init --grant {role} --grant nobody_{}", team.name));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.contains(&format!("has no role nobody_{}: nothing was made", team.name)), "{}", ran.err);
    assert!(ran.err.contains("CREATE ROLE"), "{}", ran.err);
    assert!(team.run("ana", "audit list").err.contains("there is no audit in this database yet"));
}
