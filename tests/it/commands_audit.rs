//! The record, through the real program: listed, exported, and found out when anything in it changed.

use crate::incident::Incident;
use crate::world::{World, two_lines};
use pretty_assertions::assert_eq;
use rstest::rstest;
use rusqlite::Connection;
use unstuck::domain::audit::Entry;

/// An incident with six entries on record.
fn decided() -> Incident {
    let incident = Incident::new();
    incident.run("check --all --json");
    incident.run("decide inv-1 --source jobs --done --reason charged");
    incident.run("decide inv-2 --source jobs --retry --reason nothing_there");
    assert_eq!(incident.events().len(), 6);
    incident
}

#[test]
fn a_whole_audit_is_verified_with_its_head() {
    let incident = decided();
    let ran = incident.run("audit verify");
    let head = incident.run("audit list --json --limit 1").each("hash").remove(0);
    let last = checkpoints(&incident).pop().unwrap();
    let told = format!(
        "audit.db: 6 entries, the chain is whole (head {head})\n\
         audit.db: 3 checkpoints fit, the last of {} for 6 entries, no entry after it, \
         every byte of the file is as it was sealed\n",
        last["checkpoint"]["at"].as_str().unwrap()
    );
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (Some(0), told, ""));
}

/// The lines of the file beside the audit.
fn checkpoints(incident: &Incident) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(incident.world.path("audit.db.checkpoints")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const KEY: &str = ".local/state/unstuck/keys/audit.key";

/// What the chain alone would not show: the file remembers nothing of it.
const CUT_OFF: &str = "DELETE FROM entries WHERE seq > 4; DELETE FROM attachments WHERE seq > 4;
    UPDATE sqlite_sequence SET seq = 4";

/// Writes the whole chain anew after somebody's change, each entry with the hash that belongs to it.
fn write_anew(incident: &Incident, change: &str) {
    incident.world.tamper(change);
    let connection = Connection::open(incident.world.path("audit.db")).unwrap();
    let columns = "seq, at, event, decision, source, key, operator, origin, body, prev, hash";
    let entries: Vec<Entry> = connection
        .prepare(&format!("SELECT {columns} FROM entries ORDER BY seq"))
        .unwrap()
        .query_map([], |row| {
            Ok(Entry {
                seq: row.get(0)?,
                at: row.get(1)?,
                event: row.get(2)?,
                decision: row.get(3)?,
                source: row.get(4)?,
                key: row.get(5)?,
                operator: row.get(6)?,
                origin: row.get(7)?,
                body: row.get(8)?,
                prev: row.get(9)?,
                hash: row.get(10)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    drop(connection);
    let mut prev = entries[0].prev.clone();
    for entry in entries {
        let hash = Entry { prev: prev.clone(), ..entry.clone() }.expected_hash();
        incident.world.tamper(&format!(
            "UPDATE entries SET prev = '{prev}', hash = '{hash}' WHERE seq = {}",
            entry.seq
        ));
        prev = hash;
    }
}

#[test]
fn a_cut_off_end_is_found_by_what_was_signed() {
    let incident = decided();
    incident.world.tamper(CUT_OFF);
    let ran = incident.run("audit verify");
    assert_eq!(ran.code, Some(1));
    let told = "audit.db: entry 5: is missing: a checkpoint of ";
    assert!(
        ran.out.starts_with(told) && ran.out.ends_with(" says that there were 6 entries\n"),
        "{}",
        ran.out
    );
}

#[test]
fn a_chain_that_was_written_anew_is_found_by_what_was_signed() {
    let incident = decided();
    write_anew(&incident, "UPDATE entries SET operator = 'eve' WHERE seq = 3");
    let ran = incident.run("audit verify");
    assert_eq!(ran.code, Some(1));
    let told = "audit.db: entry 3: is not what was signed: the checkpoint of ";
    assert!(ran.out.starts_with(told) && ran.out.ends_with(" covers entries 3 to 4\n"), "{}", ran.out);
}

#[test]
fn a_byte_that_belongs_to_no_entry_is_found_too() {
    let incident = decided();
    let path = incident.world.path("audit.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The program that last wrote the file, as SQLite notes it in the head: nobody ever reads it.
    bytes[99] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = incident.run("audit verify");
    let told = "audit.db: the audit: no entry is changed, but its bytes are not those that were sealed at ";
    assert_eq!((ran.code, ran.out.starts_with(told)), (Some(1), true), "{}", ran.out);
}

#[test]
fn looking_at_the_record_changes_no_file() {
    let incident = decided();
    let files = || {
        ["audit.db", "audit.db.checkpoints", KEY]
            .map(|name| std::fs::read(incident.world.path(name)).unwrap())
    };
    let before = files();
    for arguments in ["audit list", "audit verify", "audit export", "audit key", "doctor", "list --read-only"]
    {
        incident.run(arguments);
        assert!(files() == before, "{arguments}");
    }
    assert!(incident.run("audit verify").out.ends_with("every byte of the file is as it was sealed\n"));
}

/// Everything on this machine is made to fit, also what is remembered beside the key: only the copy knows better.
#[test]
fn a_copy_and_the_public_key_are_enough() {
    let incident = decided();
    let key = incident.run("audit key");
    assert_eq!((key.code, key.err.as_str()), (Some(0), ""));
    assert!(key.out.starts_with("fingerprint: sha256:") && key.out.ends_with("-----END PUBLIC KEY-----\n"));
    incident.world.write("audit.pub", &key.out);
    let own = std::fs::read_to_string(incident.world.path("audit.db.checkpoints")).unwrap();
    incident.world.write("copy", &own);
    incident.world.tamper(CUT_OFF);
    let shorter: String = own.split_inclusive('\n').take(2).collect();
    incident.world.write("audit.db.checkpoints", shorter);
    std::fs::remove_dir_all(incident.world.path(".local")).unwrap();
    let without = incident.run("audit verify --key audit.pub");
    assert!(without.out.contains("its bytes are not those that were sealed"), "{}", without.out);
    let ran = incident.run("audit verify --key audit.pub --checkpoint copy");
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("entry 5: is missing: a checkpoint of "), "{}", ran.out);
}

#[test]
fn another_key_is_told() {
    let incident = decided();
    let other = Incident::new();
    other.run("decide inv-1 --source jobs --done --reason charged");
    incident.world.write("other.pub", other.run("audit key").out);
    let ran = incident.run("audit verify --key other.pub");
    let told = "audit.db: checkpoints: audit.db.checkpoints: line 1 was signed by another key (and 2 more)\n";
    assert_eq!((ran.code, ran.out.contains(told)), (Some(1), true), "{}", ran.out);

    incident.world.write("no.pub", "no key");
    let ran = incident.run("audit verify --key no.pub");
    let told = two_lines(
        "the key no.pub holds no public key",
        "Name the file that `unstuck audit key` was written to.",
    );
    assert_eq!((ran.code, ran.err), (Some(2), told));

    std::fs::remove_dir_all(incident.world.path(".local")).unwrap();
    let ran = incident.run("audit verify");
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.contains("its checkpoints cannot be checked, because there is no key"), "{}", ran.err);
}

/// An auditor with the export and the public key, on a machine without configuration, audit or key.
#[test]
fn an_export_is_verified_elsewhere() {
    let incident = decided();
    let elsewhere = World::new();
    // As it was written: what `run` gives has another word for the folder, and the entries name the table's file.
    let export = incident.run("audit export").out.replace("FOLDER", incident.world.folder());
    elsewhere.write("export.jsonl", &export);
    elsewhere.write("audit.pub", incident.run("audit key").out);
    let ran = elsewhere.run("audit verify --export export.jsonl --key audit.pub");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert!(
        ran.out.contains("6 entries, the chain is whole") && ran.out.contains("3 checkpoints fit"),
        "{}",
        ran.out
    );
    elsewhere.write("export.jsonl", export.replace("nothing there", "nothing here"));
    let ran = elsewhere.run("audit verify --export export.jsonl --key audit.pub");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "export.jsonl: entry 5: is not what was written\n"));
    let ran = elsewhere.run("audit verify --export export.jsonl");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
}

#[test]
fn without_a_key_decisions_work_and_the_reason_is_told_once() {
    let incident = Incident::new();
    incident.world.write(".local", "a file where a folder is needed");
    let ran = incident.run("decide inv-1 --source jobs --done --reason charged");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "inv-1: mark done applied (audit entry 2)\n"));
    let what = "unstuck: audit FOLDER/audit.db: what this run put on record is not signed, because the key ";
    assert!(ran.err.starts_with(what) && ran.err.lines().count() == 2, "{}", ran.err);
    let doctor = incident.run("doctor --json");
    let key: Vec<_> = doctor.json().into_iter().filter(|line| line["what"] == "key").collect();
    assert_eq!((key.len(), key[0]["health"].as_str()), (1, Some("bad")));
}

#[test]
fn the_doctor_looks_at_the_key() {
    let incident = Incident::new();
    let told = |incident: &Incident| {
        let lines = incident.run("doctor --json").json();
        let line = lines.iter().find(|line| line["what"] == "key").unwrap();
        (line["health"].as_str().unwrap().to_owned(), line["finding"].as_str().unwrap().to_owned())
    };
    let (health, finding) = told(&incident);
    assert_eq!(
        (health.as_str(), finding.contains("is made when something is put on record")),
        ("good", true)
    );
    assert!(!incident.world.path(KEY).exists(), "to look makes no key");
    incident.run("decide inv-1 --source jobs --done --reason charged");
    assert!(told(&incident).1.contains("signs the audit (sha256:"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let shared = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(incident.world.path(KEY), shared).unwrap();
        let (health, finding) = told(&incident);
        assert_eq!((health.as_str(), finding.contains("can be read by other accounts")), ("doubtful", true));
    }
}

#[test]
fn the_configuration_says_where_key_and_checkpoints_are() {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let named = "path = \"audit.db\"\nkey = \"secret/signing.key\"\ncheckpoints = \"kept/signed.jsonl\"\n";
    incident.world.write("config.toml", config.replacen("path = \"audit.db\"\n", named, 1));
    incident.run("decide inv-1 --source jobs --done --reason charged");
    for (name, is_there) in [
        ("secret/signing.key", true),
        ("kept/signed.jsonl", true),
        ("audit.db.checkpoints", false),
        (KEY, false),
    ] {
        assert_eq!(incident.world.path(name).exists(), is_there, "{name}");
    }
    let ran = incident.run("audit verify");
    assert_eq!(
        (ran.code, ran.out.contains("1 checkpoint fits, it is of ")),
        (Some(0), true),
        "{}{}",
        ran.out,
        ran.err
    );
}

/// The demo keeps everything in its own folder, which is gone when it ends.
#[test]
fn the_demo_leaves_no_key_behind() {
    let world = World::new();
    let mut command = world.command();
    command.env("TMPDIR", world.path(""));
    let output = command.args(["demo", "--headless", "--items", "5"]).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 0);
}

#[rstest]
#[case::bit(
    "UPDATE entries SET body = replace(body, 'charged', 'chargee') WHERE event = 'intended' AND key = 'inv-1'",
    "entry 3: "
)]
#[case::operator("UPDATE entries SET operator = 'eve' WHERE seq = 2", "entry 2: ")]
#[case::time("UPDATE entries SET at = replace(at, 'Z', 'z') WHERE seq = 5", "entry 5: ")]
#[case::removed("DELETE FROM entries WHERE seq = 4", "entry 4: ")]
#[case::removed_first("DELETE FROM entries WHERE seq = 1", "entry 1: ")]
#[case::removed_last("DELETE FROM entries WHERE seq = 6", "entry 6: ")]
#[case::swapped(
    "UPDATE entries SET seq = 99 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4; UPDATE entries SET seq = 4 WHERE seq = 99",
    "entry 3: "
)]
#[case::relinked(
    "DELETE FROM entries WHERE seq = 3;
     UPDATE entries SET prev = (SELECT hash FROM entries WHERE seq = 2) WHERE seq = 4",
    "entry 3: "
)]
#[case::attachment("UPDATE attachments SET text = text || ' '", "entry 1: ")]
#[case::trigger("CREATE TRIGGER extra AFTER INSERT ON entries BEGIN SELECT 1; END", "the audit: ")]
fn any_change_is_found_and_named(#[case] sql: &str, #[case] names: &str) {
    let incident = decided();
    incident.world.tamper(sql);
    let ran = incident.run("audit verify");
    let told = two_lines(
        "audit.db: the audit is not what was written",
        "Keep it as it is, and compare it with a copy or an export.",
    );
    assert_eq!((ran.code, ran.err), (Some(1), told));
    assert!(ran.out.starts_with(&format!("audit.db: {names}")), "{}", ran.out);
}

#[test]
fn the_file_itself_refuses_changes() {
    let incident = decided();
    let connection = Connection::open(incident.world.path("audit.db")).unwrap();
    for sql in ["UPDATE entries SET operator = 'eve'", "DELETE FROM entries", "DELETE FROM attachments"] {
        assert!(connection.execute_batch(sql).is_err(), "{sql}");
    }
}

#[rstest]
#[case::json("json")]
#[case::csv("csv")]
fn an_export_holds_every_entry_and_no_secret(#[case] format: &str) {
    let incident = decided();
    let ran = incident.run(&format!("audit export --format {format}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    // A table has a head; lines of JSON end with the checkpoints of the three runs.
    let more = if format == "csv" { 1 } else { 3 };
    assert_eq!(ran.out.lines().count(), 6 + more);
    assert!(!ran.out.contains("sk_test_7"), "the provider's secret is in the export");
    if format == "json" {
        assert_eq!(ran.each("key")[..6], ["inv-1", "inv-2", "inv-1", "inv-1", "inv-2", "inv-2"]);
        assert_eq!(ran.json()[6..], checkpoints(&incident));
        let fingerprint = &ran.json()[8]["checkpoint"]["key"];
        let told = format!("fingerprint: {}\n", fingerprint.as_str().unwrap());
        assert!(incident.run("audit key").out.starts_with(&told));
    }
}

/// Nothing is left of it but what was signed: that is a finding, not a wrong path.
#[rstest]
#[case::removed(true, "does not exist")]
#[case::emptied(false, "is empty")]
fn an_audit_that_is_gone_is_found_by_what_was_signed(#[case] removed: bool, #[case] how: &str) {
    let incident = decided();
    let (path, own) = (incident.world.path("audit.db"), incident.world.path("audit.db.checkpoints"));
    if removed {
        std::fs::remove_file(&path).unwrap();
    } else {
        std::fs::write(&path, "").unwrap();
    }
    // Beside the audit first, then beside the key alone.
    for _ in 0..2 {
        let ran = incident.run("audit verify");
        let told = format!("audit.db: the audit: it {how}, and a checkpoint of ");
        assert_eq!((ran.code, ran.out.starts_with(&told)), (Some(1), true), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(" says that there were 6 entries\n"), "{}", ran.out);
        let _gone_the_second_time = std::fs::remove_file(&own);
    }
    std::fs::remove_dir_all(incident.world.path(".local")).unwrap();
    assert_eq!(incident.run("audit verify").code, Some(3));
}

#[test]
fn an_audit_that_is_not_there_is_no_empty_one() {
    let incident = Incident::new();
    for action in ["list", "verify", "export"] {
        let ran = incident.run(&format!("audit {action}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{action}");
        assert!(ran.err.starts_with("unstuck: audit FOLDER/audit.db: "), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 2);
        assert!(!incident.world.path("audit.db").exists());
    }
}

#[test]
fn without_an_audit_nothing_is_decided() {
    let incident = Incident::new();
    let before = incident.jobs();
    incident.world.write("audit.db", "this is no database, and must be left as it is".repeat(50));
    let ran = incident.run("decide inv-1 --source jobs --done --reason charged");
    assert_eq!(ran.code, Some(3));
    let what = "unstuck: nothing was changed, because the audit cannot be written: audit FOLDER/audit.db: ";
    assert!(ran.err.starts_with(what), "{}", ran.err);
    assert_eq!((ran.err.lines().count(), incident.jobs()), (2, before));
}
