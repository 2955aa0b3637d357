//! Whether other programs used the machine.

use lab::figure::readings;
use lab::record::{LoadRecord, OTHER_DYNO, TrialRecord};
use load::{Nanos, SECOND};
use units::{digits, percent, time};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Share, Time};
use crate::verdict::Gravity::{Note, Suspect};

/// As a share of one CPU: if the host takes more than this away, it shows in a p99.
const STEAL: f64 = 0.02;
/// As a share of one CPU: less than this is lost in the difference between rounds.
const OTHERS: f64 = 0.05;
/// Slewing changes the clock by less than this in three minutes.
const STEP_MS: f64 = 100.0;
/// As a share of one CPU: a limit stops tasks for tens of milliseconds at a time, and 1 % of the time is in the p99.
const THROTTLED: f64 = 0.01;
/// CPUs that run slower by less than this change no figure by more than rounds differ.
const SLOWED: f64 = 0.1;
/// With fewer readings in a third, a mean frequency is that of a moment.
const FREQUENCIES_EACH: usize = 5;
/// The kernel counts this time in steps of 10 ms: fewer than five of them are not a finding.
const LEAST_NS: f64 = 50e6;

pub(super) const ALL: &[Definition] =
    &[CPU_STOLEN, CPU_THROTTLED, MACHINE_NOISE, ANOTHER_DYNO, CLOCK_STEP, CPUS_SLOWED];

/// The host took CPU time away.
pub(crate) const CPU_STOLEN: Definition = Definition::new("cpu_stolen", Suspect)
    .when("`machine.cpu.steal` above {} of a CPU")
    .thresholds(&[Share(STEAL)])
    .because("the host gave the CPU to other machines")
    .way_out("use a machine that is not shared, or more rounds");

/// The kernel stopped dyno, or the servers that it started, because their control group had used up its CPU time.
pub(crate) const CPU_THROTTLED: Definition = Definition::new("cpu_throttled", Suspect)
    .when("`machine.cpu.throttled` above {} of a CPU")
    .thresholds(&[Share(THROTTLED)])
    .because("under a CPU limit (Docker's `--cpus`, a limit of Kubernetes, systemd's `CPUQuota`), the kernel stops all \
        that has used up its time until the next period, usually of 100 ms: requests and answers wait that long")
    .way_out("give dyno whole CPUs in place of a limit (a cpuset), or a higher limit");

/// Programs that are neither the subject nor dyno used the CPU.
pub(crate) const MACHINE_NOISE: Definition = Definition::new("machine_noise", Suspect)
    .when("`machine.cpu.other` above {} of a CPU")
    .thresholds(&[Share(OTHERS)])
    .because("other programs ran at the same time")
    .way_out("stop them, and run it again");

/// Another dyno loaded a server on this machine as the trial began or ended. Its CPU time is judged by
/// `machine_noise`.
pub(crate) const ANOTHER_DYNO: Definition = Definition::new("another_dyno", Note)
    .when(
        "another dyno loaded a server on this machine (seen in /proc as the trial began or ended)",
    )
    .because("it is named; the CPU time that it took is `machine_noise`")
    .way_out("run them one after the other");

/// The wall clock was set during the trial. dyno's times do not follow it; the subject's timers may.
pub(crate) const CLOCK_STEP: Definition = Definition::new("clock_step", Suspect)
    .when("`machine.clock.offset` changed by {} or more within the trial")
    .thresholds(&[Time(STEP_MS * 1e6)])
    .because("dyno's times are from a clock that cannot be set; the server's timers may have followed the wall clock")
    .way_out("do not let the clock be set during a measurement (timedatectl set-ntp false)");

/// The CPUs ran slower at the end of the measured time than at its beginning: they were too hot, or saved power.
pub(crate) const CPUS_SLOWED: Definition = Definition::new("cpus_slowed", Suspect)
    .when("`machine.frequency.mean` was lower by more than {} in the last third of the measured time than in the first \
        ({} readings a third; the frequency is read once a second, so trials of less than 15 s are not tested, nor are \
        ramps and steps)")
    .thresholds(&[Share(SLOWED), Count(FREQUENCIES_EACH as u64)])
    .because("CPUs that are too hot, or at their power limit, run slower: a server that is loaded later, or for \
        longer, is measured on a slower machine")
    .way_out("cool the machine, or fix the frequency of its CPUs (cpupower frequency-set), and run it again");

/// Every doubt about the machine, whatever was loaded or held.
pub(super) fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    let all = [
        steal(trial),
        throttled(trial),
        other_programs(trial),
        other_dyno(trial),
        clock_step(trial),
        cpus_slowed(trial),
    ];
    all.into_iter().flatten()
}

fn steal(trial: &TrialRecord) -> Option<Doubt> {
    let share = stolen(trial).filter(|share| STEAL < *share)?;
    Some(CPU_STOLEN.found(format!(
        "the host took {} of a CPU's time from this machine (steal)",
        percent(share)
    )))
}

fn throttled(trial: &TrialRecord) -> Option<Doubt> {
    let ns_per_s = readings::growth_ns_per_s(trial, "machine.cpu.throttled")?;
    let share = ns_per_s / SECOND as f64;
    (THROTTLED < share).then(|| {
        CPU_THROTTLED.found(format!(
            "a CPU limit of dyno's control group kept it, or the server, from their CPUs for {} of the time, summed over \
             CPUs",
            percent(share)
        ))
    })
}

fn other_programs(trial: &TrialRecord) -> Option<Doubt> {
    let share = used_by_others(trial).filter(|share| OTHERS < *share)?;
    Some(MACHINE_NOISE.found(format!(
        "programs that are neither the server nor dyno used {} of a CPU",
        percent(share)
    )))
}

/// Reported, not judged: an idle dyno disturbs nothing, and the CPU time of a busy one shows in `machine_noise`.
fn other_dyno(trial: &TrialRecord) -> Option<Doubt> {
    let fact = trial.conditions.iter().find(|fact| fact.name == OTHER_DYNO)?;
    let process = &fact.value;
    Some(
        ANOTHER_DYNO.found(format!("another dyno was loading a server on this machine: {process}")),
    )
}

/// The wall clock against the clock by which all times are measured. It is slewed by no more than 0.05 %; a step is
/// more.
fn clock_step(trial: &TrialRecord) -> Option<Doubt> {
    let step_ms = readings::change(trial, "machine.clock.offset")? / 1e6;
    (STEP_MS <= step_ms.abs()).then(|| {
        CLOCK_STEP.found(format!(
            "the wall clock was set {} by {} while it ran: dyno's times do not follow it, the server's timers may",
            if step_ms < 0.0 { "back" } else { "forward" },
            time(step_ms.abs() * 1e6)
        ))
    })
}

/// The first third of the measured time against the last, of a load that asks as much of the CPUs in both.
fn cpus_slowed(trial: &TrialRecord) -> Option<Doubt> {
    let is_even = |loaded: &LoadRecord| loaded.recording.sections.is_empty();
    if !trial.loaded.as_ref().is_some_and(is_even) {
        return None;
    }
    let (from, until) = readings::measured(trial)?;
    let third = (until - from) / 3;
    let first_hz = mean_frequency(trial, (from, from + third))?;
    let last_hz = mean_frequency(trial, (until - third, until))?;
    (last_hz < (1.0 - SLOWED) * first_hz).then(|| {
        CPUS_SLOWED.found(format!(
            "the CPUs became slower: they ran at {} GHz on average in the first third of the measured time, at {} \
             GHz in \
             the last",
            digits(first_hz / 1e9),
            digits(last_hz / 1e9)
        ))
    })
}

fn mean_frequency(trial: &TrialRecord, span: (Nanos, Nanos)) -> Option<f64> {
    let all = readings::inside(trial, "machine.frequency.mean", span)?;
    (FREQUENCIES_EACH <= all.len()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// The CPU time that the host took away, as a share of one CPU.
pub(crate) fn stolen(trial: &TrialRecord) -> Option<f64> {
    share(trial, "machine.cpu.steal")
}

/// The CPU time of programs that are neither the subject nor dyno, as a share of one CPU.
pub(crate) fn used_by_others(trial: &TrialRecord) -> Option<f64> {
    share(trial, "machine.cpu.other")
}

/// A share of one CPU, over the measured time.
fn share(trial: &TrialRecord, name: &str) -> Option<f64> {
    let share = readings::growth_ns_per_s(trial, name)? / SECOND as f64;
    let (from, until) = readings::measured(trial)?;
    (LEAST_NS <= share * (until - from) as f64).then_some(share)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::doubt::doubts;
    use crate::fixture::{ONE, healthy, part, series, told};

    /// A trial in which the CPUs ran at these frequencies, GHz, up to the middle of the measured time and from there on;
    /// so many readings a second.
    fn of_frequencies(before: f64, after: f64, readings_per_s: u64) -> Vec<Doubt> {
        doubts(&with_frequencies(before, after, readings_per_s), ONE)
    }

    fn with_frequencies(before: f64, after: f64, readings_per_s: u64) -> TrialRecord {
        let reading = |number: u64| {
            let at = number * SECOND / readings_per_s;
            (at, if at < 7 * SECOND { before * 1e9 } else { after * 1e9 })
        };
        let points: Vec<_> = (0..13 * readings_per_s).map(reading).collect();
        let mut trial = healthy();
        trial.series = vec![series("machine.frequency.mean", "hertz", &points)];
        trial
    }

    #[test]
    fn cpus_that_become_slower_are_reported() {
        expect!["cpus_slowed (suspect): the CPUs became slower: they ran at 4.00 GHz on average in the first third of the measured time, at 3.50 GHz in the last"]
            .assert_eq(&told([&of_frequencies(4.0, 3.5, 10)]));
    }

    #[test]
    fn cpus_of_an_ordinary_trial_are_not_doubted() {
        assert_eq!(of_frequencies(4.0, 4.0, 10), []);
        assert_eq!(of_frequencies(4.0, 3.7, 10), [], "a little");
        assert_eq!(of_frequencies(3.5, 4.0, 10), [], "they became faster");
        assert_eq!(of_frequencies(4.0, 3.5, 1), [], "three readings are few");
        let mut falling = with_frequencies(4.0, 2.0, 10);
        assert_eq!(cpus_slowed(&falling).map(|doubt| doubt.id()), Some("cpus_slowed"));
        let recording = &mut falling.loaded.as_mut().unwrap().recording;
        recording.sections = vec![part(20_000)];
        assert_eq!(cpus_slowed(&falling), None, "a ramp down asks less of them in the end");
    }
}
