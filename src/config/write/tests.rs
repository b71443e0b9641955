//! Whatever is found and answered, the loader reads what is written of it.

use super::*;
use crate::config::load;
use crate::preset::provider::How;
use pretty_assertions::assert_eq;
use std::path::PathBuf;

fn jobs(name: &str) -> (Database, Vec<Table>) {
    let columns =
        ["key", "status", "updated_at", "last_error"].map(|name| (name.to_owned(), "TEXT".to_owned()));
    let table = |name: &str| Table {
        schema: String::new(),
        is_first: true,
        name: name.to_owned(),
        columns: columns.to_vec(),
    };
    (Database::File(PathBuf::from(name)), vec![table("jobs"), table("x\n[audit]\npath = 'y'\u{202e}\"")])
}

fn read(text: &str) -> crate::config::Settings {
    load::read(text, Path::new("config.toml"), PathBuf::from("audit.db"))
        .unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

#[test]
fn every_provider_that_can_be_asked_can_be_written() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let mut written = 0;
    for preset in catalogue.providers.values() {
        for (operation, _) in
            preset.operations.iter().filter(|(_, one)| !matches!(one.how, How::Unanswerable(_)))
        {
            let name = preset.name.to_string();
            let check = format!("{name}.{operation}");
            let kind = KindAnswer {
                risk: Risk::Financial,
                check: Some(check.clone()),
                reference: "a-{{ key }}".to_owned(),
            };
            let variables = preset.variables.keys().map(|name| (name.clone(), "a\"b".to_owned()));
            let provider = ProviderAnswer {
                base_url: (!preset.is_sql()).then(|| "https://api.example.com".to_owned()),
                database: preset.is_sql().then(|| "postgres://ana@db/app".to_owned()),
                secret_env: Some("A_TOKEN".to_owned()),
                variables: variables.collect(),
            };
            let answers = Answers {
                kinds: [("jobs".to_owned(), kind)].into(),
                providers: [(name, provider)].into(),
                ..Answers::default()
            };
            let settings = read(&configuration(&[jobs("jobs.db")], &catalogue, &answers));
            let policy = &settings.kinds["jobs"].policy;
            assert_eq!((policy.risk, &*policy.reference), (Risk::Financial, "a-{{ key }}"));
            assert_eq!(policy.check.as_ref().map(ToString::to_string), Some(check));
            written += 1;
        }
    }
    assert!(written > 20, "only {written} were tried");
}

#[test]
fn hostile_names_stay_names() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let hostile = "x\"]\n[audit]\npath = 'y'\u{202e}\\";
    let kind = KindAnswer { risk: Risk::Safe, check: None, reference: hostile.to_owned() };
    let answers = Answers { kinds: [(hostile.to_owned(), kind)].into(), ..Answers::default() };
    let text = configuration(&[jobs(&format!("/srv/{}", hostile.replace('/', "")))], &catalogue, &answers);
    assert_eq!(text.matches("\n[audit]").count(), 1, "{text}");
    assert!(text.chars().all(|one| one == '\n' || is_plain(one)), "{text}");
    let settings = read(&text);
    assert_eq!(&*settings.kinds[hostile].policy.reference, hostile);
    assert!(settings.sources[0].database.shown().contains("\n[audit]"));
}

/// The audit of a configuration in the platform's folder stays where it is without one.
#[test]
fn the_audit_lies_beside_the_file_or_where_the_platform_keeps_it() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let text = |audit_of_platform| {
        configuration(&[jobs("jobs.db")], &catalogue, &Answers { audit_of_platform, ..Answers::default() })
    };
    assert!(text(false).contains("[audit]\npath = \"audit.db\""));
    assert!(!text(true).contains("\n[audit]"));
}

#[test]
fn a_password_is_written_as_its_variable() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let database = Database::parse("postgres://ana:s3cr3t@db/app").unwrap();
    let (address, tables) = (database.shown(), jobs("").1);
    let answers = Answers { passwords: [(address, "APP_PASSWORD".to_owned())].into(), ..Answers::default() };
    let text = configuration(&[(database, tables)], &catalogue, &answers);
    assert!(text.contains("secret_env = \"APP_PASSWORD\"") && !text.contains("s3cr3t"), "{text}");
    read(&text);
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    write_new(&path, "mine").unwrap();
    let fault = write_new(&path, "yours").unwrap_err();
    assert!(fault.ends_with("is there already and was left as it is"), "{fault}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}
