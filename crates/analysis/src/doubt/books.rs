//! Whether what was counted adds up, and is enough.

use lab::record::TrialRecord;
use load::{End, Failure, Recording};

use super::Doubt;
use crate::figures::measured_s;
use crate::readings;

/// Little's law may be wrong by so much of its left side: windows are cut at whole ticks.
const LITTLE_TOLERANCE: f64 = 0.05;
/// Ten samples beyond a p99 take so many.
pub const SAMPLES_FOR_P99: u64 = 1_000;
/// Connections that nobody waits for any more may be under way at the end: so many, and one in a hundred.
const CONNECTIONS_LEFT: u64 = 10;

pub(super) fn books(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let accounted = total.correct + total.failed_in_all() + total.under_way;
    (total.attempted != accounted).then_some(Doubt::Books { attempted: total.attempted, accounted })
}

pub(super) fn connections(trial: &TrialRecord) -> Option<Doubt> {
    let recording = &trial.pressed.as_ref()?.recording;
    let total = &recording.total;
    let begun = total.connections.begun;
    let accounted = total.connections.established + total.connections.failed;
    // Who found the accept queue full waits for the kernel's timer, at the end of the load, too.
    let waiting = ["kernel.tcp.listen_overflows", "kernel.tcp.syn_retransmitted"]
        .map(|name| readings::counted(trial, name).unwrap_or(0));
    let left_at_most =
        total.under_way + waiting.into_iter().sum::<u64>() + CONNECTIONS_LEFT + begun / 100;
    let is_right = accounted <= begun && begun - accounted <= left_at_most;
    // Who was stopped left all that was being established behind.
    let is_whole = recording.end == End::Done;
    (is_whole && !is_right).then_some(Doubt::Connections { begun, accounted })
}

/// Mean in flight = rate × mean time in flight. The left side was counted over time, the right side comes from the
/// latencies: if they differ, one of the two is wrong.
pub(super) fn littles_law(recording: &Recording) -> Option<Doubt> {
    let (total, service) = (&recording.total, &recording.total.service);
    let wall = measured_s(recording) * 1e9;
    if service.count() < SAMPLES_FOR_P99 || wall <= 0.0 {
        return None;
    }
    let (area, mean) = (total.in_flight_area as f64, service.mean());
    let served = mean * service.count() as f64;
    // What failed early or was left was in flight for some part of its time-out, unknown to us.
    let unknown = (total.failed_in_all() + total.under_way) as f64 * recording.timeout as f64;
    // What was in flight when the measured time began counts on the left side only: of each so much is left on average
    // (half of this; the other half is for chance).
    let left_each = mean + service.standard_deviation().powi(2) / mean.max(1.0);
    let tolerance = LITTLE_TOLERANCE * area + area / wall * left_each;
    let is_kept = served - tolerance <= area && area <= served + unknown + tolerance;
    (!is_kept).then_some(Doubt::LittlesLaw { in_flight: area / wall, by_latencies: served / wall })
}

pub(super) fn stopped(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done => None,
        End::Halted | End::GaveUp(_) => Some(Doubt::Stopped),
    }
}

pub(super) fn own_failures(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let own = Failure::ALL.into_iter().filter(|failure| failure.is_own());
    let failed: u64 = own.map(|failure| total.failures(failure)).sum();
    (0 < failed).then_some(Doubt::OwnFailures { failed, attempted: total.attempted })
}

pub(super) fn few_samples(recording: &Recording) -> Option<Doubt> {
    let samples = recording.total.response.count();
    if recording.total.attempted == 0 {
        return Some(Doubt::Nothing);
    }
    (samples < SAMPLES_FOR_P99).then_some(Doubt::FewSamples { samples })
}
