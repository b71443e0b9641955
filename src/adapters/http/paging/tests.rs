use super::*;
use crate::preset::provider::{How, ProviderPreset};
use rstest::rstest;

fn look(paging: &str) -> LookUp {
    let text = format!(
        r#"
        type = "provider"
        name = "test"
        title = "Test"
        auth = {{ kind = "none" }}
        [operations.op]
        settle = "1m"
        lookback = "unlimited"
        path = "/l"
        [operations.op.effects]
        list = "$.l"
        id = "$.id"
        reference = "$.r"
        status = "$.s"
        amount = "$.a"
        currency_fixed = "BRL"
        unit = "major"
        [operations.op.statuses]
        happened = ["done"]
        failed = ["no"]
        [operations.op.paging]
        {paging}
        "#
    );
    match ProviderPreset::parse(&text).unwrap().operations.remove("op").unwrap().how {
        How::Ask(look) => *look,
        How::Sql(_) => panic!("it is read by SQL"),
        How::Unanswerable(why) => panic!("{why}"),
    }
}

/// A page: items as `id:reference[:status[:amount]]`, and what else stands in the body.
fn page(items: &str, rest: &str) -> Reply {
    let items: Vec<String> = items
        .split_whitespace()
        .map(|item| {
            let parts: Vec<&str> = item.split(':').collect();
            let (status, amount) = (parts.get(2).unwrap_or(&"done"), parts.get(3).unwrap_or(&"1.00"));
            format!(r#"{{"id":"{}","r":"{}","s":"{status}","a":"{amount}"}}"#, parts[0], parts[1])
        })
        .collect();
    let comma = if rest.is_empty() { "" } else { "," };
    Reply {
        status: 200,
        headers: Vec::new(),
        body: format!(r#"{{"l":[{}]{comma}{rest}}}"#, items.join(",")).into_bytes(),
    }
}

/// Reads pages one after the other, as far as they go: the steps in between, and the ids of ours or the fault's kind.
fn read_all(paging: &str, pages: &[Reply]) -> (Vec<String>, Result<Vec<String>, Fault>) {
    let (look, vars) = (look(paging), Fields::new());
    let mut reading = Reading::new(&look, "r", &vars, 4);
    let mut steps = Vec::new();
    for reply in pages {
        match reading.take(reply) {
            Ok(After::Whole) => {
                let ids = |effects: Vec<Effect>| effects.into_iter().map(|effect| effect.id).collect();
                return (steps, reading.into_effects().map(ids));
            }
            Ok(After::AskWith(step) | After::AskAt(step)) => steps.push(step),
            Err(fault) => return (steps, Err(fault)),
        }
    }
    panic!("it asks for more than the {} pages", pages.len());
}

const MORE: &str = "kind = \"last_id\"\nparameter = \"after\"\nmore = \"$.more\"";
const TOTAL: &str = "kind = \"offset\"\nparameter = \"offset\"\ntotal = \"$.t\"";
const PAGES: &str = "kind = \"page\"\nparameter = \"page\"\nfirst = 0\npages = \"$.p\"";
const EMPTY: &str = "kind = \"page\"\nparameter = \"page\"\nfirst = 1\nuntil_empty = true";
const URL_UNTIL_EMPTY: &str = "kind = \"next_url\"\nnext = \"$.n\"\nuntil_empty = true";
const TOKEN_TOTAL: &str = "kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"\ntotal = \"$.t\"";

const LINK: &str = "kind = \"link_header\"\npage_items = 2\nparameter = \"page\"";
const LINK_ALONE: &str = "kind = \"link_header\"\npage_items = 2";
const LINK_TOTAL: &str = "kind = \"link_header\"\ntotal_header = \"X-Total-Count\"";
const CURSOR: &str = "kind = \"header_token\"\nparameter = \"c\"\nheader = \"X-Next\"\npage_items = 2";
const SILENT: &str =
    "kind = \"token\"\nparameter = \"c\"\nnext = \"$.n\"\nnext_may_be_missing = true\npage_items = 2";

/// A page with a header.
fn headed(items: &str, name: &str, value: &str) -> Reply {
    Reply { headers: vec![(name.to_owned(), value.to_owned())], ..page(items, "") }
}

fn linked(items: &str, value: &str) -> Reply {
    headed(items, "link", value)
}

/// A first page may be the last without a word of it, as long as that is sure: it is not full, or the second is empty.
#[rstest]
#[case::not_full(LINK, vec![page("1:r", "")], "", "1")]
#[case::nothing(LINK, vec![page("", "")], "", "")]
#[case::full_and_alone(LINK, vec![page("1:r 2:x", ""), page("", "")], "2", "1")]
#[case::full_and_an_empty_link(LINK, vec![linked("1:r 2:x", "")], "", "1")]
#[case::full_and_another_link(LINK_ALONE, vec![linked("1:r 2:x", "</a>; rel=\"last\"")], "", "1")]
#[case::told_of(LINK_ALONE, vec![linked("1:r 2:x", "</2>; rel=next"), page("3:r 4:x", "")], "/2", "1 3")]
#[case::as_many_as_in_all(LINK_TOTAL, vec![headed("1:r 2:x", "x-total-count", "2")], "", "1")]
#[case::cursor(CURSOR, vec![headed("1:r 2:x", "x-next", "c"), page("3:r 4:x", "")], "c", "1 3")]
#[case::empty_cursor(CURSOR, vec![headed("1:r 2:x", "x-next", "")], "", "1")]
#[case::token_null(SILENT, vec![page("1:r 2:x", "\"n\":null")], "", "1")]
#[case::token_missing_where_not_full(SILENT, vec![page("1:r", "")], "", "1")]
#[case::token_missing_later(SILENT, vec![page("1:r 2:x", "\"n\":\"a\""), page("3:r 4:x", "")], "a", "1 3")]
fn a_first_page_is_the_last_where_that_is_sure(
    #[case] paging: &str,
    #[case] pages: Vec<Reply>,
    #[case] steps: &str,
    #[case] ids: &str,
) {
    pages_together_are_the_answer(paging, pages, steps, ids);
}

#[rstest]
#[case::a_second_page_without_a_link(LINK, vec![page("1:x 2:x", ""), page("3:x", "")], "there is a second one")]
#[case::the_same_page_again(LINK, vec![page("1:x 2:x", ""), page("1:x 2:x", "")], "there is a second one")]
#[case::more_than_were_asked_for(LINK, vec![page("1:x 2:x 3:x", ""), page("4:x", "")], "there is a second one")]
#[case::no_way_to_ask(LINK_ALONE, vec![page("1:x 2:x", "")], "whether it is the last cannot be known")]
#[case::more_in_all(LINK_TOTAL, vec![headed("1:x 2:x", "x-total-count", "60")], "there is more, and not where")]
#[case::no_count(LINK_TOTAL, vec![page("1:x 2:x", "")], "the header `x-total-count` is no count")]
#[case::cursor(CURSOR, vec![page("1:x 2:x", "")], "whether it is the last cannot be known")]
#[case::token(SILENT, vec![page("1:x 2:x", "")], "whether it is the last cannot be known")]
fn a_full_first_page_that_says_nothing_is_not_the_last(
    #[case] paging: &str,
    #[case] pages: Vec<Reply>,
    #[case] sentence: &str,
) {
    pages_that_are_no_whole_are_a_fault(paging, pages, FaultKind::Shape, sentence);
}

#[rstest]
#[case::cursor(MORE, vec![page("1:r 2:x", "\"more\":true"), page("3:r", "\"more\":false")], "2", "1 3")]
#[case::offset_counts_what_came(TOTAL, vec![page("1:r", "\"t\":3"), page("2:r 3:r", "\"t\":3")], "1", "1 2 3")]
#[case::page_numbers(PAGES, vec![page("1:r", "\"p\":3"), page("2:x", "\"p\":3"), page("3:r", "\"p\":3")], "1 2", "1 3")]
#[case::until_empty(EMPTY, vec![page("1:r", ""), page("2:r", ""), page("", "")], "2 3", "1 2")]
#[case::urls_until_empty(URL_UNTIL_EMPTY, vec![page("1:r", "\"n\":\"/2\""), page("", "\"n\":\"/3\"")], "/2", "1")]
#[case::total_decides(TOKEN_TOTAL, vec![page("1:r", "\"n\":\"a\",\"t\":2"), page("2:r", "\"n\":\"b\",\"t\":2")], "a", "1 2")]
#[case::shifted(MORE, vec![page("1:r 2:r", "\"more\":true"), page("2:r 3:r", "\"more\":false")], "2", "1 2 3")]
#[case::nothing(MORE, vec![page("", "\"more\":false")], "", "")]
#[case::two_statuses_are_kept_for_the_verdict(MORE, vec![page("1:r:done 1:r:no", "\"more\":false")], "", "1 1")]
fn pages_together_are_the_answer(
    #[case] paging: &str,
    #[case] pages: Vec<Reply>,
    #[case] steps: &str,
    #[case] ids: &str,
) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(read_all(paging, &pages), (words(steps), Ok(words(ids))));
}

#[rstest]
#[case::empty_with_more(MORE, vec![page("", "\"more\":true")], FaultKind::Shape, "there is more, and not where")]
#[case::later_empty(URL_UNTIL_EMPTY, vec![page("1:r", "\"n\":null")], FaultKind::Shape, "there is more, and not where")]
#[case::empty_before_the_total(TOTAL, vec![page("1:r", "\"t\":3"), page("", "\"t\":3")], FaultKind::Shape, "an empty page")]
#[case::same_page(TOTAL, vec![page("1:r", "\"t\":9"), page("1:r", "\"t\":9")], FaultKind::Shape, "the same page came twice")]
#[case::circle(TOKEN_TOTAL, vec![page("1:r", "\"n\":\"a\",\"t\":9"), page("2:r", "\"n\":\"a\",\"t\":9")], FaultKind::Shape, "a cursor came twice")]
#[case::ends_before_the_total(TOKEN_TOTAL, vec![page("1:r", "\"n\":null,\"t\":9")], FaultKind::Shape, "there is more, and not where")]
#[case::endless(EMPTY, vec![page("1:r", ""), page("2:r", ""), page("3:r", ""), page("4:r", "")], FaultKind::TooManyPages, "more than 4 pages")]
#[case::more_than_the_total(TOTAL, vec![page("1:r 2:r", "\"t\":1")], FaultKind::Shape, "more items than it says")]
#[case::no_pages_and_yet_one(PAGES, vec![page("1:r", "\"p\":0")], FaultKind::Shape, "more pages than it says")]
#[case::error_on_page_two(MORE, vec![page("1:r", "\"more\":true"), page("2:r", "")], FaultKind::Shape, "does not say whether")]
#[case::two_amounts(MORE, vec![page("1:r:done:1.00 1:r:done:2.00", "\"more\":false")], FaultKind::Shape, "two amounts")]
fn pages_that_are_no_whole_are_a_fault(
    #[case] paging: &str,
    #[case] pages: Vec<Reply>,
    #[case] kind: FaultKind,
    #[case] sentence: &str,
) {
    let (_, outcome) = read_all(paging, &pages);
    let fault = outcome.unwrap_err();
    assert_eq!(fault.kind, kind, "{fault}");
    assert!(fault.detail.contains(sentence), "{fault}");
}
