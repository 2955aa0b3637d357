//! Whether a server lives while it is loaded: if it ends, or the trial is to end, so does the load.

use std::time::{Duration, Instant};

use load::{Halt, Nanos};
use machine::process::Exit;

use super::{Ended, outcome};
use crate::record::{Outcome, OutcomeKind};

pub(super) struct Lookout<'l> {
    ended: Ended<'l>,
    began: Instant,
    halt: &'l Halt,
    /// Ends the load.
    stop: &'l Halt,
    died: Option<(Duration, Exit)>,
}

impl<'l> Lookout<'l> {
    pub(super) fn new(
        ended: Ended<'l>,
        began: Instant,
        halt: &'l Halt,
        stop: &'l Halt,
    ) -> Lookout<'l> {
        Lookout { ended, began, halt, stop, died: None }
    }

    pub(super) fn look(&mut self) {
        if self.died.is_none() {
            self.died = (self.ended)().map(|exit| (self.began.elapsed(), exit));
        }
        if self.died.is_some() || self.halt.is_asked() {
            self.stop.ask();
        }
    }

    /// An error if the server was seen to end. The load began so long after the trial.
    pub(super) fn has_survived(&self, load_began: Nanos) -> Result<(), Outcome> {
        let Some((after, exit)) = &self.died else { return Ok(()) };
        let after_s = after.as_secs_f64() - load_began as f64 / 1e9;
        let says = format!("it ended {after_s:.1} s after the load began: {exit}");
        Err(outcome(OutcomeKind::Died, says))
    }
}
