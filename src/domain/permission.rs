//! What a choice takes on what is known: insisting, a second person, or nothing more (rule 4).

use crate::domain::advice::{Advice, Advised};
use crate::domain::decision::Choice;
use crate::domain::policy::{Approvals, Risk, Stakes};
use crate::domain::verdict::{Judgement, Verdict};

/// Whether a choice may be carried out on what is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permission {
    /// What stands against it: then only if the operator insists, with a reason that goes on record.
    pub against: Option<String>,
    /// What made the verdict `unknown`, in sentences; empty where it is another.
    pub why_unknown: Vec<String>,
    /// What could go wrong although nothing stands against it; with any, the operator is asked once more.
    pub cautions: Vec<String>,
    /// Why it takes a second person; `None` where one is enough.
    pub second_person: Option<String>,
}

impl Permission {
    /// What else stands against a retry, such as one before that the row does not show yet.
    pub fn stand_against_retry(&mut self, why: String, risk: Risk) {
        self.against.get_or_insert(why);
        if risk == Risk::Financial {
            self.second_person.get_or_insert_with(|| FINANCIAL_OVERRIDE.to_owned());
        }
    }

    /// Whether one person may do it without insisting.
    pub fn is_granted(&self) -> bool {
        self.against.is_none() && self.second_person.is_none()
    }
}

/// Decides whether a choice is permitted on a verdict and its advice (rule 4).
pub fn permission(choice: Choice, stakes: Stakes, judgement: &Judgement, advised: &Advised) -> Permission {
    let verdict = judgement.verdict;
    let against = |what: &str| {
        Some(format!("The verdict is `{verdict}` and the advice is `{}`: {what}", advised.advice))
    };
    let by_policy = match stakes.approvals {
        Approvals::One => None,
        Approvals::Two => Some(TWO_PERSONS.to_owned()),
    };
    let is_unknown = verdict == Verdict::Unknown;
    let why_unknown = if is_unknown { judgement.reasons.clone() } else { Vec::new() };
    // Rule 4 once more, and not by the advice alone: whoever hands over another advice gets no retry for it.
    let may_retry = advised.advice == Advice::Retry && judgement.settled && !verdict.forbids_retry();
    match choice {
        Choice::Escalate => Permission::default(),
        Choice::Retry if may_retry => Permission {
            against: None,
            why_unknown,
            cautions: retry_cautions(stakes.risk, advised),
            second_person: by_policy,
        },
        Choice::Retry if stakes.risk == Risk::Financial => Permission {
            against: against("a retry could repeat an effect, and this kind is financial."),
            why_unknown,
            cautions: Vec::new(),
            second_person: Some(FINANCIAL_OVERRIDE.to_owned()),
        },
        Choice::Retry => Permission {
            against: against("a retry could repeat an effect."),
            why_unknown,
            cautions: Vec::new(),
            second_person: by_policy,
        },
        Choice::MarkDone => {
            let against = match verdict {
                Verdict::Happened if advised.advice == Advice::MarkDone => None,
                Verdict::Happened | Verdict::Duplicated | Verdict::Mismatch => {
                    against("marked done, nobody will look at it again.")
                }
                Verdict::Pending | Verdict::Failed | Verdict::NotFound | Verdict::Unknown => {
                    against("marked done, an effect that is not there would be lost.")
                }
            };
            Permission { against, why_unknown, cautions: Vec::new(), second_person: by_policy }
        }
    }
}

const TWO_PERSONS: &str = "Decisions on this kind take two persons: one proposes, another approves.";
const FINANCIAL_OVERRIDE: &str =
    "A financial retry against the advice takes two persons: one proposes, another approves.";

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
