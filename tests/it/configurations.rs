//! Configurations: a folder of good ones, a folder of wrong ones each with its message, and the shipped example.

use crate::world::World;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use unstuck::config::load::load;
use unstuck::config::{ConfigFault, Settings};
use unstuck::domain::policy::{Approvals, CheckName, Policy, Risk};
use unstuck::preset::escalation::EscalationSettings;
use unstuck::preset::provider::{Lookback, OperationSettings, ProviderSettings, SecretPlace};

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/config").join(folder)
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

fn loaded(name: &str) -> Result<Settings, ConfigFault> {
    load(&fixtures("valid").join(name), PathBuf::from("elsewhere/audit.db"))
}

/// Through the real program, because the two lines and the exit code are what an operator sees.
#[test]
fn every_wrong_configuration_is_told_in_exactly_two_lines() {
    let world = World::new();
    let folder = fixtures("invalid");
    let files = files_in(&folder, "toml");
    assert!(files.len() > 100, "only {} files in {}", files.len(), folder.display());
    for file in files {
        let expected = std::fs::read_to_string(file.with_extension("expected")).unwrap();
        let ran = world.run_all(&["list", "--config", file.to_str().unwrap()]);
        let told = ran.err.replace(&format!("{}/", folder.display()), "FOLDER/");
        assert_eq!(
            (ran.code, ran.out.as_str(), told.as_str()),
            (Some(2), "", &*expected),
            "{}",
            file.display()
        );
        let lines: Vec<&str> = expected.lines().collect();
        assert!(
            matches!(lines[..], [what, next] if what.starts_with("unstuck: ") && next.starts_with("         "))
        );
    }
}

/// Sentences that no configuration file alone can bring about, each for a reason.
const NOT_BY_A_FILE: [&str; 15] = [
    // told by the tests below
    ": there is no such file",
    // of the machine: no home folder, a folder that cannot be read, a file without permission
    "there is no home folder",
    "Set $HOME, or name a file with --config.",
    ": cannot be read (",
    "cannot be read (",
    "Report this: a built-in preset is wrong.",
    // of `--db`, without a file: tests/it/broken_inputs.rs
    "`, which cannot be read",
    "it has none",
    "it has ",
    ": no table that is known (",
    "Map your table in a configuration: see config.example.toml, or run `unstuck init`.",
    // an address with a password and no host: the parser itself refuses it before
    "no host",
    // no faults: why a decision cannot be taken
    ". Instead: ",
    "its `[decisions]` are not configured",
    "its statements are not configured",
];

/// The sentences in a source file: every text with a space in it, its longest part between what is filled in.
fn sentences_of(source: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code = regex::Regex::new(r"(?m)^\s*(//|#\[).*$").unwrap().replace_all(text, "");
    let literals = regex::Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let filled_in = regex::Regex::new(r"\{[a-z_]*(:[^}]*)?\}").unwrap();
    literals
        .captures_iter(&code)
        .map(|found| found[1].replace("\\\"", "\"").replace("{{", "\u{1}").replace("}}", "\u{2}"))
        .filter(|literal| literal.contains(' '))
        .map(|literal| {
            let longest = filled_in.split(&literal).max_by_key(|part| part.len()).unwrap();
            longest.replace('\u{1}', "{").replace('\u{2}', "}")
        })
        .collect()
}

/// A rule that is added without a file of its own fails here.
#[rstest]
#[case::check("src/config/check.rs", 55)]
#[case::receipts("src/config/check/receipts.rs", 7)]
#[case::load("src/config/load.rs", 20)]
#[case::database("src/config/database.rs", 3)]
#[case::source("src/preset/source/file/check.rs", 25)]
fn every_sentence_of_the_checks_is_told_by_some_file(#[case] source: &str, #[case] at_least: usize) {
    let files = files_in(&fixtures("invalid"), "expected");
    let all: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    // A doubled brace is one in a text that is filled in, and two in one that is not.
    let all = all.replace("{{", "{").replace("}}", "}");
    let sentences = sentences_of(source);
    assert!(sentences.len() >= at_least, "only {} sentences in {source}", sentences.len());
    let untold: Vec<&String> = sentences
        .iter()
        .filter(|sentence| !all.contains(sentence.as_str()) && !NOT_BY_A_FILE.contains(&sentence.as_str()))
        .collect();
    assert_eq!(untold, Vec::<&String>::new());
    for file in files {
        assert!(file.with_extension("toml").exists(), "{} has no configuration", file.display());
    }
}

/// What the parser of TOML, the presets and the wiring say, in a word or two.
#[test]
fn what_others_say_of_a_configuration_is_told_too() {
    let files = files_in(&fixtures("invalid"), "expected");
    let all: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for sentence in [
        "unknown field",
        "unknown variant",
        "invalid type",
        "invalid value",
        "duplicate key",
        "unclosed array",
        "is not a duration",
        "is too long a duration",
        "the base address is no URL",
        "the base address must begin with http:// or https:// and name a host",
        "the base address holds a user or password",
        "the base address must have no query and no fragment",
        "the webhook's address must begin with",
        "header `Authorization`: the template",
        "must be written as text, in quotes",
        "cannot be read: syntax error",
        "own.toml: is not UTF-8 text",
        "`type` must be \"source\", \"provider\" or \"escalation\"",
        "another rule has the same id",
        "is not a usable regular expression",
        "preset `pix.toml`: provider preset `pix`, operation `cob`, `settle`: it is missing",
        "this must be a column's name, or a list of names",
        "this must be a column's name, or {",
        "this must be a text, a whole number or a truth value",
        "it needs a secret, and the configuration names none",
        "the preset has no variable",
        "the proxy's address holds a password",
    ] {
        assert!(all.contains(sentence), "no file brings about: {sentence}");
    }
}

#[rstest]
#[case::missing("nowhere.toml", "FOLDER/nowhere.toml: there is no such file")]
#[case::folder("", "FOLDER/: cannot be read (Is a directory (os error 21))")]
fn a_configuration_that_is_not_there(#[case] name: &str, #[case] what: &str) {
    let world = World::new();
    let ran = world.run_all(&["list", "--config", world.path(name).to_str().unwrap()]);
    let do_next = "Name the configuration with --config, or do without one: --db sqlite://PATH.";
    assert_eq!((ran.code, ran.err), (Some(2), crate::world::two_lines(what, do_next)));
}

#[test]
fn without_any_configuration_the_way_to_one_is_told() {
    let ran = World::new().run("list");
    let what = "there is no configuration at FOLDER/.config/unstuck/config.toml";
    let do_next =
        "Name one with --config, look into a database with --db sqlite://PATH, or try `unstuck demo`.";
    assert_eq!((ran.code, ran.err), (Some(2), crate::world::two_lines(what, do_next)));
}

#[test]
fn every_good_configuration_is_taken() {
    let files = files_in(&fixtures("valid"), "toml");
    assert_eq!(files.len(), 8);
    for file in files {
        let settings = load(&file, PathBuf::from("elsewhere/audit.db"));
        assert!(settings.is_ok(), "{}: {:?}", file.display(), settings.err());
    }
}

#[test]
fn what_is_not_said_has_its_default() {
    let settings = loaded("minimal.toml").unwrap();
    assert_eq!(settings.audit.shown(), PathBuf::from("elsewhere/audit.db").display().to_string());
    assert_eq!(settings.audit_key, Some(PathBuf::from("elsewhere/keys/audit.key")));
    assert_eq!((settings.operator, settings.receipts, settings.audit_checkpoints), (None, None, None));
    assert!(!settings.approvals_from_same_login);
    assert_eq!(settings.sources[0].database.shown(), fixtures("valid").join("jobs.db").display().to_string());
    assert_eq!(settings.sources[0].preset.name, "jobs".into());
    assert!(settings.kinds.is_empty() && settings.providers.is_empty() && settings.escalation.is_none());
}

#[test]
fn logs_and_marks_arrive_and_ours_may_go_among_them() {
    use unstuck::domain::moment::{TimeFormat, Zone};
    let settings = loaded("timeline.toml").unwrap();
    let valid = fixtures("valid");
    assert_eq!(settings.receipts, Some(valid.join("receipts.jsonl")));
    let [usual, billing] = &settings.logs[..] else { panic!("two logs") };
    assert_eq!(
        (&*usual.name, &usual.path, &usual.source),
        ("receipts.jsonl", &valid.join("receipts.jsonl"), &None)
    );
    assert_eq!(usual.layout, unstuck::domain::log_line::Layout::default());
    assert_eq!((&*billing.name, billing.source.as_deref()), ("billing", Some("jobs")));
    assert_eq!(billing.path, PathBuf::from("/var/log/billing/*.jsonl"));
    assert_eq!(billing.layout.fields.key, ["job.id", "job_id"]);
    assert_eq!(billing.layout.fields.ts, ["t"]);
    assert_eq!(billing.layout.fields.attempt, usual.layout.fields.attempt);
    assert_eq!(billing.layout.format, TimeFormat::EpochMs);
    assert_eq!(billing.layout.zone, Zone::Fixed("-03:00".parse().unwrap()));
    let marks: Vec<_> = settings.marks.iter().map(|place| (&*place.name, place.path.clone())).collect();
    assert_eq!(marks, [("deploys", valid.join("deploys.log"))]);
    let policy = &settings.kinds["invoice"].policy;
    assert_eq!(policy.call_timeout, Some(TimeDelta::seconds(30)));
    assert_eq!(policy.visibility_limit, Some(TimeDelta::minutes(30)));
}

#[test]
fn a_secret_from_a_program_and_a_certificate_of_ours_arrive() {
    let settings = loaded("provider_command.toml").unwrap();
    let words = ["pass", "show", "ledger"].map(str::to_owned).to_vec();
    let expected = ProviderSettings {
        secret: Some(SecretPlace::Command(words)),
        client_certificate: Some(fixtures("valid").join("client.pem")),
        ..ProviderSettings::new("http://127.0.0.1:8421".parse().unwrap())
    };
    assert_eq!(settings.providers["ledger"].1, expected);
    assert_eq!(expected.secret.unwrap().to_string(), "the output of `pass`");
}

/// An audit for many: where it is, what opens it, and the keys of those who sign.
#[test]
fn an_audit_may_be_a_database() {
    let settings = loaded("audit_for_many.toml").unwrap();
    let valid = fixtures("valid");
    let unstuck::config::Database::Server(server) = &settings.audit else { panic!("{:?}", settings.audit) };
    assert_eq!(server.shown, "postgres://ana@db.example/ops?sslmode=verify-full");
    let secret = server.secret.as_ref().unwrap().to_string();
    assert!(secret.contains("audit.password"), "{secret}");
    assert_eq!(settings.audit_public_keys, [valid.join("keys/ana.pub"), valid.join("keys/ben.pub")]);
}

#[test]
fn everything_that_can_be_said_arrives() {
    let settings = loaded("everything.toml").unwrap();
    let valid = fixtures("valid");
    assert_eq!(settings.operator.as_deref(), Some("ana"));
    assert!(settings.approvals_from_same_login);
    assert_eq!(settings.audit.shown(), valid.join("record/audit.db").display().to_string());
    assert_eq!(settings.audit_key, Some(PathBuf::from("/etc/unstuck/audit.key")));
    assert_eq!(settings.audit_checkpoints, Some(valid.join("elsewhere/checkpoints.jsonl")));
    assert_eq!(settings.receipts, Some(PathBuf::from("/var/log/receipts.jsonl")));
    assert_eq!(settings.sources[0].preset.variants[0].table, "old_jobs");
    let policy = &settings.kinds["invoice"].policy;
    let expected = Policy {
        kind: "invoice".into(),
        risk: Risk::Financial,
        stuck_after: TimeDelta::seconds(90),
        check: Some(CheckName { provider: "ledger".into(), operation: "charge".into() }),
        reference: "charge-{{ key }}".into(),
        idempotency_key: Some("{{ key }}".into()),
        amount: Some("{{ payload.amount }}".into()),
        currency: Some("{{ payload.currency }}".into()),
        amount_unit: unstuck::domain::money::Unit::Minor,
        call_timeout: Some(TimeDelta::seconds(30)),
        visibility_limit: Some(TimeDelta::minutes(30)),
        evidence_age_max: TimeDelta::minutes(1),
        approvals: Approvals::Two,
        proposal_lasts: TimeDelta::hours(2),
        escalate_to: None,
        mask: ["customer".to_owned()].into(),
    };
    assert_eq!(*policy, expected);
    let ledger = ProviderSettings {
        secret: Some(SecretPlace::File(valid.join("token"))),
        proxy: Some("http://proxy:3128".parse().unwrap()),
        certificates: Some(valid.join("ca.pem")),
        client_certificate: None,
        pace_per_second: Some(2.5),
        in_flight_max: Some(3),
        operations: BTreeMap::from([(
            "charge".to_owned(),
            OperationSettings {
                settle: Some(TimeDelta::minutes(5)),
                lookback: Some(Lookback::Unlimited),
                key_ttl: Some(TimeDelta::zero()),
                canary: Some("charge-known".to_owned()),
                pace_per_second: Some(1.0),
                in_flight_max: Some(1),
            },
        )]),
        ..ProviderSettings::new("http://127.0.0.1:8421".parse().unwrap())
    };
    assert_eq!(settings.providers["ledger"].1, ledger);
    let Some(EscalationSettings::Webhook(escalation)) = settings.escalation else {
        panic!("it is a webhook")
    };
    assert_eq!(escalation.place(), "https://hooks.example.com");
    assert_eq!(escalation.dedup_header, "X-Once");
    assert_eq!(escalation.secret, Some(SecretPlace::Env("UNSTUCK_HOOK_TOKEN".to_owned())));
    assert!(escalation.body.is_some() && escalation.headers.contains_key("Authorization"));
}

#[test]
fn the_shipped_example_says_what_it_seems_to_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = load(&root.join("config.example.toml"), PathBuf::from("elsewhere/audit.db")).unwrap();
    let sources: Vec<_> = settings
        .sources
        .iter()
        .map(|source| {
            let kind = &source.preset.variants[0].kind;
            (source.name.as_str(), source.database.shown(), &*source.preset.name, kind)
        })
        .collect();
    let kind = |name: &str| unstuck::preset::source::KindFrom::Fixed(name.into());
    let path = || root.join("jobs.db").display().to_string();
    assert_eq!(
        sources,
        [
            ("jobs", path(), "jobs", &kind("invoice")),
            ("processed_items", path(), "processed_items", &kind("order")),
            ("sent_emails", path(), "sent_emails", &kind("receipt")),
        ]
    );
    let policies: Vec<Policy> = settings.kinds.values().map(|kind| kind.policy.clone()).collect();
    let policy = |kind: &str, risk, operation: &str, has_key: bool| Policy {
        kind: kind.into(),
        risk,
        stuck_after: TimeDelta::minutes(30),
        check: Some(CheckName { provider: "ledger".into(), operation: operation.into() }),
        idempotency_key: has_key.then(|| "{{ key }}".into()),
        evidence_age_max: TimeDelta::minutes(5),
        ..Policy::unconfigured(kind)
    };
    let expected = [
        policy("invoice", Risk::Financial, "charge", true),
        policy("order", Risk::CheckFirst, "charge", false),
        policy("receipt", Risk::Safe, "email", true),
    ];
    assert_eq!(policies, expected);
    let clocks = |days| OperationSettings {
        settle: Some(TimeDelta::minutes(2)),
        lookback: Some(Lookback::Back(TimeDelta::days(days))),
        key_ttl: Some(TimeDelta::hours(24)),
        ..OperationSettings::default()
    };
    let ledger = ProviderSettings {
        secret: Some(SecretPlace::Env("UNSTUCK_LEDGER_TOKEN".to_owned())),
        pace_per_second: Some(50.0),
        operations: BTreeMap::from([("charge".to_owned(), clocks(90)), ("email".to_owned(), clocks(30))]),
        ..ProviderSettings::new("http://127.0.0.1:8421".parse().unwrap())
    };
    let (preset, given) = &settings.providers["ledger"];
    assert_eq!((&*preset.name, given), ("ledger", &ledger));
    assert_eq!(settings.audit.shown(), root.join("audit.db").display().to_string());
    assert_eq!(settings.audit_key, Some(PathBuf::from("elsewhere/keys/audit.key")));
    let unsaid =
        (settings.operator, settings.receipts, settings.escalation.is_none(), settings.providers.len());
    assert_eq!(unsaid, (None, None, true, 1));
}
