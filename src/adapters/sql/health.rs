//! Lines of a source's health that are the same for every engine.

use crate::domain::cell::Cell;
use crate::domain::item::State;
use crate::domain::text::clean_cut;
use crate::ports::source::{Examined, Health, Page, SourceFault, SourceFaultKind, Wanted};
use crate::preset::source::{Mapping, Table};

/// How many different statuses are listed.
pub const STATUSES_MAX: usize = 30;

/// As it must be.
pub fn good(what: &str, finding: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), health: Health::Good, finding: finding.into() }
}

/// It works, and somebody should know.
pub fn doubtful(what: &str, finding: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), health: Health::Doubtful, finding: finding.into() }
}

/// It does not work, or cannot be reached.
pub fn bad(what: &str, fault: &SourceFault) -> Examined {
    let health = match fault.kind {
        SourceFaultKind::Unreachable | SourceFaultKind::Busy => Health::Unreachable,
        SourceFaultKind::Mismatch => Health::Misfit,
        SourceFaultKind::Broken | SourceFaultKind::Interrupted => Health::Bad,
    };
    Examined { what: what.to_owned(), health, finding: format!("{}. {}", fault.what, fault.do_next) }
}

/// The statuses there are, each with its state and how many rows have it. One that no rule names is never listed as a
/// finding: somebody must know that it is there.
pub fn statuses(found: &[(Cell, Option<State>, i64)]) -> Examined {
    let is_whole = found.iter().all(|(_, state, _)| state.is_some());
    let told: Vec<String> = found
        .iter()
        .map(|(native, state, count)| {
            let native = clean_cut(&native.shown(), 40);
            match state {
                Some(state) => format!("`{native}` = {state} ({count})"),
                None => format!("`{native}` = NOT IN THE PRESET ({count})"),
            }
        })
        .collect();
    let told = if told.is_empty() { "the table is empty".to_owned() } else { told.join(", ") };
    if is_whole { good("statuses", told) } else { doubtful("statuses", told) }
}

/// How many candidates are looked at.
pub const CANDIDATES_MAX: usize = 1_000;

/// The first of those that may be findings.
pub fn candidates() -> Wanted {
    Wanted {
        running_older_than: chrono::TimeDelta::zero(),
        page_items_max: CANDIDATES_MAX,
        every_item: false,
    }
}

/// Whether the times of a page of candidates can be read.
pub fn times(page: &Page) -> Examined {
    let odd = page.items.iter().find_map(|item| {
        let times = [&item.times.created, &item.times.started, &item.times.updated];
        times.into_iter().find(|reading| reading.known().is_none() && !reading.is_missing()).cloned()
    });
    match odd {
        Some(reading) => doubtful("times", format!("some cannot be read for certain, such as {reading}")),
        None => good("times", format!("{} candidates looked at, all readable", page.items.len())),
    }
}

/// Tables that there are, with their columns.
pub fn tables(tables: &[Table]) -> Examined {
    let names: Vec<String> = tables
        .iter()
        .map(|table| {
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
            let schema = if table.is_first { String::new() } else { format!("{}.", table.schema) };
            clean_cut(&format!("{schema}{}({})", table.name, columns.join(", ")), 200)
        })
        .collect();
    doubtful(
        "tables there are",
        if names.is_empty() { "no tables at all".to_owned() } else { names.join("; ") },
    )
}

/// The shape that fits, where the preset has a name for it.
pub fn variant(mapping: &Mapping) -> Option<Examined> {
    (!mapping.variant.is_empty()).then(|| good("variant", mapping.variant.to_string()))
}

/// Whether decisions can be written down in their table.
pub fn decisions_table(table: &str, checked: Result<(), SourceFault>) -> Examined {
    match checked {
        Ok(()) => good("decisions table", format!("`{}` is there", clean_cut(table, 80))),
        Err(fault) => bad("decisions table", &fault),
    }
}

/// The columns of what is read.
pub fn columns(name: &str, columns: &[(String, String)]) -> Examined {
    let names: Vec<String> =
        columns.iter().map(|(name, declared)| format!("{name} {declared}").trim().to_owned()).collect();
    good("table", clean_cut(&format!("{name}({})", names.join(", ")), 300))
}
