use super::*;
use proptest::prelude::*;
use rstest::rstest;

type Texts = [String; 7];

/// A chain over what each entry says: event, decision, source, key, operator, origin, body.
fn chain(said: &[Texts]) -> Vec<Entry> {
    let mut prev = GENESIS.to_owned();
    (1..)
        .zip(said)
        .map(|(seq, [event, decision, source, key, operator, origin, body])| {
            let entry = Entry {
                seq,
                at: "2027-01-15T08:00:00Z".to_owned(),
                event: event.clone(),
                decision: decision.clone(),
                source: source.clone(),
                key: key.clone(),
                operator: operator.clone(),
                origin: origin.clone(),
                body: body.clone(),
                prev: prev.clone(),
                hash: String::new(),
            };
            let entry = Entry { hash: entry.expected_hash(), ..entry };
            prev.clone_from(&entry.hash);
            entry
        })
        .collect()
}

fn plain_chain(entries: usize) -> Vec<Entry> {
    let said = |at: usize| {
        [&format!("event-{at}"), "", "billing", "inv-1", "ana", "ana@ops", "{}"].map(str::to_owned)
    };
    chain(&(0..entries).map(said).collect::<Vec<_>>())
}

fn walk(entries: &[Entry]) -> Result<Walk, Break> {
    let mut walk = Walk::default();
    entries.iter().try_for_each(|entry| walk.step(entry)).map(|()| walk)
}

fn broken(entries: &[Entry]) -> String {
    walk(entries).unwrap_err().to_string()
}

#[test]
fn a_whole_chain_ends_at_its_last_entry() {
    let entries = plain_chain(3);
    let walk = walk(&entries).unwrap();
    assert_eq!((walk.count(), walk.head()), (3, &*entries[2].hash));
}

#[test]
fn an_empty_chain_is_whole() {
    let walk = walk(&[]).unwrap();
    assert_eq!((walk.count(), walk.head()), (0, GENESIS));
}

/// The hash is part of the file format: it must never change by accident. Computed by hand over each field with its
/// length as eight bytes, the highest first, before it.
#[test]
fn a_hash_is_the_same_in_every_version() {
    let entry = &plain_chain(1)[0];
    assert_eq!(entry.hash, "9e14a8bfbc49db3ddec617f8b5a99558cbe10c2beefee9dfdecfe019f1c77cac");
}

#[rstest]
#[case::removed_first(&[1, 2, 3], "entry 1: is missing (the next one there is 2)")]
#[case::removed_middle(&[0, 2, 3], "entry 2: is missing (the next one there is 3)")]
#[case::swapped(&[0, 2, 1, 3], "entry 2: is missing (the next one there is 3)")]
#[case::twice(&[0, 1, 1, 2], "entry 3: is missing (the next one there is 2)")]
fn order_counts(#[case] order: &[usize], #[case] told: &str) {
    let entries = plain_chain(4);
    let moved: Vec<Entry> = order.iter().map(|at| entries[*at].clone()).collect();
    assert_eq!(broken(&moved), told);
}

/// Case 23: entry 3 is deleted and entry 4 linked to entry 2.
#[rstest]
#[case::keeping_its_number(4, "entry 3: is missing (the next one there is 4)")]
#[case::taking_the_free_number(3, "entry 4: is missing (the next one there is 5)")]
fn a_gap_that_was_linked_anew_is_found(#[case] number: i64, #[case] told: &str) {
    let mut entries = plain_chain(5);
    entries.remove(2);
    entries[2].prev = entries[1].hash.clone();
    entries[2].seq = number;
    entries[2].hash = entries[2].expected_hash();
    assert_eq!(broken(&entries), told);
}

#[test]
fn a_chain_written_anew_as_a_whole_passes() {
    // What a chain alone cannot show, said by a test: only its head differs from the one noted down before.
    let mut entries = plain_chain(3);
    let head = entries[2].hash.clone();
    entries[1].operator = "eve".to_owned();
    for at in 1..3 {
        entries[at].prev = entries[at - 1].hash.clone();
        entries[at].hash = entries[at].expected_hash();
    }
    assert_ne!(walk(&entries).unwrap().head(), head);
}

#[rstest]
#[case("checked", Some(Event::Checked), false)]
#[case("intended", Some(Event::Intended), false)]
#[case("applied", Some(Event::Applied), true)]
#[case("refused", Some(Event::Refused), true)]
#[case("failed", Some(Event::Failed), true)]
#[case("dry_run", Some(Event::DryRun), false)]
#[case("unmasked", Some(Event::Unmasked), false)]
#[case("opened", Some(Event::Opened), false)]
#[case("noted", Some(Event::Noted), false)]
#[case("closed", Some(Event::Closed), false)]
#[case("Applied", None, false)]
#[case("", None, false)]
fn events_are_words(#[case] word: &str, #[case] event: Option<Event>, #[case] is_outcome: bool) {
    assert_eq!(Event::from_word(word), event);
    assert_eq!(event.is_some_and(Event::is_outcome), is_outcome);
    if let Some(event) = event {
        assert_eq!(serde_json::to_value(event).unwrap(), word);
    }
}

fn field(entry: &mut Entry, at: usize) -> &mut String {
    match at {
        0 => &mut entry.at,
        1 => &mut entry.event,
        2 => &mut entry.decision,
        3 => &mut entry.source,
        4 => &mut entry.key,
        5 => &mut entry.operator,
        6 => &mut entry.origin,
        7 => &mut entry.body,
        8 => &mut entry.prev,
        _ => &mut entry.hash,
    }
}

const FIELDS: usize = 10;

fn any_chain() -> impl Strategy<Value = Vec<Entry>> {
    proptest::collection::vec(any::<Texts>(), 1..8).prop_map(|said| chain(&said))
}

proptest! {
    #[test]
    fn any_sequence_is_whole(entries in any_chain()) {
        let walk = walk(&entries).unwrap();
        prop_assert_eq!(walk.count(), i64::try_from(entries.len()).unwrap());
    }

    #[test]
    fn any_change_is_found_where_it_is(
        mut entries in any_chain(), at in any::<prop::sample::Index>(), changed in 0..FIELDS, other in any::<String>(),
    ) {
        let at = at.index(entries.len());
        let field = field(&mut entries[at], changed);
        prop_assume!(*field != other);
        *field = other;
        prop_assert_eq!(walk(&entries).unwrap_err().seq, entries[at].seq);
    }

    #[test]
    fn a_character_that_moves_to_the_next_field_is_found(
        mut entries in any_chain(), at in any::<prop::sample::Index>(), from in 0..FIELDS - 3,
    ) {
        let at = at.index(entries.len());
        let moved = field(&mut entries[at], from).pop();
        prop_assume!(moved.is_some());
        field(&mut entries[at], from + 1).insert(0, moved.unwrap());
        prop_assert_eq!(walk(&entries).unwrap_err().seq, entries[at].seq);
    }

    #[test]
    fn any_removal_but_of_the_tail_is_found_where_it_is(
        mut entries in any_chain(), at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(entries.len());
        let removed = entries.remove(at);
        match walk(&entries) {
            Err(broken) => prop_assert_eq!(broken.seq, removed.seq),
            Ok(walk) => prop_assert_eq!(walk.count(), removed.seq - 1, "only the last may go unseen by the chain alone"),
        }
    }

    #[test]
    fn any_swap_is_found_at_the_first_of_the_two(
        mut entries in any_chain(), one in any::<prop::sample::Index>(), two in any::<prop::sample::Index>(),
        with_numbers in any::<bool>(),
    ) {
        let (one, two) = (one.index(entries.len()), two.index(entries.len()));
        prop_assume!(one != two);
        let first = one.min(two);
        entries.swap(one, two);
        if with_numbers {
            (entries[one].seq, entries[two].seq) = (entries[two].seq, entries[one].seq);
        }
        prop_assert_eq!(walk(&entries).unwrap_err().seq, i64::try_from(first).unwrap() + 1);
    }
}
