//! A decision, from what an operator chose to what came of it. Each step is a type of its own, so that a row cannot be
//! written without a permission, nor a permission be used before its intent is on record.

use crate::domain::advice::{Advice, Advised};
use crate::domain::item::{ItemKey, Row};
use crate::domain::policy::Risk;
use crate::domain::verdict::{Judgement, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// What an operator can choose for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Write down that the effect is there.
    MarkDone,
    /// Let the job system try again.
    Retry,
    /// Hand it to somebody else.
    Escalate,
}

impl Choice {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::MarkDone, Self::Retry, Self::Escalate];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MarkDone => "mark_done",
            Self::Retry => "retry",
            Self::Escalate => "escalate",
        }
    }

    /// The verb as a person reads it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::MarkDone => "mark done",
            Self::Retry => "retry",
            Self::Escalate => "escalate",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who decides, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operator {
    /// The name the operator goes by.
    pub name: Arc<str>,
    /// The account of the operating system.
    pub login: Arc<str>,
    /// The machine.
    pub host: Arc<str>,
}

/// Why an operator decides so: never blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason(String);

impl Reason {
    /// How long a reason may be, in characters.
    pub const CHARS_MAX: usize = 1_000;

    /// A reason from what was typed; `None` when it says nothing.
    pub fn new(typed: &str) -> Option<Self> {
        let trimmed = typed.trim();
        let says_something = trimmed.chars().any(char::is_alphanumeric);
        says_something.then(|| Self(trimmed.chars().take(Self::CHARS_MAX).collect()))
    }

    /// The text, raw: clean it before showing.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The decision's id.
    pub id: Uuid,
    /// What was chosen.
    pub choice: Choice,
    /// The source's name.
    pub source: Arc<str>,
    /// The item.
    pub key: ItemKey,
    /// Who.
    pub operator: Operator,
    /// Why.
    pub reason: Reason,
    /// Whether the operator insists against the advice.
    pub insists: bool,
}

/// Whether a choice may be carried out on what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It may. The sentences say what could go wrong; with any, the operator is asked once more.
    Granted(Vec<String>),
    /// Only if the operator insists, with a reason that goes on record.
    OnlyInsisting(String),
    /// Only with a second person's approval.
    OnlyWithApproval(String),
}

/// Decides whether a choice is permitted on a verdict and its advice (rule 4).
pub fn permission(choice: Choice, risk: Risk, judgement: &Judgement, advised: &Advised) -> Permission {
    let verdict = judgement.verdict;
    let against =
        |what: &str| format!("The verdict is `{verdict}` and the advice is `{}`: {what}", advised.advice);
    // Rule 4 once more, and not by the advice alone: whoever hands over another advice gets no retry for it.
    let may_retry = advised.advice == Advice::Retry && judgement.settled && !verdict.forbids_retry();
    match choice {
        Choice::Escalate => Permission::Granted(Vec::new()),
        Choice::Retry if may_retry => Permission::Granted(retry_cautions(risk, advised)),
        Choice::Retry if risk == Risk::Financial => Permission::OnlyWithApproval(against(
            "a retry could repeat an effect, and this kind is financial.",
        )),
        Choice::Retry => Permission::OnlyInsisting(against("a retry could repeat an effect.")),
        Choice::MarkDone => match verdict {
            Verdict::Happened if advised.advice == Advice::MarkDone => Permission::Granted(Vec::new()),
            Verdict::Happened | Verdict::Duplicated | Verdict::Mismatch => {
                Permission::OnlyInsisting(against("marked done, nobody will look at it again."))
            }
            Verdict::Pending | Verdict::Failed | Verdict::NotFound | Verdict::Unknown => {
                Permission::OnlyInsisting(against("marked done, an effect that is not there would be lost."))
            }
        },
    }
}

fn retry_cautions(risk: Risk, advised: &Advised) -> Vec<String> {
    let new_effect = advised.reasons.iter().filter(|reason| reason.contains("new effect"));
    let mut cautions: Vec<String> = new_effect.cloned().collect();
    if risk == Risk::Financial {
        cautions.push(
            "This kind is financial: if the look-up missed the effect, somebody pays twice.".to_owned(),
        );
    }
    cautions
}

/// Why a draft was not permitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// What stands against it, in a sentence.
    pub why: String,
    /// What to do instead, in a sentence.
    pub do_next: String,
}

/// A draft that the rules permit, with the row as the operator saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    draft: Draft,
    seen: Row,
}

impl Draft {
    /// Checks the draft against the rules.
    ///
    /// # Errors
    /// [`Denied`] when the rules forbid it, or the operator has to insist and does not.
    pub fn permit(
        self,
        risk: Risk,
        judgement: &Judgement,
        advised: &Advised,
        seen: Row,
    ) -> Result<Permitted, Denied> {
        let denied = match permission(self.choice, risk, judgement, advised) {
            Permission::Granted(_) => return Ok(Permitted { draft: self, seen }),
            Permission::OnlyInsisting(_) if self.insists => return Ok(Permitted { draft: self, seen }),
            Permission::OnlyInsisting(why) => Denied {
                why,
                do_next: "Insist with `--override` and a reason (it goes on record), or escalate.".to_owned(),
            },
            Permission::OnlyWithApproval(why) => Denied {
                why,
                do_next: "A second person would have to approve it, which this version cannot record: escalate instead."
                    .to_owned(),
            },
        };
        Err(denied)
    }
}

impl Permitted {
    /// The draft behind it.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The row as the operator saw it.
    pub fn seen(&self) -> &Row {
        &self.seen
    }

    /// The decision with its intent on record: only now may anything outside be touched.
    pub fn intended(self, intent: i64) -> Intended {
        Intended { permitted: self, intent }
    }
}

/// A decision whose intent is durable in the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intended {
    permitted: Permitted,
    intent: i64,
}

impl Intended {
    /// The draft behind it.
    pub fn draft(&self) -> &Draft {
        &self.permitted.draft
    }

    /// The row as the operator saw it.
    pub fn seen(&self) -> &Row {
        &self.permitted.seen
    }

    /// The audit entry that holds the intent.
    pub fn intent(&self) -> i64 {
        self.intent
    }
}

/// What came of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done: the row before and after (`None` where the decision removed it).
    Applied {
        /// The row before.
        before: Row,
        /// The row after.
        after: Option<Row>,
    },
    /// Nothing was touched: the row is no longer as the operator saw it, or the rules forbid it.
    Refused {
        /// Why, in a sentence.
        why: String,
        /// The row as it is now, where it could be read.
        now: Option<Row>,
    },
    /// Something broke. Whether anything was written is said in `why`.
    Failed {
        /// Why, in a sentence.
        why: String,
    },
}

impl Outcome {
    /// The word as files and JSON spell it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied { .. } => "applied",
            Self::Refused { .. } => "refused",
            Self::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests;
