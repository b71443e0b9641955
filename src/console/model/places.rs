//! Which row an identity has: a table of row numbers alone, for the rows have the identities already.

use super::row::{Identity, Row};
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

/// The numbers of rows, found by identity.
#[derive(Debug, Clone, Default)]
pub struct Places {
    ids: HashTable<u32>,
    hasher: RandomState,
}

impl Places {
    /// The number of the row that has an identity.
    pub fn get(&self, identity: &Identity, rows: &[Row]) -> Option<u32> {
        let is_it = |id: &u32| rows.get(*id as usize).is_some_and(|row| row.has(identity));
        self.ids.find(self.hasher.hash_one((&*identity.source, &*identity.key)), is_it).copied()
    }

    /// Takes in a row that is among `rows` and was not known yet.
    pub fn insert(&mut self, id: u32, rows: &[Row]) {
        let hasher = &self.hasher;
        let hash = |id: &u32| {
            rows.get(*id as usize).map_or(0, |row| {
                let item = &row.found.finding.item;
                hasher.hash_one((&*item.source, item.key.as_str()))
            })
        };
        self.ids.insert_unique(hash(&id), id, hash);
    }

    /// Keeps the rows that have a new number, by that number.
    pub fn keep(&mut self, kept_as: impl Fn(u32) -> Option<u32>) {
        self.ids.retain(|id| kept_as(*id).map(|new| *id = new).is_some());
    }
}
