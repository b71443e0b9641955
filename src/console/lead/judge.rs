//! What is missing or cannot be right among the answers of the first run, told where it was typed.

use super::message::{Needs, Told, Tried};
use super::model::{Field, Lead, Page};
use crate::domain::text::{clean_cut, is_variable_name};
use tui_input::Input;
use url::Url;

/// What stands between a scheme and the rest of an address.
const AFTER_SCHEME: &str = "://";

/// The first question that must be answered and is not: its place, and what to say.
pub(super) fn missing(lead: &Lead, page: &Page) -> Option<(usize, String)> {
    let Page::Kind(at) = page else { return None };
    let kind = lead.kinds.get(*at)?;
    let offer = lead.chosen(kind);
    let form = offer.and_then(|offer| lead.providers.get(&offer.preset));
    let is_empty = |input: Option<&Input>| input.is_none_or(|input| input.value().trim().is_empty());
    lead.fields(page).iter().enumerate().find_map(|(number, field)| {
        let what = match field {
            Field::Provider if lead.matches(kind).is_empty() => {
                Some("no provider is called like that".to_owned())
            }
            Field::Place if is_empty(form.map(|form| &form.place)) => {
                Some(match offer.map(|offer| &offer.needs) {
                    Some(Needs::Database) => "its database's address is missing".to_owned(),
                    Some(Needs::BaseUrl(_)) | None => "its address is missing".to_owned(),
                })
            }
            Field::Variable(name) => {
                let is_required = offer?.variables.iter().any(|one| one.name == *name && one.is_required);
                let is_missing = is_required && is_empty(form.and_then(|form| form.variables.get(name)));
                is_missing.then(|| format!("`{name}` is missing"))
            }
            Field::Reference if is_empty(Some(&kind.reference)) => {
                Some("the reference is missing".to_owned())
            }
            Field::Password
            | Field::Provider
            | Field::Place
            | Field::Secret
            | Field::Risk
            | Field::Reference => None,
        };
        Some((number, what?))
    })
}

/// Why an answer cannot be right. What is missing is another matter.
pub(super) fn wrong(lead: &Lead, page: &Page, field: &Field) -> Option<Told> {
    let at = match page {
        Page::Password(address) => return wrong_name(lead.passwords.get(address)?.value()),
        Page::Kind(at) => *at,
    };
    let kind = lead.kinds.get(at)?;
    let offer = lead.chosen(kind);
    let form = offer.and_then(|offer| lead.providers.get(&offer.preset));
    match field {
        Field::Place => wrong_place(form?.place.value(), &offer?.needs),
        Field::Secret => wrong_name(form?.secret.value()),
        Field::Reference => match &kind.preview {
            Some(Tried::Wrong(told)) => Some(told.clone()),
            // The last step refuses what was not tried by then.
            Some(Tried::Shown(_) | Tried::Untried(_)) | None => None,
        },
        Field::Password | Field::Provider | Field::Variable(_) | Field::Risk => None,
    }
}

/// Why a text is no name of an environment variable; an empty one names none.
fn wrong_name(typed: &str) -> Option<Told> {
    let name = typed.trim();
    if name.is_empty() || is_variable_name(name) {
        return None;
    }
    // It may be the secret itself, so it is not repeated.
    Some(Told {
        what: "that is no name of an environment variable".to_owned(),
        do_next: "Write its name, as in BILLING_TOKEN: letters, digits and _. Never the secret itself."
            .to_owned(),
    })
}

/// Why a text is nobody's address.
fn wrong_place(typed: &str, needs: &Needs) -> Option<Told> {
    let place = typed.trim();
    let told = |what: String, do_next: &str| Some(Told { what, do_next: do_next.to_owned() });
    if place.is_empty() {
        return None;
    }
    if place.matches(AFTER_SCHEME).count() > 1 {
        return told(
            "that is two addresses in one".to_owned(),
            "Keep one of them: Ctrl-U takes out what is before the cursor.",
        );
    }
    match needs {
        Needs::Database => None,
        Needs::BaseUrl(_) => match Url::parse(place) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => None,
            Ok(url) if !url.has_host() || !place.contains(AFTER_SCHEME) => told(
                format!("`{}` is no address", clean_cut(place, 60)),
                "Write it whole, as in https://api.example.com.",
            ),
            Ok(url) => told(
                format!("`{}` is not asked over HTTP", clean_cut(url.scheme(), 20)),
                "Write an address that begins with https:// (or http://).",
            ),
            Err(fault) => told(
                format!("`{}` is no address ({fault})", clean_cut(place, 60)),
                "Write it whole, as in https://api.example.com.",
            ),
        },
    }
}
