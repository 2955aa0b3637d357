//! An agent as its coordinator knows it.

use crate::clock::{Clock, ClockEstimate, PINGS, Sample};
use crate::host::Host;
use crate::message::{Ready, ToAgent};
use crate::{MILLISECOND, Nanos};

use super::{AGAIN, BEAT_EVERY};

/// A ping that was not answered counts as lost.
const PING_AGAIN: Nanos = 300 * MILLISECOND;

/// What is known of an agent.
#[derive(Clone, Debug, Default)]
pub struct PeerFacts {
    pub host: Host,
    /// Its clock before the last trial, or when the two met; none before.
    pub clock: Option<ClockEstimate>,
    /// Its clock after the last trial.
    pub clock_after: Option<ClockEstimate>,
    pub ready: Ready,
}

#[derive(Debug)]
pub(super) struct Peer {
    /// The number of the meeting; 0 before it.
    pub(super) meeting: u64,
    pub(super) heard: Nanos,
    /// How it was lost.
    pub(super) loss: Option<String>,
    pub(super) facts: PeerFacts,
    has_our_clock: bool,
    clock: Clock,
    /// The ping under way: its number, and when it was sent.
    ping: (u32, Nanos),
    greeted: Option<Nanos>,
    beaten: Nanos,
}

impl Peer {
    pub(super) fn new(has_our_clock: bool, now: Nanos) -> Peer {
        Peer {
            meeting: 0,
            heard: now,
            loss: None,
            facts: PeerFacts::default(),
            has_our_clock,
            clock: Clock::default(),
            ping: (0, 0),
            greeted: None,
            beaten: 0,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        0 < self.meeting && self.loss.is_none()
    }

    /// It has answered, and its clock is known.
    pub(super) fn is_known(&self) -> bool {
        self.is_there() && (self.has_our_clock || PINGS <= self.clock.samples())
    }

    /// Nothing more is awaited of it before a trial.
    pub(super) fn is_decided(&self) -> bool {
        self.loss.is_some() || self.is_known()
    }

    pub(super) fn met(&mut self, meeting: u64, host: Host, now: Nanos) {
        (self.meeting, self.heard, self.facts.host) = (meeting, now, host.bounded());
        self.forget_clock();
    }

    /// Whether it is to be greeted now: until it answers, and again if it does not answer pings.
    pub(super) fn greets(&mut self, now: Nanos) -> bool {
        let is_due = self.greeted.is_none_or(|at| at + AGAIN <= now);
        let is_wanted = !self.is_known() && (self.meeting == 0 || self.heard + AGAIN <= now);
        if is_due && is_wanted {
            self.greeted = Some(now);
        }
        is_due && is_wanted
    }

    /// The next ping, if it is due.
    pub(super) fn ping(&mut self, now: Nanos) -> Option<ToAgent> {
        let (number, sent) = self.ping;
        let is_under_way = 0 < sent && now < sent + PING_AGAIN;
        if !self.is_there() || self.is_known() || is_under_way {
            return None;
        }
        self.ping = (number + 1, now);
        Some(ToAgent::Ping { number: number + 1, sent: now })
    }

    pub(super) fn pong(&mut self, number: u32, sample: Sample) {
        if (number, sample.sent) == self.ping {
            self.clock.add(sample);
            self.ping.1 = 0;
        }
    }

    pub(super) fn forget_clock(&mut self) {
        (self.clock, self.ping.1) = (Clock::default(), 0);
    }

    /// If no ping was answered, what was known stays known.
    pub(super) fn keep_clock(&mut self) {
        self.facts.clock = match self.has_our_clock {
            true => Some(ClockEstimate::SAME),
            false => self.clock.estimate().or(self.facts.clock),
        };
    }

    pub(super) fn keep_drift(&mut self) {
        self.facts.clock_after = self.clock.estimate();
    }

    pub(super) fn beats(&mut self, now: Nanos) -> bool {
        let is_due = self.is_there() && self.beaten + BEAT_EVERY <= now;
        if is_due {
            self.beaten = now;
        }
        is_due
    }
}
