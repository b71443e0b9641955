//! What the documents show works as they show it.

use std::collections::BTreeMap;
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

/// The names of tests that stand in a text.
fn tests_named_in(text: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        let of_it = name.starts_with("it ");
        of_it || ["::tests::", "::changes::", "::suite::"].iter().any(|part| name.contains(part))
    };
    text.split('`').skip(1).step_by(2).filter(is_name).collect()
}

fn is_test(sources: &str, name: &str) -> bool {
    let function = name.rsplit("::").next().unwrap();
    [format!("fn {function}("), format!("fn {function}<")].iter().any(|written| sources.contains(written))
}

/// How many cases from the field there are.
const CASES: usize = 75;

/// Each case has its test, or is told as missing.
#[test]
fn every_case_names_a_test_that_there_is_or_what_is_missing() {
    let page = include_str!("../../docs/cases.md");
    let sources = sources();
    let wrong: Vec<&str> = tests_named_in(page).into_iter().filter(|name| !is_test(&sources, name)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (held, missing) = page.split_once("## Not yet").unwrap();
    let rows = |text: &'static str| -> Vec<(usize, &'static str)> {
        let numbered = text.lines().filter_map(|line| {
            let number = line.strip_prefix("| ")?.split(' ').next()?.parse().ok()?;
            Some((number, line))
        });
        numbered.collect()
    };
    let (held, missing) = (rows(held), rows(missing));
    for (number, row) in &held {
        assert!(!tests_named_in(row).is_empty(), "case {number} names no test");
    }
    let known = |number| held.iter().chain(&missing).any(|(known, _)| *known == number);
    let absent: Vec<usize> = (1..=CASES).filter(|number| !known(*number)).collect();
    assert!(absent.is_empty(), "neither held nor told as missing: {absent:?}");
    for rows in [&held, &missing] {
        let mut numbers: Vec<usize> = rows.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]) && numbers.last() <= Some(&CASES));
    }
}

/// A promise without its test is only a sentence.
#[test]
fn every_promise_names_a_test_that_there_is() {
    let page = include_str!("../../docs/safety.md");
    let named = tests_named_in(page);
    assert!(named.len() > 60, "only {} tests are named", named.len());
    let sources = sources();
    let wrong: Vec<&&str> = named.iter().filter(|name| !is_test(&sources, name)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise")) {
        assert!(row.starts_with("| ---") || row.contains("::"), "no test: {row}");
    }
}

/// Every operation has a row, with the clocks that its preset has.
#[test]
fn the_page_on_providers_tells_each_operation_and_its_clocks() {
    let page = include_str!("../../docs/providers.md");
    let catalogue = Catalogue::new(&[]).unwrap();
    let mut rows = 0;
    for name in catalogue.providers.keys() {
        let preset: toml::Table =
            toml::from_str(unstuck::preset::catalogue::built_in_text(name).unwrap()).unwrap();
        for (operation, told) in preset["operations"].as_table().unwrap() {
            let clock = |field: &str| told.get(field).map_or("–", |value| value.as_str().unwrap());
            let clocks = ["settle", "lookback", "key_ttl"].map(clock).join(" / ");
            let begin = format!("| `{name}.{operation}` |");
            let row =
                page.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("no {begin}"));
            assert_eq!(row.split(" | ").nth(3), Some(&*clocks), "{row}");
            rows += 1;
        }
    }
    let is_row = |line: &&str| {
        line.starts_with("| `") && line.split('`').nth(1).is_some_and(|name| name.contains('.'))
    };
    assert_eq!(page.lines().filter(is_row).count(), rows);
}

/// The preset of ten lines reads the answer that stands above it.
#[test]
fn the_preset_for_a_service_of_ones_own_works() {
    use unstuck::adapters::http::extract::Reply;
    use unstuck::adapters::http::paging::{After, Reading};
    use unstuck::preset::provider::How;
    let page = include_str!("../../docs/providers.md");
    let (_, own) = page.split_once("## A service of your own").unwrap();
    let text = block(own, "toml");
    assert!(text.lines().count() <= 13, "about ten lines");
    let own_file = [("shipments.toml".to_owned(), text.to_owned())];
    let preset = Catalogue::new(&own_file).unwrap().providers["shipments"].clone();
    let How::Ask(look) = &preset.operations["shipment"].how else { panic!("it can be asked") };
    let body = own.split('`').find(|code| code.starts_with("{\"shipments\"")).unwrap();
    let reply = Reply { status: 200, headers: Vec::new(), body: body.as_bytes().to_vec() };
    let vars = BTreeMap::new();
    let mut reading = Reading::new(look, "1042", &vars, 20);
    assert_eq!(reading.take(&reply).unwrap(), After::Whole);
    let ids: Vec<String> = reading.into_effects().unwrap().into_iter().map(|effect| effect.id).collect();
    assert_eq!(ids, ["s-7"]);
}
