//! Runs the lanes and folds what they tell.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Nanos;
use crate::order::Order;
use crate::recording::{Recording, Tally};

/// Asks a run to end early; it still reports what it measured.
#[derive(Debug, Default)]
pub struct Halt {
    asked: AtomicBool,
}

impl Halt {
    /// Stops new requests; what is under way is waited for.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// What a watcher is shown, about ten times a second.
#[derive(Debug)]
pub struct Glance<'a> {
    /// On the run's clock, which starts with the warm-up.
    pub now: Nanos,
    /// Since when the newest window, all lanes together, lasts.
    pub from: Nanos,
    /// Whether it lies before the measured time.
    pub is_warmup: bool,
    /// What happened within it.
    pub window: &'a Tally,
    /// The measured time so far.
    pub total: &'a Tally,
}

/// Why nothing could be pressed at all.
#[derive(Debug)]
pub struct PressError(String);

impl fmt::Display for PressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PressError {}

/// Presses until the order is carried out, or `halt` is asked. `watch` runs on the caller's
/// thread, never on a lane's.
pub fn press(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Recording, PressError> {
    let _ = (order, halt, watch);
    Err(PressError("not written yet".into()))
}
