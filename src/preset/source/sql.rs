//! The little that must be known of SQL to check a preset's statements without a database.

use super::Engine;
use std::collections::BTreeSet;

/// The named parameters (`:name`) of a statement, in their order, each once. Quoted text and comments have none.
pub fn parameters_of(sql: &str) -> Vec<String> {
    let characters: Vec<char> = sql.chars().collect();
    let mut known = BTreeSet::new();
    let names = places_of(&characters).into_iter().filter_map(|(start, end)| {
        let name: String = characters.get(start..end).unwrap_or_default().iter().collect();
        known.insert(name.clone()).then_some(name)
    });
    names.collect()
}

/// A statement with its named parameters as an engine wants them (`$1`, or `?` for each), and the names in that order.
pub fn positional(sql: &str, engine: Engine) -> (String, Vec<String>) {
    let characters: Vec<char> = sql.chars().collect();
    let (mut written, mut names, mut last) = (String::with_capacity(sql.len()), Vec::<String>::new(), 0);
    for (start, end) in places_of(&characters) {
        written.extend(characters.get(last..start).unwrap_or_default());
        last = end;
        let name: String = characters.get(start..end).unwrap_or_default().iter().collect();
        match engine {
            Engine::Mysql => {
                written.push('?');
                names.push(name);
            }
            Engine::Postgres | Engine::Sqlite => {
                let known = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                written.push_str(&format!(
                    "{}{}",
                    if engine == Engine::Postgres { '$' } else { '?' },
                    known + 1
                ));
            }
        }
    }
    written.extend(characters.get(last..).unwrap_or_default());
    (written, names)
}

/// Where the named parameters of a statement begin and end.
fn places_of(characters: &[char]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&character) = characters.get(at) {
        match (character, characters.get(at + 1)) {
            ('\'' | '"' | '`', _) => at = end_of_quoted(characters, at, character),
            ('-', Some('-')) => at = skip_until(characters, at, |c| c == '\n'),
            (':', Some(':')) => at += 2,
            (':', Some(next)) if next.is_ascii_alphabetic() || *next == '_' => {
                let end = skip_until(characters, at + 1, |c| !(c.is_ascii_alphanumeric() || c == '_'));
                found.push((at, end));
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
    fn each_engine_numbers_parameters_in_its_own_way() {
        let sql = "UPDATE t SET a = :now::text, b = ARRAY[:x] WHERE c = ':x' AND d = :now";
        let of = |engine| positional(sql, engine);
        let names = [":now".to_owned(), ":x".to_owned()];
        let expected = "UPDATE t SET a = $1::text, b = ARRAY[$2] WHERE c = ':x' AND d = $1";
        assert_eq!(of(Engine::Postgres), (expected.to_owned(), names.to_vec()));
        let expected = "UPDATE t SET a = ?::text, b = ARRAY[?] WHERE c = ':x' AND d = ?";
        let names = [":now", ":x", ":now"].map(str::to_owned).to_vec();
        assert_eq!(of(Engine::Mysql), (expected.to_owned(), names));
    }

    #[test]
    fn an_open_quote_ends_with_the_text() {
        assert_eq!(parameters_of("a = ':x"), Vec::<String>::new());
    }
}
