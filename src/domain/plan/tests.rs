use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "as a window's beginning is spelled")]
fn ago(minutes: i64) -> From {
    Some(now() - TimeDelta::minutes(minutes))
}

fn costs() -> Costs {
    let listing = ListingFacts { page_items: 100, pages_max: 500, listing_max: Duration::from_mins(15) };
    Costs {
        interval: Duration::from_millis(50),
        listing: Some(listing),
        lookback: Some(TimeDelta::days(90)),
        confirming: Confirming::default(),
    }
}

/// A plan in short: the window's minutes (`None` without a bound), items covered, pages expected and at most, and items
/// asked about one by one.
type Short = (Option<(Option<i64>, usize, usize, usize)>, usize);

fn short(plan: &Plan) -> Short {
    let minutes = |from: From| from.map(|from| (now() - from).num_minutes());
    let listing = plan
        .listing
        .map(|listing| (minutes(listing.from), listing.covered, listing.pages_expected, listing.pages_max));
    (listing, plan.one_by_one)
}

/// So many items that need a window of so many minutes.
fn items(parts: &[(usize, From)]) -> Vec<From> {
    parts.iter().flat_map(|(count, need)| vec![*need; *count]).collect()
}

#[rstest]
#[case::nothing(&[], (None, 0))]
#[case::few(&[(19, ago(60))], (None, 19))]
#[case::enough(&[(20, ago(60))], (Some((Some(60), 20, 1, 4)), 0))]
#[case::ten_thousand(&[(10_000, ago(60))], (Some((Some(60), 10_000, 100, 500)), 0))]
#[case::more_than_the_preset_reads(&[(60_000, ago(60))], (None, 60_000))]
#[case::one_far_away(&[(99, ago(60)), (1, ago(50_000))], (Some((Some(60), 99, 1, 19)), 1))]
#[case::one_a_little_further(&[(99, ago(60)), (1, ago(100))], (Some((Some(100), 100, 1, 20)), 0))]
#[case::many_far_away(&[(60, ago(60)), (40, ago(50_000))], (Some((Some(50_000), 100, 1, 20)), 0))]
#[case::some_without_a_bound(&[(95, ago(60)), (5, None)], (Some((Some(60), 95, 1, 19)), 5))]
#[case::all_without_a_bound(&[(100, None)], (Some((None, 100, 1, 20)), 0))]
fn the_cheaper_way_is_chosen_where_it_saves_much(#[case] parts: &[(usize, From)], #[case] expected: Short) {
    assert_eq!(short(&plan(&items(parts), now(), costs(), Wish::Cheapest)), expected);
}

#[rstest]
#[case::by_item(Wish::ByItem, (None, 101))]
#[case::by_listing(Wish::ByListing, (Some((Some(50_000), 101, 2, 500)), 0))]
fn a_wish_is_followed(#[case] wish: Wish, #[case] expected: Short) {
    let needs = items(&[(100, ago(60)), (1, ago(50_000))]);
    assert_eq!(short(&plan(&needs, now(), costs(), wish)), expected);
}

#[test]
fn what_has_no_list_is_asked_about_one_by_one_whatever_was_wished() {
    for wish in [Wish::Cheapest, Wish::ByItem, Wish::ByListing] {
        let plan = plan(&items(&[(100, ago(60))]), now(), Costs { listing: None, ..costs() }, wish);
        assert_eq!(short(&plan), (None, 100));
    }
}

#[test]
fn a_page_that_holds_little_makes_a_listing_dear() {
    let facts = ListingFacts { page_items: 4, ..costs().listing.unwrap() };
    let plan =
        plan(&items(&[(100, ago(60))]), now(), Costs { listing: Some(facts), ..costs() }, Wish::Cheapest);
    assert_eq!(short(&plan), (None, 100));
}

#[rstest]
#[case::known(ago(60), Some(TimeDelta::days(90)), ago(60))]
#[case::not_known(None, Some(TimeDelta::minutes(90)), ago(90))]
#[case::never_forgotten(None, None, None)]
fn an_item_whose_first_attempt_is_not_known_needs_all_that_can_be_seen(
    #[case] first: From,
    #[case] lookback: Option<TimeDelta>,
    #[case] expected: From,
) {
    assert_eq!(needs(first, lookback, now()), expected);
}

#[rstest]
#[case::same(ago(60), ago(60), true)]
#[case::longer(ago(61), ago(60), true)]
#[case::shorter(ago(59), ago(60), false)]
#[case::no_bound(None, ago(60), true)]
#[case::needs_no_bound(ago(60), None, false)]
#[case::neither(None, None, true)]
fn a_window_covers_an_item_or_not(#[case] window: From, #[case] need: From, #[case] expected: bool) {
    assert_eq!(covers(window, need), expected);
}

#[test]
fn requests_and_their_time_are_told() {
    let by_item = plan(&items(&[(1_000, ago(60))]), now(), costs(), Wish::ByItem);
    assert_eq!((by_item.requests(), by_item.time_of(by_item.requests())), (1_000, Duration::from_secs(50)));
    let by_listing = plan(&items(&[(1_000, ago(60))]), now(), costs(), Wish::Cheapest);
    assert_eq!(by_listing.requests(), 10);
}

#[rstest]
#[case::one_by_one(Wish::ByItem, 200)]
#[case::by_listing(Wish::ByListing, 1)]
fn what_makes_sure_of_absences_is_counted_apart(#[case] wish: Wish, #[case] expected: usize) {
    let costs = Costs { confirming: Confirming { of_item: 2, of_list: 1 }, ..costs() };
    assert_eq!(plan(&items(&[(100, ago(60))]), now(), costs, wish).confirming_max(), expected);
}
