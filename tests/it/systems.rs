//! Every source preset over its system's own tables: the schema as its migrations make it, and the cases as rows. Exactly
//! the right ones are found, and each decision leaves the row as the system itself would.

use crate::databases::Database;
use crate::world::World;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::source::Engine;

/// What is expected of one system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    case: Vec<Case>,
}

/// One shape of its tables on one engine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    engine: Engine,
    variant: String,
    file: String,
    /// Whether its table looks like another preset's, or like nobody's: then a configuration names the preset.
    #[serde(default)]
    configured: bool,
    #[serde(default)]
    stuck: BTreeSet<String>,
    #[serde(default)]
    ambiguous: BTreeSet<String>,
    #[serde(default)]
    decide: Vec<Decide>,
}

/// A decision, and what the database says afterwards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decide {
    key: String,
    choice: String,
    /// A query whose first value is looked at; empty where there is no row.
    expect: String,
    becomes: String,
    /// What the program says instead of "applied", where it must not be.
    refused: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems")
}

/// The systems that have a file of cases.
fn systems() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn system(name: &str) -> System {
    let text = std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    toml::from_str(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn loaded(case: &Case) -> Option<Database> {
    let database = Database::new(case.engine)?;
    database.execute(&std::fs::read_to_string(folder().join(&case.file)).unwrap());
    Some(database)
}

/// How the program is told of a case's database: by its address alone where it finds out the rest.
fn told(world: &World, name: &str, case: &Case, database: &Database) -> [String; 2] {
    if !case.configured {
        return ["--db".to_owned(), database.url()];
    }
    let text = format!("[[sources]]\nname = \"{name}\"\nurl = \"{}\"\npreset = \"{name}\"\n", database.url());
    ["--config".to_owned(), world.write("unstuck.toml", text).display().to_string()]
}

/// The keys of a kind of finding that the program lists.
fn found(name: &str, case: &Case, database: &Database) -> [BTreeSet<String>; 2] {
    let world = World::new();
    let [how, place] = told(&world, name, case, database);
    let ran = world.run_all(&["list", "--json", "--source", name, &how, &place]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{name}");
    let lines = ran.json();
    ["stuck", "ambiguous"].map(|kind| {
        let of_kind = lines.iter().filter(|line| line["finding"] == kind);
        of_kind.map(|line| line["key"].as_str().unwrap().to_owned()).collect()
    })
}

fn look_at(engine: Engine, check: impl Fn(&str, &Case)) {
    let mut looked_at = 0;
    for name in systems() {
        for case in system(&name).case.iter().filter(|case| case.engine == engine) {
            check(&name, case);
            looked_at += 1;
        }
    }
    assert!(looked_at > 3, "{looked_at} cases on {engine}");
}

#[rstest]
fn exactly_the_right_ones_are_found(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
) {
    look_at(engine, |name, case| {
        let Some(database) = loaded(case) else { return };
        let expected = [case.stuck.clone(), case.ambiguous.clone()];
        assert_eq!(found(name, case, &database), expected, "{name}: {}", case.file);
        let world = World::new();
        let [how, place] = told(&world, name, case, &database);
        let told = world.run_all(&["doctor", &how, &place]);
        let picks = format!("source {name}");
        let is_picked = told.out.lines().any(|line| {
            line.contains(&picks) && line.contains("variant") && line.trim_end().ends_with(&case.variant)
        });
        assert!(case.variant.is_empty() || is_picked, "{name}: {} is not picked\n{}", case.variant, told.out);
    });
}

#[rstest]
fn each_decision_leaves_the_row_as_its_system_would(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
) {
    look_at(engine, |name, case| {
        for decide in &case.decide {
            let Some(database) = loaded(case) else { return };
            let place = format!("{name}: {} of {} in {}", decide.choice, decide.key, case.file);
            let (flag, world) = (format!("--{}", decide.choice), World::new());
            let [how, of] = told(&world, name, case, &database);
            let arguments = [
                "decide",
                &*decide.key,
                "--source",
                name,
                &*flag,
                "--override",
                "--reason",
                "seen",
                &*how,
                &*of,
            ];
            let ran = world.run_all(&arguments);
            match &decide.refused {
                None => assert!(ran.code == Some(0) && ran.out.contains("applied"), "{place}: {ran:?}"),
                Some(why) => {
                    let told = format!("{}{}", ran.out, ran.err);
                    assert!(ran.code != Some(0) && told.contains(why.as_str()), "{place}: {ran:?}");
                }
            }
            assert_eq!(database.first(&decide.expect), decide.becomes, "{place}");
            let mut still = found(name, case, &database).into_iter().flatten();
            let is_settled = decide.refused.is_none() && decide.choice != "escalate";
            assert!(!is_settled || still.all(|key| key != decide.key), "{place}: it is still listed");
        }
    });
}

/// What is written of each system that is found by itself reads the same findings, and the doctor has nothing against it.
#[rstest]
fn what_is_written_of_a_system_is_read_again(
    #[values(Engine::Sqlite, Engine::Postgres, Engine::Mysql)] engine: Engine,
) {
    look_at(engine, |name, case| {
        let Some(database) = loaded(case).filter(|_| !case.configured) else { return };
        let world = World::new();
        let written = world.run_all(&["init", "--db", &database.url(), "--output", "config.toml"]);
        assert_eq!(written.code, Some(0), "{name}: {written:?}");
        let listed = world.run_all(&["list", "--json", "--config", "config.toml"]);
        let expected: BTreeSet<String> = case.stuck.iter().chain(&case.ambiguous).cloned().collect();
        assert!(expected.is_subset(&listed.each("key").into_iter().collect()), "{name}: {listed:?}");
        let doctor = world.run_all(&["doctor", "--config", "config.toml"]);
        assert_eq!(doctor.code, Some(0), "{name}: {}", doctor.out);
    });
}

/// A preset without cases proves nothing.
#[test]
fn every_preset_of_a_job_system_has_cases() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let with_cases: BTreeSet<String> = systems().into_iter().collect();
    for (name, (_, preset)) in &catalogue.sources {
        let is_starting_table = ["jobs", "processed_items", "sent_emails"].contains(&name.as_str());
        if is_starting_table || preset.unreadable.is_some() {
            continue;
        }
        assert!(with_cases.contains(name), "{name} has no file of cases");
        for variant in &preset.variants {
            for engine in &variant.engines {
                let cases = system(name).case;
                let has = cases.iter().any(|case| case.engine == *engine && case.variant == *variant.variant);
                assert!(has, "{name}: no case for `{}` on {engine}", variant.variant);
            }
        }
    }
}

/// Six systems in one database, and nothing configured.
#[test]
fn six_systems_in_one_database_are_found_without_configuration() {
    let names = ["oban", "river", "solid_queue", "good_job", "graphile_worker", "pg_boss"];
    let Some(database) = Database::new(Engine::Postgres) else { return };
    let mut expected: BTreeSet<(String, String)> = BTreeSet::new();
    for name in names {
        let cases = system(name).case;
        let case = cases.iter().rfind(|case| case.engine == Engine::Postgres).unwrap();
        database.execute(&std::fs::read_to_string(folder().join(&case.file)).unwrap());
        let keys = case.stuck.iter().chain(&case.ambiguous);
        expected.extend(keys.map(|key| (name.to_owned(), key.clone())));
    }
    let ran = World::new().run_all(&["list", "--json", "--db", &database.url()]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let found: BTreeSet<(String, String)> = ran.each("source").into_iter().zip(ran.each("key")).collect();
    assert_eq!(found, expected);

    // And what `init` writes is at work at once.
    let world = World::new();
    let written = world.run_all(&["init", "--db", &database.url(), "--output", "config.toml"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let again = world.run_all(&["list", "--json", "--config", "config.toml"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    assert_eq!(again.each("key").len(), expected.len());
    let doctor = world.run_all(&["doctor", "--config", "config.toml"]);
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
}
