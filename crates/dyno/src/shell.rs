//! What a command returns to the shell: its result on standard output, its exit code, or why it was refused.

use std::process::ExitCode;

pub(crate) use lab::Refusal;
use lab::command::shown;

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

/// What a command found, as far as its exit code depends on it. docs/exit-codes.md says what is which, for each command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) is_interrupted: bool,
    /// Something is not as it was to be, and that is certain.
    pub(crate) has_failed: bool,
    /// Something could not be judged.
    pub(crate) is_unknown: bool,
}

/// The exit code: what is known to be wrong outweighs what is not known.
pub(crate) fn status(found: Found) -> ExitStatus {
    match found {
        Found { is_interrupted: true, .. } => ExitStatus::Interrupted,
        Found { has_failed: true, .. } => ExitStatus::No,
        Found { is_unknown: true, .. } => ExitStatus::CouldNotTell,
        Found { .. } => ExitStatus::Yes,
    }
}

/// Writes a result on standard output.
pub(crate) fn print(text: &str) -> Result<ExitStatus, Refusal> {
    terminal::print(text)?;
    Ok(ExitStatus::Yes)
}

/// The command as it was typed.
pub(crate) fn command_line() -> String {
    shown(&words_of_command())
}

/// The command without the names and passwords of URLs, which may be why it was refused.
pub(crate) fn command_line_without_passwords() -> String {
    let words = words_of_command();
    shown(&words.iter().map(|word| units::without_password(word)).collect::<Vec<_>>())
}

fn words_of_command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("dyno".to_string()).chain(words).collect()
}
