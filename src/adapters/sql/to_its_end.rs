//! Writes that are carried to their end, whoever stops waiting for them.

use crate::ports::source::{SourceFault, SourceFaultKind};

/// Runs work in a task of its own that is not dropped with whoever waits for it: a write that has begun is carried to its
/// end.
///
/// # Errors
/// The work's own, and one for work that panicked.
pub async fn to_its_end<T: Send + 'static>(
    place: &str,
    work: impl Future<Output = Result<T, SourceFault>> + Send + 'static,
) -> Result<T, SourceFault> {
    tokio::spawn(work).await.unwrap_or_else(|_| {
        Err(SourceFault {
            kind: SourceFaultKind::Broken,
            what: format!("{place}: writing broke off inside the program"),
            do_next: "Look at the row; report this with the output of `unstuck doctor`.".to_owned(),
            may_have_written: true,
        })
    })
}
