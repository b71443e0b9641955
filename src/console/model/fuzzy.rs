//! Fuzzy finding: the letters of each word in their order, together where it can be, at the beginning of words best.

/// What is looked for: words, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sought {
    words: Vec<Vec<char>>,
}

/// For a letter that fits.
const LETTER: i32 = 16;
/// For one that begins a word.
const BEGINS: i32 = 8;
/// For one that follows the letter before it.
const FOLLOWS: i32 = 12;
/// For one that stands where letters were left out before it.
const GAP: i32 = -3;
/// For each letter left out; no more of them count than these.
const LEFT_OUT: i32 = -1;
const LEFT_OUT_MAX: usize = 12;

impl Sought {
    /// What is typed.
    pub fn new(typed: &str) -> Self {
        let words = typed.split_whitespace().map(|word| word.to_lowercase().chars().collect());
        Self { words: words.collect() }
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well it fits texts that are folded: each word one of them, as well as it can; `None` where a word fits none.
    pub fn fit(&self, texts: [&str; 2]) -> Option<i32> {
        let [first, second] = texts;
        let mut fit = 0;
        for word in &self.words {
            let here = fit_of(word, first, &mut |_| ());
            // Most references are keys: those are not looked at twice.
            let there = if second == first { None } else { fit_of(word, second, &mut |_| ()) };
            fit += here.max(there)?;
        }
        // Of equals the shorter one: less of it is something else.
        Some(fit * 256 - i32::try_from(first.len()).unwrap_or(255).min(255))
    }

    /// Which characters of a shown text fit, by their number; none of a word that does not fit.
    pub fn marks(&self, shown: &str) -> Vec<usize> {
        // One for one, so that places stay places.
        let folded: String =
            shown.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect();
        let mut marks = Vec::new();
        for word in &self.words {
            fit_of(word, &folded, &mut |at| {
                marks.push(folded.get(..at).unwrap_or("").chars().count());
            });
        }
        marks.sort_unstable();
        marks.dedup();
        marks
    }
}

/// How well one word fits, and where its letters stand, the last first.
fn fit_of(word: &[char], text: &str, place: &mut impl FnMut(usize)) -> Option<i32> {
    // Forward to the first end there is, then back from there: of all that end there, the one that is closest together.
    let mut at = 0;
    for letter in word {
        at += text.get(at..)?.find(*letter)? + letter.len_utf8();
    }
    let (mut fit, mut end, mut follower) = (0, at, None);
    for letter in word.iter().rev() {
        let found = text.get(..end)?.rfind(*letter)?;
        place(found);
        fit += LETTER;
        if begins_word(text, found) {
            fit += BEGINS;
        }
        if let Some(follower) = follower {
            let left_out = usize::saturating_sub(follower, found + letter.len_utf8());
            fit += match i32::try_from(left_out.min(LEFT_OUT_MAX)) {
                Ok(0) => FOLLOWS,
                Ok(left_out) => GAP + LEFT_OUT * left_out,
                Err(_) => GAP,
            };
        }
        (end, follower) = (found, Some(found));
    }
    Some(fit)
}

fn begins_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|before| !before.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn fit(typed: &str, text: &str) -> Option<i32> {
        Sought::new(typed).fit([text, text])
    }

    #[rstest]
    #[case::together("2026", "invoice:2026-05", "invoice:20-2x6")]
    #[case::at_the_beginning("mail", "mail:7", "email:7")]
    #[case::beginnings("iv7", "inv:7", "xixvx7")]
    #[case::shorter("inv:7", "inv:7", "inv:77")]
    #[case::two_words("inv 7", "inv:7", "i-n-v:1:7")]
    #[case::not_ascii("été", "été:1", "e-été-1")]
    fn the_better_fit_is_worth_more(#[case] typed: &str, #[case] better: &str, #[case] worse: &str) {
        assert!(fit(typed, better) > fit(typed, worse), "{:?} {:?}", fit(typed, better), fit(typed, worse));
        assert!(fit(typed, worse).is_some());
    }

    #[rstest]
    #[case("vni", "invoice")]
    #[case("x", "")]
    #[case("inv 8", "invoice:7")]
    fn letters_that_are_not_there_or_in_another_order_do_not_fit(#[case] typed: &str, #[case] text: &str) {
        assert_eq!(fit(typed, text), None);
    }

    #[test]
    fn a_word_may_fit_the_reference_and_another_the_key() {
        assert!(Sought::new("inv ch_9").fit(["inv:7", "ch_9"]).is_some());
        assert_eq!(Sought::new("INV").marks("x-Inv:7"), [2, 3, 4]);
    }

    proptest! {
        /// What is typed on finds fewer, never others: that is why only what fitted before is looked at again.
        #[test]
        fn more_letters_never_find_more(typed in "[a-cé \\\\!^$']{0,8}", more in "[a-cé \\\\!^$']{0,3}", text in "[a-cé:A \\\\!^$']{0,16}") {
            let text = text.to_lowercase();
            let now = fit(&format!("{typed}{more}"), &text);
            prop_assert!(now.is_none() || fit(&typed, &text).is_some());
        }

        /// Marks are the letters typed, in their order.
        #[test]
        fn marks_are_the_letters_typed(typed in "[a-cé]{1,4}", shown in "[a-cé:A]{0,16}") {
            let marks = Sought::new(&typed).marks(&shown);
            let marked: String = shown.chars().enumerate().filter(|(at, _)| marks.contains(at)).map(|(_, letter)| letter).collect();
            prop_assert!(marked.is_empty() || marked.to_lowercase() == typed);
        }
    }
}
