//! `dyno agents`: the machines from which load comes, or on which servers run: the agent itself, and what it takes to have
//! some: keys, trusted files, a broker's configuration, a job script, manifests; and a look at the machines.

mod bounds;
mod check;
mod k8s;
mod key;
mod keys;
mod nats;
mod run;
mod slurm;
mod trust;
mod values;

use clap::{Args, Subcommand};

use crate::shell::{ExitStatus, Refusal};

/// Prepare other machines that generate load or run servers: ssh, Slurm, Kubernetes, NATS
///
/// An agent is dyno on another machine. `--load-on ssh:HOST` and `--server-on ssh:HOST` of other commands start agents by
/// themselves: with an ssh key that may start any command, nothing here is needed.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct AgentsFlags {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Subcommand)]
enum AgentsCommand {
    Run(Box<run::RunFlags>),
    Check(check::CheckFlags),
    Key(key::KeyFlags),
    Trust(trust::TrustFlags),
    Slurm(slurm::SlurmFlags),
    K8s(k8s::K8sFlags),
    Nats(nats::NatsFlags),
}

const AFTER_HELP: &str = "\
`key`, `slurm`, `k8s` and `nats` print text, and start nothing. Agents and coordinators that meet at a NATS broker need \
`dyno-nats` beside dyno; its `dyno-nats key FILE` makes a key, and prints the line of a list of keys.

Examples:
  dyno agents check ssh:desk2,desk3 --listen-on 10.0.0.5
  dyno agents key --allow 10.0.0.0/24:8080 --max-rate 50k ann.pub >> ~/.ssh/authorized_keys
  dyno agents slurm --nodes 4 -- run my-experiment > job.sh
  dyno agents k8s --agents 8 --keys agents.keys --allow 10.96.0.10:80 --image dyno:1 -- load http://10.96.0.10/ > lab.yaml
  dyno agents nats --keys agents.keys --without-tls > nats.conf

Exit codes:
  0    printed, or done; of `check`: load can come from all hosts
  2    a flag does not fit, or a file cannot be read; of `check`: it cannot come from one of them";

pub(crate) fn run(flags: &AgentsFlags) -> Result<ExitStatus, Refusal> {
    match &flags.command {
        AgentsCommand::Run(flags) => run::run(flags),
        AgentsCommand::Check(flags) => check::run(flags),
        AgentsCommand::Key(flags) => key::run(flags),
        AgentsCommand::Trust(flags) => trust::run(flags),
        AgentsCommand::Slurm(flags) => slurm::run(flags),
        AgentsCommand::K8s(flags) => k8s::run(flags),
        AgentsCommand::Nats(flags) => nats::run(flags),
    }
}
