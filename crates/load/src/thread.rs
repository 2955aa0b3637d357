//! The lanes' threads, and why there may be none.

use std::fmt;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use rustix::thread::CpuSet;

use crate::engine::Epoll;
use crate::halt::StopTime;

/// Why no load could be applied at all.
#[derive(Debug)]
pub struct LoadError(String);

impl LoadError {
    pub(crate) fn new(says: String) -> LoadError {
        LoadError(says)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// What the engine of each lane needs from the kernel before any thread starts.
pub(crate) fn epolls(lanes: usize) -> Result<Vec<OwnedFd>, LoadError> {
    let refused = |error| LoadError::new(format!("cannot create an epoll instance: {error}"));
    (0..lanes).map(|_| Epoll::descriptor().map_err(refused)).collect()
}

/// Starts a lane's thread. If that fails, the lanes that already run end at once: otherwise they would run to the
/// order's end, which may never come.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    end: &StopTime,
    lane: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, LoadError> {
    Builder::new().name(name).spawn_scoped(scope, lane).map_err(|error| {
        end.agree_on(0);
        LoadError::new(format!("cannot start a thread: {error}"))
    })
}

/// Pins the thread to its CPU, if there is one, and asks the kernel to wake it punctually.
pub(crate) fn prepare(among: &[usize], number: usize) {
    if !among.is_empty() {
        let mut cpus = CpuSet::new();
        cpus.set(among[number % among.len()]);
        // A CPU that is not available was refused when the order was read; since then it may have
        // been taken away, and then the kernel's choice is the best one.
        let _ = rustix::thread::sched_setaffinity(None, &cpus);
    }
    // By default, sleeps may last 50 µs longer than requested.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}
