//! Whether an item was escalated before, as its record tells it: one escalation for one condition of an item.

use crate::domain::audit::{Entry, Event};
use crate::domain::decision::Choice;
use crate::domain::item::{Item, Row};
use crate::domain::mask::mask_field;
use crate::domain::moment::stamp;
use crate::domain::text::clean_cut;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

/// How long a decision of a process that cannot be looked at may be under way before it counts as broken off.
pub const UNDER_WAY_MAX: TimeDelta = TimeDelta::minutes(5);
const NAME_CHARS_MAX: usize = 60;

/// An earlier escalation of an item exactly as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// It arrived.
    Arrived {
        /// The entry of its outcome.
        entry: i64,
    },
    /// It was intended and has no outcome yet.
    UnderWay {
        /// The entry of its intent.
        entry: i64,
        /// Who escalates.
        by: String,
    },
}

impl Earlier {
    /// What among an item's entries, in any order, stands in the way of another escalation of the row with this hash.
    ///
    /// `own` is the entry of the intent whose turn it is: of two at the same instant the one that was first on record goes
    /// on, and never both, because each looks after its own intent is there. `None` where there is no intent yet: whatever
    /// is on record came before.
    pub fn of(entries: &[Entry], row_sha256: &str, own: Option<i64>, now: DateTime<Utc>) -> Option<Self> {
        entries.iter().filter(|intent| own.is_none_or(|own| intent.seq < own)).find_map(|intent| {
            let body = escalation(intent, Event::Intended)?;
            let outcome = entries.iter().find(|entry| {
                entry.decision == intent.decision
                    && Event::from_word(&entry.event).is_some_and(Event::is_outcome)
            });
            let was_seen = body["row_seen_sha256"] == row_sha256;
            match outcome {
                Some(outcome) => {
                    let applied = escalation(outcome, Event::Applied)?;
                    (was_seen || applied["row_after_sha256"] == row_sha256)
                        .then_some(Self::Arrived { entry: outcome.seq })
                }
                None => (was_seen && is_young(intent, now)).then(|| Self::UnderWay {
                    entry: intent.seq,
                    by: clean_cut(&intent.operator, NAME_CHARS_MAX),
                }),
            }
        })
    }

    /// Why the item is not escalated again, in a sentence.
    pub fn why(&self) -> String {
        match self {
            Self::Arrived { entry } => {
                format!("it was escalated already, exactly as it is (audit entry {entry})")
            }
            Self::UnderWay { entry, by } => {
                format!("{by} is already escalating it, exactly as it is (audit entry {entry})")
            }
        }
    }
}

/// An escalation that arrived, whoever made it, as the record tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalated {
    /// The entry of its outcome; `None` where the record did not take it.
    pub entry: Option<i64>,
    /// Who escalated.
    pub by: String,
    /// When, as the record tells it.
    pub at: String,
    /// The row as the escalation saw it and as it left it, what looks secret hidden, as far as the record tells.
    rows: Vec<Value>,
}

impl Escalated {
    /// The escalation that an entry tells of, if it does.
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        let body = escalation(entry, Event::Applied)?;
        let rows = ["row_before", "row_after"].iter().filter_map(|name| body.get(*name));
        Some(Self {
            entry: Some(entry.seq),
            by: clean_cut(&entry.operator, NAME_CHARS_MAX),
            at: clean_cut(&entry.at, NAME_CHARS_MAX),
            rows: rows.filter(|row| row.is_object()).cloned().collect(),
        })
    }

    /// One that was made just now, of a row as it was seen and as it was left.
    pub fn made<'a>(
        entry: Option<i64>,
        by: &str,
        at: DateTime<Utc>,
        rows: impl IntoIterator<Item = &'a Row>,
    ) -> Self {
        let rows = rows.into_iter().map(Row::to_json).collect();
        Self { entry, by: clean_cut(by, NAME_CHARS_MAX), at: stamp(at), rows }
    }

    /// Whether an item's row is still as the escalation saw or left it, as far as both are told: one escalation is for one
    /// condition.
    pub fn is_of_row(&self, item: &Item, masks: &[String]) -> bool {
        let is_in = |row: &Value, (name, cell): &(std::sync::Arc<str>, crate::domain::cell::Cell)| {
            let is = cell.to_json();
            row.get(&**name).is_none_or(|was| *was == is || *was == mask_field(name, &is, masks))
        };
        self.rows.iter().any(|row| item.fields.iter().all(|field| is_in(row, field)))
    }

    /// By whom, when, and where it is on record.
    pub fn told(&self) -> String {
        let entry =
            self.entry.map_or_else(|| "not on record".to_owned(), |entry| format!("audit entry {entry}"));
        format!("escalated by {} at {} ({entry})", self.by, self.at)
    }
}

/// The body of an entry of this event that tells of an escalation.
fn escalation(entry: &Entry, event: Event) -> Option<Value> {
    let body = (entry.event == event.as_str()).then(|| serde_json::from_str::<Value>(&entry.body).ok())??;
    (body["choice"] == Choice::Escalate.as_str()).then_some(body)
}

/// Whether somebody may still be at what was intended. What broke off longer ago bars nobody: its dedup key makes a repeat
/// harmless, and the next start settles it.
fn is_young(intent: &Entry, now: DateTime<Utc>) -> bool {
    let at = DateTime::parse_from_rfc3339(&intent.at);
    at.is_ok_and(|at| now - at.with_timezone(&Utc) < UNDER_WAY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::audit::GENESIS;
    use crate::domain::cell::Cell;
    use crate::domain::item::{ItemKey, LastError, State, Times};
    use rstest::rstest;
    use serde_json::json;

    fn entry(seq: i64, event: Event, decision: &str, body: &Value) -> Entry {
        Entry {
            seq,
            at: "2026-11-30T12:00:00Z".to_owned(),
            event: event.as_str().to_owned(),
            decision: decision.to_owned(),
            source: "billing".to_owned(),
            key: "inv-41".to_owned(),
            operator: "alice".to_owned(),
            origin: "alice@ops-1".to_owned(),
            body: body.to_string(),
            prev: GENESIS.to_owned(),
            hash: GENESIS.to_owned(),
        }
    }

    fn intent(seq: i64, decision: &str) -> Entry {
        entry(seq, Event::Intended, decision, &json!({ "choice": "escalate", "row_seen_sha256": "as-seen" }))
    }

    fn outcome(seq: i64, event: Event, decision: &str) -> Entry {
        entry(seq, event, decision, &json!({ "choice": "escalate", "row_after_sha256": "after" }))
    }

    fn minutes_later(minutes: i64) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc() + TimeDelta::minutes(minutes)
    }

    fn under_way(entry: i64) -> Earlier {
        Earlier::UnderWay { entry, by: "alice".to_owned() }
    }

    #[rstest]
    #[case::nothing(vec![], None, None)]
    #[case::another_is_at_it(vec![intent(1, "a")], None, Some(under_way(1)))]
    #[case::ours_came_second(vec![intent(1, "a"), intent(2, "b")], Some(2), Some(under_way(1)))]
    #[case::ours_came_first(vec![intent(1, "a"), intent(2, "b")], Some(1), None)]
    #[case::only_ours(vec![intent(1, "a")], Some(1), None)]
    #[case::the_other_arrived_after_ours(
        vec![intent(1, "a"), intent(2, "b"), outcome(3, Event::Applied, "a")], Some(2), Some(Earlier::Arrived { entry: 3 })
    )]
    #[case::the_other_failed(vec![intent(1, "a"), outcome(2, Event::Failed, "a"), intent(3, "b")], Some(3), None)]
    #[case::the_other_was_refused(vec![intent(1, "a"), outcome(2, Event::Refused, "a")], None, None)]
    #[case::a_retry_bars_no_escalation(
        vec![entry(1, Event::Intended, "a", &json!({ "choice": "retry", "row_seen_sha256": "as-seen" }))], None, None
    )]
    fn of_two_at_once_one_goes_on(
        #[case] mut entries: Vec<Entry>,
        #[case] own: Option<i64>,
        #[case] earlier: Option<Earlier>,
    ) {
        assert_eq!(Earlier::of(&entries, "as-seen", own, minutes_later(1)), earlier);
        entries.reverse();
        assert_eq!(Earlier::of(&entries, "as-seen", own, minutes_later(1)), earlier);
    }

    #[test]
    fn the_row_that_an_escalation_left_counts_and_any_other_row_does_not() {
        let entries = [intent(1, "a"), outcome(2, Event::Applied, "a")];
        let arrived = Some(Earlier::Arrived { entry: 2 });
        assert_eq!(Earlier::of(&entries, "after", None, minutes_later(1)), arrived);
        assert_eq!(Earlier::of(&entries, "another", None, minutes_later(1)), None);
    }

    #[test]
    fn what_broke_off_bars_nobody_for_long() {
        let entries = [intent(1, "a")];
        assert_eq!(Earlier::of(&entries, "as-seen", None, minutes_later(4)), Some(under_way(1)));
        assert_eq!(Earlier::of(&entries, "as-seen", None, minutes_later(5)), None);
    }

    #[test]
    fn an_escalation_is_told_by_whom_and_when_and_of_which_row() {
        let body = json!({
            "choice": "escalate",
            "row_before": { "status": "failed", "api_token": "***" },
            "row_after": { "status": "handed on", "api_token": "***" },
        });
        let escalated = Escalated::of_entry(&entry(7, Event::Applied, "a", &body)).unwrap();
        assert_eq!(escalated.told(), "escalated by alice at 2026-11-30T12:00:00Z (audit entry 7)");
        let mut item = Item {
            source: "billing".into(),
            key: ItemKey::new(vec![Cell::text("inv-41")]),
            kind: "invoice".into(),
            status: "failed".into(),
            state: State::Failed,
            attempts: None,
            tried_once: false,
            times: Times::default(),
            last_error: LastError::Absent,
            fields: Vec::new(),
            oddities: Vec::new(),
        };
        for (status, is_same) in [("failed", true), ("handed on", true), ("running", false)] {
            item.fields = vec![("status".into(), Cell::text(status))];
            assert_eq!(escalated.is_of_row(&item, &[]), is_same, "{status}");
        }
        assert_eq!(Escalated::of_entry(&entry(7, Event::Refused, "a", &body)), None);
        let retry = json!({ "choice": "retry", "row_before": { "note": "\"choice\":\"escalate\"" } });
        assert_eq!(Escalated::of_entry(&entry(7, Event::Applied, "a", &retry)), None);
    }
}
