//! The shape of an error text: what is the same in the errors of many items, so that they can be put together. For the eye
//! alone: no verdict and no advice rests on it.

/// How much of a text is looked at.
const LOOKED_AT_BYTES_MAX: usize = 4_096;
/// How long a shape may be, in characters.
const SHAPE_CHARS_MAX: usize = 160;
/// From how many signs on a run of hexadecimal digits is an id and no word.
const HEX_RUN_MIN: usize = 8;

/// One line of the text with every number and id as `#`. Raw: clean it before showing.
///
/// Of a Python traceback it is the last line, which names the error; of everything else the first.
pub fn shape_of(text: &str) -> String {
    let looked_at = text.get(..text.floor_char_boundary(LOOKED_AT_BYTES_MAX)).unwrap_or("");
    let mut lines = looked_at.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = if looked_at.trim_start().starts_with("Traceback (most recent call last)") {
        // The end counts, and a long text has it beyond what is looked at from its beginning.
        text.lines().rev().map(str::trim).find(|line| !line.is_empty())
    } else {
        lines.next()
    };
    let line = line.unwrap_or("");
    let mut shape = String::with_capacity(line.len().min(SHAPE_CHARS_MAX * 4));
    for word in line.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()).take(SHAPE_CHARS_MAX) {
        let (bare, end) = match word.char_indices().next_back() {
            Some((at, last)) if !last.is_ascii_alphanumeric() => word.split_at(at),
            _ => (word, ""),
        };
        push_word(&mut shape, bare);
        // Ids have many parts with signs between: `#-#-#` is one.
        shape.push_str(end);
    }
    while let Some(at) = ["#-#", "#.#", "#:#"].iter().find_map(|joined| shape.find(joined)) {
        shape.replace_range(at..at + 3, "#");
    }
    shape.chars().take(SHAPE_CHARS_MAX).collect()
}

/// A word with its numbers as `#`; as a whole where it looks like an id.
fn push_word(shape: &mut String, word: &str) {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_hex = word.len() >= HEX_RUN_MIN && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_long_mix = has_digit && word.len() >= 2 * HEX_RUN_MIN;
    if has_digit && (is_hex || is_long_mix) {
        shape.push('#');
        return;
    }
    let mut in_number = false;
    for letter in word.chars() {
        if letter.is_ascii_digit() {
            if !in_number {
                shape.push('#');
            }
            in_number = true;
        } else {
            in_number = false;
            shape.push(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("Read timed out. (read timeout=10)", "Read timed out. (read timeout=#)")]
    #[case("connect to 10.0.0.17:8421 failed", "connect to # failed")]
    #[case("order 0196a1b2-0000-7000-8000-0012deadbeef gone", "order # gone")]
    #[case("charge ch_000017 declined", "charge ch_# declined")]
    #[case(
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nTimeout: after 30 s\n",
        "Timeout: after # s"
    )]
    #[case(
        "java.net.SocketTimeoutException: Read timed out\n\tat a.b(C.java:3)",
        "java.net.SocketTimeoutException: Read timed out"
    )]
    #[case("", "")]
    #[case("délai dépassé: 12 s", "délai dépassé: # s")]
    fn numbers_and_ids_are_no_part_of_a_shape(#[case] text: &str, #[case] shape: &str) {
        assert_eq!(shape_of(text), shape);
    }

    proptest! {
        #[test]
        fn any_text_has_a_short_shape(text in "\\PC{0,300}", number in any::<u32>(), other in any::<u32>()) {
            prop_assert!(shape_of(&text).chars().count() <= SHAPE_CHARS_MAX);
            prop_assert_eq!(shape_of(&format!("timeout after {number} ms")), shape_of(&format!("timeout after {other} ms")));
        }
    }
}
