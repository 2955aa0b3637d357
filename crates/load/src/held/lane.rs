//! One thread's loop: what is due → begun → wait → heard.

use super::desk::Desk;
use super::line::State;
use super::{HoldOrder, HoldWindow, Loss, Plateau};
use crate::engine::{Conn, Engine};
use crate::order::nanos;
use crate::{Nanos, SECOND};

/// At the end, goodbyes are given so long to leave.
const FAREWELL: Nanos = SECOND / 2;

pub(super) struct Lane<'a, E> {
    engine: E,
    desk: Desk<'a>,
    /// Our CPU time when the measured part of the step began.
    cpu_since: Option<Nanos>,
}

impl<'a, E: Engine> Lane<'a, E> {
    pub(super) fn new(engine: E, order: &'a HoldOrder, lane: usize, origin: u64) -> Lane<'a, E> {
        Lane { engine, desk: Desk::new(order, lane, origin), cpu_since: None }
    }

    /// Holds until the ramp's end, or until `is_halted`; hands over every plateau and window when its time is up.
    pub(super) fn hold(
        mut self,
        is_halted: impl Fn() -> bool,
        hand_over: &mut dyn FnMut(HoldWindow),
    ) -> (Vec<Plateau>, Nanos, bool) {
        let mut plateaus = Vec::new();
        let end = self.desk.order.ramp.end();
        let was_halted = loop {
            let now = self.engine.now();
            self.desk.count.turn_began = now;
            if self.desk.count.window.until <= now {
                hand_over(self.desk.turn_window(now));
            }
            self.keep_steps(now, &mut plateaus);
            let is_halted = is_halted();
            if is_halted || end <= now {
                break is_halted;
            }
            self.begin_due(now);
            self.desk.expire(now);
            self.speak(now);
            self.act();
            let wake = self.desk.wake(now);
            self.wait(wake);
        };
        let closed_at = self.engine.now();
        if plateaus.len() < self.desk.order.ramp.plateaus() {
            plateaus.push(self.end_plateau(closed_at));
        }
        // Of a window that has only begun, nothing is told, unless all ends in it.
        if was_halted {
            hand_over(self.desk.turn_window(closed_at));
        }
        self.leave_all();
        (plateaus, closed_at, was_halted)
    }

    fn wait(&mut self, wake: Nanos) {
        let Lane { engine, desk, .. } = self;
        desk.count.waits_since = engine.now();
        desk.count.batch = None;
        engine.wait(wake, 0, &mut |conn, event, at| desk.hear(conn, event, at));
    }

    /// Ends the step whose time is up, and begins the next; reads the clock where the measured part begins.
    fn keep_steps(&mut self, now: Nanos, plateaus: &mut Vec<Plateau>) {
        let ramp = &self.desk.order.ramp;
        if self.desk.count.plateau.times.until <= now {
            let next = self.desk.number + 1;
            plateaus.push(self.end_plateau(now));
            if next < ramp.plateaus() {
                self.desk.number = next;
                self.desk.count.plateau = Plateau::new(ramp.plateau(next));
                self.cpu_since = None;
            }
        }
        if self.cpu_since.is_none() && self.desk.count.plateau.times.measured_from <= now {
            self.cpu_since = Some(self.engine.cpu());
            self.desk.lines.iter_mut().for_each(|line| line.ear.rhythm.restart());
        }
    }

    fn end_plateau(&mut self, now: Nanos) -> Plateau {
        let mut plateau = self.desk.end_plateau(now);
        plateau.cpu = self.cpu_since.map_or(0, |since| self.engine.cpu() - since);
        plateau
    }

    fn begin_due(&mut self, now: Nanos) {
        while let Some((at, conn)) = self.desk.next_beginning()
            && at <= now
        {
            let is_again = self.desk.take_beginning(conn);
            self.desk.count.plateau.begun_again += u64::from(is_again);
            self.begin(conn);
        }
    }

    fn begin(&mut self, conn: Conn) {
        let now = self.engine.now();
        let desk = &mut self.desk;
        let line = &mut desk.lines[conn as usize];
        (line.state, line.begun, line.era) = (State::Connecting, now, line.era.wrapping_add(1));
        desk.opening.push_back((now + nanos(desk.order.timeout), conn, line.era));
        desk.count.begun();
        if let Err(cause) = self.engine.open(conn) {
            desk.lose(conn, Loss::Failure(cause.into()));
        }
    }

    /// Writes what waits to be written, and closes what is to be closed.
    fn act(&mut self) {
        let mut next = 0;
        while let Some(&conn) = self.desk.agenda.get(next) {
            next += 1;
            self.desk.lines[conn as usize].is_on_agenda = false;
            self.write(conn);
            if self.desk.lines[conn as usize].state == State::Leaving {
                self.engine.close(conn);
                self.desk.vacate(conn, self.engine.now());
            }
        }
        self.desk.agenda.clear();
    }

    fn write(&mut self, conn: Conn) {
        let line = &mut self.desk.lines[conn as usize];
        if line.unsent.is_empty() {
            return;
        }
        match self.engine.write(conn, &line.unsent) {
            Ok(len) if len == line.unsent.len() => line.unsent = Vec::new(),
            Ok(len) => drop(line.unsent.drain(..len)),
            Err(cause) => self.desk.lose(conn, Loss::Failure(cause.into())),
        }
    }

    /// Says what is due.
    fn speak(&mut self, now: Nanos) {
        while let Some(due) = self.desk.next_word()
            && due <= now
        {
            self.desk.say(due);
        }
    }

    /// Says goodbye to all, and closes them when they have heard it.
    fn leave_all(&mut self) {
        self.desk.is_leaving = true;
        for conn in 0..self.desk.lines.len() as Conn {
            self.desk.say_goodbye(conn);
        }
        self.act();
        let until = self.engine.now() + FAREWELL;
        while self.desk.lines.iter().any(|line| !line.unsent.is_empty())
            && self.engine.now() < until
        {
            self.wait(until);
            self.act();
        }
        for conn in 0..self.desk.lines.len() as Conn {
            if self.desk.lines[conn as usize].state != State::Vacant {
                self.engine.close(conn);
            }
        }
    }
}
