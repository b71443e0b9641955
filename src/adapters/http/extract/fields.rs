//! The fields of one effect, read without guessing.

use super::{shape, shown};
use crate::domain::cell::Cell;
use crate::domain::evidence::{Effect, Fault};
use crate::domain::moment::{self, Reading};
use crate::domain::money::Money;
use crate::preset::provider::{
    AmountPlace, CurrencyPlace, EffectTimeFormat, EffectsPlace, LinkPlace, LookUp, Place, StatusPlace,
    TimePlace,
};
use crate::preset::template::Fields;
use chrono::{DateTime, Utc};
use serde_json::Value;

const LINK_CHARS_MAX: usize = 2_000;
/// A longer id is none: ids go on record and into every output as they are.
const ID_CHARS_MAX: usize = 500;

/// The effect's id: a text or a number, neither empty nor very long.
pub(super) fn id(place: &EffectsPlace, effect: &Value) -> Result<String, Fault> {
    match single(&place.id, effect)?.map(plain_text) {
        Some(Some(id)) if id.chars().nth(ID_CHARS_MAX).is_some() => {
            Err(shape(format!("an effect's id is longer than {ID_CHARS_MAX} characters: {}", shown(&id))))
        }
        Some(Some(id)) if !id.is_empty() => Ok(id),
        Some(_) => Err(shape(format!("an effect's id (`{}`) is no text and no number", place.id.source()))),
        None => Err(shape(format!("an effect has no id (`{}` is missing)", place.id.source()))),
    }
}

/// Everything of an effect that is ours.
pub(super) fn effect(
    look: &LookUp,
    effect: &Value,
    id: String,
    reference: &str,
    vars: &Fields,
) -> Result<Effect, Fault> {
    let place = &look.effects;
    let status = status(&place.status, effect, &id)?;
    Ok(Effect {
        state: look.state_of(&status),
        status,
        money: place.amount.as_ref().map(|amount| money(amount, effect, &id)).transpose()?,
        at: place.time.as_ref().map(|time| time_of(time, effect, &id)).transpose()?.flatten(),
        link: place.link.as_ref().and_then(|link| link_of(link, effect, &id, reference, vars)),
        id,
    })
}

fn status(place: &StatusPlace, effect: &Value, id: &str) -> Result<String, Fault> {
    let place = match place {
        StatusPlace::Fixed(word) => return Ok(word.clone()),
        StatusPlace::At(place) => place,
    };
    let found = single(place, effect)?;
    let text = match found {
        Some(Value::Bool(truth)) => Some(truth.to_string()),
        Some(other) => plain_text(other),
        None => None,
    };
    text.ok_or_else(|| shape(format!("effect {} has no readable status (`{}`)", shown(id), place.source())))
}

fn money(place: &AmountPlace, effect: &Value, id: &str) -> Result<Money, Fault> {
    let wrong = |what: String| shape(format!("the amount of effect {}: {what}", shown(id)));
    let amount = single(&place.place, effect)?
        .and_then(plain_text)
        .ok_or_else(|| wrong(format!("`{}` holds none", place.place.source())))?;
    let currency = match &place.currency {
        CurrencyPlace::Fixed(code) => Some(code.clone()),
        CurrencyPlace::At(place) => single(place, effect)?.and_then(Value::as_str).map(str::to_owned),
    };
    Money::told(&amount, currency.as_deref(), place.unit).map_err(wrong)
}

/// A missing time is none (a message that is not sent yet has no time of sending); an unreadable one is a fault.
fn time_of(place: &TimePlace, effect: &Value, id: &str) -> Result<Option<DateTime<Utc>>, Fault> {
    let Some(found) = single(&place.place, effect)? else { return Ok(None) };
    let wrong = |what: String| shape(format!("the time of effect {}: {what}", shown(id)));
    let Some(text) = plain_text(found) else {
        return Err(wrong(format!("`{}` is no text and no number", place.place.source())));
    };
    let format = match place.format {
        EffectTimeFormat::Plain(format) => format,
        EffectTimeFormat::Rfc2822 => {
            return DateTime::parse_from_rfc2822(&text)
                .map(|at| Some(at.with_timezone(&Utc)))
                .map_err(|_| wrong(format!("`{}` is no mail date", shown(&text))));
        }
    };
    match moment::read(&Cell::text(text), format, place.zone) {
        Reading::Known(at) => Ok(Some(at)),
        other @ (Reading::Missing
        | Reading::ZoneUnclear(_)
        | Reading::UnitUnclear(_)
        | Reading::Unreadable(_)) => Err(wrong(format!("`{other}`"))),
    }
}

/// A link is a convenience: one that is not http is left out.
fn link_of(place: &LinkPlace, effect: &Value, id: &str, reference: &str, vars: &Fields) -> Option<String> {
    let link = match place {
        LinkPlace::At(place) => single(place, effect).ok().flatten()?.as_str()?.to_owned(),
        LinkPlace::Made(template) => {
            let mut fields = vars.clone();
            fields.insert("id".to_owned(), id.into());
            fields.insert("reference".to_owned(), reference.into());
            template.render(&fields).ok()?
        }
    };
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    (is_web && link.chars().count() <= LINK_CHARS_MAX).then_some(link)
}

/// The one node at a place; `None` where there is none or null.
pub(in crate::adapters::http) fn single<'value>(
    place: &Place,
    value: &'value Value,
) -> Result<Option<&'value Value>, Fault> {
    match place.all(value)[..] {
        [] | [Value::Null] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(shape(format!("`{}` selects several values", place.source()))),
    }
}

/// A text as it is, a number digit for digit; `None` for everything else.
pub(in crate::adapters::http) fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
