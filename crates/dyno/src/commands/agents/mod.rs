//! `dyno agents`: what it takes to have load from several machines: a broker's configuration, a job script, manifests;
//! and a look at the machines.

mod check;
mod k8s;
mod keys;
mod nats_config;
mod slurm;
mod values;

use clap::{Args, Subcommand};

use crate::shell::{ExitStatus, Refusal};

/// Look at the machines from which load is to come, and write what they need: NATS, Slurm, Kubernetes
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct AgentsFlags {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Subcommand)]
enum AgentsCommand {
    Check(check::CheckFlags),
    NatsConfig(nats_config::NatsConfigFlags),
    Slurm(slurm::SlurmFlags),
    K8s(k8s::K8sFlags),
}

const AFTER_HELP: &str = "\
All but `check` print text, and start nothing. Agents and coordinators that meet at a NATS broker need `dyno-nats` beside dyno; \
its `dyno-nats key FILE` makes a key, and prints the line of a list of keys.

Examples:
  dyno agents check ssh:desk2,desk3 --listen-on 10.0.0.5
  dyno agents nats-config --keys agents.keys --without-tls > nats.conf
  dyno agents slurm --nodes 4 -- run my-experiment > job.sh
  dyno agents k8s --agents 8 --keys agents.keys --allow 10.96.0.10:80 --image dyno:1 -- load http://10.96.0.10/ > lab.yaml

Exit codes:
  0    printed; of `check`: load can come from all hosts
  2    a flag does not fit, or a file cannot be read; of `check`: it cannot come from one of them";

pub(crate) fn run(flags: &AgentsFlags) -> Result<ExitStatus, Refusal> {
    match &flags.command {
        AgentsCommand::Check(flags) => check::run(flags),
        AgentsCommand::NatsConfig(flags) => nats_config::run(flags),
        AgentsCommand::Slurm(flags) => slurm::run(flags),
        AgentsCommand::K8s(flags) => k8s::run(flags),
    }
}
