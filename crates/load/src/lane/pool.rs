//! A lane's connections and queues: which connection carries which exchange, and what becomes due when.
//! Touches no engine; what the engine must do is put on the agenda.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use wire::{Chance, ExchangeId, News, Progress, Session, Values};

use super::held_back::LATER;
use super::slab::{Queue, Slab};
use super::slot::{Exchange, Slot, State};
use super::stalls::Stalls;
use super::transcript::Transcript;
use super::windows::WindowWaits;
use super::{BACK_OFF_MAX, DRAIN_MAX, PATIENCE, Rules, Seed};
use crate::Nanos;
use crate::deadlines::Deadlines;
use crate::engine::Conn;
use crate::failure::Failure;
use crate::order::Spread;
use crate::pause::LOOK_UP;
use crate::recorder::Recorder;
use crate::supply::{Kind, Supply};

/// All of a lane except its engine.
pub(super) struct Pool<'a, S: Session<'a>> {
    pub(super) rules: Rules<'a>,
    pub(super) slots: Vec<Slot<'a, S>>,
    pub(super) new_session: &'a dyn Fn() -> S,
    pub(super) supply: Supply,
    pub(super) recorder: Recorder,
    /// Exchanges begun and not ended.
    pub(super) slab: Slab,
    /// Due, and waiting for room on a connection.
    pub(super) waiting: Queue,
    /// Connections with room, the one to be used next first. An entry may be outdated.
    pub(super) resting: VecDeque<Conn>,
    /// Places without a connection.
    pub(super) vacant: Vec<Conn>,
    /// Connections of the opening that have not been begun.
    pub(super) to_begin: VecDeque<Conn>,
    /// Connections to be begun again when the server has had time to recover.
    pub(super) backing_off: BinaryHeap<Reverse<(Nanos, Conn)>>,
    pub(super) agenda: VecDeque<Conn>,
    pub(super) deadlines: Deadlines,
    /// When the second segments of heads leave, the next one first. An entry may be outdated.
    pub(super) held_back: VecDeque<(Nanos, Conn, ExchangeId)>,
    pub(super) connecting: usize,
    /// Connections whose place another one has taken, and which are not closed yet.
    pub(super) draining: usize,
    /// Of those that connect, those that TCP has connected: their handshake with TLS is under way.
    pub(super) handshaking: usize,
    pub(super) in_flight: usize,
    /// Connections lost since the last answer.
    pub(super) lost_in_a_row: u32,
    pub(super) drain_until: Nanos,
    pub(super) is_stopped: bool,
    pub(super) stalls: Stalls,
    pub(super) chance: Chance,
    pub(super) next_seq: u64,
    pub(super) seq_stride: u64,
    pub(super) transcript: Transcript,
    pub(super) windows: WindowWaits,
    pub(super) news: Vec<News<S::Fault>>,
    /// Where in the bytes that came there are parts of answers' bodies, while they are gone through.
    pub(super) parts: Vec<(ExchangeId, Range<usize>)>,
    pub(super) found: Vec<Conn>,
    /// Exchanges of a connection, while they are gone through.
    pub(super) listed: Vec<(ExchangeId, Progress)>,
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
            slab: Slab::new(),
            waiting: Queue::default(),
            resting: VecDeque::new(),
            vacant: Vec::new(),
            to_begin: VecDeque::new(),
            backing_off: BinaryHeap::new(),
            agenda: VecDeque::new(),
            deadlines: Deadlines::new(rules.timeout),
            held_back: VecDeque::new(),
            connecting: 0,
            draining: 0,
            handshaking: 0,
            in_flight: 0,
            lost_in_a_row: 0,
            drain_until: Nanos::MAX,
            is_stopped: false,
            stalls: Stalls::default(),
            chance: Chance::new(seed.chance),
            next_seq: seed.first_seq,
            seq_stride: seed.seq_stride,
            transcript: Transcript::default(),
            windows: WindowWaits::default(),
            news: Vec::new(),
            parts: Vec::new(),
            found: Vec::new(),
            listed: Vec::new(),
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
        self.slots.push(Slot::new((self.new_session)()));
        conn
    }

    /// A place for one more connection, if the pool may grow.
    pub(super) fn place(&mut self) -> Option<Conn> {
        if self.free_places() == 0 {
            return None;
        }
        self.vacant.pop().or_else(|| Some(self.new_slot()))
    }

    /// How many more connections the pool may have.
    fn free_places(&self) -> usize {
        let taken = self.slots.len() - self.vacant.len() - self.draining;
        self.supply.max_connections.saturating_sub(taken)
    }

    /// After a stall, and when all that came meanwhile has been read: which places the server has not kept.
    pub(super) fn settle_stalls(&mut self) {
        if self.stalls.unread_since.is_some() {
            self.stalls.settle(self.free_for_requests(), self.in_flight);
        }
    }

    /// How many requests could leave now, or on connections that may be begun now.
    fn free_for_requests(&self) -> usize {
        let room: usize = self.resting.iter().map(|&conn| self.free_room(conn)).sum();
        room + self.free_places()
    }

    /// How long stalls have kept this exchange, which waited so long, from leaving.
    pub(super) fn kept(&self, id: ExchangeId, wait: &Range<Nanos>) -> Nanos {
        let stalled = self.slab[id].stalled.min(wait.end.saturating_sub(wait.start));
        self.stalls.kept(wait).max(stalled)
    }

    /// Nobody waits for a place any more: for each that waits a connection is being opened.
    pub(super) fn end_queue(&mut self) {
        if self.waiting.len() <= self.connecting {
            self.stalls.end_queue();
        }
    }

    /// The connection to be used next, of those that have room.
    pub(super) fn rested(&mut self) -> Option<Conn> {
        loop {
            let conn = self.resting.pop_front()?;
            self.slots[conn as usize].is_resting = false;
            if 0 < self.free_room(conn) {
                return Some(conn);
            }
        }
    }

    /// How many more exchanges this connection may be given.
    pub(super) fn free_room(&self, conn: Conn) -> usize {
        let slot = &self.slots[conn as usize];
        // What the kernel does not take, waits elsewhere.
        if slot.state != State::Ready || slot.is_choked {
            return 0;
        }
        match self.rules.keep_alive || slot.carried == 0 {
            true => slot.session.room().saturating_sub(slot.bound.len()),
            false => 0,
        }
    }

    pub(super) fn bind(&mut self, conn: Conn, exchange: ExchangeId) {
        self.slab.push_back(&mut self.slots[conn as usize].bound, exchange);
    }

    /// `due`: when its session was due; for all other loads, its own intended start.
    pub(super) fn new_exchange(&mut self, intended: Nanos, due: Nanos) -> ExchangeId {
        let seq = self.next_seq;
        self.next_seq += self.seq_stride;
        let values = Values { seq, random: self.chance.draw() };
        let exchange = Exchange::new(intended, due, values);
        self.recorder.attempted(&exchange);
        self.slab.insert(exchange)
    }

    /// The exchange has ended in a failure.
    pub(super) fn fail(&mut self, id: ExchangeId, failure: Failure, at: Nanos) {
        self.end_wait(id, at);
        self.recorder.failed(&self.slab[id], failure, at, self.rules.timeout);
        self.slab.free(id);
    }

    /// When a request has waited as long as it may.
    pub(super) fn deadline(&self, exchange: ExchangeId) -> Nanos {
        self.slab[exchange].intended.saturating_add(self.rules.timeout)
    }

    /// Takes what is due by the schedule.
    pub(super) fn take_due(&mut self, now: Nanos) {
        let is_late = self.stalls.unread_since.is_some();
        let free = if is_late { self.free_for_requests() } else { 0 };
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
            if self.waiting.len() < free {
                self.slab[exchange].stalled = now - intended;
            }
            self.slab.push_back(&mut self.waiting, exchange);
        }
    }

    /// The next exchange of a closed loop, if one may leave now: one that goes out again, or a new one. What is under way
    /// on connections that drain counts, so that there are never more than were ordered.
    fn next_of_closed(&mut self, now: Nanos) -> Option<ExchangeId> {
        if let Some(again) = self.slab.pop_front(&mut self.waiting) {
            return Some(again);
        }
        if self.supply.concurrency <= self.slab.len() || !self.supply.take_one(now) {
            return None;
        }
        self.recorder.due(now, 1);
        Some(self.new_exchange(now, now))
    }

    /// A closed loop's connection gets as many exchanges as it has room for, as long as there are any.
    pub(super) fn bind_if_closed(&mut self, conn: Conn, now: Nanos) {
        if self.supply.kind != Kind::Closed {
            return;
        }
        for _ in 0..self.free_room(conn) {
            let Some(exchange) = self.next_of_closed(now) else { return };
            self.bind(conn, exchange);
        }
    }

    /// Whether the server lets nothing begin on this connection, though nothing is under way on it.
    pub(super) fn is_shut(&self, conn: Conn) -> bool {
        let slot = &self.slots[conn as usize];
        slot.state == State::Ready && slot.session.room() == 0 && slot.session.is_at_rest()
    }

    /// The next exchange of a closed loop waits here for room, as long as its time lasts: the loop does not stop.
    pub(super) fn wait_for_room(&mut self, conn: Conn, now: Nanos) {
        let is_free = self.rules.keep_alive || self.slots[conn as usize].carried == 0;
        if self.supply.kind == Kind::Closed && is_free && self.wants_next(conn, now) {
            let first = self.slab.first(self.slots[conn as usize].bound);
            let deadline = first.map_or(now, |id| self.deadline(id));
            self.watch(conn, deadline);
        }
    }

    /// Whether a connection is to be begun here; that of a closed loop gets its first exchange. A place for which there
    /// is no use stays vacant.
    pub(super) fn wants_connection(&mut self, conn: Conn, now: Nanos) -> bool {
        if self.supply.kind != Kind::Closed || !self.slots[conn as usize].bound.is_empty() {
            return true;
        }
        if self.wants_next(conn, now) {
            return true;
        }
        // A pool is never smaller than it was ordered, even if all that is under way is elsewhere.
        let is_wanted = self.rules.keep_alive && self.supply.may_start(now);
        if !is_wanted {
            self.vacant.push(conn);
        }
        is_wanted
    }

    /// Whether a closed loop has fewer exchanges under way than were ordered, or one that goes out again.
    pub(super) fn is_short(&self) -> bool {
        !self.waiting.is_empty() || self.slab.len() < self.supply.concurrency
    }

    /// Binds the next exchange of a closed loop to a connection that has none and is not ready; whether it has one then.
    pub(super) fn wants_next(&mut self, conn: Conn, now: Nanos) -> bool {
        if self.slots[conn as usize].bound.is_empty()
            && let Some(exchange) = self.next_of_closed(now)
        {
            self.bind(conn, exchange);
        }
        !self.slots[conn as usize].bound.is_empty()
    }

    /// What a closed loop has to send goes to connections with room, then to places that are vacant: the loop never runs
    /// dry.
    pub(super) fn serve_closed(&mut self, now: Nanos) {
        while !self.waiting.is_empty()
            || self.slab.len() < self.supply.concurrency && self.supply.may_start(now)
        {
            if let Some(conn) = self.rested() {
                self.use_room(conn, now);
            } else if let Some(conn) = self.place() {
                self.begin_later(conn, now);
            } else {
                return;
            }
        }
    }

    /// What to do with a place that has just lost its connection, and for which no exchange waits.
    pub(super) fn refill(&mut self, conn: Conn, now: Nanos) {
        let slot = &mut self.slots[conn as usize];
        if std::mem::take(&mut slot.is_replaced) {
            self.draining -= 1;
            return self.vacant.push(conn);
        }
        match self.supply.kind {
            Kind::Closed => self.begin_later(conn, now),
            Kind::Open | Kind::Sessions { .. } => self.vacant.push(conn),
        }
    }

    /// Has a connection begun: at once, unless many were lost in a row.
    pub(super) fn begin_later(&mut self, conn: Conn, now: Nanos) {
        let excess = self.lost_in_a_row.saturating_sub(PATIENCE).min(20);
        let slow_down = PATIENCE <= self.lost_in_a_row;
        let pause = if slow_down { (1_000_000 << excess).min(BACK_OFF_MAX) } else { 0 };
        self.backing_off.push(Reverse((now + pause, conn)));
    }

    pub(super) fn put_on_agenda(&mut self, conn: Conn) {
        if !std::mem::replace(&mut self.slots[conn as usize].is_on_agenda, true) {
            self.agenda.push_back(conn);
        }
    }

    /// The exchange that leaves next on this connection, if there is room for it; it waits no more.
    pub(super) fn next_to_leave(&mut self, conn: Conn) -> Option<ExchangeId> {
        let slot = &mut self.slots[conn as usize];
        if slot.bound.is_empty() || slot.state != State::Ready || slot.session.room() == 0 {
            return None;
        }
        self.slab.pop_front(&mut slot.bound)
    }

    /// Puts an exchange onto its connection; `output` takes its bytes, unless they are always the same.
    pub(super) fn submit(&mut self, conn: Conn, id: ExchangeId, now: Nanos) -> Option<&'a [u8]> {
        let slot = &self.slots[conn as usize];
        let own_connect = slot.has_own_connection(self.supply.kind);
        let ready = self.slab[id].ready;
        let wait = ready..ready.max(slot.room_since);
        let kept = self.kept(id, &wait);
        let slot = &mut self.slots[conn as usize];
        let exchange = &mut self.slab[id];
        exchange.sent = now;
        exchange.ready = wait.end - kept;
        let (values, intended) = (exchange.values, exchange.intended);
        let ask = self.rules.asks.choose(values);
        exchange.form = ask.form(values);
        if exchange.is_in_segments() {
            slot.held_back = Some(id);
            self.held_back.push_back((now + LATER, conn, id));
        }
        self.recorder.sent(exchange, own_connect);
        self.in_flight += 1;
        let constant = slot.session.submit(id, ask, values, &mut self.news, &mut self.output);
        self.watch(conn, intended + self.rules.timeout);
        constant
    }

    /// Has the connection looked at when this time is over.
    pub(super) fn watch(&mut self, conn: Conn, deadline: Nanos) {
        let slot = &mut self.slots[conn as usize];
        // An entry later than this would come too late; when its turn comes, the connection has been looked at already.
        if deadline < slot.looked_at {
            slot.looked_at = self.deadlines.insert(conn, deadline);
        }
    }

    /// A connection with room waits for exchanges; in a closed loop, for the next turn.
    pub(super) fn rest(&mut self, conn: Conn) {
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Ready && !std::mem::replace(&mut slot.is_resting, true) {
            match self.rules.spread {
                Spread::Even => self.resting.push_back(conn),
                Spread::Fill => self.resting.push_front(conn),
            }
        }
    }

    /// Whether nothing is under way that must be waited for before the turn is passed on.
    pub(super) fn is_drained(&self) -> bool {
        self.slab.len() == 0 && self.connecting == 0 && self.agenda.is_empty()
    }

    /// The next turn has come: the connections of a closed loop go on.
    pub(super) fn resume(&mut self, now: Nanos) {
        self.supply.resume(now);
        if self.supply.kind != Kind::Closed {
            return;
        }
        for conn in std::mem::take(&mut self.resting) {
            self.slots[conn as usize].is_resting = false;
            if 0 < self.free_room(conn) {
                self.slots[conn as usize].room_since = now;
                self.use_room(conn, now);
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
        if self.slab.len() == 0 {
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
        let look = self.deadlines.next_look();
        let waiting = self.slab.first(self.waiting).map(|first| self.deadline(first));
        let second = self.held_back.front().map(|(at, ..)| *at);
        let times = [self.supply.next(now), again, look, waiting, second, Some(self.drain_until)];
        let soon = now.saturating_add(LOOK_UP).min(self.recorder.turn);
        times.into_iter().flatten().fold(soon, Nanos::min)
    }

    /// The run is over: an exchange that has not ended by now either has no time left, or is left under way.
    pub(super) fn leave_the_rest(&mut self, now: Nanos) {
        for conn in 0..self.slots.len() {
            self.expire_slot(conn as Conn, now);
            self.drop_overdue(conn as Conn, now);
        }
        self.end_all_waits(now);
        for exchange in self.slab.iter() {
            self.recorder.left(exchange, now);
        }
    }
}
