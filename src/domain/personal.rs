//! Strikes out personal details of answers that are kept as examples: by the names of fields, and by what texts look like.
//!
//! More is struck out than has to be: an example stays one without a description, and a person's name in it stays for ever.

use crate::domain::mask::{MASK, is_secret_name, mask_text};
use regex::Regex;
use std::sync::LazyLock;

/// What stands in place of a text that was struck out.
pub const STRUCK: &str = "struck out";

/// Parts of names whose values are about somebody, compared without case and separators.
const PERSONAL_NAME_PARTS: [&str; 38] = [
    "email",
    "phone",
    "mobile",
    "fullname",
    "firstname",
    "lastname",
    "surname",
    "givenname",
    "familyname",
    "displayname",
    "username",
    "holder",
    "address",
    "street",
    "postal",
    "postcode",
    "zipcode",
    "birth",
    "taxid",
    "cnpj",
    "passport",
    "customer",
    "shipping",
    "billing",
    "recipient",
    "sender",
    "payer",
    "payee",
    "beneficiary",
    "debtor",
    "creditor",
    "descri",
    "subject",
    "comment",
    "fingerprint",
    "receipt",
    "metadata",
    "customfield",
];
/// Whole names of that sort.
const PERSONAL_NAMES: [&str; 27] = [
    "name", "to", "from", "cc", "bcc", "tel", "fax", "zip", "city", "ip", "dob", "user", "login", "text",
    "body", "note", "notes", "memo", "message", "title", "line1", "line2", "author", "owner", "devedor",
    "nome", "last4",
];

/// Whether the values of a field of that name, and everything in it, are struck out.
pub fn is_personal_name(name: &str) -> bool {
    let folded: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    is_secret_name(name)
        || PERSONAL_NAMES.contains(&folded.as_str())
        || PERSONAL_NAME_PARTS.iter().any(|part| folded.contains(part))
}

/// A text without what looks like an address of the web or of mail, a telephone number, an account, a card, a key or a token.
pub fn strike_text(text: &str) -> String {
    static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)https?://[^\s<>]+",
            r"|[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)*",
            r"|\+\d[\d\s().-]{5,}\d",
            r"|\(\d{2,5}\)\s?\d[\d\s-]{4,}\d",
            r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b",
            r"|\b\d{3}\.\d{3}\.\d{3}-\d{2}\b",
            r"|\b\d{1,3}(?:\.\d{1,3}){3}\b",
            r"|\beyJ[\w-]+\.[\w-]+\.[\w-]*",
            r"|\b[\w+/=-]{40,}",
        ))
        .ok()
    });
    let Some(looks) = LOOKS.as_ref() else { return STRUCK.to_owned() };
    let masked = mask_text(text).replace(MASK, STRUCK);
    looks.replace_all(&masked, STRUCK).into_owned()
}

/// The same, but for one text that stays wherever it stands: what was asked for.
pub fn strike_around(text: &str, kept: &str) -> String {
    if kept.is_empty() {
        return strike_text(text);
    }
    text.split(kept).map(strike_text).collect::<Vec<_>>().join(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("ana@example.com wrote", "struck out wrote")]
    #[case("call +351 912 345 678 now", "call struck out now")]
    #[case("call (021) 555 12 34", "call struck out")]
    #[case("card 4242 4242 4242 4242", "card struck out")]
    #[case("DE89 3704 0044 0532 0130 00", "struck out")]
    #[case("de89370400440532013000", "struck out")]
    #[case("123.456.789-09", "struck out")]
    #[case("from 192.0.2.7", "from struck out")]
    #[case("see https://pay.example/receipts/abc?x=1 please", "see struck out please")]
    #[case("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "struck out")]
    #[case("sk_live_abcdefgh", "struck out")]
    #[case("0123456789abcdef0123456789abcdef01234567", "struck out")]
    fn what_looks_personal_is_struck_out(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(strike_text(text), expected);
    }

    #[rstest]
    #[case("2026-11-29T14:02:05Z")]
    #[case("succeeded")]
    #[case("ch_3NqVYH2eZvKYlo2C")]
    #[case("1795960925.000200")]
    #[case("10.50")]
    #[case("invoice:1042")]
    fn what_does_not_stays(#[case] text: &str) {
        assert_eq!(strike_text(text), text);
    }

    #[test]
    fn what_was_asked_for_stays_whatever_it_looks_like() {
        let text = "to=ana@example.com and bob@example.com";
        assert_eq!(strike_around(text, "ana@example.com"), "to=ana@example.com and struck out");
        assert_eq!(strike_around("a@b.c", ""), STRUCK);
    }

    #[rstest]
    #[case("email", true)]
    #[case("receipt_email", true)]
    #[case("billing_details", true)]
    #[case("customerName", true)]
    #[case("api_key", true)]
    #[case("Phone-Number", true)]
    #[case("name", true)]
    #[case("status", false)]
    #[case("amount", false)]
    #[case("id", false)]
    #[case("created", false)]
    #[case("has_more", false)]
    fn names_tell_what_is_about_somebody(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_personal_name(name), expected);
    }
}
