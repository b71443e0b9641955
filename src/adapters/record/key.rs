//! The key that signs checkpoints, in a file that is for its owner alone.

use super::schema::make_folder;
use crate::domain::signing::{PublicKey, SigningKey, private_text};
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// What a key file can be found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Not there yet: it is made when something is signed for the first time.
    Missing,
    /// For its owner alone.
    Private(PublicKey),
    /// Readable by other accounts of this machine, so any of them can sign.
    Shared(PublicKey),
}

/// Looks at a key file and makes none.
///
/// # Errors
/// Why it cannot be read, as half a sentence about it.
pub fn look(path: &Path) -> Result<KeyState, String> {
    match read(path)? {
        None => Ok(KeyState::Missing),
        Some(key) if is_shared(path) => Ok(KeyState::Shared(key.public())),
        Some(key) => Ok(KeyState::Private(key.public())),
    }
}

/// The public keys in a file that somebody keeps elsewhere: one, or those of several operators.
///
/// # Errors
/// Why it cannot be read, as half a sentence about it.
pub fn read_public(path: &Path) -> Result<Vec<PublicKey>, String> {
    let text = std::fs::read_to_string(path).map_err(|fault| format!("cannot be read ({fault})"))?;
    let keys = PublicKey::all_from_text(&text);
    if keys.is_empty() { Err("holds no public key".to_owned()) } else { Ok(keys) }
}

/// The key; made where none is there yet.
pub(super) fn read_or_make(path: &Path) -> Result<SigningKey, String> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    make(path)?;
    // Read again: another process may have been the one that made it.
    read(path)?.ok_or_else(|| "is gone again".to_owned())
}

fn read(path: &Path) -> Result<Option<SigningKey>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => SigningKey::from_text(&text).map(Some).ok_or_else(|| "holds no key".to_owned()),
        Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(format!("cannot be read ({fault})")),
    }
}

/// Written beside its place and moved there whole, so that nobody reads half a key, and never in the place of another.
fn make(path: &Path) -> Result<(), String> {
    let unmade = |fault: std::io::Error| format!("cannot be made ({fault})");
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| "cannot be made: no randomness".to_owned())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder).map_err(unmade)?;
    // Such a file is made with the mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unmade)?;
    file.write_all(private_text(document.as_ref()).as_bytes()).map_err(unmade)?;
    file.as_file().sync_all().map_err(unmade)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(fault) if fault.error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(fault) => Err(unmade(fault.error)),
    }
}

#[cfg(unix)]
fn is_shared(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_shared(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_key_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/audit.key");
        assert_eq!(look(&path), Ok(KeyState::Missing));
        let public = read_or_make(&path).unwrap().public();
        assert_eq!(read_or_make(&path).unwrap().public(), public);
        assert_eq!(look(&path), Ok(KeyState::Private(public)));
        let files: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            assert_eq!(look(&path), Ok(KeyState::Shared(public)));
        }
    }

    #[test]
    fn many_who_make_it_at_once_have_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.key");
        let makers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || read_or_make(&path).unwrap().public())
            })
            .collect();
        let mut made: Vec<PublicKey> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
        made.dedup();
        assert_eq!(made.len(), 1);
    }

    #[test]
    fn what_is_no_key_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.key");
        std::fs::write(&path, "not a key").unwrap();
        assert_eq!(read_or_make(&path).unwrap_err(), "holds no key");
        assert_eq!(look(&path).unwrap_err(), "holds no key");
        assert_eq!(read_public(&path).unwrap_err(), "holds no public key");
        assert_eq!(std::fs::read(&path).unwrap(), b"not a key");
        assert!(read_or_make(&path.join("below")).unwrap_err().starts_with("cannot be "));
    }

    #[test]
    fn the_public_half_is_read_from_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("audit.key"), folder.path().join("audit.pub"));
        let public = read_or_make(&path).unwrap().public();
        std::fs::write(&copy, public.to_text()).unwrap();
        assert_eq!(read_public(&copy), Ok(vec![public]));
        assert!(read_public(&folder.path().join("none")).unwrap_err().starts_with("cannot be read ("));
    }
}
