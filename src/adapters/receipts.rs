//! Receipts in a file: one JSON line each, where the application's own log shippers find them.

use crate::domain::mask::mask_text;
use crate::domain::text::{clean, clean_cut, escape_json};
use crate::ports::receipts::{Receipt, Receipts};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of receipts.
///
/// The file is opened for each line, so that a rotated one is not written to any more; and each line is one write at the
/// file's end, so that the lines of several processes do not mix.
#[derive(Debug, Clone)]
pub struct FileReceipts {
    path: PathBuf,
}

impl FileReceipts {
    /// Receipts at a path. Nothing is touched until the first is written.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the receipts are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a receipt could be written, by a look that writes nothing.
    ///
    /// # Errors
    /// Why not, as the end of a sentence that begins with the file's name.
    pub fn look(&self) -> Result<(), String> {
        if self.path.exists() {
            let opened = OpenOptions::new().append(true).open(&self.path);
            return opened.map(drop).map_err(|fault| format!("cannot be written ({fault})"));
        }
        let there = self.path.ancestors().skip(1).find(|folder| folder.exists());
        match there {
            Some(folder) if !folder.is_dir() => Err(format!("is in no folder: {} is none", folder.display())),
            Some(_) | None => Ok(()),
        }
    }

    fn write_line(&self, line: &str) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).create(folder)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&self.path)?.write(line.as_bytes())?;
        if written < line.len() {
            return Err(std::io::Error::other(format!(
                "only {written} of {} bytes were written",
                line.len()
            )));
        }
        Ok(())
    }
}

impl Receipts for FileReceipts {
    fn write(&self, receipt: &Receipt) -> Result<(), String> {
        let unwritten = |fault: &dyn std::fmt::Display| {
            let path = clean(&self.path.display().to_string());
            format!("The receipt could not be written to {path}: {}.", clean_cut(&fault.to_string(), 200))
        };
        let json = serde_json::to_string(&masked(receipt)).map_err(|fault| unwritten(&fault))?;
        self.write_line(&format!("{}\n", escape_json(json))).map_err(|fault| unwritten(&fault))
    }
}

/// The receipt with what may stand in its free texts hidden. Its key stays as it is: others find the job by it.
fn masked(receipt: &Receipt) -> Receipt {
    Receipt {
        previous_status: mask_text(&receipt.previous_status).into_owned(),
        reason: receipt.reason.as_deref().map(|reason| mask_text(reason).into_owned()),
        ..receipt.clone()
    }
}

#[cfg(test)]
mod tests;
