//! Whether a server kept up with its schedule, and whether its throughput is its own.

use lab::figure::rates::{KEPT_UP, OnTime, measured_s};
use load::Recording;

use super::drift::{IMPROBABLE, distance, median, medians_ms, whole};
use super::{Doubt, Ordered};

/// Response times that grow by less than this share of the elapsed time are no sign of a growing queue: a server that
/// is given 1 % more than it can do makes them grow by so much.
const GROWTH: f64 = 0.01;
/// If a third has more windows, only so many are used.
const LOOKED_AT: usize = 16;
/// With fewer windows in a third, a change cannot be distinguished from chance.
const WINDOWS_EACH: usize = 8;
/// A smaller share is carried over any border by chance.
const CARRIED: f64 = 0.01;
/// And so few do not matter in any case.
const CARRIED_AT_LEAST: u64 = 5;

pub(super) fn not_on_time(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let found = ordered.on_time?;
    let (on_time, due, within_ms) = (found.on_time, found.due, found.within as f64 / 1e6);
    // A server that ends sessions was not late with the calls that they did not reach.
    let unreached = recording.total.sessions.cut.unreached;
    let asked = OnTime { due: due.saturating_sub(unreached), ..found };
    let is_behind = asked.share()? < KEPT_UP;
    is_behind.then_some(Doubt::NotOnTime { on_time, due, within_ms })
}

/// For a schedule that does not change: a queue that grows for as long as the load lasts.
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
    // Correct answers that arrived later, to requests that were due inside: they make up for those carried in.
    let after = total.correct_after();
    let excess = carried_in as i64 - after as i64;
    let least = ((CARRIED * inside as f64) as u64).max(CARRIED_AT_LEAST);
    let is_it = match ordered.on_time {
        // In a closed loop so many are under way at any border.
        None => least < excess.max(0) as u64,
        Some(_) => least < carried_in,
    };
    is_it.then_some(Doubt::CarriedIn { carried_in, inside, excess })
}
