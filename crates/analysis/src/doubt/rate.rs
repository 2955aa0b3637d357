//! Whether a server kept up with its schedule, and whether its throughput is its own.

use load::Recording;

use super::drift::{IMPROBABLE, distance, median, medians_ms, whole};
use super::{Doubt, Ordered};
use crate::rates::{KEPT_UP, measured_s};

/// Response times that grow by less than this share of the time that passes are no sign of a queue that grows: one that
/// is given 1 % more than it can do grows by so much.
const GROWTH: f64 = 0.01;
/// Of more windows in a third so many are looked at.
const LOOKED_AT: usize = 16;
/// A third of fewer windows tells chance from change no more.
const WINDOWS_EACH: usize = 8;
/// Less is carried over any border by chance.
const CARRIED: f64 = 0.01;
/// And so many are few in any case.
const CARRIED_AT_LEAST: u64 = 5;

pub(super) fn not_on_time(ordered: Ordered) -> Option<Doubt> {
    let found = ordered.on_time?;
    let (on_time, due, within_ms) = (found.on_time, found.due, found.within as f64 / 1e6);
    let is_behind = found.share()? < KEPT_UP;
    is_behind.then_some(Doubt::NotOnTime { on_time, due, within_ms })
}

/// Of a schedule that does not change: a queue that grows as long as the load lasts.
pub(super) fn growing(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    ordered.on_time.filter(|_| recording.sections.is_empty())?;
    let windows = whole(recording);
    let third = windows.len() / 3;
    if third < WINDOWS_EACH {
        return None;
    }
    let first = medians_ms(&windows[..third], LOOKED_AT);
    let last = medians_ms(&windows[windows.len() - third..], LOOKED_AT);
    let (first_ms, last_ms) = (median(&first)?, median(&last)?);
    // From the middle of the first third to the middle of the last.
    let between_ms = measured_s(recording) * 1e3 * 2.0 / 3.0;
    let grows = GROWTH * between_ms < last_ms - first_ms && IMPROBABLE < distance(&first, &last);
    grows.then_some(Doubt::Growing { first_ms, last_ms })
}

pub(super) fn carried_in(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let total = &recording.total;
    let (carried_in, inside) = (total.carried_in, total.correct_inside);
    // Correct answers to what was due inside that came later would have made up for it.
    let after = total.correct.saturating_sub(inside.saturating_sub(carried_in));
    let excess = carried_in as i64 - after as i64;
    let least = ((CARRIED * inside as f64) as u64).max(CARRIED_AT_LEAST);
    let is_it = match ordered.on_time {
        // A closed loop has so many under way at any border.
        None => least < excess.max(0) as u64,
        Some(_) => least < carried_in,
    };
    is_it.then_some(Doubt::CarriedIn { carried_in, inside, excess })
}
