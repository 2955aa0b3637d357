//! Whether other programs used the machine.

use lab::record::{OTHER_DYNO, TrialRecord};
use load::{Nanos, SECOND};
use units::{digits, percent, time};

use super::Doubt;
use super::definition::{duration, family, in_percent};
use crate::readings;
use crate::verdict::Gravity;

/// As a share of one CPU: if the host takes more than this away, it shows in a p99.
const STEAL: f64 = 0.02;
/// As a share of one CPU: less than this is lost in the difference between rounds.
const OTHERS: f64 = 0.05;
/// Slewing changes the clock by less than this in three minutes.
const STEP_MS: f64 = 100.0;
/// CPUs that run slower by less than this change no figure by more than rounds differ.
const SLOWED: f64 = 0.1;
/// With fewer readings in a third, a mean frequency is that of a moment.
const FREQUENCIES_EACH: usize = 5;
/// The kernel counts this time in steps of 10 ms: fewer than five of them are not a finding.
const LEAST_NS: f64 = 50e6;

family! {
    /// Others used the machine, or changed it.
    MachineDoubt;

    /// The host took CPU time away.
    Steal {
        /// The time taken, as a share of one CPU.
        share: f64,
    }
    id: "cpu_stolen",
    gravity: Gravity::Suspect,
    when: format!("`machine.cpu.steal` above {} of a CPU", in_percent(STEAL)),
    because: "the host gave the CPU to others",
    says: format!("the host took {} of a CPU's time from this machine (steal)", percent(*share)),
    way_out: "use a machine that is not shared, or more rounds",
    examples: [{ share: 0.1 }],

    /// Programs that are neither the subject nor dyno used the CPU.
    OtherPrograms {
        /// Their time, as a share of one CPU.
        share: f64,
    }
    id: "machine_noise",
    gravity: Gravity::Suspect,
    when: format!("`machine.cpu.other` above {} of a CPU", in_percent(OTHERS)),
    because: "other programs worked beside it",
    says: format!(
        "programs that are neither the subject nor dyno used {} of a CPU",
        percent(*share)
    ),
    way_out: "stop them, and run it again",
    examples: [{ share: 0.4 }],

    /// Another dyno loaded a server on this machine as the trial began or ended. Its CPU time is judged by
    /// `OtherPrograms`.
    OtherDyno {
        /// Its process, its command and where it runs.
        process: String,
    }
    id: "another_dyno",
    gravity: Gravity::Note,
    when: "another dyno loaded a server on this machine (seen in /proc as the trial began or ended)",
    because: "it is named; the CPU time that it took is `machine_noise`",
    says: format!("another dyno was loading a server on this machine: {process}"),
    way_out: "run them one after the other",
    examples: [{ process: "process 7, `dyno run x` in /tmp".into() }],

    /// The wall clock was set during the trial. dyno's times do not follow it; the subject's timers may.
    ClockStep {
        /// How far it was set forwards, milliseconds; backwards if negative.
        step_ms: f64,
    }
    id: "clock_step",
    gravity: Gravity::Suspect,
    when: format!("`machine.clock.offset` changed by {} or more within the trial", duration(STEP_MS * 1e6)),
    because: "dyno's times are from a clock that cannot be set; the subject's timers may have followed the wall clock",
    says: format!(
        "the wall clock was set {} by {} while it ran: dyno's times do not follow it, the subject's timers may",
        if *step_ms < 0.0 { "back" } else { "forward" },
        time(step_ms.abs() * 1e6)
    ),
    way_out: "keep the clock still while it is measured (timedatectl set-ntp)",
    examples: [{ step_ms: 3_600_000.0 }, { step_ms: -250.0 }],

    /// The CPUs ran slower at the end of the measured time than at its beginning: they were too hot, or saved power.
    CpusSlowed {
        /// Their mean frequency in the first third of the measured time, hertz.
        first_hz: f64,
        /// The same in the last third.
        last_hz: f64,
    }
    id: "cpus_slowed",
    gravity: Gravity::Suspect,
    when: format!(
        "`machine.frequency.mean` was lower by more than {} in the last third of the measured time than in the first \
         ({FREQUENCIES_EACH} readings a third)",
        in_percent(SLOWED)
    ),
    because: "CPUs that are too hot, or may not use more power, run slower: a server that is loaded later, or for longer, is \
        measured on another machine",
    says: format!(
        "the CPUs ran slower in the end: at {} GHz on average in the first third of the measured time, at {} GHz in the last",
        digits(first_hz / 1e9),
        digits(last_hz / 1e9)
    ),
    way_out: "cool the machine, or fix the frequency of its CPUs (cpupower frequency-set), and run it again",
    examples: [{ first_hz: 4.2e9, last_hz: 3.1e9 }],
}

/// All of it, whatever was loaded or held.
pub(super) fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    let all = [
        steal(trial),
        other_programs(trial),
        other_dyno(trial),
        clock_step(trial),
        cpus_slowed(trial),
    ];
    all.into_iter().flatten().map(Doubt::from)
}

fn steal(trial: &TrialRecord) -> Option<MachineDoubt> {
    let share = share(trial, "machine.cpu.steal")?;
    (STEAL < share).then_some(MachineDoubt::Steal { share })
}

fn other_programs(trial: &TrialRecord) -> Option<MachineDoubt> {
    let share = share(trial, "machine.cpu.other")?;
    (OTHERS < share).then_some(MachineDoubt::OtherPrograms { share })
}

/// Reported, not judged: an idle dyno disturbs nothing, and the CPU time of a busy one shows in `other_programs`.
fn other_dyno(trial: &TrialRecord) -> Option<MachineDoubt> {
    let fact = trial.conditions.iter().find(|fact| fact.name == OTHER_DYNO)?;
    Some(MachineDoubt::OtherDyno { process: fact.value.clone() })
}

/// The wall clock against the clock by which all times are measured. It is slewed by no more than 0.05 %; a step is
/// more.
fn clock_step(trial: &TrialRecord) -> Option<MachineDoubt> {
    let step_ms = readings::change(trial, "machine.clock.offset")? / 1e6;
    (STEP_MS <= step_ms.abs()).then_some(MachineDoubt::ClockStep { step_ms })
}

/// The first third of the measured time against the last.
fn cpus_slowed(trial: &TrialRecord) -> Option<MachineDoubt> {
    let (from, until) = readings::measured(trial)?;
    let third = (until - from) / 3;
    let first_hz = mean_frequency(trial, (from, from + third))?;
    let last_hz = mean_frequency(trial, (until - third, until))?;
    (last_hz < (1.0 - SLOWED) * first_hz).then_some(MachineDoubt::CpusSlowed { first_hz, last_hz })
}

fn mean_frequency(trial: &TrialRecord, span: (Nanos, Nanos)) -> Option<f64> {
    let all = readings::inside(trial, "machine.frequency.mean", span)?;
    (FREQUENCIES_EACH <= all.len()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// A share of one CPU, over the measured time.
fn share(trial: &TrialRecord, name: &str) -> Option<f64> {
    let share = readings::growth_ns_per_s(trial, name)? / SECOND as f64;
    let (from, until) = readings::measured(trial)?;
    (LEAST_NS <= share * (until - from) as f64).then_some(share)
}

#[cfg(test)]
mod tests {
    use crate::doubt::doubts;
    use crate::fixture::{ONE, healthy, series};

    use super::*;

    /// A trial in which the CPUs ran at these frequencies, GHz, up to the middle of the measured time and from there on;
    /// so many readings a second.
    fn of_frequencies(before: f64, after: f64, readings_per_s: u64) -> Vec<Doubt> {
        let reading = |number: u64| {
            let at = number * SECOND / readings_per_s;
            (at, if at < 7 * SECOND { before * 1e9 } else { after * 1e9 })
        };
        let points: Vec<_> = (0..13 * readings_per_s).map(reading).collect();
        let mut trial = healthy();
        trial.series = vec![series("machine.frequency.mean", "hertz", &points)];
        doubts(&trial, ONE)
    }

    #[test]
    fn cpus_that_become_slower_are_reported() {
        let [Doubt::Machine(MachineDoubt::CpusSlowed { first_hz, last_hz })] =
            of_frequencies(4.0, 3.5, 10)[..]
        else {
            panic!("{:?}", of_frequencies(4.0, 3.5, 10))
        };
        assert!((first_hz - 4e9).abs() < 1.0 && (last_hz - 3.5e9).abs() < 1.0);
        assert_eq!(of_frequencies(4.0, 3.7, 10), [], "a little");
        assert_eq!(of_frequencies(3.5, 4.0, 10), [], "they became faster");
        assert_eq!(of_frequencies(4.0, 3.5, 1), [], "three readings are few");
    }
}
