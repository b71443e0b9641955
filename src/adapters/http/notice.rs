//! A notice as templates see it, and what an answer to one amounts to.

use crate::adapters::http::client::Tried;
use crate::adapters::http::secret::SecretKeeper;
use crate::domain::decision::Reason;
use crate::domain::evidence::FaultKind;
use crate::domain::text::{clean, clean_cut, escape_bytes};
use crate::ports::escalation::{NotTaken, Notice, NoticeEffect};
use crate::preset::template::Fields;

/// The most bytes of the receiver's answer that are read.
pub(super) const BODY_BYTES_MAX: usize = 16 * 1024;
const SHOWN_CHARS_MAX: usize = 200;
/// How long the lines of all effects may be alone, and the whole text: Slack takes 3,000 characters in a block.
const EFFECTS_CHARS_MAX: usize = 1_200;
const DETAILS_CHARS_MAX: usize = 2_800;
/// How long a name or a word may be in the whole text: what stands for itself is the reasons and the effects.
const WORD_CHARS_MAX: usize = 100;
/// How long the verdict's reasons may be in the whole text. The operator's is there whole.
const REASONS_CHARS_MAX: usize = 600;

/// The fields of a notice by their names.
pub(super) fn fields(notice: &Notice) -> Fields {
    let effects = lines(notice);
    let texts = [
        ("dedup_key", notice.dedup_key.clone()),
        ("source", notice.source.clone()),
        ("key", notice.key.clone()),
        ("kind", notice.kind.clone()),
        ("status", notice.status.clone()),
        ("finding", notice.finding.clone()),
        ("verdict", notice.verdict.clone()),
        ("provider", notice.provider.clone()),
        ("reference", notice.reference.clone()),
        ("effects_count", notice.effects_count.to_string()),
        ("effect_ids", notice.effect_ids.join(", ")),
        ("details", details(notice, &effects)),
        ("effects", cut(effects, EFFECTS_CHARS_MAX)),
        ("reasons", clean_cut(&notice.reasons.join(" "), EFFECTS_CHARS_MAX)),
        ("operator", notice.operator.clone()),
        ("reason", notice.reason.clone()),
        ("audit", notice.audit.to_string()),
        ("summary", summary(notice)),
    ];
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect()
}

fn summary(notice: &Notice) -> String {
    let verdict = if notice.verdict.is_empty() { "not checked" } else { &notice.verdict };
    clean_cut(&format!("{} {} is {}: {verdict}", notice.source, notice.key, notice.finding), SHOWN_CHARS_MAX)
}

/// Everything that somebody needs who was not there, in lines. What is cut where it is too long is the effects.
fn details(notice: &Notice, effects: &str) -> String {
    let shown = |text: &str| clean_cut(text, WORD_CHARS_MAX);
    let asked = match (notice.provider.as_str(), notice.reference.as_str()) {
        ("", _) => "Nobody was asked.".to_owned(),
        (provider, reference) => format!("Asked: {} for {}", shown(provider), shown(reference)),
    };
    let happened = match notice.effects_count {
        0 => "No effect is known to have happened.".to_owned(),
        1 => "One effect happened.".to_owned(),
        many => format!("{many} effects happened under one reference: all but one may have to be undone."),
    };
    let before = [
        format!(
            "Item: {} {} ({}), status {}",
            shown(&notice.source),
            shown(&notice.key),
            shown(&notice.kind),
            shown(&notice.status)
        ),
        format!("Finding: {}; verdict: {}", shown(&notice.finding), shown(&notice.verdict)),
        clean_cut(&notice.reasons.join(" "), REASONS_CHARS_MAX),
        format!("{}: {}", shown(&notice.operator), clean_cut(&notice.reason, Reason::CHARS_MAX)),
        asked,
        happened,
    ];
    let after = format!("Audit entry {}, key {}", notice.audit, shown(&notice.dedup_key));
    let chars = |text: &String| text.chars().count() + 1;
    let taken = before.iter().map(chars).sum::<usize>() + chars(&after);
    let effects = cut(effects.to_owned(), DETAILS_CHARS_MAX.saturating_sub(taken + 1));
    let lines = before.into_iter().chain([effects, after]).filter(|line| !line.is_empty());
    cut(lines.collect::<Vec<_>>().join("\n"), DETAILS_CHARS_MAX)
}

/// Each effect in a line: id, status and what it amounts to, amount, time, link.
fn lines(notice: &Notice) -> String {
    let line = |effect: &NoticeEffect| {
        let money = effect.amount.as_ref().map(|amount| match &effect.currency {
            Some(currency) => format!("{amount} {currency}"),
            None => amount.clone(),
        });
        let mut parts = vec![format!("{} {} ({})", effect.id, effect.status, effect.state)];
        parts.extend([money, effect.at.clone(), effect.link.clone()].into_iter().flatten());
        clean_cut(&parts.join(", "), SHOWN_CHARS_MAX)
    };
    let mut lines: Vec<String> = notice.effects.iter().map(line).collect();
    let left_out = notice.effect_ids.len().saturating_sub(notice.effects.len());
    if left_out > 0 {
        lines.push(format!("and {left_out} more"));
    }
    lines.join("\n")
}

fn cut(text: String, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What kept an answer from saying that a notice was taken, and whether it may have arrived all the same.
pub(super) fn not_taken(name: &str, tried: &Tried, secret: &SecretKeeper) -> NotTaken {
    let kind = match (tried.reply.status, &tried.fault) {
        (429, _) => FaultKind::RateLimited,
        (500..=599, _) => FaultKind::ServerError,
        (0, Some(fault)) => fault.kind,
        (_, _) => FaultKind::Refused,
    };
    NotTaken::new(why_not_taken(name, tried, secret), kind)
}

fn why_not_taken(name: &str, tried: &Tried, secret: &SecretKeeper) -> String {
    let status = tried.reply.status;
    let said = || {
        let text = secret.masked(&escape_bytes(&tried.reply.body));
        let shown = clean_cut(text.trim(), SHOWN_CHARS_MAX);
        if shown.is_empty() { String::new() } else { format!(" ({shown})") }
    };
    let not = "it was not taken";
    let maybe = "it may have arrived";
    match (status, &tried.fault) {
        (300..=399, _) => format!("{name} answered {status}, pointing elsewhere; {not}"),
        (408 | 409, _) => format!("{name} answered {status}{}; {maybe}", said()),
        (400..=499, _) => format!("{name} answered {status}{}; {not}", said()),
        (0, Some(fault)) if tried.never_left => {
            format!("{}; it surely did not arrive", secret.masked(&fault.detail))
        }
        (0, Some(fault)) => format!("{}; {maybe}", secret.masked(&fault.detail)),
        (other, _) => format!("{name} answered {other}{}; {maybe}", said()),
    }
}

/// An outside text of an answer, as the record keeps it.
pub(super) fn shown(text: &str, secret: &SecretKeeper) -> String {
    clean(&clean_cut(&secret.masked(text), SHOWN_CHARS_MAX))
}
