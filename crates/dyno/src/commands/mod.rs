//! The commands, a file each, and what they answer to the shell.

pub(crate) mod calibrate;
mod charts;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod hold;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod view;
pub(crate) mod warden;

use std::fmt;
use std::process::ExitCode;

use clap::Subcommand;

/// What dyno is asked to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    Run(run::RunFlags),
    Report(report::ReportFlags),
    Compare(compare::CompareFlags),
    View(view::ViewFlags),
    Check(Box<check::CheckFlags>),
    /// Press one address and look at it live
    Load(Box<crate::order::flags::LoadFlags>),
    Hold(Box<hold::HoldFlags>),
    /// Hold a part of many connections: dyno's own child
    #[command(hide = true)]
    Holder,
    /// Show subjects, workloads and experiments, and what is missing on this machine
    List(list::ListFlags),
    Setup(setup::SetupFlags),
    /// Start a subject, and leave nothing of it behind: dyno's own child
    #[command(hide = true)]
    Warden,
    /// Run the oracle: a reference server with known delays and scripted faults
    Serve(Box<serve::ServeFlags>),
    /// Say how fast and how punctual the instrument is on this machine
    Calibrate(calibrate::CalibrateFlags),
}

/// The exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes = 0,
    No = 1,
    CouldNotTell = 2,
    Interrupted = 130,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> ExitCode {
        ExitCode::from(answer as u8)
    }
}

/// Why a command was not carried out. It ends in the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(says: impl Into<String>) -> Refusal {
        Refusal(says.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
