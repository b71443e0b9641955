//! The schema for editors is what the types say.

use super::SourceFile;
use pretty_assertions::assert_eq;
use std::path::Path;

/// After a change of the types: `UNSTUCK_WRITE_SCHEMAS=1 cargo test schema`.
#[test]
fn the_schema_for_editors_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/schemas/source-preset.json");
    let mut schema = schemars::schema_for!(SourceFile).to_value();
    schema["title"] = "A source preset of unstuck".into();
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if std::env::var_os("UNSTUCK_WRITE_SCHEMAS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

/// What an editor would accept, the program does too, and the other way round, for each built-in preset's top level.
#[test]
fn every_built_in_preset_uses_only_what_the_schema_knows() {
    let schema = schemars::schema_for!(SourceFile).to_value();
    let known = schema["properties"].as_object().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/presets");
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let table: toml::Table = toml::from_str(&text).unwrap();
        if table["type"].as_str() != Some("source") {
            continue;
        }
        looked_at += 1;
        let odd: Vec<&String> = table.keys().filter(|key| !known.contains_key(*key)).collect();
        assert!(odd.is_empty(), "{}: {odd:?}", table["name"]);
    }
    assert!(looked_at >= 3);
}
