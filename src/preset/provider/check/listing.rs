//! Checks of how a whole list is read. What a listing does not say is as the operation says it, but for the request's
//! parameters: those ask for one reference.

use super::{At, look_up};
use crate::preset::provider::file::{AbsenceFile, ListingFile, OperationFile, OrderFile};
use crate::preset::provider::{
    LISTING_BYTES_MAX, LISTING_PAGES_MAX, LISTING_SECONDS_MAX, ListLookUp, LookUp, Order, PageStep,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// The names that a listing's templates may use, beside the window's.
const KNOWN: &str = "vars";
const SECONDS_MAX: f64 = 86_400.0;

pub(super) fn listing(
    at: At<'_>,
    operation: &OperationFile,
    file: &ListingFile,
) -> Result<ListLookUp, String> {
    let at = At { part: "listing.", ..at };
    let whole = merged(operation, file);
    let by_own_id =
        |effects: &super::super::file::EffectsFile| effects.one.is_some() || effects.reference_in_address;
    if whole.effects.as_ref().is_some_and(by_own_id) {
        return Err(at.wrong("effects", "a list has many effects, each with its reference: say where"));
    }
    let look = look_up(at, &whole)?;
    knows_no_item(at, &look)?;
    let order = file.order.map(|order| match order {
        OrderFile::NewestFirst => Order::NewestFirst,
        OrderFile::OldestFirst => Order::OldestFirst,
    });
    if order.is_some() && look.effects.time.is_none() {
        return Err(at.wrong("order", "an order is by time, and `effects.time` is not said"));
    }
    let is_counted = matches!(look.paging.step, PageStep::PageNumber { .. } | PageStep::Offset { .. });
    if is_counted && order.is_none() {
        return Err(at.wrong(
            "order",
            "pages that are counted shift while they are read: say `order`, or nobody knows what was left out",
        ));
    }
    let page_items = at.needed("page_items", at.at_least_one("page_items", file.page_items)?)?;
    let count = |field: &str, value, usual| at.at_least_one(field, value).map(|value| value.unwrap_or(usual));
    let listing_max = match file.seconds_max {
        None => Duration::from_secs(LISTING_SECONDS_MAX),
        Some(seconds) if seconds > 0.0 && seconds <= SECONDS_MAX => Duration::from_secs_f64(seconds),
        Some(_) => return Err(at.wrong("seconds_max", "it must be greater than 0 and at most 86400")),
    };
    Ok(ListLookUp {
        look,
        page_items,
        order,
        pages_max: count("pages_max", file.pages_max, LISTING_PAGES_MAX)?,
        listing_max,
        bytes_max: count("bytes_max", file.bytes_max, LISTING_BYTES_MAX)?,
    })
}

/// The listing as an operation of its own.
fn merged(operation: &OperationFile, file: &ListingFile) -> OperationFile {
    let own_method = file.method.is_some();
    OperationFile {
        method: file.method.or(operation.method),
        read_only_post: if own_method { file.read_only_post } else { operation.read_only_post },
        read_only_reason: file
            .read_only_reason
            .clone()
            .or_else(|| operation.read_only_reason.clone().filter(|_| !own_method)),
        path: file.path.clone().or_else(|| operation.path.clone()),
        query: file.query.clone(),
        window: file.window.clone(),
        window_margin: file.window_margin.clone().or_else(|| operation.window_margin.clone()),
        headers: if file.headers.is_empty() { operation.headers.clone() } else { file.headers.clone() },
        body: file.body.clone(),
        success: file.success.clone().unwrap_or_else(|| operation.success.clone()),
        absence: AbsenceFile::EmptyList,
        absence_when: None,
        absence_confirm: None,
        effects: file.effects.clone().or_else(|| operation.effects.clone()),
        statuses: file.statuses.clone().or_else(|| operation.statuses.clone()),
        paging: file.paging.clone().or_else(|| operation.paging.clone()),
        listing: None,
        ..operation.clone()
    }
}

/// A list is asked for nobody in particular: a parameter that holds a reference would make it another question.
fn knows_no_item(at: At<'_>, look: &LookUp) -> Result<(), String> {
    let request = &look.request;
    let mut names: BTreeSet<String> = BTreeSet::new();
    request
        .path
        .iter()
        .chain(request.query.values())
        .chain(request.window.values())
        .for_each(|template| names.extend(template.names()));
    names.extend(request.body.iter().flat_map(super::super::BodyTemplate::names));
    let is_known = |name: &String| name == KNOWN || name.starts_with("from_") || name.starts_with("until_");
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(at.wrong(
            "query",
            format!("a list is read for no item in particular: it knows `vars` and the window's times, and no `{name}`"),
        )),
    }
}
