use super::*;
use pretty_assertions::assert_eq;

fn listing(preset: &ProviderPreset, operation: &str) -> ListLookUp {
    *preset.operations[operation].listing.clone().unwrap()
}

#[test]
fn the_example_lists_as_it_asks_but_for_the_reference() {
    let preset = ledger();
    let (asked, listed) = (look_up(&preset, "charge"), listing(&preset, "charge"));
    assert_eq!((&listed.look.effects, &listed.look.statuses), (&asked.effects, &asked.statuses));
    assert_eq!((&listed.look.paging, &listed.look.success), (&asked.paging, &asked.success));
    assert_eq!(listed.look.request.path, asked.request.path);
    assert_eq!(listed.look.request.query.keys().collect::<Vec<_>>(), ["limit"]);
    assert_eq!((listed.page_items, listed.order), (100, Some(Order::NewestFirst)));
    let bounds = (listed.pages_max, listed.listing_max.as_secs(), listed.bytes_max);
    let usual = (LISTING_PAGES_MAX, LISTING_SECONDS_MAX, LISTING_BYTES_MAX);
    assert_eq!(bounds, usual, "the example spells out the defaults");
}

/// A search that is a POST, and its list.
const BY_SEARCH: &str = r#"
type = "provider"
name = "pay"
title = "Pay"
variables = { account = "the account" }
auth = { kind = "none" }
[operations.charge]
settle = "2m"
lookback = "90d"
path = "/search"
method = "POST"
read_only_post = true
read_only_reason = "a search"
body = { filter = { reference = "{{ reference }}" } }
effects = { list = "$.data", id = "$.id", reference = "$.ref", status = "$.status", time = "$.at", time_format = "iso" }
statuses = { happened = ["ok"] }
paging = { kind = "page", parameter = "page", first = 1, pages = "$.pages" }
[operations.charge.listing]
path = "/accounts/{{ vars.account }}/charges"
method = "GET"
query = { until = "{{ until_iso }}" }
window = { since = "{{ from_iso }}" }
page_items = 50
order = "oldest_first"
"#;

#[test]
fn a_listing_may_be_another_request_than_its_operation() {
    let listed = listing(&ProviderPreset::parse(BY_SEARCH).unwrap(), "charge");
    assert_eq!(listed.look.request.method, Method::Get);
    assert_eq!(listed.look.request.body, None);
    assert_eq!(listed.facts().page_items, 50);
}

#[rstest]
#[case::no_page_items("page_items = 50", "", "`listing.page_items`: it is missing")]
#[case::empty_pages("page_items = 50", "page_items = 0", "`listing.page_items`: it must be at least 1")]
#[case::no_pages(
    "page_items = 50",
    "page_items = 50\npages_max = 0",
    "`listing.pages_max`: it must be at least 1"
)]
#[case::no_time(
    "page_items = 50",
    "page_items = 50\nseconds_max = 0",
    "`listing.seconds_max`: it must be greater than 0"
)]
#[case::unknown_key("page_items = 50", "page_items = 50\nsize = 1", "unknown field `size`")]
#[case::other_order("\"oldest_first\"", "\"by_name\"", "unknown variant `by_name`")]
#[case::counted_without_order(
    "order = \"oldest_first\"",
    "",
    "`listing.order`: pages that are counted shift"
)]
#[case::order_without_time(
    "time = \"$.at\", time_format = \"iso\"",
    "link = \"x\"",
    "`listing.order`: an order is by time"
)]
#[case::asks_for_one(
    "until = ",
    "id = \"{{ reference }}\", until = ",
    "it knows `vars` and the window's times, and no `reference`"
)]
#[case::asks_for_a_customer("/charges\"", "/charges/{{ customer }}\"", "and no `customer`")]
#[case::window_without_a_beginning(
    "{{ from_iso }}",
    "1",
    "`listing.window`: no parameter uses `from_epoch_s`"
)]
#[case::post_without_a_reason("\"GET\"", "\"POST\"", "`listing.method`: a check only reads: a POST needs")]
#[case::one_effect(
    "page_items = 50",
    "page_items = 50\neffects = { one = \"$\", id = \"$.id\", reference = \"$.ref\", status = \"$.s\" }",
    "`listing.effects`: a list has many effects"
)]
#[case::of_nobody(
    "path = \"/search\"",
    "unanswerable = \"no\"\npath = \"/search\"",
    "`unanswerable`: it says why nobody can be asked"
)]
fn what_is_wrong_with_a_listing_is_said_in_one_sentence(
    #[case] good: &str,
    #[case] bad: &str,
    #[case] sentence: &str,
) {
    assert!(BY_SEARCH.contains(good), "{good} is not in the preset");
    let message = ProviderPreset::parse(&BY_SEARCH.replacen(good, bad, 1)).unwrap_err();
    assert!(message.contains(sentence), "{message}");
}

#[test]
fn a_list_is_never_found_by_our_own_id() {
    let text = format!("{BY_ID}[operations.cob.listing]\npath = \"/cob\"\npage_items = 10\n");
    let message = ProviderPreset::parse(&text).unwrap_err();
    assert!(message.contains("operation `cob`, `listing.effects`: a list has many effects"), "{message}");
}
