//! What was measured: one `Recording` out of one `Order`.

use crate::Nanos;
use crate::distribution::{Distribution, Folded};
use crate::failure::Failure;

/// Everything that a run measured.
#[derive(Clone, Debug, PartialEq)]
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

/// A stretch of time, kept small: its counts, and its distributions folded.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// From here on the run's clock.
    pub from: Nanos,
    /// Up to here.
    pub until: Nanos,
    /// Whether it was before the measured time.
    pub is_warmup: bool,
    /// Exchanges that became due within it.
    pub attempted: u64,
    /// Correct answers that came within it, those asked during the warm-up included.
    pub correct: u64,
    /// Failures within it, by class; `Failure::ALL` has the order.
    pub failed: [u64; Failure::COUNT],
    /// Bytes written to the server.
    pub bytes_sent: u64,
    /// Bytes read from the server.
    pub bytes_received: u64,
    /// Exchanges between sent and done, on average over the window.
    pub in_flight: f64,
    /// CPU time of the lanes.
    pub cpu: Nanos,
    /// From intended to done.
    pub response: Folded,
    /// From sent to done.
    pub service: Folded,
}

/// Counts and distributions, mergeable without loss.
#[derive(Clone, Debug, PartialEq)]
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
    /// Correct answers that came, whenever they were asked for: a window's rate.
    pub answered: u64,
    /// Due during the warm-up: not in the books.
    pub warmup_attempted: u64,
    /// Due during the warm-up and failed.
    pub warmup_failed: u64,

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
    /// CPU time of the lanes, user and system.
    pub cpu: Nanos,
    /// Time that the lanes spent waiting for something to happen, asleep or polling.
    pub idle: Nanos,
    /// Of that, polling.
    pub polled: Nanos,
    /// When the last exchange ended.
    pub last_done: Nanos,
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

/// So many of the slowest exchanges are kept whole.
const SLOWEST_KEPT: usize = 5;

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

impl Window {
    /// Takes in the window that follows.
    pub(crate) fn absorb(&mut self, next: &Window) {
        let (mine, theirs) = ((self.until - self.from) as f64, (next.until - next.from) as f64);
        self.in_flight = (self.in_flight * mine + next.in_flight * theirs) / (mine + theirs);
        self.until = next.until;
        self.attempted += next.attempted;
        self.correct += next.correct;
        for (sum, count) in self.failed.iter_mut().zip(next.failed) {
            *sum += count;
        }
        self.bytes_sent += next.bytes_sent;
        self.bytes_received += next.bytes_received;
        self.cpu += next.cpu;
        self.response.absorb(&next.response);
        self.service.absorb(&next.service);
    }
}

impl Tally {
    /// Nothing yet. Latencies up to `max` are told apart.
    #[must_use]
    pub fn new(max: Nanos) -> Tally {
        Tally {
            attempted: 0,
            correct: 0,
            correct_inside: 0,
            failed: [0; Failure::COUNT],
            under_way: 0,
            answered: 0,
            warmup_attempted: 0,
            warmup_failed: 0,
            response: Distribution::new(max),
            service: Distribution::new(max),
            first_byte: Distribution::new(max),
            late: Distribution::new(max),
            blocked: Distribution::new(max),
            connect: Distribution::new(max),
            connections: Connections::default(),
            sessions: Sessions::default(),
            notes: Notes::default(),
            bytes_sent: 0,
            bytes_received: 0,
            in_flight_area: 0,
            cpu: 0,
            idle: 0,
            polled: 0,
            last_done: 0,
            slowest: Vec::with_capacity(SLOWEST_KEPT + 1),
        }
    }

    /// How many failed with this class.
    #[must_use]
    pub fn failures(&self, failure: Failure) -> u64 {
        self.failed[failure.index()]
    }

    /// How many failed.
    #[must_use]
    pub fn failed_in_all(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds another stretch of time.
    pub fn merge(&mut self, other: &Tally) {
        self.attempted += other.attempted;
        self.correct += other.correct;
        self.correct_inside += other.correct_inside;
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
        self.under_way += other.under_way;
        self.answered += other.answered;
        self.warmup_attempted += other.warmup_attempted;
        self.warmup_failed += other.warmup_failed;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.first_byte.merge(&other.first_byte);
        self.late.merge(&other.late);
        self.blocked.merge(&other.blocked);
        self.merge_connections(other);
        self.sessions.attempted += other.sessions.attempted;
        self.sessions.complete += other.sessions.complete;
        self.sessions.failed += other.sessions.failed;
        self.notes.stale_retries += other.notes.stale_retries;
        self.notes.idle_closed += other.notes.idle_closed;
        self.notes.surplus += other.notes.surplus;
        self.notes.unsolicited += other.notes.unsolicited;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.in_flight_area += other.in_flight_area;
        self.cpu += other.cpu;
        self.idle += other.idle;
        self.polled += other.polled;
        self.last_done = self.last_done.max(other.last_done);
        for &slow in &other.slowest {
            self.keep_if_slow(slow);
        }
    }

    /// Adds another stretch's connections only: those of a pool are opened before the start.
    pub(crate) fn merge_connections(&mut self, other: &Tally) {
        self.connections.begun += other.connections.begun;
        self.connections.established += other.connections.established;
        self.connections.failed += other.connections.failed;
        self.connect.merge(&other.connect);
    }

    /// Empties it without giving back its memory.
    pub(crate) fn clear(&mut self) {
        for distribution in self.distributions() {
            distribution.clear();
        }
        self.slowest.clear();
        self.failed = [0; Failure::COUNT];
        (self.connections, self.sessions) = (Connections::default(), Sessions::default());
        self.notes = Notes::default();
        (self.attempted, self.correct, self.correct_inside) = (0, 0, 0);
        (self.answered, self.under_way) = (0, 0);
        (self.warmup_attempted, self.warmup_failed) = (0, 0);
        (self.bytes_sent, self.bytes_received, self.in_flight_area) = (0, 0, 0);
        (self.cpu, self.idle, self.polled, self.last_done) = (0, 0, 0, 0);
    }

    fn distributions(&mut self) -> [&mut Distribution; 6] {
        [
            &mut self.response,
            &mut self.service,
            &mut self.first_byte,
            &mut self.late,
            &mut self.blocked,
            &mut self.connect,
        ]
    }

    /// Keeps the slowest few, slowest first.
    pub(crate) fn keep_if_slow(&mut self, slow: Slow) {
        let took = |slow: &Slow| slow.done - slow.intended;
        if self.slowest.len() == SLOWEST_KEPT
            && self.slowest.last().is_some_and(|last| took(&slow) <= took(last))
        {
            return;
        }
        let place = self.slowest.partition_point(|other| took(&slow) < took(other));
        self.slowest.insert(place, slow);
        self.slowest.truncate(SLOWEST_KEPT);
    }
}
