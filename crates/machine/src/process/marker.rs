//! The name that every process and every cgroup of a trial carries: it says which dyno made them, so that the leftovers
//! of a dead dyno can be distinguished from everything else.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, getpid};

use super::stat::Stat;

/// The variable that carries it.
pub const VARIABLE: &str = "DYNO_TRIAL";

/// `dyno-SPACE-PID-START-NUMBER`: a dyno, identified by its process and the time at which that started, and a number of
/// its own. Both mean nothing outside of the dyno's own PID and time namespaces, which `SPACE` identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    space: u32,
    owner: u32,
    /// Clock ticks since the machine started: a process id is used again, the pair is not.
    started: u64,
    number: u32,
}

impl Marker {
    /// A marker of this process, with a number that it uses once.
    #[must_use]
    pub fn unique() -> Marker {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let owner = getpid().as_raw_nonzero().get().unsigned_abs();
        let started = Stat::of(owner).map_or(0, |stat| stat.started);
        Marker { space: space(), owner, started, number }
    }

    /// The process of the dyno that made it, and whether that is still alive; none if it is of another PID or time
    /// namespace, where this process cannot see it.
    #[must_use]
    pub fn owner(&self) -> Option<(u32, bool)> {
        let is_alive =
            |stat: Stat| stat.started == self.started && self.started != 0 && !stat.is_dead();
        let is_seen = self.space != 0 && self.space == space();
        is_seen.then(|| (self.owner, Stat::of(self.owner).is_some_and(is_alive)))
    }

    /// Whether its dyno is known to be dead. One that cannot be seen is not.
    #[must_use]
    pub fn owner_is_dead(&self) -> bool {
        matches!(self.owner(), Some((_, false)))
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
        write!(f, "dyno-{:x}-{}-{}-{}", self.space, self.owner, self.started, self.number)
    }
}

/// This process's PID and time namespaces, as one number; 0 where `/proc` shows the processes of other ones.
fn space() -> u32 {
    let shown = std::fs::read_link("/proc/self").ok();
    let shown = shown.and_then(|link| link.to_str()?.parse().ok());
    let inode = |name: &str| std::fs::metadata(format!("/proc/self/ns/{name}")).ok();
    let inode = |name: &str| inode(name).map_or(0, |file| file.ino() as u32);
    let is_own = shown == Some(getpid().as_raw_nonzero().get());
    // Any odd factor: two numbers that are close to each other are not to add up to those of other namespaces.
    let both = inode("pid").wrapping_mul(0x9e37_79b1) ^ inode("time");
    if is_own { both } else { 0 }
}

/// The text is not `dyno-SPACE-PID-START-NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMarker;

impl FromStr for Marker {
    type Err = NoMarker;

    fn from_str(text: &str) -> Result<Marker, NoMarker> {
        let mut parts = text.strip_prefix("dyno-").ok_or(NoMarker)?.split('-');
        let mut part = || parts.next().ok_or(NoMarker);
        let marker = Marker {
            space: u32::from_str_radix(part()?, 16).map_err(|_| NoMarker)?,
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
        let marker = Marker::unique();
        assert_eq!(marker.to_string().parse(), Ok(marker));
        assert_eq!(marker.owner(), Some((std::process::id(), true)));
    }

    #[test]
    fn nothing_else_is_a_marker() {
        for text in
            ["", "dyno-1-2-3", "dyno-f-1-2-3-4", "dyno-f-+1-2-3", "dyno-0f-1-2-3", "dyno-f-0-2-3"]
        {
            assert_eq!(text.parse::<Marker>(), Err(NoMarker), "{text}");
        }
    }

    #[test]
    fn a_process_id_that_came_again_is_not_the_owner() {
        let later = Marker { started: 1, ..Marker::unique() };
        assert!(later.owner_is_dead());
    }

    #[test]
    fn an_owner_that_cannot_be_seen_is_not_dead() {
        let own = Marker::unique();
        let elsewhere = Marker { space: own.space ^ 1, started: 1, ..own };
        assert_eq!((elsewhere.owner(), elsewhere.owner_is_dead()), (None, false));
        let unknown = Marker { space: 0, started: 1, ..own };
        assert!(!unknown.owner_is_dead());
    }

    #[test]
    fn only_the_variable_itself_counts() {
        let marker = Marker::unique();
        let has = format!("PATH=/bin\0DYNO_TRIAL={marker}\0HOME=/");
        assert_eq!(Marker::in_environment(has.as_bytes()), Some(marker));
        let has_not = format!("MY_DYNO_TRIAL={marker}\0NOTE=DYNO_TRIAL={marker}\0DYNO_TRIALS=1");
        assert_eq!(Marker::in_environment(has_not.as_bytes()), None);
    }
}
