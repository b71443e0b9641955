//! Amounts of money: decimals with a currency, never floats.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More digits than this are not kept exactly by the decimal type.
const AMOUNT_DIGITS_MAX: usize = 28;

/// In which unit a provider or a job writes amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The currency's smallest unit (cents, yen).
    Minor,
    /// The currency itself (`10.50`).
    Major,
}

/// An amount in the currency's major unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// The amount, exact.
    pub amount: Decimal,
    /// The currency's code in capitals; `None` where nobody said it.
    pub currency: Option<String>,
}

impl Money {
    /// Reads an amount from its text and its currency's code.
    ///
    /// # Errors
    /// A sentence for the evidence: not a decimal, or minor units of no known currency.
    pub fn read(amount: &str, currency: Option<&str>, unit: Unit) -> Result<Self, String> {
        let decimal =
            Decimal::from_str(amount.trim())
                .or_else(|_| Decimal::from_scientific(amount.trim()))
                .map_err(|_| format!("`{}` is not an amount", crate::domain::text::clean_cut(amount, 40)))?;
        let currency = currency.map(|code| code.trim().to_ascii_uppercase()).filter(|code| !code.is_empty());
        let amount = match unit {
            Unit::Major => decimal,
            Unit::Minor => {
                let places = minor_digits(currency.as_deref().unwrap_or(""));
                decimal.checked_div(Decimal::from(10_i64.pow(places))).ok_or("an amount out of range")?
            }
        };
        Ok(Self { amount: amount.normalize(), currency })
    }

    /// Reads an amount as a provider tells it: with its currency, and whole where it counts the smallest unit.
    ///
    /// # Errors
    /// A sentence for the evidence.
    pub fn told(amount: &str, currency: Option<&str>, unit: Unit) -> Result<Self, String> {
        let shown = || crate::domain::text::clean_cut(amount, 80);
        let mantissa = amount.split(['e', 'E']).next().unwrap_or("");
        if mantissa.bytes().filter(u8::is_ascii_digit).count() > AMOUNT_DIGITS_MAX {
            return Err(format!("`{}` has too many digits", shown()));
        }
        // Without its currency nobody knows how many digits a minor unit has, nor which money it is.
        let Some(currency) = currency.filter(|code| !code.trim().is_empty()) else {
            return Err("its currency is missing".to_owned());
        };
        if unit == Unit::Minor && amount.contains('.') {
            return Err(format!("`{}` is no whole number of the smallest unit", shown()));
        }
        Self::read(amount, Some(currency), unit)
    }

    /// Whether two amounts are the same money. A currency that one side does not say is no difference.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let same_currency = match (&self.currency, &other.currency) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        same_currency && self.amount == other.amount
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.currency {
            Some(code) => {
                let places = minor_digits(code).max(self.amount.scale());
                let mut shown = self.amount;
                shown.rescale(places);
                write!(f, "{shown} {}", crate::domain::text::clean(code))
            }
            None => write!(f, "{}", self.amount),
        }
    }
}

/// How many digits a currency's minor unit has (ISO 4217; those that are not two).
fn minor_digits(code: &str) -> u32 {
    match code {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI"
        | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::cents("1041", Some("brl"), Unit::Minor, "10.41 BRL")]
    #[case::yen("100", Some("jpy"), Unit::Minor, "100 JPY")]
    #[case::dinar("1500", Some("TND"), Unit::Minor, "1.500 TND")]
    #[case::major("10.10", Some("BRL"), Unit::Major, "10.10 BRL")]
    #[case::exact("0.1", None, Unit::Major, "0.1")]
    fn amounts_are_read_exactly(
        #[case] amount: &str,
        #[case] code: Option<&str>,
        #[case] unit: Unit,
        #[case] shown: &str,
    ) {
        assert_eq!(Money::read(amount, code, unit).unwrap().to_string(), shown);
    }

    #[test]
    fn the_same_money_in_two_units_agrees() {
        let minor = Money::read("1010", Some("brl"), Unit::Minor).unwrap();
        let major = Money::read("10.10", Some("BRL"), Unit::Major).unwrap();
        assert!(minor.agrees_with(&major));
        assert!(!minor.agrees_with(&Money::read("10.10", Some("USD"), Unit::Major).unwrap()));
        assert!(!minor.agrees_with(&Money::read("10.11", Some("BRL"), Unit::Major).unwrap()));
    }

    #[test]
    fn what_is_no_amount_is_said() {
        assert_eq!(Money::read("ten", None, Unit::Major).unwrap_err(), "`ten` is not an amount");
    }
}
