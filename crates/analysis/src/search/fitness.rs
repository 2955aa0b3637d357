//! What a trial is worth to a search: evidence, or nothing.

use lab::experiment::Point;
use lab::record::{OutcomeKind, TrialRecord};
use load::Recording;

use super::{Aim, Evidence, Found, Press, Tried, evidence, noise_in};

/// What a trial that was ordered so has found, of a server that has so many CPUs. A server that ends or answers wrongly under a load has lost all of it.
///
/// What dyno itself did counts by what it may have changed, and not by whether the trial kept the aim: else those that chance
/// has favoured would be left over.
#[must_use]
pub(super) fn tried(
    aim: &Aim,
    trial: &TrialRecord,
    press: &Press,
    took_s: f64,
    cpus: f64,
) -> Tried {
    let found = |found| Tried { found, took_s };
    let says = &trial.outcome.says;
    let Some(loaded) = &trial.loaded else {
        return found(Found::Unfit(says.clone()));
    };
    let recording = &loaded.recording;
    match trial.outcome.kind {
        OutcomeKind::Measured => {}
        OutcomeKind::Died | OutcomeKind::Wrong => {
            let due = press.rate.map_or(1.0, |rate| rate * press.seconds);
            return found(match press.rate {
                Some(_) => Found::Open(Evidence::nothing(aim, due as u64)),
                None => closed(recording),
            });
        }
        OutcomeKind::Skipped
        | OutcomeKind::NotReady
        | OutcomeKind::ServiceDied
        | OutcomeKind::WrongServer
        | OutcomeKind::Unable
        | OutcomeKind::Interrupted => return found(Found::Unfit(says.clone())),
    }
    let Some(rate) = press.rate else { return found(closed(recording)) };
    let evidence = evidence(aim, recording, rate, press.seconds);
    found(match noise_in(trial, Some(aim), cpus) {
        Some(noise) => Found::Disturbed { noise, is_broken: !evidence.keeps(aim) },
        None => Found::Open(evidence),
    })
}

fn closed(recording: &Recording) -> Found {
    Found::Closed { per_s: lab::figure::rates::throughput_per_s(recording).unwrap_or(0.0) }
}

/// What a kept trial was ordered to be.
#[must_use]
pub(super) fn is_as_ordered(trial: &TrialRecord, press: &Press) -> bool {
    match (trial.key.point, press.rate) {
        (Point::Requests(rate), Some(ordered)) => (rate - ordered).abs() < 1e-6 * ordered,
        (Point::Connections(_), None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use lab::record::Outcome;
    use load::{End, Failure, SECOND};

    use super::*;
    use crate::fixture::{MS, equal, fail, healthy, recording, series};
    use crate::search::tests::aim;
    use crate::search::{Noise, PressKind};

    fn press() -> Press {
        Press { kind: PressKind::Full, rate: Some(2_000.0), seconds: 10.0 }
    }

    fn of(trial: &TrialRecord, aim: &Aim) -> Found {
        tried(aim, trial, &press(), 11.0, 2.0).found
    }

    fn open(trial: &TrialRecord, aim: &Aim) -> Evidence {
        match of(trial, aim) {
            Found::Open(evidence) => evidence,
            other => panic!("{other:?}"),
        }
    }

    /// 20,000 requests, each answered after a millisecond.
    #[test]
    fn losses_are_read_off_the_histogram_and_failures_are_among_them() {
        let mut trial = healthy();
        let evidence = open(&trial, &aim(99.0, 2 * MS));
        assert_eq!((evidence.due, evidence.lost), (20_000, vec![0, 0]));
        let evidence = open(&trial, &aim(99.0, MS / 2));
        assert_eq!(evidence.lost, [20_000, 0]);
        // The limit lies in the bucket of the answers: they count as within.
        assert_eq!(open(&trial, &aim(99.0, MS)).lost, [0, 0]);
        fail(&mut trial, Failure::RecvReset, 300);
        let evidence = open(&trial, &aim(99.0, 2 * MS));
        assert_eq!((evidence.due, evidence.lost.clone()), (20_000, vec![300, 300]));
        assert!(!evidence.keeps(&aim(99.0, 2 * MS)));
        assert!(evidence.answered_per_s < 1_990.0);
    }

    #[test]
    fn what_was_not_answered_is_lost_and_a_load_that_ended_early_is_of_what_was_planned() {
        let mut trial = healthy();
        let total = &mut recording(&mut trial).total;
        (total.correct, total.on_time) = (19_000, 19_000);
        (total.under_way, total.answered) = (1_000, 19_000);
        total.response = equal(MS, 19_000);
        let found = |trial: &TrialRecord, seconds| {
            let recording = &trial.loaded.as_ref().unwrap().recording;
            evidence(&aim(99.0, 2 * MS), recording, 2_000.0, seconds)
        };
        assert_eq!(found(&trial, 10.0).lost, [1_000, 1_000]);
        recording(&mut trial).end = End::Halted;
        let cut = found(&trial, 20.0);
        assert_eq!((cut.due, cut.lost, cut.is_cut), (40_000, vec![0, 0], true));
    }

    #[test]
    fn a_server_that_died_has_lost_everything_and_one_that_was_not_loaded_says_nothing() {
        let aim = aim(99.0, 2 * MS);
        let mut trial = healthy();
        trial.outcome = Outcome { kind: OutcomeKind::Died, says: "signal 9".into() };
        let evidence = open(&trial, &aim);
        assert_eq!((evidence.due, evidence.lost), (20_000, vec![20_000, 20_000]));
        trial.loaded = None;
        trial.outcome = Outcome { kind: OutcomeKind::NotReady, says: "no answer".into() };
        assert_eq!(of(&trial, &aim), Found::Unfit("no answer".into()));
        trial.outcome.kind = OutcomeKind::Unable;
        assert_eq!(of(&trial, &aim), Found::Unfit("no answer".into()));
    }

    /// Whether the aim was kept is not asked: else those that chance has favoured would be left over.
    #[test]
    fn lateness_of_dyno_makes_a_trial_no_evidence_where_it_may_have_broken_the_aim() {
        let mut trial = healthy();
        let late = &mut recording(&mut trial).total.late;
        *late = equal(10_000, 19_700);
        late.record_many(MS / 2, 300);
        for limit in [MS / 2, MS * 9 / 10] {
            let late = Found::Disturbed { noise: Noise::Late, is_broken: true };
            assert_eq!(of(&trial, &aim(99.0, limit)), late, "{limit}");
        }
        // Half a millisecond matters little beside 2, and 1.5 % of the requests little beside a half of them.
        assert_eq!(open(&trial, &aim(99.0, 2 * MS)).lost, [0, 0]);
        assert_eq!(open(&trial, &aim(50.0, MS * 9 / 10)).lost[1], 0);
    }

    #[test]
    fn a_standstill_of_dyno_counts_where_it_is_long_beside_the_limit() {
        let mut trial = healthy();
        let still = &mut recording(&mut trial).total.still;
        (still.sum, still.overslept) = (160 * MS, 20 * MS);
        let noise = Noise::StoodStill { longest_ms: 20.0 };
        let stood_still = Found::Disturbed { noise, is_broken: false };
        assert_eq!(of(&trial, &aim(99.0, 40 * MS)), stood_still);
        assert_eq!(open(&trial, &aim(99.0, 100 * MS)).lost, [0, 0]);
    }

    /// By the share of the server's CPUs, and whether the aim was kept or not.
    #[test]
    fn a_trial_beside_other_programs_is_repeated_where_they_took_a_tenth_of_the_server_s_cpus() {
        let aim = aim(99.0, 2 * MS);
        let beside = |name: &str, ns: f64, cpus: f64| {
            let mut trial = healthy();
            trial.series = vec![series(name, "ns", &[(0, 0.0), (12 * SECOND, 1.2 * ns)])];
            tried(&aim, &trial, &press(), 11.0, cpus).found
        };
        let disturbed = |noise| Found::Disturbed { noise, is_broken: false };
        let others = |cpus| disturbed(Noise::OtherPrograms { cpus });
        assert_eq!(beside("machine.cpu.other", 2.5e9, 2.0), others(0.25));
        assert!(matches!(beside("machine.cpu.other", 2.5e9, 3.0), Found::Open(_)), "of three");
        assert_eq!(beside("machine.cpu.steal", 5e9, 4.0), disturbed(Noise::Stolen { cpus: 0.5 }));
        assert_eq!(Noise::OtherPrograms { cpus: 0.8 }.says(), "other programs used 0.8 of a CPU");
        assert_eq!(Noise::OtherPrograms { cpus: 1.3 }.says(), "other programs used 1.3 CPUs");
    }

    #[test]
    fn a_closed_loop_says_how_fast_it_was() {
        let press = Press { kind: PressKind::First, rate: None, seconds: 10.0 };
        let found = tried(&aim(99.0, MS), &healthy(), &press, 11.0, 2.0);
        assert_eq!(found.found, Found::Closed { per_s: 2_000.0 });
        assert!(!is_as_ordered(&healthy(), &press));
        assert!(is_as_ordered(&healthy(), &self::press()));
    }
}
