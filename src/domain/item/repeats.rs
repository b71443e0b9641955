//! The values that repeat in a page of items, kept once.

use super::{Item, LastError};
use crate::domain::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

/// A column with more different texts than these does not repeat itself: its keys, say.
const DIFFERENT_MAX: usize = 64;

/// Makes the items of a page share the texts that repeat in them: statuses, kinds, errors, columns with few values.
pub fn share_repeats(items: &mut [Item]) {
    let (mut statuses, mut kinds, mut errors) = (Column::default(), Column::default(), Column::default());
    let mut columns: Vec<Column> = Vec::new();
    for item in items {
        statuses.share(&mut item.status);
        kinds.share(&mut item.kind);
        if let LastError::Text(text) = &mut item.last_error {
            errors.share(text);
        }
        columns.resize_with(columns.len().max(item.fields.len()), Column::default);
        for ((_, cell), column) in item.fields.iter_mut().zip(&mut columns) {
            if let Cell::Text(text) = cell {
                column.share(text);
            }
        }
    }
}

#[derive(Default)]
struct Column {
    seen: HashSet<Arc<str>>,
    /// Whether it had more different texts than are looked for again.
    is_varied: bool,
}

impl Column {
    fn share(&mut self, text: &mut Arc<str>) {
        if self.is_varied {
            return;
        }
        if let Some(known) = self.seen.get(text) {
            *text = Arc::clone(known);
            return;
        }
        self.is_varied = self.seen.len() == DIFFERENT_MAX;
        if !self.is_varied {
            self.seen.insert(Arc::clone(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::item::{ItemKey, State, Times};

    fn item(number: usize) -> Item {
        let key = Cell::text(format!("invoice:{number}"));
        Item {
            source: "jobs".into(),
            kind: "jobs".into(),
            status: format!("state-{}", number % 2).into(),
            state: State::Failed,
            attempts: None,
            tried_once: false,
            times: Times::default(),
            last_error: LastError::of("timed out"),
            fields: vec![("key".into(), key.clone()), ("shard".into(), Cell::text("a"))],
            key: ItemKey::new(vec![key]),
            oddities: Vec::new(),
        }
    }

    #[test]
    fn what_repeats_is_shared_and_nothing_is_changed() {
        let before: Vec<Item> = (0..500).map(item).collect();
        let mut items: Vec<Item> = (0..500).map(item).collect();
        share_repeats(&mut items);
        assert_eq!(items, before);
        let (first, last) = (&items[0], &items[498]);
        assert!(Arc::ptr_eq(&first.status, &last.status));
        assert!(!Arc::ptr_eq(&first.status, &items[1].status));
        let text = |item: &Item| match &item.last_error {
            LastError::Text(text) => Arc::clone(text),
            other => panic!("{other:?}"),
        };
        assert!(Arc::ptr_eq(&text(first), &text(last)));
        let shard = |item: &Item| match &item.fields[1].1 {
            Cell::Text(text) => Arc::clone(text),
            other => panic!("{other:?}"),
        };
        assert!(Arc::ptr_eq(&shard(first), &shard(last)));
    }

    #[test]
    fn a_key_is_held_once() {
        let item = item(7);
        let Cell::Text(column) = &item.fields[0].1 else { panic!("{:?}", item.fields) };
        assert!(Arc::ptr_eq(column, &item.key.shared()));
    }
}
