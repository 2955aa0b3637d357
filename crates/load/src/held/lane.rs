//! One thread's loop: what is due → begin → wait → read.

use super::pool::HeldPool;
use super::slot::State;
use super::{HoldOrder, HoldWindow, Holding, Loss, Plateau};
use crate::engine::{Conn, Engine, Event};
use crate::order::nanos;
use crate::pause::{LOOK_UP, Pause, read_all};
use crate::security::SecurityLog;
use crate::{Nanos, SECOND};

/// At the end, the Close frames get this long to leave.
const FAREWELL: Nanos = SECOND / 2;

pub(super) struct Lane<'a, E> {
    engine: E,
    pool: HeldPool<'a>,
    /// The thread's CPU time when the measured part of the step began.
    cpu_since: Option<Nanos>,
    /// What the engine writes down of TLS, if there is any.
    security: Option<SecurityLog>,
    /// When the last sleep ended, and the thread's CPU time at that instant.
    awake_since: (Nanos, Nanos),
}

impl<'a, E: Engine> Lane<'a, E> {
    pub(super) fn new(engine: E, order: &'a HoldOrder, lane: usize, origin: u64) -> Lane<'a, E> {
        let awake_since = (engine.now(), engine.cpu());
        let pool = HeldPool::new(order, lane, origin);
        Lane { engine, pool, cpu_since: None, security: None, awake_since }
    }

    /// Keeps what an engine writes down of TLS.
    pub(super) fn reading(self, log: SecurityLog) -> Lane<'a, E> {
        Lane { security: Some(log), ..self }
    }

    /// Holds until the ramp's end, or until `stopped_at` once that is known; hands over each window when its time is
    /// up.
    pub(super) fn hold(
        mut self,
        stopped_at: impl Fn() -> Option<Nanos>,
        hand_over: &mut dyn FnMut(HoldWindow),
    ) -> Holding {
        let mut plateaus = Vec::new();
        let ramp_ends = self.pool.order.ramp.end();
        let mut turned = 0;
        let end = loop {
            let now = self.engine.now();
            // A lane that notices the end too late ends where it is.
            let end = stopped_at().map_or(ramp_ends, |at| at.max(turned).min(ramp_ends));
            self.pool.count.end = end;
            turned = now.min(end);
            if self.pool.count.window.until <= turned {
                hand_over(self.pool.turn_window(turned));
            }
            self.keep_steps(turned, &mut plateaus);
            if end <= now {
                break end;
            }
            self.begin_due(now);
            self.pool.expire(now);
            self.send_due(now, now);
            self.act();
            let wake = self.pool.wake(now).min(now + LOOK_UP);
            self.wait(wake);
        };
        let number = self.pool.number;
        let is_under_way = plateaus.len() == number && number < self.pool.order.ramp.plateaus();
        // A step that begins at the end of the run does not count.
        if is_under_way && (number == 0 || self.pool.count.plateau.times.from < end) {
            self.send_due(end.saturating_sub(1), end);
            plateaus.push(self.end_plateau(end));
        }
        if self.pool.count.window.from < end {
            hand_over(self.pool.turn_window(end));
        }
        self.leave_all();
        let was_halted = end < ramp_ends;
        Holding { plateaus, windows: Vec::new(), closed_at: end, was_halted }
    }

    fn wait(&mut self, wake: Nanos) {
        let slept = self.engine.sleep(wake, 0);
        let (began, cpu_then) = self.awake_since;
        self.awake_since = (slept.until, self.engine.cpu());
        let used = self.awake_since.1.saturating_sub(cpu_then);
        self.pool.count.slept(Pause::of(began, wake.max(slept.from), slept), used);
        let (is_behind, slots) = (self.pool.count.still_from.is_some(), self.pool.slots.len());
        let pool = &mut self.pool;
        let mut handle = |conn: Conn, event: Event<'_>, at: Nanos| pool.handle(conn, event, at);
        self.engine.deliver(&mut handle);
        if is_behind {
            read_all(&mut self.engine, slots, &mut handle);
        }
    }

    /// Ends the steps whose time is up, and begins the next; reads the clock where the measured part begins.
    fn keep_steps(&mut self, now: Nanos, plateaus: &mut Vec<Plateau>) {
        let all = self.pool.order.ramp.plateaus();
        while plateaus.len() < all && self.pool.count.plateau.times.until <= now {
            // A text that was due in the step belongs to it, even if the lane sends it late.
            let until = self.pool.count.plateau.times.until;
            self.send_due(until - 1, now);
            plateaus.push(self.end_plateau(now));
            let next = self.pool.number + 1;
            if next < all {
                self.pool.number = next;
                let plateau = Plateau::new(self.pool.order.ramp.plateau(next));
                self.pool.count.begin_plateau(plateau);
                self.cpu_since = None;
            }
        }
        if self.cpu_since.is_none() && self.pool.count.plateau.times.measured_from <= now {
            self.cpu_since = Some(self.engine.cpu());
            self.pool.slots.iter_mut().for_each(|slot| slot.inbox.rhythm.restart());
        }
    }

    fn end_plateau(&mut self, now: Nanos) -> Plateau {
        let mut plateau = self.pool.end_plateau(now);
        plateau.security = self.security.as_ref().and_then(SecurityLog::take);
        plateau.cpu = self.cpu_since.map_or(0, |since| self.engine.cpu() - since);
        plateau
    }

    fn begin_due(&mut self, now: Nanos) {
        while let Some((at, conn)) = self.pool.next_beginning()
            && at <= now
        {
            let is_again = self.pool.take_beginning(conn);
            self.pool.count.plateau.begun_again += u64::from(is_again);
            self.begin(conn);
        }
    }

    fn begin(&mut self, conn: Conn) {
        let now = self.engine.now();
        let pool = &mut self.pool;
        let slot = &mut pool.slots[conn as usize];
        (slot.state, slot.begun, slot.era) = (State::Connecting, now, slot.era.wrapping_add(1));
        pool.opening.push_back((now + nanos(pool.order.timeout), conn, slot.era));
        pool.count.begun();
        if let Err(cause) = self.engine.open(conn) {
            pool.lose(conn, Loss::Failure(cause.into()));
        }
    }

    /// Writes what waits to be written, and closes what is to be closed.
    fn act(&mut self) {
        while let Some(conn) = self.pool.agenda.pop_front() {
            self.pool.slots[conn as usize].is_on_agenda = false;
            self.write(conn);
            if self.pool.slots[conn as usize].state == State::Leaving {
                self.engine.close(conn);
                self.pool.vacate(conn, self.engine.now());
            }
        }
    }

    fn write(&mut self, conn: Conn) {
        let slot = &mut self.pool.slots[conn as usize];
        if slot.unsent.is_empty() {
            return;
        }
        match self.engine.write(conn, &slot.unsent) {
            Ok(len) if len == slot.unsent.len() => slot.unsent = Vec::new(),
            Ok(len) => drop(slot.unsent.drain(..len)),
            Err(cause) => self.pool.lose(conn, Loss::Failure(cause.into())),
        }
    }

    /// Sends the texts that were due by `until`.
    fn send_due(&mut self, until: Nanos, now: Nanos) {
        while let Some(due) = self.pool.next_text()
            && due <= until
        {
            self.pool.send(due, now);
        }
    }

    /// Sends a Close on every connection, and closes them all when the Closes are written or their time is up.
    fn leave_all(&mut self) {
        self.pool.is_leaving = true;
        for conn in 0..self.pool.slots.len() as Conn {
            self.pool.send_close(conn);
        }
        self.act();
        let until = self.engine.now() + FAREWELL;
        while self.pool.slots.iter().any(|slot| !slot.unsent.is_empty())
            && self.engine.now() < until
        {
            self.wait(until);
            self.act();
        }
        for conn in 0..self.pool.slots.len() as Conn {
            if self.pool.slots[conn as usize].state != State::Vacant {
                self.engine.close(conn);
            }
        }
    }
}
