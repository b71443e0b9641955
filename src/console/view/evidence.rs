//! What happened when, and what the provider was asked and said.

use super::lines::Lines;
use crate::console::model::Model;
use crate::console::model::findings::Row;
use crate::console::shown;
use crate::console::words;
use crate::domain::attempt::Attempts;
use crate::domain::evidence::{Effect, EffectState, Evidence};
use crate::domain::item::Lease;
use crate::domain::moment::{Reading, stamp};
use crate::domain::text::clean_cut;
use crate::workflow::Checked;
use chrono::{DateTime, Utc};
use ratatui::style::Style;

/// How many lines of an answer are shown.
const ANSWER_LINES_MAX: usize = 12;

/// What happened when, by the source and by the provider, in order.
pub fn timeline(row: &Row, lines: &mut Lines) {
    let item = &row.found.finding.item;
    let mut events: Vec<(DateTime<Utc>, String)> = Vec::new();
    let mut unclear: Vec<String> = Vec::new();
    let mut tell = |reading: &Reading, what: &str| match reading {
        Reading::Known(at) => events.push((*at, what.to_owned())),
        Reading::Missing => {}
        Reading::ZoneUnclear(_) | Reading::UnitUnclear(_) | Reading::Unreadable(_) => {
            unclear.push(format!("{what}: {}", shown::line(&reading.to_string())));
        }
    };
    tell(&item.times.created, "created");
    tell(&item.times.first_attempt, "first attempt began");
    tell(&item.times.started, "latest attempt began");
    tell(&item.times.updated, "row last changed");
    match &item.times.lease {
        Lease::EndsAt(end) => tell(end, "lease ends"),
        Lease::Heartbeat { beat, .. } => tell(beat, "last sign of life"),
        Lease::None | Lease::Seconds(_) | Lease::Told(_) => {}
    }
    let effects = row.checked.iter().flat_map(|checked| &checked.judgement.effects);
    for (at, effect) in effects.filter_map(|effect| Some((effect.at?, effect))) {
        events.push((at, format!("provider: {}", effect_told(effect))));
    }
    if events.is_empty() && unclear.is_empty() {
        return;
    }
    events.sort();
    lines.heading("Timeline (UTC)");
    let mut before: Option<DateTime<Utc>> = None;
    for (at, what) in events {
        let gap = before.map(|before| at - before).filter(|gap| gap.num_seconds() > 0);
        let gap = gap.map(|gap| format!("  (+{})", words::short_span(gap))).unwrap_or_default();
        lines.point(&stamp(at), &format!("{what}{gap}"), Style::new());
        before = Some(at);
    }
    for what in unclear {
        lines.point("?", &what, Style::new());
    }
    if Attempts::first_of(item).is_none() {
        lines.point("?", "when the first attempt began is not known", Style::new());
    }
}

fn effect_told(effect: &Effect) -> String {
    let money = effect.money.as_ref().map(|money| format!(" {money}")).unwrap_or_default();
    let state = match effect.state {
        EffectState::Happened => "happened",
        EffectState::Pending => "pending",
        EffectState::Failed => "did not happen",
        EffectState::Unlisted => "status not listed",
    };
    format!("{state}{money}, {} (`{}`)", shown::line(&effect.id), shown::beginning(&effect.status, 40))
}

/// What the provider was asked and what it said.
pub fn lines(model: &Model, checked: &Checked, lines: &mut Lines) {
    lines.heading("Evidence");
    for effect in &checked.judgement.effects {
        lines.point("-", &effect_told(effect), Style::new());
        if let Some(link) = &effect.link {
            lines.point(" ", &shown::line(link), Style::new());
        }
    }
    lines.fact("key", &shown::line(&checked.key.sentence()));
    let Some(evidence) = &checked.evidence else {
        lines.fact("asked", "nobody");
        return;
    };
    asked(evidence, lines);
    for body in &evidence.bodies {
        let text = crate::domain::text::clean_lines(body);
        lines.sentence("answer, secrets hidden:", model.theme.quiet());
        for line in text.iter().take(ANSWER_LINES_MAX) {
            lines.verbatim(line);
        }
        if text.len() > ANSWER_LINES_MAX {
            lines.sentence(
                &format!("({} more lines; the audit has them)", text.len() - ANSWER_LINES_MAX),
                model.theme.quiet(),
            );
        }
    }
}

fn asked(evidence: &Evidence, lines: &mut Lines) {
    let told =
        format!("{} at {}, took {} ms", clean_cut(&evidence.check, 60), stamp(evidence.at), evidence.took_ms);
    lines.fact("asked", &told);
    if let Some(listing) = &evidence.listing {
        let (effects, pages, began) = (listing.effects, listing.pages, stamp(listing.began));
        lines.fact("from a list", &format!("{effects} effects on {pages} pages, begun at {began}"));
    }
    for request in &evidence.asked {
        lines.fact("request", &format!("{} {}", clean_cut(&request.method, 8), shown::line(&request.url)));
        for one in &request.tries {
            let status = match (one.status, one.fault) {
                (Some(status), _) => format!("HTTP {status}"),
                // A database has no statuses: its rows are the answer.
                (None, None) => "answered".to_owned(),
                (None, Some(_)) => "no answer".to_owned(),
            };
            let detail =
                one.detail.as_deref().map(|detail| format!(": {}", shown::line(detail))).unwrap_or_default();
            let size = words::size(one.body_bytes);
            lines.fact("", &format!("{status} after {} ms, {size}{detail}", one.took_ms));
        }
    }
    lines.fact("hash", &clean_cut(&evidence.hash, 64));
}
