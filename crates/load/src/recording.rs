//! What was measured: one `Recording` out of one `Order`.

use std::cmp::Reverse;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::distribution::{Distribution, Folded, PERCENTILES};
use crate::failure::Failure;
use crate::json_form;
use crate::section::Section;
use crate::silence::Silence;
use crate::tally::{Still, Tally};

/// Everything that a run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The measured time, folded.
    pub total: Tally,
    /// The run window by window, including the warm-up, which is marked. Stored and sent separately: the windows are
    /// large.
    #[serde(skip)]
    pub windows: Vec<Window>,
    /// The generator's threads.
    pub lanes: Vec<LaneReport>,
    /// Parts of a changing load: the steps of steps, the tenths of a ramp; none of any other load.
    pub sections: Vec<Section>,
    /// Silences of the server.
    pub silence: Silence,
    /// When the measured time began, on the run's clock.
    pub measured_from: Nanos,
    /// When it ended: as planned, or when it was stopped, or, where the ordered number of requests ended it, when the
    /// last of them had ended. What an exchange does later is not part of any rate.
    pub measured_until: Nanos,
    /// Until when the schedule had something due; none for a closed loop.
    pub scheduled_until: Option<Nanos>,
    /// The run's end, after the exchanges under way had been waited for.
    pub ended: Nanos,
    pub end: End,
    /// The time-out in force.
    pub timeout: Nanos,
    /// An answer within this time of its intended start is on time.
    pub on_time_within: Nanos,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// All that was ordered has been done.
    Done,
    /// An early end was requested.
    Halted,
    /// Nothing but failures from the start: the most frequent one.
    GaveUp(Failure),
}

/// A stretch of time, kept small and added up without loss: its counts, and its distributions in folded form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its start, on the run's clock.
    pub from: Nanos,
    pub until: Nanos,
    /// Whether it lies before the measured time.
    pub is_warmup: bool,
    /// Exchanges that became due within it.
    pub attempted: u64,
    /// Correct answers that came within it, including answers to requests of the warm-up.
    pub correct: u64,
    /// Failures within it, by class, in the order of `Failure::ALL`.
    #[serde(with = "json_form::failures")]
    pub failed: [u64; Failure::COUNT],
    /// Bytes written to the server.
    pub bytes_sent: u64,
    /// Bytes read from the server.
    pub bytes_received: u64,
    /// Exchanges between sent and done, integrated over the window: exchange-nanoseconds. Averages cannot be added.
    #[serde(with = "json_form::large")]
    pub in_flight_area: u128,
    /// CPU time of the threads.
    pub cpu: Nanos,
    /// From intended to done.
    pub response: Folded,
    /// From sent to done.
    pub service: Folded,
}

impl Window {
    /// Exchanges between sent and done, on average over the window.
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        self.in_flight_area as f64 / self.until.saturating_sub(self.from).max(1) as f64
    }
}

/// Numbers of connections.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "connections")]
pub struct Connections {
    /// connections that were begun
    pub begun: u64,
    /// connections that were established
    pub established: u64,
    /// connections that could not be established
    pub failed: u64,
}

impl Connections {
    pub(crate) fn add(&mut self, other: Connections) {
        self.begun += other.begun;
        self.established += other.established;
        self.failed += other.failed;
    }

    /// Begun, and neither established nor failed.
    pub(crate) fn pending(self) -> u64 {
        self.begun.saturating_sub(self.established + self.failed)
    }
}

/// Numbers of sessions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "sessions")]
pub struct Sessions {
    /// sessions that were begun
    pub attempted: u64,
    /// sessions all of whose calls were answered as expected
    pub complete: u64,
    /// sessions that were not completed: a call failed, or the session was cut
    pub failed: u64,
    #[serde(flatten)]
    pub cut: Cut,
}

/// Sessions that the server ended before their last call.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Cut {
    /// sessions among `failed` that were cut: all their calls were answered as expected until the server ended the
    /// connection
    #[serde(rename = "cut")]
    pub sessions: u64,
    /// calls that these did not reach
    #[serde(rename = "cut_unreached")]
    pub unreached: u64,
    /// the fewest calls that one of these made; 0 if there are none
    #[serde(rename = "cut_calls_min")]
    pub calls_min: u32,
    /// the most calls that one of these made
    #[serde(rename = "cut_calls_max")]
    pub calls_max: u32,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    Complete,
    /// A call failed.
    Failed,
    /// The server ended the connection after this many right answers, before so many more calls.
    Cut {
        calls: u32,
        unreached: u32,
    },
}

impl Sessions {
    pub(crate) fn end(&mut self, end: SessionEnd) {
        self.complete += u64::from(end == SessionEnd::Complete);
        self.failed += u64::from(end != SessionEnd::Complete);
        if let SessionEnd::Cut { calls, unreached } = end {
            let unreached = unreached.into();
            self.cut.add(Cut { sessions: 1, unreached, calls_min: calls, calls_max: calls });
        }
    }

    pub fn add(&mut self, other: Sessions) {
        self.attempted += other.attempted;
        self.complete += other.complete;
        self.failed += other.failed;
        self.cut.add(other.cut);
    }
}

impl Cut {
    pub fn add(&mut self, other: Cut) {
        self.calls_min = match (self.sessions, other.sessions) {
            (0, _) => other.calls_min,
            (_, 0) => self.calls_min,
            _ => self.calls_min.min(other.calls_min),
        };
        self.calls_max = self.calls_max.max(other.calls_max);
        self.sessions += other.sessions;
        self.unreached += other.unreached;
    }
}

/// Events besides the exchanges, none of which is a failure.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "notes")]
pub struct Notes {
    /// a reused connection was closed, and the request was sent once more
    pub stale_retries: u64,
    /// the server refused the request unread, and it was sent once more
    pub refused: u64,
    /// idle connections that the server closed
    pub idle_closed: u64,
    /// bytes that came after an answer; the connection was dropped
    pub surplus: u64,
    /// answers without a request; the connection was dropped
    pub unsolicited: u64,
    /// answers that said that the connection closes, where connections are kept
    pub announced_closes: u64,
    /// correct answers whose body differs from the usual one, where bodies are compared without being demanded
    pub unlike_bodies: u64,
}

/// One slow exchange, kept whole.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Slow {
    /// when it was due
    #[serde(rename = "intended_ns")]
    pub intended: Nanos,
    /// when it was sent
    #[serde(rename = "sent_ns")]
    pub sent: Nanos,
    /// when its answer began
    #[serde(rename = "first_byte_ns")]
    pub first_byte: Nanos,
    /// when its answer was complete
    #[serde(rename = "done_ns")]
    pub done: Nanos,
    /// which request: the number that `{seq}` stands for
    pub seq: u64,
    /// the status of its answer
    pub status: u16,
}

impl Slow {
    /// The slower it is, the rather it is kept. No two rank alike, so that merging has one result in every order.
    pub(crate) fn rank(&self) -> (Reverse<Nanos>, Slow) {
        (Reverse(self.done.saturating_sub(self.intended)), *self)
    }
}

/// One thread of the generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneReport {
    /// The CPU it was pinned to.
    pub cpu: Option<usize>,
    /// CPU time during the measured time.
    pub cpu_time: Nanos,
    /// Wall time of the measured time; in a part, until this thread ended.
    pub wall: Nanos,
    /// Of that, waiting: asleep, or polling without result; or after its end, before that of the others.
    pub idle: Nanos,
    /// Of the idle time, polling.
    pub polled: Nanos,
    /// The time that it overslept, or worked without looking at its connections.
    pub still: Still,
    /// The time in which it parsed bodies or decoded files; none if it had none to compare, or an older dyno recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Nanos>,
}

impl Recording {
    /// As much of it as figures and doubts read: distributions other than those of whole answers, and windows, keep
    /// their counts, their sums and the percentiles of results.
    pub fn outline(&mut self) {
        let quantiles = PERCENTILES.map(|(_, q)| q);
        let Tally { first_byte, late, blocked, connect, .. } = &mut self.total;
        for times in [first_byte, late, blocked, connect] {
            *times = Folded::of(times).outlined(&quantiles).into();
        }
        for window in &mut self.windows {
            window.response = window.response.outlined(&[0.5, 0.99]);
            window.service = Folded::of(&Distribution::new(window.service.high()));
        }
    }

    /// How long the measured time was.
    #[must_use]
    pub fn measured(&self) -> Nanos {
        self.measured_until.saturating_sub(self.measured_from)
    }

    /// A recording of what was counted from one instant to another, and of nothing else.
    #[must_use]
    pub fn new(total: Tally, measured: Range<Nanos>, timeout: Nanos) -> Recording {
        Recording {
            total,
            windows: Vec::new(),
            lanes: Vec::new(),
            sections: Vec::new(),
            silence: Silence::default(),
            measured_from: measured.start,
            measured_until: measured.end,
            scheduled_until: None,
            ended: measured.end,
            end: End::Done,
            timeout,
            on_time_within: timeout,
        }
    }
}
