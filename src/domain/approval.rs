//! Whether a second person may approve a proposal: exactly what was proposed, within its time, by somebody else.

use crate::domain::advice::Advised;
use crate::domain::decision::{Denied, Draft, Operator, Permitted, Reason};
use crate::domain::evidence::Fault;
use crate::domain::item::{ItemKey, Row};
use crate::domain::moment::stamp;
use crate::domain::permission::permission;
use crate::domain::policy::Stakes;
use crate::domain::proposal::{Closed, Closing, Proposal, Sight};
use crate::domain::text::is_plain;
use crate::domain::verdict::{Judgement, Verdict};
use chrono::{DateTime, Utc};
use std::fmt;
use std::sync::Arc;

/// What is known when somebody approves.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    /// The present moment.
    pub now: DateTime<Utc>,
    /// SHA-256 of the row as it is.
    pub row_sha256: &'a str,
    /// What the provider shows.
    pub sight: &'a Sight,
    /// Why its answer does not count, where the verdict is `unknown` for a fault.
    pub fault: Option<&'a Fault>,
}

/// Who takes up a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver {
    /// Who.
    pub operator: Operator,
    /// The login that the audit's database lets them in by; `None` where the audit is a file.
    pub recorded_by: Option<Arc<str>>,
    /// Why: the approver's own words.
    pub reason: Reason,
    /// Whether the approver insists against the advice.
    pub insists: bool,
}

/// What the configuration allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApprovalRules {
    /// Whether both persons may use one account on one machine. Then only their names tell them apart.
    pub from_same_login: bool,
}

/// That a second person approved exactly what was proposed. Made by [`may_approve`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    proposal: Proposal,
    approver: Approver,
    same_login: bool,
}

/// Whether somebody may look at a proposal to approve it, before anything is read or asked.
///
/// A name is what somebody says, an account what their own machine says. Where the audit's database has logins, these are
/// the strong check: no configuration makes one login two persons.
///
/// # Errors
/// [`WhyNot`] about the record, the time or the person.
pub fn may_take_up(
    proposal: &Proposal,
    operator: &Operator,
    recorded_by: Option<&str>,
    now: DateTime<Utc>,
    rules: ApprovalRules,
) -> Result<(), WhyNot> {
    proposal.closed_or_overdue(now)?;
    if is_same_name(&proposal.proposer, operator) {
        return Err(WhyNot::OwnProposal { name: proposal.proposer.name.to_string() });
    }
    match (proposal.recorded_by.as_deref(), recorded_by) {
        (Some(theirs), Some(ours)) if theirs == ours => {
            return Err(WhyNot::SameDatabaseLogin { login: ours.to_owned() });
        }
        (Some(_), None) | (None, Some(_)) => return Err(WhyNot::NoDatabaseLogin),
        (Some(_), Some(_)) | (None, None) => {}
    }
    match login_of(operator, &proposal.proposer) {
        Logins::Differ => Ok(()),
        Logins::Same | Logins::Untold if rules.from_same_login => Ok(()),
        Logins::Same => Err(WhyNot::SameLogin { origin: operator.origin() }),
        Logins::Untold => Err(WhyNot::NoLogin),
    }
}

/// Whether somebody may approve a proposal on what is known now.
///
/// # Errors
/// [`WhyNot`], one sentence for each way.
pub fn may_approve(
    proposal: &Proposal,
    approver: &Approver,
    present: &Present<'_>,
    rules: ApprovalRules,
) -> Result<Approval, WhyNot> {
    may_take_up(proposal, &approver.operator, approver.recorded_by.as_deref(), present.now, rules)?;
    proposal.stands(present)?;
    if proposal.insists && !approver.insists {
        return Err(WhyNot::NotInsisting);
    }
    let same_login = login_of(&approver.operator, &proposal.proposer) != Logins::Differ;
    Ok(Approval { proposal: proposal.clone(), approver: approver.clone(), same_login })
}

impl Approval {
    /// What was proposed.
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// Who approves.
    pub fn approver(&self) -> &Approver {
        &self.approver
    }

    /// Whether both used one account on one machine, which the configuration allows.
    pub fn same_login(&self) -> bool {
        self.same_login
    }

    /// The decision as the approver stands behind it, checked against the rules once more.
    ///
    /// # Errors
    /// [`Denied`] when the rules forbid it by now.
    pub fn permit(
        self,
        key: ItemKey,
        stakes: Stakes,
        judgement: &Judgement,
        advised: &Advised,
        seen: Row,
    ) -> Result<Permitted, Denied> {
        let draft = Draft {
            id: self.proposal.id,
            choice: self.proposal.choice,
            source: Arc::clone(&self.proposal.source),
            key,
            operator: self.approver.operator.clone(),
            reason: self.approver.reason.clone(),
            insists: self.approver.insists,
        };
        let permission = permission(draft.choice, stakes, judgement, advised);
        Permitted::approved(draft, self, &permission, seen)
    }
}

impl Proposal {
    /// Why it cannot be approved by anybody at this time, as far as the record tells.
    fn closed_or_overdue(&self, now: DateTime<Utc>) -> Result<(), WhyNot> {
        match &self.closed {
            Some(closed) => Err(WhyNot::Closed(closed.clone())),
            None if now < self.at => Err(WhyNot::ClockBehind { proposed_at: self.at }),
            None if self.is_overdue(now) => Err(WhyNot::TooLate { until: self.until }),
            None => Ok(()),
        }
    }

    /// Why it does not stand any more on what is known now.
    ///
    /// # Errors
    /// [`WhyNot`] about the record, the time, the row or the evidence; never about a person.
    pub fn stands(&self, present: &Present<'_>) -> Result<(), WhyNot> {
        self.closed_or_overdue(present.now)?;
        if present.row_sha256 != self.row_sha256 {
            return Err(WhyNot::RowChanged { what: "the row changed since it was proposed".to_owned() });
        }
        // Silence is not another answer: whoever comes later, or from a machine that has the secret, may get one.
        if let Some(fault) = present.fault
            && self.sight.verdict != Verdict::Unknown
        {
            return Err(WhyNot::NoAnswer { what: fault.to_string() });
        }
        match self.sight.difference(present.sight) {
            Some(what) => Err(WhyNot::OtherEvidence { what }),
            None => Ok(()),
        }
    }
}

/// Whether two go by one name.
pub fn is_same_name(one: &Operator, other: &Operator) -> bool {
    folded(&one.name) == folded(&other.name)
}

/// How two persons' accounts compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Logins {
    Differ,
    Same,
    /// One of them is not told: they may be the same.
    Untold,
}

fn login_of(one: &Operator, other: &Operator) -> Logins {
    let untold = |operator: &Operator| {
        let login = folded(&operator.login);
        login.is_empty() || login == Operator::UNKNOWN
    };
    if untold(one) || untold(other) {
        return Logins::Untold;
    }
    let is_same = folded(&one.login) == folded(&other.login) && folded(&one.host) == folded(&other.host);
    if is_same { Logins::Same } else { Logins::Differ }
}

/// A name as it counts: case, spaces around and between, and signs that nobody sees make no other person.
fn folded(name: &str) -> String {
    let seen: String = name.chars().filter(|letter| letter.is_whitespace() || is_plain(*letter)).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    // By way of capitals, so that `ß` and `ss` are one.
    words.join(" ").to_uppercase().to_lowercase()
}

/// Why a proposal cannot be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    /// It was approved, withdrawn, or had lapsed before.
    Closed(Closed),
    /// It is the approver's own.
    OwnProposal {
        /// The name both go by.
        name: String,
    },
    /// The proposal came from the same account on the same machine.
    SameLogin {
        /// That account and machine.
        origin: String,
    },
    /// The account of one of them is not told.
    NoLogin,
    /// The audit's database let both in by one login.
    SameDatabaseLogin {
        /// That login.
        login: String,
    },
    /// Only one of them is known to a database.
    NoDatabaseLogin,
    /// The clock stands before the moment of the proposal.
    ClockBehind {
        /// That moment.
        proposed_at: DateTime<Utc>,
    },
    /// Its time is over.
    TooLate {
        /// Until when it could be approved.
        until: DateTime<Utc>,
    },
    /// The row is another, or needs no decision any more.
    RowChanged {
        /// In words.
        what: String,
    },
    /// The provider shows something else.
    OtherEvidence {
        /// What, in words.
        what: String,
    },
    /// The provider gave no answer now.
    NoAnswer {
        /// Why, in words.
        what: String,
    },
    /// Other statements would run, or on another database.
    OtherStatements,
    /// It is against the advice, and the approver does not insist.
    NotInsisting,
}

impl WhyNot {
    /// Whether the proposal has thereby lapsed for everybody, which goes on record.
    pub fn lapses(&self) -> bool {
        match self {
            Self::TooLate { .. } | Self::RowChanged { .. } | Self::OtherEvidence { .. } => true,
            Self::Closed(_)
            | Self::OwnProposal { .. }
            | Self::SameLogin { .. }
            | Self::NoLogin
            | Self::SameDatabaseLogin { .. }
            | Self::NoDatabaseLogin
            | Self::ClockBehind { .. }
            | Self::NoAnswer { .. }
            | Self::OtherStatements
            | Self::NotInsisting => false,
        }
    }

    /// What to do about it, in a sentence.
    pub fn do_next(&self) -> &'static str {
        match self {
            Self::Closed(closed) if closed.closing == Closing::Approved => {
                "`unstuck audit list` shows what came of it."
            }
            Self::Closed(_) | Self::TooLate { .. } | Self::RowChanged { .. } | Self::OtherEvidence { .. } => {
                "Look at the item as it is now: whoever still wants it proposes it anew."
            }
            Self::OwnProposal { .. } => "Ask somebody else to approve it, or withdraw it.",
            Self::SameLogin { .. } => {
                "Approve it from another account; `approvals_from_same_login = true` allows this one, on record."
            }
            Self::NoLogin => {
                "Run it under an account with a name; `approvals_from_same_login = true` allows it, on record."
            }
            Self::SameDatabaseLogin { .. } => {
                "Approve it with a database login of one's own: each operator has one, `unstuck audit init --grant ROLE`."
            }
            Self::NoDatabaseLogin => "Withdraw it; whoever still wants it proposes it anew in this audit.",
            Self::OtherStatements => {
                "Compare this configuration and its presets with the proposer's; whoever still wants it proposes it anew."
            }
            Self::ClockBehind { .. } => "Set this machine's clock, then approve it.",
            Self::NoAnswer { .. } => "Approve it once the provider answers; the proposal still waits.",
            Self::NotInsisting => "Insist with `--override` and a reason of your own, or withdraw it.",
        }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(Closed { closing, by, at, entry }) => match closing {
                Closing::Approved => write!(f, "it was approved by {by} at {at} (audit entry {entry})"),
                Closing::Withdrawn => write!(f, "it was withdrawn by {by} at {at} (audit entry {entry})"),
                Closing::Lapsed => write!(f, "it had lapsed at {at} (audit entry {entry})"),
            },
            Self::OwnProposal { name } => {
                write!(f, "{name} proposed it, and nobody approves a proposal of their own")
            }
            Self::SameLogin { origin } => {
                write!(
                    f,
                    "it was proposed from the same account ({origin}): another name is not another person"
                )
            }
            Self::NoLogin => f.write_str(
                "the account of the proposer or of the approver is not told, so they may be the same person",
            ),
            Self::SameDatabaseLogin { login } => {
                write!(
                    f,
                    "it was proposed with the same database login ({login}): another name is not another person"
                )
            }
            Self::NoDatabaseLogin => {
                f.write_str("the database knows the login of only one of the proposer and the approver")
            }
            Self::ClockBehind { proposed_at } => write!(
                f,
                "this machine's clock stands before the moment of the proposal ({}): one of the two is wrong",
                stamp(*proposed_at)
            ),
            Self::TooLate { until } => {
                write!(f, "it could be approved until {} and has lapsed", stamp(*until))
            }
            Self::RowChanged { what } | Self::OtherEvidence { what } => write!(f, "{what}, so it has lapsed"),
            Self::NoAnswer { what } => {
                write!(
                    f,
                    "the provider gave no answer that counts ({what}), so what was proposed cannot be compared"
                )
            }
            Self::OtherStatements => {
                f.write_str("other statements would run here than were proposed, or on another database")
            }
            Self::NotInsisting => f.write_str(
                "it is against the advice: the proposer insists, and the second person has to insist too",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
