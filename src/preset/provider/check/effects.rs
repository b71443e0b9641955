//! Checks of where the effects are.

use super::At;
use crate::domain::moment::{TimeFormat, Zone};
use crate::domain::money::Unit;
use crate::preset::provider::file::{EffectsFile, TimeFormatFile};
use crate::preset::provider::{
    AmountPlace, CurrencyPlace, EffectTimeFormat, EffectsPlace, ItemsPlace, LinkPlace, ReferencePlace,
    StatusPlace, TimePlace,
};
use crate::preset::template::{Fields, Template};
use chrono::FixedOffset;
use minijinja::value::Value;
use std::collections::BTreeMap;

pub(super) fn effects(at: At<'_>, file: &EffectsFile) -> Result<EffectsPlace, String> {
    Ok(EffectsPlace {
        items: items(at, file)?,
        list_left_out_when_empty: left_out_when_empty(at, file)?,
        each: at.place_if("effects.each", file.each.as_ref())?,
        id: at.place("effects.id", &file.id)?,
        reference: reference(at, file)?,
        reference_template: reference_template(at, file)?,
        reference_chars_max: at.at_least_one("effects.reference_chars_max", file.reference_chars_max)?,
        status: status(at, file)?,
        amount: amount(at, file)?,
        time: time(at, file)?,
        link: link(at, file)?,
    })
}

fn items(at: At<'_>, file: &EffectsFile) -> Result<ItemsPlace, String> {
    match (&file.list, &file.one) {
        (Some(list), None) => at.place("effects.list", list).map(ItemsPlace::List),
        (None, Some(one)) => at.place("effects.one", one).map(ItemsPlace::One),
        _ => Err(at.wrong("effects.list", "say either `list` (an array) or `one` (an object)")),
    }
}

fn reference(at: At<'_>, file: &EffectsFile) -> Result<ReferencePlace, String> {
    let may_be_missing = file.reference_may_be_missing;
    match (&file.reference, file.reference_in_address, file.reference_in_item) {
        (Some(text), false, in_item) => {
            let place = at.place("effects.reference", &with_any_names(at, text)?)?;
            if in_item && file.each.is_none() {
                return Err(at.wrong("effects.reference_in_item", "it goes with `each`"));
            }
            Ok(if in_item {
                ReferencePlace::InItem { place, may_be_missing }
            } else {
                ReferencePlace::InEffect { place, may_be_missing }
            })
        }
        (None, true, false) if !may_be_missing => Ok(ReferencePlace::InAddress),
        (None, false, _) => Err(at.wrong(
            "effects.reference",
            "it is missing: an effect that cannot be matched to our reference proves nothing",
        )),
        _ => Err(at.wrong("effects.reference", "say either where it is or `reference_in_address = true`")),
    }
}

fn left_out_when_empty(at: At<'_>, file: &EffectsFile) -> Result<bool, String> {
    if file.list_left_out_when_empty && file.list.is_none() {
        return Err(at.wrong("effects.list_left_out_when_empty", "it goes with `list`"));
    }
    Ok(file.list_left_out_when_empty)
}

fn reference_template(at: At<'_>, file: &EffectsFile) -> Result<Option<Template>, String> {
    match &file.reference {
        Some(text) if text.contains("{{") => at.template("effects.reference", text).map(Some),
        _ => Ok(None),
    }
}

/// The path with some name in place of each that a configuration will fill in, to see whether it can be a path at all.
fn with_any_names(at: At<'_>, text: &str) -> Result<String, String> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let names: BTreeMap<String, Value> =
        at.variables.keys().map(|name| (name.clone(), Value::from("name"))).collect();
    at.template("effects.reference", text)?
        .render(&Fields::from([("vars".to_owned(), names.into())]))
        .map_err(|sentence| at.wrong("effects.reference", sentence))
}

fn status(at: At<'_>, file: &EffectsFile) -> Result<StatusPlace, String> {
    match (&file.status, &file.status_fixed) {
        (Some(text), None) => at.place("effects.status", text).map(StatusPlace::At),
        (None, Some(word)) if !word.is_empty() => Ok(StatusPlace::Fixed(word.clone())),
        _ => Err(at.wrong(
            "effects.status",
            "say where it is, or `status_fixed` with a listed word where existing is the effect",
        )),
    }
}

fn amount(at: At<'_>, file: &EffectsFile) -> Result<Option<AmountPlace>, String> {
    let Some(text) = &file.amount else {
        let alone = file.currency.is_some() || file.currency_fixed.is_some() || file.unit.is_some();
        return if alone { Err(at.wrong("effects.amount", "it is missing")) } else { Ok(None) };
    };
    let unit: Unit = at.needed("effects.unit", file.unit)?;
    let currency = match (&file.currency, &file.currency_fixed) {
        (Some(text), None) => CurrencyPlace::At(at.place("effects.currency", text)?),
        (None, Some(code)) if code.len() == 3 => CurrencyPlace::Fixed(code.clone()),
        _ => {
            return Err(
                at.wrong("effects.currency", "say either where it is or `currency_fixed` (three letters)")
            );
        }
    };
    Ok(Some(AmountPlace { place: at.place("effects.amount", text)?, currency, unit }))
}

fn time(at: At<'_>, file: &EffectsFile) -> Result<Option<TimePlace>, String> {
    let Some(text) = &file.time else {
        let alone = file.time_format.is_some() || file.time_zone.is_some();
        return if alone { Err(at.wrong("effects.time", "it is missing")) } else { Ok(None) };
    };
    let format = match at.needed("effects.time_format", file.time_format)? {
        TimeFormatFile::Iso => EffectTimeFormat::Plain(TimeFormat::Iso),
        TimeFormatFile::EpochS => EffectTimeFormat::Plain(TimeFormat::EpochS),
        TimeFormatFile::EpochMs => EffectTimeFormat::Plain(TimeFormat::EpochMs),
        TimeFormatFile::EpochUs => EffectTimeFormat::Plain(TimeFormat::EpochUs),
        TimeFormatFile::EpochNs => EffectTimeFormat::Plain(TimeFormat::EpochNs),
        TimeFormatFile::Rfc2822 => EffectTimeFormat::Rfc2822,
    };
    let zone = zone_of(at, "effects.time_zone", file.time_zone.as_deref())?;
    Ok(Some(TimePlace { place: at.place("effects.time", text)?, format, zone }))
}

/// The zone of times that name none.
pub(super) fn zone_of(at: At<'_>, field: &str, text: Option<&str>) -> Result<Zone, String> {
    match text {
        None | Some("UTC") => Ok(Zone::Utc),
        Some(offset) => offset
            .parse::<FixedOffset>()
            .map(Zone::Fixed)
            .map_err(|_| at.wrong(field, "write \"UTC\" or an offset such as \"-03:00\"")),
    }
}

fn link(at: At<'_>, file: &EffectsFile) -> Result<Option<LinkPlace>, String> {
    match (&file.link, &file.link_path) {
        (None, None) => Ok(None),
        (Some(text), None) => at.template("effects.link", text).map(|made| Some(LinkPlace::Made(made))),
        (None, Some(text)) => at.place("effects.link_path", text).map(|place| Some(LinkPlace::At(place))),
        (Some(_), Some(_)) => Err(at.wrong("effects.link", "say either `link` or `link_path`")),
    }
}
