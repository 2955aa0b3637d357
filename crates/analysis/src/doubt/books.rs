//! Whether the counts add up, and are large enough.

use lab::record::TrialRecord;
use load::{End, Failure, Recording};

use super::{Doubt, Ordered};
use crate::rates::measured_s;
use crate::readings;

/// A p99 with ten samples beyond it needs so many.
pub const SAMPLES_FOR_P99: u64 = 1_000;
/// Connections for which no request waits any more may still be opening at the end: so many, and one in a hundred.
const CONNECTIONS_LEFT: u64 = 10;

/// What must be true whatever a server does. Returns the first rule that is broken.
pub(super) fn books(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let equal = |rule, one: u64, other: u64| (one != other).then_some((rule, one, other));
    let at_most = |rule, one: u64, other: u64| (other < one).then_some((rule, one, other));
    let total = &recording.total;
    let ended = total.correct + total.failed_in_all();
    let given_up: u64 = Failure::ALL
        .into_iter()
        .filter(|failure| failure.is_censored())
        .map(|failure| total.failures(failure))
        .sum();
    let timed = total.correct + given_up + total.under_way;
    let inside = total.correct_inside.saturating_sub(total.carried_in);
    let sections: u64 = recording.sections.iter().map(|section| section.due).sum();
    let flight = total.flight;
    let (over_time, one_by_one) = (flight.area, flight.correct + flight.failed + flight.unsent);
    let broken = [
        equal(
            "attempted, and correct, failed or under way",
            total.attempted,
            ended + total.under_way,
        ),
        match ordered.calls {
            1 => equal("due, and attempted", total.due, total.attempted),
            _ => at_most("attempted, and due", total.attempted, total.due),
        },
        at_most("on time, and correct", total.on_time, total.correct),
        at_most("correct inside the measured time, and correct", inside, total.correct),
        at_most(
            "answers to what was due before, and what was under way then",
            total.carried_in,
            begun_before(recording),
        ),
        equal("response times, and requests that have one", total.response.count(), timed),
        at_most("service times, and response times", total.service.count(), timed),
        at_most("correct, and service times", total.correct, total.service.count()),
        equal(
            "service times, and times to the first byte",
            total.service.count(),
            total.first_byte.count(),
        ),
        if recording.sections.is_empty() {
            None
        } else {
            equal("due, and due in the parts", total.due, sections)
        },
        equal(
            "milliseconds in flight over time, and one by one",
            (over_time / 1_000_000) as u64,
            (one_by_one / 1_000_000) as u64,
        ),
    ];
    let (rule, one, other) = broken.into_iter().flatten().next()?;
    Some(Doubt::Books { rule, one, other })
}

/// Requests that were due before the measured time and not yet answered when it began.
fn begun_before(recording: &Recording) -> u64 {
    let warmup = recording.windows.iter().filter(|window| window.is_warmup);
    let (attempted, answered) = warmup.fold((0, 0), |(attempted, answered), window| {
        (attempted + window.attempted, answered + window.correct)
    });
    // Sessions continue with calls that had not begun then.
    attempted.saturating_sub(answered) + recording.total.warmup_attempted
}

pub(super) fn connections(trial: &TrialRecord) -> Option<Doubt> {
    let recording = &trial.loaded.as_ref()?.recording;
    let total = &recording.total;
    let begun = total.connections.begun;
    let accounted = total.connections.established + total.connections.failed;
    // A connection that found the accept queue full waits for the kernel's timer, even at the end of the load.
    let waiting = ["kernel.tcp.listen_overflows", "kernel.tcp.syn_retransmitted"]
        .map(|name| readings::counted(trial, name).unwrap_or(0));
    let left_at_most =
        total.under_way + waiting.into_iter().sum::<u64>() + CONNECTIONS_LEFT + begun / 100;
    let is_right = accounted <= begun && begun - accounted <= left_at_most;
    // A load that was stopped leaves connections behind that were being established.
    let is_whole = recording.end == End::Done;
    (is_whole && !is_right).then_some(Doubt::Connections { begun, accounted })
}

pub(super) fn under_way(recording: &Recording) -> Option<Doubt> {
    let (left, due) = (recording.total.under_way, recording.total.attempted);
    (0 < left).then_some(Doubt::UnderWay { left, due })
}

pub(super) fn stopped(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done => None,
        End::Halted => Some(Doubt::Halted { after_s: measured_s(recording) }),
        End::GaveUp(_) => Some(Doubt::Stopped),
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
