//! Pages of a scan that goes by keys.

use crate::domain::item::Item;
use crate::ports::source::Cursor;

/// A page and where to go on. `others` are those that sort as its last one does where it is full, and those without a
/// whole key where nothing follows it.
pub fn whole_page(mut items: Vec<Item>, others: Vec<Item>, is_full: bool) -> (Vec<Item>, Option<Cursor>) {
    let next = items.last().filter(|_| is_full).map(|last| Cursor::After(last.key.parts.clone()));
    items.retain(|item| !others.iter().any(|other| other.key == item.key));
    items.extend(others);
    (items, next)
}
