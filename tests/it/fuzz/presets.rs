//! Presets, configurations and templates.

use super::texts::{must, text};
use std::cell::RefCell;
use tempfile::TempDir;
use unstuck::config::load::load;
use unstuck::domain::decision::Choice;
use unstuck::preset::provider::{How, Method, ProviderPreset};
use unstuck::preset::source::file::SourceFile;
use unstuck::preset::source::{Mapping, Writing, parameters_of};
use unstuck::preset::template::{Fields, Template};

/// The most characters of a sentence about a wrong file: it repeats a line of it, not the file.
const SENTENCE_CHARS_MAX: usize = 40_000;

fn is_a_line(sentence: &str) -> Result<(), String> {
    let shown = unstuck::domain::text::clean(sentence);
    must(!shown.is_empty() && shown.chars().count() < SENTENCE_CHARS_MAX, || format!("no line: {sentence:?}"))
}

/// Every statement that would write compares with what was seen, in the words of the preset or not at all.
pub fn a_source_preset_guards_what_it_writes(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let preset = match SourceFile::parse("fuzz.toml", &text).and_then(|file| file.check()) {
        Ok(preset) => preset,
        Err(fault) => return is_a_line(&fault.to_string()),
    };
    let again = SourceFile::parse("fuzz.toml", &text).and_then(|file| file.check());
    must(again.as_ref().is_ok_and(|again| *again == preset), || "read twice it is another".to_owned())?;
    for mapping in &preset.variants {
        guards_what_it_writes(mapping)?;
    }
    must(!preset.variants.is_empty() || preset.unreadable.is_some(), || "it reads nothing".to_owned())
}

fn guards_what_it_writes(mapping: &Mapping) -> Result<(), String> {
    must(!mapping.key.is_empty() && !mapping.table.trim().is_empty(), || "it names no rows".to_owned())?;
    for choice in [Choice::MarkDone, Choice::Retry, Choice::Escalate] {
        match mapping.decisions.of(choice) {
            Writing::Unsupported(why) => must(!why.trim().is_empty(), || format!("{choice:?}: no reason"))?,
            Writing::Statements { statements, .. } => {
                let compares = |sql: &str| {
                    let used = parameters_of(sql);
                    mapping.key.iter().all(|column| used.contains(&Mapping::seen_parameter(column)))
                };
                let guards =
                    |sql: &str| sql.contains("{unchanged}") || (mapping.select.is_some() && compares(sql));
                let guarded = statements.is_empty() || statements.iter().any(|one| guards(&one.sql));
                must(guarded, || format!("{choice:?} overwrites whatever is there: {statements:?}"))?;
            }
        }
    }
    Ok(())
}

/// A look-up is a GET, a HEAD, or a POST that says why it is a read.
pub fn a_provider_preset_only_reads(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let preset = match ProviderPreset::parse(&text) {
        Ok(preset) => preset,
        Err(sentence) => return is_a_line(&sentence),
    };
    must(ProviderPreset::parse(&text).as_ref() == Ok(&preset), || "read twice it is another".to_owned())?;
    must(preset.pace_per_second.is_finite() && preset.pace_per_second > 0.0, || "it has no pace".to_owned())?;
    must(preset.limits.pages_max > 0 && preset.limits.patience.tries_max > 0, || {
        "it asks nothing".to_owned()
    })?;
    for (name, operation) in &preset.operations {
        let settle = operation.clocks.settle;
        must(settle >= chrono::TimeDelta::zero(), || format!("{name} settles before it happens: {settle}"))?;
        match &operation.how {
            How::Unanswerable(why) => must(!why.trim().is_empty(), || format!("{name}: no reason"))?,
            How::Sql(look) => must(!look.statuses.is_empty(), || format!("{name} maps no status"))?,
            How::Ask(look) => {
                if let Method::ReadOnlyPost(why) = &look.request.method {
                    must(!why.trim().is_empty(), || format!("{name} is a POST and does not say why"))?;
                }
                must(!look.statuses.is_empty() || text.contains("status_fixed"), || {
                    format!("{name} maps no status")
                })?;
            }
        }
    }
    Ok(())
}

thread_local! {
    static FOLDER: RefCell<TempDir> = RefCell::new(TempDir::new().unwrap());
}

pub fn a_configuration_is_whole_or_told_in_a_line(input: &[u8]) -> Result<(), String> {
    let path = FOLDER.with_borrow(|folder| folder.path().join("config.toml"));
    std::fs::write(&path, input).unwrap();
    let settings = match load(&path, "audit.db".into()) {
        Ok(settings) => settings,
        Err(fault) => return is_a_line(&fault.what).and_then(|()| is_a_line(&fault.do_next)),
    };
    for (name, kind) in &settings.kinds {
        must(kind.policy.stuck_after > chrono::TimeDelta::zero(), || format!("{name} is stuck at once"))?;
        let check = kind.policy.check.as_ref();
        let is_known = check.is_none_or(|check| settings.provider_preset(&check.provider).is_some());
        must(is_known, || format!("{name} asks nobody that is configured: {check:?}"))?;
    }
    let mut names: Vec<&str> = settings.sources.iter().map(|source| source.name.as_str()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    must(names.len() == count, || format!("two sources have one name: {names:?}"))?;
    for (preset, provider) in settings.providers.values() {
        let url = &provider.base_url;
        must(url.password().is_none() && url.username().is_empty(), || format!("{url} holds a secret"))?;
        must(provider.in_flight_max.is_none_or(|max| max > 0), || format!("{} asks nothing", preset.name))?;
    }
    Ok(())
}

/// A question for an empty reference would find nothing, and that nothing would be false.
pub fn a_template_is_never_silently_empty(input: &[u8]) -> Result<(), String> {
    let source = text(input);
    let template = match Template::parse(&source) {
        Ok(template) => template,
        Err(sentence) => return is_a_line(&sentence),
    };
    let fields: Fields = [("key", "inv-7"), ("kind", "invoice"), ("payload", "{}")]
        .map(|(name, value)| (name.to_owned(), value.into()))
        .into();
    let filled = template.render(&fields);
    must(filled == template.render(&fields), || "filled in twice it is another".to_owned())?;
    match (&filled, source.contains(['{', '}'])) {
        (Ok(filled), false) => must(*filled == source, || format!("a plain text becomes {filled:?}")),
        (Ok(filled), true) => must(filled.len() < 4 << 20, || format!("it becomes {} bytes", filled.len())),
        (Err(sentence), _) => is_a_line(sentence),
    }?;
    let bare = source.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).map(str::trim);
    let is_field =
        bare.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()));
    if is_field
        && !["key", "kind", "payload", "true", "false", "loop", "self"].contains(&bare.unwrap_or_default())
    {
        must(filled.is_err(), || format!("a field that is not there becomes {filled:?}"))?;
    }
    Ok(())
}
