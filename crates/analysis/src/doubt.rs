//! Why a trial's numbers may not be what they seem. A few checks for now; each says its figures.

use lab::experiment::Point;
use load::{End, Recording, SECOND};

use crate::figures::{generator_busy, measured_s, offered_per_s};

/// One reason to doubt a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// What was due is not what was correct, failed and under way. A fault of ours.
    Books {
        /// Due.
        attempted: u64,
        /// Correct, failed, under way.
        accounted: u64,
    },
    /// It was stopped, or nothing but failures came.
    Stopped,
    /// Requests failed for reasons of our own.
    OwnFailures {
        /// So many.
        failed: u64,
        /// Of those due.
        attempted: u64,
    },
    /// We sent late, against the response times that this is part of.
    Late {
        /// One in a hundred left so late, milliseconds.
        p99_ms: f64,
        /// What would be tolerable.
        bound_ms: f64,
    },
    /// Less came back than was offered: it did not keep up, or the trial was too short to tell.
    NotReached {
        /// Offered each second.
        offered_per_s: f64,
        /// Achieved each second.
        achieved_per_s: f64,
    },
    /// Our own threads had hardly a free moment: the rate may be our limit.
    Busy {
        /// The share of their time.
        share: f64,
    },
    /// Not one request was due in the measured time.
    Nothing,
    /// So few samples that a p99 means nothing.
    FewSamples {
        /// So many.
        samples: u64,
    },
}

/// All reasons to doubt what was measured. A session makes so many `calls`.
#[must_use]
pub fn doubts(recording: &Recording, point: Point, calls: u32) -> Vec<Doubt> {
    let all = [
        books(recording),
        stopped(recording),
        own_failures(recording),
        late(recording),
        not_reached(recording, point, calls),
        busy(recording),
        few_samples(recording),
    ];
    all.into_iter().flatten().collect()
}

fn books(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let accounted = total.correct + total.failed_in_all() + total.under_way;
    (total.attempted != accounted).then_some(Doubt::Books { attempted: total.attempted, accounted })
}

fn stopped(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done => None,
        End::Halted | End::GaveUp(_) => Some(Doubt::Stopped),
    }
}

fn own_failures(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let own = load::Failure::ALL.into_iter().filter(|failure| failure.is_own());
    let failed: u64 = own.map(|failure| total.failures(failure)).sum();
    (0 < failed).then_some(Doubt::OwnFailures { failed, attempted: total.attempted })
}

fn late(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let p99_ms = total.late.quantile(0.99)?.value as f64 / 1e6;
    let median_ms = total.response.quantile(0.5)?.value as f64 / 1e6;
    // A tenth of what half the requests took does not change a picture; less than a millisecond is no one's.
    let bound_ms = (median_ms / 10.0).max(1.0);
    (bound_ms < p99_ms).then_some(Doubt::Late { p99_ms, bound_ms })
}

fn not_reached(recording: &Recording, point: Point, calls: u32) -> Option<Doubt> {
    let offered_per_s = offered_per_s(recording, point, calls)?;
    let total = &recording.total;
    let seconds = measured_s(recording);
    if seconds <= 0.0 || total.attempted == 0 {
        return None;
    }
    let achieved_per_s = total.correct_inside as f64 / seconds;
    // What is asked in the last moments is answered after the end even by a server that keeps up, and the last
    // session's calls come after all others. In overload this grows, too: hence the limit.
    let median = total.response.quantile(0.5).map_or(0, |median| median.value);
    let tail = median as f64 / SECOND as f64 * f64::from(calls) / seconds;
    let in_time = 1.0 - tail.min(0.1);
    let is_reached = 0.99 * offered_per_s * in_time - 1.0 / seconds <= achieved_per_s;
    (!is_reached).then_some(Doubt::NotReached { offered_per_s, achieved_per_s })
}

fn busy(recording: &Recording) -> Option<Doubt> {
    let share = generator_busy(recording)?;
    (0.9 < share && 0.1 <= measured_s(recording)).then_some(Doubt::Busy { share })
}

fn few_samples(recording: &Recording) -> Option<Doubt> {
    let samples = recording.total.response.count();
    if recording.total.attempted == 0 {
        return Some(Doubt::Nothing);
    }
    (samples < 1_000).then_some(Doubt::FewSamples { samples })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, fail, healthy};
    use load::Failure;

    fn check(change: impl FnOnce(&mut Recording)) -> Vec<Doubt> {
        let mut trial = healthy();
        let recording = &mut trial.pressed.as_mut().unwrap().recording;
        change(recording);
        doubts(recording, trial.key.point, 1)
    }

    #[test]
    fn a_healthy_trial_is_not_doubted() {
        assert_eq!(check(|_| {}), []);
    }

    #[test]
    fn every_doubt_fires_where_it_must() {
        assert_eq!(
            check(|recording| recording.total.attempted += 1),
            [Doubt::Books { attempted: 20_001, accounted: 20_000 }]
        );
        assert_eq!(check(|recording| recording.end = End::Halted), [Doubt::Stopped]);
        let late = check(|recording| (0..1_000).for_each(|_| recording.total.late.record(3 * MS)));
        assert!(matches!(late[..], [Doubt::Late { bound_ms: 1.0, .. }]), "{late:?}");
        assert_eq!(
            check(|recording| recording.total.correct_inside = 19_000),
            [Doubt::NotReached { offered_per_s: 2_000.0, achieved_per_s: 1_900.0 }]
        );
        assert_eq!(
            check(|recording| recording.lanes[0].idle = SECOND / 2),
            [Doubt::Busy { share: 0.95 }]
        );
    }

    #[test]
    fn the_last_sessions_calls_are_allowed_for_up_to_a_limit() {
        let of = |answered| {
            let mut trial = healthy();
            let recording = &mut trial.pressed.as_mut().unwrap().recording;
            recording.total.correct_inside = answered;
            // 2,000 requests a second; half of a second is left for the ten calls of the last session.
            recording.total.response = load::Distribution::new(5 * SECOND);
            (0..20_000).for_each(|_| recording.total.response.record(50 * MS));
            doubts(recording, Point::Sessions(200.0), 10)
        };
        assert_eq!(of(19_000), []);
        assert!(matches!(of(18_500)[..], [Doubt::NotReached { .. }]));
    }

    #[test]
    fn few_samples_and_none_are_told_apart() {
        let of = |samples: u64| {
            check(|recording| {
                let total = &mut recording.total;
                *total = load::Tally::new(SECOND);
                (total.attempted, total.correct, total.correct_inside) =
                    (samples, samples, samples);
                (0..samples).for_each(|_| total.response.record(MS));
            })
        };
        assert_eq!(of(0), [Doubt::Nothing]);
        assert_eq!(of(999), [Doubt::FewSamples { samples: 999 }]);
    }

    #[test]
    fn a_closed_loop_has_nothing_to_reach() {
        let mut trial = healthy();
        let recording = &mut trial.pressed.as_mut().unwrap().recording;
        recording.total.correct_inside = 19_000;
        assert_eq!(doubts(recording, Point::Connections(10), 1), []);
    }

    #[test]
    fn our_own_failures_are_doubts_and_the_server_s_are_not() {
        let of = |failure| {
            let mut trial = healthy();
            fail(&mut trial, failure, 5);
            doubts(&trial.pressed.unwrap().recording, trial.key.point, 1)
        };
        assert_eq!(of(Failure::NoPorts), [Doubt::OwnFailures { failed: 5, attempted: 20_000 }]);
        assert_eq!(of(Failure::RecvReset), []);
    }
}
