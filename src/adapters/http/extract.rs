//! From an answer's bytes to effects, or to the fault that it is. Pure: no network, no clock.
//!
//! Everything here errs to one side: what is not exactly as the preset describes is a fault, and a fault is `unknown`.

mod doubts;
pub(super) mod fields;
mod json;
mod list;
mod told;

pub use list::{ListPage, read_list_page};
pub use told::{PageTold, TellEffect, document_of, matching, read_nodes, tell};

use crate::adapters::http::paging::Further;
use crate::domain::evidence::{Effect, Fault, FaultKind};
use crate::domain::text::clean_cut;
use crate::preset::provider::{
    Absence, BodyTest, Confirm, EffectsPlace, ItemsPlace, LookUp, Method, Must, Place, ReferencePlace,
};
use crate::preset::template::Fields;
use serde_json::{Map, Value};

/// How much of an outside text a fault repeats.
const SHOWN_CHARS_MAX: usize = 80;

/// A whole answer as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers, names in small letters, in order.
    pub headers: Vec<(String, String)>,
    /// The bytes.
    pub body: Vec<u8>,
}

impl Reply {
    /// The first header of a name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What a good page holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The effects that carry exactly our reference.
    pub effects: Vec<Effect>,
    /// How many items the page has, ours or not.
    pub items: usize,
    /// Whether one of its effects carries a reference, ours or not.
    pub carries_references: bool,
    /// The ids of all its effects in order: two pages with the same ones are the same page.
    pub ids: Vec<String>,
    /// What the page says of further ones.
    pub further: Further,
}

/// Whether a status is an answer at all, and which fault it is where not.
///
/// Only 200 is; and a 404 where the preset says that it is an absence, on the first page.
pub fn status_fault(look: &LookUp, reply: &Reply, is_first_page: bool) -> Option<Fault> {
    let kind = match reply.status {
        200 => return None,
        404 if is_first_page && matches!(look.absence, Absence::Status404(_)) => return None,
        408 => FaultKind::Timeout,
        429 => FaultKind::RateLimited,
        403 if reply.header("retry-after").is_some()
            || reply.header("x-ratelimit-remaining") == Some("0") =>
        {
            FaultKind::RateLimited
        }
        300..=399 => FaultKind::Redirect,
        400..=499 => FaultKind::Refused,
        500..=599 => FaultKind::ServerError,
        _ => FaultKind::Shape,
    };
    Some(Fault::new(kind, status_sentence(kind, reply)))
}

fn status_sentence(kind: FaultKind, reply: &Reply) -> String {
    let status = reply.status;
    if kind == FaultKind::Redirect {
        let target = reply.header("location").map_or("nowhere", |target| target);
        return format!("the provider answered {status}, pointing to {}; nothing is followed", shown(target));
    }
    if kind == FaultKind::RateLimited {
        return format!("the provider answered {status}: too many questions");
    }
    if status == 404 {
        return "the provider answered 404 where that is no absence: is the address right?".to_owned();
    }
    format!("the provider answered {status}")
}

/// Reads one page whose status was an answer.
///
/// # Errors
/// The fault that the answer is: an error told inside a 200, or a shape that the preset does not describe.
pub fn read_page(look: &LookUp, reference: &str, vars: &Fields, reply: &Reply) -> Result<Page, Fault> {
    if reply.status == 404 {
        return absence(look, reply);
    }
    let document = good_document(look, reply)?;
    let items = items(&look.effects, &document)?;
    let mut effects = Vec::new();
    let mut ids = Vec::with_capacity(items.len());
    let mut carries_references = false;
    for item in &items {
        for effect in effects_of(&look.effects, item)? {
            let id = fields::id(&look.effects, effect)?;
            if is_ours(&look.effects.reference, item, effect, reference, &id)? {
                effects.push(fields::effect(look, effect, id.clone(), reference, vars)?);
            } else if matches!(look.effects.items, ItemsPlace::One(_)) {
                // Something is at our own address and is not ours: neither a presence nor an absence.
                return Err(shape(format!(
                    "effect {} is at our own address without our reference",
                    shown(&id)
                )));
            }
            carries_references |= carries(&look.effects.reference, item, effect);
            ids.push(id);
        }
    }
    if effects.is_empty()
        && let Some(fault) = doubts::doubt(look, reply.status, &document)
    {
        return Err(fault);
    }
    let further = crate::adapters::http::paging::further(&look.paging, &document, &items, reply)?;
    Ok(Page { effects, items: items.len(), carries_references, ids, further })
}

/// Whether what must be there beside a 404 is there, its status being a 200 already.
///
/// # Errors
/// A fault of refusal, which of the preset's tests does not hold.
pub fn confirms(confirm: &Confirm, reply: &Reply) -> Result<(), Fault> {
    if confirm.success.is_empty() {
        return Ok(());
    }
    let document = document(&confirm.method, reply)?;
    match confirm.success.iter().find(|test| !holds(test, &document)) {
        None => Ok(()),
        Some(broken) => Err(Fault::new(FaultKind::Refused, failed_test(broken, &document))),
    }
}

/// The document of an answer that says of itself that it is a good one.
fn good_document(look: &LookUp, reply: &Reply) -> Result<Value, Fault> {
    let document = document(&look.request.method, reply)?;
    match look.success.iter().find(|test| !holds(test, &document)) {
        None => Ok(document),
        Some(broken) => {
            let why = failed_test(broken, &document);
            let sentence = format!("the answer is an error inside a {}: {why}", reply.status);
            Err(Fault::new(FaultKind::ErrorInAnswer, sentence))
        }
    }
}

fn absence(look: &LookUp, reply: &Reply) -> Result<Page, Fault> {
    let nothing = Page {
        effects: Vec::new(),
        items: 0,
        carries_references: false,
        ids: Vec::new(),
        further: Further::NONE,
    };
    let Absence::Status404(tests) = &look.absence else {
        return Err(shape("a 404 that is no absence"));
    };
    if tests.is_empty() {
        return Ok(nothing);
    }
    let document = json::parse(&reply.body).map_err(|_| {
        Fault::new(
            FaultKind::Refused,
            "a 404 that is not the provider's own (no JSON): is the address right?",
        )
    })?;
    match tests.iter().find(|test| !holds(test, &document)) {
        None => Ok(nothing),
        Some(broken) => {
            let why = failed_test(broken, &document);
            Err(Fault::new(FaultKind::Refused, format!("a 404 that is not the provider's own: {why}")))
        }
    }
}

/// The body, or the headers of a HEAD, as one JSON document.
fn document(method: &Method, reply: &Reply) -> Result<Value, Fault> {
    if *method == Method::Head {
        let headers: Map<String, Value> =
            reply.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        return Ok(Value::Object(Map::from_iter([("headers".to_owned(), Value::Object(headers))])));
    }
    if let Some(encoding) = reply.header("content-encoding").filter(|encoding| *encoding != "identity") {
        return Err(shape(format!("the answer is packed ({}), and nobody asked for that", shown(encoding))));
    }
    json::parse(&reply.body).map_err(shape)
}

fn holds(test: &BodyTest, document: &Value) -> bool {
    let found = test.place.all(document);
    match &test.must {
        Must::Exist => found.iter().any(|node| !node.is_null()),
        Must::NotExist => found.iter().all(|node| node.is_null()),
        Must::Equal(wanted) => matches!(found[..], [only] if only == wanted),
    }
}

fn failed_test(test: &BodyTest, document: &Value) -> String {
    let found = test.place.all(document);
    let is = match found[..] {
        [] => "not there".to_owned(),
        [only] => format!("`{}`", shown(&only.to_string())),
        _ => "there several times".to_owned(),
    };
    format!("`{}` is {is}", test.place.source())
}

fn items<'document>(
    place: &EffectsPlace,
    document: &'document Value,
) -> Result<Vec<&'document Value>, Fault> {
    match &place.items {
        ItemsPlace::List(list) => match list.all(document)[..] {
            [Value::Array(items)] => Ok(items.iter().collect()),
            [_] => Err(shape(format!("`{}` is no list", list.source()))),
            [] if place.list_left_out_when_empty && is_empty_object(document) => Ok(Vec::new()),
            [] => Err(shape(format!("`{}` is not in the answer", list.source()))),
            _ => Err(shape(format!("`{}` is in the answer several times", list.source()))),
        },
        ItemsPlace::One(one) => match one.all(document)[..] {
            [item @ Value::Object(_)] => Ok(vec![item]),
            _ => Err(shape(format!("`{}` is not one object", one.source()))),
        },
    }
}

fn is_empty_object(document: &Value) -> bool {
    document.as_object().is_some_and(Map::is_empty)
}

fn effects_of<'item>(place: &EffectsPlace, item: &'item Value) -> Result<Vec<&'item Value>, Fault> {
    let effects = match &place.each {
        None => vec![item],
        Some(each) => each.all(item),
    };
    match effects.iter().find(|effect| !effect.is_object()) {
        Some(other) => Err(shape(format!("an effect is no object: `{}`", shown(&other.to_string())))),
        None => Ok(effects),
    }
}

/// Whether an effect carries exactly our reference.
///
/// One that is ours but for case or outer spaces is a fault: somebody changed references on the way, and then the
/// absence of ours proves nothing.
fn is_ours(
    place: &ReferencePlace,
    item: &Value,
    effect: &Value,
    ours: &str,
    id: &str,
) -> Result<bool, Fault> {
    if *place == ReferencePlace::InAddress {
        return Ok(true);
    }
    for theirs in references_of(place, item, effect, id)? {
        if theirs == ours {
            return Ok(true);
        }
        if theirs.trim().to_lowercase() == ours.trim().to_lowercase() {
            return Err(shape(format!(
                "effect {} carries `{}`, almost our reference: are references changed on the way?",
                shown(id),
                shown(&theirs)
            )));
        }
    }
    Ok(false)
}

/// Every reference that an effect carries; none where it may have none.
fn references_of(
    place: &ReferencePlace,
    item: &Value,
    effect: &Value,
    id: &str,
) -> Result<Vec<String>, Fault> {
    let Some((place, node, may_be_missing)) = sought(place, item, effect) else { return Ok(Vec::new()) };
    let found = place.all(node).into_iter().filter(|found| !found.is_null());
    let references = found
        .map(|found| {
            fields::plain_text(found)
                .ok_or_else(|| shape(format!("the reference of effect {} is no text", shown(id))))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if references.is_empty() && !may_be_missing {
        return Err(shape(format!(
            "effect {} carries no reference (`{}` is missing)",
            shown(id),
            place.source()
        )));
    }
    Ok(references)
}

/// Whether an effect carries any reference at all.
fn carries(place: &ReferencePlace, item: &Value, effect: &Value) -> bool {
    sought(place, item, effect)
        .is_none_or(|(place, node, _)| place.all(node).iter().any(|found| !found.is_null()))
}

/// Where a reference is looked for and in what, and whether it may be missing; `None` where the address alone has it.
fn sought<'a>(
    place: &'a ReferencePlace,
    item: &'a Value,
    effect: &'a Value,
) -> Option<(&'a Place, &'a Value, bool)> {
    match place {
        ReferencePlace::InAddress => None,
        ReferencePlace::InEffect { place, may_be_missing } => Some((place, effect, *may_be_missing)),
        ReferencePlace::InItem { place, may_be_missing } => Some((place, item, *may_be_missing)),
    }
}

/// A fault of shape.
pub(super) fn shape(sentence: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Shape, sentence)
}

/// An outside text as a fault repeats it.
pub(super) fn shown(text: &str) -> String {
    clean_cut(text, SHOWN_CHARS_MAX)
}

#[cfg(test)]
mod tests;
