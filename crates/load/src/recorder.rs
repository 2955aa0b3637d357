//! Folds exchanges into windows, and hands each window over when its time is up.

use std::sync::mpsc::{Receiver, Sender};

use crate::Nanos;
use crate::engine::Idle;
use crate::failure::Failure;
use crate::lane::Exchange;
use crate::recording::{Slow, Tally};

/// A lane's window, on its way to the caller's thread.
pub(crate) struct Told {
    pub(crate) lane: usize,
    /// The window's number, from 0.
    pub(crate) index: u64,
    pub(crate) tally: Tally,
    /// The lane's last.
    pub(crate) is_last: bool,
}

/// Where windows go, and where empty ones come from.
pub(crate) struct Handover {
    pub(crate) full: Sender<Told>,
    pub(crate) empty: Receiver<Tally>,
}

pub(crate) struct Recorder {
    lane: usize,
    window: Tally,
    width: Nanos,
    index: u64,
    /// The current window ends here.
    pub(crate) turn: Nanos,
    measured_from: Nanos,
    measured_until: Nanos,
    longest: Nanos,
    in_flight: u64,
    in_flight_since: Nanos,
    clocks: Clocks,
    /// A window whose time is up, and whose clocks have not been read yet.
    ended: Option<Told>,
    handover: Handover,
}

/// A lane's own clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    pub(crate) cpu: Nanos,
    pub(crate) idle: Idle,
}

impl Recorder {
    pub(crate) fn new(
        lane: usize,
        width: Nanos,
        measured: std::ops::Range<Nanos>,
        longest: Nanos,
        handover: Handover,
    ) -> Recorder {
        Recorder {
            lane,
            window: handover.empty.try_recv().unwrap_or_else(|_| Tally::new(longest)),
            width,
            index: 0,
            turn: width,
            measured_from: measured.start,
            measured_until: measured.end,
            longest,
            in_flight: 0,
            in_flight_since: 0,
            clocks: Clocks::default(),
            ended: None,
            handover,
        }
    }

    /// The current window.
    pub(crate) fn window(&mut self) -> &mut Tally {
        &mut self.window
    }

    pub(crate) fn measured_until(&self) -> Nanos {
        self.measured_until
    }

    /// Nothing is measured from here on.
    pub(crate) fn stop_at(&mut self, now: Nanos) {
        self.measured_until = self.measured_until.min(now);
    }

    /// Ends the window and begins the one in which `now` lies. `settle` must follow.
    pub(crate) fn turn_over(&mut self, now: Nanos) {
        self.end_window(false);
        self.index = now / self.width;
        self.turn = (self.index + 1) * self.width;
    }

    /// Whether an ended window waits for its clocks.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.ended.is_some()
    }

    /// Hands over the window that has ended.
    pub(crate) fn settle(&mut self, clocks: Clocks) {
        let Some(mut told) = self.ended.take() else {
            return;
        };
        told.tally.cpu += clocks.cpu - self.clocks.cpu;
        told.tally.idle += clocks.idle.waited - self.clocks.idle.waited;
        told.tally.polled += clocks.idle.polled - self.clocks.idle.polled;
        self.clocks = clocks;
        // If nobody listens any more, the run is over and nobody misses the window.
        let _ = self.handover.full.send(told);
    }

    /// Hands over the last window.
    pub(crate) fn finish(&mut self, clocks: Clocks, under_way: u64) {
        self.window.under_way = under_way;
        self.end_window(true);
        self.settle(clocks);
    }

    fn end_window(&mut self, is_last: bool) {
        self.settle(self.clocks);
        self.count_in_flight(self.turn);
        let empty = self.handover.empty.try_recv();
        let empty = empty.unwrap_or_else(|_| Tally::new(self.longest));
        let tally = std::mem::replace(&mut self.window, empty);
        self.ended = Some(Told { lane: self.lane, index: self.index, tally, is_last });
    }

    pub(crate) fn session_attempted(&mut self, intended: Nanos) {
        self.window.sessions.attempted += u64::from(self.measured_from <= intended);
    }

    pub(crate) fn session_over(&mut self, intended: Nanos, is_complete: bool) {
        if self.measured_from <= intended {
            self.window.sessions.complete += u64::from(is_complete);
            self.window.sessions.failed += u64::from(!is_complete);
        }
    }

    pub(crate) fn is_measured(&self, exchange: &Exchange) -> bool {
        self.measured_from <= exchange.intended
    }

    /// Whether the window's distributions are about this exchange: warm-up in warm-up windows,
    /// measured in measured ones, and never the one in the other.
    fn belongs_here(&self, exchange: &Exchange) -> bool {
        self.is_measured(exchange) || self.turn <= self.measured_from
    }

    fn count_in_flight(&mut self, now: Nanos) {
        let time = now.saturating_sub(self.in_flight_since);
        self.window.in_flight_area += u128::from(self.in_flight) * u128::from(time);
        self.in_flight_since = self.in_flight_since.max(now);
    }

    pub(crate) fn attempted(&mut self, exchange: &Exchange) {
        if self.is_measured(exchange) {
            self.window.attempted += 1;
        } else {
            self.window.warmup_attempted += 1;
        }
    }

    /// `free_since`: since when the connection could have carried it. `own_connect`: it waited
    /// for a connection opened for it alone, which is told apart as connect time.
    pub(crate) fn sent(&mut self, exchange: &Exchange, free_since: Nanos, own_connect: bool) {
        self.count_in_flight(exchange.sent);
        self.in_flight += 1;
        if !self.belongs_here(exchange) {
            return;
        }
        let ready = exchange.intended.max(free_since);
        self.window.late.record(exchange.sent - ready);
        if exchange.intended < ready && !own_connect {
            self.window.blocked.record(ready - exchange.intended);
        }
    }

    pub(crate) fn correct(&mut self, exchange: &Exchange, done: Nanos, status: u16) {
        self.count_in_flight(done);
        self.in_flight -= 1;
        self.window.last_done = self.window.last_done.max(done);
        self.window.answered += 1;
        if (self.measured_from..self.measured_until).contains(&done) {
            self.window.correct_inside += 1;
        }
        if !self.belongs_here(exchange) {
            return;
        }
        let is_measured = self.is_measured(exchange);
        let window = &mut self.window;
        window.response.record(done - exchange.intended);
        window.service.record(done - exchange.sent);
        window.first_byte.record(exchange.first_byte - exchange.sent);
        if is_measured {
            window.correct += 1;
            window.keep_if_slow(Slow {
                intended: exchange.intended,
                sent: exchange.sent,
                first_byte: exchange.first_byte,
                done,
                seq: exchange.values.seq,
                status,
            });
        }
    }

    pub(crate) fn failed(
        &mut self,
        exchange: &Exchange,
        failure: Failure,
        at: Nanos,
        limit: Nanos,
    ) {
        self.window.last_done = self.window.last_done.max(at);
        if exchange.is_sent() {
            self.count_in_flight(at);
            self.in_flight -= 1;
        }
        if !self.belongs_here(exchange) {
            return;
        }
        if failure.is_censored() {
            // The time-out hides how long it would have taken; that it took so long is known.
            self.window.response.record_censored(limit);
            if exchange.is_sent() {
                let left = (exchange.intended + limit).saturating_sub(exchange.sent);
                self.window.service.record_censored(left);
            }
        }
        if self.is_measured(exchange) {
            self.window.failed[failure.index()] += 1;
        } else {
            self.window.warmup_failed += 1;
        }
    }

    /// It goes out again on another connection.
    pub(crate) fn unsent(&mut self, at: Nanos) {
        self.count_in_flight(at);
        self.in_flight -= 1;
    }
}
