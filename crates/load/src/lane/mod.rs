//! One thread's loop: what is due → onto connections that are free → wait → record.
//!
//! Connections are distinguished by what they wait for; those that have something to do are on
//! the agenda, and no turn looks at all of them.

mod handshake;
mod loss;
mod pool;
mod slot;
mod transcript;

use std::cmp::Reverse;

use wire::{Asks, Session};

use crate::engine::{Conn, Engine, Slept};
use crate::pause::{Pause, read_all};
use crate::recorder::{Clocks, Recorder};
use crate::supply::{Kind, Supply};
use crate::turns::TakesTurns;
use crate::{Nanos, SECOND};
use pool::Pool;
pub(crate) use slot::Exchange;
use slot::{State, Unsent};

/// What all lanes of a run have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) asks: &'a Asks,
    pub(crate) timeout: Nanos,
    pub(crate) keep_alive: bool,
}

/// The seed of a lane's random choices, and the numbers of its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    pub(crate) chance: u64,
    pub(crate) first_seq: u64,
    pub(crate) seq_stride: u64,
}

/// Connections begun at once, so that the opening of a pool does not overflow a server's backlog.
const OPENING_MAX: usize = 100;
/// After this many lost connections in a row, connecting is slowed down.
const PATIENCE: u32 = 5;
const BACK_OFF_MAX: Nanos = SECOND / 10;
/// After a stop, exchanges under way are waited for this long, but no longer than the time-out.
const DRAIN_MAX: Nanos = SECOND * 3 / 2;

pub(crate) struct Lane<'a, E, S> {
    engine: E,
    pool: Pool<'a, S>,
    /// When the last sleep ended: all that the lane has done since then, reading or sending, is its own time.
    awake_since: Nanos,
}

impl<'a, E: Engine, S: Session<'a>> Lane<'a, E, S> {
    pub(crate) fn new(
        engine: E,
        rules: Rules<'a>,
        new_session: &'a dyn Fn() -> S,
        supply: Supply,
        recorder: Recorder,
        seed: Seed,
    ) -> Lane<'a, E, S> {
        let pool = Pool::new(rules, new_session, supply, recorder, seed);
        Lane { engine, pool, awake_since: 0 }
    }

    /// Runs until all is done. `stopped_at` returns the time from which nothing may start any more, once that is known.
    pub(crate) fn press(
        mut self,
        mut turns: Option<&mut dyn TakesTurns>,
        stopped_at: impl Fn() -> Option<Nanos>,
    ) {
        self.pool.reserve();
        self.awake_since = self.engine.now();
        let mut turn_until = turns.as_ref().map_or(Nanos::MAX, |turns| turns.length());
        loop {
            let now = self.engine.now();
            self.keep_time(now);
            if self.pool.was_kept(self.awake_since, now) {
                self.read_all();
            }
            if let Some(at) = stopped_at() {
                self.pool.stop(at);
            }
            self.pool.take_due(now);
            self.pool.expire(now);
            self.act();
            if self.pool.is_over(now) {
                break;
            }
            if turn_until <= now {
                self.pool.supply.hold_back(now);
                if let Some(turns) = turns.as_deref_mut().filter(|_| self.pool.is_drained()) {
                    self.pass(turns);
                    turn_until = self.awake_since + turns.length();
                    continue;
                }
            }
            let wake = self.pool.wake(now);
            self.wait(if now < turn_until { wake.min(turn_until) } else { wake });
        }
        let now = self.engine.now();
        if self.pool.recorder.turn <= now {
            self.pool.recorder.turn_over(now);
        }
        self.pool.leave_the_rest(now);
        let clocks = self.clocks();
        self.pool.recorder.finish(clocks);
    }

    /// Waits for the next turn, while the lane's clock stands still.
    fn pass(&mut self, turns: &mut dyn TakesTurns) {
        let from = self.engine.now();
        let next = self.engine.rested(from, turns.pass());
        let until = self.engine.now();
        let began = std::mem::replace(&mut self.awake_since, until);
        self.pool.look_up(Pause::of(began, next, Slept { from, until }));
        // A server may have closed connections meanwhile: nothing is sent on these.
        self.read_all();
        self.pool.resume(until);
    }

    /// Waits until `wake` at the latest, and reads what came.
    fn wait(&mut self, wake: Nanos) {
        let slept = self.engine.sleep(wake, self.pool.in_flight);
        let began = std::mem::replace(&mut self.awake_since, slept.until);
        self.pool.look_up(Pause::of(began, wake, slept));
        let pool = &mut self.pool;
        self.engine.deliver(&mut |conn, event, at| pool.handle(conn, event, at));
        if self.pool.still_from.is_some() {
            self.read_all();
        }
    }

    fn read_all(&mut self) {
        let (slots, pool) = (self.pool.slots.len(), &mut self.pool);
        read_all(&mut self.engine, slots, &mut |conn, event, at| pool.handle(conn, event, at));
    }

    fn keep_time(&mut self, now: Nanos) {
        if self.pool.recorder.turn <= now {
            self.pool.recorder.turn_over(now);
        }
        if self.pool.recorder.is_unsettled() {
            let clocks = self.clocks();
            self.pool.recorder.settle(clocks);
        }
    }

    fn clocks(&self) -> Clocks {
        Clocks { cpu: self.engine.cpu(), idle: self.engine.idle() }
    }

    /// Carries out the agenda, and gives due requests to free connections.
    fn act(&mut self) {
        // What is done here may put more on the agenda.
        while let Some(conn) = self.pool.agenda.pop_front() {
            self.pool.slots[conn as usize].is_on_agenda = false;
            self.act_on(conn);
        }
        self.begin_waiting();
        self.serve_waiting();
    }

    fn act_on(&mut self, conn: Conn) {
        let slot = &mut self.pool.slots[conn as usize];
        match slot.state {
            State::Leaving => self.leave(conn),
            State::Free if slot.exchange.is_some() => self.send(conn),
            State::Busy => self.send_rest(conn),
            State::Free | State::Vacant | State::Connecting => {}
        }
    }

    fn leave(&mut self, conn: Conn) {
        self.engine.close(conn);
        let slot = &mut self.pool.slots[conn as usize];
        slot.session.reset();
        slot.unsent = Unsent::Nothing;
        slot.state = State::Vacant;
        (slot.carried, slot.received) = (0, 0);
        if slot.exchange.is_some() {
            self.begin(conn);
        } else {
            self.pool.refill(conn, self.engine.now());
        }
    }

    /// Begins a connection; an exchange that is bound to it is sent when it is established.
    fn begin(&mut self, conn: Conn) {
        let now = self.engine.now();
        let timeout = self.pool.rules.timeout;
        let slot = &mut self.pool.slots[conn as usize];
        slot.begun = now;
        slot.state = State::Connecting;
        let due = slot.exchange.map_or(now, |exchange| exchange.intended);
        self.pool.set_deadline(conn, due + timeout);
        self.pool.connecting += 1;
        self.pool.recorder.window().connections.begun += 1;
        if let Err(cause) = self.engine.open(conn) {
            self.pool.lose(conn, cause.into(), now);
        }
    }

    /// Begins connections of the opening, and of those that backed off.
    fn begin_waiting(&mut self) {
        // What is begun now would have no exchange.
        if self.pool.is_held_back() && self.pool.supply.kind == Kind::Closed {
            return;
        }
        while self.pool.connecting < OPENING_MAX
            && let Some(conn) = self.pool.to_begin.pop_front()
        {
            self.pool.bind_if_closed(conn, self.engine.now());
            self.begin_if_wanted(conn);
        }
        while let Some(&Reverse((at, conn))) = self.pool.backing_off.peek()
            && at <= self.engine.now()
        {
            self.pool.backing_off.pop();
            self.pool.bind_if_closed(conn, self.engine.now());
            self.begin_if_wanted(conn);
        }
    }

    /// A closed loop's connection without an exchange is not needed any more.
    fn begin_if_wanted(&mut self, conn: Conn) {
        let has_exchange = self.pool.slots[conn as usize].exchange.is_some();
        if has_exchange || self.pool.supply.kind != Kind::Closed {
            self.begin(conn);
        }
    }

    /// Puts due requests onto resting connections, then onto new ones.
    fn serve_waiting(&mut self) {
        match self.pool.supply.kind {
            Kind::Closed => {}
            Kind::Open => {
                while !self.pool.waiting.is_empty()
                    && let Some(conn) = self.pool.rested()
                {
                    self.pool.slots[conn as usize].exchange = self.pool.waiting.pop_front();
                    self.send(conn);
                }
                while self.pool.connecting < self.pool.waiting.len().min(OPENING_MAX)
                    && let Some(conn) = self.pool.place()
                {
                    self.begin(conn);
                }
            }
            Kind::Sessions { calls } => {
                while !self.pool.waiting.is_empty()
                    && let Some(conn) = self.pool.place()
                {
                    let slot = &mut self.pool.slots[conn as usize];
                    slot.exchange = self.pool.waiting.pop_front();
                    slot.calls = calls;
                    slot.arrived = slot.exchange.map_or(0, |exchange| exchange.intended);
                    self.begin(conn);
                }
            }
        }
    }

    fn send(&mut self, conn: Conn) {
        let now = self.engine.now();
        let slot = &mut self.pool.slots[conn as usize];
        let own_connect = slot.has_own_connection(self.pool.supply.kind);
        let Some(exchange) = slot.exchange.as_mut() else {
            return;
        };
        let deadline = exchange.intended + self.pool.rules.timeout;
        if deadline <= now {
            let exchange = *exchange;
            let failure = self.pool.unsent_in_time(conn, &exchange);
            return self.pool.lose(conn, failure, now);
        }
        exchange.sent = now;
        let values = exchange.values;
        self.pool.output.clear();
        let ask = self.pool.rules.asks.choose(values);
        let constant = slot.session.submit(conn, ask, values, &mut self.pool.output);
        slot.state = State::Busy;
        let ready = exchange.intended.max(slot.free_since);
        let still = &self.pool.last_still;
        let ours = still.end.min(ready).saturating_sub(still.start.max(exchange.intended));
        self.pool.recorder.sent(exchange, ready - ours, own_connect);
        self.pool.in_flight += 1;
        self.pool.set_deadline(conn, deadline);
        let written = self.engine.write(conn, constant.unwrap_or(&self.pool.output));
        let slot = &mut self.pool.slots[conn as usize];
        match written {
            Ok(len) => {
                self.pool.recorder.window().bytes_sent += len as u64;
                slot.unsent = match constant {
                    Some(bytes) if len < bytes.len() => Unsent::Constant(&bytes[len..]),
                    None if len < self.pool.output.len() => {
                        Unsent::Own(self.pool.output[len..].to_vec())
                    }
                    Some(_) | None => Unsent::Nothing,
                };
            }
            Err(cause) => self.pool.lose_sending(conn, cause, now),
        }
    }

    fn send_rest(&mut self, conn: Conn) {
        let slot = &mut self.pool.slots[conn as usize];
        let rest: &[u8] = match &slot.unsent {
            Unsent::Nothing => return,
            Unsent::Own(bytes) => bytes,
            Unsent::Constant(bytes) => bytes,
        };
        match self.engine.write(conn, rest) {
            Ok(len) => {
                self.pool.recorder.window().bytes_sent += len as u64;
                slot.unsent.advance(len);
            }
            Err(cause) => {
                let now = self.engine.now();
                self.pool.lose_sending(conn, cause, now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
