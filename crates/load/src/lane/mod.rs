//! One thread's loop: what is due → onto connections that are free → wait → record.
//!
//! Connections are distinguished by what they wait for; those that have something to do are on
//! the agenda, and no turn looks at all of them.

mod events;
mod handshake;
mod held_back;
mod loss;
mod pool;
mod slab;
mod slot;
mod stalls;
mod transcript;
mod windows;

use std::cmp::Reverse;

use wire::{Asks, Session};

use crate::engine::{Conn, Engine, Slept};
use crate::order::Spread;
use crate::pause::{Pause, read_all};
use crate::recorder::{Clocks, Recorder};
use crate::supply::{Kind, Supply};
use crate::turns::TakesTurns;
use crate::{Nanos, SECOND};
pub(crate) use handshake::unconnected;
use held_back::first_segment;
use loss::Loss;
use pool::Pool;
pub(crate) use slot::Exchange;
use slot::{State, Unsent};

/// What all lanes of a run have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) asks: &'a Asks,
    pub(crate) timeout: Nanos,
    pub(crate) keep_alive: bool,
    pub(crate) spread: Spread,
    /// Whether any of the asks is to wait for its answer.
    pub(crate) judges_times: bool,
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

pub(crate) struct Lane<'a, E, S: Session<'a>> {
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
        self.pool.recorder.began(self.awake_since);
        let mut turn_until = turns.as_ref().map_or(Nanos::MAX, |turns| turns.length());
        loop {
            let mut now = self.engine.now();
            self.keep_time(now);
            if self.pool.stalls.was_kept(self.awake_since, now) {
                self.read_all();
                // Nothing ends before what was just read.
                now = self.engine.now();
                self.keep_time(now);
            }
            self.pool.settle_stalls();
            if let Some(at) = stopped_at() {
                self.pool.stop(at);
            }
            self.pool.take_due(now);
            self.pool.expire(now);
            self.pool.release(now);
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
        self.pool.recorder.finish(now, clocks);
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
        if self.pool.stalls.unread_since.is_some() {
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

    /// Carries out the agenda, and gives due requests to connections that have room.
    fn act(&mut self) {
        loop {
            self.work_off();
            self.begin_waiting();
            self.serve_waiting();
            let is_due = |Reverse((at, _)): &Reverse<(Nanos, Conn)>| *at <= self.engine.now();
            if self.pool.agenda.is_empty() && !self.pool.backing_off.peek().is_some_and(is_due) {
                break;
            }
        }
        self.pool.end_queue();
    }

    fn work_off(&mut self) {
        // What is done here may put more on the agenda.
        while let Some(conn) = self.pool.agenda.pop_front() {
            let slot = &mut self.pool.slots[conn as usize];
            slot.is_on_agenda = false;
            match slot.state {
                State::Leaving => self.leave(conn),
                State::Ready | State::Opening | State::Draining => self.fill(conn),
                State::Vacant | State::Connecting => {}
            }
        }
    }

    fn leave(&mut self, conn: Conn) {
        let pool = &mut self.pool;
        let slot = &mut pool.slots[conn as usize];
        pool.output.clear();
        if slot.held_back.take().is_some() {
            slot.unsent = None;
        }
        if let Some(Unsent::Own(bytes)) = slot.unsent.take().map(|unsent| *unsent) {
            pool.output = bytes;
        }
        slot.session.close(&mut pool.output);
        if !pool.output.is_empty() && !slot.is_choked {
            // A last word; whether it arrives changes nothing.
            let sent = self.engine.write(conn, &pool.output).unwrap_or(0);
            pool.recorder.window().bytes_sent += sent as u64;
        }
        self.engine.close(conn);
        self.pool.end_starving(conn, self.engine.now());
        let slot = &mut self.pool.slots[conn as usize];
        slot.session.reset();
        slot.state = State::Vacant;
        (slot.is_full, slot.is_choked) = (false, false);
        slot.carried = 0;
        if slot.bound.is_empty() {
            self.pool.refill(conn, self.engine.now());
        } else {
            self.begin(conn);
        }
    }

    /// Begins a connection; exchanges that are bound to it are sent when it is ready.
    fn begin(&mut self, conn: Conn) {
        let now = self.engine.now();
        let timeout = self.pool.rules.timeout;
        let slot = &mut self.pool.slots[conn as usize];
        slot.begun = now;
        slot.state = State::Connecting;
        let first = self.pool.slab.first(slot.bound);
        let due = first.map_or(now, |exchange| self.pool.slab[exchange].intended);
        self.pool.watch(conn, due + timeout);
        self.pool.connecting += 1;
        self.pool.recorder.window().connections.begun += 1;
        if let Err(cause) = self.engine.open(conn) {
            self.pool.lose(conn, Loss::Broken(cause), now);
        }
    }

    /// Begins connections of the opening, and of those that backed off.
    fn begin_waiting(&mut self) {
        while self.pool.connecting < OPENING_MAX
            && let Some(conn) = self.pool.to_begin.pop_front()
        {
            self.begin_if_wanted(conn);
        }
        while let Some(&Reverse((at, conn))) = self.pool.backing_off.peek()
            && at <= self.engine.now()
        {
            self.pool.backing_off.pop();
            self.begin_if_wanted(conn);
        }
    }

    fn begin_if_wanted(&mut self, conn: Conn) {
        let now = self.engine.now();
        self.pool.drop_overdue(conn, now);
        if self.pool.wants_connection(conn, now) {
            self.begin(conn);
        }
    }

    /// Gives due requests to connections that have room, then to new ones.
    fn serve_waiting(&mut self) {
        match self.pool.supply.kind {
            Kind::Sessions { calls } => return self.begin_sessions(calls),
            Kind::Closed if self.pool.is_short() => {
                return self.pool.serve_closed(self.engine.now());
            }
            Kind::Closed => return,
            Kind::Open => {}
        }
        while let Some(first) = self.pool.slab.first(self.pool.waiting)
            && let Some(conn) = self.pool.rested()
        {
            self.pool.slab.pop_front(&mut self.pool.waiting);
            self.pool.bind(conn, first);
            if self.pool.free_room(conn) == 0 {
                self.fill(conn);
            } else {
                self.pool.put_on_agenda(conn);
                self.pool.rest(conn);
            }
        }
        while self.pool.connecting < self.pool.waiting.len().min(OPENING_MAX)
            && let Some(conn) = self.pool.place()
        {
            self.begin(conn);
        }
    }

    /// Each session that is due has a connection of its own.
    fn begin_sessions(&mut self, calls: u32) {
        while let Some(first) = self.pool.slab.first(self.pool.waiting)
            && let Some(conn) = self.pool.place()
        {
            self.pool.slab.pop_front(&mut self.pool.waiting);
            self.pool.bind(conn, first);
            let slot = &mut self.pool.slots[conn as usize];
            slot.calls = calls;
            slot.arrived = self.pool.slab[first].intended;
            self.begin(conn);
        }
    }

    /// Sends what waits for this connection, as far as there is room on it: with one time stamp, and in one write.
    fn fill(&mut self, conn: Conn) {
        let now = self.engine.now();
        let pool = &mut self.pool;
        let slot = &mut pool.slots[conn as usize];
        if slot.is_choked || slot.held_back.is_some() {
            return;
        }
        let mut constant = None;
        pool.output.clear();
        match slot.unsent.take().map(|unsent| *unsent) {
            None => {}
            Some(Unsent::Own(bytes)) => pool.output = bytes,
            Some(Unsent::Constant(bytes)) => constant = Some(bytes),
        }
        while let Some(id) = pool.next_to_leave(conn) {
            if pool.deadline(id) <= now {
                pool.drop_unsent(conn, id, now);
                continue;
            }
            if let Some(bytes) = constant.take() {
                pool.output.extend_from_slice(bytes);
            }
            constant = pool.submit(conn, id, now);
        }
        let slot = &mut pool.slots[conn as usize];
        slot.is_full = slot.session.room() == 0;
        slot.session.send_more(&mut pool.news, &mut pool.output);
        if !pool.output.is_empty()
            && let Some(bytes) = constant.take()
        {
            pool.output.extend_from_slice(bytes);
        }
        let bytes = constant.unwrap_or(&pool.output);
        let asks = pool.rules.asks;
        let cut = |id| first_segment(asks, pool.slab[id].values, bytes);
        let first = slot.held_back.map_or(bytes.len(), cut);
        match if bytes.is_empty() { Ok(0) } else { self.engine.write(conn, &bytes[..first]) } {
            Ok(len) => {
                pool.recorder.window().bytes_sent += len as u64;
                if len < bytes.len() {
                    slot.is_choked = len < first;
                    let rest = match constant {
                        Some(bytes) => Unsent::Constant(&bytes[len..]),
                        None => Unsent::Own(pool.output[len..].to_vec()),
                    };
                    slot.unsent = Some(Box::new(rest));
                }
            }
            Err(cause) => {
                pool.news.clear();
                return pool.lose(conn, Loss::Unwritable(cause), now);
            }
        }
        if slot.session.has_more() && !slot.is_choked {
            pool.put_on_agenda(conn);
        }
        if !pool.news.is_empty() {
            pool.handle_news(conn, now, &[]);
        }
    }
}

#[cfg(test)]
mod tests;
