//! Rates and shares of one recording. There are two estimators, which answer two questions, and they are computed only
//! here:
//!
//! *Throughput* is the number of correct answers that arrived inside the measured time, divided by that time. It is
//! right for a server that is given more than it can do. It includes answers to requests that were due before the
//! measured time.
//!
//! *On time* is the share of the requests due in the measured time that were answered correctly within a limit from
//! their intended start. It is right for whether a server kept up: it includes every request that was due, and the time
//! of each answer, however late. An answer after the measured time counts here, and in no throughput.

use load::{Nanos, Recording, SECOND};

/// A server keeps up with its schedule if this share of the requests due was answered as expected in time.
pub const KEPT_UP: f64 = 0.99;

/// How many of the requests due in the measured time were answered as expected within a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnTime {
    /// How many were answered as expected within the limit.
    pub on_time: u64,
    /// How many were due.
    pub due: u64,
    /// The limit, from when each request was due.
    pub within: Nanos,
}

impl OnTime {
    /// The share of the requests due; nothing if none was due.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (0 < self.due).then(|| self.on_time as f64 / self.due as f64)
    }
}

/// The length of the measured time, in seconds.
#[must_use]
pub fn measured_s(recording: &Recording) -> f64 {
    seconds(recording.measured_from, recording.measured_until)
}

/// The share of the measured time in silences of the server; none where nothing was measured.
#[must_use]
pub fn silent_share(recording: &Recording) -> Option<f64> {
    let (silence, measured_s) = (recording.silence, measured_s(recording));
    (0.0 < measured_s).then(|| silence.sum as f64 / SECOND as f64 / measured_s)
}

fn seconds(from: Nanos, until: Nanos) -> f64 {
    until.saturating_sub(from) as f64 / SECOND as f64
}

/// A count divided by a time; nothing if the time is zero.
fn per_s(count: u64, seconds: f64) -> Option<f64> {
    (0.0 < seconds).then(|| count as f64 / seconds)
}

/// Correct answers that arrived inside the measured time, divided by that time. None where nothing was due: no rate is
/// not a rate of 0.
#[must_use]
pub fn throughput_per_s(recording: &Recording) -> Option<f64> {
    let total = &recording.total;
    let is_any = 0 < total.attempted + total.correct_inside;
    per_s(total.correct_inside, measured_s(recording)).filter(|_| is_any)
}

/// The requests that the schedule offered, divided by the time in which it offered them: none for a closed loop. A
/// session offers all its calls.
#[must_use]
pub fn offered_per_s(recording: &Recording) -> Option<f64> {
    let until = recording.scheduled_until?;
    let due = recording.total.due;
    per_s(due, seconds(recording.measured_from, until)).filter(|_| 0 < due)
}

/// How many of the requests due were answered as expected within `limit`; if it is none, within the limit of the load's
/// order, which is the time-out unless the order says otherwise. For any other limit it is exact to a thousandth of the
/// limit.
#[must_use]
pub fn on_time(recording: &Recording, limit: Option<Nanos>) -> OnTime {
    let total = &recording.total;
    let ordered = recording.on_time_within;
    let within = limit.unwrap_or(ordered);
    // An answer without a time is on time.
    let untimed = total.forms.map_or(0, |forms| forms.untimed);
    let on_time = match within == ordered {
        true => total.on_time,
        false => total.response.known_within(within) + untimed,
    };
    OnTime { on_time, due: total.due, within }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Tally;

    fn recording() -> Recording {
        let mut total = Tally::new(10 * SECOND);
        (total.due, total.attempted, total.correct, total.on_time) = (1_000, 1_000, 900, 800);
        (total.correct_inside, total.carried_in) = (1_200, 450);
        (0..700).for_each(|_| total.response.record(1_000_000));
        (0..200).for_each(|_| total.response.record(2_000_000_000));
        (0..100).for_each(|_| total.response.record_censored(5 * SECOND));
        Recording {
            scheduled_until: Some(2 * SECOND),
            on_time_within: SECOND,
            ..Recording::new(total, SECOND..2 * SECOND, 5 * SECOND)
        }
    }

    #[test]
    fn the_two_estimators_answer_two_questions() {
        let recording = recording();
        assert_eq!(throughput_per_s(&recording), Some(1_200.0), "as it came, from wherever");
        assert_eq!(offered_per_s(&recording), Some(1_000.0));
        assert_eq!(on_time(&recording, None).share(), Some(0.8), "as the lanes counted it");
        assert_eq!(on_time(&recording, Some(SECOND)), on_time(&recording, None));
        assert_eq!(on_time(&recording, Some(10_000_000)).share(), Some(0.7));
        assert_eq!(
            on_time(&recording, Some(5 * SECOND)).share(),
            Some(0.9),
            "what was given up is late"
        );
    }

    #[test]
    fn nothing_is_no_rate_and_no_share() {
        let none = Recording::new(Tally::new(SECOND), 5..5, SECOND);
        assert_eq!((throughput_per_s(&none), offered_per_s(&none)), (None, None));
        assert_eq!((on_time(&none, None).share(), on_time(&none, Some(1)).share()), (None, None));
        let empty = Recording::new(Tally::new(SECOND), 0..SECOND, SECOND);
        let empty = Recording { scheduled_until: Some(SECOND), ..empty };
        assert_eq!((throughput_per_s(&empty), offered_per_s(&empty)), (None, None));
        let all_failed = {
            let mut total = Tally::new(SECOND);
            (total.due, total.attempted) = (7, 7);
            Recording::new(total, 0..SECOND, SECOND)
        };
        assert_eq!(throughput_per_s(&all_failed), Some(0.0));
        assert_eq!(on_time(&all_failed, None).share(), Some(0.0));
    }
}
