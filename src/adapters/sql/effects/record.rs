//! The record of one look-up while it is made: becomes the evidence.

use crate::domain::cell::{Cell, hex};
use crate::domain::evidence::{Asked, Evidence, Fault, Try};
use crate::domain::mask::mask_document;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;

/// What a row's values are called on record, in the order in which they are read.
const NAMES: [&str; 6] = ["id", "reference", "status", "amount", "currency", "time"];

/// What was asked so far, and what came.
pub(super) struct Record<'look> {
    place: &'look str,
    mask: &'look [String],
    kept_bytes_left: usize,
    began: Instant,
    asked: Vec<Asked>,
    bodies: Vec<Arc<str>>,
}

impl<'look> Record<'look> {
    pub(super) fn new(place: &'look str, mask: &'look [String], kept_bytes_max: usize) -> Self {
        Self {
            place,
            mask,
            kept_bytes_left: kept_bytes_max,
            began: Instant::now(),
            asked: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Notes a query that is about to be run. Its values are the reference, which is on record for itself.
    pub(super) fn ask(&mut self, sql: &str, at: DateTime<Utc>) {
        let unanswered =
            Try { at, took_ms: 0, status: None, fault: None, detail: None, body_sha256: None, body_bytes: 0 };
        let url = format!("{} {sql}", self.place);
        self.asked.push(Asked { method: "SQL".to_owned(), url, tries: vec![unanswered] });
    }

    /// Notes the rows that came.
    pub(super) fn rows(&mut self, rows: &[Vec<Cell>], began: Instant) {
        let Some(one) = self.asked.last_mut().and_then(|asked| asked.tries.last_mut()) else { return };
        let body = Value::Array(rows.iter().map(|row| document(row)).collect()).to_string();
        one.took_ms = ms_since(began);
        one.body_sha256 = Some(hex(&Sha256::digest(body.as_bytes())));
        one.body_bytes = body.len() as u64;
        if self.kept_bytes_left > 0 {
            let mut shown = mask_document(&body, self.mask).into_owned();
            if shown.len() > self.kept_bytes_left {
                shown.truncate(shown.floor_char_boundary(self.kept_bytes_left));
                shown.push('…');
            }
            self.kept_bytes_left = self.kept_bytes_left.saturating_sub(shown.len());
            self.bodies.push(shown.into());
        }
    }

    /// Notes how long a query took whose rows are nobody's business: another item's reference.
    pub(super) fn took(&mut self, began: Instant) {
        if let Some(one) = self.asked.last_mut().and_then(|asked| asked.tries.last_mut()) {
            one.took_ms = ms_since(began);
        }
    }

    /// Notes what went wrong with the latest query; what could not even be asked is on no record of queries.
    pub(super) fn fault(&mut self, fault: &Fault) {
        let Some(one) = self.asked.last_mut().and_then(|asked| asked.tries.last_mut()) else { return };
        one.fault = Some(fault.kind);
        one.detail = Some(fault.detail.clone());
    }

    /// The evidence at the end.
    pub(super) fn finish(self, check: &str, reference: Option<&str>, at: DateTime<Utc>) -> Evidence {
        Evidence {
            check: check.to_owned(),
            reference: reference.map(str::to_owned),
            at,
            took_ms: ms_since(self.began),
            hash: Evidence::hash_of(&self.asked),
            asked: self.asked,
            listing: None,
            bodies: self.bodies,
        }
    }
}

fn document(row: &[Cell]) -> Value {
    let named = NAMES.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), cell.to_json()));
    Value::Object(named.collect::<Map<String, Value>>())
}

fn ms_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
