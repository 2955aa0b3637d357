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
    ask_for_short_slices();
}

/// A thread runs for so long until it is the turn of another that wants the same CPU. By default, it is some milliseconds.
const SLICE_NS: u64 = 500_000;

/// Lets the thread, when it wakes, go before others that have longer slices: what is due then is sent at once, even if
/// some other thread has just begun a slice on the same CPU. Its share of the CPU stays the same. Linux has this since
/// 6.12, and takes no notice before; where it is not allowed, the kernel's own slices are as good as it gets.
#[allow(unsafe_code)]
fn ask_for_short_slices() {
    // SAFETY: `attributes` is a whole and valid `sched_attr` of the size that it names, and is read only. The other calls
    // take plain values; 0 is this thread.
    unsafe {
        let attributes = libc::sched_attr {
            size: size_of::<libc::sched_attr>() as u32,
            sched_policy: 0,
            sched_flags: libc::SCHED_FLAG_KEEP_POLICY as u64,
            sched_nice: libc::getpriority(libc::PRIO_PROCESS, 0),
            sched_priority: 0,
            sched_runtime: SLICE_NS,
            sched_deadline: 0,
            sched_period: 0,
        };
        let _ = libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slice, as the kernel has it, and the niceness, which stays.
    #[allow(unsafe_code)]
    fn slice() -> (u64, i32) {
        // SAFETY: all bytes of a `sched_attr` may be zero, and the kernel writes no more than the given size.
        unsafe {
            let mut read: libc::sched_attr = std::mem::zeroed();
            let size = size_of::<libc::sched_attr>() as u32;
            assert_eq!(libc::syscall(libc::SYS_sched_getattr, 0, &raw mut read, size, 0), 0);
            (read.sched_runtime, read.sched_nice)
        }
    }

    #[test]
    fn a_lane_has_short_slices_where_the_kernel_knows_them() {
        let run = || {
            let before = slice();
            prepare(&[], 0);
            (before, slice())
        };
        let (before, after) = std::thread::spawn(run).join().unwrap();
        assert_eq!(before.1, after.1);
        // Before Linux 6.12 there are none to be read.
        assert!(after.0 == SLICE_NS || (before.0, after.0) == (0, 0), "{before:?} {after:?}");
    }
}
