//! Times, durations, error texts, masks, cells and filters.

use chrono::{FixedOffset, TimeDelta};
use std::sync::LazyLock;
use unstuck::domain::cell::Cell;
use unstuck::domain::error_class::ErrorClass;
use unstuck::domain::filter::{Facts, Filter, Folded, Rest, fold};
use unstuck::domain::mask::{MASK, mask_document, mask_text};
use unstuck::domain::moment::{Reading, TimeFormat, Zone, parse_duration, read, span, write_like};
use unstuck::domain::text::{clean, clean_cut, clean_for_sheet, clean_lines};
use unstuck::output::json;
use unstuck::preset::catalogue::Catalogue;

/// The input as text: bad bytes become signs, as they do before any of these readers.
pub fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Fails with a sentence where a promise does not hold.
pub fn must(holds: bool, sentence: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(sentence()) }
}

/// A decision writes a time like the one that stands there. What is written must be read as that time, to its precision.
pub fn a_time_is_written_back_as_it_was_read(input: &[u8]) -> Result<(), String> {
    use TimeFormat::{EpochMs, EpochNs, EpochS, EpochUs, Iso, Julian};
    let text = text(input);
    let numbers = [text.trim().parse().ok().map(Cell::Integer), text.trim().parse().ok().map(Cell::Real)];
    let zones = [Zone::Utc, Zone::Unclear, Zone::Fixed(FixedOffset::west_opt(3 * 3600).unwrap())];
    for cell in numbers.into_iter().flatten().chain([Cell::text(text)]) {
        for format in [Iso, EpochS, EpochMs, EpochUs, EpochNs, Julian] {
            for zone in zones {
                let seen = read(&cell, format, zone);
                let told = seen.to_string();
                must(told.chars().count() < 120, || format!("{cell:?} is told at length: {told}"))?;
                let (Reading::Known(at) | Reading::ZoneUnclear(at)) = seen else { continue };
                let written = write_like(&cell, format, zone, at);
                let again = read(&written, format, zone);
                let (Reading::Known(back) | Reading::ZoneUnclear(back)) = again else {
                    return Err(format!(
                        "{cell:?} as {format:?} in {zone:?} is written as {written:?}: {again:?}"
                    ));
                };
                // What stands there may have no fraction, and then a part of a second is left out.
                let lost = at - back;
                let precise = lost > -TimeDelta::milliseconds(1) && lost < TimeDelta::seconds(1);
                must(precise, || {
                    format!("{cell:?} as {format:?} in {zone:?} is {at}, written as {written:?}: {back}")
                })?;
            }
        }
    }
    Ok(())
}

pub fn a_duration_is_the_same_in_another_spelling(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let duration = match parse_duration(&text) {
        Ok(duration) => duration,
        Err(sentence) => return must(!sentence.is_empty(), || "an error says nothing".to_owned()),
    };
    must(duration >= TimeDelta::zero(), || format!("{duration} is less than nothing"))?;
    let whole = TimeDelta::seconds(duration.num_seconds());
    let again = parse_duration(&format!("{}s", duration.num_seconds()));
    must(again == Ok(whole), || format!("{duration} in seconds is {again:?}"))?;
    let told = span(duration);
    must(told == span(whole) && told.len() < 40, || format!("{duration} is told as {told}"))
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new(&[]).unwrap());

/// Calling an ambiguous error one that proves something is the mistake that costs money.
pub fn an_error_proves_the_same_with_space_around_it_and_nothing_before_a_time_out(
    input: &[u8],
) -> Result<(), String> {
    let table = &CATALOGUE.errors;
    let text = text(input);
    let class = |text: &str| table.classify(Some(text)).class;
    let alone = class(&text);
    for around in [format!("  {text}\n\n"), format!("\t{text} "), format!("\r\n{text}\r\n")] {
        let found = class(&around);
        must(found == alone, || format!("{alone:?} alone, and with space around it {found:?}"))?;
    }
    let listed =
        serde_json::json!([text, "requests.exceptions.ReadTimeout: Read timed out. (read timeout=10)"]);
    let last = class(&listed.to_string());
    must(last == ErrorClass::Ambiguous, || {
        format!("before a time-out in a list it proves something: {last:?}")
    })
}

/// What stands in the field that a policy names.
const NAMED: &str = "Ana-Maria-Lopez-Quintero";

/// The policy's field in a document of outside text, and every beginning of that document: an answer may break off anywhere.
pub fn a_named_field_stays_hidden_wherever_the_text_is_cut(input: &[u8]) -> Result<(), String> {
    let (text, named) = (text(input), ["holder".to_owned()]);
    must(!mask_text(&text).contains(NAMED) || text.contains(NAMED), || "a mask adds text".to_owned())?;
    let whole = serde_json::json!({ "a": text, "holder": NAMED, "b": [{ "holder": { "name": NAMED } }, { "Holder": [text, NAMED] }] });
    let document = whole.to_string();
    if text.contains(&NAMED[..8]) {
        return Ok(());
    }
    for at in (0..=document.len())
        .filter(|at| document.is_char_boundary(*at))
        .rev()
        .step_by(1 + document.len() / 12)
    {
        let shown = mask_document(&document[..at], &named);
        must(!shown.contains(&NAMED[..8]), || format!("cut at {at} it shows {shown}"))?;
    }
    let once = mask_document(&document, &named);
    let again = mask_document(&once, &named);
    must(again.contains(MASK), || "nothing is hidden in the whole".to_owned())
}

fn is_harmless(shown: &str) -> bool {
    shown.chars().all(crate::hostile::is_harmless)
}

/// The three ways out of the program: a terminal, a sheet, a line of JSON.
pub fn what_is_shown_is_harmless_and_what_is_written_means_the_same(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    must(is_harmless(&clean(&text)), || format!("it is shown as {:?}", clean(&text)))?;
    must(crate::hostile::highest_stack(&clean(&text)) <= 8, || "a letter has a tower of marks".to_owned())?;
    must(clean_cut(&text, 12).chars().count() <= 12 * 9, || "a cut text is long".to_owned())?;
    must(clean_lines(&text).iter().all(|line| is_harmless(line)), || "a line is not harmless".to_owned())?;
    let cell = clean_for_sheet(&text);
    must(!crate::hostile::is_formula(&cell), || format!("a sheet would run {cell:?}"))?;
    let written = json::line(&text);
    must(is_harmless(&written) && !written.contains('\n'), || format!("the line of JSON is {written:?}"))?;
    let back: String = serde_json::from_str(&written).map_err(|fault| fault.to_string())?;
    must(back == text, || format!("the JSON means {back:?}"))
}

/// The console asks the quick way first.
pub fn the_quick_answer_of_a_filter_is_the_slow_one(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let filter = match Filter::parse(&text) {
        Ok(filter) => filter,
        Err(sentence) => return must(!sentence.is_empty(), || "an error says nothing".to_owned()),
    };
    must(Filter::parse(&text).as_ref() == Ok(&filter), || "parsed twice it is another".to_owned())?;
    let plain = Facts {
        source: "jobs",
        key: "inv-7",
        kind: "invoice",
        status: "failed",
        error: "Read timed out",
        ..Facts::default()
    };
    let odd =
        Facts { key: &text, error: &text, reference: "ref É", verdict: "unknown", advice: "wait", ..plain };
    let old = Facts {
        age: Some(TimeDelta::hours(3)),
        attempts: Some(i64::MAX),
        risk: "financial",
        finding: "stuck",
        class: "ambiguous",
        ..plain
    };
    for facts in [plain, odd, old] {
        let slow = filter.passes(&facts);
        let words = Facts { key: "", error: "", reference: "", age: None, attempts: None, ..facts };
        let mut folded = String::new();
        // Long texts are not kept folded: those are asked the plain way.
        let quick = fold(&facts, &mut folded).map(|ends| match filter.given_words(&words) {
            Rest::Settled(passes) => passes,
            Rest::Open(open) => open.passes(facts.age, facts.attempts, Folded::new(&folded, ends)),
            Rest::Whole => filter.passes(&facts),
        });
        must(quick.is_none_or(|quick| quick == slow), || {
            format!("quickly {quick:?}, slowly {slow} for {facts:?}")
        })?;
        must(!slow || filter.may_pass(&facts), || format!("it passes and may not pass: {facts:?}"))?;
    }
    Ok(())
}
