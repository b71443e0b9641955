//! What the documents show works as they show it.

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

#[test]
fn the_readme_shows_the_two_commands() {
    let readme = include_str!("../../README.md");
    for command in ["cargo run --release -- demo", "cargo test"] {
        assert!(readme.lines().any(|line| line == command), "{command}");
    }
}
