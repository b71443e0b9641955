//! A finding, with what a check said of it, as it leaves the program.

use crate::domain::finding::FindingKind;
use crate::domain::mask::mask_document;
use crate::domain::moment::stamp;
use crate::domain::verdict::Verdict;
use crate::workflow::{Checked, Found};
use serde::Serialize;
use std::borrow::Cow;

/// One finding of `list`, and of `check` with the second half filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingLine<'a> {
    /// The source's name.
    pub source: &'a str,
    /// The item's key.
    pub key: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its native status.
    pub status: &'a str,
    /// What that amounts to.
    pub state: &'static str,
    /// Why it needs a person; `None` for an item that was asked for and needs nobody.
    pub finding: Option<&'static str>,
    /// Since when it is so, RFC 3339 in UTC; `None` where no readable time says so.
    pub since: Option<String>,
    /// How long it is so, in seconds, by the source's clock; `None` where no readable time says so.
    pub age_seconds: Option<i64>,
    /// How many times it was tried.
    pub attempts: Option<i64>,
    /// Its latest error, secrets masked.
    pub last_error: Option<Cow<'a, str>>,
    /// What that proves.
    pub error_class: Option<&'static str>,
    /// What the provider knows it by.
    pub reference: Option<&'a str>,
    /// What a wrong decision costs.
    pub risk: &'static str,
    /// What a person should know.
    pub notes: &'a [String],
    /// What a check said.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckPart<'a>>,
}

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckPart<'a> {
    /// The verdict.
    pub verdict: &'static str,
    /// How many effects really happened.
    pub effects: usize,
    /// The ids of all effects under the reference.
    pub effect_ids: Vec<&'a str>,
    /// Whether an absence has had time to show.
    pub settled: bool,
    /// The advice.
    pub advice: &'static str,
    /// Its reasons.
    pub reasons: &'a [String],
    /// The hash of the evidence; `None` where nobody was asked.
    pub evidence: Option<&'a str>,
    /// When it was asked, RFC 3339.
    pub checked_at: String,
    /// Whether the record took it.
    pub on_record: bool,
}

impl<'a> FindingLine<'a> {
    /// A finding without a check.
    pub fn of(found: &'a Found) -> Self {
        let (finding, item) = (&found.finding, &found.finding.item);
        Self {
            source: &item.source,
            key: item.key.as_str(),
            kind: &item.kind,
            status: &item.status,
            state: item.state.as_str(),
            finding: Some(finding.kind.as_str()),
            since: finding.since.map(stamp),
            age_seconds: finding.age.map(|age| age.num_seconds()),
            attempts: item.attempts,
            last_error: item.last_error.text().map(|text| mask_document(text, &found.mask)),
            error_class: finding.error.as_ref().map(|sorted| sorted.class.as_str()),
            reference: found.reference.as_deref().ok(),
            risk: found.risk.as_str(),
            notes: &finding.notes,
            check: None,
        }
    }

    /// A finding with its check, and whether that is on record.
    pub fn of_checked(found: &'a Found, checked: &'a Checked, on_record: bool) -> Self {
        let effects = &checked.judgement.effects;
        Self {
            check: Some(CheckPart {
                verdict: checked.verdict().as_str(),
                effects: checked.judgement.happened_count(),
                effect_ids: effects.iter().map(|effect| effect.id.as_str()).collect(),
                settled: checked.judgement.settled,
                advice: checked.advice().as_str(),
                reasons: &checked.advised.reasons,
                evidence: checked.evidence.as_ref().map(|evidence| evidence.hash.as_str()),
                checked_at: stamp(checked.at),
                on_record,
            }),
            ..Self::of(found)
        }
    }

    /// The same for an item that was asked for and is no finding by its row: what the verdict makes of it.
    pub fn of_asked(found: &'a Found, checked: &'a Checked, on_record: bool) -> Self {
        let finding = match checked.verdict() {
            Verdict::Duplicated => Some(FindingKind::Duplicate),
            Verdict::Mismatch => Some(FindingKind::Mismatch),
            Verdict::NotFound if checked.judgement.settled => Some(FindingKind::Lost),
            Verdict::NotFound | Verdict::Happened | Verdict::Pending | Verdict::Failed | Verdict::Unknown => {
                None
            }
        };
        Self { finding: finding.map(FindingKind::as_str), ..Self::of_checked(found, checked, on_record) }
    }
}
