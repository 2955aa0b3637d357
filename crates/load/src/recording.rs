//! What was measured: one `Recording` out of one `Order`.

use hdrhistogram::Histogram;

use crate::Nanos;
use crate::failure::Failure;

/// Everything that a run measured.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The measured time, folded.
    pub total: Tally,
    /// The same, window by window; warm-up included, and marked.
    pub windows: Vec<Window>,
    /// The generator's threads.
    pub lanes: Vec<LaneReport>,
    /// The measured time began here on the run's clock.
    pub measured_from: Nanos,
    /// The last request was due before this.
    pub measured_until: Nanos,
    /// The run's end, after what was under way had been waited for.
    pub ended: Nanos,
    /// Why it ended.
    pub end: End,
    /// The time-out in force: censored values stand for "no less than this".
    pub timeout: Nanos,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All that was ordered has been done.
    Done,
    /// Somebody asked for it.
    Halted,
    /// Nothing but failures from the start: the one seen most.
    GaveUp(Failure),
}

/// A stretch of time, folded.
#[derive(Clone, Debug)]
pub struct Window {
    /// From here on the run's clock.
    pub from: Nanos,
    /// Up to here.
    pub until: Nanos,
    /// Whether it was before the measured time.
    pub is_warmup: bool,
    /// What ended within it.
    pub tally: Tally,
}

/// Counts and distributions, mergeable without loss.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Exchanges that were due.
    pub attempted: u64,
    /// Answered as expected.
    pub correct: u64,
    /// Correct, and done inside the measured time: what a rate is made of.
    pub correct_inside: u64,
    /// Failed, by class; `Failure::ALL` has the order.
    pub failed: [u64; Failure::COUNT],
    /// Neither when the run ended. Only a run's total has any.
    pub under_way: u64,
    /// Asked during the warm-up: counted nowhere else.
    pub warmup_attempted: u64,

    /// From intended to done; with failures by time-out as censored values at the limit.
    pub response: Distribution,
    /// From sent to done.
    pub service: Distribution,
    /// From sent to the answer's first byte.
    pub first_byte: Distribution,
    /// The generator's own delay in sending what was due and had a free connection.
    pub late: Distribution,
    /// The wait for a free connection, of those that had to wait.
    pub blocked: Distribution,
    /// From the start of a connection to its establishment.
    pub connect: Distribution,

    /// Connections begun, established and failed.
    pub connections: Connections,
    /// Sessions, if the load is made of them.
    pub sessions: Sessions,
    /// Things that happened beside the exchanges.
    pub notes: Notes,
    /// Bytes written to the server.
    pub bytes_sent: u64,
    /// Bytes read from the server.
    pub bytes_received: u64,
    /// Exchanges between sent and done, integrated over time: exchange-nanoseconds.
    pub in_flight_area: u128,
    /// The same before sent: due, and not yet on the wire.
    pub waiting_area: u128,
    /// CPU time of the lanes, user and system.
    pub cpu: Nanos,
    /// Time that the lanes spent waiting for something to happen, asleep or polling.
    pub idle: Nanos,
    /// The slowest exchanges, slowest first.
    pub slowest: Vec<Slow>,
}

/// Connections of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Begun.
    pub begun: u64,
    /// Established.
    pub established: u64,
    /// Failed before they were established.
    pub failed: u64,
}

/// Sessions of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sessions {
    /// Due.
    pub attempted: u64,
    /// All calls answered as expected.
    pub complete: u64,
    /// Given up because a call failed.
    pub failed: u64,
}

/// Things that happen beside the exchanges and are no failures of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// A reused connection turned out to be closed; the request went out once more.
    pub stale_retries: u64,
    /// The server closed an idle connection.
    pub idle_closed: u64,
    /// Bytes followed a whole answer; the connection was dropped.
    pub surplus: u64,
    /// An answer came that nobody had asked for; the connection was dropped.
    pub unsolicited: u64,
}

/// One slow exchange, kept whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// When it was meant to leave.
    pub intended: Nanos,
    /// When its first byte was written.
    pub sent: Nanos,
    /// When the answer's first byte came.
    pub first_byte: Nanos,
    /// When the answer was whole.
    pub done: Nanos,
    /// Which request it was.
    pub seq: u64,
    /// The answer's status.
    pub status: u16,
}

/// One thread of the generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneReport {
    /// The CPU it was pinned to.
    pub cpu: Option<usize>,
    /// CPU time during the measured time.
    pub cpu_time: Nanos,
    /// Wall time of the measured time.
    pub wall: Nanos,
    /// Of that, waiting: asleep or polling for nothing.
    pub idle: Nanos,
    /// Of the idle time, polling.
    pub polled: Nanos,
}

/// A histogram with its exact sum and the count of values that are only known to be larger.
#[derive(Clone, Debug)]
pub struct Distribution {
    pub(crate) values: Histogram<u64>,
    pub(crate) sum: u128,
    pub(crate) censored: u64,
}

/// A percentile, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantile {
    /// In nanoseconds.
    pub value: Nanos,
    /// It falls among values that were given up: the truth is no less than this.
    pub is_censored: bool,
    /// At least ten samples lie beyond it.
    pub is_supported: bool,
}

impl Distribution {
    /// Values up to `max` are told apart; larger ones count as `max`.
    #[must_use]
    pub(crate) fn new(max: Nanos) -> Distribution {
        let values =
            Histogram::new_with_bounds(1, max.max(2), 3).expect("bounds and digits are valid");
        Distribution {
            values,
            sum: 0,
            censored: 0,
        }
    }

    pub(crate) fn record(&mut self, value: Nanos) {
        self.values.saturating_record(value);
        self.sum += u128::from(value);
    }

    /// A value that is only known to be no less than this, and than every other.
    pub(crate) fn record_censored(&mut self, at_least: Nanos) {
        self.record(at_least);
        self.censored += 1;
    }

    pub(crate) fn merge(&mut self, other: &Distribution) {
        self.values
            .add(&other.values)
            .expect("all windows have the same bounds");
        self.sum += other.sum;
        self.censored += other.censored;
    }

    pub(crate) fn clear(&mut self) {
        // Clearing writes every page; an empty histogram is left as it is.
        if 0 < self.values.len() {
            self.values.reset();
        }
        (self.sum, self.censored) = (0, 0);
    }

    /// How many values there are, censored ones among them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.values.len()
    }

    /// How many are only known to be no less than the time-out.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored
    }

    /// Exact, from the sum; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.sum as f64 / self.count() as f64
        }
    }

    /// Of the sample; 0 of nothing.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.values.stdev()
    }

    /// The smallest and the largest.
    #[must_use]
    pub fn extremes(&self) -> Option<(Nanos, Nanos)> {
        (0 < self.count()).then(|| (self.values.min(), self.values.max()))
    }

    /// The value that a share `q` of all values does not exceed; none of nothing.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Quantile> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        let beyond = count - rank;
        Some(Quantile {
            value: self.values.value_at_quantile(q),
            is_censored: beyond < self.censored,
            is_supported: 10 <= beyond,
        })
    }

    /// The histogram itself.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.values
    }
}
