//! How further pages are asked for, and how the last one is known.

use super::Place;

/// How further pages are asked for, and how the last one is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// What the next request has more or other than this one.
    pub step: PageStep,
    /// How the last page is known.
    pub end: PageEnd,
    /// How many items a full page has. A first page with as many that says nothing of another one is not taken for the last:
    /// perhaps this server does not page as the preset says. `None` where every page says of itself whether it is the last.
    pub page_items: Option<usize>,
}

/// What the next request has more or other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageStep {
    /// There is one page, always.
    Single,
    /// The id of the last item, at this place within it.
    LastId {
        /// The parameter that carries it.
        parameter: Parameter,
        /// Where the item's id is.
        id: Place,
    },
    /// A token from the answer's body.
    Token {
        /// The parameter that carries it.
        parameter: Parameter,
        /// Where the token is.
        next: Place,
        /// Whether the last page leaves it out (else only null and the empty text end).
        may_be_missing: bool,
    },
    /// A token from an answer's header; without the header the page is the last.
    HeaderToken {
        /// The parameter that carries it.
        parameter: Parameter,
        /// The header's name, in small letters.
        header: String,
    },
    /// The number of the page.
    PageNumber {
        /// The parameter that carries it.
        parameter: Parameter,
        /// The first page's number.
        first: u64,
    },
    /// How many items were read so far.
    Offset {
        /// The parameter that carries it.
        parameter: Parameter,
    },
    /// A whole address from the body, on the same host.
    NextUrl {
        /// Where the address is.
        next: Place,
        /// Whether the last page leaves it out (else only null and the empty text end).
        may_be_missing: bool,
    },
    /// The `Link` header's `rel="next"`, on the same host.
    LinkHeader {
        /// How the second page is asked for where a first one is full and there is no `Link` at all: then it must be empty.
        second: Option<SecondPage>,
    },
}

/// The second page by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondPage {
    /// The parameter that carries it.
    pub parameter: Parameter,
    /// The number.
    pub number: u64,
}

/// A parameter of the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether it goes into the body of a POST instead of the query.
    pub in_body: bool,
}

/// How the last page is known. There is no "a short page is the last": servers cap page sizes without saying so, and
/// a page that was taken for the last is a false absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEnd {
    /// The step itself ends: no token, no address.
    StepEnds,
    /// A boolean in the body says whether there is more.
    More(Place),
    /// A number in the body says how many items there are in all.
    Total(Place),
    /// A number in a header of this name, in small letters, says how many items there are in all.
    TotalHeader(String),
    /// A number in the body says how many pages there are in all.
    Pages(Place),
    /// Only an empty page is the last.
    EmptyPage,
    /// There is one page, and it is whole only with fewer items than this: the server cuts there without saying so.
    Below(usize),
}
