//! `unstuck doctor --preset FILE --db URL`: tries a preset on a database, reads only, and says what it sees.

use super::good;
use crate::commands::arguments::Common;
use crate::commands::failure::Failure;
use crate::commands::session::look;
use crate::config::Settings;
use crate::config::load;
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::text::clean_cut;
use crate::ports::source::{Change, Examined, Health, PlannedStatement, Reading, Source, SourceFault};
use crate::preset::source::file::SourceFile;
use crate::workflow::Desk;
use crate::workflow::scan::Pages;
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

/// How many findings are shown as examples.
const EXAMPLES_MAX: usize = 3;

/// Settings that read the named databases through one preset file.
pub(super) async fn settings(common: &Common, file: &Path) -> Result<Settings, Failure> {
    if common.db.is_empty() {
        return Err(Failure::usage(
            "no database is named to try the preset on",
            "Name one: unstuck doctor --preset FILE --db URL.",
        ));
    }
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|fault| {
        Failure::usage(format!("{name}: cannot be read ({fault})"), "Name a preset's TOML file.")
    })?;
    let preset = SourceFile::parse(&name, &text).and_then(|file| file.check()).map_err(|fault| {
        Failure::usage(fault.to_string(), "Mend the preset; docs/presets.md explains each field.")
    })?;
    Ok(load::trial(look(&common.db).await?, &preset)?)
}

/// What a source's preset makes of what is there.
pub(super) async fn sees(desk: &Desk, source: &Arc<dyn Source>) -> Vec<Examined> {
    match try_all(desk, source).await {
        Ok(lines) => lines,
        Err(fault) => vec![Examined {
            what: "findings".to_owned(),
            health: Health::Bad,
            finding: format!("{}. {}", fault.what, fault.do_next),
        }],
    }
}

async fn try_all(desk: &Desk, source: &Arc<dyn Source>) -> Result<Vec<Examined>, SourceFault> {
    let (mut counts, mut examples) = ([0_usize; 2], Vec::new());
    let mut pages = Pages::in_order(desk, source);
    while let Some(page) = pages.next().await {
        for found in page?.found {
            let finding = &found.finding;
            let is_stuck = finding.kind == crate::domain::finding::FindingKind::Stuck;
            counts[usize::from(!is_stuck)] += 1;
            if examples.len() < EXAMPLES_MAX {
                examples.push(found);
            }
        }
    }
    let [stuck, ambiguous] = counts;
    let mut lines = vec![good("findings", format!("{stuck} stuck, {ambiguous} ambiguous"))];
    for found in &examples {
        let (item, finding) = (&found.finding.item, &found.finding);
        let age = finding.age.map_or_else(|| "no known age".to_owned(), crate::domain::moment::span);
        let error = item.last_error.text().map(|text| format!(", error `{}`", clean_cut(text, 80)));
        let told = format!(
            "{} is {} ({}), kind {}, {age}{}",
            clean_cut(item.key.as_str(), 60),
            finding.kind,
            clean_cut(&item.status, 40),
            clean_cut(&item.kind, 40),
            error.unwrap_or_default()
        );
        lines.push(good("example", told));
    }
    if let Some(found) = examples.first()
        && let Some(reading) = source.read(found.finding.item.key.as_str()).await?
    {
        lines.extend(Choice::ALL.map(|choice| decision(source, choice, &reading)));
    }
    Ok(lines)
}

/// The statements that a choice would run on an example.
fn decision(source: &Arc<dyn Source>, choice: Choice, reading: &Reading) -> Examined {
    let change = Change {
        key: reading.item.key.clone(),
        seen: reading.row.clone(),
        decision: Uuid::nil(),
        operator: "somebody".into(),
        reason: "some reason".into(),
        now: reading.source_now,
    };
    match source.plan(choice, &change) {
        Ok(statements) if statements.is_empty() => good(choice.as_str(), "writes nothing"),
        Ok(statements) => {
            let spelled: Vec<String> = statements.iter().map(spelled).collect();
            good(choice.as_str(), spelled.join("; "))
        }
        Err(unsupported) => Examined {
            what: choice.as_str().to_owned(),
            health: Health::Doubtful,
            finding: format!("unsupported: {}", unsupported.0),
        },
    }
}

fn spelled(statement: &PlannedStatement) -> String {
    let sql: Vec<&str> = statement.sql.split_whitespace().collect();
    let missing = statement.parameters.iter().filter(|(_, value)| *value == Cell::Null).count();
    let nulls = if missing == 0 { String::new() } else { format!(", {missing} of its values NULL") };
    format!("{} ({} rows{nulls})", sql.join(" "), statement.rows)
}
