//! The commands, a file for each.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod capacity;
mod charts;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod gate;
mod help;
pub(crate) mod hold;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod publish;
pub(crate) mod race;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod trend;
pub(crate) mod view;
pub(crate) mod warden;

pub(crate) use help::{in_groups, with_places};

use clap::Subcommand;

/// What dyno is to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Load one server and watch it live
    Load(Box<crate::order::flags::LoadFlags>),
    Hold(Box<hold::HoldFlags>),
    Race(Box<race::RaceFlags>),
    Capacity(Box<capacity::CapacityFlags>),
    Gate(Box<gate::GateFlags>),
    Run(Box<run::RunFlags>),
    Check(Box<check::CheckFlags>),
    Report(report::ReportFlags),
    Compare(compare::CompareFlags),
    Trend(trend::TrendFlags),
    View(view::ViewFlags),
    Audit(audit::AuditFlags),
    Publish(publish::PublishFlags),
    /// Run dyno's own server: known delays, scripted faults, and a record of what it did
    Serve(Box<serve::ServeFlags>),
    Servers(servers::ServersFlags),
    Runs(runs::RunsFlags),
    Agents(agents::AgentsFlags),
    #[command(hide = true)]
    Completions(completions::CompletionsFlags),
    #[command(hide = true)]
    Man(man::ManFlags),
    /// Start a subject, and leave nothing of it behind: dyno's own child
    #[command(hide = true)]
    Warden,
}
