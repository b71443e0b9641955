//! Checks of how further pages are asked for.

use super::At;
use crate::preset::provider::file::{PagingFile, PagingKind};
use crate::preset::provider::{EffectsPlace, PageEnd, PageStep, Paging, Parameter, SecondPage};

pub(super) fn paging(at: At<'_>, file: &PagingFile, effects: &EffectsPlace) -> Result<Paging, String> {
    let parameter = || -> Result<Parameter, String> {
        let name = at.needed("paging.parameter", file.parameter.clone())?;
        Ok(Parameter { name, in_body: file.parameter_in_body })
    };
    let next = || at.place("paging.next", at.needed("paging.next", file.next.as_deref())?);
    let may_be_missing = file.next_may_be_missing;
    let step = match file.kind {
        PagingKind::None => PageStep::Single,
        PagingKind::LastId => {
            let id = match (&file.id, &effects.each) {
                (Some(text), _) => at.place("paging.id", text)?,
                (None, None) => effects.id.clone(),
                (None, Some(_)) => return Err(at.wrong("paging.id", "it is missing, and `each` is set")),
            };
            PageStep::LastId { parameter: parameter()?, id }
        }
        PagingKind::Token => PageStep::Token { parameter: parameter()?, next: next()?, may_be_missing },
        PagingKind::HeaderToken => {
            let header = at.needed("paging.header", file.header.as_deref())?.to_ascii_lowercase();
            super::request::header_name(at, "paging.header", &header)?;
            PageStep::HeaderToken { parameter: parameter()?, header }
        }
        PagingKind::Page => {
            let first = at.needed("paging.first", file.first)?;
            PageStep::PageNumber { parameter: parameter()?, first }
        }
        PagingKind::Offset => PageStep::Offset { parameter: parameter()? },
        PagingKind::NextUrl => PageStep::NextUrl { next: next()?, may_be_missing },
        PagingKind::LinkHeader => PageStep::LinkHeader { second: second_page(file) },
    };
    let end = end(at, file, &step)?;
    unused(at, file, &step)?;
    let page_items = at.at_least_one("paging.page_items", file.page_items)?;
    if matches!(step, PageStep::LinkHeader { .. }) && end == PageEnd::StepEnds && page_items.is_none() {
        return Err(at.wrong(
            "paging.page_items",
            "say how many items a full page has: one without any `Link` header is not taken for the last",
        ));
    }
    Ok(Paging { step, end, page_items })
}

/// The page after the first, where the file names a parameter for it.
fn second_page(file: &PagingFile) -> Option<SecondPage> {
    let parameter = Parameter { name: file.parameter.clone()?, in_body: false };
    Some(SecondPage { parameter, number: file.first.unwrap_or(1).saturating_add(1) })
}

fn end(at: At<'_>, file: &PagingFile, step: &PageStep) -> Result<PageEnd, String> {
    let declared = [
        file.more.is_some(),
        file.total.is_some(),
        file.total_header.is_some(),
        file.pages.is_some(),
        file.until_empty,
        file.items_max.is_some(),
    ];
    if declared.iter().filter(|is| **is).count() > 1 {
        return Err(at.wrong(
            "paging",
            "say only one of `more`, `total`, `total_header`, `pages`, `until_empty` and `items_max`",
        ));
    }
    if let Some(more) = &file.more {
        return at.place("paging.more", more).map(PageEnd::More);
    }
    if let Some(total) = &file.total {
        return at.place("paging.total", total).map(PageEnd::Total);
    }
    if let Some(header) = file.total_header.as_deref().map(str::to_ascii_lowercase) {
        super::request::header_name(at, "paging.total_header", &header)?;
        return Ok(PageEnd::TotalHeader(header));
    }
    if let Some(pages) = &file.pages {
        return at.place("paging.pages", pages).map(PageEnd::Pages);
    }
    if let Some(max) = at.at_least_one("paging.items_max", file.items_max)? {
        return if *step == PageStep::Single {
            Ok(PageEnd::Below(max))
        } else {
            Err(at.wrong(
                "paging.items_max",
                "it goes with kind = \"none\": pages say themselves which is the last",
            ))
        };
    }
    if file.until_empty {
        return if *step == PageStep::Single {
            Err(at.wrong("paging.until_empty", "a single page is not followed by an empty one"))
        } else {
            Ok(PageEnd::EmptyPage)
        };
    }
    match step {
        PageStep::LastId { .. } | PageStep::PageNumber { .. } | PageStep::Offset { .. } => Err(at.wrong(
            "paging.more",
            "say how the last page is known: `more`, `total`, `total_header`, `pages` or `until_empty = true`",
        )),
        PageStep::Single
        | PageStep::Token { .. }
        | PageStep::HeaderToken { .. }
        | PageStep::NextUrl { .. }
        | PageStep::LinkHeader { .. } => Ok(PageEnd::StepEnds),
    }
}

/// A field that does nothing is a misunderstanding.
fn unused(at: At<'_>, file: &PagingFile, step: &PageStep) -> Result<(), String> {
    let (parameter, next) = match step {
        PageStep::Single => (false, false),
        PageStep::LinkHeader { .. }
        | PageStep::LastId { .. }
        | PageStep::HeaderToken { .. }
        | PageStep::PageNumber { .. }
        | PageStep::Offset { .. } => (true, false),
        PageStep::Token { .. } => (true, true),
        PageStep::NextUrl { .. } => (false, true),
    };
    let is_numbered = match step {
        PageStep::PageNumber { .. } => true,
        PageStep::LinkHeader { second } => second.is_some(),
        _ => false,
    };
    let may_be_silent = match step {
        PageStep::LinkHeader { .. } | PageStep::HeaderToken { .. } => true,
        PageStep::Token { may_be_missing, .. } | PageStep::NextUrl { may_be_missing, .. } => *may_be_missing,
        PageStep::Single
        | PageStep::LastId { .. }
        | PageStep::PageNumber { .. }
        | PageStep::Offset { .. } => false,
    };
    let idle = [
        ("paging.parameter", file.parameter.is_some() && !parameter),
        ("paging.next", file.next.is_some() && !next),
        ("paging.first", file.first.is_some() && !is_numbered),
        ("paging.page_items", file.page_items.is_some() && !may_be_silent),
        ("paging.id", file.id.is_some() && !matches!(step, PageStep::LastId { .. })),
        ("paging.header", file.header.is_some() && !matches!(step, PageStep::HeaderToken { .. })),
    ];
    match idle.iter().find(|(_, is_idle)| *is_idle) {
        Some((field, _)) => Err(at.wrong(field, "it does not go with this kind of paging")),
        None => Ok(()),
    }
}

/// Whether the next page's parameter goes into a body.
pub(super) fn parameter_in_body(paging: &Paging) -> bool {
    match &paging.step {
        PageStep::LastId { parameter, .. }
        | PageStep::Token { parameter, .. }
        | PageStep::HeaderToken { parameter, .. }
        | PageStep::PageNumber { parameter, .. }
        | PageStep::Offset { parameter } => parameter.in_body,
        PageStep::Single | PageStep::NextUrl { .. } | PageStep::LinkHeader { .. } => false,
    }
}
