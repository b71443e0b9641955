//! Hostile text in every field, through every command, in every spelling.

use super::harmless::{assert_harmless, assert_no_formula, highest_stack};
use super::stage::{FILE, Stage, all_in_one, quoted, texts};
use crate::world::{Ran, World};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::Value;

/// Runs, and fails where anything that a terminal obeys comes out.
fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    let ran = stage.run(arguments);
    assert_harmless(&format!("stdout of {arguments:?}"), &ran.out);
    assert_harmless(&format!("stderr of {arguments:?}"), &ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert!(!ran.out.is_empty(), "{arguments:?} says nothing: {}", ran.err);
    ran
}

/// The bytes that the database holds as keys of `jobs`, as the program spells bytes that are no text.
fn keys() -> Vec<String> {
    let spelled = |bytes: &[u8]| unstuck::domain::text::escape_bytes(bytes);
    texts().iter().map(|(_, bytes)| spelled(bytes)).collect()
}

#[test]
fn no_field_reaches_an_output_as_anything_but_text() {
    let stage = Stage::new();
    let reason = all_in_one();
    let json_of = |arguments: &[&str]| -> Vec<Value> { run(&stage, arguments).json() };
    for spelling in [&["list"][..], &["check", "--all"]] {
        run(&stage, spelling);
        assert_no_formula(&format!("{spelling:?}"), &run(&stage, &[spelling, &["--csv"]].concat()).out);
    }
    // Nothing is lost on the way out: every key comes back, character for character.
    let listed = json_of(&["list", "--json"]);
    let told: Vec<&str> = listed.iter().filter_map(|line| line["key"].as_str()).collect();
    for key in keys() {
        assert!(told.contains(&key.as_str()), "{key:?} is listed");
    }
    let checked = json_of(&["check", "--all", "--json"]);
    assert!(checked.len() > 50, "{} lines", checked.len());
    let verdicts: Vec<&Value> = checked.iter().map(|line| &line["verdict"]).collect();
    assert!(
        verdicts.contains(&&"happened".into()) && verdicts.contains(&&"unknown".into()),
        "{:?}",
        checked
            .iter()
            .map(|line| line["reasons"].to_string().chars().take(160).collect::<String>())
            .collect::<Vec<_>>()
    );
    let ids = checked.iter().filter(|line| line["effect_ids"].to_string().contains("evil.example"));
    assert!(ids.count() > 0, "a hostile id came out of a check");

    let many =
        ["decide", "--all", "--where", "source:mapped", "--escalate", "--override", "--reason", &reason];
    run(&stage, &[&many[..], &["--dry-run"]].concat());
    assert!(!json_of(&[&many[..], &["--json"]].concat()).is_empty());
    for key in [
        "oa\nunstuck: all is well\r\nb\u{2028}c\u{2029}d\u{b}e\u{c}f",
        "o=HYPERLINK(\"http://evil.example/\",\"x\")",
    ] {
        for how in ["--dry-run", "--json"] {
            let one = [
                "decide",
                "--source",
                "mapped",
                "--escalate",
                "--override",
                "--reason",
                &reason,
                how,
                "--",
                key,
            ];
            run(&stage, &one);
        }
    }
    for arguments in [
        &["audit", "list"][..],
        &["audit", "verify"],
        &["doctor"],
        &["presets"],
        &["presets", "ledger"],
        &["init", "--output", "-", "--db", &format!("sqlite://{FILE}.db")],
    ] {
        run(&stage, arguments);
    }
    for arguments in [
        &["audit", "list", "--json"][..],
        &["audit", "export", "--format", "json"],
        &["doctor", "--json"],
        &["presets", "--json"],
    ] {
        assert!(!json_of(arguments).is_empty(), "{arguments:?}");
    }
    let sheet = run(&stage, &["audit", "export", "--format", "csv"]).out;
    assert_no_formula("the audit's export", &sheet);
    let receipts = std::fs::read_to_string(stage.world.path(&format!("{FILE}.jsonl"))).unwrap();
    assert_harmless("receipts", &receipts);
    assert!(receipts.lines().count() > 50);
    for line in receipts.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert!(stage.server.requests() > 50);
}

/// A table for people keeps its shape: a line a finding, however wide or high its text would be.
#[test]
fn a_line_stays_a_line_and_is_not_wider_than_it_may_be() {
    let stage = Stage::new();
    let (lines, findings) = (run(&stage, &["list"]).out, run(&stage, &["list", "--json"]).json().len());
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), findings + 1, "a head, and a line a finding");
    for line in lines {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 170, "{line}");
        assert!(highest_stack(line) <= 8, "{line}");
    }
}

/// One line of a configuration that is wrong, its value hostile.
#[rstest]
#[case::operator("operator = VALUE\nsources = 1")]
#[case::unknown_key("VALUE = 1")]
#[case::presets("presets = VALUE\nsources = []")]
#[case::source_name("[[sources]]\nname = VALUE")]
#[case::engine("[[sources]]\nname = 'a'\nurl = VALUE\npreset = 'jobs'")]
#[case::file("[[sources]]\nname = VALUE\nurl = 'sqlite://no.db'\npreset = 'jobs'")]
#[case::preset("[[sources]]\nname = VALUE\nurl = 'sqlite://no.db'\npreset = VALUE")]
#[case::table("[[sources]]\nname = VALUE\nurl = 'sqlite://good.db'\npreset = 'jobs'\ntable = VALUE")]
#[case::column("[[sources]]\nname = VALUE\nurl = 'sqlite://good.db'\npreset = 'jobs'\nkind_column = VALUE")]
#[case::twins(
    "[[sources]]\nname = VALUE\nurl = 'sqlite://a'\npreset = 'jobs'\n[[sources]]\nname = VALUE\nurl = 'sqlite://a'\npreset = 'jobs'"
)]
#[case::risk("[kinds.VALUE]\nrisk = VALUE")]
#[case::no_risk("[kinds.VALUE]\nstuck_after = '1m'")]
#[case::duration("[kinds.VALUE]\nrisk = 'safe'\nstuck_after = VALUE")]
#[case::check("[kinds.VALUE]\nrisk = 'safe'\ncheck = VALUE")]
#[case::template("[kinds.VALUE]\nrisk = 'safe'\nreference = VALUE")]
#[case::provider("[providers.VALUE]\npreset = VALUE")]
#[case::base("[providers.ledger]\nbase_url = VALUE")]
#[case::operation("[providers.ledger.operations.VALUE]\nsettle = '1m'")]
#[case::lookback("[providers.ledger.operations.charge]\nlookback = VALUE")]
#[case::proxy("[providers.ledger]\nproxy = VALUE")]
#[case::variable("[providers.ledger.variables]\nVALUE = VALUE")]
#[case::webhook("[escalation]\nurl = VALUE")]
#[case::webhook_header("[escalation]\nurl = 'http://127.0.0.1:1/'\nheaders = { VALUE = VALUE }")]
#[case::audit("[audit]\npath = VALUE\n[[sources]]\nname = 'a'\nurl = 'sqlite://no.db'\npreset = 'jobs'")]
fn a_message_about_a_configuration_is_two_clean_lines(#[case] toml: &str) {
    let world = World::new();
    world.database("good.db", crate::world::TABLES);
    let all = all_in_one();
    world.write("config.toml", toml.replace("VALUE", &quoted(&all)));
    // And the same with the bytes as they are, which TOML itself refuses.
    world.write("raw.toml", toml.replace("VALUE", &format!("'''{all}'''")));
    for (file, is_told) in [("config.toml", true), ("raw.toml", true)] {
        for command in ["list", "doctor", "check --all"] {
            let ran = world.run(&format!("--config {file} {command}"));
            assert_harmless("stdout", &ran.out);
            assert_harmless("stderr", &ran.err);
            assert!(!ran.err.contains("panicked"), "{}", ran.err);
            assert_eq!(ran.code != Some(0), is_told, "{file} {command}: {}{}", ran.out, ran.err);
        }
    }
}

/// Variables and arguments that a message repeats.
#[rstest]
#[case::configuration("UNSTUCK_CONFIG", &["list"])]
#[case::home("HOME", &["list"])]
#[case::data("XDG_CONFIG_HOME", &["list"])]
#[case::operator("UNSTUCK_OPERATOR", &["doctor", "--config", "good.toml"])]
#[case::secret("UNSTUCK_LEDGER_TOKEN", &["doctor", "--config", "good.toml"])]
#[case::colors("NO_COLOR", &["list", "--config", "missing.toml"])]
fn a_message_about_a_variable_is_clean(#[case] variable: &str, #[case] arguments: &[&str]) {
    let world = World::new();
    world.database("good.db", crate::world::TABLES);
    world.write(
        "good.toml",
        "[[sources]]\nname = 'a'\nurl = 'sqlite://good.db'\npreset = 'jobs'\nkind = 'k'\n[kinds.k]\nrisk = 'safe'\ncheck = 'ledger.charge'\n[providers.ledger]\nbase_url = 'http://127.0.0.1:1'\nsecret_env = 'UNSTUCK_LEDGER_TOKEN'\n",
    );
    let output = world.command().env(variable, all_in_one()).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_harmless("stdout", &out);
    assert_harmless("stderr", &err);
    assert!(!(out.is_empty() && err.is_empty()));
}
