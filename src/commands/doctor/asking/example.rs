//! `--record DIR`: answers as files that can be played back, in the form of `tests/fixtures/providers`.

use super::{Case, effect_line};
use crate::adapters::http::HttpProvider;
use crate::adapters::http::trial::{Example, example};
use crate::commands::failure::Failure;
use crate::domain::moment::stamp;
use crate::domain::text::clean;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// How many examples of one operation a folder takes.
const EXAMPLES_MAX: usize = 999;

/// Makes sure that there is a folder to write into.
pub(super) fn prepare(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|fault| {
        Failure::usage(
            format!("{}: no folder can be made there ({fault})", folder.display()),
            "Name another folder with --record.",
        )
    })
}

/// Writes what came; never over a file that is there. Names the files.
pub(super) fn write(provider: &HttpProvider, case: &Case<'_>, folder: &Path) -> Result<Vec<String>, Failure> {
    let example = example(provider, case.trial, case.question);
    let (stem, mut index, path) = open_index(folder, &case.name.operation)?;
    let mut written = vec![path.display().to_string()];
    let mut names = Vec::new();
    for (at, answer) in example.answers.iter().enumerate() {
        let Some(body) = &answer.body else {
            names.push(None);
            continue;
        };
        let name = format!("{stem}.{}", at + 1);
        let path = folder.join(format!("{name}.json"));
        let mut file = create(&path).map_err(|fault| unwritable(&path, &fault))?;
        writeln!(file, "{body}").map_err(|fault| unwritable(&path, &fault))?;
        written.push(path.display().to_string());
        names.push(Some(name));
    }
    index
        .write_all(index_text(case, &example, &names).as_bytes())
        .map_err(|fault| unwritable(&path, &fault))?;
    Ok(written)
}

/// The first index whose name is free, made at once, so that nobody else takes it.
fn open_index(folder: &Path, operation: &str) -> Result<(String, File, PathBuf), Failure> {
    for nth in 1..=EXAMPLES_MAX {
        let stem = format!("{operation}.recorded.{nth}");
        let path = folder.join(format!("{stem}.toml"));
        match create(&path) {
            Ok(file) => return Ok((stem, file, path)),
            Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
            Err(fault) => return Err(unwritable(&path, &fault)),
        }
    }
    Err(Failure::usage(
        format!("{} has {EXAMPLES_MAX} examples of `{operation}` already", folder.display()),
        "Name another folder with --record.",
    ))
}

fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn unwritable(path: &Path, fault: &std::io::Error) -> Failure {
    let what = match fault.kind() {
        ErrorKind::AlreadyExists => format!("{}: is there already, and stays as it is", path.display()),
        _ => format!("{}: cannot be written ({fault})", path.display()),
    };
    Failure::usage(what, "Name another folder with --record.")
}

fn index_text(case: &Case<'_>, example: &Example, names: &[Option<String>]) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let list = |texts: &[String]| {
        let lines: Vec<String> = texts.iter().map(|line| format!("    {},\n", text(line))).collect();
        if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}]", lines.concat()) }
    };
    let table = |pairs: &std::collections::BTreeMap<String, String>| {
        let pairs: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{} = {}", text(name), text(value))).collect();
        if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
    };
    let effects: Vec<String> = case.judgement.effects.iter().map(effect_line).collect();
    let mut index = format!(
        "# Answers of {} as they came, personal details struck out.\n",
        clean(&case.name.to_string())
    );
    let mut line = |name: &str, value: String| index.push_str(&format!("{name} = {value}\n"));
    line("operation", text(&case.name.operation));
    line("reference", text(&case.question.reference));
    line("asked_at", text(&stamp(case.asked_at)));
    if let Some(tried) = case.tried {
        line("tried_at", text(&stamp(tried)));
    }
    line("verdict", text(case.judgement.verdict.as_str()));
    line("effects", list(&effects));
    line("base_path", text(&example.base_path));
    line("requests", list(&example.requests));
    line("variables", table(&example.variables));
    line("fields", table(&example.fields));
    for (answer, name) in example.answers.iter().zip(names) {
        index.push_str(&format!("\n[[answers]]\nstatus = {}\n", answer.status));
        if !answer.headers.is_empty() {
            index.push_str(&format!("headers = {}\n", table(&answer.headers)));
        }
        if let Some(name) = name {
            index.push_str(&format!("body = {}\n", text(name)));
        }
    }
    index
}
