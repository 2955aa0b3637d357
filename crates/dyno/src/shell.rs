//! What a command returns to the shell: its exit code, or why it was refused.

use std::fmt;
use std::process::ExitCode;

/// The exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    Yes = 0,
    No = 1,
    CouldNotTell = 2,
    Interrupted = 130,
}

impl From<ExitStatus> for ExitCode {
    fn from(answer: ExitStatus) -> ExitCode {
        ExitCode::from(answer as u8)
    }
}

/// Why a command was not carried out. It ends with what to do about it.
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
