//! Money at stake: what really moved for findings that nobody settled yet, by currency, and how much of it twice. Decimals.
//!
//! Only what a provider told counts: of an item that nobody asked about, or whose effects carry no amount, nothing is known,
//! and nothing is guessed.

use crate::domain::evidence::{Effect, EffectState};
use crate::domain::money::Money;
use crate::domain::verdict::{Judgement, Verdict};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The largest amount that is added up: what is larger is an error of somebody's, and would drown all others.
const AMOUNT_MAX: i64 = 1_000_000_000_000_000;
/// The most decimal places that are added up: so sums stay exact.
const PLACES_MAX: u32 = 8;

/// Sums in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// What moved: every effect that happened.
    pub moved: Decimal,
    /// How much of that is too much: every effect but the first of an item.
    pub twice: Decimal,
    /// Of how many items.
    pub items: usize,
}

/// Money at stake, by currency; `None` is an amount without one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stake {
    by_currency: BTreeMap<Option<String>, Sums>,
}

impl Stake {
    /// What is at stake with one item, as far as its judgement tells.
    pub fn of(judgement: &Judgement) -> Self {
        let mut stake = Self::default();
        let happened = match judgement.verdict {
            Verdict::Duplicated | Verdict::Mismatch | Verdict::Happened => happened(judgement),
            Verdict::Pending | Verdict::Failed | Verdict::NotFound | Verdict::Unknown => Vec::new(),
        };
        for (number, effect) in happened.into_iter().enumerate() {
            let Some(money) = effect.money.as_ref().filter(|money| is_countable(money)) else { continue };
            let sums = stake.by_currency.entry(money.currency.clone()).or_default();
            sums.moved += money.amount;
            sums.items = 1;
            if number > 0 {
                sums.twice += money.amount;
            }
        }
        stake
    }

    /// Adds an item's.
    pub fn add(&mut self, other: &Self) {
        for (currency, more) in &other.by_currency {
            let sums = self.by_currency.entry(currency.clone()).or_default();
            sums.moved += more.moved;
            sums.twice += more.twice;
            sums.items += more.items;
        }
    }

    /// Takes an item's away again.
    pub fn take(&mut self, other: &Self) {
        for (currency, less) in &other.by_currency {
            let Some(sums) = self.by_currency.get_mut(currency) else { continue };
            sums.moved -= less.moved;
            sums.twice -= less.twice;
            sums.items = sums.items.saturating_sub(less.items);
            if sums.items == 0 {
                self.by_currency.remove(currency);
            }
        }
    }

    /// Each currency with what moved in it and how much of that twice.
    pub fn sums(&self) -> impl Iterator<Item = (Money, Money, usize)> + '_ {
        let money = |amount: Decimal, currency: &Option<String>| Money {
            amount: amount.normalize(),
            currency: currency.clone(),
        };
        self.by_currency.iter().map(move |(currency, sums)| {
            (money(sums.moved, currency), money(sums.twice, currency), sums.items)
        })
    }

    /// Whether no amount is known.
    pub fn is_empty(&self) -> bool {
        self.by_currency.is_empty()
    }
}

/// The effects that happened, the first one first: what came after it is what was too much.
fn happened(judgement: &Judgement) -> Vec<&Effect> {
    let mut effects: Vec<&Effect> =
        judgement.effects.iter().filter(|effect| effect.state == EffectState::Happened).collect();
    effects.sort_by(|a, b| (a.at.is_none(), a.at, &a.id).cmp(&(b.at.is_none(), b.at, &b.id)));
    effects
}

fn is_countable(money: &Money) -> bool {
    money.amount.abs() <= Decimal::from(AMOUNT_MAX) && money.amount.normalize().scale() <= PLACES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Unit;
    use chrono::{DateTime, TimeDelta};

    fn judgement(verdict: Verdict, effects: &[(&str, i64, Option<&str>)]) -> Judgement {
        let effect = |(amount, seconds, currency): &(&str, i64, Option<&str>)| Effect {
            id: format!("e{seconds}"),
            status: "succeeded".to_owned(),
            state: EffectState::Happened,
            money: Money::read(amount, *currency, Unit::Major).ok(),
            at: Some(DateTime::UNIX_EPOCH + TimeDelta::seconds(*seconds)),
            link: None,
        };
        let effects = effects.iter().map(effect).collect();
        Judgement { verdict, effects, settled: true, fault: None, reasons: Vec::new() }
    }

    fn told(stake: &Stake) -> Vec<String> {
        stake.sums().map(|(moved, twice, items)| format!("{moved}, {twice} twice, {items}")).collect()
    }

    #[test]
    fn what_came_after_the_first_effect_is_what_was_too_much() {
        let twice = judgement(Verdict::Duplicated, &[("9.90", 34, Some("BRL")), ("10.10", 0, Some("BRL"))]);
        assert_eq!(told(&Stake::of(&twice)), ["20.00 BRL, 9.90 BRL twice, 1"]);
    }

    #[test]
    fn currencies_are_never_added_up() {
        let mut stake = Stake::default();
        let each = [
            judgement(Verdict::Happened, &[("0.1", 0, Some("BRL"))]),
            judgement(Verdict::Happened, &[("0.2", 0, Some("BRL"))]),
            judgement(Verdict::Mismatch, &[("100", 0, Some("JPY"))]),
            judgement(Verdict::Happened, &[("7", 0, None)]),
        ];
        for judgement in &each {
            stake.add(&Stake::of(judgement));
        }
        assert_eq!(told(&stake), ["7, 0 twice, 1", "0.30 BRL, 0.00 BRL twice, 2", "100 JPY, 0 JPY twice, 1"]);
        for judgement in &each {
            stake.take(&Stake::of(judgement));
        }
        assert!(stake.is_empty());
    }

    /// Nothing is guessed: no amount, no verdict that something happened, an amount that cannot be one.
    #[test]
    fn what_is_not_known_is_not_counted() {
        let nothing = [
            judgement(Verdict::NotFound, &[]),
            judgement(Verdict::Unknown, &[("5", 0, Some("BRL"))]),
            judgement(Verdict::Happened, &[("ten", 0, Some("BRL"))]),
            judgement(Verdict::Happened, &[("79228162514264337593543950335", 0, Some("BRL"))]),
            judgement(Verdict::Happened, &[("0.0000000001", 0, Some("BRL"))]),
        ];
        for judgement in nothing {
            assert!(Stake::of(&judgement).is_empty(), "{judgement:?}");
        }
    }
}
