//! How often something dear is done: at most once a second, and the more seldom the dearer it is.

use std::time::{Duration, Instant};

/// The least time between two, and how many times its own cost it keeps away.
const LEAST: Duration = Duration::from_secs(1);
const SHARE: u32 = 400;

/// When it is due.
#[derive(Debug)]
pub(super) struct Pace {
    due: Instant,
}

impl Pace {
    /// At once.
    pub(super) fn new() -> Pace {
        Pace { due: Instant::now() }
    }

    /// Does it if it is due, or must be done.
    pub(super) fn run(&mut self, must: bool, work: impl FnOnce()) {
        let began = Instant::now();
        if must || self.due <= began {
            work();
            let cost = began.elapsed();
            self.due = began + LEAST.max(cost * SHARE);
        }
    }
}
