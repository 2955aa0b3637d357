//! `--require`: what a load must show, and the exit code if it does not.

use analysis::{JudgedRequirement, Requirement, RequirementAnswer};
use clap::Args;
use load::Load;

use crate::shell::{ExitStatus, Refusal};

#[derive(Args)]
pub(crate) struct RequireFlags {
    /// What the load must show, as 'p99<50ms', 'first-byte p95<=20ms', 'on-time>=99%', 'failed<=0.1%' or
    /// 'throughput>1000'; may be given again
    #[arg(long, value_name = "REQUIREMENT", value_parser = str::parse::<Requirement>)]
    pub(crate) require: Vec<Requirement>,
}

/// Refuses what a load of this kind never shows.
pub(super) fn check(required: &[Requirement], load: &Load) -> Result<(), Refusal> {
    let impossible = |one: &&Requirement| one.figure.needs_schedule() && load.arrivals().is_none();
    match required.iter().find(impossible) {
        None => Ok(()),
        Some(one) => Err(Refusal::new(format!(
            "--require '{}': a closed loop has no schedule, and nothing is due; add -r, --sessions or --arrivals FILE",
            one.written
        ))),
    }
}

/// The exit code of a load for which the rest speaks: what is known to be wrong outweighs what is not known.
pub(crate) fn outcome(rest: ExitStatus, required: &[JudgedRequirement]) -> ExitStatus {
    let is_broken = required.iter().any(|one| one.answer == RequirementAnswer::NotMet);
    let is_known =
        required.iter().all(|one| !matches!(one.answer, RequirementAnswer::CannotTell(_)));
    match rest {
        ExitStatus::Interrupted | ExitStatus::No => rest,
        ExitStatus::Yes | ExitStatus::CouldNotTell if is_broken => ExitStatus::No,
        ExitStatus::Yes if !is_known => ExitStatus::CouldNotTell,
        ExitStatus::Yes | ExitStatus::CouldNotTell => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_to_be_wrong_outweighs_what_is_not_known() {
        use RequirementAnswer::{CannotTell, Met, NotMet};
        let judged = |answers: &[RequirementAnswer]| -> Vec<JudgedRequirement> {
            let one = |answer: &RequirementAnswer| JudgedRequirement {
                requirement: "p50<1s".parse().unwrap(),
                measured: None,
                is_bound: false,
                answer: *answer,
            };
            answers.iter().map(one).collect()
        };
        let unknown = CannotTell(analysis::WhyUnknown::Nothing);
        let of = |rest, answers: &[RequirementAnswer]| outcome(rest, &judged(answers));
        assert_eq!(of(ExitStatus::Yes, &[Met, Met]), ExitStatus::Yes);
        assert_eq!(of(ExitStatus::Yes, &[Met, unknown]), ExitStatus::CouldNotTell);
        assert_eq!(of(ExitStatus::Yes, &[unknown, NotMet]), ExitStatus::No);
        assert_eq!(of(ExitStatus::No, &[unknown]), ExitStatus::No);
        assert_eq!(of(ExitStatus::CouldNotTell, &[Met]), ExitStatus::CouldNotTell);
        assert_eq!(of(ExitStatus::Interrupted, &[NotMet]), ExitStatus::Interrupted);
    }
}
