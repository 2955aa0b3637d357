//! A row that is inserted into a table of the service while the server is under load: later answers must have it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use load::{Halt, Nanos, Order, monotonic_ns};
use wire::{Chance, Insertion, Meaning};

use super::Trial;
use crate::plan::seed_of;
use crate::record::INSERTED;
use crate::service::RunningService;
use machine::Fact;

/// What is inserted where, and when.
pub(super) struct Inserting<'a> {
    service: &'a RunningService,
    halt: &'a Halt,
    /// One for each kind of request whose answers must have the row.
    insertions: Vec<Insertion>,
    /// When the load's clock begins, on the machine's monotonic clock.
    origin_ns: Nanos,
    /// On the load's clock.
    at: Nanos,
}

/// The load begins so much later, so that its clock is known before.
const AHEAD_NS: Nanos = 20_000_000;
/// Where nothing but the number of requests ends the measured time, the row is inserted within so much of its beginning.
const SOON_NS: Nanos = 200_000_000;

impl<'a> Trial<'a, '_> {
    /// What is to be inserted during this load, the clock of which is then fixed.
    pub(super) fn inserting(&self, order: &mut Order) -> Option<Inserting<'a>> {
        let insertion = |rule: &Meaning| match rule {
            Meaning::Fortunes { insertion, .. } => Some(insertion.clone()),
            _ => None,
        };
        let asks = order.asks.iter().filter_map(|ask| ask.expect.meaning());
        let insertions: Vec<Insertion> = asks.filter_map(insertion).collect();
        let service = self.service.filter(|_| !insertions.is_empty())?;
        let measured = order.measured();
        let length = match measured.end {
            Nanos::MAX => SOON_NS,
            end => end.saturating_sub(measured.start),
        };
        // In the middle half: there are many answers on either side.
        let mut chance = Chance::new(seed_of(self.setup.experiment.seed, self.key));
        let part = length / 4 + length / 2 * chance.below(1_000) as u64 / 1_000;
        let origin_ns = monotonic_ns() + AHEAD_NS;
        order.origin = Some(origin_ns);
        Some(Inserting {
            service,
            halt: self.halt,
            insertions,
            origin_ns,
            at: measured.start + part,
        })
    }
}

impl Inserting<'_> {
    /// Waits for the instant, and inserts the row; unless the load is over before.
    fn insert(&self, is_over: &Receiver<()>) -> Fact {
        let left = (self.origin_ns + self.at).saturating_sub(monotonic_ns());
        let seconds = |ns: Nanos| format!("{:.3} s", Duration::from_nanos(ns).as_secs_f64());
        let value = match is_over.recv_timeout(Duration::from_nanos(left)) {
            Err(RecvTimeoutError::Timeout) => match self.service.insert(&|| self.halt.is_asked()) {
                Ok(()) => {
                    let at = monotonic_ns() - self.origin_ns;
                    self.insertions.iter().for_each(|insertion| insertion.committed(at));
                    format!("a row of `fortune`, {} after the load had begun", seconds(at))
                }
                Err(says) => format!("not: {says}"),
            },
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                format!("not: the load was over before {}", seconds(self.at))
            }
        };
        Fact { name: INSERTED.into(), value }
    }
}

/// Does this while the row is inserted, if one is.
pub(super) fn beside<T>(
    inserting: Option<&Inserting<'_>>,
    facts: &mut Vec<Fact>,
    press: impl FnOnce() -> T,
) -> T {
    let Some(inserting) = inserting else { return press() };
    std::thread::scope(|scope| {
        let (over, is_over) = channel();
        let inserted = scope.spawn(move || inserting.insert(&is_over));
        let pressed = press();
        drop(over);
        facts.extend(inserted.join());
        pressed
    })
}
