//! Whether what was offered was achieved.

use load::{Recording, SECOND};

use super::{Doubt, Ordered};
use crate::figures::measured_s;

/// So much of what was offered must come back: a server that keeps up misses only the end.
const REACHED: f64 = 0.99;
/// Answers after the end excuse no more than this: in overload they grow, too.
const TAIL_AT_MOST: f64 = 0.1;

pub(super) fn not_reached(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let offered_per_s = ordered.offered_per_s?;
    let total = &recording.total;
    let seconds = measured_s(recording);
    if seconds <= 0.0 || total.attempted == 0 {
        return None;
    }
    let achieved_per_s = total.correct_inside as f64 / seconds;
    // What is asked in the last moments is answered after the end even by a server that keeps up, and the last
    // session's calls come after all others.
    let median = total.response.quantile(0.5).map_or(0, |median| median.value);
    let tail = median as f64 / SECOND as f64 * f64::from(ordered.calls) / seconds;
    let in_time = 1.0 - tail.min(TAIL_AT_MOST);
    let is_reached = REACHED * offered_per_s * in_time - 1.0 / seconds <= achieved_per_s;
    (!is_reached).then_some(Doubt::NotReached { offered_per_s, achieved_per_s })
}
