//! Agents of a command: met before anything is measured, refused and interrupted like everything else.

use std::net::SocketAddr;
use std::path::PathBuf;

use agents::{AgentGroup, LoadsError, Place, Wish};
use load::Halt;

use crate::shell::Refusal;

/// Meets the agents of a place, which are to load these targets; the others go on when one is lost. None: interrupted.
pub(crate) fn meet(
    place: &Place,
    targets: &[SocketAddr],
    halt: &Halt,
) -> Result<Option<AgentGroup>, Refusal> {
    let program = own_program()?;
    uninterrupted(AgentGroup::meet(&Wish { place, program, targets, goes_on: true }, halt))
}

/// The program that this is, by whose commands agents are started.
pub(crate) fn own_program() -> Result<PathBuf, Refusal> {
    std::env::current_exe()
        .map_err(|error| Refusal::new(format!("dyno's own program is not found: {error}")))
}

/// None, with a word to the user, if it was interrupted before anything was measured.
pub(crate) fn uninterrupted<T>(result: Result<T, LoadsError>) -> Result<Option<T>, Refusal> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(LoadsError::Refused(says) | LoadsError::Lost(says)) => Err(Refusal::new(says)),
        Err(error @ LoadsError::Interrupted) => {
            terminal::notice(&format!("dyno: {error}"));
            Ok(None)
        }
    }
}

/// Each machine has a loopback of its own.
pub(crate) fn warn_of_loopback(targets: &[SocketAddr]) {
    if let Some(target) = targets.iter().find(|target| target.ip().is_loopback()) {
        terminal::notice(&format!(
            "dyno: warning: at {target} each agent loads its own machine; to load one server, give an address that all of them \
             reach"
        ));
    }
}
