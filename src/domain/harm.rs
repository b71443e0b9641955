//! What hurts most: how much a finding weighs, and why, in words. Pure.
//!
//! The weight is a sum of points, so that each of its reasons can be told. Age is no part of it: of two findings that weigh
//! the same the older one stands first, and one without any known time before both. Nor is the amount: sums in two
//! currencies cannot be compared.

use crate::domain::error_class::ErrorClass;
use crate::domain::finding::FindingKind;
use crate::domain::policy::Risk;
use crate::domain::verdict::Verdict;

/// What a finding's weight is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plight {
    /// What the evidence says; `None` before a check.
    pub verdict: Option<Verdict>,
    /// What a wrong decision costs.
    pub risk: Risk,
    /// Why it needs a person.
    pub finding: FindingKind,
    /// What its error proves; `None` where it tells none.
    pub class: Option<ErrorClass>,
}

/// Points and their reason; the reason is empty where there is nothing to say.
type Weight = (u8, &'static str);

impl Plight {
    /// How much it weighs: more hurts more. At most 200.
    pub fn weight(self) -> u8 {
        self.weights().iter().map(|(points, _)| points).sum()
    }

    /// Why it weighs so much, the weightiest reason first.
    pub fn reasons(self) -> Vec<&'static str> {
        let mut weights = self.weights();
        weights.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        weights.into_iter().map(|(_, reason)| reason).filter(|reason| !reason.is_empty()).collect()
    }

    fn weights(self) -> [Weight; 3] {
        [of_verdict(self.verdict), of_risk(self.risk), of_finding(self.finding, self.class, self.verdict)]
    }
}

fn of_verdict(verdict: Option<Verdict>) -> Weight {
    match verdict {
        Some(Verdict::Duplicated) => {
            (120, "it happened more than once: somebody has to undo what is too much")
        }
        Some(Verdict::Mismatch) => (90, "it happened with another amount or currency"),
        Some(Verdict::Happened) => {
            (60, "it happened, and the table does not say so: the next try repeats it")
        }
        Some(Verdict::Unknown) => (50, "whether it happened is not known, even after asking"),
        None => (40, "nobody has asked yet whether it happened"),
        Some(Verdict::Pending) => (30, "the provider has not decided yet"),
        Some(Verdict::NotFound) => (20, "it did not happen: somebody waits for it"),
        Some(Verdict::Failed) => (10, "the provider turned it down"),
    }
}

fn of_risk(risk: Risk) -> Weight {
    match risk {
        Risk::Financial => (40, "a repeat costs somebody money"),
        Risk::CheckFirst => (10, "a repeat is a nuisance"),
        Risk::Safe => (0, ""),
    }
}

/// What the table alone tells counts only as long as the provider told nothing: an answer says more than an error's text.
fn of_finding(finding: FindingKind, class: Option<ErrorClass>, verdict: Option<Verdict>) -> Weight {
    match (finding, verdict) {
        (FindingKind::Duplicate, _) => (20, "another effect carries its reference"),
        (FindingKind::Lost, _) => (20, "it says done, and the provider has nothing"),
        (FindingKind::Mismatch, _) => (20, "its amount or currency differs"),
        (FindingKind::Ambiguous, None | Some(Verdict::Unknown)) => match class {
            Some(ErrorClass::Ambiguous) => (15, "its error leaves open whether it happened"),
            None => (15, "it ended without saying whether it happened"),
            Some(ErrorClass::BeforeEffect | ErrorClass::Refused) => (0, ""),
        },
        (FindingKind::Stuck, None | Some(Verdict::Unknown)) => {
            (5, "it was begun and has not been heard of since")
        }
        (FindingKind::Ambiguous | FindingKind::Stuck, Some(_)) => (0, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn plight(verdict: Option<Verdict>, risk: Risk, finding: FindingKind) -> Plight {
        Plight { verdict, risk, finding, class: None }
    }

    /// Each hurts more than the next.
    #[test]
    fn money_that_went_twice_stands_before_all() {
        let stuck = |verdict, risk| plight(verdict, risk, FindingKind::Stuck);
        let order = [
            stuck(Some(Verdict::Duplicated), Risk::Financial),
            stuck(Some(Verdict::Duplicated), Risk::CheckFirst),
            stuck(Some(Verdict::Mismatch), Risk::CheckFirst),
            stuck(Some(Verdict::Unknown), Risk::Financial),
            plight(None, Risk::Financial, FindingKind::Stuck),
            stuck(Some(Verdict::Happened), Risk::CheckFirst),
            plight(None, Risk::CheckFirst, FindingKind::Ambiguous),
            plight(None, Risk::CheckFirst, FindingKind::Stuck),
            stuck(Some(Verdict::NotFound), Risk::CheckFirst),
            stuck(Some(Verdict::Failed), Risk::Safe),
        ];
        for pair in order.windows(2) {
            assert!(pair[0].weight() > pair[1].weight(), "{pair:?}");
        }
    }

    #[rstest]
    #[case(Some(Verdict::Duplicated), Risk::Financial, &["it happened more than once: somebody has to undo what is too much", "a repeat costs somebody money"])]
    #[case(None, Risk::Financial, &["nobody has asked yet whether it happened", "a repeat costs somebody money", "it ended without saying whether it happened"])]
    #[case(Some(Verdict::Failed), Risk::Safe, &["the provider turned it down"])]
    fn every_point_has_its_reason(
        #[case] verdict: Option<Verdict>,
        #[case] risk: Risk,
        #[case] told: &[&str],
    ) {
        assert_eq!(plight(verdict, risk, FindingKind::Ambiguous).reasons(), told);
    }

    /// Whatever comes together, the sum fits its number, and there is always a reason.
    #[test]
    fn every_plight_has_a_weight_and_a_reason() {
        let verdicts = Verdict::ALL.into_iter().map(Some).chain([None]);
        for verdict in verdicts {
            for risk in [Risk::Safe, Risk::CheckFirst, Risk::Financial] {
                for finding in FindingKind::ALL {
                    let plight = plight(verdict, risk, finding);
                    assert!((1..=200).contains(&plight.weight()));
                    assert!(!plight.reasons().is_empty());
                }
            }
        }
    }
}
