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
    /// The kernel killed it, because its cgroup was out of memory.
    OutOfMemory,
    /// Its end was not observed: the warden was killed.
    Unseen,
}

impl Exit {
    /// The exit, corrected by the number of processes of the cgroup that the kernel killed for want of memory.
    pub(super) fn with_kills_for_memory(self, kills: u64) -> Exit {
        match self {
            // A parent that loses a child to the kernel often exits with a status of its own.
            Exit::Status(status) if status != 0 && 0 < kills => Exit::OutOfMemory,
            Exit::Signal(_) | Exit::Unseen if 0 < kills => Exit::OutOfMemory,
            Exit::Status(_) | Exit::Signal(_) | Exit::OutOfMemory | Exit::Unseen => self,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "exit status {status}"),
            Exit::Signal(signal) => match name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
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
        assert_eq!(Exit::Signal(9).with_kills_for_memory(1), Exit::OutOfMemory);
        assert_eq!(Exit::Status(1).with_kills_for_memory(2), Exit::OutOfMemory);
        assert_eq!(Exit::Status(0).with_kills_for_memory(2), Exit::Status(0));
        assert_eq!(Exit::Signal(9).with_kills_for_memory(0), Exit::Signal(9));
        assert_eq!(Exit::OutOfMemory.to_string(), "out of memory: killed by the kernel");
    }
}
