//! The record of one check while it is made: becomes the evidence.

use crate::adapters::http::client::Tried;
use crate::adapters::http::extract::Reply;
use crate::adapters::http::request::Planned;
use crate::adapters::http::secret::SecretKeeper;
use crate::domain::cell::hex;
use crate::domain::evidence::{Asked, Evidence, Fault, Try};
use crate::domain::mask::{MASK, is_secret_name, mask_document};
use crate::domain::text::escape_bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::time::Instant;
use url::Url;

/// The most bytes of one secret in an answer: a key in PEM, a chain of certificates.
const SECRET_BYTES_MAX: usize = 16 * 1024;

/// What was asked so far, and what came.
pub struct Record<'check> {
    secret: &'check SecretKeeper,
    mask: &'check [String],
    kept_bytes_left: usize,
    began: Instant,
    asked: Vec<Asked>,
    bodies: Vec<Arc<str>>,
    /// Everything as it came, where a person watches; `None` where nobody does.
    watched: Option<Vec<Watched>>,
}

/// One try of a request, as a person watches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The request as it was planned.
    pub planned: Planned,
    /// The headers that were sent, what proves who asks hidden.
    pub headers: Vec<(String, String)>,
    /// What came; status zero when nothing did.
    pub reply: Reply,
    /// Why it is not a whole answer.
    pub fault: Option<Fault>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl<'check> Record<'check> {
    /// Nothing asked yet. `mask` names fields to hide in the kept answers.
    pub fn new(secret: &'check SecretKeeper, mask: &'check [String], bodies_kept_bytes_max: usize) -> Self {
        Self {
            secret,
            mask,
            kept_bytes_left: bodies_kept_bytes_max,
            began: Instant::now(),
            asked: Vec::new(),
            bodies: Vec::new(),
            watched: None,
        }
    }

    /// The same, and keeps everything as it comes.
    pub fn watching(self) -> Self {
        Self { watched: Some(Vec::new()), ..self }
    }

    /// Takes out what was watched.
    pub fn take_watched(&mut self) -> Vec<Watched> {
        self.watched.take().unwrap_or_default()
    }

    /// Notes a try as it was sent, where somebody watches.
    pub fn watch(
        &mut self,
        planned: &Planned,
        headers: Vec<(String, String)>,
        began: Instant,
        tried: &Tried,
    ) {
        let Some(watched) = &mut self.watched else { return };
        let (reply, fault) = (tried.reply.clone(), tried.fault.clone());
        watched.push(Watched { planned: planned.clone(), headers, reply, fault, took_ms: ms_since(began) });
    }

    /// Whether somebody watches.
    pub fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Notes a request that is about to be tried.
    pub fn ask(&mut self, planned: &Planned) {
        let url = self.secret.without_secret(&masked_url(&planned.url));
        self.asked.push(Asked { method: planned.method.to_owned(), url, tries: Vec::new() });
    }

    /// Notes a try of the latest request.
    pub fn tried(&mut self, at: DateTime<Utc>, began: Instant, tried: &Tried) {
        let answered = tried.reply.status != 0;
        let body = &tried.reply.body;
        let entry = Try {
            at,
            took_ms: ms_since(began),
            status: answered.then_some(tried.reply.status),
            fault: tried.fault.as_ref().map(|fault| fault.kind),
            detail: tried.fault.as_ref().map(|fault| self.secret.masked(&fault.detail)),
            body_sha256: answered.then(|| hex(&Sha256::digest(body))),
            body_bytes: body.len() as u64,
        };
        if let Some(asked) = self.asked.last_mut() {
            asked.tries.push(entry);
        }
        if !body.is_empty() {
            self.keep(body);
        }
    }

    /// Notes what is wrong with the latest answer, found when it was read.
    pub fn misread(&mut self, fault: &Fault) {
        let detail = self.secret.masked(&fault.detail);
        if let Some(last) = self.asked.last_mut().and_then(|asked| asked.tries.last_mut())
            && last.fault.is_none()
        {
            last.fault = Some(fault.kind);
            last.detail = Some(detail);
        }
    }

    /// The evidence at the end.
    pub fn finish(mut self, check: &str, reference: Option<&str>, at: DateTime<Utc>) -> Evidence {
        // What was noted and then not sent (no secret, no time) was not asked.
        self.asked.retain(|asked| !asked.tries.is_empty());
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

    /// Keeps the beginning of an answer for a person to look at.
    ///
    /// More than is kept is masked, and then cut: what the first cut goes through, too short to be known for a secret, is
    /// cut off by the second.
    fn keep(&mut self, body: &[u8]) {
        if self.kept_bytes_left == 0 {
            return;
        }
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let looked_at = body.get(..self.kept_bytes_left + SECRET_BYTES_MAX).unwrap_or(body);
        let text = self.secret.without_secret(&escape_bytes(looked_at));
        let mut shown = self.secret.without_secret(&mask_document(&text, self.mask));
        let is_cut = looked_at.len() < body.len();
        let room = if is_cut { shown.len().saturating_sub(SECRET_BYTES_MAX) } else { shown.len() };
        if is_cut || room > self.kept_bytes_left {
            shown.truncate(shown.floor_char_boundary(room.min(self.kept_bytes_left)));
            shown.push('…');
        }
        self.kept_bytes_left = self.kept_bytes_left.saturating_sub(shown.len());
        self.bodies.push(shown.into());
    }
}

/// The address with the values of secret-looking parameters hidden.
pub fn masked_url(url: &Url) -> String {
    if !url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
        return url.to_string();
    }
    let mut shown = url.clone();
    shown.set_query(None);
    let pairs = url.query_pairs().map(|(name, value)| {
        let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let value = if is_secret_name(&name) { MASK.to_owned() } else { encode(&value) };
        format!("{}={value}", encode(&name))
    });
    let query: Vec<String> = pairs.collect();
    format!("{shown}?{}", query.join("&"))
}

fn ms_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
