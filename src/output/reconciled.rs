//! What does not match between jobs and providers, as it leaves the program.

use super::csv_rows::record;
use super::table;
use crate::domain::evidence::Effect;
use crate::domain::moment::stamp;
use crate::domain::text::clean_for_sheet as cell;
use crate::workflow::reconcile::Unaccounted;
use crate::workflow::{Checked, Found};
use serde::Serialize;

/// The word for an effect that no item accounts for.
pub const UNACCOUNTED: &str = "unaccounted";
const COLUMNS: [(&str, usize); 5] =
    [("FINDING", 11), ("OPERATION", 16), ("SOURCE", 16), ("KEY OR REFERENCE", 30), ("EFFECTS", 7)];
const CSV: [&str; 15] = [
    "finding",
    "operation",
    "source",
    "key",
    "kind",
    "status",
    "state",
    "reference",
    "effects",
    "effect_ids",
    "amounts",
    "times",
    "reasons",
    "checked_at",
    "on_record",
];

/// One item or effect that does not match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReconciledLine<'a> {
    /// `duplicate`, `lost`, `mismatch` or `unaccounted`.
    pub finding: &'static str,
    /// Which operation of which provider.
    pub operation: String,
    /// The source's name; `None` for an effect that no item accounts for. So are the four below.
    pub source: Option<&'a str>,
    /// The item's key.
    pub key: Option<&'a str>,
    /// Its kind.
    pub kind: Option<&'a str>,
    /// Its native status.
    pub status: Option<&'a str>,
    /// What that amounts to.
    pub state: Option<&'static str>,
    /// What the provider knows it by.
    pub reference: Option<&'a str>,
    /// How many effects really happened.
    pub effects: usize,
    /// The ids of all effects.
    pub effect_ids: Vec<&'a str>,
    /// Their statuses, as the provider writes them.
    pub effect_statuses: Vec<&'a str>,
    /// Their amounts, where it tells them.
    pub amounts: Vec<String>,
    /// When they came about, where it tells that.
    pub times: Vec<String>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// The hash of the evidence.
    pub evidence: Option<&'a str>,
    /// When it was asked, RFC 3339.
    pub checked_at: String,
    /// Whether the record took the check of the item; `None` for an effect that no item accounts for.
    pub on_record: Option<bool>,
}

impl<'a> ReconciledLine<'a> {
    /// An item that does not match, and whether its check is on record.
    pub fn of_item(found: &'a Found, checked: &'a Checked, on_record: bool) -> Self {
        let item = &found.finding.item;
        let evidence = checked.evidence.as_ref();
        Self {
            source: Some(&item.source),
            key: Some(item.key.as_str()),
            kind: Some(&item.kind),
            status: Some(&item.status),
            state: Some(item.state.as_str()),
            reference: found.reference.as_deref().ok(),
            effects: checked.judgement.happened_count(),
            reasons: checked.advised.reasons.clone(),
            evidence: evidence.map(|evidence| evidence.hash.as_str()),
            checked_at: stamp(checked.at),
            on_record: Some(on_record),
            ..Self::of_effects(
                found.finding.kind.as_str(),
                evidence.map(|evidence| evidence.check.clone()).unwrap_or_default(),
                &checked.judgement.effects.iter().collect::<Vec<_>>(),
            )
        }
    }

    /// An effect that no item accounts for.
    pub fn of_effect(unaccounted: &'a Unaccounted) -> Self {
        let listed = &unaccounted.effect;
        let read = listed.read.as_ref();
        let effects: Vec<&Effect> = read.ok().into_iter().collect();
        Self {
            reference: listed.references.first().map(String::as_str),
            effect_ids: vec![&listed.id],
            reasons: vec![unaccounted.why()],
            evidence: unaccounted.evidence.as_deref(),
            checked_at: stamp(unaccounted.at),
            ..Self::of_effects(UNACCOUNTED, unaccounted.operation.to_string(), &effects)
        }
    }

    fn of_effects(finding: &'static str, operation: String, effects: &[&'a Effect]) -> Self {
        use crate::domain::evidence::EffectState;
        Self {
            finding,
            operation,
            source: None,
            key: None,
            kind: None,
            status: None,
            state: None,
            reference: None,
            effects: effects.iter().filter(|effect| effect.state == EffectState::Happened).count(),
            effect_ids: effects.iter().map(|effect| effect.id.as_str()).collect(),
            effect_statuses: effects.iter().map(|effect| effect.status.as_str()).collect(),
            amounts: effects
                .iter()
                .filter_map(|effect| effect.money.as_ref().map(ToString::to_string))
                .collect(),
            times: effects.iter().filter_map(|effect| effect.at.map(stamp)).collect(),
            reasons: Vec::new(),
            evidence: None,
            checked_at: String::new(),
            on_record: None,
        }
    }
}

/// The head line of the table.
pub fn head() -> String {
    table::head(&COLUMNS, "WHY")
}

/// One line of the table.
pub fn row(line: &ReconciledLine<'_>, width: Option<usize>) -> String {
    let cells = [
        line.finding.to_owned(),
        line.operation.clone(),
        line.source.unwrap_or("-").to_owned(),
        line.key.or(line.reference).unwrap_or("-").to_owned(),
        line.effects.to_string(),
    ];
    let ids = format!("{}; ", line.effect_ids.join(", "));
    let ids = if line.key.is_none() { ids.as_str() } else { "" };
    let record = table::not_on_record(line.on_record != Some(false));
    table::row(&COLUMNS, &cells, &format!("{record}{ids}{}", line.reasons.join(" ")), width)
}

/// The head line of the sheet, its line break included.
pub fn csv_head() -> String {
    record(CSV)
}

/// One line of the sheet, its line break included.
pub fn csv_row(line: &ReconciledLine<'_>) -> String {
    let text = |text: Option<&str>| cell(text.unwrap_or(""));
    record([
        line.finding.to_owned(),
        cell(&line.operation),
        text(line.source),
        text(line.key),
        text(line.kind),
        text(line.status),
        line.state.unwrap_or("").to_owned(),
        text(line.reference),
        line.effects.to_string(),
        cell(&line.effect_ids.join(" ")),
        cell(&line.amounts.join(" ")),
        line.times.join(" "),
        cell(&line.reasons.join(" ")),
        line.checked_at.clone(),
        line.on_record.map(|on_record| on_record.to_string()).unwrap_or_default(),
    ])
}
