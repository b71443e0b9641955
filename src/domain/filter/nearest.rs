//! The word that somebody meant who misspelt it.

use strsim::osa_distance;

/// Up to this many letters, one slip is forgiven; beyond, two.
const SHORT_CHARS_MAX: usize = 5;

/// The known word that a written one is a slip of the keyboard away from: a letter more, less, changed or swapped. The
/// nearest, and of several as near the first.
pub(super) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let written = written.to_lowercase();
    let slips_max = if written.chars().count() <= SHORT_CHARS_MAX { 1 } else { 2 };
    let distances = known.iter().map(|word| (osa_distance(&written, word), *word));
    distances.filter(|(slips, _)| *slips <= slips_max).min_by_key(|(slips, _)| *slips).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::swapped("stukc", Some("stuck"))]
    #[case::left_out("ambigous", Some("ambiguous"))]
    #[case::two_slips("dupplicatte", Some("duplicate"))]
    #[case::capitals("LOSTT", Some("lost"))]
    #[case::short_words_must_be_near("luck", None)]
    #[case::another_word("mark_done", None)]
    fn a_slip_finds_its_word(#[case] written: &str, #[case] meant: Option<&str>) {
        assert_eq!(nearest(written, &["stuck", "ambiguous", "duplicate", "lost", "mismatch"]), meant);
    }
}
