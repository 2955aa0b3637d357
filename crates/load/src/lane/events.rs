//! Takes in what happened on a connection, and decides how each of its exchanges goes on.

use wire::{ExchangeId, Mismatch, News, Session, WireFault};

use super::loss::Loss;
use super::pool::Pool;
use super::slab::Queue;
use super::slot::{State, Unsent};
use crate::Nanos;
use crate::engine::{Conn, Event};
use crate::failure::Failure;
use crate::recording::SessionEnd;
use crate::supply::Kind;

/// A request is sent this often at most, if each time the server refuses to look at it, or ends a connection that has
/// answered nothing.
const TRIES_MAX: u8 = 3;

impl<'a, S: Session<'a>> Pool<'a, S> {
    pub(super) fn handle(&mut self, conn: Conn, event: Event<'_>, at: Nanos) {
        if self.recorder.turn <= at {
            self.recorder.turn_over(at);
        }
        match event {
            Event::Reached => self.handle_reached(conn, at),
            Event::Connected => self.handle_connected(conn, at),
            Event::Bytes(bytes) => self.handle_bytes(conn, bytes, at),
            Event::Writable => {
                let slot = &mut self.slots[conn as usize];
                slot.is_choked = false;
                if S::SHARED && slot.state == State::Ready {
                    slot.room_since = at;
                }
                self.put_on_agenda(conn);
                self.use_room(conn, at);
            }
            Event::Ended => self.handle_end(conn, at),
            Event::Broken(cause) => self.lose(conn, Loss::Broken(cause), at),
        }
    }

    fn handle_bytes(&mut self, conn: Conn, bytes: &[u8], at: Nanos) {
        self.recorder.window().bytes_received += bytes.len() as u64;
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Leaving {
            return;
        }
        self.output.clear();
        let received = slot.session.receive(bytes, &mut self.news, &mut self.output);
        // The server may have opened a window, and said nothing else.
        if slot.session.has_more() {
            self.put_on_agenda(conn);
        }
        self.owe_output(conn);
        self.handle_news(conn, at, bytes);
        if let Err(fault) = received {
            self.lose_over(conn, Loss::Failed(Failure::Wire(fault.into())), at, bytes);
        }
        self.listen(conn, bytes);
    }

    fn handle_end(&mut self, conn: Conn, at: Nanos) {
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Leaving {
            return;
        }
        let ended = slot.session.ended(&mut self.news);
        self.handle_news(conn, at, &[]);
        let loss =
            ended.map_or_else(|fault| Loss::Failed(Failure::Wire(fault.into())), |()| Loss::Ended);
        self.lose(conn, loss, at);
    }

    /// What the session has to say leaves with the next write.
    pub(super) fn owe_output(&mut self, conn: Conn) {
        if !self.output.is_empty() {
            Unsent::push(&mut self.slots[conn as usize].unsent, &self.output);
            self.put_on_agenda(conn);
        }
    }

    pub(super) fn handle_news(&mut self, conn: Conn, at: Nanos, bytes: &[u8]) {
        for index in 0..self.news.len() {
            match self.news[index] {
                News::FirstByte(id) => {
                    if let Some(exchange) = self.slab.get_mut(id) {
                        (exchange.first_byte, exchange.is_interim) = (at, false);
                    }
                }
                News::Interim(id) => {
                    if let Some(exchange) = self.slab.get_mut(id) {
                        exchange.is_interim = true;
                    }
                }
                News::Part { exchange, at, len } => {
                    self.parts.push((exchange, at as usize..(at + len) as usize));
                }
                News::Answered { exchange, status, octets, mismatch, reusable } => {
                    let answer = Answer { status, octets, reusable };
                    let wrong = mismatch.and_then(|it| self.failing(exchange, it));
                    self.handle_answer(conn, exchange, answer, wrong, at, bytes);
                }
                News::Failed(id, fault) => {
                    if self.slab.get(id).is_some() {
                        self.in_flight -= 1;
                        let failure = Failure::Wire(fault.into());
                        self.keep_evidence(conn, id, failure, at, bytes);
                        self.fail(id, failure, at);
                        self.go_on(conn, at, true, false);
                    }
                }
                News::Refused(id) => self.handle_refusal(conn, id, at, bytes),
                News::Introduced => {
                    let established = self.slots[conn as usize].room_since;
                    self.recorder.ready(at.saturating_sub(established));
                }
                News::Ready => self.handle_ready(conn, at),
                News::Room => self.use_room(conn, at),
                News::Draining => self.drain(conn, at),
                News::Stalled(id) => self.windows.stalled(id, at),
                News::Flowing(id) => self.end_wait(id, at),
                News::Starved => self.windows.starved(conn, at),
                News::Fed => self.end_starving(conn, at),
            }
        }
        self.news.clear();
    }

    /// The failure that a mismatch is. A body that only differs from the usual one is counted, and is none.
    fn failing(&mut self, id: ExchangeId, mismatch: Mismatch) -> Option<Failure> {
        let values = self.slab.get(id)?.values;
        let expect = &self.rules.asks.choose(values).expect;
        let failing = expect.failing(Some(mismatch)).map(Failure::Content);
        self.recorder.window().notes.unlike_bodies += u64::from(failing.is_none());
        failing
    }

    fn handle_ready(&mut self, conn: Conn, at: Nanos) {
        self.connecting -= 1;
        let slot = &mut self.slots[conn as usize];
        slot.state = State::Ready;
        slot.room_since = at;
        slot.is_full = false;
        self.use_room(conn, at);
    }

    /// The connection has room for more exchanges than before.
    pub(super) fn use_room(&mut self, conn: Conn, at: Nanos) {
        let slot = &mut self.slots[conn as usize];
        if slot.is_full && 0 < slot.session.room() {
            slot.is_full = false;
            slot.room_since = at;
        }
        self.bind_if_closed(conn, at);
        if S::SHARED && self.is_shut(conn) {
            self.wait_for_room(conn, at);
        }
        if !self.slots[conn as usize].bound.is_empty() {
            self.put_on_agenda(conn);
        }
        let may_rest = matches!(self.supply.kind, Kind::Open | Kind::Closed);
        if may_rest && 0 < self.free_room(conn) {
            self.rest(conn);
        }
    }

    fn handle_answer(
        &mut self,
        conn: Conn,
        id: ExchangeId,
        answer: Answer,
        wrong: Option<Failure>,
        at: Nanos,
        bytes: &[u8],
    ) {
        self.end_wait(id, at);
        let Some(exchange) = self.slab.get(id) else { return };
        self.recorder.answered(exchange, answer.status, answer.octets);
        let is_overdue = exchange.intended.saturating_add(self.rules.timeout) <= at;
        let overdue = if is_overdue { Some(self.overdue_answer(conn, id)) } else { None };
        let slot = &mut self.slots[conn as usize];
        slot.carried = slot.carried.saturating_add(1);
        let keeps = answer.reusable && (S::SHARED || slot.unsent.is_none());
        self.in_flight -= 1;
        self.lost_in_a_row = 0;
        self.recorder.window().notes.announced_closes +=
            u64::from(!answer.reusable && self.rules.keep_alive && !S::SHARED);
        let failure = overdue.or(wrong).or_else(|| self.judge_time(id, at));
        match failure {
            None => {
                self.recorder.correct(&self.slab[id], at, answer.status);
                self.slab.free(id);
            }
            Some(failure) => {
                self.keep_evidence(conn, id, failure, at, bytes);
                self.fail(id, failure, at);
            }
        }
        // A client would not have waited for an answer that came too late.
        let keeps = keeps && (S::SHARED || overdue.is_none_or(Failure::is_own));
        self.go_on(conn, at, keeps, failure.is_none());
    }

    /// The failure of an answer that came before it could be right. Another one that was to wait is counted. A request
    /// leaves after it was stamped, and its answer came before it was read: none is called early that was not.
    fn judge_time(&mut self, id: ExchangeId, at: Nanos) -> Option<Failure> {
        let exchange = self.rules.judges_times.then(|| self.slab.get(id)).flatten()?;
        let expect = &self.rules.asks.choose(exchange.values).expect;
        if let Some(rule) = expect.meaning()
            && let Some(failure) = self.recorder.judge_time(exchange, rule, at)
        {
            return Some(failure);
        }
        let wait = expect.wait_ns?;
        if expect.is_early(at - exchange.sent) {
            return Some(Failure::Early);
        }
        self.recorder.waited(exchange, wait, at);
        None
    }

    /// The server has not looked at the request: it goes out again, and its intended start is kept.
    fn handle_refusal(&mut self, conn: Conn, id: ExchangeId, at: Nanos, bytes: &[u8]) {
        self.end_wait(id, at);
        // A connection that carries answers and ends is no refusal of this request.
        let is_counted = self.slots[conn as usize].state == State::Ready || self.is_barren(conn);
        let Some(exchange) = self.slab.get_mut(id) else { return };
        self.in_flight -= 1;
        exchange.tries += u8::from(is_counted);
        self.transcript.forget(id);
        if TRIES_MAX <= exchange.tries {
            let failure = Failure::Wire(WireFault::Refused);
            self.keep_evidence(conn, id, failure, at, bytes);
            self.fail(id, failure, at);
            return self.go_on(conn, at, true, false);
        }
        self.recorder.unsent(&self.slab[id], at);
        self.slab[id].go_again(at);
        self.recorder.window().notes.refused += 1;
        self.send_again(conn, id);
        match self.slots[conn as usize].state {
            State::Ready => self.use_room(conn, at),
            State::Draining => self.go_on_draining(conn),
            _ => {}
        }
    }

    /// What a connection does after one of its exchanges has ended.
    pub(super) fn go_on(&mut self, conn: Conn, at: Nanos, keeps: bool, was_right: bool) {
        let stays = match self.supply.kind {
            Kind::Closed | Kind::Open => keeps && self.rules.keep_alive,
            Kind::Sessions { calls } => self.next_call(conn, at, calls, (keeps, was_right)),
        };
        if self.slots[conn as usize].state == State::Draining {
            return self.go_on_draining(conn);
        }
        // The read that ended the connection brought this answer, too.
        if self.slots[conn as usize].is_replaced {
            return;
        }
        if stays {
            return self.use_room(conn, at);
        }
        self.slots[conn as usize].state = State::Leaving;
        // The next request of a closed loop is due now, though it must wait for another connection.
        if self.supply.kind == Kind::Closed {
            self.wants_next(conn, at);
        }
        self.put_on_agenda(conn);
    }

    /// Whether the connection's session has another call to make, which is bound to it.
    fn next_call(
        &mut self,
        conn: Conn,
        at: Nanos,
        calls: u32,
        (keeps, was_right): (bool, bool),
    ) -> bool {
        let slot = &mut self.slots[conn as usize];
        slot.calls -= 1;
        let (arrived, unreached) = (slot.arrived, slot.calls);
        let end = match (was_right, unreached) {
            (false, _) => SessionEnd::Failed,
            (true, 0) => SessionEnd::Complete,
            (true, _) if !keeps => SessionEnd::Cut { calls: calls - unreached, unreached },
            (true, _) => {
                let goes_on = at < self.drain_until;
                if goes_on {
                    let call = self.new_exchange(at, arrived);
                    self.bind(conn, call);
                }
                return goes_on;
            }
        };
        self.recorder.session_over(arrived, end);
        false
    }

    /// The peer takes no more exchanges here: another connection takes this one's place at once, so that the pool is
    /// never smaller.
    pub(super) fn drain(&mut self, conn: Conn, at: Nanos) {
        let slot = &mut self.slots[conn as usize];
        if slot.state != State::Ready {
            return;
        }
        slot.state = State::Draining;
        if let Kind::Closed | Kind::Open = self.supply.kind {
            let mut bound = std::mem::take(&mut slot.bound);
            slot.is_replaced = true;
            // A server that takes no request on any connection is not tried again without a pause, nor for ever.
            let is_barren = self.is_barren(conn);
            self.lost_in_a_row += u32::from(is_barren);
            self.draining += 1;
            if is_barren {
                bound = self.count_try(conn, bound, at);
            }
            // Without keep-alive, each connection is begun for a request.
            let is_wanted = self.rules.keep_alive || !bound.is_empty();
            if is_wanted && let Some(next) = self.place() {
                self.slots[next as usize].bound = bound;
                self.begin_later(next, at);
            } else {
                while let Some(id) = self.slab.pop_front(&mut bound) {
                    self.slab.insert_by_intended(&mut self.waiting, id);
                }
            }
        }
        self.go_on_draining(conn);
    }

    /// Whether a connection that ends has carried no answer, and will carry none.
    fn is_barren(&self, conn: Conn) -> bool {
        let slot = &self.slots[conn as usize];
        let answers = |news: &News<S::Fault>| matches!(news, News::Answered { .. });
        slot.carried == 0 && slot.session.is_at_rest() && !self.news.iter().any(answers)
    }

    /// The connection was of no use to these exchanges: those for which it was the last try have failed. Returns the
    /// others.
    fn count_try(&mut self, conn: Conn, mut bound: Queue, at: Nanos) -> Queue {
        let mut others = Queue::default();
        while let Some(id) = self.slab.pop_front(&mut bound) {
            self.slab[id].tries += 1;
            self.slab[id].go_again(at);
            if TRIES_MAX <= self.slab[id].tries {
                let failure = Failure::Wire(WireFault::Refused);
                self.keep_evidence(conn, id, failure, at, &[]);
                self.fail(id, failure, at);
            } else {
                self.slab.push_back(&mut others, id);
            }
        }
        others
    }

    /// A connection that drains is closed when nothing is under way on it.
    fn go_on_draining(&mut self, conn: Conn) {
        let slot = &mut self.slots[conn as usize];
        if slot.session.is_at_rest() {
            slot.state = State::Leaving;
            self.put_on_agenda(conn);
        }
    }

    /// Puts the names of the exchanges that have left on this connection into `listed`.
    pub(super) fn list_under_way(&mut self, conn: Conn) {
        self.listed.clear();
        self.slots[conn as usize].session.under_way(&mut self.listed);
    }
}

/// A whole answer.
#[derive(Clone, Copy)]
struct Answer {
    status: u16,
    octets: u64,
    /// Whether another request may follow on its connection.
    reusable: bool,
}
