//! A figure from run to run: at which runs its level changed. E-divisive (Matteson and James, 2014) on logarithms; each
//! change is tested by permutations over all places where it could be, and all series of a history share one error rate.

mod needed;
mod split;
mod test;

use schemars::JsonSchema;
use serde::Serialize;

use crate::student::{self, OUTSIDE, moments};
pub use needed::{BEFORE, Needed, SHARES, SIZES, TRIED};
use needed::{Spreads, needed};
use test::{Tested, tested};

/// No level has fewer runs.
pub const SEGMENT: usize = 5;
/// Shorter series announce nothing: so few runs of each level are a change by chance too often.
pub const SHORTEST: usize = 3 * SEGMENT;
/// A history is looked at after each run. Of histories in which nothing changes, no larger share ever announces a change
/// at this many looks, by simulation.
pub const EVER: f64 = 0.02;
pub const LOOKS: usize = 100;
/// So this is the significance level of one look at a history of `FULL` runs. Several series share it as Holm says.
const LOOK: f64 = 0.005;
const FULL: usize = 18;
/// That of a shorter one: most false alarms would be early ones.
const EARLY: f64 = 0.001;
/// In a longer one it falls, as a new level is more evident after many runs of the old one, but not below this.
const LATE: f64 = 0.0005;
/// Of longer series only the newest runs are used.
pub const LONGEST: usize = 300;
/// A change of which it is said how many runs it needs, where none was found.
pub const TYPICAL: f64 = 0.05;

/// More than any history needs: it bounds the time.
const MOST_PERMUTATIONS: f64 = 999_999.0;
/// How many pairs of runs are compared in a test, as far as its level allows: within half a second.
const PAIRS: f64 = 6e7;
const SEED: u64 = 0x0074_7265_6e64;

/// What a series shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesTrend {
    /// One after another, from the first run to the last; none for a series without a run.
    pub levels: Vec<Level>,
    /// The changes between them, one fewer.
    pub shifts: Vec<Shift>,
    /// Changes that were announced before the last run came and are so no more: the first run of what was a new level.
    pub withdrawn: Vec<usize>,
    /// The standard deviation of the logarithms around their levels.
    pub spread: Option<f64>,
    /// After how many runs a change by 5 % is announced.
    pub typical: Option<Needed>,
    /// The significance level of the series at this look: its share of that of all.
    pub level: f64,
}

/// Runs between which nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "trend_level")]
pub struct Level {
    /// the place of its first run in `runs`, from 0
    pub first: usize,
    /// the place after its last
    pub end: usize,
    /// the geometric mean
    pub mean: f64,
}

/// From one level to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The first run of the new level.
    pub first: usize,
    /// The new level divided by the old one.
    pub ratio: f64,
    /// The 95 % interval of the ratio, by Welch, as if the place were known.
    pub interval: (f64, f64),
    /// How likely chance alone makes such a change anywhere in the series.
    pub p: f64,
    /// After how many runs of the new level a change of this size is announced.
    pub needed: Option<Needed>,
    /// What was announced before the last run came.
    pub before: Before,
}

/// What the same series said without its last run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The change that is announced now, to within one run.
    Same,
    /// Nothing: the last run made it evident.
    Nothing,
    /// The change, at another run.
    At(usize),
}

/// All series of a history: each its values, which are above 0, oldest first. What is found in one does not depend on
/// its place among the others.
#[must_use]
pub fn courses(series: &[Vec<f64>]) -> Vec<SeriesTrend> {
    let logs: Vec<Vec<f64>> =
        series.iter().map(|values| values.iter().map(|value| value.ln()).collect()).collect();
    let shorter: Vec<Vec<f64>> =
        logs.iter().map(|values| values[..values.len().saturating_sub(1)].to_vec()).collect();
    let (now, before) = (found_in(&logs), found_in(&shorter));
    let all = logs.iter().zip(now).zip(&before);
    all.map(|((values, now), before)| course(values, &now, &before.changes)).collect()
}

/// The significance level of one look at a history of so many runs: the probability that it announces a change where
/// nothing changed.
#[must_use]
pub fn level_of_a_look(runs: usize) -> f64 {
    let longer = runs as f64 / FULL as f64;
    if runs < FULL { EARLY } else { (LOOK / longer.powi(3).sqrt()).max(LATE) }
}

/// Whether one series of logarithms announces a change at this share of the level of a look.
#[must_use]
pub fn announces(logs: &[f64], share: f64) -> bool {
    let level = share * level_of_a_look(logs.len());
    first(logs, level, permutations(level, logs.len())).is_some()
}

/// Whether the ratio to a reference has less spread than the figure itself. Neither depends on the order of the runs, so
/// choosing changes no error rate.
#[must_use]
pub fn is_steadier(ratios: &[f64], values: &[f64]) -> bool {
    let spread = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        moments(&logs).1
    };
    ratios.len() == values.len() && spread(ratios) < spread(values)
}

/// The changes of one series, and its share of the level of a look.
#[derive(Clone, Debug, Default)]
struct Changes {
    share: f64,
    /// In the order of the runs.
    changes: Vec<Found>,
}

/// The first run of a new level, and the p-value.
type Found = (usize, f64);

/// The method of Holm over the first change of each series; further ones of a series are tested at its level.
fn found_in(logs: &[Vec<f64>]) -> Vec<Changes> {
    let used: Vec<&[f64]> = logs.iter().map(|values| &values[skipped(values)..]).collect();
    let testable = used.iter().filter(|values| SHORTEST <= values.len()).count();
    let levels: Vec<f64> = used.iter().map(|values| level_of_a_look(values.len())).collect();
    let permutations =
        |at: usize| permutations(levels[at] / testable.max(1) as f64, used[at].len());
    // Series of other lengths have other levels: what counts is the share of its own that each needs.
    let needs = |at: usize| {
        let first = first(used[at], levels[at], permutations(at))?;
        Some((first.1 / levels[at], at, first))
    };
    let mut order: Vec<(f64, usize, Found)> = (0..used.len()).filter_map(needs).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut left = testable;
    let mut found = vec![Changes::default(); logs.len()];
    for (needs, at, first) in order {
        let share = 1.0 / left as f64;
        if share < needs {
            break;
        }
        let changes = divided(used[at], first, share * levels[at], permutations(at));
        let skipped = skipped(&logs[at]);
        let changes = changes.into_iter().map(|(first, p)| (first + skipped, p)).collect();
        found[at] = Changes { share, changes };
        left -= 1;
    }
    let rest = 1.0 / left.max(1) as f64;
    found.iter_mut().filter(|it| it.changes.is_empty()).for_each(|it| it.share = rest);
    found
}

/// How many runs are too old to be used.
fn skipped(values: &[f64]) -> usize {
    values.len().saturating_sub(LONGEST)
}

/// So many that several orders by chance may be as far off at this level: the more, the less does it depend on chance
/// whether a change is announced. Of a long series each costs more time, so they are fewer.
fn permutations(level: f64, runs: usize) -> u32 {
    let affordable = 2.0 * PAIRS / (runs * runs).max(1) as f64;
    affordable.clamp(2.0 / level, 20.0 / level).min(MOST_PERMUTATIONS) as u32
}

/// The best split of a whole series and its p-value. None: it is above the level, or the series is too short.
fn first(values: &[f64], level: f64, permutations: u32) -> Option<Found> {
    let used = Some(values).filter(|values| SHORTEST <= values.len())?;
    let tested = tested(&[used.to_vec()], level, permutations, SEED)?;
    Some((tested.split.at, tested.p?))
}

/// Splits a series, which has this change, again and again, while the best split of all its parts is more than chance.
fn divided(values: &[f64], first: Found, level: f64, permutations: u32) -> Vec<Found> {
    let mut changes = vec![first];
    loop {
        let mut ends: Vec<usize> = changes.iter().map(|(at, _)| *at).collect();
        ends.insert(0, 0);
        ends.push(values.len());
        let parts: Vec<Vec<f64>> =
            ends.windows(2).map(|both| values[both[0]..both[1]].to_vec()).collect();
        let seed = SEED + changes.len() as u64;
        match tested(&parts, level, permutations, seed) {
            Some(Tested { part, split, p: Some(p) }) if p <= level => {
                changes.push((ends[part] + split.at, p));
                changes.sort_by_key(|(at, _)| *at);
            }
            Some(_) | None => return changes,
        }
    }
}

fn course(values: &[f64], now: &Changes, before: &[(usize, f64)]) -> SeriesTrend {
    let mut ends: Vec<usize> = now.changes.iter().map(|(at, _)| *at).collect();
    ends.insert(0, skipped(values));
    ends.push(values.len());
    ends.dedup();
    let parts: Vec<&[f64]> = ends.windows(2).map(|both| &values[both[0]..both[1]]).collect();
    let levels = ends.windows(2).zip(&parts).map(|(both, part)| Level {
        first: both[0],
        end: both[1],
        mean: moments(part).0.exp(),
    });
    let freedom = values.len().saturating_sub(parts.len());
    let within: f64 = parts.iter().map(|part| moments(part).1).sum();
    let spread = (0 < freedom).then(|| (within / freedom as f64).sqrt());
    let spreads = |size: f64, runs: usize| Spreads { size, spread: spread.unwrap_or(0.0), runs };
    let shifts = now.changes.iter().zip(parts.windows(2)).map(|(&(first, p), sides)| {
        let (difference, half) = welch(sides[0], sides[1]);
        Shift {
            first,
            ratio: difference.exp(),
            interval: ((difference - half).exp(), (difference + half).exp()),
            p,
            needed: needed(spreads(difference.abs(), sides[0].len()), now.share),
            before: earlier(first, before),
        }
    });
    let is_near = |at: usize| now.changes.iter().any(|(now, _)| now.abs_diff(at) < 2 * SEGMENT);
    SeriesTrend {
        levels: levels.collect(),
        shifts: shifts.collect(),
        withdrawn: before.iter().map(|(at, _)| *at).filter(|&at| !is_near(at)).collect(),
        spread,
        typical: parts
            .last()
            .filter(|_| spread.is_some())
            .and_then(|last| needed(spreads(TYPICAL.ln_1p(), last.len()), now.share)),
        level: now.share * level_of_a_look(values.len()),
    }
}

/// Where the nearest change was announced before the last run.
fn earlier(now: usize, before: &[(usize, f64)]) -> Before {
    let nearest = before.iter().map(|(at, _)| *at).min_by_key(|at| at.abs_diff(now));
    match nearest {
        Some(at) if at.abs_diff(now) <= 1 => Before::Same,
        Some(at) if at.abs_diff(now) < 2 * SEGMENT => Before::At(at),
        Some(_) | None => Before::Nothing,
    }
}

/// The difference of two means, and how far its interval extends to either side.
fn welch(one: &[f64], other: &[f64]) -> (f64, f64) {
    let (error, freedom) = student::welch(&[one, other].map(|values| {
        let (count, freedom) = (values.len() as f64, (values.len() as f64 - 1.0).max(1.0));
        (moments(values).1 / freedom / count, freedom)
    }));
    (moments(other).0 - moments(one).0, student::point(OUTSIDE, freedom) * error)
}

#[cfg(test)]
mod tests;
