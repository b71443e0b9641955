//! How findings are asked about, in a line an operation.

use crate::domain::moment::stamp;
use crate::domain::plan::{Plan, PlannedListing};
use crate::domain::slowness::{Measured, Slowness};
use crate::domain::text::{clean, count_of};
use crate::workflow::sweep::Planned;
use chrono::SubsecRound;
use serde_json::json;
use std::time::Duration;

/// What a plan comes to, where its provider is as slow as it was.
pub fn plan(planned: &Planned, slowness: Option<&Slowness>) -> String {
    let name = name(planned);
    let Some(plan) = &planned.plan else {
        return format!(
            "{name}: {} that nobody can be asked about",
            count_of(planned.found.len(), "finding")
        );
    };
    let Some(listing) = &plan.listing else {
        let requests = plan.requests();
        return format!(
            "{name}: {} one by one: {}{}, {} at its pace; {}",
            count_of(plan.items, "finding"),
            count_of(requests, "request"),
            confirming(plan),
            about(plan.time_of(requests)),
            as_slow(plan, slowness)
        );
    };
    let rest = match plan.one_by_one {
        0 => String::new(),
        left => format!(" and {left} one by one"),
    };
    format!(
        "{name}: {} by listing {}{rest}: {} or more{}, {} or more at its pace; {}; {}",
        count_of(plan.items, "finding"),
        window(listing),
        count_of(plan.requests(), "request"),
        confirming(plan),
        about(plan.time_of(plan.requests())),
        as_slow(plan, slowness),
        beyond(plan, listing)
    )
}

/// What a plan comes to, for programs.
pub fn plan_json(planned: &Planned, slowness: Option<&Slowness>) -> serde_json::Value {
    let plan = planned.plan.as_ref();
    let listing = plan.and_then(|plan| plan.listing.as_ref());
    let told = |listing: &PlannedListing| {
        json!({
            "from": listing.from.map(stamp),
            "findings": listing.covered,
            "pages_expected": listing.pages_expected,
            "pages_max": (!listing.is_forced).then_some(listing.pages_max),
        })
    };
    let (known, seconds) = (slowness, |measured: Measured| measured.median.as_secs_f64());
    json!({
        "operation": planned.name.as_ref().map(ToString::to_string),
        "findings": planned.found.len(),
        "one_by_one": plan.map(|plan| plan.one_by_one),
        "listing": listing.map(told),
        "requests_min": plan.map(Plan::requests),
        "confirming_max": plan.map(Plan::confirming_max),
        "question_seconds_median": known.and_then(|known| known.question).map(seconds),
        "page_seconds_median": known.and_then(|known| known.page).map(seconds),
        "seconds_as_slow": known.zip(plan).and_then(|(known, plan)| known.time_of(plan)).map(|time| time.as_secs_f64()),
        "seconds_min": plan.map(|plan| plan.time_of(plan.requests()).as_secs_f64()),
    })
}

/// How long it takes where the provider is as slow as it was, and by which times that is told.
fn as_slow(plan: &Plan, slowness: Option<&Slowness>) -> String {
    let slowness = slowness.copied().unwrap_or_default();
    let (asks, lists) = (plan.one_by_one > 0, plan.listing.is_some());
    let Some(time) = slowness.time_of(plan) else {
        let what = match (asks && slowness.question.is_none(), lists && slowness.page.is_none()) {
            (true, true) => "an answer or a page of its list",
            (_, true) => "a page of its list",
            (_, false) => "an answer",
        };
        return format!("how long {what} takes is not known: none is on record");
    };
    let by = |wanted: bool, measured: Option<Measured>, one: &str, many: &str| {
        measured.filter(|_| wanted).map(|Measured { median, times }| {
            format!("{} {one}, the median of {}", about(median), count_of(times, many))
        })
    };
    let question = by(asks, slowness.question, "a question", "former check");
    let page = by(lists, slowness.page, "a page", "former listing");
    let told: Vec<String> = question.into_iter().chain(page).collect();
    format!("{} where it is as slow as before ({})", about(time), told.join("; "))
}

/// That a listing did not count; `None` where it did, or where there was none.
pub fn given_up(planned: &Planned) -> Option<String> {
    let why = planned.given_up.get()?;
    let is_forced = planned.plan.as_ref()?.listing?.is_forced;
    let then = if is_forced {
        "nothing is known of its findings"
    } else {
        "its findings were asked about one by one"
    };
    Some(format!("{}: the list counts as not read ({}): {then}", name(planned), clean(why)))
}

fn name(planned: &Planned) -> String {
    planned.name.as_ref().map_or_else(|| "no provider".to_owned(), |name| clean(&name.to_string()))
}

fn window(listing: &PlannedListing) -> String {
    listing.from.map_or_else(
        || "everything there is".to_owned(),
        |from| format!("from {} on", stamp(from.trunc_subsecs(0))),
    )
}

/// How many requests there may be on top, to make sure of what is not found.
fn confirming(plan: &Plan) -> String {
    match plan.confirming_max() {
        0 => String::new(),
        many => format!(" and up to {many} more to make sure of what is not found"),
    }
}

fn beyond(plan: &Plan, listing: &PlannedListing) -> String {
    let pages = listing.pages_max;
    if listing.is_forced {
        return format!("not read if it has more than {}", count_of(pages, "page"));
    }
    let alone = plan.items;
    format!(
        "beyond {} one by one: {}, {}",
        count_of(pages, "page"),
        count_of(alone, "request"),
        about(plan.time_of(alone))
    )
}

/// A span as a person says it.
fn about(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        ..10.0 => format!("about {seconds:.1} s"),
        ..120.0 => format!("about {seconds:.0} s"),
        _ => format!("about {:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(40, "about 0.0 s")]
    #[case(2_440, "about 2.4 s")]
    #[case(71_000, "about 71 s")]
    #[case(600_000, "about 10 min")]
    fn a_span_is_told_as_a_person_says_it(#[case] millis: u64, #[case] told: &str) {
        assert_eq!(about(Duration::from_millis(millis)), told);
    }
}
