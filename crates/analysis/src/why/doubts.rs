//! Reasons to doubt a profile. They stand beside it and change no row, no verdict and no exit code, because nothing but
//! shares comes from a sampled trial.

use profile::Profile;
use units::{count, percent};

use crate::doubt::Threshold::{Count, Number, Share};
use crate::doubt::{Definition, Doubt, table};
use crate::estimate::Estimate;
use crate::verdict::Gravity::{Note, Suspect};

/// By how much the time that samples stand for may differ from the CPU time, ...
const MISSED: f64 = 0.05;
/// ... and how many standard errors of their number it differs by at least.
const MISSED_ERRORS: f64 = 3.0;
const PERTURBED: f64 = 0.1;
const LOST: f64 = 0.01;
const NAMELESS: f64 = 0.2;
const SAMPLES_MIN: u64 = 1_000;

const MISSED_SAMPLES: Definition = Definition::new("missed", Suspect)
    .when("the samples of a trial, or of all together, stand for a time that differs from the CPU time by more than {} \
        and by more than {} standard errors; not judged where the kernel's stacks cannot be seen")
    .thresholds(&[Share(MISSED), Number(MISSED_ERRORS)])
    .because("the samples did not come evenly: the server works in the rhythm of the sampler, or its samples were \
        missed when threads changed")
    .way_out("sample at another frequency that is no round number, or as root, which samples the server's CPUs");

const PERTURBED_TRIALS: Definition = Definition::new("perturbed", Suspect)
    .when("an answer's CPU time in the sampled trials differs from that of the measured rounds by more than {} and \
        lies outside of its interval")
    .thresholds(&[Share(PERTURBED)])
    .because("the sampler or the runtime's flags changed what the server does, so its shares may be others")
    .way_out("sample as root, which samples the server's CPUs, or at a lower frequency");

const LOST_SAMPLES: Definition = Definition::new("lost", Suspect)
    .when("the kernel lost more than {} of the samples")
    .thresholds(&[Share(LOST)])
    .because("samples are lost when there are many, so the shares of busy times are too small")
    .way_out("sample at a lower frequency, or copy less of each stack");

const NAMELESS_SAMPLES: Definition = Definition::new("nameless", Suspect)
    .when("more than {} of the samples have no name")
    .thresholds(&[Share(NAMELESS)])
    .because("what these functions do is unknown, and any line may be larger than it seems")
    .way_out("build the server with symbols, or let a probe give its runtime the flags that make it write names");

const FEW_SAMPLES: Definition = Definition::new("few_samples", Suspect)
    .when("there are fewer than {} samples")
    .thresholds(&[Count(SAMPLES_MIN)])
    .because("a line of a tenth of the CPU time has an interval of a fifth of its size, or more")
    .way_out("load the server more while it is sampled: it was mostly idle");

const WITH_FLAGS: Definition = Definition::new("flags", Note)
    .when("the runtime of a sampled trial had flags that it has in no measured one")
    .because("they name its functions, and may cost something")
    .way_out("nothing: the CPU time is that of rounds without them");

/// All, in the order of docs/validity.md.
const ALL: &[Definition] =
    &[MISSED_SAMPLES, PERTURBED_TRIALS, LOST_SAMPLES, NAMELESS_SAMPLES, FEW_SAMPLES, WITH_FLAGS];

/// Their table in docs/validity.md.
#[must_use]
pub fn profile_doubts_table() -> String {
    table("doubt | gravity | is raised when", ALL)
}

/// What speaks against the profile of one server.
pub(super) fn of(
    trials: &[Profile],
    nameless: f64,
    sampled_cpu_us: Option<f64>,
    measured: &Estimate,
) -> Vec<Doubt> {
    let samples: u64 = trials.iter().map(Profile::samples).sum();
    let lost: u64 = trials.iter().map(|trial| trial.lost).sum();
    let lost_share = lost as f64 / (lost + samples).max(1) as f64;
    let found = [
        missed(trials).map(|share| {
            let says = format!("the samples stand for {} of the CPU time", percent(share));
            (MISSED_SAMPLES, says)
        }),
        sampled_cpu_us.and_then(|us| perturbed(us, measured)).map(|says| (PERTURBED_TRIALS, says)),
        (LOST < lost_share).then(|| {
            (LOST_SAMPLES, format!("the kernel lost {} of the samples", percent(lost_share)))
        }),
        (NAMELESS < nameless).then(|| {
            (NAMELESS_SAMPLES, format!("{} of the samples have no name", percent(nameless)))
        }),
        (samples < SAMPLES_MIN).then(|| {
            (FEW_SAMPLES, format!("{} samples are too few for exact shares", count(samples)))
        }),
        trials.iter().any(|trial| trial.with_flags).then(|| {
            let says = "the runtime had flags that it has in no measured trial";
            (WITH_FLAGS, says.into())
        }),
    ];
    found.into_iter().flatten().map(|(definition, says)| definition.raised(says)).collect()
}

/// The time of the samples, in parts of the CPU time, where they differ by too much: of all trials, or else of one. A
/// server in the rhythm of the sampler is seen too often in one trial, and too seldom in another.
fn missed(trials: &[Profile]) -> Option<f64> {
    let counted: Vec<[f64; 2]> = trials.iter().filter_map(counted_and_expected).collect();
    let all = counted.iter().fold([0.0; 2], |sum, trial| [sum[0] + trial[0], sum[1] + trial[1]]);
    let is_off = |[samples, expected]: &[f64; 2]| {
        let off = (samples - expected).abs();
        0.0 < *expected && MISSED * expected < off && MISSED_ERRORS * expected.sqrt() < off
    };
    let found = [all].into_iter().chain(counted).find(is_off)?;
    Some(found[0] / found[1])
}

/// The samples of a trial, and how many the CPU time should have; none where that is not known, or how much of it was in
/// the mode that was sampled.
fn counted_and_expected(trial: &Profile) -> Option<[f64; 2]> {
    let is_known = 0 < trial.cpu_ns && !trial.method.user_only;
    is_known.then(|| [trial.samples() as f64, trial.expected_samples()])
}

fn perturbed(sampled_us: f64, measured: &Estimate) -> Option<String> {
    let (low, high) = measured.interval()?;
    let off = sampled_us / measured.value - 1.0;
    let is_outside = !(low..=high).contains(&sampled_us);
    (PERTURBED < off.abs() && is_outside).then(|| {
        let than = if 0.0 < off { "more" } else { "less" };
        format!(
            "an answer cost {} {than} CPU time in the sampled trials than in the measured ones",
            percent(off.abs())
        )
    })
}
