//! How a run ends early: an end is requested, and all lanes end at one instant.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Nanos;

/// Asks a run to end early; it still reports what it measured.
#[derive(Debug, Default)]
pub struct Halt {
    asked: AtomicBool,
    /// On the machine's monotonic clock; 0: as soon as possible.
    at: AtomicU64,
}

impl Halt {
    /// Stops new requests; requests under way get a short while to finish.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Stops new requests at this instant of the machine's monotonic clock, in nanoseconds, on which several processes
    /// can agree. It should lie a little in the future: a quarter of a second, or two windows if those are longer. Held
    /// connections end at it; a load, with the first window that ends at it or later, and no sooner than with the
    /// windows that its lanes are in. In turns with other loads, a load ends as soon as possible.
    pub fn ask_at(&self, nanos: u64) {
        self.at.store(nanos, Ordering::Relaxed);
        self.asked.store(true, Ordering::Release);
    }

    pub(crate) fn at(&self) -> Option<u64> {
        let at = self.at.load(Ordering::Relaxed);
        (0 < at).then_some(at)
    }

    /// Whether an early end was requested.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }
}

/// Nothing starts from this instant on. It is the same for all lanes, and lies a little ahead of its agreement, so that
/// they all end at the same time.
#[derive(Debug)]
pub(crate) struct StopTime {
    at: AtomicU64,
}

impl StopTime {
    pub(crate) fn open() -> StopTime {
        StopTime { at: AtomicU64::new(Nanos::MAX) }
    }

    pub(crate) fn agree_on(&self, at: Nanos) {
        self.at.fetch_min(at, Ordering::Relaxed);
    }

    pub(crate) fn agreed(&self) -> Option<Nanos> {
        let at = self.at.load(Ordering::Relaxed);
        (at < Nanos::MAX).then_some(at)
    }
}
