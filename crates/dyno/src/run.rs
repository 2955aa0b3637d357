//! One finished run: the order, the measurement, and the verdict.

use load::{LaneReport, Nanos, Order, Recording};

use crate::order::RequestSummary;
use crate::verdict::{Queue, RunVerdict};

/// Everything that a report is made of.
pub(crate) struct Run {
    pub(crate) asked: RequestSummary,
    pub(crate) order: Order,
    pub(crate) recording: Recording,
    pub(crate) verdict: RunVerdict,
    pub(crate) costs: Costs,
    pub(crate) queue: Option<Queue>,
}

/// What the run cost on this machine, apart from the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// CPU time of the live view, its share in the watcher included.
    pub(crate) live_view_cpu: Nanos,
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// CPU time of all lanes, user and system.
pub(crate) fn lanes_cpu(recording: &Recording) -> Nanos {
    recording.lanes.iter().map(|lane| lane.cpu_time).sum()
}

/// The share of its time in which a lane was busy.
pub(crate) fn busy_share(lanes: &[LaneReport]) -> f64 {
    let wall: Nanos = lanes.iter().map(|lane| lane.wall).sum();
    let idle: Nanos = lanes.iter().map(|lane| lane.idle.min(lane.wall)).sum();
    if wall == 0 { 0.0 } else { (wall - idle) as f64 / wall as f64 }
}

/// The share of the time in which the lanes polled instead of sleeping.
pub(crate) fn polled_share(lanes: &[LaneReport]) -> f64 {
    let wall: Nanos = lanes.iter().map(|lane| lane.wall).sum();
    let polled: Nanos = lanes.iter().map(|lane| lane.polled.min(lane.wall)).sum();
    if wall == 0 { 0.0 } else { polled as f64 / wall as f64 }
}

/// CPU time of the lanes for each answer.
pub(crate) fn cpu_per_request_ns(recording: &Recording) -> Option<f64> {
    let done = recording.total.correct + recording.total.failed_in_all();
    (0 < done).then(|| lanes_cpu(recording) as f64 / done as f64)
}

#[cfg(test)]
pub(crate) mod fixture;
