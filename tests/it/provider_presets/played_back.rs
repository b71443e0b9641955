//! Examples that `unstuck doctor --record` kept, played back: the same requests, the same effects, the same verdict.

use super::provider::{Answer, Stage};
use chrono::{DateTime, TimeDelta, Utc};
use pretty_assertions::assert_eq;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::provider::Method;

/// What an `OPERATION.recorded.N.toml` holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    operation: String,
    reference: String,
    asked_at: DateTime<Utc>,
    tried_at: Option<DateTime<Utc>>,
    verdict: String,
    effects: Vec<String>,
    base_path: String,
    requests: Vec<String>,
    variables: BTreeMap<String, String>,
    fields: BTreeMap<String, String>,
    answers: Vec<RecordedAnswer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedAnswer {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
}

/// Plays back every example of a folder; says how many there were.
pub async fn play_all(preset: &str, folder: &Path) -> usize {
    let mut indexes: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let is_toml = path.extension().is_some_and(|extension| extension == "toml");
            is_toml && path.to_str().is_some_and(|path| path.contains(".recorded."))
        })
        .collect();
    indexes.sort();
    for index in &indexes {
        play(preset, index).await;
    }
    indexes.len()
}

async fn play(preset: &str, index: &Path) {
    let at = index.display();
    let text = std::fs::read_to_string(index).unwrap();
    let recorded: Recorded = toml::from_str(&text).unwrap_or_else(|fault| panic!("{at}: {fault}"));
    let catalogue = Catalogue::new(&[]).unwrap();
    let preset = &catalogue.providers[preset];
    let is_head = match &preset.operations[&recorded.operation].how {
        unstuck::preset::provider::How::Ask(look) => look.request.method == Method::Head,
        unstuck::preset::provider::How::Sql(_) | unstuck::preset::provider::How::Unanswerable(_) => false,
    };
    let answers = recorded.answers.iter().map(|answer| {
        let document = answer.body.as_ref().map_or(Value::Null, |name| {
            let path = index.parent().unwrap().join(format!("{name}.json"));
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
        });
        // Where nothing came, something comes that is tried again too.
        let status = if answer.status == 0 { 503 } else { answer.status };
        Answer { status, headers: answer.headers.clone(), is_head, document }
    });
    let stage =
        Stage::at(recorded.asked_at, preset, &recorded.operation, &recorded.base_path, &recorded.variables)
            .await;
    let from = recorded.tried_at.map(|tried| tried - TimeDelta::minutes(10));
    let moments = (from, recorded.tried_at, recorded.asked_at);
    let (_, judgement, asked) =
        stage.ask_at(&recorded.reference, &recorded.fields, answers.collect(), moments).await;
    let lines: Vec<String> = asked.into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines, recorded.requests, "{at}");
    assert_eq!(judgement.verdict.as_str(), recorded.verdict, "{at}: {:?}", judgement.reasons);
    let effects: Vec<String> = judgement.effects.iter().map(super::line_of).collect();
    assert_eq!(effects, recorded.effects, "{at}");
}

#[tokio::test]
async fn what_was_recorded_comes_to_the_same_verdict() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        played += play_all(path.file_name().unwrap().to_str().unwrap(), &path).await;
    }
    assert!(played >= 1, "only {played} examples were played back");
}
