//! A lane's held connections and what they wait for. Touches no engine; what the engine must do is put on the agenda.

use std::collections::VecDeque;

use wire::{Chance, Held, Socket, Stream};

use super::count::Count;
use super::line::{Ear, Line, Said, State};
use super::{HoldOrder, HoldWhat, HoldWindow, Loss, Plateau, Voice};
use crate::engine::{Conn, Event};
use crate::failure::Failure;
use crate::order::nanos;
use crate::{Nanos, SECOND};

/// After a loss, a place rests this long before a connection is begun in it again.
const REST: Nanos = SECOND;

/// All of a lane except its engine.
pub(super) struct Desk<'a> {
    pub(super) order: &'a HoldOrder,
    /// This lane's number among all lanes.
    lane: usize,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) count: Count<'a>,
    chance: Chance,
    /// Begun connections, and when to look at them.
    pub(super) opening: VecDeque<(Nanos, Conn, u32)>,
    /// Texts that were sent, and when to look for their echoes.
    said: VecDeque<(Nanos, Conn, u32)>,
    /// Lost connections, and when to begin them again.
    resting: VecDeque<(Nanos, Conn)>,
    pub(super) agenda: Vec<Conn>,
    output: Vec<u8>,
    /// Echoes and broadcasts that were due.
    spoken: u64,
    /// Where the next echo looks for a free connection.
    next_voice: usize,
    /// Which step it is.
    pub(super) number: usize,
    pub(super) is_leaving: bool,
}

impl<'a> Desk<'a> {
    pub(super) fn new(order: &'a HoldOrder, lane: usize, origin: u64) -> Desk<'a> {
        Desk {
            order,
            lane,
            lines: Vec::new(),
            count: Count::new(order, origin),
            chance: Chance::new(order.seed ^ (lane as u64).wrapping_mul(0x9e37_79b9)),
            opening: VecDeque::new(),
            said: VecDeque::new(),
            resting: VecDeque::new(),
            agenda: Vec::new(),
            output: Vec::new(),
            spoken: 0,
            next_voice: 0,
            number: 0,
            is_leaving: false,
        }
    }

    fn new_held(&self) -> Held<'a> {
        match &self.order.what {
            HoldWhat::Stream { ask, cut } => {
                Held::Stream(Stream::new(ask, *cut, &self.order.limits, self.order.held_limits))
            }
            HoldWhat::Socket { ask } => {
                Held::Socket(Socket::new(ask, &self.order.limits, self.order.held_limits))
            }
        }
    }

    /// The lane's next connection that was never begun: its number among all connections.
    fn next_new(&self) -> Option<usize> {
        let global = self.lane + self.lines.len() * self.order.share.of;
        (global < self.order.ramp.connections).then_some(global)
    }

    /// The next connection to be begun, and when.
    pub(super) fn next_beginning(&self) -> Option<(Nanos, Conn)> {
        let new = self.next_new().map(|n| (self.order.ramp.due(n), self.lines.len() as Conn));
        let again = self.resting.front().copied();
        match (new, again) {
            (Some(new), Some(again)) if again.0 < new.0 => Some(again),
            (new, again) => new.or(again),
        }
    }

    /// Makes a place for it; returns whether it is begun again.
    pub(super) fn take_beginning(&mut self, conn: Conn) -> bool {
        if (conn as usize) < self.lines.len() {
            self.resting.pop_front();
            return true;
        }
        let held = self.new_held();
        self.lines.push(Line::new(held));
        false
    }

    pub(super) fn hear(&mut self, conn: Conn, event: Event<'_>, at: Nanos) {
        self.count.wakes(at);
        let line = &mut self.lines[conn as usize];
        if matches!(line.state, State::Vacant | State::Leaving) {
            return;
        }
        match event {
            Event::Connected => {
                line.connected = at;
                line.state = State::Opening;
                self.count.connected(at - line.begun);
                let chance = self.chance.draw();
                line.held.begin(chance, &mut self.output);
                self.keep_unsent(conn);
            }
            Event::Bytes(bytes) => self.receive(conn, bytes, at),
            Event::Writable => self.put_on_agenda(conn),
            Event::Ended => {
                let end = line.held.ended(&mut |_| {});
                self.lose(conn, end.err().map_or(Loss::Goodbye, Loss::from));
            }
            Event::Broken(cause) => {
                let is_connecting = line.state == State::Connecting;
                self.lose(conn, Loss::Failure(broken(cause.into(), is_connecting)));
            }
        }
    }

    fn receive(&mut self, conn: Conn, bytes: &[u8], at: Nanos) {
        self.count.received(bytes.len() as u64, at);
        // What still waits for the peer bounds what may be added: a peer that sends many pings and reads no pongs gets
        // few.
        let Line { held, ear, begun, connected, unsent, .. } = &mut self.lines[conn as usize];
        let count = &mut self.count;
        let (mut is_opened, mut over) = (false, None);
        let unsent_before = unsent.len();
        let result = held.receive(bytes, unsent, &mut |heard| {
            use wire::Heard::{Goodbye, Message, Opened, Part, Ping, Pong};
            match heard {
                Opened => {
                    is_opened = true;
                    count.opened(at - *begun, at - *connected);
                }
                Message { shown, bytes } => {
                    over = over.or(count.message(ear, shown, bytes, at));
                }
                Goodbye(_) => over = Some(Loss::Goodbye),
                Part { .. } | Ping | Pong => {}
            }
        });
        let is_answered = unsent_before < unsent.len();
        if is_opened {
            self.lines[conn as usize].state = State::Open;
        }
        if is_answered {
            self.put_on_agenda(conn);
        }
        if let Some(loss) = result.err().map(Loss::from).or(over) {
            self.lose(conn, loss);
        }
    }

    /// When the next text is due.
    pub(super) fn next_word(&self) -> Option<Nanos> {
        match &self.order.voice {
            Some(Voice::Echo { per_second, .. }) => {
                let n = self.lane as u64 + self.spoken * self.order.share.of as u64;
                Some((n as f64 / per_second * SECOND as f64) as Nanos)
            }
            // The first connection of all is the sender.
            Some(Voice::Broadcast { every }) if self.lane == 0 => {
                Some((self.spoken + 1) * nanos(*every))
            }
            Some(Voice::Broadcast { .. }) | None => None,
        }
    }

    /// Sends what was due at `due`; now is the time for it.
    pub(super) fn say(&mut self, due: Nanos, now: Nanos) {
        self.spoken += 1;
        match &self.order.voice {
            None => {}
            Some(Voice::Broadcast { .. }) => {
                let text = self.count.broadcast_text(self.spoken, due);
                if self.lines.first().is_some_and(|line| line.state == State::Open) {
                    self.say_on(0, text.as_bytes());
                }
            }
            Some(Voice::Echo { text, .. }) => {
                let found = self.free_voice();
                self.count.echo_due(due, found.is_some());
                let Some(conn) = found else { return };
                let line = &mut self.lines[conn as usize];
                line.ear.said = Some(Said { due, sent: now.max(due) });
                self.said.push_back((due + nanos(self.order.timeout), conn, line.era));
                self.say_on(conn, text);
            }
        }
    }

    fn say_on(&mut self, conn: Conn, text: &[u8]) {
        self.lines[conn as usize].held.say(text, &mut self.output);
        self.keep_unsent(conn);
    }

    /// An open connection that waits for no echo; the connections take turns.
    fn free_voice(&mut self) -> Option<Conn> {
        if self.count.is_every_voice_taken() {
            return None;
        }
        let all = self.lines.len();
        let found = (0..all).map(|n| (self.next_voice + n) % all).find(|&place| {
            let line = &self.lines[place];
            line.state == State::Open && line.ear.said.is_none()
        })?;
        self.next_voice = found + 1;
        Some(found as Conn)
    }

    /// Bytes that were appended to the output wait for the kernel.
    fn keep_unsent(&mut self, conn: Conn) {
        if !self.output.is_empty() {
            self.lines[conn as usize].unsent.extend_from_slice(&self.output);
            self.output.clear();
            self.put_on_agenda(conn);
        }
    }

    fn put_on_agenda(&mut self, conn: Conn) {
        let line = &mut self.lines[conn as usize];
        if !line.is_on_agenda {
            line.is_on_agenda = true;
            self.agenda.push(conn);
        }
    }

    /// Gives up what has taken too long.
    pub(super) fn expire(&mut self, now: Nanos) {
        while let Some(&(at, conn, era)) = self.opening.front()
            && at <= now
        {
            self.opening.pop_front();
            let line = &self.lines[conn as usize];
            let failure = match line.state {
                State::Connecting | State::Opening if self.is_our_stillness(at) => Failure::Still,
                State::Connecting => Failure::ConnectTimeout,
                State::Opening => Failure::FirstByteTimeout,
                State::Vacant | State::Open | State::Leaving => continue,
            };
            if line.era == era {
                self.lose(conn, Loss::Failure(failure));
            }
        }
        while let Some(&(at, conn, era)) = self.said.front()
            && at <= now
        {
            self.said.pop_front();
            let line = &self.lines[conn as usize];
            let timeout = nanos(self.order.timeout);
            let said = line.ear.said.filter(|said| said.due + timeout <= at);
            if let (Some(said), true) = (said, line.era == era) {
                // Ours, if the lane did not look when the time was over, or took most of it to send the text.
                let loss = match timeout < 2 * (said.sent - said.due) {
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
        let line = &mut self.lines[conn as usize];
        match line.state {
            State::Vacant | State::Leaving => return,
            State::Connecting | State::Opening => self.count.failed(loss),
            State::Open => self.count.lost(loss, line.ear.said.take()),
        }
        line.state = State::Leaving;
        self.put_on_agenda(conn);
    }

    /// In an empty place a connection is begun again, after a rest.
    pub(super) fn vacate(&mut self, conn: Conn, now: Nanos) {
        let held = self.new_held();
        let line = &mut self.lines[conn as usize];
        (line.state, line.held, line.ear, line.unsent) =
            (State::Vacant, held, Ear::default(), Vec::new());
        if self.order.reopen && !self.is_leaving {
            self.resting.push_back((now + REST, conn));
        }
    }

    pub(super) fn say_goodbye(&mut self, conn: Conn) {
        let line = &mut self.lines[conn as usize];
        if line.state == State::Open {
            line.held.leave(&mut self.output);
            self.keep_unsent(conn);
        }
    }

    pub(super) fn turn_window(&mut self, now: Nanos) -> HoldWindow {
        self.count.turn_window(now)
    }

    pub(super) fn end_plateau(&mut self, now: Nanos) -> Plateau {
        let silence = nanos(self.order.silence);
        let is_silent = |line: &&Line<'_>| {
            let since = line.ear.rhythm.last.max(line.connected);
            line.state == State::Open && silence <= now.saturating_sub(since)
        };
        let silent = self.lines.iter().filter(is_silent).count() as u64;
        let said = self.lines.iter().filter_map(|line| line.ear.said);
        said.for_each(|said| self.count.under_way(said, now));
        self.count.end_plateau(now, silent)
    }

    pub(super) fn wake(&self, now: Nanos) -> Nanos {
        let all = [
            self.next_beginning().map(|(at, _)| at),
            self.opening.front().map(|(at, ..)| *at),
            self.said.front().map(|(at, ..)| *at),
            self.next_word(),
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
        let mut desk = Desk::new(&order, 0, 0);
        desk.take_beginning(0);
        desk.lines[0].state = State::Connecting;
        desk.count.begun();
        desk.hear(0, Event::Connected, 1);
        let request = std::mem::take(&mut desk.lines[0].unsent);
        desk.hear(0, Event::Bytes(&agreed_to(&request)), 2);
        assert_eq!((desk.lines[0].state, desk.lines[0].unsent.len()), (State::Open, 0));
        let pings = b"\x89\x04ping".repeat(1_000);
        for _ in 0..1_000 {
            desk.hear(0, Event::Bytes(&pings), 3);
        }
        let waiting = desk.lines[0].unsent.len();
        assert!((1_000..32 << 10).contains(&waiting), "{waiting} bytes wait");
    }
}
