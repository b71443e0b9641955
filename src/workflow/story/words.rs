//! The head of a story in words: each label with its text, neither cleaned nor masked further.

use super::Story;
use crate::domain::moment::stamp;
use chrono::SubsecRound;

impl Story {
    /// What is known of the item at a glance, as labels and texts; a label that is empty goes on from the line before. `asks_anew`
    /// is what an operator does to have the provider asked.
    pub fn head(&self, asks_anew: &str) -> Vec<(&'static str, String)> {
        let mut lines = vec![("row", self.row_words())];
        for sibling in self.members.iter().skip(1) {
            let item = &sibling.found.finding.item;
            lines.push(("beside", format!("{} of {} ({})", item.key.as_str(), item.source, item.status)));
        }
        lines.push((
            "reference",
            match &self.reference {
                Ok(reference) => reference.to_string(),
                Err(why) => format!("none: {why}"),
            },
        ));
        if let Some(fault) = &self.unread {
            lines.push(("record", format!("COULD NOT BE READ: {}", fault.what)));
            lines.push(("", "What was checked and decided before is not in here.".to_owned()));
            lines.push(("", fault.do_next.clone()));
        }
        lines.extend(self.verdict_words(asks_anew));
        lines
    }

    fn row_words(&self) -> String {
        let Some(member) = self.members.first() else { return "gone".to_owned() };
        let item = &member.found.finding.item;
        let finding = if member.is_finding { member.found.finding.kind.as_str() } else { "none" };
        let attempts = item.attempts.map_or_else(|| "not counted".to_owned(), |count| count.to_string());
        format!(
            "kind {}, status {} ({}), attempts {attempts}, finding {finding}",
            item.kind, item.status, item.state
        )
    }

    fn verdict_words(&self, asks_anew: &str) -> Vec<(&'static str, String)> {
        let (verdict, advice, reasons, from) = match (&self.checked, &self.recorded) {
            (Some(checked), _) => (
                checked.verdict().as_str(),
                checked.advice().as_str(),
                &checked.advised.reasons,
                format!("asked at {}", stamp(checked.at.trunc_subsecs(0))),
            ),
            (None, Some(recorded)) => (
                recorded.verdict.as_str(),
                recorded.advice.as_str(),
                &recorded.reasons,
                format!("audit entry {}, {}; {asks_anew} asks anew", recorded.entry, recorded.at),
            ),
            (None, None) if self.unread.is_some() => {
                let told = format!("not known: the record could not be read ({asks_anew} asks anew)");
                return vec![("verdict", told)];
            }
            (None, None) => return vec![("verdict", format!("none: nobody asked ({asks_anew} asks)"))],
        };
        let mut lines = vec![("verdict", format!("{verdict}, advice {advice} ({from})"))];
        lines.extend(reasons.iter().map(|reason| ("", reason.clone())));
        lines
    }
}
