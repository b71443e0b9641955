//! One question asked for a person to watch, and what came kept as an example.

mod recording;

pub use recording::{Example, example};

use crate::adapters::http::HttpProvider;
use crate::adapters::http::extract::{PageTold, matching, tell};
use crate::adapters::http::record::{Watched, masked_url};
use crate::domain::evidence::{Answer, Clocks, Effect, EffectState, Fault};
use crate::domain::mask::mask_document;
use crate::domain::text::escape_bytes;
use crate::ports::provider::Question;
use crate::preset::provider::{Absence, How, LookUp, PageStep};

/// Headers of an answer that say something about it; names in small letters.
const TELLING_HEADERS: [&str; 10] = [
    "content-type",
    "content-encoding",
    "content-length",
    "retry-after",
    "location",
    "link",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
];
/// How much of an answer is shown, in bytes.
const BODY_SHOWN_BYTES_MAX: usize = 1_500;
/// How much of an answer is masked before it is cut: a secret that the cut goes through must be known for one.
const BODY_MASKED_BYTES_MAX: usize = 64 * 1024;

/// A question with everything that came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Each request as it was tried, in order.
    pub tries: Vec<TriedOnce>,
    /// The answer in our words.
    pub answer: Answer,
    /// The rules by which it was read.
    pub rules: Rules,
    watched: Vec<Watched>,
}

/// One try of one request, without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct TriedOnce {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// The headers that were sent.
    pub headers: Vec<(String, String)>,
    /// The body that was sent; `None` where there was none.
    pub body: Option<String>,
    /// The HTTP status; `None` when none came.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The headers of the answer that say something about it.
    pub answer_headers: Vec<(String, String)>,
    /// The beginning of its body, masked.
    pub answer_body: String,
    /// How many bytes the body has.
    pub answer_bytes: usize,
    /// Why it is no answer that counts, before it was read.
    pub fault: Option<Fault>,
    /// What was read from it; `None` where it was not read.
    pub told: Option<PageTold>,
}

/// The rules of an operation, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// How references are matched.
    pub matching: String,
    /// What an absence looks like.
    pub absence: String,
    /// The statuses and what they amount to, each in a line.
    pub statuses: Vec<String>,
    /// The clocks.
    pub clocks: Clocks,
}

impl HttpProvider {
    /// Asks as ever, and keeps everything that is sent and comes, without secrets.
    pub async fn try_out(&self, question: &Question) -> Trial {
        let mut record = self.new_record(question).watching();
        let answer = self.answer(question, &mut record).await;
        let watched = record.take_watched();
        let tries = watched.iter().map(|watched| self.told(watched, question)).collect();
        Trial { tries, answer, rules: self.rules(), watched }
    }

    /// Nothing that is shown holds the secret, or what looks like one.
    fn told(&self, watched: &Watched, question: &Question) -> TriedOnce {
        let secret = &self.endpoint.secret;
        let Watched { planned, headers, reply, fault, took_ms } = watched;
        let pairs = |pairs: Vec<&(String, String)>| {
            pairs.into_iter().map(|(name, value)| (name.clone(), secret.masked(value))).collect()
        };
        let look = self.look();
        let is_telling = |name: &str| is_telling(look, name);
        TriedOnce {
            method: planned.method.to_owned(),
            url: secret.masked(&masked_url(&planned.url)),
            headers: pairs(headers.iter().collect()),
            body: planned.body.as_ref().map(|body| self.shown(body.to_string().as_bytes(), question)),
            status: (reply.status != 0).then_some(reply.status),
            took_ms: *took_ms,
            answer_headers: pairs(reply.headers.iter().filter(|(name, _)| is_telling(name)).collect()),
            answer_body: self.shown(&reply.body, question),
            answer_bytes: reply.body.len(),
            fault: fault.as_ref().map(|fault| self.masked_fault(fault)),
            told: look
                .filter(|_| fault.is_none())
                .map(|look| tell(look, &question.reference, &self.endpoint.vars, reply))
                .map(|told| self.masked_told(told)),
        }
    }

    fn shown(&self, body: &[u8], question: &Question) -> String {
        let secret = &self.endpoint.secret;
        let beginning = body.get(..BODY_MASKED_BYTES_MAX).unwrap_or(body);
        let text = secret.without_secret(&escape_bytes(beginning));
        let mut shown = secret.without_secret(&mask_document(&text, &question.mask));
        if shown.len() > BODY_SHOWN_BYTES_MAX {
            shown.truncate(shown.floor_char_boundary(BODY_SHOWN_BYTES_MAX));
            shown.push('…');
        }
        shown
    }

    fn masked_fault(&self, fault: &Fault) -> Fault {
        Fault::new(fault.kind, self.endpoint.secret.masked(&fault.detail))
    }

    fn masked_told(&self, told: PageTold) -> PageTold {
        let secret = &self.endpoint.secret;
        let effects = told.effects.into_iter().map(|mut effect| {
            effect.id = secret.masked(&effect.id);
            effect.references.iter_mut().for_each(|reference| *reference = secret.masked(reference));
            let read: Vec<Effect> = secret.masked_effects(effect.read.into_iter().collect());
            effect.read = read.into_iter().next();
            effect
        });
        let fault = told.fault.as_ref().map(|fault| self.masked_fault(fault));
        PageTold { effects: effects.collect(), fault, ..told }
    }

    fn look(&self) -> Option<&LookUp> {
        match &self.how {
            How::Ask(look) => Some(look),
            How::Sql(_) | How::Unanswerable(_) => None,
        }
    }

    fn rules(&self) -> Rules {
        let clocks = self.facts.clocks;
        let Some(look) = self.look() else {
            let nothing = "nobody can be asked".to_owned();
            return Rules { matching: nothing.clone(), absence: nothing, statuses: Vec::new(), clocks };
        };
        let of = |state| -> Vec<&str> {
            let listed = look.statuses.iter().filter(|(_, listed)| **listed == state);
            listed.map(|(status, _)| status.as_str()).collect()
        };
        let statuses = [
            ("happened", of(EffectState::Happened)),
            ("pending", of(EffectState::Pending)),
            ("failed", of(EffectState::Failed)),
        ];
        Rules {
            matching: matching(look),
            absence: match &look.absence {
                Absence::EmptyList => {
                    "every page is read, each a good answer, and no effect carries our reference".to_owned()
                }
                Absence::Status404(tests) if tests.is_empty() => {
                    "a 404 at an address made of our reference".to_owned()
                }
                Absence::Status404(_) => {
                    "the provider's own 404 at an address made of our reference".to_owned()
                }
                Absence::Never => "nothing: no answer of it is an absence".to_owned(),
            },
            statuses: statuses
                .into_iter()
                .filter(|(_, listed)| !listed.is_empty())
                .map(|(state, listed)| format!("{state}: {}", listed.join(", ")))
                .collect(),
            clocks,
        }
    }
}

/// Whether a header of an answer says something about it: for a HEAD, all of them are the answer.
fn is_telling(look: Option<&LookUp>, name: &str) -> bool {
    let is_head = look.is_some_and(|look| look.request.method == crate::preset::provider::Method::Head);
    let is_next = look.is_some_and(
        |look| matches!(&look.paging.step, PageStep::HeaderToken { header, .. } if header.eq_ignore_ascii_case(name)),
    );
    (is_head && name != "set-cookie") || is_next || TELLING_HEADERS.contains(&name)
}
