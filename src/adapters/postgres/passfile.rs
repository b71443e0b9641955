//! `~/.pgpass`: where people keep the passwords of their databases.

use crate::adapters::secret::Environment;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The password that the file has for a connection; `None` where there is none, or where others may read the file.
pub(super) fn password(config: &Config, named: Option<String>, environment: &Environment) -> Option<String> {
    let path = named
        .or_else(|| environment("PGPASSFILE"))
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&environment("HOME")?).join(".pgpass")))?;
    if !is_private(&path) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        // libpq calls its socket so.
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [&*host, &*port, config.get_dbname().unwrap_or(""), config.get_user().unwrap_or("")];
    find(&text, wanted)
}

/// libpq ignores a file that others may read, and so do we.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|data| data.permissions().mode().trailing_zeros() >= 6)
}

#[cfg(not(unix))]
fn is_private(_path: &Path) -> bool {
    true
}

/// The password of the first line that fits: `host:port:database:user:password`, `*` for any, `\` before `:` and `\`.
fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields_of(line);
        let password = fields.get(4..).map(|rest| rest.join(":")).filter(|password| !password.is_empty())?;
        fields.truncate(4);
        let fits = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then_some(password)
    })
}

fn fields_of(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut characters) = (Vec::new(), String::new(), line.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => field.extend(characters.next()),
            ':' => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const FILE: &str =
        "# work\ndb.example:5432:app:ana:first\n*:*:other:ana:with\\:colon\n*:*:*:*:any:thing\n";

    #[rstest]
    #[case::exact(["db.example", "5432", "app", "ana"], Some("first"))]
    #[case::stars_and_escape(["x", "1", "other", "ana"], Some("with:colon"))]
    #[case::last(["x", "1", "y", "z"], Some("any:thing"))]
    fn the_first_line_that_fits_counts(#[case] wanted: [&str; 4], #[case] password: Option<&str>) {
        assert_eq!(find(FILE, wanted).as_deref(), password);
    }

    #[test]
    fn a_line_without_a_password_fits_nothing() {
        assert_eq!(find("a:1:b:c\n\n::::\n", ["a", "1", "b", "c"]), None);
    }
}
