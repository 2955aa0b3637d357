//! When a subject has come so far that it can be asked: its first right answer, and that it is its own.

use std::time::{Duration, Instant};

use crate::process::{Exit, Running};
use crate::record::Check;
use crate::sockets::{Ownership, owner_is_among};

/// Between two attempts to get a first answer.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(2);
/// A question asked for readiness and for checks has so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why there was no first right answer.
#[derive(Debug)]
pub(crate) enum Absence {
    /// Somebody asked for the end.
    Halted,
    /// It ended before.
    Ended(Exit),
    /// The time was over; this is the last attempt that tells anything.
    Late(Option<Box<Check>>),
}

/// Asks until the answer is right, or the deadline over.
pub(crate) fn first_answer(
    running: &mut Running,
    deadline: Instant,
    is_halted: &dyn Fn() -> bool,
    ask: &dyn Fn(Duration) -> Check,
) -> Result<(), Absence> {
    let mut last: Option<Check> = None;
    loop {
        if is_halted() {
            return Err(Absence::Halted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Absence::Late(last.map(Box::new)));
        }
        let check = ask(left.min(PATIENCE));
        if check.wrong.is_none() {
            return Ok(());
        }
        if let Some(exit) = running.ended() {
            return Err(Absence::Ended(exit));
        }
        // Whatever was heard says more than an attempt that the deadline cut short.
        if !check.response.is_empty() || last.as_ref().is_none_or(|it| it.response.is_empty()) {
            last = Some(check);
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// What is said of a deadline that is over.
pub(crate) fn too_late(waited: Duration, last: Option<&Check>) -> String {
    let wrong = last.and_then(|check| check.wrong.as_deref()).unwrap_or_default();
    format!("no right answer within {} s; the last attempt: {wrong}", waited.as_secs_f64())
}

/// *Asking the wrong server* is the worst error: only the subject's own processes may listen. If nobody does, that is for
/// the questions to find out.
pub(crate) fn stranger(port: u16, running: &Running) -> Option<String> {
    match owner_is_among(port, &running.tree()) {
        Ok(Ownership::Theirs | Ownership::Nobody) => None,
        Ok(Ownership::Somebody(Some(pid), name)) => {
            Some(format!("port {port} is process {pid}'s (`{name}`), which is not the subject's"))
        }
        Ok(Ownership::Somebody(None, name)) => {
            Some(format!("port {port} is somebody else's ({name})"))
        }
        Err(error) => Some(format!("who listens on port {port} cannot be told: {error}")),
    }
}
