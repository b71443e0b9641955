//! Worlds with one fault built in: what the simulator must find, or it finds nothing.

use super::invariants::Rule;

/// One fault behind a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutant {
    /// The source writes without comparing.
    WritesBlindly,
    /// The record acknowledges an intent and keeps it only once the source was written.
    IntentKeptLate,
    /// The record acknowledges an intent and never keeps it.
    IntentNeverKept,
    /// The record keeps every outcome twice.
    OutcomeTwice,
    /// The record changes an entry that it has.
    OldEntryRewritten,
    /// A recovery that finds the row as it was seen says that the decision was carried out.
    AsSeenIsApplied,
    /// The record takes a second outcome of a decision.
    SecondOutcomeTaken,
    /// The record does not tell what else was decided on an item.
    HistoryHidden,
    /// Every other process is thought to have ended.
    NobodyLives,
    /// A recovery that reads a row releases it.
    RecoveryWrites,
    /// A commit whose answer was lost is told as one that wrote nothing.
    LostCommitIsNoWrite,
    /// A provider's error is told as an absence.
    ErrorIsAbsence,
    /// A provider answers the second look with what it said at the first.
    AnswersFromMemory,
    /// An absence counts at once.
    SettleIgnored,
    /// An absence counts although the provider forgets.
    LookbackIgnored,
    /// A key is thought to protect for longer than the provider remembers it.
    KeyNeverForgotten,
    /// An escalation that is repeated carries another key.
    EscalationKeyChanges,
    /// The record lets several settle one proposal.
    TwoSettleOne,
    /// The record forgets that a proposal was withdrawn.
    WithdrawalForgotten,
    /// The record tells a proposal with the row as it is today.
    RowOfToday,
    /// The record tells a proposal with a time that is never over.
    NeverTooLate,
    /// To an approval the provider says what it said last before it.
    OldEvidenceApproves,
    /// A proposal writes.
    ProposalWrites,
    /// Two names of one account count as two persons.
    OneAccountIsTwo,
    /// A console tells of another account than it runs under.
    LoginIsALie,
    /// A console goes by another name and account at every start.
    NewFaceAtEveryStart,
    /// The consoles think that one person is enough.
    OnePersonIsEnough,
}

impl Mutant {
    /// Within how many seeds it must be caught: more where several consoles must meet at one moment for it.
    pub(super) fn seeds_max(self) -> u64 {
        match self {
            Self::AsSeenIsApplied
            | Self::HistoryHidden
            | Self::NobodyLives
            | Self::AnswersFromMemory
            | Self::LookbackIgnored
            | Self::TwoSettleOne
            | Self::WithdrawalForgotten
            | Self::RowOfToday
            | Self::NeverTooLate => 1_000,
            // Another answer must come between proposal and approval, and nothing else that keeps it from being carried out.
            Self::OldEvidenceApproves => 4_000,
            Self::WritesBlindly
            | Self::IntentKeptLate
            | Self::IntentNeverKept
            | Self::OutcomeTwice
            | Self::OldEntryRewritten
            | Self::SecondOutcomeTaken
            | Self::RecoveryWrites
            | Self::LostCommitIsNoWrite
            | Self::ErrorIsAbsence
            | Self::SettleIgnored
            | Self::KeyNeverForgotten
            | Self::EscalationKeyChanges
            | Self::ProposalWrites
            | Self::OneAccountIsTwo
            | Self::LoginIsALie
            | Self::NewFaceAtEveryStart
            | Self::OnePersonIsEnough => 200,
        }
    }

    /// Every one, and the rules of which one must catch it.
    pub(super) const ALL: [(Self, &'static [Rule]); 27] = [
        (Self::WritesBlindly, &[Rule::WrittenAsSeen]),
        (Self::IntentKeptLate, &[Rule::IntentFirst]),
        (Self::IntentNeverKept, &[Rule::IntentFirst]),
        (Self::OutcomeTwice, &[Rule::OneOutcome]),
        (Self::OldEntryRewritten, &[Rule::ChainWhole]),
        (Self::AsSeenIsApplied, &[Rule::OutcomeIsTrue]),
        (Self::SecondOutcomeTaken, &[Rule::OneOutcome]),
        (Self::HistoryHidden, &[Rule::OutcomeIsTrue]),
        (Self::NobodyLives, &[Rule::OutcomeIsTrue]),
        (Self::RecoveryWrites, &[Rule::OnlyDecisionsWrite]),
        (Self::LostCommitIsNoWrite, &[Rule::OutcomeIsTrue]),
        (Self::ErrorIsAbsence, &[Rule::ErrorIsUnknown]),
        (Self::AnswersFromMemory, &[Rule::NothingRepeated]),
        (Self::SettleIgnored, &[Rule::AbsenceHasSettled]),
        (Self::LookbackIgnored, &[Rule::NothingRepeated]),
        (Self::KeyNeverForgotten, &[Rule::KeyIsRemembered]),
        (Self::EscalationKeyChanges, &[Rule::SameKeyAgain]),
        (Self::TwoSettleOne, &[Rule::SettledOnce]),
        (Self::WithdrawalForgotten, &[Rule::OnlyWaiting]),
        (Self::RowOfToday, &[Rule::AsProposed]),
        (Self::NeverTooLate, &[Rule::OnlyWaiting]),
        // What it says for an old absence may also be a retry that the answer as it was given forbids.
        (Self::OldEvidenceApproves, &[Rule::AsProposed, Rule::AbsenceHasSettled]),
        (Self::ProposalWrites, &[Rule::OnlyDecisionsWrite]),
        (Self::OneAccountIsTwo, &[Rule::TwoPersons]),
        (Self::LoginIsALie, &[Rule::TwoPersons]),
        (Self::NewFaceAtEveryStart, &[Rule::TwoPersons]),
        (Self::OnePersonIsEnough, &[Rule::TwoPersons]),
    ];
}
