//! Disks that are full and folders that are read-only.
//!
//! A full disk is played by the limit on a file's size (`ulimit -f`, its signal ignored): a write past it fails, as on a full
//! disk, in the middle of a transaction. The receipts go to `/dev/full`, which says that the disk is full.

use super::*;
use crate::world::World;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

/// The decision with files limited to so many bytes.
fn decide_within(incident: &Incident, bytes_max: u64) -> Ran {
    let mut command = incident.world.program("/bin/sh");
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", bytes_max / 512);
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_unstuck")]).args(DECIDE);
    incident.world.ran(command.output().unwrap())
}

fn size_of(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn a_full_disk_under_the_audit_keeps_the_row_from_being_written() {
    let incident = witnessed();
    let audit = incident.world.path("audit.db");
    while size_of_if_there(&audit) < 3 * size_of(&incident.database) {
        incident.run("check --all --json");
    }
    let ran = decide_within(&incident, size_of(&audit) / 2);
    assert_two_lines(
        &ran,
        3,
        "nothing was changed, because the audit cannot be written: audit FOLDER/audit.db: ",
    );
    nothing_was_written_and_a_good_start_decides(&incident, &["applied"]);
}

fn size_of_if_there(path: &Path) -> u64 {
    if path.exists() { size_of(path) } else { 0 }
}

#[test]
fn a_full_disk_under_the_source_writes_nothing_and_is_on_record() {
    let incident = witnessed();
    // The application keeps a history, for which there is no room: the write fails after it has begun.
    let history = "CREATE TABLE history (old);
                   CREATE TRIGGER jobs_history AFTER UPDATE ON jobs BEGIN INSERT INTO history VALUES (zeroblob(999999)); END;
                   INSERT INTO history VALUES (zeroblob(500000));";
    Connection::open(&incident.database).unwrap().execute_batch(history).unwrap();
    let ran = decide_within(&incident, size_of(&incident.database) + 512);
    assert_two_lines(&ran, 1, "inv-1: mark done failed: nothing was written");
    nothing_was_written_and_a_good_start_decides(&incident, &["failed", "applied"]);
}

#[cfg(target_os = "linux")]
#[test]
fn receipts_on_a_full_disk_are_told_and_lose_no_decision() {
    let incident = witnessed();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    incident.world.write("config.toml", format!("{config}\n[receipts]\npath = \"/dev/full\"\n"));
    let ran = decide(&incident);
    assert_two_lines(&ran, 1, "The receipt could not be written to /dev/full: No space left on device");
    assert!(ran.err.contains("The audit has the decision"), "{}", ran.err);
    assert_eq!((changes(&incident).len(), incident.status_of("inv-1").as_deref()), (1, Some("done")));
    assert_on_record(&incident, &["applied"]);
}

/// Whom permissions bind: another account where this one is not bound by any.
const NOBODY: u32 = 65_534;

/// The decision, made by somebody who may read everything in the folder and write only what is named.
fn decide_without_permission(world: &World, writable: &[&str]) -> Ran {
    let folder = world.path("");
    let program = world.path("unstuck");
    std::fs::copy(env!("CARGO_BIN_EXE_unstuck"), &program).unwrap();
    // Not bound by permissions is who may write to a file that nobody may write to.
    let probe = world.write("probe", "");
    std::fs::set_permissions(&probe, PermissionsExt::from_mode(0o400)).unwrap();
    let is_bound = std::fs::File::options().append(true).open(&probe).is_err();
    let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let is_folder = path.is_dir();
        let is_writable = writable.iter().any(|name| path.ends_with(name));
        mode(&path, if is_folder || path == program { 0o555 } else { 0o444 });
        if is_writable {
            if !is_bound {
                std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            mode(&path, if is_folder { 0o755 } else { 0o644 });
        }
    }
    mode(&folder, 0o555);
    let mut command = world.program(&program);
    if !is_bound {
        command.uid(NOBODY).gid(NOBODY);
    }
    let ran = world.ran(command.args(DECIDE).output().unwrap());
    mode(&folder, 0o755);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    ran
}

#[test]
fn a_read_only_audit_keeps_the_row_from_being_written() {
    let incident = witnessed();
    incident.run("check inv-1");
    let ran = decide_without_permission(&incident.world, &["jobs.db"]);
    assert_two_lines(
        &ran,
        3,
        "nothing was changed, because the audit cannot be written: audit FOLDER/audit.db: ",
    );
    nothing_was_written_and_a_good_start_decides(&incident, &["applied"]);
}

#[test]
fn a_read_only_source_writes_nothing_and_is_on_record() {
    let incident = witnessed();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    incident.world.write(
        "config.toml",
        config.replace("path = \"audit.db\"", "path = \"state/audit.db\"\nkey = \"state/audit.key\""),
    );
    std::fs::create_dir(incident.world.path("state")).unwrap();
    let ran = decide_without_permission(&incident.world, &["state"]);
    assert_two_lines(&ran, 1, "inv-1: mark done failed: nothing was written: ");
    assert_eq!((changes(&incident), incident.status_of("inv-1").as_deref()), (vec![], Some("failed")));
    let good = decide(&incident);
    assert_eq!((good.code, changes(&incident).len()), (Some(0), 1), "{}", good.err);
    assert_eq!(incident.run("audit verify").code, Some(0));
    let entries = entries_of(&incident.world.path("state/audit.db"));
    let events: Vec<_> = entries.iter().map(|entry| &*entry.event).collect();
    assert_eq!(events, ["intended", "failed", "intended", "applied"]);
}
