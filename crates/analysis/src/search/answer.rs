//! What a search has found.

use load::Quantile;

use super::BELOW_CEILING;
use super::aim::{Evidence, PARTS};
use super::course::Course;
use super::judge::{Judged, Word};
use super::noise::{Noise, summed};

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub conclusion: Conclusion,
    /// The highest rate that holds, below all that break; or one of which all full trials kept the aim, too few to decide.
    pub lower: Option<End>,
    /// The lowest rate that breaks.
    pub upper: Option<End>,
    /// Every rate that was tried, from the lowest to the highest.
    pub places: Vec<Place>,
    /// Rates at which the server held more than at a lower one: a rate that broke, and a higher one that was kept.
    pub inversions: Vec<(f64, f64)>,
    /// What was lost came at once in some trials and not at all in others.
    pub stalls: Option<Stalls>,
    /// What disturbed trials that were repeated: the worst of each kind, and how many there were.
    pub noise: Vec<(Noise, usize)>,
    /// The highest rate that would be tried, and what the reference achieves, as far as that is believed.
    pub most: f64,
    pub ceiling: Option<f64>,
    pub trials: usize,
    pub seconds: f64,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// The two ends lie as near to each other as they were to.
    Found,
    /// A rate between the ends stayed undecided.
    Wider,
    /// Even the highest rate is kept.
    AtLeast,
    /// Not even the lowest rate is kept.
    NotMet,
    /// The limit of time was reached; the width would take so many seconds more.
    OutOfTime { needed_s: f64 },
    /// It was interrupted.
    Unfinished { needed_s: f64 },
    /// A server that is not started anew kept this rate at first, and later neither it nor any lower one.
    Collapsed { kept: f64 },
    /// The instrument could not measure in so many trials in a row, for this reason.
    CannotTell { says: String, in_a_row: usize },
}

impl Conclusion {
    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Conclusion::Found => "found",
            Conclusion::Wider => "wider",
            Conclusion::AtLeast => "at_least",
            Conclusion::NotMet => "not_met",
            Conclusion::OutOfTime { .. } => "out_of_time",
            Conclusion::Unfinished { .. } => "unfinished",
            Conclusion::Collapsed { .. } => "collapsed",
            Conclusion::CannotTell { .. } => "cannot_tell",
        }
    }
}

/// One end of the bracket.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    pub rate: f64,
    pub judged: Judged,
    /// The time did not suffice for full trials there: it is known by short ones.
    pub is_short: bool,
    /// Right answers each second, on average over its trials.
    pub answered_per_s: f64,
    /// The first limit's percentile: the median of its trials.
    pub percentile: Option<Quantile>,
}

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub rate: f64,
    /// By its full trials; none if it had only short ones.
    pub judged: Option<Judged>,
    /// By its short trials, which decide nothing.
    pub short: Option<Judged>,
}

/// Trials that are too short for what the server does now and then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// Trials that lost by far too much, at rates at which others kept the aim.
    pub trials: usize,
    pub of: usize,
}

impl Answer {
    pub(super) fn of(course: &Course<'_>, conclusion: Conclusion) -> Answer {
        let (low, high) = course.bracket();
        let kept = course.kept_by_all().filter(|kept| high.is_none_or(|high| *kept < high));
        let low = low.or(kept);
        let may_be_short = matches!(
            conclusion,
            Conclusion::OutOfTime { .. } | Conclusion::Wider | Conclusion::Unfinished { .. }
        );
        let (short_low, short_high) = if may_be_short { course.by_short() } else { (None, None) };
        let is_below = |low: &i32| high.or(short_high).is_none_or(|high| *low < high);
        let is_above = |high: &i32| low.is_none_or(|low| low < *high);
        let lower = low.map_or_else(
            || end(course, short_low.filter(is_below)?, true),
            |low| end(course, low, false),
        );
        let upper = high.map_or_else(
            || end(course, short_high.filter(is_above)?, true),
            |high| end(course, high, false),
        );
        // What a server held before it collapsed is no rate above those that it did not hold later.
        let inversions = match conclusion {
            Conclusion::Collapsed { .. } => Vec::new(),
            _ => inversions(course, low, high),
        };
        Answer {
            conclusion,
            lower,
            upper,
            places: places(course),
            inversions,
            stalls: stalls(course),
            noise: summed(&course.noise),
            most: course.search.top(course.closed_per_s),
            ceiling: course.search.ceiling_beside(course.closed_per_s),
            trials: course.trials,
            seconds: course.spent_s,
        }
    }

    /// Whether the reference is the reason why no higher rate was tried.
    #[must_use]
    pub fn is_capped_by(&self, ceiling: f64) -> bool {
        (ceiling / BELOW_CEILING / self.most - 1.0).abs() < 1e-6
    }

    /// Whether the bracket is as narrow as it was to be.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.conclusion == Conclusion::Found
    }
}

impl End {
    /// Whether full trials, enough of them, say so.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        !self.is_short && self.judged.word != Word::Open
    }
}

fn end(course: &Course<'_>, number: i32, is_short: bool) -> Option<End> {
    let is_here = |(other, _): &&(i32, Evidence)| *other == number;
    let trials: Vec<&Evidence> = match is_short {
        true => course.short.iter().filter(is_here).map(|(_, found)| found).collect(),
        false => course.full.get(&number)?.iter().collect(),
    };
    let sum: f64 = trials.iter().map(|trial| trial.answered_per_s).sum();
    let percentiles = trials.iter().filter_map(|trial| trial.percentile);
    Some(End {
        percentile: median(percentiles.collect()),
        rate: course.grid.rate(number),
        judged: Judged::of(&course.search.aim, &trials),
        is_short,
        answered_per_s: sum / trials.len() as f64,
    })
}

/// A bound where one of those up to it is: that one's true value may lie above it.
pub(super) fn median(mut all: Vec<Quantile>) -> Option<Quantile> {
    all.sort_unstable_by_key(|quantile| quantile.value);
    let least = all.get(..=all.len() / 2)?;
    let is_bound = least.iter().any(|quantile| quantile.is_bound);
    least.last().map(|quantile| Quantile { is_bound, ..*quantile })
}

fn places(course: &Course<'_>) -> Vec<Place> {
    let mut numbers: Vec<i32> = course.full.keys().copied().collect();
    numbers.extend(course.all_short().map(|(number, _)| *number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| place(course, number)).collect()
}

fn place(course: &Course<'_>, number: i32) -> Place {
    let here: Vec<&Evidence> =
        course.all_short().filter(|(other, _)| *other == number).map(|(_, found)| found).collect();
    let short = (!here.is_empty()).then(|| Judged::of(&course.search.aim, &here));
    Place { rate: course.grid.rate(number), judged: course.judged(number), short }
}

/// A rate that broke clearly, and a higher one that was kept. Near the ends of the bracket single trials go either way.
fn inversions(course: &Course<'_>, low: Option<i32>, high: Option<i32>) -> Vec<(f64, f64)> {
    use super::grid::STEPS;
    let aim = &course.search.aim;
    let is_clear = |found: &Evidence| 2.0 * beyond(course, found) > 1.0;
    // What full trials decided outweighs a short one at the same rate.
    let is_not =
        |number: &i32, word: Word| course.judged(*number).is_none_or(|judged| judged.word != word);
    let broken_short = course
        .all_short()
        .filter(|(_, found)| !found.keeps(aim) && is_clear(found))
        .map(|(number, _)| *number)
        .filter(|number| low.is_some_and(|low| *number <= low - STEPS))
        .filter(|number| is_not(number, Word::Holds));
    let kept_short = course
        .all_short()
        .filter(|(_, found)| found.keeps(aim))
        .map(|(number, _)| *number)
        .filter(|number| high.is_some_and(|high| high + STEPS <= *number))
        .filter(|number| is_not(number, Word::Breaks));
    let full = |word: Word| {
        let is = move |it: &i32| course.judged(*it).is_some_and(|judged| judged.word == word);
        course.full.keys().copied().filter(is)
    };
    let broken: Vec<i32> = broken_short.chain(full(Word::Breaks)).collect();
    let kept: Vec<i32> = kept_short.chain(full(Word::Holds)).collect();
    let mut pairs = Vec::new();
    for &bad in &broken {
        if let Some(good) = kept.iter().copied().filter(|good| bad < *good).max() {
            pairs.push((course.grid.rate(bad), course.grid.rate(good)));
        }
    }
    pairs
}

/// How far a single trial is beyond the aim, on the scale of the logit.
fn beyond(course: &Course<'_>, found: &Evidence) -> f64 {
    Judged::of(&course.search.aim, &[found]).beyond()
}

/// So many trials are no chance.
const STALLED_LEAST: usize = 2;

/// Trials that lost by far too much at a rate at which others lost hardly anything. A queue alone does not do this.
fn stalls(course: &Course<'_>) -> Option<Stalls> {
    let allowed = course.search.aim.criteria()[0].allowed;
    let share = |trial: &Evidence| trial.lost[0] as f64 / trial.due.max(1) as f64;
    let (mut stalled, mut of) = (0, 0);
    for trials in course.full.values() {
        let is_clean = |trial: &Evidence| !trial.is_cut && share(trial) <= allowed;
        let is_stalled = |trial: &Evidence| trial.is_cut || is_at_once(trial, allowed);
        if trials.iter().any(is_clean) {
            stalled += trials.iter().filter(|trial| is_stalled(trial)).count();
            of += trials.len();
        }
    }
    (STALLED_LEAST <= stalled).then_some(Stalls { trials: stalled, of })
}

/// Whether a trial lost twice as much as may be, nearly all of it within a tenth of its time.
fn is_at_once(trial: &Evidence, allowed: f64) -> bool {
    let lost: u64 = trial.parts.iter().map(|(lost, _)| lost).sum();
    let due: u64 = trial.parts.iter().map(|(_, due)| due).sum();
    let most = trial.parts.windows(2).map(|pair| pair[0].0 + pair[1].0).max().unwrap_or(0);
    trial.parts.len() == PARTS && 2.0 * allowed * due as f64 <= lost as f64 && lost * 4 <= most * 5
}
