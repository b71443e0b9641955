//! Views that the console saved: a file of its own in the platform's state folder, never the configuration itself.

use super::ConfigFault;
use super::file::ViewEntry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The file's name in the platform's state folder.
pub const FILE_NAME: &str = "views.toml";

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewsFile {
    #[serde(default)]
    views: BTreeMap<String, ViewEntry>,
}

/// Reads the views that were saved; none where there is no file.
///
/// # Errors
/// The file cannot be read, or is no such file.
pub fn read(path: &Path) -> Result<BTreeMap<String, ViewEntry>, ConfigFault> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(fault) => return Err(faulty(path, &fault)),
    };
    let file: ViewsFile = toml::from_str(&text)
        .map_err(|fault| faulty(path, &crate::preset::catalogue::one_line(&fault, &text)))?;
    Ok(file.views)
}

/// Adds a view, or replaces the one of its name. Whoever reads the file meanwhile finds the old one or the new one whole.
///
/// # Errors
/// The file cannot be read or written.
pub fn save(path: &Path, name: &str, view: ViewEntry) -> Result<(), ConfigFault> {
    let mut views = read(path)?;
    views.insert(name.to_owned(), view);
    let text = toml::to_string(&ViewsFile { views }).map_err(|fault| faulty(path, &fault))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|fault| faulty(path, &fault))
}

fn faulty(path: &Path, fault: &impl std::fmt::Display) -> ConfigFault {
    ConfigFault::new(
        format!("{}: the saved views cannot be used ({fault})", path.display()),
        "Mend the file, or move it away.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_again_and_a_name_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/unstuck").join(FILE_NAME);
        assert_eq!(read(&path).unwrap(), BTreeMap::new());
        let view = |filter: &str| ViewEntry {
            filter: Some(filter.to_owned()),
            sort: Some("age".to_owned()),
            reversed: true,
            group: None,
        };
        save(&path, "old \"ones\"", view("age>2h")).unwrap();
        save(&path, "money", view("risk:financial")).unwrap();
        save(&path, "money", view("verdict:duplicated")).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.keys().map(String::as_str).collect::<Vec<_>>(), ["money", "old \"ones\""]);
        assert_eq!(read["money"], view("verdict:duplicated"));
    }

    /// What somebody wrote there by hand is never overwritten because it cannot be read.
    #[test]
    fn a_broken_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "views = 3").unwrap();
        assert!(save(&path, "money", ViewEntry::default()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "views = 3");
    }
}
