//! Counts and distributions of a stretch of time, mergeable without loss.

use std::mem;

use serde::{Deserialize, Serialize};
use wire::{Compared, Delivered, Rows};

use crate::Nanos;
use crate::answers::Answers;
use crate::distribution::Distribution;
use crate::evidence::{EVIDENCE_KEPT, Evidence};
use crate::failure::Failure;
use crate::form_counts::FormCounts;
use crate::http2::{self, Http2};
use crate::json_form;
use crate::recording::{Connections, Notes, Sessions, Slow};
use crate::security::{self, Security};
use crate::written::Written;

/// Counts and distributions, mergeable without loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Exchanges that became due in the measured time; of a session that became due in it, each call that was begun.
    pub attempted: u64,
    /// Exchanges that became due, including the calls that a session did not reach because an earlier one failed.
    pub due: u64,
    /// Answered as expected.
    pub correct: u64,
    /// Of them, answered within the limit from their intended start.
    pub on_time: u64,
    /// Correct answers that came inside the measured time, whenever they were due: the basis of the throughput.
    pub correct_inside: u64,
    /// Of them, those to requests that had been due before it.
    pub carried_in: u64,
    /// Failed, by class, in the order of `Failure::ALL`.
    #[serde(with = "json_form::failures")]
    pub failed: [u64; Failure::COUNT],
    /// Neither correct nor failed when the run ended. Only a run's total has any.
    pub under_way: u64,
    /// Correct answers that came, whenever they were requested: a window's rate.
    pub answered: u64,
    /// Due during the warm-up: not counted.
    pub warmup_attempted: u64,
    /// Due during the warm-up and failed.
    pub warmup_failed: u64,

    /// From intended to done; with failures by time-out as censored values at the limit.
    pub response: Distribution,
    /// From sent to done.
    pub service: Distribution,
    /// From sent to the answer's first byte.
    pub first_byte: Distribution,
    /// How long answers took from their first byte to the last; none where none had begun, or it was not recorded.
    #[serde(default)]
    pub receipt: Option<Receipt>,
    /// Answers that were to wait; none where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Waited>,
    /// How bodies of JSON and files were compared; none where none was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// The rows of a database that right answers had, those before the measured time included; none where none has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
    /// What right answers said was written: compared with the table after the load, and not kept.
    #[serde(skip)]
    pub written: Option<Box<Written>>,
    /// Requests by the form in which they were written; none where they were not varied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forms: Option<FormCounts>,
    /// How files came, of the right answers; none where none was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Delivered>,
    /// The generator's own delay in sending a request that was due and had a free connection.
    pub late: Distribution,
    /// The wait for a free connection, of the requests that had to wait.
    pub blocked: Distribution,
    /// From the start of a connection to its establishment by TCP.
    pub connect: Distribution,
    /// What connections agreed on with TLS; none without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Box<Security>>,
    /// What was seen of HTTP/2; none with HTTP/1.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2: Option<Box<Http2>>,

    /// Connections begun, established and failed.
    pub connections: Connections,
    /// Sessions, if the load consists of them.
    pub sessions: Sessions,
    /// Things that happened beside the exchanges.
    pub notes: Notes,
    /// The statuses and sizes of whole answers to measured requests, right ones and wrong ones.
    pub answers: Answers,
    /// Bytes written to the server.
    pub bytes_sent: u64,
    /// Bytes read from the server.
    pub bytes_received: u64,
    /// Of them, inside the measured time: the basis of a rate.
    pub received_inside: u64,
    /// Exchanges between sent and done, integrated over the measured time: exchange-nanoseconds.
    #[serde(with = "json_form::large")]
    pub in_flight_area: u128,
    /// Measured exchanges alone between sent and done, until their end.
    pub flight: Flight,
    /// The time that the lanes overslept, or worked without looking at their connections.
    pub still: Still,
    /// CPU time of the lanes, user and system.
    pub cpu: Nanos,
    /// Time that the lanes spent waiting for something to happen, asleep or polling.
    pub idle: Nanos,
    /// Of that, polling.
    pub polled: Nanos,
    /// When the last exchange became due.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_due: Nanos,
    /// When the last exchange ended.
    pub last_done: Nanos,
    /// The slowest exchanges, slowest first.
    pub slowest: Vec<Slow>,
    /// The first few failures of each class, with their bytes.
    pub evidence: Vec<Evidence>,
}

/// The time that measured exchanges spent between sent and ended, computed in two ways: `area` step by step as they
/// started and ended, the others from the stamps of each. If they differ, the generator's own books are wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// Integrated over time, in exchange-nanoseconds.
    #[serde(with = "json_form::large")]
    pub area: u128,
    /// Of exchanges that were answered as expected, from sent to done.
    #[serde(with = "json_form::large")]
    pub correct: u128,
    /// Of exchanges that were not, from sent to the failure or to the end of the run.
    #[serde(with = "json_form::large")]
    pub failed: u128,
    /// Of requests that were sent once more, from the first sending to the loss.
    #[serde(with = "json_form::large")]
    pub unsent: u128,
}

/// How long answers took from their first byte to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The longest time of an answer as expected, or until one was given up.
    pub longest: Nanos,
    /// Answers that had begun and were given up, or left at the end.
    pub given_up: u64,
}

impl Receipt {
    /// A whole answer came.
    pub(crate) fn whole(&mut self, took: Nanos) {
        self.longest = self.longest.max(took);
    }

    /// An answer would have taken longer.
    pub(crate) fn given_up(&mut self, after: Nanos) {
        self.longest = self.longest.max(after);
        self.given_up += 1;
    }

    fn merge(mine: &mut Option<Receipt>, theirs: Option<Receipt>) {
        if let Some(other) = theirs {
            let receipt = mine.get_or_insert_default();
            receipt.longest = receipt.longest.max(other.longest);
            receipt.given_up += other.given_up;
        }
    }
}

/// Answers as expected that were to come a stated time after their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    pub answers: u64,
    /// Of them, those that came before that time was over, by no more than is allowed.
    pub early: u64,
    /// The most by which one of them was early. What an answer takes on its way hides some of it: the server's timer
    /// was early by at least so much.
    pub early_by: Nanos,
    /// The shortest wait that was stated.
    pub shortest: Nanos,
}

impl Waited {
    /// None yet.
    const NONE: Waited = Waited { answers: 0, early: 0, early_by: 0, shortest: Nanos::MAX };

    /// An answer that was to wait came so long after its request was sent.
    pub(crate) fn count(waited: &mut Option<Waited>, wait: Nanos, took: Nanos) {
        let early_by = wait.saturating_sub(took);
        let one = Waited { answers: 1, early: u64::from(0 < early_by), early_by, shortest: wait };
        Waited::merge(waited, Some(one));
    }

    fn merge(mine: &mut Option<Waited>, theirs: Option<Waited>) {
        if let Some(other) = theirs {
            let waited = mine.get_or_insert(Waited::NONE);
            waited.answers += other.answers;
            waited.early += other.early;
            waited.early_by = waited.early_by.max(other.early_by);
            waited.shortest = waited.shortest.min(other.shortest);
        }
    }
}

/// Times in which a lane could not look at what had come, although it should have: because it, or the whole machine,
/// was stopped, or because other threads had its CPU. Only those of a millisecond or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Still {
    /// All of them together, over all lanes.
    pub sum: Nanos,
    /// The longest time by which a sleep lasted too long.
    pub overslept: Nanos,
    /// The longest time for which a turn was without a CPU to work on.
    pub kept_waiting: Nanos,
}

impl Still {
    #[must_use]
    pub fn longest(&self) -> Nanos {
        self.overslept.max(self.kept_waiting)
    }

    pub(crate) fn merge(&mut self, other: Still) {
        self.sum += other.sum;
        self.overslept = self.overslept.max(other.overslept);
        self.kept_waiting = self.kept_waiting.max(other.kept_waiting);
    }
}

/// This many of the slowest exchanges are kept whole.
pub(crate) const SLOWEST_KEPT: usize = 5;

/// Files that were written before it was kept are written again without it.
fn is_zero(time: &Nanos) -> bool {
    *time == 0
}

impl Tally {
    /// Right answers that came after the measured time, to requests that were due in it.
    #[must_use]
    pub fn correct_after(&self) -> u64 {
        self.correct.saturating_sub(self.correct_inside.saturating_sub(self.carried_in))
    }

    /// An empty tally. Latencies up to `max` are distinguished.
    #[must_use]
    pub fn new(max: Nanos) -> Tally {
        Tally {
            attempted: 0,
            due: 0,
            correct: 0,
            on_time: 0,
            correct_inside: 0,
            carried_in: 0,
            failed: [0; Failure::COUNT],
            under_way: 0,
            answered: 0,
            warmup_attempted: 0,
            warmup_failed: 0,
            response: Distribution::new(max),
            service: Distribution::new(max),
            first_byte: Distribution::new(max),
            receipt: None,
            waited: None,
            compared: None,
            rows: None,
            written: None,
            forms: None,
            delivered: None,
            late: Distribution::new(max),
            blocked: Distribution::new(max),
            connect: Distribution::new(max),
            security: None,
            http2: None,
            connections: Connections::default(),
            sessions: Sessions::default(),
            notes: Notes::default(),
            answers: Answers::default(),
            bytes_sent: 0,
            bytes_received: 0,
            received_inside: 0,
            in_flight_area: 0,
            flight: Flight::default(),
            still: Still::default(),
            cpu: 0,
            idle: 0,
            polled: 0,
            last_due: 0,
            last_done: 0,
            slowest: Vec::with_capacity(SLOWEST_KEPT + 1),
            evidence: Vec::new(),
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

    /// Adds the tally of another lane, or of another stretch of the measured time.
    pub fn merge(&mut self, other: &Tally) {
        self.merge_drain(other);
        self.in_flight_area += other.in_flight_area;
        self.still.merge(other.still);
        self.cpu += other.cpu;
        self.idle += other.idle;
        self.polled += other.polled;
    }

    /// Adds what came after the measured time for requests that were due in it: it is not part of any rate.
    pub(crate) fn merge_drain(&mut self, other: &Tally) {
        self.attempted += other.attempted;
        self.due += other.due;
        self.correct += other.correct;
        self.on_time += other.on_time;
        self.correct_inside += other.correct_inside;
        self.carried_in += other.carried_in;
        add(&mut self.failed, &other.failed);
        self.under_way += other.under_way;
        self.answered += other.answered;
        self.warmup_attempted += other.warmup_attempted;
        self.warmup_failed += other.warmup_failed;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.first_byte.merge(&other.first_byte);
        Receipt::merge(&mut self.receipt, other.receipt);
        Waited::merge(&mut self.waited, other.waited);
        if let Some(compared) = other.compared {
            self.compared.get_or_insert_default().add(compared);
        }
        if let Some(rows) = other.rows {
            self.rows.get_or_insert_default().add(rows);
        }
        if let Some(written) = &other.written {
            self.written.get_or_insert_default().merge(written);
        }
        FormCounts::merge(&mut self.forms, other.forms);
        if let Some(delivered) = other.delivered {
            self.delivered.get_or_insert_default().add(delivered);
        }
        self.late.merge(&other.late);
        self.blocked.merge(&other.blocked);
        self.merge_connections(other);
        http2::merge_traffic(&mut self.http2, other.http2.as_deref());
        self.sessions.add(other.sessions);
        self.notes.stale_retries += other.notes.stale_retries;
        self.notes.refused += other.notes.refused;
        self.notes.idle_closed += other.notes.idle_closed;
        self.notes.surplus += other.notes.surplus;
        self.notes.unsolicited += other.notes.unsolicited;
        self.notes.announced_closes += other.notes.announced_closes;
        self.notes.unlike_bodies += other.notes.unlike_bodies;
        self.answers.merge(&other.answers);
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.received_inside += other.received_inside;
        self.flight.area += other.flight.area;
        self.flight.correct += other.flight.correct;
        self.flight.failed += other.flight.failed;
        self.flight.unsent += other.flight.unsent;
        self.last_due = self.last_due.max(other.last_due);
        self.last_done = self.last_done.max(other.last_done);
        for &slow in &other.slowest {
            self.keep_if_slow(slow);
        }
        other.evidence.iter().for_each(|evidence| self.keep_if_early(evidence.clone()));
    }

    /// Adds only another stretch's connections: a pool's connections are opened before the start.
    pub(crate) fn merge_connections(&mut self, other: &Tally) {
        self.connections.add(other.connections);
        self.connect.merge(&other.connect);
        security::merge(&mut self.security, other.security.as_deref());
        http2::merge_beginnings(&mut self.http2, other.http2.as_deref());
    }

    /// The tally in some kilobytes instead of a megabyte, also when others are merged into it; without the exchanges
    /// that are kept whole.
    pub(crate) fn lean(&self) -> Tally {
        let mut lean = Tally::new(self.response.high());
        lean.distributions().into_iter().for_each(Distribution::fold);
        lean.add_lean(self);
        lean
    }

    /// Adds another tally to one that is lean and stays so.
    pub(crate) fn add_lean(&mut self, other: &Tally) {
        self.merge(other);
        self.slowest.clear();
        self.evidence.clear();
    }

    /// Empties it without freeing its memory.
    pub(crate) fn clear(&mut self) {
        self.answers.clear();
        self.slowest.clear();
        self.evidence.clear();
        // Of the one that is made for this only its zeros are kept.
        let mut empty = Tally {
            answers: mem::take(&mut self.answers),
            slowest: mem::take(&mut self.slowest),
            evidence: mem::take(&mut self.evidence),
            ..Tally::new(0)
        };
        for (empty, kept) in empty.distributions().into_iter().zip(self.distributions()) {
            kept.clear();
            mem::swap(empty, kept);
        }
        *self = empty;
    }

    pub(crate) fn all_distributions(&self) -> [&Distribution; 6] {
        [&self.response, &self.service, &self.first_byte, &self.late, &self.blocked, &self.connect]
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
        if self.slowest.len() == SLOWEST_KEPT
            && self.slowest.last().is_some_and(|last| last.rank() <= slow.rank())
        {
            return;
        }
        let place = self.slowest.partition_point(|other| other.rank() < slow.rank());
        self.slowest.insert(place, slow);
        self.slowest.truncate(SLOWEST_KEPT);
    }

    /// Keeps the first few of each class.
    pub(crate) fn keep_if_early(&mut self, evidence: Evidence) {
        let failure = evidence.failure;
        let same = |kept: &&Evidence| kept.failure == failure;
        let place = self.evidence.partition_point(|kept| kept.rank() < evidence.rank());
        self.evidence.insert(place, evidence);
        if EVIDENCE_KEPT < self.evidence.iter().filter(same).count()
            && let Some(last) = self.evidence.iter().rposition(|kept| same(&kept))
        {
            self.evidence.remove(last);
        }
    }
}

/// Adds counts by class.
pub(crate) fn add<const N: usize>(sums: &mut [u64; N], more: &[u64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
