//! The commands, a file for each.

pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod calibrate;
pub(crate) mod capacity;
mod charts;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod hold;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod prune;
pub(crate) mod race;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod trend;
pub(crate) mod view;
pub(crate) mod warden;

use clap::Subcommand;

/// What dyno is to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    Race(Box<race::RaceFlags>),
    Capacity(Box<capacity::CapacityFlags>),
    Run(Box<run::RunFlags>),
    Report(report::ReportFlags),
    Compare(compare::CompareFlags),
    Gate(Box<gate::GateFlags>),
    Trend(trend::TrendFlags),
    Audit(audit::AuditFlags),
    View(view::ViewFlags),
    Check(Box<check::CheckFlags>),
    /// Load one server and watch it live
    Load(Box<crate::order::flags::LoadFlags>),
    Requests(requests::RequestsFlags),
    Hold(Box<hold::HoldFlags>),
    Agent(Box<agent::AgentFlags>),
    Agents(Box<agents::AgentsFlags>),
    /// Show subjects, workloads and experiments, and what is missing on this machine
    List(list::ListFlags),
    Setup(setup::SetupFlags),
    Init(init::InitFlags),
    New(Box<new::NewFlags>),
    Rm(rm::RmFlags),
    Prune(prune::PruneFlags),
    Export(export::ExportFlags),
    Import(import::ImportFlags),
    /// Start a subject, and leave nothing of it behind: dyno's own child
    #[command(hide = true)]
    Warden,
    /// Run the oracle: a reference server with known delays and scripted faults
    Serve(Box<serve::ServeFlags>),
    /// Measure how fast and how punctual dyno is on this machine
    Calibrate(calibrate::CalibrateFlags),
    Completions(completions::CompletionsFlags),
    Man(man::ManFlags),
}
