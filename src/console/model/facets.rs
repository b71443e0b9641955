//! Triage: how many findings there are of each verdict, finding, advice, risk, kind, source and error class, and the filter
//! that each count stands for. It is a filter as a person could have typed it, so it can be read, changed and taken away.

use super::findings::Findings;
use super::words::WordSet;
use crate::console::words;
use crate::domain::advice::Advice;
use crate::domain::error_class::ErrorClass;
use crate::domain::finding::FindingKind;
use crate::domain::policy::Risk;
use crate::domain::text::clean_cut;
use crate::domain::verdict::Verdict;
use std::collections::BTreeMap;

/// What findings are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// What the evidence says.
    Verdict,
    /// Why it needs a person.
    Finding,
    /// What to do.
    Advice,
    /// What a wrong decision costs.
    Risk,
    /// The kind.
    Kind,
    /// The source.
    Source,
    /// What its error proves.
    Class,
}

impl Facet {
    /// Every one, in the order of the screen.
    pub const ALL: [Self; 7] =
        [Self::Verdict, Self::Finding, Self::Advice, Self::Risk, Self::Kind, Self::Source, Self::Class];

    /// Its field in a filter.
    pub fn field(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Finding => "finding",
            Self::Advice => "advice",
            Self::Risk => "risk",
            Self::Kind => "kind",
            Self::Source => "source",
            Self::Class => "class",
        }
    }
}

/// One count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// What is counted by.
    pub facet: Facet,
    /// The value as a filter spells it; `None` for "not checked", which has no word of its own.
    pub value: Option<String>,
    /// The value as the screen spells it: clean.
    pub label: String,
    /// How many there are in all.
    pub total: usize,
    /// How many of them the filter lets through.
    pub shown: usize,
    /// Whether the filter asks for it.
    pub is_on: bool,
}

/// Every count that is not nothing, or that the filter asks for, in the order of the screen.
pub fn tallies(findings: &Findings) -> Vec<Tally> {
    let typed = findings.typed();
    let (of_words, of_outcomes) = (findings.word_counts(), findings.outcome_counts());
    let mut tallies = Vec::new();
    let mut push = |facet, value: Option<&str>, label: String, (total, shown): (usize, usize)| {
        let is_on = is_asked(typed, facet, value);
        if total > 0 || is_on {
            tallies.push(Tally { facet, value: value.map(str::to_owned), label, total, shown, is_on });
        }
    };
    for (verdict, counted) in Verdict::ALL.into_iter().map(Some).chain([None]).zip(of_outcomes.verdicts) {
        let label = format!("{} {}", words::verdict_sign(verdict), words::verdict(verdict));
        push(Facet::Verdict, verdict.map(Verdict::as_str), label, counted);
    }
    let sum = |is: &dyn Fn(&WordSet) -> bool| {
        let those = of_words.iter().filter(|(set, _)| is(set)).map(|(_, counted)| *counted);
        those.fold((0, 0), |(total, shown), (more, visible)| (total + more, shown + visible))
    };
    for kind in FindingKind::ALL {
        let label = format!("{} {}", words::finding_sign(kind), words::finding(kind));
        push(Facet::Finding, Some(kind.as_str()), label, sum(&|set| set.finding == kind));
    }
    for (advice, counted) in Advice::ALL.into_iter().zip(of_outcomes.advices) {
        push(Facet::Advice, Some(advice.as_str()), words::advice(advice).to_owned(), counted);
    }
    for risk in Risk::ALL {
        push(Facet::Risk, Some(risk.as_str()), risk.as_str().replace('_', " "), sum(&|set| set.risk == risk));
    }
    for (facet, name) in
        [(Facet::Kind, WordSet::kind as fn(&WordSet) -> &str), (Facet::Source, WordSet::source)]
    {
        let mut counted: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (set, (total, shown)) in &of_words {
            let sums = counted.entry(name(set)).or_default();
            (sums.0, sums.1) = (sums.0 + total, sums.1 + shown);
        }
        // Neither can be spelled in a filter.
        for (name, counts) in
            counted.into_iter().filter(|(name, _)| !name.is_empty() && !name.contains(['"', ',']))
        {
            push(facet, Some(name), clean_cut(name, 40), counts);
        }
    }
    for class in ErrorClass::ALL {
        let label = words::class(class).to_owned();
        push(Facet::Class, Some(class.as_str()), label, sum(&|set| set.class == Some(class)));
    }
    tallies
}

/// Counts by outcome, each in all and of those shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutcomeCounts {
    /// By verdict in the order of [`Verdict::ALL`], then those not checked.
    pub verdicts: [(usize, usize); Verdict::ALL.len() + 1],
    /// By advice in the order of [`Advice::ALL`].
    pub advices: [(usize, usize); Advice::ALL.len()],
}

/// Whether a filter asks for a value.
pub fn is_asked(typed: &str, facet: Facet, value: Option<&str>) -> bool {
    let Some(value) = value else { return split(typed).iter().any(|word| *word == unchecked()) };
    split(typed).iter().filter_map(|word| asked_of(word, facet)).flatten().any(|other| other == value)
}

/// A filter with a value asked for that was not, or not any more. Values of one facet are joined by "or".
pub fn toggled(typed: &str, facet: Facet, value: Option<&str>) -> String {
    let was_asked = is_asked(typed, facet, value);
    let mut words: Vec<String> = split(typed);
    let Some(value) = value else {
        words.retain(|word| *word != unchecked());
        if !was_asked {
            // Nothing is checked and unchecked at once.
            words.retain(|word| asked_of(word, Facet::Verdict).is_none());
            words.push(unchecked());
        }
        return words.join(" ");
    };
    if facet == Facet::Verdict {
        words.retain(|word| *word != unchecked());
    }
    let place = words.iter().position(|word| asked_of(word, facet).is_some());
    let mut values: Vec<String> =
        place.and_then(|place| asked_of(words.get(place)?, facet)).unwrap_or_default();
    if was_asked {
        values.retain(|other| other != value);
    } else {
        values.push(value.to_owned());
    }
    let joined = values.join(",");
    let quotes = if joined.contains(char::is_whitespace) { "\"" } else { "" };
    let word = format!("{}:{quotes}{joined}{quotes}", facet.field());
    match (place, values.is_empty()) {
        (Some(place), true) => {
            words.remove(place);
        }
        (Some(place), false) => {
            if let Some(known) = words.get_mut(place) {
                *known = word;
            }
        }
        (None, _) => words.push(word),
    }
    words.join(" ")
}

/// The values that a word of a filter asks for, where it is about a facet.
fn asked_of(word: &str, facet: Facet) -> Option<Vec<String>> {
    let bare = word.replace('"', "");
    let values = bare.strip_prefix(facet.field())?.strip_prefix(':')?;
    Some(values.split(',').map(str::to_owned).collect())
}

/// "Not checked" in a filter: there is no word for it, so it is said as "none of the verdicts".
fn unchecked() -> String {
    format!("-verdict:{}", Verdict::ALL.map(Verdict::as_str).join(","))
}

/// A filter as a title tells it: what has no word of its own in words.
pub fn told(typed: &str) -> String {
    typed.replace(&unchecked(), "(not checked)")
}

/// A filter's words as they were typed, quotes and all.
fn split(typed: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in typed.chars() {
        quoted ^= letter == '"';
        if letter.is_whitespace() && !quoted {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        } else {
            word.push(letter);
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::filter::Filter;
    use rstest::rstest;

    #[rstest]
    #[case::alone("", Facet::Verdict, Some("unknown"), "verdict:unknown")]
    #[case::beside("age>2h", Facet::Kind, Some("invoice"), "age>2h kind:invoice")]
    #[case::or("kind:invoice -timeout", Facet::Kind, Some("email"), "kind:invoice,email -timeout")]
    #[case::again("kind:invoice,email x", Facet::Kind, Some("email"), "kind:invoice x")]
    #[case::last("kind:email x", Facet::Kind, Some("email"), "x")]
    #[case::quoted("", Facet::Kind, Some("big order"), "kind:\"big order\"")]
    #[case::quoted_again(
        "\"read timed\" kind:\"big order\"",
        Facet::Kind,
        Some("big order"),
        "\"read timed\""
    )]
    #[case::unchecked(
        "verdict:unknown a",
        Facet::Verdict,
        None,
        "a -verdict:duplicated,mismatch,happened,pending,failed,not_found,unknown"
    )]
    #[case::unchecked_again(
        "a -verdict:duplicated,mismatch,happened,pending,failed,not_found,unknown",
        Facet::Verdict,
        None,
        "a"
    )]
    #[case::checked_after_all(
        "-verdict:duplicated,mismatch,happened,pending,failed,not_found,unknown",
        Facet::Verdict,
        Some("failed"),
        "verdict:failed"
    )]
    fn a_value_is_asked_for_and_not_any_more(
        #[case] typed: &str,
        #[case] facet: Facet,
        #[case] value: Option<&str>,
        #[case] then: &str,
    ) {
        assert_eq!(toggled(typed, facet, value), then);
        assert!(Filter::parse(then).is_ok());
        assert_ne!(is_asked(typed, facet, value), is_asked(then, facet, value));
    }
}
