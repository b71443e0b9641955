//! The little that must be known of SQL to check a preset's statements without a database.

use std::collections::BTreeSet;

/// The named parameters (`:name`) of a statement, in their order, each once. Quoted text and comments have none.
pub fn parameters_of(sql: &str) -> Vec<String> {
    let characters: Vec<char> = sql.chars().collect();
    let (mut found, mut known, mut at) = (Vec::new(), BTreeSet::new(), 0);
    while let Some(&character) = characters.get(at) {
        match (character, characters.get(at + 1)) {
            ('\'' | '"' | '`', _) => at = end_of_quoted(&characters, at, character),
            ('[', _) => at = end_of_quoted(&characters, at, ']'),
            ('-', Some('-')) => at = skip_until(&characters, at, |c| c == '\n'),
            (':', Some(':')) => at += 2,
            (':', Some(next)) if next.is_ascii_alphabetic() || *next == '_' => {
                let end = skip_until(&characters, at + 1, |c| !(c.is_ascii_alphanumeric() || c == '_'));
                let name: String = characters.get(at..end).unwrap_or_default().iter().collect();
                if known.insert(name.clone()) {
                    found.push(name);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn end_of_quoted(characters: &[char], start: usize, closing: char) -> usize {
    skip_until(characters, start + 1, |c| c == closing) + 1
}

fn skip_until(characters: &[char], from: usize, ends: impl Fn(char) -> bool) -> usize {
    characters.iter().skip(from).position(|c| ends(*c)).map_or(characters.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_outside_of_quotes() {
        let sql =
            "UPDATE t SET a = :now, b = ':no' -- :no\n, \"c:d\" = x::text WHERE k IS :seen_k AND s IS :now";
        assert_eq!(parameters_of(sql), [":now", ":seen_k"]);
    }

    #[test]
    fn an_open_quote_ends_with_the_text() {
        assert_eq!(parameters_of("a = ':x"), Vec::<String>::new());
    }
}
