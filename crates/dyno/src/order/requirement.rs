//! `--require`: what a load must show.

use analysis::Requirement;
use clap::Args;
use load::Load;

use crate::shell::Refusal;

#[derive(Args)]
pub(crate) struct RequireFlags {
    /// A requirement that the load must meet: 'p99<50ms', 'first-byte p95<=20ms', 'on-time>=99%', 'failed<=0.1%' or
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
