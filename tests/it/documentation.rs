//! What the documents show works as they show it.

use std::path::Path;
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::source::file::SourceFile;

/// The first block of a language in a document.
fn block<'a>(document: &'a str, language: &str) -> &'a str {
    let start = format!("```{language}\n");
    let after = document.split_once(&start).expect("a block").1;
    after.split_once("```").expect("its end").0
}

#[test]
fn the_preset_that_the_page_explains_is_sound() {
    let text = block(include_str!("../../docs/presets.md"), "toml");
    let preset = SourceFile::parse("docs/presets.md", text).unwrap().check().unwrap();
    assert_eq!(&*preset.name, "payouts");
    // And as a user's own file among the presets.
    assert!(
        Catalogue::new(&[("payouts.toml".to_owned(), text.to_owned())])
            .unwrap()
            .sources
            .contains_key("payouts")
    );
}

/// The blocks that say only what differs, each put behind the whole one.
#[test]
fn the_shapes_that_the_page_explains_are_sound() {
    let page = include_str!("../../docs/presets.md");
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let with_variants = format!("{}\n{}", blocks[0], blocks[2]);
    let preset = SourceFile::parse("docs/presets.md", &with_variants).unwrap().check().unwrap();
    let names: Vec<&str> = preset.variants.iter().map(|variant| &*variant.variant).collect();
    assert_eq!(names, ["with heartbeats", "before heartbeats"]);
    // A query's columns are named by what is around it: here only its own words count.
    let query: toml::Table = toml::from_str(blocks[1]).unwrap();
    assert!(query["select"].as_str().is_some_and(|select| select.contains("{schema}")));
    assert_eq!(query["lease"]["told"].as_str(), Some("holder"));
}

#[test]
fn the_configuration_of_the_page_on_sources_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, block(include_str!("../../docs/sources.md"), "toml")).unwrap();
    let settings = unstuck::config::load::load(&file, folder.path().join("audit.db")).unwrap();
    let places: Vec<String> = settings.sources.iter().map(|source| source.database.shown()).collect();
    let database = "postgres://unstuck@db.example.com/app?sslmode=verify-full";
    assert_eq!(places, [database, "/var/lib/app/mails.db"]);
}

#[test]
fn the_readme_shows_the_two_commands() {
    let readme = include_str!("../../README.md");
    for command in ["cargo run --release -- demo", "cargo test"] {
        assert!(readme.lines().any(|line| line == command), "{command}");
    }
}

/// Every Rust file of the program and its tests.
fn sources() -> String {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "tests".into()];
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    all
}

/// A promise without its test is only a sentence.
#[test]
fn every_promise_names_a_test_that_there_is() {
    let page = include_str!("../../docs/safety.md");
    let sources = sources();
    let is_test = |name: &str| {
        let function = name.rsplit("::").next().unwrap();
        let found = [format!("fn {function}("), format!("fn {function}<")];
        found.iter().any(|written| sources.contains(written))
    };
    let named: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains("::tests::") || name.starts_with("it ") || name.contains("::changes::"))
        .collect();
    assert!(named.len() > 60, "only {} tests are named", named.len());
    let wrong: Vec<&&str> = named.iter().filter(|name| !is_test(name)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise")) {
        assert!(row.starts_with("| ---") || row.contains("::"), "no test: {row}");
    }
}
