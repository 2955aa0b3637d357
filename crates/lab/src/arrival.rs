//! When a subject is ready: it has given its first right answer, and that answer is its own.

use std::time::{Duration, Instant};

use crate::record::{Check, Outcome, OutcomeKind};
use machine::process::{Exit, Running};
use machine::sockets::{Ownership, owner_is_among};

/// The time between two attempts to get a first answer.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(2);
/// How long an answer may take, for readiness and for checks.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why there was no first right answer.
#[derive(Debug)]
pub(crate) enum Absence {
    /// The user asked for the end.
    Halted,
    /// The subject's process ended first.
    Ended(Exit),
    /// The time was over; this is the last attempt that shows anything.
    Late(Option<Box<Check>>),
}

/// After so many attempts in vain the subject is looked for on other ports.
const BETWEEN_SEARCHES: u32 = 25;

/// Asks until the answer is right, or until the deadline, and returns that answer; `seek` looks for the subject on
/// other ports.
pub(crate) fn first_answer(
    running: &mut Running,
    deadline: Instant,
    is_halted: &dyn Fn() -> bool,
    seek: &dyn Fn(&Running),
    ask: &dyn Fn(Duration) -> Check,
) -> Result<Check, Absence> {
    let mut last: Option<Check> = None;
    for attempt in 1.. {
        if is_halted() {
            return Err(Absence::Halted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Absence::Late(last.map(Box::new)));
        }
        let check = ask(left.min(PATIENCE));
        if check.wrong.is_none() {
            return Ok(check);
        }
        if let Some(exit) = running.ended() {
            return Err(Absence::Ended(exit));
        }
        // An attempt that received bytes says more than one that the deadline cut short.
        if !check.response.is_empty() || last.as_ref().is_none_or(|it| it.response.is_empty()) {
            last = Some(check);
        }
        if attempt % BETWEEN_SEARCHES == 0 {
            seek(running);
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
    unreachable!("attempts do not end by themselves")
}

/// The message for a deadline that is over.
pub(crate) fn too_late(waited: Duration, last: Option<&Check>) -> String {
    let wrong = last.and_then(|check| check.wrong.as_deref()).unwrap_or_default();
    format!("no right answer within {} s; the last attempt: {wrong}", waited.as_secs_f64())
}

/// *Asking the wrong server* is the worst error: only the subject's own processes may listen. If no process listens,
/// the questions will find that out.
pub(crate) fn foreign_listener(port: u16, running: &Running) -> Option<String> {
    match owner_is_among(port, &running.tree()) {
        Ok(Ownership::Theirs | Ownership::NoListener) => None,
        Ok(Ownership::Another(Some(pid), name)) => {
            Some(format!("port {port} is process {pid}'s (`{name}`), which is not the server's"))
        }
        Ok(Ownership::Another(None, name)) => {
            Some(format!("port {port} belongs to another program ({name})"))
        }
        Err(error) => Some(format!("which program listens on port {port} is not known: {error}")),
    }
}

/// How often a subject is started again, each time on another port, if it finds its port taken.
pub(crate) const OTHER_PORTS: u32 = 2;

/// Why a start failed.
#[derive(Debug)]
pub(crate) enum Setback {
    /// Another process had the port before the subject listened on it: another port is worth a try.
    PortTaken(String),
    /// A failure that another port would not mend.
    Final(Outcome),
}

impl From<Outcome> for Setback {
    fn from(outcome: Outcome) -> Setback {
        Setback::Final(outcome)
    }
}

/// The outcome of a subject that found each of its ports taken.
pub(crate) fn no_port_of_its_own(says: &str) -> Outcome {
    let says = format!(
        "another process listened before the server did, on each of {} ports; the last: {says}",
        OTHER_PORTS + 1
    );
    Outcome { kind: OutcomeKind::Unable, says }
}

/// Whether a subject that ended early did so because its port was taken. The other process may be gone by now.
pub(crate) fn found_its_port_taken(tail: &[u8]) -> bool {
    let text = String::from_utf8_lossy(tail).to_lowercase();
    ["eaddrinuse", "address already in use", "address in use"].iter().any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_was_taken_is_seen_in_a_subjects_last_words() {
        for words in [
            "OSError: [Errno 98] Address already in use",
            "Error: listen EADDRINUSE: address already in use 127.0.0.1:18475",
            "listen tcp 127.0.0.1:1: bind: address already in use",
        ] {
            assert!(found_its_port_taken(words.as_bytes()), "{words}");
        }
        assert!(!found_its_port_taken(b"I was petrified"));
    }
}
