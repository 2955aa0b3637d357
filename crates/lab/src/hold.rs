//! How fast held connections are begun where nothing is said.

use std::time::Duration;

/// Where no rate is given, no fewer connections than this are begun each second. It is low because every server can
/// accept so many; a run kept without a rate was made with it.
const USUAL_PER_SECOND_LEAST: f64 = 100.0;

/// How many connections are begun each second where no rate is given: a step within a third of its time.
#[must_use]
pub fn usual_per_second(step: usize, every: Duration) -> u32 {
    (3.0 * step as f64 / every.as_secs_f64()).ceil().max(USUAL_PER_SECOND_LEAST) as u32
}
