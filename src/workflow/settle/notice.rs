//! What an escalation hands on.

use crate::domain::decision::Reason;
use crate::domain::evidence::{Effect, EffectState};
use crate::domain::item::Row;
use crate::domain::moment::stamp;
use crate::ports::escalation::{EFFECTS_TOLD_MAX, Notice, NoticeEffect};
use crate::workflow::check::Checked;
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use sha2::{Digest, Sha256};

/// Everything that whoever takes over needs, in the words of the record. `audit` is the entry of the intent.
pub(super) fn notice(
    desk: &Desk,
    found: &Found,
    checked: &Checked,
    seen: &Row,
    reason: &Reason,
    audit: i64,
) -> Notice {
    let item = &found.finding.item;
    let effects = &checked.judgement.effects;
    Notice {
        dedup_key: dedup_key(&item.source, item.key.as_str(), seen),
        source: item.source.to_string(),
        key: item.key.as_str().to_owned(),
        kind: item.kind.to_string(),
        status: item.status.to_string(),
        finding: found.finding.kind.as_str().to_owned(),
        verdict: checked.verdict().as_str().to_owned(),
        provider: checked.evidence.as_ref().map(|evidence| evidence.check.clone()).unwrap_or_default(),
        reference: found.reference.as_deref().unwrap_or_default().to_owned(),
        reasons: checked.judgement.reasons.clone(),
        effects_count: checked.judgement.happened_count(),
        effect_ids: effects.iter().map(|effect| effect.id.clone()).collect(),
        effects: effects.iter().take(EFFECTS_TOLD_MAX).map(told).collect(),
        operator: desk.operator.name.to_string(),
        reason: reason.as_str().to_owned(),
        audit,
    }
}

fn told(effect: &Effect) -> NoticeEffect {
    let state = match effect.state {
        EffectState::Happened => "happened",
        EffectState::Pending => "pending",
        EffectState::Failed => "failed",
        EffectState::Unlisted => "unlisted",
    };
    NoticeEffect {
        id: effect.id.clone(),
        status: effect.status.clone(),
        state: state.to_owned(),
        // With as many digits as the currency has.
        amount: effect
            .money
            .as_ref()
            .map(|money| money.to_string().split(' ').next().unwrap_or("").to_owned()),
        currency: effect.money.as_ref().and_then(|money| money.currency.clone()),
        at: effect.at.map(stamp),
        link: effect.link.clone(),
    }
}

/// The same for the same item in the same condition: whoever escalates it again repeats nothing.
fn dedup_key(source: &str, key: &str, seen: &Row) -> String {
    let text = format!("{source}\n{key}\n{}", seen.to_json());
    format!("unstuck-{}", &crate::domain::cell::hex(&Sha256::digest(text.as_bytes()))[..32])
}
