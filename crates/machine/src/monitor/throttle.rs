//! How often an expensive reading is taken: at most once a second, and the more seldom the more it costs.

use std::time::{Duration, Instant};

/// The least time between two runs; and the time until the next one, as a multiple of what this one took.
const LEAST: Duration = Duration::from_secs(1);
const SHARE: u32 = 400;

/// When it is due.
#[derive(Debug)]
pub(super) struct Throttle {
    due: Instant,
}

impl Throttle {
    /// The first run is due at once.
    pub(super) fn new() -> Throttle {
        Throttle { due: Instant::now() }
    }

    /// Runs the work if it is due, or if it must be done.
    pub(super) fn run(&mut self, must: bool, work: impl FnOnce()) {
        let began = Instant::now();
        if must || self.due <= began {
            work();
            let cost = began.elapsed();
            self.due = began + LEAST.max(cost * SHARE);
        }
    }
}
