//! The queue itself: when each request's service begins and ends, from the instants of arrival alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Collapse, Queue, QueueError};
use crate::delays::{Delay, Stall};
use crate::dice::Dice;

/// Nothing ends later than this: 146 years after the start.
const NEVER: u64 = u64::MAX / 4;
/// The dice of the services and of the lottery are no thread's dice.
const SERVICES: u64 = 0x73_6572_7669_6365;
const LOTTERY: u64 = 0x6c_6f74_7465_7279;

/// The servers and those who wait for them, also for simulations. All instants are nanoseconds since the start.
///
/// ```
/// # use oracle::{Queue, Servers};
/// let mut servers = Servers::new(&Queue::of("constant:10ms".parse()?), None)?;
/// assert_eq!(servers.serve(0, None).done_ns, 10_000_000);
/// assert_eq!(servers.serve(4_000_000, None).waited_ns, 6_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Servers {
    service: Delay,
    dice: Dice,
    /// When each server will be free.
    free_ns: BinaryHeap<Reverse<u64>>,
    speed: f64,
    collapse: Option<Collapse>,
    collapsed_ns: Option<u64>,
    /// When no server works.
    stall: Option<Stall>,
}

/// One request's way through the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// How long it waited for a server.
    pub waited_ns: u64,
    /// How long its service takes, without freezes.
    pub service_ns: u64,
    /// When its service is done.
    pub done_ns: u64,
}

impl Servers {
    /// A fresh process's servers, which stand still in the stall.
    ///
    /// # Errors
    /// If there can be no such queue.
    pub fn new(queue: &Queue, stall: Option<Stall>) -> Result<Servers, QueueError> {
        queue.check()?;
        let luck = 2.0 * Dice::seeded(queue.seed ^ LOTTERY).unit() - 1.0;
        Ok(Servers {
            service: queue.service,
            dice: Dice::seeded(queue.seed ^ SERVICES),
            free_ns: (0..queue.servers).map(|_| Reverse(0)).collect(),
            speed: 1.0 + queue.lottery * luck,
            collapse: queue.collapse,
            collapsed_ns: None,
            stall,
        })
    }

    /// A request that has arrived, with a law of its own or without: it is served when those before it have left a server
    /// free. Whether it is answered in time, or at all, changes nothing for those behind it.
    pub fn serve(&mut self, arrived_ns: u64, own: Option<Delay>) -> Served {
        let drawn_ns = own.unwrap_or(self.service).draw_ns(&mut self.dice) as f64;
        let Some(mut soonest) = self.free_ns.peek_mut() else {
            // A queue without servers is refused at the start.
            return Served { waited_ns: 0, service_ns: 0, done_ns: arrived_ns };
        };
        let Reverse(free_ns) = *soonest;
        let begun_ns = arrived_ns.max(free_ns);
        let begun_ns = self.stall.and_then(|stall| stall.thaw_ns(begun_ns)).unwrap_or(begun_ns);
        let waited_ns = begun_ns - arrived_ns;
        if let Some(collapse) = self.collapse
            && collapse.above.as_nanos() < u128::from(waited_ns)
        {
            self.collapsed_ns.get_or_insert(arrived_ns);
        }
        let slower = match (self.collapsed_ns, self.collapse) {
            (Some(_), Some(collapse)) => collapse.slower,
            (None, _) | (_, None) => 1.0,
        };
        let service_ns = (drawn_ns * slower / self.speed) as u64;
        let done_ns = match self.stall {
            Some(stall) => stall.done_ns(begun_ns, service_ns),
            None => begun_ns + service_ns,
        };
        let done_ns = done_ns.min(NEVER);
        *soonest = Reverse(done_ns);
        Served { waited_ns, service_ns, done_ns }
    }

    /// How fast this process is, where the law's own speed is 1.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// When the request arrived that had to wait too long, if service has collapsed.
    #[must_use]
    pub fn collapsed_ns(&self) -> Option<u64> {
        self.collapsed_ns
    }
}

#[cfg(test)]
mod tests;
