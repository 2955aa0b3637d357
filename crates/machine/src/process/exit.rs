//! How a process ended, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this status.
    Status(i32),
    Signal(i32),
    /// By a signal for which neither the kernel nor its own fault is a reason, and which dyno did not send.
    Killed(i32),
    /// The kernel killed it, because its cgroup was out of memory.
    OutOfMemory,
    /// Its end was not observed: the warden was killed.
    Unseen,
}

impl Exit {
    /// The end by a signal before dyno wanted the end. Faults of a program have signals of their own; for these the
    /// kernel has no reason in a session without a terminal, but for KILL the want of memory.
    pub(super) fn by_signal(signal: i32) -> Exit {
        match name(signal) {
            Some("HUP" | "INT" | "QUIT" | "KILL" | "TERM") => Exit::Killed(signal),
            Some(_) | None => Exit::Signal(signal),
        }
    }

    /// The exit, corrected by the number of processes of the cgroup that the kernel killed for want of memory; none
    /// where the kernel does not count them.
    pub(super) fn with_kills_for_memory(self, kills: Option<u64>) -> Exit {
        match (self, kills) {
            // A parent that loses a child to the kernel often exits with a status of its own.
            (Exit::Status(1..), Some(1..)) => Exit::OutOfMemory,
            (Exit::Signal(_) | Exit::Killed(_) | Exit::Unseen, Some(1..)) => Exit::OutOfMemory,
            (Exit::Killed(KILL), None) => Exit::Signal(KILL),
            (exit, _) => exit,
        }
    }
}

/// The signal by which the kernel kills for want of memory.
const KILL: i32 = 9;

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "exit status {status}"),
            Exit::Signal(signal) => match name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Exit::Killed(signal) => {
                write!(
                    f,
                    "{}, sent by another process or by the server itself, not by dyno",
                    Exit::Signal(*signal)
                )
            }
            Exit::OutOfMemory => f.write_str("out of memory: killed by the kernel"),
            Exit::Unseen => f.write_str("ended unseen: its warden was killed"),
        }
    }
}

/// The signals by which servers end.
fn name(signal: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 14] = [
        (1, "HUP"),
        (2, "INT"),
        (3, "QUIT"),
        (4, "ILL"),
        (5, "TRAP"),
        (6, "ABRT"),
        (7, "BUS"),
        (8, "FPE"),
        (9, "KILL"),
        (10, "USR1"),
        (11, "SEGV"),
        (12, "USR2"),
        (13, "PIPE"),
        (15, "TERM"),
    ];
    NAMES.into_iter().find(|(number, _)| *number == signal).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_said_in_words() {
        assert_eq!(Exit::Status(3).to_string(), "exit status 3");
        assert_eq!(Exit::Signal(9).to_string(), "signal 9 (KILL)");
        assert_eq!(Exit::Signal(42).to_string(), "signal 42");
    }

    #[test]
    fn the_kernels_kills_explain_an_end_that_was_no_success() {
        assert_eq!(Exit::Killed(9).with_kills_for_memory(Some(1)), Exit::OutOfMemory);
        assert_eq!(Exit::Status(1).with_kills_for_memory(Some(2)), Exit::OutOfMemory);
        assert_eq!(Exit::Status(0).with_kills_for_memory(Some(2)), Exit::Status(0));
        assert_eq!(Exit::Signal(9).with_kills_for_memory(Some(0)), Exit::Signal(9));
        assert_eq!(Exit::OutOfMemory.to_string(), "out of memory: killed by the kernel");
    }

    #[test]
    fn a_kill_by_another_process_is_no_crash_where_that_can_be_known() {
        assert_eq!(
            [9, 15, 1, 11, 6].map(Exit::by_signal),
            [Exit::Killed(9), Exit::Killed(15), Exit::Killed(1), Exit::Signal(11), Exit::Signal(6)]
        );
        assert_eq!(Exit::Killed(9).with_kills_for_memory(Some(0)), Exit::Killed(9));
        assert_eq!(Exit::Killed(15).with_kills_for_memory(None), Exit::Killed(15));
        // Without the kernel's count it may have been the kernel.
        assert_eq!(Exit::Killed(9).with_kills_for_memory(None), Exit::Signal(9));
        let says = "signal 9 (KILL), sent by another process or by the server itself, not by dyno";
        assert_eq!(Exit::Killed(9).to_string(), says);
    }
}
