//! What dyno's own threads took to generate a load.

use load::{LaneReport, Nanos, Recording};

/// CPU time of all threads, user and system.
#[must_use]
pub fn generator_cpu(lanes: &[LaneReport]) -> Nanos {
    lanes.iter().map(|lane| lane.cpu_time).sum()
}

/// CPU time of the threads for each request that ended.
#[must_use]
pub fn generator_cpu_per_request_ns(recording: &Recording) -> Option<f64> {
    let done = recording.total.correct + recording.total.failed_in_all();
    (0 < done).then(|| generator_cpu(&recording.lanes) as f64 / done as f64)
}

/// The share of their time in which the threads had something to do.
#[must_use]
pub fn generator_busy(lanes: &[LaneReport]) -> Option<f64> {
    let idle: Nanos = lanes.iter().map(|lane| lane.idle.min(lane.wall)).sum();
    of_wall(wall(lanes) - idle, lanes)
}

/// The share of their time in which the threads polled instead of sleeping.
#[must_use]
pub fn generator_polled(lanes: &[LaneReport]) -> Option<f64> {
    of_wall(lanes.iter().map(|lane| lane.polled.min(lane.wall)).sum(), lanes)
}

/// The share of their time in which the threads had a CPU.
pub(crate) fn generator_on_cpu(lanes: &[LaneReport]) -> Option<f64> {
    of_wall(generator_cpu(lanes), lanes)
}

fn wall(lanes: &[LaneReport]) -> Nanos {
    lanes.iter().map(|lane| lane.wall).sum()
}

fn of_wall(part: Nanos, lanes: &[LaneReport]) -> Option<f64> {
    let wall = wall(lanes);
    (0 < wall).then(|| part as f64 / wall as f64)
}
