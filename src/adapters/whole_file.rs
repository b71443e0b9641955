//! Files that are replaced as a whole, so that nobody ever reads half of one; and the lock that keeps two from doing so at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// The account that wrote it.
    Own,
    /// Every account of the machine.
    All,
}

/// Puts a text in the place of a file, durable when it returns. Whoever reads it meanwhile reads the old one whole.
///
/// # Errors
/// The operating system's own; then the file is as it was.
pub fn replace(path: &Path, text: &[u8], readers: Readers) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".unstuck-");
    #[cfg(unix)]
    if readers == Readers::All {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    }
    #[cfg(not(unix))]
    let _everybody_anyway = readers;
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|fault| fault.error)
}

/// The text of a file; `None` where there is none.
///
/// # Errors
/// The operating system's own.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A lock beside a file, held as long as this lives; the operating system gives it back also after a kill.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock beside a file; `None` where somebody else holds it. The file itself is replaced, so it cannot hold one.
///
/// # Errors
/// The operating system's own.
pub fn lock(path: &Path) -> io::Result<Option<Lock>> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(PathBuf::from(name))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(fault)) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_replaced_whole_and_read_by_whom_it_is_for() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.prom");
        assert_eq!(read(&path).unwrap(), None);
        for (text, readers, mode) in [("one\n", Readers::All, 0o644), ("two\n", Readers::Own, 0o600)] {
            replace(&path, text.as_bytes(), readers).unwrap();
            assert_eq!(read(&path).unwrap().as_deref(), Some(text));
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing is left beside it");
        assert!(replace(&folder.path().join("no/metrics.prom"), b"x", Readers::All).is_err());
    }

    #[test]
    fn one_holds_the_lock_until_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("watch.json");
        let held = lock(&path).unwrap();
        assert!(held.is_some() && lock(&path).unwrap().is_none());
        drop(held);
        assert!(lock(&path).unwrap().is_some());
    }
}
