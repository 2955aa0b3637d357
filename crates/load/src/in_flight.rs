//! How many exchanges of a lane are between sent and ended, integrated over time.

use crate::Nanos;
use crate::tally::Tally;

#[derive(Debug, Default)]
pub(crate) struct InFlight {
    all: u64,
    /// Of them, those of the measured time.
    measured: u64,
    /// Counted until then.
    since: Nanos,
}

impl InFlight {
    pub(crate) fn count(&mut self, now: Nanos, window: &mut Tally) {
        let time = u128::from(now.saturating_sub(self.since));
        window.in_flight_area += u128::from(self.all) * time;
        window.flight.area += u128::from(self.measured) * time;
        self.since = self.since.max(now);
    }

    pub(crate) fn takes_off(&mut self, is_measured: bool) {
        self.all += 1;
        self.measured += u64::from(is_measured);
    }

    pub(crate) fn lands(&mut self, is_measured: bool) {
        self.all -= 1;
        self.measured -= u64::from(is_measured);
    }
}
