//! A page of a whole list, instead of the answer for one reference. Pure.

use super::{Reply, doubts, effects_of, fields, good_document, items, references_of};
use crate::adapters::http::paging::{Further, further};
use crate::domain::evidence::Fault;
use crate::domain::listing::ListedEffect;
use crate::preset::provider::LookUp;
use crate::preset::template::Fields;

/// A page of a list that was asked for nobody in particular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Every effect, with its references and, where it can be read, what it is; `page` is left at 0.
    pub effects: Vec<ListedEffect>,
    /// How many items the page has.
    pub items: usize,
    /// What the page says of further ones.
    pub further: Further,
}

/// Reads one page of a list whose status was an answer.
///
/// Any page may be an absence for somebody, so the signs of a half answer are looked for in each. What cannot be read of a
/// single effect is the fault of its reference alone; where its reference cannot be read, it is the fault of all.
///
/// # Errors
/// The fault that the answer is, as [`super::read_page`] tells it.
pub fn read_list_page(look: &LookUp, vars: &Fields, reply: &Reply) -> Result<ListPage, Fault> {
    let document = good_document(look, reply)?;
    let items = items(&look.effects, &document)?;
    let mut effects = Vec::with_capacity(items.len());
    for item in &items {
        for effect in effects_of(&look.effects, item)? {
            let id = fields::id(&look.effects, effect)?;
            let references = references_of(&look.effects.reference, item, effect, &id)?;
            let reference = references.first().map_or("", String::as_str);
            let read = fields::effect(look, effect, id.clone(), reference, vars);
            effects.push(ListedEffect { id, references, page: 0, read });
        }
    }
    if let Some(fault) = doubts::doubt(look, reply.status, &document) {
        return Err(fault);
    }
    let further = further(&look.paging, &document, &items, reply)?;
    Ok(ListPage { effects, items: items.len(), further })
}
