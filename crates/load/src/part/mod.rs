//! What the lanes of one process have recorded, as a value that can be sent; and the parts of all processes, put
//! together. No part is averaged or rounded, so it does not matter how many there are, nor in which order they come.

mod check;
mod identities;
mod parts;
mod stretches;
mod summary;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::failure::Failure;
use crate::order::{Order, Share};
use crate::plan::Plan;
use crate::recording::{Connections, LaneReport};
use crate::section::Section;
use crate::silence::Quiet;
use crate::tally::{Tally, add};
pub(crate) use check::{
    BYTES_MAX, Bounds, COUNT_MAX, check_distribution, check_folded, check_security, check_still,
    check_tally, no_more, true_or,
};
pub use parts::Parts;
pub(crate) use stretches::Stretches;
pub use summary::PartSummary;

/// What the lanes of one share of a load have recorded, with all that is judged only when all shares are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub(crate) share: Share,
    /// Its lanes, those for which there was nothing to do included.
    pub(crate) lanes: usize,
    /// The length of the shortest windows.
    pub(crate) width: Nanos,
    /// The measured time.
    pub(crate) total: Tally,
    pub(crate) windows: Stretches,
    /// One for each lane that had something to do.
    pub(crate) reports: Vec<LaneReport>,
    pub(crate) sections: Vec<Section>,
    /// Where none of its lanes had right answers.
    pub(crate) quiet: Quiet,
    /// Connections of the warm-up, where they are not kept, and where the measured time has not begun.
    pub(crate) begun_before: Connections,
    /// How long after its origin the last of its lanes began.
    pub(crate) began_late: Nanos,
    /// The measured time ends here: as planned, or sooner if the load was stopped.
    pub(crate) until: Nanos,
    pub(crate) was_halted: bool,
    /// Why it stopped by itself; only a part that is the whole does so.
    pub(crate) gave_up: Option<Failure>,
}

impl Part {
    /// The part of this process before anything has happened.
    pub(crate) fn new(order: &Order, plan: &Plan) -> Part {
        let report = |number: usize| LaneReport {
            cpu: (!order.cpus.is_empty()).then(|| order.cpus[number % order.cpus.len()]),
            ..LaneReport::default()
        };
        Part {
            share: Share { first: order.first_lane(), of: order.lanes_in_all() },
            lanes: order.lanes,
            width: plan.times.width,
            total: Tally::new(plan.times.longest),
            windows: Stretches::default(),
            reports: (0..plan.own.len()).map(report).collect(),
            sections: Vec::new(),
            quiet: Quiet::always(),
            begun_before: Connections::default(),
            began_late: 0,
            until: plan.times.measured.end,
            was_halted: false,
            gave_up: None,
        }
    }

    /// How long after its origin the last of its lanes began.
    #[must_use]
    pub fn began_late(&self) -> Nanos {
        self.began_late
    }

    /// When its last window ended.
    pub(crate) fn ended(&self) -> Nanos {
        self.windows.last().map_or(0, |window| window.until)
    }

    pub(crate) fn add_sections(&mut self, others: Vec<Section>) {
        match self.sections.is_empty() {
            true => self.sections = others,
            false => {
                self.sections.iter_mut().zip(&others).for_each(|(all, one)| all.merge(one));
            }
        }
    }
}

/// Whether anything has worked so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlook {
    answered: u64,
    failed: [u64; Failure::COUNT],
    now: Nanos,
}

/// After nothing but refusals for this long, a load is given up.
const REFUSED_FOR: Nanos = 3_000_000_000;

impl Default for Outlook {
    fn default() -> Outlook {
        Outlook { answered: 0, failed: [0; Failure::COUNT], now: 0 }
    }
}

impl Outlook {
    /// A stretch of time is over in which there were so many right answers and failures.
    pub(crate) fn see(&mut self, until: Nanos, answered: u64, failed: &[u64; Failure::COUNT]) {
        self.answered += answered;
        add(&mut self.failed, failed);
        self.now = self.now.max(until);
    }

    /// The reason to give up, if nothing has worked from the start and for long enough. `is_limited`: the load ends by
    /// itself after a while.
    pub(crate) fn reason_to_give_up(&self, timeout: Nanos, is_limited: bool) -> Option<Failure> {
        if 0 < self.answered {
            return None;
        }
        let (index, &most) = self.failed.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let failure = Failure::ALL[index];
        let is_refused = failure.is_unreached() && !failure.is_censored();
        let is_long = REFUSED_FOR <= self.now && is_refused
            || REFUSED_FOR.saturating_add(timeout.saturating_mul(2)) <= self.now && !is_limited;
        (0 < most && is_long).then_some(failure)
    }
}
