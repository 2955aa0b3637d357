//! Whether dyno itself was fast enough.

use load::Recording;

use super::Doubt;
use crate::generator::{generator_busy, generator_on_cpu};
use crate::rates::measured_s;

/// A thread that is busier than this may be the limit: what waits for a thread that is busy nine tenths of the time
/// waits long.
pub(super) const BUSY: f64 = 0.9;
/// A shorter trial is only a beginning: it is busy opening its connections.
const BUSY_AFTER_S: f64 = 0.1;
/// If a thread had a CPU for less than this share of the time in which it had something to do, other programs had the
/// CPU.
const STARVED: f64 = 0.7;
/// A tenth of the median time does not change a result …
pub(super) const LATE_SHARE: f64 = 0.1;
/// … and less than a millisecond does not matter to any.
pub(super) const LATE_MS: f64 = 1.0;

pub(super) fn late(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let p99_ms = total.late.quantile(0.99)?.value as f64 / 1e6;
    let median_ms = total.response.quantile(0.5)?.value as f64 / 1e6;
    let bound_ms = (median_ms * LATE_SHARE).max(LATE_MS);
    (bound_ms < p99_ms).then_some(Doubt::Late { p99_ms, bound_ms })
}

/// Threads that always have something to do are busy if they have a CPU for most of the time, and otherwise starved.
pub(super) fn busy(recording: &Recording) -> Option<Doubt> {
    let share = generator_busy(&recording.lanes)?;
    if share <= BUSY || measured_s(recording) < BUSY_AFTER_S {
        return None;
    }
    let cpu = generator_on_cpu(&recording.lanes)?;
    Some(match cpu < STARVED * share {
        true => Doubt::Starved { busy: share, cpu },
        false => Doubt::Busy { share },
    })
}
