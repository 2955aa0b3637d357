//! What a command returns to the shell: its result on standard output, its exit code, or why it was refused.

use std::process::ExitCode;

pub(crate) use lab::Refusal;

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

/// Writes a result on standard output.
pub(crate) fn print(text: &str) -> Result<ExitStatus, Refusal> {
    terminal::print(text).map_err(|error| Refusal::new(format!("standard output: {error}")))?;
    Ok(ExitStatus::Yes)
}
