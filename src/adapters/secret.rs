//! Where secrets are read from: the environment, a file, or a program's output. Whoever reads one keeps it out of everything that is shown.

mod command;

use crate::preset::provider::SecretPlace;
use std::sync::Arc;

/// How environment variables are looked up: handed in, so that nothing here reads the process's own.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A file with more than this is no secret.
const SECRET_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads a secret; its last line break does not count.
///
/// # Errors
/// A sentence, when it is missing, empty or not readable.
pub fn read(place: &SecretPlace, environment: &Environment) -> Result<String, String> {
    let found = match place {
        SecretPlace::Command(words) => command::output(words),
        SecretPlace::Env(name) => environment(name),
        SecretPlace::File(path) => {
            let size = std::fs::metadata(path).map(|data| data.len());
            match size {
                Ok(size) if size <= SECRET_FILE_BYTES_MAX => std::fs::read_to_string(path).ok(),
                _ => None,
            }
        }
    };
    let secret = found.map(|text| text.trim_end_matches(['\r', '\n']).to_owned()).unwrap_or_default();
    if secret.is_empty() {
        return Err(format!("the secret is missing: {place} is not set, empty or not readable"));
    }
    Ok(secret)
}
