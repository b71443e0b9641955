//! Whether an item was retried after the attempt that its row shows: then a second retry would be one too many.

use crate::domain::audit::{Entry, Event};
use crate::domain::decision::Choice;
use crate::domain::moment::{span, stamp};
use crate::domain::text::clean_cut;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

/// Times of a row may be whole seconds: one of the same second as the retry is of the attempt that it began.
const SECOND: TimeDelta = TimeDelta::seconds(1);
const NAME_CHARS_MAX: usize = 60;

/// A retry on record, of which the row shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retried {
    /// The entry of its outcome.
    pub entry: i64,
    /// Who retried.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
}

impl Retried {
    /// The latest retry among an item's entries, in any order, that is younger than `acts_max` and than `last`: the latest
    /// sign of an attempt by our clock; `None` where the row tells none. `acts_max` is how long the attempt that a retry
    /// begins may act, and its effect take to show.
    pub fn of(
        entries: &[Entry],
        last: Option<DateTime<Utc>>,
        acts_max: TimeDelta,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let latest = entries.iter().filter_map(applied_retry).max_by_key(|retried| retried.at)?;
        let is_shown = last.is_some_and(|last| last + SECOND > latest.at);
        (!is_shown && now - latest.at < acts_max).then_some(latest)
    }

    /// Why the item is not retried once more, in a sentence.
    pub fn why(&self, now: DateTime<Utc>) -> String {
        format!(
            "{} retried it {} ago ({}, audit entry {}), and the row still shows the attempt before that: the new one may be at work.",
            self.by,
            span((now - self.at).max(TimeDelta::zero())),
            stamp(self.at),
            self.entry
        )
    }
}

fn applied_retry(entry: &Entry) -> Option<Retried> {
    if entry.event != Event::Applied.as_str() {
        return None;
    }
    let body: Value = serde_json::from_str(&entry.body).ok()?;
    let at = DateTime::parse_from_rfc3339(&entry.at).ok()?.to_utc();
    let by = clean_cut(&entry.operator, NAME_CHARS_MAX);
    (body["choice"] == Choice::Retry.as_str()).then_some(Retried { entry: entry.seq, by, at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::audit::GENESIS;
    use pretty_assertions::assert_eq;
    use rstest::rstest;
    use serde_json::json;

    fn minute(minute: i64) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc() + TimeDelta::minutes(minute)
    }

    fn entry(seq: i64, event: Event, choice: &str, at: i64) -> Entry {
        Entry {
            seq,
            at: stamp(minute(at)),
            event: event.as_str().to_owned(),
            decision: "a".to_owned(),
            source: "jobs".to_owned(),
            key: "inv-1".to_owned(),
            operator: "op-a".to_owned(),
            origin: "op-a@ops-1".to_owned(),
            body: json!({ "choice": choice }).to_string(),
            prev: GENESIS.to_owned(),
            hash: GENESIS.to_owned(),
        }
    }

    /// It is minute 30; an attempt may act for an hour.
    #[rstest]
    #[case::never_retried(vec![], Some(0), None)]
    #[case::the_row_shows_the_attempt_before(vec![entry(2, Event::Applied, "retry", 29)], Some(0), Some(2))]
    #[case::the_row_shows_no_attempt(vec![entry(2, Event::Applied, "retry", 29)], None, Some(2))]
    #[case::the_row_shows_the_new_one(vec![entry(2, Event::Applied, "retry", 28)], Some(29), None)]
    #[case::in_the_same_second(vec![entry(2, Event::Applied, "retry", 28)], Some(28), None)]
    #[case::too_long_ago(vec![entry(2, Event::Applied, "retry", -31)], Some(-60), None)]
    #[case::the_latest_counts(
        vec![entry(4, Event::Applied, "retry", 20), entry(2, Event::Applied, "retry", 10)], Some(15), Some(4)
    )]
    #[case::it_was_refused(vec![entry(2, Event::Refused, "retry", 29)], Some(0), None)]
    #[case::it_failed(vec![entry(2, Event::Failed, "retry", 29)], Some(0), None)]
    #[case::it_was_escalated(vec![entry(2, Event::Applied, "escalate", 29)], Some(0), None)]
    fn a_retry_that_the_row_does_not_show_stands_against_another(
        #[case] mut entries: Vec<Entry>,
        #[case] last: Option<i64>,
        #[case] found: Option<i64>,
    ) {
        let retried = |entries: &[Entry]| {
            Retried::of(entries, last.map(minute), TimeDelta::hours(1), minute(30)).map(|found| found.entry)
        };
        assert_eq!(retried(&entries), found);
        entries.reverse();
        assert_eq!(retried(&entries), found);
    }

    #[test]
    fn who_retried_and_when_is_told() {
        let retried = Retried { entry: 2, by: "op-a".to_owned(), at: minute(29) };
        let told = "op-a retried it 1 min ago (2026-11-30T12:29:00Z, audit entry 2), and the row still shows the attempt \
                    before that: the new one may be at work.";
        assert_eq!(retried.why(minute(30)), told);
    }
}
