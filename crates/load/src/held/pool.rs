//! A lane's held connections and what they wait for. Touches no engine; what the engine must do is put on the agenda.

use std::collections::VecDeque;

use wire::{Chance, HeldSession, Socket, Stream};

use super::count::Count;
use super::slot::{HeldSlot, PendingEcho, State};
use super::{HoldOrder, HoldWhat, HoldWindow, Loss, Plateau, Sends};
use crate::engine::{Conn, Event};
use crate::failure::Failure;
use crate::lane::unconnected;
use crate::order::nanos;
use crate::{Nanos, SECOND};

/// After a loss, a place rests this long before a connection is begun in it again.
const REST: Nanos = SECOND;

/// All of a lane except its engine.
pub(super) struct HeldPool<'a> {
    pub(super) order: &'a HoldOrder,
    /// This lane's number among all lanes.
    lane: usize,
    pub(super) slots: Vec<HeldSlot<'a>>,
    pub(super) count: Count<'a>,
    chance: Chance,
    /// Begun connections, and when to look at them.
    pub(super) opening: VecDeque<(Nanos, Conn, u32)>,
    /// Texts that were sent, and when to look for their echoes.
    echo_deadlines: VecDeque<(Nanos, Conn, u32)>,
    /// Lost connections, and when to begin them again.
    resting: VecDeque<(Nanos, Conn)>,
    /// When the next one may be begun again.
    next_again: Nanos,
    pub(super) agenda: VecDeque<Conn>,
    output: Vec<u8>,
    /// Echoes and broadcasts that were due.
    texts_due: u64,
    /// Where the next echo looks for a free connection.
    next_sender: usize,
    pub(super) number: usize,
    pub(super) is_leaving: bool,
}

impl<'a> HeldPool<'a> {
    pub(super) fn new(order: &'a HoldOrder, lane: usize, origin: u64) -> HeldPool<'a> {
        HeldPool {
            order,
            lane,
            slots: Vec::new(),
            count: Count::new(order, origin),
            chance: Chance::new(order.seed ^ (lane as u64).wrapping_mul(0x9e37_79b9)),
            opening: VecDeque::new(),
            echo_deadlines: VecDeque::new(),
            resting: VecDeque::new(),
            next_again: 0,
            agenda: VecDeque::new(),
            output: Vec::new(),
            texts_due: 0,
            next_sender: 0,
            number: 0,
            is_leaving: false,
        }
    }

    fn new_held(&self) -> HeldSession<'a> {
        match &self.order.what {
            HoldWhat::Stream { ask, cut } => HeldSession::Stream(Stream::new(
                ask,
                *cut,
                &self.order.limits,
                self.order.held_limits,
            )),
            HoldWhat::Socket { ask } => {
                HeldSession::Socket(Socket::new(ask, &self.order.limits, self.order.held_limits))
            }
        }
    }

    /// The lane's next connection that was never begun: its number among all connections.
    fn next_new(&self) -> Option<usize> {
        let global = self.lane + self.slots.len() * self.order.share.of;
        (global < self.order.ramp.connections).then_some(global)
    }

    /// The next connection to be begun, and when.
    pub(super) fn next_beginning(&self) -> Option<(Nanos, Conn)> {
        let new = self.next_new().map(|n| (self.order.ramp.due(n), self.slots.len() as Conn));
        let again = self.resting.front().copied();
        match (new, again) {
            (Some(new), Some(again)) if again.0 < new.0 => Some(again),
            (new, again) => new.or(again),
        }
    }

    /// Makes a place for it; returns whether it is begun again.
    pub(super) fn take_beginning(&mut self, conn: Conn) -> bool {
        if (conn as usize) < self.slots.len() {
            self.resting.pop_front();
            return true;
        }
        let held = self.new_held();
        self.slots.push(HeldSlot::new(held));
        false
    }

    pub(super) fn handle(&mut self, conn: Conn, event: Event<'_>, at: Nanos) {
        self.count.wakes(at);
        let slot = &mut self.slots[conn as usize];
        if matches!(slot.state, State::Vacant | State::Leaving) {
            return;
        }
        match event {
            Event::Reached => {
                slot.is_reached = true;
                self.count.connected(at - slot.begun);
            }
            Event::Connected => {
                slot.connected = at;
                slot.state = State::Opening;
                if !std::mem::take(&mut slot.is_reached) {
                    self.count.connected(at - slot.begun);
                }
                let chance = self.chance.draw();
                slot.held.begin(chance, &mut self.output);
                self.keep_unsent(conn);
            }
            Event::Bytes(bytes) => self.receive(conn, bytes, at),
            Event::Writable => self.put_on_agenda(conn),
            Event::Ended => {
                let end = slot.held.ended(&mut |_| {});
                self.lose(conn, end.err().map_or(Loss::Close, Loss::from));
            }
            Event::Broken(cause) => {
                let is_connecting = slot.state == State::Connecting;
                self.lose(conn, Loss::Failure(broken(cause.into(), is_connecting)));
            }
        }
    }

    fn receive(&mut self, conn: Conn, bytes: &[u8], at: Nanos) {
        self.count.received(bytes.len() as u64, at);
        // What still waits for the peer bounds what may be added: a peer that sends many pings and reads no pongs gets
        // few.
        let HeldSlot { held, inbox, begun, connected, unsent, .. } = &mut self.slots[conn as usize];
        let count = &mut self.count;
        let (mut is_opened, mut over) = (false, None);
        let unsent_before = unsent.len();
        let result = held.receive(bytes, unsent, &mut |received| {
            use wire::HeldEvent::{Close, Message, Opened, Part, Ping, Pong};
            match received {
                Opened => {
                    is_opened = true;
                    count.opened(at - *begun, at - *connected);
                }
                Message { shown, bytes } => {
                    over = over.or(count.message(inbox, shown, bytes, at));
                }
                Close(_) => over = Some(Loss::Close),
                Part { .. } | Ping | Pong => {}
            }
        });
        let is_answered = unsent_before < unsent.len();
        if is_opened {
            self.slots[conn as usize].state = State::Open;
        }
        if is_answered {
            self.put_on_agenda(conn);
        }
        if let Some(loss) = result.err().map(Loss::from).or(over) {
            self.lose(conn, loss);
        }
    }

    /// When the next text is due.
    pub(super) fn next_text(&self) -> Option<Nanos> {
        match &self.order.sends {
            Some(Sends::Echo { per_second, .. }) => {
                let n = self.lane as u64 + self.texts_due * self.order.share.of as u64;
                Some((n as f64 / per_second * SECOND as f64) as Nanos)
            }
            // The first connection of all is the sender.
            Some(Sends::Broadcast { every }) if self.lane == 0 => {
                Some((self.texts_due + 1) * nanos(*every))
            }
            Some(Sends::Broadcast { .. }) | None => None,
        }
    }

    /// Sends what was due at `due`; now is the time for it.
    pub(super) fn send(&mut self, due: Nanos, now: Nanos) {
        self.texts_due += 1;
        match &self.order.sends {
            None => {}
            Some(Sends::Broadcast { .. }) => {
                let text = self.count.broadcast_text(self.texts_due, due);
                if self.slots.first().is_some_and(|slot| slot.state == State::Open) {
                    self.count.broadcast_sent(self.texts_due, due);
                    self.send_on(0, text.as_bytes());
                }
            }
            Some(Sends::Echo { text, .. }) => {
                let found = self.free_sender();
                self.count.echo_due(due, found.is_some());
                let Some(conn) = found else { return };
                let slot = &mut self.slots[conn as usize];
                slot.inbox.echo = Some(PendingEcho { due, sent: now.max(due) });
                self.echo_deadlines.push_back((due + nanos(self.order.timeout), conn, slot.era));
                self.send_on(conn, text);
            }
        }
    }

    fn send_on(&mut self, conn: Conn, text: &[u8]) {
        self.slots[conn as usize].held.send_text(text, &mut self.output);
        self.keep_unsent(conn);
    }

    /// An open connection that waits for no echo; the connections take turns.
    fn free_sender(&mut self) -> Option<Conn> {
        if self.count.is_every_sender_busy() {
            return None;
        }
        let all = self.slots.len();
        let found = (0..all).map(|n| (self.next_sender + n) % all).find(|&place| {
            let slot = &self.slots[place];
            slot.state == State::Open && slot.inbox.echo.is_none()
        })?;
        self.next_sender = found + 1;
        Some(found as Conn)
    }

    /// Bytes that were appended to the output wait for the kernel.
    fn keep_unsent(&mut self, conn: Conn) {
        if !self.output.is_empty() {
            self.slots[conn as usize].unsent.extend_from_slice(&self.output);
            self.output.clear();
            self.put_on_agenda(conn);
        }
    }

    fn put_on_agenda(&mut self, conn: Conn) {
        if !std::mem::replace(&mut self.slots[conn as usize].is_on_agenda, true) {
            self.agenda.push_back(conn);
        }
    }

    /// Gives up what has taken too long.
    pub(super) fn expire(&mut self, now: Nanos) {
        while let Some(&(at, conn, era)) = self.opening.front()
            && at <= now
        {
            self.opening.pop_front();
            let slot = &self.slots[conn as usize];
            let failure = match slot.state {
                State::Connecting | State::Opening if self.is_our_stillness(at) => Failure::Still,
                State::Connecting => unconnected(slot.is_reached),
                State::Opening => Failure::FirstByteTimeout,
                State::Vacant | State::Open | State::Leaving => continue,
            };
            if slot.era == era {
                self.lose(conn, Loss::Failure(failure));
            }
        }
        while let Some(&(at, conn, era)) = self.echo_deadlines.front()
            && at <= now
        {
            self.echo_deadlines.pop_front();
            let slot = &self.slots[conn as usize];
            let timeout = nanos(self.order.timeout);
            let echo = slot.inbox.echo.filter(|echo| echo.due + timeout <= at);
            if let (Some(echo), true) = (echo, slot.era == era) {
                // Ours, if the lane did not look when the time was over, or took most of it to send the text.
                let loss = match timeout < 2 * (echo.sent - echo.due) {
                    true => Loss::Failure(Failure::Late),
                    false if self.is_our_stillness(at) => Loss::Failure(Failure::Still),
                    false => Loss::EchoTimeout,
                };
                self.lose(conn, loss);
            }
        }
    }

    /// Whether the lane was not looking at this instant.
    fn is_our_stillness(&self, deadline: Nanos) -> bool {
        self.count.still_from.is_some_and(|from| from <= deadline)
    }

    /// Counts, once, a connection that was never opened or has ended.
    pub(super) fn lose(&mut self, conn: Conn, loss: Loss) {
        let slot = &mut self.slots[conn as usize];
        match slot.state {
            State::Vacant | State::Leaving => return,
            State::Connecting | State::Opening => self.count.failed(loss),
            State::Open => self.count.lost(loss, slot.inbox.echo.take()),
        }
        slot.state = State::Leaving;
        self.put_on_agenda(conn);
    }

    /// In an empty place a connection is begun again, after a rest: no faster than the ramp begins them, and not beside those
    /// that it begins, so that there are never more in a second than were ordered.
    pub(super) fn vacate(&mut self, conn: Conn, now: Nanos) {
        let held = self.new_held();
        let slot = &mut self.slots[conn as usize];
        *slot = HeldSlot { era: slot.era, is_on_agenda: slot.is_on_agenda, ..HeldSlot::new(held) };
        if self.order.reopen && !self.is_leaving {
            let ramp = &self.order.ramp;
            let at = ramp.rests(self.next_again.max(now + REST));
            let apart = self.order.share.of as f64 / ramp.per_second * SECOND as f64;
            self.next_again = at.saturating_add(apart as Nanos);
            self.resting.push_back((at, conn));
        }
    }

    pub(super) fn send_close(&mut self, conn: Conn) {
        let slot = &mut self.slots[conn as usize];
        if slot.state == State::Open {
            slot.held.leave(&mut self.output);
            self.keep_unsent(conn);
        }
    }

    pub(super) fn turn_window(&mut self, now: Nanos) -> HoldWindow {
        self.count.turn_window(now)
    }

    pub(super) fn end_plateau(&mut self, now: Nanos) -> Plateau {
        let silence = nanos(self.order.silence);
        let is_silent = |slot: &&HeldSlot<'_>| {
            let since = slot.inbox.rhythm.last.max(slot.connected);
            slot.state == State::Open && silence <= now.saturating_sub(since)
        };
        let silent = self.slots.iter().filter(is_silent).count() as u64;
        let echoes = self.slots.iter().filter_map(|slot| slot.inbox.echo);
        echoes.for_each(|echo| self.count.under_way(echo, now));
        self.count.end_plateau(now, silent)
    }

    pub(super) fn wake(&self, now: Nanos) -> Nanos {
        let all = [
            self.next_beginning().map(|(at, _)| at),
            self.opening.front().map(|(at, ..)| *at),
            self.echo_deadlines.front().map(|(at, ..)| *at),
            self.next_text(),
        ];
        all.into_iter().flatten().fold(self.count.wake(now), Nanos::min)
    }
}

/// A reset before the connection was established is a different failure from a reset after it.
fn broken(failure: Failure, is_connecting: bool) -> Failure {
    match failure {
        Failure::ConnectReset if !is_connecting => Failure::RecvReset,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::log::agreed_to;

    #[test]
    fn pongs_wait_for_a_peer_that_reads_none_and_do_not_pile_up() {
        let ask = wire::socket_ask("h", "/wsecho", &[]).unwrap();
        let order = HoldOrder { what: HoldWhat::Socket { ask }, ..crate::held::tests::order(1, 1) };
        let mut pool = HeldPool::new(&order, 0, 0);
        pool.take_beginning(0);
        pool.slots[0].state = State::Connecting;
        pool.count.begun();
        pool.handle(0, Event::Connected, 1);
        let request = std::mem::take(&mut pool.slots[0].unsent);
        pool.handle(0, Event::Bytes(&agreed_to(&request)), 2);
        assert_eq!((pool.slots[0].state, pool.slots[0].unsent.len()), (State::Open, 0));
        let pings = b"\x89\x04ping".repeat(1_000);
        for _ in 0..1_000 {
            pool.handle(0, Event::Bytes(&pings), 3);
        }
        let waiting = pool.slots[0].unsent.len();
        assert!((1_000..32 << 10).contains(&waiting), "{waiting} bytes wait");
    }
}
