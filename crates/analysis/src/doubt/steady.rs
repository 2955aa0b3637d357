//! Where the steady state begins: by MSER, which cuts off the beginning whose removal makes the mean of the rest most
//! certain (White 1997), and a rank test that the difference is not due to chance. Nothing is cut off the figures.

use load::{Nanos, Recording, SECOND, Window};
use units::time;

use super::definition::Definition;
use super::definition::Threshold::{Count, Number, Share};
use super::drift::{distance, is_large, median, medians_ms, of_one_width, per_s};
use super::{Doubt, Drifting};
use crate::student;
use crate::verdict::Gravity::Suspect;

/// With fewer windows the beginning cannot be distinguished from the rest.
const WINDOWS_AT_LEAST: usize = 16;
/// Windows are grouped in fives, as is usual with MSER, where there are enough of them for at least so many groups.
const TOGETHER: usize = 5;
const BATCHES_AT_LEAST: usize = 20;
/// If there are more windows, only the medians of so many are used, evenly picked: it is expensive to unfold them.
const LOOKED_AT: usize = 32;
/// Standard deviations of the rank sum. The cut was chosen to look its best, so the threshold is higher than elsewhere.
const IMPROBABLE: f64 = 4.0;
/// A beginning has at least so many windows.
const APART_AT_LEAST: usize = 3;
/// A share of the greatest distance that the ranks of so few windows can have.
const NEARLY: f64 = 0.95;
/// A cut removes no more than this share of all windows: beyond it, the whole changes and not its beginning.
const CUT_AT_MOST: f64 = 0.5;
/// The share of the measured windows that are not steady yet: fewer of them hardly change the figures.
const SHORT_OF: f64 = 0.05;

pub(super) const ALL: &[Definition] = &[WARMUP_TOO_SHORT];

/// The steady state began after the measured time did: the figures include what came before it. Seconds since the
/// start of the load.
pub(crate) const WARMUP_TOO_SHORT: Definition = Definition::new("warmup_too_short", Suspect)
    .when("of the windows from when the load began, MSER (in groups of {}, where there are {}) cuts off more than the \
        warm-up, by {} of the measured time or more; the windows cut off differ from the rest (Mann–Whitney beyond {} \
        standard deviations, or nearly as far as so few windows allow) and by as much as `not_stationary` demands; and \
        they were slower (a server that becomes slower is `not_stationary`); below {} windows, and where more than {} \
        would be cut off, the test is not made. Of simulated steady loads fewer than 1 % are cut, of such whose \
        windows resemble their neighbours (correlation 0.5) 2–3 %; a ramp of 8 windows of 25 is found in three of four \
        loads, one of 30 of 120 in nine of ten")
    .thresholds(&[Count(TOGETHER as u64), Count((TOGETHER * BATCHES_AT_LEAST) as u64),
        Share(SHORT_OF), Number(IMPROBABLE), Count(WINDOWS_AT_LEAST as u64), Share(CUT_AT_MOST)])
    .because("the beginning is in the figures, which stay those of the measured time")
    .way_out("give `load.warmup` more time than that");

/// Where a load's steady state begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// How long after the start of the load the measured time began: no figure includes what was before it.
    pub warmup_s: f64,
    /// The start of the steady state, on the same clock; 0 where the beginning is like the rest. None: there is no
    /// steady state, or there are too few windows to decide.
    pub from_s: Option<f64>,
}

/// Where both the rate and the median response time are steady: the later of the two.
#[must_use]
pub fn steady(recording: &Recording) -> Steady {
    let windows = whole(recording);
    of_cuts(recording, &windows, cuts(&windows))
}

/// The steady state begins clearly after the measured time did, and the server was slower until then.
pub(super) fn warmup_too_short(recording: &Recording) -> Option<Doubt> {
    let windows = whole(recording);
    let cuts = cuts(&windows);
    if cuts.iter().any(|cut| matches!(cut, Cut::Before { was_slower: false, .. })) {
        return None;
    }
    let found = of_cuts(recording, &windows, cuts);
    let steady_from_s = found.from_s?;
    let measured = recording.measured_until.saturating_sub(recording.measured_from);
    let missing_s = steady_from_s - found.warmup_s;
    let is_short = SHORT_OF * measured as f64 / SECOND as f64 <= missing_s;
    is_short.then(|| {
        WARMUP_TOO_SHORT.found(format!(
            "the warm-up was too short: the load was steady from {} after its beginning, and only {} were left out of \
             the figures",
            time(steady_from_s * 1e9),
            time(found.warmup_s * 1e9)
        ))
    })
}

/// The cut by the rate, and the cut by the median response time.
fn cuts(windows: &[&Window]) -> [Cut; 2] {
    [Drifting::Throughput, Drifting::ResponseP50].map(|of| cut(of, windows))
}

fn of_cuts(recording: &Recording, windows: &[&Window], cuts: [Cut; 2]) -> Steady {
    let begin = windows.first().map_or(0, |window| window.from);
    let from = |cut| match cut {
        Cut::None => Some(begin),
        Cut::Before { place, .. } => Some(windows[place].from),
        Cut::Unknown => None,
    };
    let both = from(cuts[0]).zip(from(cuts[1]));
    let seconds = |at: Nanos| at as f64 / SECOND as f64;
    Steady {
        warmup_s: seconds(recording.measured_from.saturating_sub(begin)),
        from_s: both.map(|(rate, times)| seconds(rate.max(times) - begin)),
    }
}

/// All windows of one width, warm-up included, up to the end of the measured time.
fn whole(recording: &Recording) -> Vec<&Window> {
    of_one_width(recording.windows.iter().filter(|it| it.until <= recording.measured_until))
}

/// What is to be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    /// Everything before this window.
    Before {
        /// The first window that stays.
        place: usize,
        /// It was slower before: a warm-up. A server that becomes slower is not warming up.
        was_slower: bool,
    },
    /// It cannot be decided.
    Unknown,
}

fn cut(of: Drifting, windows: &[&Window]) -> Cut {
    if windows.len() < WINDOWS_AT_LEAST {
        return Cut::Unknown;
    }
    let (series, step) = match of {
        Drifting::Throughput => (per_s(windows), 1),
        Drifting::ResponseP50 => {
            (medians_ms(windows, LOOKED_AT), windows.len().div_ceil(LOOKED_AT))
        }
    };
    if series.len() < windows.len().div_ceil(step) {
        // Windows without an answer have no median: the rate shows them.
        return Cut::None;
    }
    match cut_of(of, &series) {
        Cut::Before { place, was_slower } => Cut::Before { place: place * step, was_slower },
        cut @ (Cut::None | Cut::Unknown) => cut,
    }
}

fn cut_of(of: Drifting, series: &[f64]) -> Cut {
    let together = if TOGETHER * BATCHES_AT_LEAST <= series.len() { TOGETHER } else { 1 };
    let batches: Vec<f64> =
        series.chunks_exact(together).map(|batch| student::moments(batch).0).collect();
    let most = (batches.len() as f64 * CUT_AT_MOST) as usize;
    let certainty = |cut: &usize| (mser(&batches[*cut..]), *cut);
    let best = (0..=most).map(|cut| certainty(&cut)).min_by(|one, other| one.0.total_cmp(&other.0));
    let place = best.map_or(0, |(_, cut)| cut * together);
    let (before, rest) = series.split_at(place);
    match is_apart(of, before, rest) {
        false => Cut::None,
        true if most * together <= place => Cut::Unknown,
        true => Cut::Before { place, was_slower: is_slower(of, before, rest) },
    }
}

/// The squared error of the mean, as MSER computes it.
fn mser(values: &[f64]) -> f64 {
    student::moments(values).1 / (values.len() as f64).powi(2)
}

fn is_slower(of: Drifting, before: &[f64], rest: &[f64]) -> bool {
    let change = median(rest).zip(median(before)).map_or(0.0, |(rest, before)| rest - before);
    match of {
        Drifting::Throughput => 0.0 < change,
        Drifting::ResponseP50 => change < 0.0,
    }
}

/// Whether the part that is cut off really differs from the rest, and by enough to matter.
fn is_apart(of: Drifting, before: &[f64], rest: &[f64]) -> bool {
    let (Some(begin), Some(usual)) = (median(before), median(rest)) else { return false };
    // Few windows cannot have so large a distance: then hardly any of them may be like any of the rest.
    let (cut, left) = (before.len() as f64, rest.len() as f64);
    let furthest = (3.0 * cut * left / (cut + left + 1.0)).sqrt();
    let is_improbable = APART_AT_LEAST <= before.len()
        && IMPROBABLE.min(NEARLY * furthest) < distance(before, rest).abs();
    is_improbable && is_large(of, begin, usual)
}

#[cfg(test)]
mod tests;
