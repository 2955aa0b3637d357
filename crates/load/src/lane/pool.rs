//! A lane's connections and queues: takes in what happened, and decides how each exchange goes on.
//! Touches no engine; what the engine must do is put on the agenda.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use wire::{Chance, News, Session, Values, WireFault};

use super::slot::{Exchange, Slot, State, UNSENT, Unsent};
use super::transcript::Transcript;
use super::{BACK_OFF_MAX, DRAIN_MAX, PATIENCE, Rules, Seed};
use crate::Nanos;
use crate::deadlines::Deadlines;
use crate::engine::{Conn, Event};
use crate::failure::Failure;
use crate::pause::LOOK_UP;
use crate::recorder::Recorder;
use crate::supply::{Kind, Supply};

/// All of a lane except its engine.
pub(super) struct Pool<'a, S> {
    pub(super) rules: Rules<'a>,
    pub(super) slots: Vec<Slot<'a, S>>,
    pub(super) new_session: &'a dyn Fn() -> S,
    pub(super) supply: Supply,
    pub(super) recorder: Recorder,
    /// Due, and waiting for a connection.
    pub(super) waiting: VecDeque<Exchange>,
    /// Free connections of a pool, the one that rested longest first. An entry may be outdated.
    pub(super) resting: VecDeque<Conn>,
    /// Places without a connection.
    pub(super) vacant: Vec<Conn>,
    /// Connections of the opening that have not been begun.
    pub(super) to_begin: VecDeque<Conn>,
    /// Connections to be begun again when the server has had time to recover.
    pub(super) backing_off: BinaryHeap<Reverse<(Nanos, Conn)>>,
    pub(super) agenda: VecDeque<Conn>,
    pub(super) deadlines: Deadlines,
    pub(super) connecting: usize,
    /// Of them, those that TCP has connected: their handshake with TLS is under way.
    pub(super) handshaking: usize,
    pub(super) in_flight: usize,
    /// Exchanges begun and not ended.
    pub(super) unfinished: usize,
    /// Connections lost since the last answer.
    pub(super) lost_in_a_row: u32,
    pub(super) drain_until: Nanos,
    pub(super) is_stopped: bool,
    /// While the backlog is read: when the lane stopped looking. What came since then may well have come in time.
    pub(super) still_from: Option<Nanos>,
    /// The last time in which the lane did not look.
    pub(super) last_still: Range<Nanos>,
    pub(super) chance: Chance,
    pub(super) next_seq: u64,
    pub(super) seq_stride: u64,
    pub(super) transcript: Transcript,
    pub(super) news: Vec<News>,
    pub(super) found: Vec<Conn>,
    pub(super) output: Vec<u8>,
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    pub(super) fn new(
        rules: Rules<'a>,
        new_session: &'a dyn Fn() -> S,
        supply: Supply,
        recorder: Recorder,
        seed: Seed,
    ) -> Pool<'a, S> {
        Pool {
            rules,
            slots: Vec::new(),
            new_session,
            supply,
            recorder,
            waiting: VecDeque::new(),
            resting: VecDeque::new(),
            vacant: Vec::new(),
            to_begin: VecDeque::new(),
            backing_off: BinaryHeap::new(),
            agenda: VecDeque::new(),
            deadlines: Deadlines::new(rules.timeout),
            connecting: 0,
            handshaking: 0,
            in_flight: 0,
            unfinished: 0,
            lost_in_a_row: 0,
            drain_until: Nanos::MAX,
            is_stopped: false,
            still_from: None,
            last_still: 0..0,
            chance: Chance::new(seed.chance),
            next_seq: seed.first_seq,
            seq_stride: seed.seq_stride,
            transcript: Transcript::default(),
            news: Vec::new(),
            found: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Prepares the connections that are opened at the beginning.
    pub(super) fn reserve(&mut self) {
        for _ in 0..self.supply.connections {
            let conn = self.new_slot();
            self.to_begin.push_back(conn);
        }
    }

    pub(super) fn new_slot(&mut self) -> Conn {
        let conn = self.slots.len() as Conn;
        self.slots.push(Slot {
            session: (self.new_session)(),
            state: State::Vacant,
            exchange: None,
            unsent: Unsent::Nothing,
            begun: 0,
            is_reached: false,
            free_since: 0,
            deadline: Nanos::MAX,
            looked_at: Nanos::MAX,
            is_on_agenda: false,
            received: 0,
            carried: 0,
            calls: 0,
            arrived: 0,
        });
        conn
    }

    /// A place for one more connection, if the pool may grow.
    pub(super) fn place(&mut self) -> Option<Conn> {
        if let Some(conn) = self.vacant.pop() {
            return Some(conn);
        }
        (self.slots.len() < self.supply.max_connections).then(|| self.new_slot())
    }

    /// The free connection that rested longest.
    pub(super) fn rested(&mut self) -> Option<Conn> {
        loop {
            let conn = self.resting.pop_front()?;
            let slot = &self.slots[conn as usize];
            if slot.state == State::Free && slot.exchange.is_none() {
                return Some(conn);
            }
        }
    }

    /// `due`: when its session was due; for all other loads, its own intended start.
    pub(super) fn new_exchange(&mut self, intended: Nanos, due: Nanos) -> Exchange {
        let seq = self.next_seq;
        self.next_seq += self.seq_stride;
        let values = Values { seq, random: self.chance.draw() };
        let (sent, first_byte) = (UNSENT, UNSENT);
        let exchange = Exchange { intended, due, sent, first_byte, values, is_retry: false };
        self.recorder.attempted(&exchange);
        self.unfinished += 1;
        exchange
    }

    pub(super) fn fail(&mut self, exchange: &Exchange, failure: Failure, at: Nanos) {
        self.unfinished -= 1;
        self.recorder.failed(exchange, failure, at, self.rules.timeout);
    }

    /// When a request has waited as long as it may.
    pub(super) fn deadline(&self, exchange: &Exchange) -> Nanos {
        exchange.intended.saturating_add(self.rules.timeout)
    }

    /// Takes what is due by the schedule.
    pub(super) fn take_due(&mut self, now: Nanos) {
        while let Some(intended) = self.supply.due(now) {
            let requests = match self.supply.kind {
                Kind::Sessions { calls } => {
                    self.recorder.session_attempted(intended);
                    calls
                }
                Kind::Open | Kind::Closed => 1,
            };
            self.recorder.due(intended, requests);
            let exchange = self.new_exchange(intended, intended);
            self.waiting.push_back(exchange);
        }
    }

    /// A closed loop's connection always has an exchange, as long as there are any left.
    pub(super) fn bind_if_closed(&mut self, conn: Conn, now: Nanos) {
        if self.supply.kind == Kind::Closed
            && self.slots[conn as usize].exchange.is_none()
            && self.supply.take_one(now)
        {
            self.recorder.due(now, 1);
            self.slots[conn as usize].exchange = Some(self.new_exchange(now, now));
        }
    }

    /// What to do with a place that has just lost its connection and has no exchange.
    pub(super) fn refill(&mut self, conn: Conn, now: Nanos) {
        match self.supply.kind {
            Kind::Closed => {
                let excess = self.lost_in_a_row.saturating_sub(PATIENCE).min(20);
                let slow_down = PATIENCE <= self.lost_in_a_row;
                let pause = if slow_down { (1_000_000 << excess).min(BACK_OFF_MAX) } else { 0 };
                self.backing_off.push(Reverse((now + pause, conn)));
            }
            Kind::Open | Kind::Sessions { .. } => self.vacant.push(conn),
        }
    }

    pub(super) fn put_on_agenda(&mut self, conn: Conn) {
        if !std::mem::replace(&mut self.slots[conn as usize].is_on_agenda, true) {
            self.agenda.push_back(conn);
        }
    }

    pub(super) fn set_deadline(&mut self, conn: Conn, deadline: Nanos) {
        let slot = &mut self.slots[conn as usize];
        slot.deadline = deadline;
        // An entry later than this would come too late; when its turn comes, the connection has been looked at already.
        if deadline < slot.looked_at {
            slot.looked_at = deadline;
            self.deadlines.insert(conn, deadline);
        }
    }

    pub(super) fn handle(&mut self, conn: Conn, event: Event<'_>, at: Nanos) {
        if self.recorder.turn <= at {
            self.recorder.turn_over(at);
        }
        match event {
            Event::Reached => self.handle_reached(conn, at),
            Event::Connected => self.handle_connected(conn, at),
            Event::Bytes(bytes) => self.handle_bytes(conn, bytes, at),
            Event::Writable => self.put_on_agenda(conn),
            Event::Ended => self.handle_end(conn, at),
            Event::Broken(cause) => {
                let failure = self.classify(conn, cause);
                self.lose(conn, failure, at);
            }
        }
    }

    pub(super) fn handle_bytes(&mut self, conn: Conn, bytes: &[u8], at: Nanos) {
        self.recorder.window().bytes_received += bytes.len() as u64;
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Leaving {
            return;
        }
        slot.received += bytes.len() as u64;
        let received = slot.session.receive(bytes, &mut self.news);
        self.handle_news(conn, at, bytes);
        if let Err(fault) = received {
            self.lose_over(conn, Failure::Wire(fault), at, bytes);
        }
        self.transcript.keep(conn, bytes, self.slots[conn as usize].exchange.as_ref());
    }

    pub(super) fn handle_end(&mut self, conn: Conn, at: Nanos) {
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Leaving {
            return;
        }
        let received = slot.session.ended(&mut self.news);
        self.handle_news(conn, at, &[]);
        let fault = received.err().unwrap_or(WireFault::Empty);
        self.lose(conn, Failure::Wire(fault), at);
    }

    fn handle_news(&mut self, conn: Conn, at: Nanos, bytes: &[u8]) {
        for index in 0..self.news.len() {
            match self.news[index] {
                News::FirstByte(_) => {
                    if let Some(exchange) = &mut self.slots[conn as usize].exchange {
                        exchange.first_byte = at;
                    }
                }
                News::Answered { status, mismatch, reusable, .. } => {
                    let slot = &mut self.slots[conn as usize];
                    let received = std::mem::take(&mut slot.received);
                    let Some(exchange) = slot.exchange.take() else {
                        continue;
                    };
                    self.recorder.answered(&exchange, status, received);
                    let overdue = self.overdue_answer(conn, &exchange, at);
                    let slot = &mut self.slots[conn as usize];
                    slot.carried = slot.carried.saturating_add(1);
                    let keeps = reusable && slot.unsent.is_empty();
                    self.in_flight -= 1;
                    self.lost_in_a_row = 0;
                    self.recorder.window().notes.announced_closes +=
                        u64::from(!reusable && self.rules.keep_alive);
                    match overdue.or(mismatch.map(Failure::Content)) {
                        None => {
                            self.unfinished -= 1;
                            self.recorder.correct(&exchange, at, status);
                        }
                        Some(failure) => {
                            self.keep_evidence(conn, &exchange, failure, at, bytes);
                            self.fail(&exchange, failure, at);
                        }
                    }
                    // A client would not have waited for an answer that came too late.
                    let keeps = keeps && overdue.is_none_or(Failure::is_own);
                    let is_right = overdue.is_none() && mismatch.is_none();
                    self.go_on(conn, at, keeps, is_right);
                }
            }
        }
        self.news.clear();
    }

    /// What a connection does after an answer.
    fn go_on(&mut self, conn: Conn, at: Nanos, reusable: bool, was_right: bool) {
        let arrived = self.slots[conn as usize].arrived;
        let (next, stays) = match self.supply.kind {
            Kind::Closed => (self.supply.take_one(at), reusable && self.rules.keep_alive),
            Kind::Open => (false, reusable && self.rules.keep_alive),
            Kind::Sessions { .. } => {
                let slot = &mut self.slots[conn as usize];
                slot.calls -= 1;
                let is_last = slot.calls == 0;
                let goes_on = !is_last && was_right && reusable && at < self.drain_until;
                if !goes_on && (is_last || !was_right || !reusable) {
                    self.recorder.session_over(arrived, is_last && was_right);
                }
                (goes_on, goes_on)
            }
        };
        if next {
            let due = match self.supply.kind {
                Kind::Sessions { .. } => arrived,
                Kind::Closed | Kind::Open => {
                    self.recorder.due(at, 1);
                    at
                }
            };
            self.slots[conn as usize].exchange = Some(self.new_exchange(at, due));
        }
        let slot = &mut self.slots[conn as usize];
        slot.deadline = Nanos::MAX;
        slot.free_since = at;
        slot.state = if stays { State::Free } else { State::Leaving };
        if next || !stays {
            self.put_on_agenda(conn);
        } else {
            self.rest(conn);
        }
    }

    /// An established connection without an exchange waits for one; in a closed loop, for the next turn.
    pub(super) fn rest(&mut self, conn: Conn) {
        if self.supply.kind == Kind::Open || self.is_held_back() {
            self.resting.push_back(conn);
        }
    }

    /// Whether nothing may start, because the turn is over.
    pub(super) fn is_held_back(&self) -> bool {
        self.supply.held_back_since.is_some()
    }

    /// Whether nothing is under way that must be waited for before the turn is passed on.
    pub(super) fn is_drained(&self) -> bool {
        self.unfinished == 0 && self.connecting == 0 && self.agenda.is_empty()
    }

    /// The next turn has come: the connections of a closed loop go on.
    pub(super) fn resume(&mut self, now: Nanos) {
        self.supply.resume(now);
        if self.supply.kind != Kind::Closed {
            return;
        }
        for conn in std::mem::take(&mut self.resting) {
            let slot = &mut self.slots[conn as usize];
            if slot.state == State::Free && slot.exchange.is_none() {
                slot.free_since = now;
                self.bind_if_closed(conn, now);
                self.put_on_agenda(conn);
            }
        }
    }

    /// Nothing starts any more from `at` on, which may lie a little in the future.
    pub(super) fn stop(&mut self, at: Nanos) {
        self.is_stopped = true;
        self.supply.stop(at);
        self.recorder.stop_at(at);
    }

    /// Exchanges under way at the end are waited for until their own time is up, so that no slow answer is left out;
    /// after a stop, only for a short while.
    pub(super) fn is_over(&mut self, now: Nanos) -> bool {
        if !self.supply.is_over(now) {
            return false;
        }
        if self.unfinished == 0 {
            return true;
        }
        let end = self.recorder.measured_until();
        if end <= now && self.drain_until == Nanos::MAX {
            let patience = self.rules.timeout;
            let patience = if self.is_stopped { patience.min(DRAIN_MAX) } else { patience };
            self.drain_until = end.saturating_add(patience);
        }
        self.drain_until <= now
    }

    pub(super) fn wake(&mut self, now: Nanos) -> Nanos {
        if !self.agenda.is_empty() {
            return now;
        }
        let again = self.backing_off.peek().map(|Reverse((at, _))| *at);
        let again = again.filter(|_| !self.is_held_back());
        let look = self.deadlines.next_look();
        let waiting = self.waiting.front().map(|first| self.deadline(first));
        let times = [self.supply.next(now), again, look, waiting, Some(self.drain_until)];
        let soon = now.saturating_add(LOOK_UP).min(self.recorder.turn);
        times.into_iter().flatten().fold(soon, Nanos::min)
    }

    /// The run is over: an exchange that has not ended by now either has no time left, or is left under way.
    pub(super) fn leave_the_rest(&mut self, now: Nanos) {
        for conn in 0..self.slots.len() {
            if let Some(exchange) = self.slots[conn].exchange {
                match self.deadline(&exchange) <= now {
                    true => self.expire_slot(conn as Conn, now),
                    false => self.recorder.left(&exchange, now),
                }
            }
        }
        for exchange in std::mem::take(&mut self.waiting) {
            self.recorder.left(&exchange, now);
        }
    }
}
