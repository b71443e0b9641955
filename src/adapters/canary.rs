//! The canary: a reference that is known to be there. An absence counts only while it is found, or a look-up that is spelled
//! wrong, or goes to another account, would show nothing of anybody and be taken for one.

use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::text::clean_cut;

/// The canary that has to be asked for before an absence counts; `None` where there is none, or it was what was asked for.
pub(super) fn due<'a>(canary: Option<&'a str>, asked_for: &str) -> Option<&'a str> {
    canary.filter(|canary| *canary != asked_for)
}

/// Whether an absence counts, by what came of asking for the canary. `doubt` is what else to ask oneself.
pub(super) fn confirmed(canary: &str, is_found: Result<bool, Fault>, doubt: &str) -> Result<(), Fault> {
    let why = format!("nothing was found, and neither is the canary `{}`", clean_cut(canary, 80));
    match is_found {
        Ok(true) => Ok(()),
        Ok(false) => Err(Fault::new(FaultKind::Shape, format!("{why}: {doubt}"))),
        Err(fault) => Err(Fault { detail: format!("{why}: {}", fault.detail), ..fault }),
    }
}
