//! The workers and whoever has a hand in the table: take, act, end, die, come back late, delete and make anew.

use super::truth::{ACT_MAX, Attempt, Done, Fate, Job, KEY_TTL, LAG_MAX, Told, Truth};
use crate::domain::evidence::EffectState;
use chrono::TimeDelta;
use fastrand::Rng;

/// The keys of the jobs there are.
pub(super) const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// One thing that a worker or somebody by hand does; tells what, or nothing when there was nothing to do.
pub(super) fn act(truth: &mut Truth, rng: &mut Rng) -> Option<(&'static str, String)> {
    let is_awake = |attempt: &Attempt| !attempt.is_over && attempt.sleeps_until <= truth.now;
    let awake: Vec<usize> = (0..truth.attempts.len()).filter(|&at| is_awake(&truth.attempts[at])).collect();
    match rng.u8(0..20) {
        0 => by_hand(truth, rng),
        1..=7 => take(truth, rng),
        _ => {
            let at = *rng.choice(&awake)?;
            Some(go_on(truth, rng, at))
        }
    }
}

/// Takes a job that is free. A failed one is taken again by itself only where its error proves that nothing happened.
fn take(truth: &mut Truth, rng: &mut Rng) -> Option<(&'static str, String)> {
    let key = *rng.choice(&KEYS)?;
    let now = truth.now;
    let (attempts, first) = match truth.jobs.get(key) {
        None => (1, now),
        Some(job) if job.status == "pending" => (job.attempts + 1, job.first),
        Some(job) if job.status == "failed" && job.error.as_deref() == Some(NEVER_LEFT) => {
            (job.attempts + 1, job.first)
        }
        Some(_) => return None,
    };
    let taken = Job::taken(attempts, first, truth.moment_of_write());
    truth.jobs.insert(key.to_owned(), taken.clone());
    let (key, told) = (key.to_owned(), None);
    let attempt = Attempt { key: key.clone(), at: now, left: taken, told, sleeps_until: now, is_over: false };
    truth.attempts.push(attempt);
    Some(("takes", key))
}

const NEVER_LEFT: &str = "connection refused";

/// A worker goes on: sends its request in time, or dies, or writes how it ended, however late.
fn go_on(truth: &mut Truth, rng: &mut Rng, at: usize) -> (&'static str, String) {
    let attempt = truth.attempts[at].clone();
    let key = attempt.key.clone();
    if rng.u8(0..6) == 0 {
        truth.attempts[at].is_over = true;
        return ("dies", key);
    }
    let Some(told) = attempt.told else {
        if truth.now - attempt.at > ACT_MAX {
            truth.attempts[at].told = Some(Told::TimedOut);
            return ("gives up", key);
        }
        let told = request(truth, rng, &key);
        truth.attempts[at].told = Some(told);
        return ("acts", format!("{key}: {told:?}"));
    };
    if attempt.sleeps_until == attempt.at && rng.bool() {
        truth.attempts[at].sleeps_until = truth.now + TimeDelta::minutes(rng.i64(1..300));
        return ("falls asleep", key);
    }
    truth.attempts[at].is_over = true;
    let (status, error) = match told {
        Told::Succeeded => ("done", None),
        Told::Declined => ("failed", Some("card declined")),
        Told::TimedOut => ("failed", Some("read timed out")),
        Told::NeverLeft => ("failed", Some(NEVER_LEFT)),
    };
    let now = truth.moment_of_write();
    let is_guarded = truth.setting.is_guarded;
    let Some(job) = truth.jobs.get_mut(&key) else { return ("ends without a row", key) };
    let is_mine = *job == attempt.left;
    if is_guarded && !is_mine {
        return ("ends, and leaves what is another's", key);
    }
    *job = Job { status, error: error.map(str::to_owned), updated: now, ..job.clone() };
    (if is_mine { "ends" } else { "ends late and overwrites" }, format!("{key}: {status}"))
}

/// A request reaches the provider, or does not.
fn request(truth: &mut Truth, rng: &mut Rng, key: &str) -> Told {
    let now = truth.now;
    let remembered = truth.effects.iter().find(|done| done.key == key && now - done.at <= KEY_TTL);
    if let Some(done) = remembered.filter(|_| truth.setting.sends_key) {
        return if done.fate == Fate::Declined { Told::Declined } else { Told::Succeeded };
    }
    let span = |rng: &mut Rng, most: TimeDelta| TimeDelta::seconds(rng.i64(0..=most.num_seconds()));
    let fate = match rng.u8(0..10) {
        0 => return Told::NeverLeft,
        1..=2 => return Told::TimedOut,
        3 => Fate::Declined,
        4 => {
            let then = if rng.bool() { EffectState::Happened } else { EffectState::Failed };
            Fate::Pending(now + span(rng, TimeDelta::hours(2)), then)
        }
        _ => Fate::Happened,
    };
    let (id, shows_from) = (format!("ch_{}", truth.effects.len()), now + span(rng, LAG_MAX));
    truth.effects.push(Done { id, key: key.to_owned(), at: now, shows_from, fate });
    match (rng.bool(), fate) {
        (true, _) => Told::TimedOut,
        (false, Fate::Declined) => Told::Declined,
        (false, Fate::Happened | Fate::Pending(..)) => Told::Succeeded,
    }
}

/// Somebody deletes a row by hand, or makes it anew as it was first taken.
fn by_hand(truth: &mut Truth, rng: &mut Rng) -> Option<(&'static str, String)> {
    let key = *rng.choice(&KEYS)?;
    // Where the provider forgets effects or keys, the row must not forget its first attempt: nothing else tells of it.
    let setting = &truth.setting;
    if setting.forgets || (setting.sends_key && !setting.is_tried_once) {
        return None;
    }
    if truth.jobs.remove(key).is_some() && rng.bool() {
        return Some(("by hand: deletes", key.to_owned()));
    }
    let anew = Job::taken(1, truth.now, truth.moment_of_write());
    truth.jobs.insert(key.to_owned(), anew);
    Some(("by hand: makes anew", key.to_owned()))
}
