//! A decision, from what an operator chose to what came of it. Each step is a type of its own, so that a row cannot be
//! written without a permission, nor a permission be used before its intent is on record.

use crate::domain::advice::Advised;
use crate::domain::approval::Approval;
use crate::domain::item::{ItemKey, Row};
use crate::domain::permission::{Permission, permission};
use crate::domain::policy::Stakes;
use crate::domain::proposal::Proposal;
use crate::domain::verdict::Judgement;
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

impl Operator {
    /// What stands for an account or a machine that the operating system does not tell.
    pub const UNKNOWN: &'static str = "unknown";

    /// Account and machine, for the record.
    pub fn origin(&self) -> String {
        format!("{}@{}", self.login, self.host)
    }
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

/// Why a draft was not permitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// What stands against it, in a sentence.
    pub why: String,
    /// What to do instead, in a sentence.
    pub do_next: String,
}

/// A draft that the rules permit, with the row as the operator saw it.
///
/// Where a decision takes two persons, it is made from an [`Approval`] and from nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    draft: Draft,
    seen: Row,
    approval: Option<Box<Approval>>,
}

/// A draft that lacks nothing but a second person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapproved {
    draft: Draft,
    seen: Row,
    why: String,
}

/// What the rules make of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It may be carried out.
    Permitted(Permitted),
    /// It may be proposed to a second person.
    NeedsApproval(Unapproved),
}

impl Draft {
    /// Checks the draft against the rules. `retried` says what else stands against a retry: see
    /// [`Permission::stand_against_retry`].
    ///
    /// # Errors
    /// [`Denied`] when the operator has to insist and does not.
    pub fn permit(
        self,
        stakes: Stakes,
        judgement: &Judgement,
        advised: &Advised,
        retried: Option<String>,
        seen: Row,
    ) -> Result<Ruling, Denied> {
        let mut permission = permission(self.choice, stakes, judgement, advised);
        if let Some(why) = retried {
            permission.stand_against_retry(why, stakes.risk);
        }
        Ok(match (self.denied(&permission), permission.second_person) {
            (Some(denied), _) => return Err(denied),
            (None, None) => Ruling::Permitted(Permitted { draft: self, seen, approval: None }),
            (None, Some(why)) => Ruling::NeedsApproval(Unapproved { draft: self, seen, why }),
        })
    }

    /// Why not even a second person's approval would do, and where nothing is known, what made it so.
    fn denied(&self, permission: &Permission) -> Option<Denied> {
        let mut why = permission.against.clone().filter(|_| !self.insists)?;
        permission.why_unknown.iter().for_each(|reason| why.extend([" ", reason]));
        let do_next = match permission.second_person {
            None => "Insist with `--override` and a reason (it goes on record), or escalate.",
            Some(_) => {
                "Insist with `--override` and a reason: a second person must approve it then. Or escalate."
            }
        };
        Some(Denied { why, do_next: do_next.to_owned() })
    }
}

impl Unapproved {
    /// The draft behind it.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The row as the proposer saw it.
    pub fn seen(&self) -> &Row {
        &self.seen
    }

    /// Why it takes a second person.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl Permitted {
    /// A draft that two persons stand behind: `draft` is the approver's, `approval` says whose proposal it takes up.
    ///
    /// # Errors
    /// [`Denied`] when the approver has to insist and does not, or the row is not the one that was proposed on.
    pub(super) fn approved(
        draft: Draft,
        approval: Approval,
        permission: &Permission,
        seen: Row,
    ) -> Result<Self, Denied> {
        if let Some(denied) = draft.denied(permission) {
            return Err(denied);
        }
        // Once more and on its own: an approval is for the row that the proposer saw, and for no other.
        if seen.sha256() != approval.proposal().row_sha256 {
            return Err(Denied {
                why: "the row is not the one that was proposed on.".to_owned(),
                do_next: "Look at it as it is now, and propose anew.".to_owned(),
            });
        }
        Ok(Self { draft, seen, approval: Some(Box::new(approval)) })
    }

    /// The draft behind it.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The row as the operator saw it.
    pub fn seen(&self) -> &Row {
        &self.seen
    }

    /// Whose proposal it takes up and who approved it; `None` where one person decided.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_deref()
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
    /// Nothing was touched yet: it waits for a second person.
    Proposed {
        /// The proposal as it is on record.
        proposal: Box<Proposal>,
        /// Why it takes a second person, in a sentence.
        why: String,
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
            Self::Proposed { .. } => "proposed",
            Self::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests;
