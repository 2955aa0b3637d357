//! Whether the measured time was uniform.

use load::{Nanos, Recording, SECOND, Window};
use units::{rate, time};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Number, Share, Time};
use crate::verdict::Gravity::Suspect;

/// With fewer windows in a third, a change cannot be distinguished from chance.
pub(super) const WINDOWS_EACH: usize = 8;
/// If a third has more windows, only so many are used, evenly picked: it is expensive to unfold them.
pub(super) const LOOKED_AT: usize = 16;
/// Standard deviations of the rank sum: by chance alone one trial in a thousand is further off.
pub(super) const IMPROBABLE: f64 = 3.3;
/// A smaller change of a rate does not matter.
const RATE_CHANGE: f64 = 0.05;
/// A smaller change of a median does not matter …
const MEDIAN_CHANGE: f64 = 0.1;
/// … and for so few milliseconds.
const MEDIAN_CHANGE_MS: f64 = 0.05;

/// A quantity that may change over a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drifting {
    /// Correct answers each second.
    Throughput,
    /// The median of the response time, milliseconds.
    ResponseP50,
}

pub(super) const ALL: &[Definition] = &[NOT_STATIONARY];

/// The last third of the measured time was not like the first.
pub(crate) const NOT_STATIONARY: Definition = Definition::new("not_stationary", Suspect)
    .when("first and last third of the windows differ: Mann–Whitney beyond {} standard deviations, and the rate by \
        more than {} or p50 by more than {} and {}; not tested for a server that does not keep up, for ramps and \
        steps, nor below {} windows a third")
    .thresholds(&[Number(IMPROBABLE), Share(RATE_CHANGE), Share(MEDIAN_CHANGE),
        Time(MEDIAN_CHANGE_MS * 1e6), Count(WINDOWS_EACH as u64)])
    .because("warm-up, or drift")
    .way_out("warm up for longer, or measure for longer and look for a queue, cache or heap that fills up")
    .by_flags("warm up for longer (--warmup), or measure for longer (-d) and look for a queue, cache or heap that \
        fills up");

/// The first third of the windows against the last. What is between them is left out: a slow change is clearest at the
/// ends.
pub(super) fn drift(recording: &Recording) -> Option<Doubt> {
    let thirds = thirds(recording)?;
    let [first, last] = thirds.each_ref().map(|windows| per_s(windows));
    drift_of(Drifting::Throughput, &first, &last).or_else(|| {
        let [first, last] = thirds.map(|windows| medians_ms(&windows, LOOKED_AT));
        drift_of(Drifting::ResponseP50, &first, &last)
    })
}

/// The windows of the first third of the measured time and of the last; none if they are too few.
pub(super) fn thirds(recording: &Recording) -> Option<[Vec<&Window>; 2]> {
    let inside = recording.windows.iter().filter(|window| {
        !window.is_warmup
            && recording.measured_from <= window.from
            && window.until <= recording.measured_until
    });
    let windows = of_one_width(inside);
    let third = windows.len() / 3;
    let thirds = [&windows[..third], &windows[windows.len() - third..]];
    (WINDOWS_EACH <= third).then(|| thirds.map(<[&Window]>::to_vec))
}

fn drift_of(of: Drifting, first: &[f64], last: &[f64]) -> Option<Doubt> {
    let (before, after) = (median(first)?, median(last)?);
    let is_drift = is_large(of, before, after) && IMPROBABLE < distance(first, last).abs();
    is_drift.then(|| {
        NOT_STATIONARY.found(match of {
            Drifting::Throughput => format!(
                "the throughput was not steady: {}/s in the first third of the measured time, {}/s in the last",
                rate(before),
                rate(after)
            ),
            Drifting::ResponseP50 => format!(
                "the response time was not steady: p50 was {} in the first third of the measured time, {} in the last",
                time(before * 1e6),
                time(after * 1e6)
            ),
        })
    })
}

/// Whether a change is large enough to matter.
pub(super) fn is_large(of: Drifting, before: f64, after: f64) -> bool {
    let change = (after - before).abs();
    match of {
        Drifting::Throughput => RATE_CHANGE * before < change,
        Drifting::ResponseP50 => (MEDIAN_CHANGE * before).max(MEDIAN_CHANGE_MS) < change,
    }
}

/// The windows that are as wide as the widest of all.
pub(super) fn of_one_width<'w>(
    windows: impl Iterator<Item = &'w Window> + Clone,
) -> Vec<&'w Window> {
    let widest = windows.clone().map(width).max();
    windows.filter(|window| Some(width(window)) == widest).collect()
}

fn width(window: &Window) -> Nanos {
    window.until.saturating_sub(window.from)
}

pub(super) fn per_s(windows: &[&Window]) -> Vec<f64> {
    let rate =
        |window: &&Window| window.correct as f64 * SECOND as f64 / width(window).max(1) as f64;
    windows.iter().map(rate).collect()
}

pub(super) fn medians_ms(windows: &[&Window], looked_at: usize) -> Vec<f64> {
    let picked = windows.iter().step_by(windows.len().div_ceil(looked_at).max(1));
    let medians = picked.filter_map(|window| window.response.unfold().quantile(0.5));
    medians.map(|median| median.value as f64 / 1e6).collect()
}

pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The rank sum test of Mann and Whitney, in standard deviations: it does not assume a normal distribution, and one
/// extreme window has little influence. It is corrected for ties.
pub(super) fn distance(first: &[f64], last: &[f64]) -> f64 {
    let (m, n) = (first.len() as f64, last.len() as f64);
    let mut all: Vec<(f64, bool)> = first.iter().map(|&value| (value, false)).collect();
    all.extend(last.iter().map(|&value| (value, true)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut rank_sum, mut ties) = (0.0, 0.0, 0.0);
    for alike in all.chunk_by(|one, other| one.0 == other.0) {
        let size = alike.len() as f64;
        let rank = below + (size + 1.0) / 2.0;
        rank_sum += rank * alike.iter().filter(|(_, is_last)| *is_last).count() as f64;
        ties += size.powi(3) - size;
        below += size;
    }
    let both = m + n;
    let expected = n * (both + 1.0) / 2.0;
    let variance = m * n / 12.0 * (both + 1.0 - ties / (both * (both - 1.0)));
    if 0.0 < variance { (rank_sum - expected) / variance.sqrt() } else { 0.0 }
}
