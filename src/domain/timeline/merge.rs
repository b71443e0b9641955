//! From happenings to lines: sorted by time, equal times by cause, and what has no time at the end.

use super::{Gaps, Happening, Line, Timeline, Untimed, resolution};
use crate::domain::moment::{Reading, span};

/// Puts everything in order. What says the same in the same words at the same place is told once.
pub fn merge(happenings: Vec<Happening>, gaps: Gaps) -> Timeline {
    let mut timed = Vec::new();
    let mut untimed = Vec::new();
    for happening in happenings {
        match &happening.at {
            Reading::Known(at) => timed.push((*at, happening)),
            Reading::Missing => untimed.push(Untimed { happening, why: "it tells no time".to_owned() }),
            odd @ (Reading::ZoneUnclear(_) | Reading::UnitUnclear(_) | Reading::Unreadable(_)) => {
                let why = format!("its time cannot be read for certain: {odd}");
                untimed.push(Untimed { happening, why });
            }
        }
    }
    // Stable: what shares a moment and a cause stays in the order in which its origin told it.
    timed.sort_by_key(|(at, happening)| (*at, happening.what.causal_rank()));
    let mut lines: Vec<Line> = Vec::with_capacity(timed.len());
    for (at, happening) in timed {
        let mut of_this_moment = lines.iter().rev().take_while(|line| line.at == at);
        if of_this_moment.any(|line| line.happening == happening) {
            continue;
        }
        let uncertain = lines.last().and_then(|before| doubt(before, at, &happening, &gaps));
        lines.push(Line { number: lines.len() + 1, at, happening, uncertain });
    }
    Timeline { lines, untimed, gaps }
}

/// Why a line may have come before the one that stands before it. Two lines of one clock keep the order they were told in.
fn doubt(
    before: &Line,
    at: chrono::DateTime<chrono::Utc>,
    happening: &Happening,
    gaps: &Gaps,
) -> Option<String> {
    let (one, other) = (&before.happening.clock, &happening.clock);
    if one == other {
        return None;
    }
    let may_differ = gaps.between(one, other);
    let coarse = resolution(before.at);
    if before.at + coarse + may_differ <= at {
        return None;
    }
    let gap_is_known = gaps.0.contains_key(one) || gaps.0.contains_key(other);
    let why = match (gap_is_known && may_differ > Gaps::UNMEASURED, coarse.is_zero()) {
        (true, _) => format!("the clocks of {one} and {other} are {} apart", span(may_differ)),
        (false, false) => {
            format!("{one} tells whole seconds, and nobody compared its clock with that of {other}")
        }
        (false, true) => format!("nobody compared the clocks of {one} and {other}"),
    };
    Some(why)
}
