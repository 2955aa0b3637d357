//! The name that every process and every cgroup of a trial carries: it says which dyno made them, so that the leftovers
//! of a dead dyno can be distinguished from everything else.

use std::fmt;
use std::str::FromStr;

use rustix::process::{Pid, getpid};

use super::stat::Stat;

/// The variable that carries it.
pub const VARIABLE: &str = "DYNO_TRIAL";

/// `dyno-PID-START-NUMBER`: a dyno, identified by its process and the time at which that started, and a number of its
/// own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    owner: u32,
    /// Clock ticks since the machine started: a process id is used again, the pair is not.
    started: u64,
    number: u32,
}

impl Marker {
    /// A marker of this process, with a number that it uses once.
    #[must_use]
    pub fn new(number: u32) -> Marker {
        let owner = getpid().as_raw_nonzero().get().unsigned_abs();
        Marker { owner, started: Stat::of(owner).map_or(0, |stat| stat.started), number }
    }

    /// Whether the dyno that made it is still alive.
    #[must_use]
    pub fn owner_lives(&self) -> bool {
        Stat::of(self.owner).is_some_and(|stat| stat.started == self.started && !stat.is_dead())
    }

    /// The marker in a process's environment, as `/proc/PID/environ` shows it.
    #[must_use]
    pub(super) fn in_environment(environment: &[u8]) -> Option<Marker> {
        let mut variables = environment.split(|byte| *byte == 0);
        let value = variables
            .find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }

    /// The marker of a living process, if it has one and it is visible.
    pub(super) fn of(pid: u32) -> Option<Marker> {
        Marker::in_environment(&std::fs::read(format!("/proc/{pid}/environ")).ok()?)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dyno-{}-{}-{}", self.owner, self.started, self.number)
    }
}

/// The text is not `dyno-PID-START-NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMarker;

impl FromStr for Marker {
    type Err = NoMarker;

    fn from_str(text: &str) -> Result<Marker, NoMarker> {
        let mut parts = text.strip_prefix("dyno-").ok_or(NoMarker)?.split('-');
        let mut part = || parts.next().ok_or(NoMarker);
        let marker = Marker {
            owner: part()?.parse().map_err(|_| NoMarker)?,
            started: part()?.parse().map_err(|_| NoMarker)?,
            number: part()?.parse().map_err(|_| NoMarker)?,
        };
        // A text that is not written back exactly was not made by dyno: `+1`, `007`, a part too many.
        if marker.owner != 0 && marker.to_string() == text { Ok(marker) } else { Err(NoMarker) }
    }
}

/// The process with this number, if it can be one.
pub(super) fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_comes_back_as_it_went() {
        let marker = Marker::new(7);
        assert_eq!(marker.to_string().parse(), Ok(marker));
        assert!(marker.owner_lives());
    }

    #[test]
    fn nothing_else_is_a_marker() {
        for text in ["", "dyno-1-2", "dyno-1-2-3-4", "dyno-+1-2-3", "dyno-01-2-3", "dyno-0-2-3"] {
            assert_eq!(text.parse::<Marker>(), Err(NoMarker), "{text}");
        }
    }

    #[test]
    fn a_process_id_that_came_again_is_not_the_owner() {
        let later = Marker { started: 1, ..Marker::new(0) };
        assert!(!later.owner_lives());
    }

    #[test]
    fn only_the_variable_itself_counts() {
        let marker = Marker::new(3);
        let has = format!("PATH=/bin\0DYNO_TRIAL={marker}\0HOME=/");
        assert_eq!(Marker::in_environment(has.as_bytes()), Some(marker));
        let has_not = format!("MY_DYNO_TRIAL={marker}\0NOTE=DYNO_TRIAL={marker}\0DYNO_TRIALS=1");
        assert_eq!(Marker::in_environment(has_not.as_bytes()), None);
    }
}
