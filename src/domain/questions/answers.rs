//! One function a question.

use super::{Answer, Answered, EffectsKnown, Known, Question};
use crate::domain::evidence::EffectState;
use crate::domain::item::State;
use crate::domain::moment::{span, stamp};
use crate::domain::text::count_of;
use crate::domain::timeline::{Hint, Limits, Line, Order, Origin, Run, Timeline, What, hints};
use crate::domain::trouble::Trouble;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeSet;

/// How long before the first and after the last line of an item a mark still counts.
const MARKS_AROUND: TimeDelta = TimeDelta::minutes(5);

pub(super) fn answer(question: Question, known: &Known<'_>) -> Answered {
    let (answer, told, lines) = match question {
        Question::Item => item(known),
        Question::NaturalKey => natural_key(known),
        Question::Runs => runs(known),
        Question::Trouble => trouble(known),
        Question::EffectFirst => effect_first(known),
        Question::Record => record(known),
    };
    let (answer, told) = without_record(question, known, (answer, told));
    let lines: BTreeSet<usize> = lines.into_iter().collect();
    Answered { question, answer, told, lines: lines.into_iter().collect() }
}

/// What an unread record could make otherwise is not known: an effect that it tells may be one more, may lie beside a mark,
/// and may be what no attempt accounts for.
fn without_record(
    question: Question,
    known: &Known<'_>,
    (answer, told): (Answer, String),
) -> (Answer, String) {
    let EffectsKnown::RecordUnread(why) = known.effects else { return (answer, told) };
    let leans_on_record = match question {
        Question::Item => known.items.is_empty(),
        Question::NaturalKey => false,
        Question::Runs | Question::Trouble => answer == Answer::No,
        Question::Record => answer == Answer::Yes,
        Question::EffectFirst => true,
    };
    if leans_on_record { (Answer::NotKnown, record_unread(why)) } else { (answer, told) }
}

fn record_unread(why: &str) -> String {
    format!("the record could not be read: {why}")
}

type Told = (Answer, String, Vec<usize>);

fn not_known(why: impl Into<String>, lines: Vec<usize>) -> Told {
    (Answer::NotKnown, why.into(), lines)
}

fn item(known: &Known<'_>) -> Told {
    let called =
        |item: &super::ItemFacts| format!("`{}` of {} ({})", item.name.key, item.name.source, item.status);
    match known.items {
        [] => {
            let line = known.timeline.lines.iter().find(|line| line.happening.item.is_some());
            match line.and_then(|line| Some((line.number, line.happening.item.as_ref()?))) {
                Some((number, name)) => (Answer::Yes, format!("`{name}`; its row is gone"), vec![number]),
                None => not_known("no source has it and nothing else tells of it", Vec::new()),
            }
        }
        [one] => (Answer::Yes, called(one), row_lines(known)),
        several => {
            let names: Vec<String> = several.iter().map(called).collect();
            let told = format!("{} items share the reference: {}", several.len(), names.join(", "));
            (Answer::Yes, told, row_lines(known))
        }
    }
}

fn row_lines(known: &Known<'_>) -> Vec<usize> {
    let of_row = |line: &&Line| line.happening.origin == Origin::Row;
    known.timeline.lines.iter().filter(of_row).map(|line| line.number).collect()
}

fn natural_key(known: &Known<'_>) -> Told {
    let mut keys = BTreeSet::new();
    let mut lines = Vec::new();
    for line in &known.timeline.lines {
        if let Some(key) = line.happening.what.told().and_then(|told| told.natural_key.clone()) {
            keys.insert(key);
            lines.push(line.number);
        }
    }
    if keys.len() > 1 {
        let keys: Vec<String> = keys.into_iter().collect();
        return (Answer::No, format!("its runs name {}: {}", keys.len(), keys.join(", ")), lines);
    }
    match known.reference {
        Ok(reference) if !reference.trim().is_empty() => (Answer::Yes, format!("`{reference}`"), lines),
        Ok(_) => not_known("its reference is empty", lines),
        Err(why) => not_known(format!("its reference cannot be made: {why}"), lines),
    }
}

/// Effects that really happened, with or without a time.
fn effects_count(known: &Known<'_>) -> usize {
    let happened = |what: &What| matches!(what, What::Effect { state: EffectState::Happened, .. });
    known.timeline.happenings().filter(|happening| happened(&happening.what)).count()
}

fn run_lines(runs: &[Run]) -> Vec<usize> {
    let lines: BTreeSet<usize> = runs.iter().flat_map(|run| run.lines.iter().copied()).collect();
    lines.into_iter().collect()
}

fn runs(known: &Known<'_>) -> Told {
    let told = known.runs.len();
    let counted = known.items.iter().filter_map(|item| usize::try_from(item.attempts?).ok()).sum::<usize>();
    let lines = run_lines(known.runs);
    let most = told.max(counted);
    if most > 1 {
        let from = match (told, counted) {
            (told, counted) if counted > told => {
                format!("the row counts {counted}, of which {told} are told")
            }
            (told, counted) if counted > 0 => format!("{told} are told, the row counts {counted}"),
            (told, _) => format!("{told} are told, and the row counts none"),
        };
        return (Answer::Yes, format!("{most} runs or more ({from})"), lines);
    }
    let effects = effects_count(known);
    if effects > 1 {
        let why = format!(
            "{effects} effects and {most} run told: it called more than once, or a run left no trace"
        );
        return not_known(why, lines);
    }
    if told == 0 {
        return not_known("nothing tells of a run", lines);
    }
    // What counted only one may be a counter of a later life, and a killed run writes no line: only all three together
    // show that there was one.
    if let Some(item) = known.items.iter().find(|item| item.tried_once) {
        let why = format!(
            "the row of `{}` may be deleted to be tried again, so it counts no earlier run",
            item.name.key
        );
        return not_known(why, lines);
    }
    if known.items.is_empty() || known.items.iter().any(|item| item.attempts.is_none()) {
        return not_known("its row counts no attempts, and a run that is killed writes no line", lines);
    }
    if known.items.iter().any(|item| item.state == State::Running) {
        return not_known("it still says that it is running", lines);
    }
    let moment = known.runs.first().and_then(Run::moment);
    if !moment.is_some_and(|at| known.logs.covers(at)) || !known.runs.iter().all(|run| run.is_on_record) {
        return not_known(known.logs.why_not(moment), lines);
    }
    match known.effects {
        EffectsKnown::Told => {
            (Answer::No, "one run: its row, the log and the provider agree".to_owned(), lines)
        }
        EffectsKnown::RecordUnread(why) => not_known(record_unread(why), lines),
        EffectsKnown::NotAsked => {
            not_known("the provider was not asked whether there is a second effect", lines)
        }
        EffectsKnown::OnRecord(at) => {
            not_known(format!("the provider was last asked at {at}, and not since (--check asks)"), lines)
        }
        EffectsKnown::Fault(why) => {
            not_known(format!("the provider gave no answer that counts ({why})"), lines)
        }
    }
}

fn trouble(known: &Known<'_>) -> Told {
    let mut found: Vec<String> = Vec::new();
    let mut lines = BTreeSet::new();
    let mut doubts: Vec<String> = Vec::new();
    for run in known.runs {
        let told = match (&run.error, run.ending) {
            (Some(error), _) => Some(Trouble::of(known.errors, Some(error))),
            (None, Some(crate::domain::timeline::Ending::Done)) => None,
            (None, Some(crate::domain::timeline::Ending::Failed)) => {
                doubts.push(format!("{} failed and tells no error", run.name()));
                None
            }
            (None, None) => {
                doubts.push(format!("nobody wrote down how {} ended", run.name()));
                None
            }
        };
        match told {
            Some(trouble) if trouble.is_asked_for() => {
                found.push(format!("{} ({})", trouble.as_str(), run.name()));
                lines.extend(run.lines.iter().copied());
            }
            Some(Trouble::NotKnown) => doubts.push(format!("no rule knows the error of {}", run.name())),
            Some(_) | None => {}
        }
    }
    for line in &known.timeline.lines {
        let word = match &line.happening.what {
            What::DeclaredDead(_) => Some("restart (its run was said to be dead)".to_owned()),
            What::Mark(kind, text) if is_around(known, line.at) => Some(format!("{}: {text}", kind.as_str())),
            _ => None,
        };
        if let Some(word) = word {
            found.push(word);
            lines.insert(line.number);
        }
    }
    if !found.is_empty() {
        return (Answer::Yes, found.join("; "), lines.into_iter().collect());
    }
    let lines = run_lines(known.runs);
    if let Some(doubt) = doubts.into_iter().next() {
        return not_known(doubt, lines);
    }
    let counted: i64 = known.items.iter().filter_map(|item| item.attempts).sum();
    let untold = usize::try_from(counted).unwrap_or(0) > known.runs.len();
    if known.runs.is_empty() || untold {
        return not_known("not every run is told of", lines);
    }
    if !known.runs.iter().all(|run| run.is_on_record) {
        return not_known("an earlier run may have met one, and only the row tells of its runs", lines);
    }
    if known.marks.given == 0 {
        return not_known("nobody gave deploys and restarts (`[[marks]]` or --mark)", lines);
    }
    if !known.marks.is_whole() {
        let why = known.marks.troubles.first().cloned();
        let why = why.unwrap_or_else(|| format!("{} marks cannot be read", known.marks.broken));
        return not_known(why, lines);
    }
    if known.timeline.untimed.iter().any(|untimed| matches!(untimed.happening.what, What::Mark(..))) {
        return not_known("a mark has no readable time", lines);
    }
    (Answer::No, "every run ended without one, and no mark lies around them".to_owned(), lines)
}

/// Whether a moment lies in, or close to, the time in which the item was worked on.
fn is_around(known: &Known<'_>, at: DateTime<Utc>) -> bool {
    let of_item = |line: &&Line| {
        matches!(line.happening.origin, Origin::Row | Origin::Attempts | Origin::Receipt | Origin::Effect)
    };
    let times: Vec<DateTime<Utc>> = known.timeline.lines.iter().filter(of_item).map(|line| line.at).collect();
    match (times.iter().min(), times.iter().max()) {
        (Some(first), Some(last)) => *first - MARKS_AROUND <= at && at <= *last + MARKS_AROUND,
        _ => false,
    }
}

/// The lines that tell when the state of each run was recorded. Where a log tells the same end at another time than the row, the log
/// counts: it tells of each run, and the row only of the last.
fn recorded<'a>(known: &Known<'a>) -> Vec<&'a Line> {
    let all = hints(known.timeline, known.runs, &Limits::default());
    let doubted: BTreeSet<usize> = all.iter().filter_map(Hint::doubted_line).collect();
    let is_end =
        |line: &Line| matches!(line.happening.what, What::Ended(..)) && !doubted.contains(&line.number);
    // One a run: the row tells the end of its last run once more.
    let first_of = |run: &Run| {
        let lines = run.lines.iter().filter_map(|number| known.timeline.lines.get(number.checked_sub(1)?));
        lines.filter(|line| is_end(line)).min_by_key(|line| line.number)
    };
    let mut ends: Vec<&Line> = known.runs.iter().filter_map(first_of).collect();
    ends.sort_by_key(|line| line.number);
    ends
}

fn effect_first(known: &Known<'_>) -> Told {
    match known.effects {
        EffectsKnown::Told | EffectsKnown::OnRecord(_) => {}
        EffectsKnown::NotAsked => return not_known("the provider was not asked", Vec::new()),
        EffectsKnown::RecordUnread(why) => return not_known(record_unread(why), Vec::new()),
        EffectsKnown::Fault(why) => {
            return not_known(format!("the provider gave no answer that counts ({why})"), Vec::new());
        }
    }
    let effects: Vec<&Line> = known.timeline.effects().collect();
    if effects_count(known) == 0 {
        return not_known("the provider shows no effect that happened", Vec::new());
    }
    if effects.len() < effects_count(known) {
        return not_known("the provider tells no time of an effect", Vec::new());
    }
    let lines: Vec<usize> = effects.iter().map(|line| line.number).collect();
    let ends = recorded(known);
    if ends.is_empty() {
        let running = known.items.iter().find(|item| item.state == State::Running);
        return match running {
            Some(item) => {
                let told = format!("no end was ever recorded: the row still says `{}`", item.status);
                (Answer::No, told, [lines, row_lines(known)].concat())
            }
            None => not_known("nobody tells when its state was recorded", lines),
        };
    }
    let (mut answer, mut told, mut shown) = (Answer::Yes, Vec::new(), lines);
    // A run makes one effect, so an end accounts for one; the next effect belongs to a later end, where there is one.
    let mut accounted: BTreeSet<usize> = BTreeSet::new();
    for effect in effects {
        let placed = place(known.timeline, &ends, effect, &accounted);
        shown.extend(placed.lines);
        accounted.extend(placed.end);
        answer = match (answer, placed.answer) {
            (Answer::No, _) | (_, Answer::No) => Answer::No,
            (Answer::NotKnown, _) | (_, Answer::NotKnown) => Answer::NotKnown,
            (Answer::Yes, Answer::Yes) => Answer::Yes,
        };
        told.push(placed.told);
    }
    if let EffectsKnown::OnRecord(at) = known.effects {
        told.push(format!("as the provider told at {at}"));
    }
    shown.sort_unstable();
    shown.dedup();
    (answer, told.join("; "), shown)
}

/// Where an effect lies among the ends that were recorded.
struct Placed {
    answer: Answer,
    told: String,
    /// The line of the end that accounts for it.
    end: Option<usize>,
    lines: Vec<usize>,
}

fn place(timeline: &Timeline, ends: &[&Line], effect: &Line, accounted: &BTreeSet<usize>) -> Placed {
    let id = match &effect.happening.what {
        What::Effect { id, .. } => id.as_str(),
        _ => "an effect",
    };
    let is_free = |end: &Line| !accounted.contains(&end.number);
    let before: Vec<&&Line> =
        ends.iter().filter(|end| timeline.order(end, effect) == Order::Before).collect();
    let after: Vec<&&Line> = ends.iter().filter(|end| timeline.order(end, effect) != Order::Before).collect();
    let since = before.last().map(|end| (end.number, span(effect.at - end.at)));
    let after_words = since.as_ref().map(|(line, span)| format!("{span} after line {line} was recorded"));
    let lines = |end: Option<&&&Line>| {
        let end = end.map(|end| end.number);
        end.into_iter().chain(since.as_ref().map(|(line, _)| *line)).collect::<Vec<usize>>()
    };
    // Where every later end belongs to another effect, and an earlier one to none, this is the late effect of that run.
    let free = after.iter().find(|end| is_free(end));
    if after.is_empty() || (free.is_none() && before.iter().any(|end| is_free(end))) {
        let words = after_words.unwrap_or_else(|| "after its state was recorded".to_owned());
        return Placed {
            answer: Answer::No,
            told: format!("{id} came {words}"),
            end: None,
            lines: lines(None),
        };
    }
    let end = free.or(after.first());
    let Some(next) = end else {
        return Placed {
            answer: Answer::NotKnown,
            told: format!("nothing tells of {id}"),
            end: None,
            lines: Vec::new(),
        };
    };
    let (answer, last) = if timeline.order(effect, next) == Order::Before {
        (Answer::Yes, format!("{} before line {}", span(next.at - effect.at), next.number))
    } else {
        (Answer::NotKnown, format!("too close to line {} for their clocks to tell", next.number))
    };
    let words: Vec<String> = after_words.into_iter().chain([last]).collect();
    Placed {
        answer,
        told: format!("{id} came {}", words.join(" and ")),
        end: Some(next.number),
        lines: lines(end),
    }
}

fn record(known: &Known<'_>) -> Told {
    let is_tied = |run: &&Run| run.is_on_record && run.attempt.is_some() && run.ending.is_some();
    let ties: Vec<&Run> = known.runs.iter().filter(is_tied).collect();
    let lines: BTreeSet<usize> = ties.iter().flat_map(|run| run.lines.iter().copied()).collect();
    let lines: Vec<usize> = lines.into_iter().collect();
    let effects: Vec<&Line> = known.timeline.effects().collect();
    // A line that says too little shows that the record does not tie, whatever else is missing.
    let on_record = |run: &&Run| run.is_on_record;
    if let Some(run) = known.runs.iter().filter(on_record).find(|run| run.attempt.is_none()) {
        return (Answer::No, "a log has the item and no number of the attempt".to_owned(), run.lines.clone());
    }
    let untied = known.runs.iter().find(|run| !is_tied(run));
    if let Some(run) = untied {
        let moment = run.moment();
        let covering = known.logs.is_whole() && moment.is_some_and(|at| known.logs.covers(at));
        if covering {
            let what = if run.is_on_record { "has no line with its result" } else { "is in the row alone" };
            let told = format!("{} {what}; the logs reach {}", run.name(), known.logs.reach());
            return (Answer::No, told, run.lines.clone());
        }
        // The row's time may be wrong where the provider's is not.
        let unexplained = effects.iter().find(|effect| known.logs.covers(effect.at));
        if let Some(effect) = unexplained.filter(|_| effects_count(known) > ties.len()) {
            let told = format!(
                "an effect of {} has no line; the logs reach {}",
                stamp(effect.at),
                known.logs.reach()
            );
            return (Answer::No, told, vec![effect.number]);
        }
        return not_known(
            format!("{} is in the row alone, and {}", run.name(), known.logs.why_not(moment)),
            lines,
        );
    }
    if ties.is_empty() {
        let moment = effects.first().map(|line| line.at);
        if moment.is_some_and(|at| known.logs.covers(at)) {
            let told = format!("the logs reach {} and have no line of it", known.logs.reach());
            return (Answer::No, told, effects.iter().map(|line| line.number).collect());
        }
        return not_known(known.logs.why_not(moment), Vec::new());
    }
    if effects_count(known) > ties.len() {
        let covered = effects.iter().all(|line| known.logs.covers(line.at));
        let told = format!(
            "{} and {} on record",
            count_of(effects_count(known), "effect"),
            count_of(ties.len(), "attempt")
        );
        return if covered && effects.len() == effects_count(known) {
            (Answer::No, told, lines)
        } else {
            not_known(
                format!("there are {told}, and {}", known.logs.why_not(effects.first().map(|line| line.at))),
                lines,
            )
        };
    }
    let naming = ties.iter().filter(|run| run.effect.is_some()).count();
    let of_effects = match naming {
        0 => "none names its effect".to_owned(),
        all if all == ties.len() => "each names its effect".to_owned(),
        some => format!("{some} name their effect"),
    };
    (Answer::Yes, format!("{} attempts with item and result; {of_effects}", ties.len()), lines)
}
