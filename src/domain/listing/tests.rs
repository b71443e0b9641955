use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

fn effect(id: &str, references: &[&str], page: usize) -> ListedEffect {
    let read = Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: None,
        at: None,
        link: None,
    };
    let references = references.iter().map(|reference| (*reference).to_owned()).collect();
    ListedEffect { id: id.to_owned(), references, page, read: Ok(read) }
}

fn unreadable(id: &str, reference: &str) -> ListedEffect {
    let fault = Fault::new(FaultKind::Shape, "no status");
    ListedEffect { read: Err(fault), ..effect(id, &[reference], 0) }
}

fn listing(effects: Vec<ListedEffect>) -> Listing {
    let mut listing = Listing::new(Some(12));
    for effect in effects {
        listing.keep(effect).unwrap();
    }
    listing
}

#[rstest]
#[case::exactly("inv-1", Ok("1 3"))]
#[case::one_of_several("inv-2", Ok("3"))]
#[case::nothing("inv-9", Ok(""))]
#[case::only_another_case("INV-5", Err(FaultKind::Shape))]
#[case::spaces_around("inv-6", Err(FaultKind::Shape))]
#[case::both_spellings("inv-7", Err(FaultKind::Shape))]
#[case::unreadable("inv-8", Err(FaultKind::Shape))]
#[case::cut_by_the_provider("inv-1234567890", Err(FaultKind::Question))]
fn a_listing_answers_for_one_reference_as_a_question_would(
    #[case] reference: &str,
    #[case] expected: Result<&str, FaultKind>,
) {
    let listing = listing(vec![
        effect("1", &["inv-1"], 0),
        effect("2", &[], 0),
        effect("3", &["inv-1", "inv-2"], 1),
        effect("5", &["inv-5"], 1),
        effect("6", &[" inv-6"], 1),
        effect("7", &["inv-7"], 1),
        effect("8", &["Inv-7"], 1),
        unreadable("9", "inv-8"),
    ]);
    let told = match listing.answer(reference) {
        Answer::Complete { effects, .. } => {
            Ok(effects.iter().map(|effect| effect.id.as_str()).collect::<Vec<_>>().join(" "))
        }
        Answer::Fault(fault) => Err(fault.kind),
    };
    assert_eq!(told, expected.map(str::to_owned));
}

#[test]
fn an_effect_that_came_twice_counts_once() {
    let listing = listing(vec![effect("1", &["inv-1"], 0), effect("1", &["inv-1"], 1)]);
    assert_eq!(listing.effects().len(), 1);
    assert_eq!(listing.pages_of("inv-1"), [0]);
}

#[rstest]
#[case::references(effect("1", &["inv-2"], 1))]
#[case::amounts({
    let mut other = effect("1", &["inv-1"], 1);
    let money = crate::domain::money::Money::read("7", Some("EUR"), crate::domain::money::Unit::Major);
    if let Ok(read) = &mut other.read { read.money = money.ok(); }
    other
})]
fn an_effect_that_came_in_two_ways_is_a_fault(#[case] other: ListedEffect) {
    let mut listing = listing(vec![effect("1", &["inv-1"], 0)]);
    assert_eq!(listing.keep(other).unwrap_err().kind, FaultKind::Shape);
}

#[test]
fn an_effect_with_two_statuses_is_told_with_both() {
    let mut changed = effect("1", &["inv-1"], 1);
    changed.read = changed.read.map(|read| Effect { state: EffectState::Pending, ..read });
    let listing = listing(vec![effect("1", &["inv-1"], 0), changed]);
    let Answer::Complete { effects, .. } = listing.answer("inv-1") else { panic!("a fault") };
    assert_eq!(effects.len(), 2);
    assert_eq!(listing.pages_of("inv-1"), [0, 1]);
}
