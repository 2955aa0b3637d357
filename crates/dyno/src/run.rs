//! One run, done: what was asked, what was measured, and what that is worth.

use load::{LaneReport, Load, Nanos, Order, Recording, SECOND};

use crate::order::Asked;
use crate::verdict::Verdict;

/// All that a report is made of.
pub(crate) struct Run {
    pub(crate) asked: Asked,
    pub(crate) order: Order,
    pub(crate) recording: Recording,
    pub(crate) verdict: Verdict,
    pub(crate) costs: Costs,
}

/// What the run cost this machine, the lanes apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// CPU time of the live view, its share in the watcher included.
    pub(crate) live_view_cpu: Nanos,
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// How long was measured, in seconds.
pub(crate) fn measured_s(recording: &Recording) -> f64 {
    let measured = recording.measured_until.saturating_sub(recording.measured_from);
    measured as f64 / SECOND as f64
}

/// So many in so many seconds; nothing in no time.
fn per_s(count: u64, seconds: f64) -> f64 {
    if seconds <= 0.0 { 0.0 } else { count as f64 / seconds }
}

/// What the schedule asked for; a closed loop has none.
pub(crate) fn offered_per_s(recording: &Recording, load: &Load) -> Option<f64> {
    let offered = per_s(recording.total.attempted, measured_s(recording));
    match load {
        Load::Closed { .. } => None,
        Load::Open { .. } | Load::Sessions { .. } => Some(offered),
    }
}

/// Correct answers inside the measured time, by that time.
pub(crate) fn achieved_per_s(recording: &Recording) -> f64 {
    per_s(recording.total.correct_inside, measured_s(recording))
}

/// CPU time of all lanes, user and system.
pub(crate) fn lanes_cpu(recording: &Recording) -> Nanos {
    recording.lanes.iter().map(|lane| lane.cpu_time).sum()
}

/// The share of its time in which a lane had something to do.
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

/// The books: what was due is correct, failed, or under way.
pub(crate) fn books_balance(recording: &Recording) -> bool {
    let total = &recording.total;
    total.attempted == total.correct + total.failed_in_all() + total.under_way
}

#[cfg(test)]
pub(crate) mod fixture;
