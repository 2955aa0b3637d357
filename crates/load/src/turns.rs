//! Several loads that take turns: only one of them is carried out at a time, and the clocks of the others stand still.
//!
//! A turn ends when its time is over *and* all that was under way has ended: so a stall across the border of a turn is
//! counted, with its full time, to the side whose turn it was. Where that wait takes more than a tenth of a side's turns,
//! all turns become longer: while the last answers of a closed loop are waited for, ever fewer requests are under way.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Nanos;
use crate::engine::Origin;
use crate::order::nanos;

/// Between two turns nothing is sent for so long, so that what a server does after its turn does not fall into the
/// next one.
const GAP: Nanos = 3_000_000;

/// Turns that are too short are made longer up to this.
const LENGTH_MAX: Nanos = 1_000_000_000;

/// A turn is too short if more than one part in so many of it is spent waiting for what was under way at its end.
const PARTS_FOR_THE_LAST: Nanos = 10;

/// Sides that take turns: A B B A, with three sides A B C C B A.
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

/// One turn, on the machine's monotonic clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub from: u64,
    pub until: u64,
    /// How much of it was spent waiting for what was under way when its time was over.
    pub waited: Nanos,
    /// The CPU time that the side's server had used when it began and when it ended; none if it cannot be read.
    pub cpu: Option<(Nanos, Nanos)>,
}

/// Reads the CPU time that a side's server has used so far.
pub type CpuReader = Box<dyn Fn() -> Option<Nanos> + Send>;

/// A side's place among those that take turns. Dropping it gives the place up, so that no other side waits for it.
pub struct Place<'t> {
    turns: &'t Turns,
    side: usize,
}

/// What a lane must know when its next turn comes: its clock stood still between these two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// The turns as a lane sees them.
pub(crate) trait TakesTurns {
    /// How long a turn lasts, before what is under way is waited for.
    fn length(&self) -> Nanos;

    /// Nothing of this lane is under way: waits for the next turn.
    fn pass(&mut self) -> Rest;
}

/// A lane's part in its side's turns. Dropping it says that the lane is done.
pub(crate) struct Seat<'t> {
    turns: &'t Turns,
    side: usize,
}

struct State {
    /// How long a turn lasts, before what is under way is waited for.
    length: Nanos,
    sides: Vec<Side>,
    /// The order of the turns, again and again.
    cycle: Vec<usize>,
    place: usize,
    /// When the turn under way began; none until every side is there.
    began: Option<u64>,
}

#[derive(Default)]
struct Side {
    presence: Presence,
    /// Of its lanes, those that have nothing under way and wait for the next turn.
    drained: usize,
    /// Counts its turns, so that a lane that waits knows that the next one has come.
    begun: u64,
    /// The end of its last turn.
    ended: u64,
    cpu: Option<CpuReader>,
    cpu_at_begin: Option<Nanos>,
    turns: Vec<Turn>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Expected,
    /// So many of its lanes are not done.
    Here(usize),
    Gone,
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("side", &self.side).finish_non_exhaustive()
    }
}

impl Turns {
    /// So many sides take turns of this length; `first` begins.
    #[must_use]
    pub fn new(sides: usize, first: usize, length: Duration) -> Turns {
        let forth = (0..sides).map(|side| (first + side) % sides);
        let state = State {
            length: nanos(length),
            sides: (0..sides).map(|_| Side::default()).collect(),
            cycle: forth.clone().chain(forth.rev()).collect(),
            place: 0,
            began: None,
        };
        Turns { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The place of one side, which is to be taken once.
    #[must_use]
    pub fn place(&self, side: usize) -> Place<'_> {
        Place { turns: self, side }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a turn of this side begins that it has not had yet; returns its begin.
    fn await_turn(&self, side: usize, had: u64) -> u64 {
        let mut state = self.state();
        loop {
            if had < state.sides[side].begun
                && let Some(began) = state.began
            {
                return began;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Begins the first turn if every side is there, or ends the one under way if nothing of it is left.
    fn go_on(&self, mut state: MutexGuard<'_, State>) {
        if state.go_on(&|| Origin::now().nanos()) {
            drop(state);
            self.changed.notify_all();
        }
    }
}

impl State {
    /// Returns whether another turn has begun.
    fn go_on(&mut self, now: &dyn Fn() -> u64) -> bool {
        if self.sides.iter().any(|side| side.presence == Presence::Expected) {
            return false;
        }
        let side = self.cycle[self.place];
        if let Some(began) = self.began {
            if !self.sides[side].is_drained() {
                return false;
            }
            self.sides[side].end_turn(began, now(), self.length);
            if self.sides[side].is_hurried() {
                self.length = self.length.max(LENGTH_MAX.min(2 * self.length));
            }
            self.place = (self.place + 1) % self.cycle.len();
        }
        for _ in 0..self.cycle.len() {
            let side = &mut self.sides[self.cycle[self.place]];
            if side.presence != Presence::Gone {
                side.begin_turn();
                self.began = Some(now() + GAP);
                return true;
            }
            self.place = (self.place + 1) % self.cycle.len();
        }
        false
    }
}

impl Side {
    fn is_drained(&self) -> bool {
        match self.presence {
            Presence::Expected => false,
            Presence::Here(lanes) => self.drained == lanes,
            Presence::Gone => true,
        }
    }

    fn cpu(&self) -> Option<Nanos> {
        self.cpu.as_ref()?()
    }

    fn begin_turn(&mut self) {
        self.cpu_at_begin = self.cpu();
        self.drained = 0;
        self.begun += 1;
    }

    fn end_turn(&mut self, from: u64, until: u64, length: Nanos) {
        let cpu = self.cpu_at_begin.and_then(|begin| Some((begin, self.cpu()?)));
        self.ended = until;
        let waited = until.saturating_sub(from.saturating_add(length));
        self.turns.push(Turn { from, until, waited, cpu });
    }

    /// Whether its last two turns were too short. One alone may have met a stall, which a longer turn does not mend.
    fn is_hurried(&self) -> bool {
        let is_short = |turn: &Turn| (turn.until - turn.from) / PARTS_FOR_THE_LAST < turn.waited;
        matches!(self.turns.as_slice(), [.., one, last] if is_short(one) && is_short(last))
    }
}

impl Place<'_> {
    /// From now on `cpu` is read when a turn of this side begins and when it ends.
    pub fn read_cpu(&self, cpu: CpuReader) {
        self.turns.state().sides[self.side].cpu = Some(cpu);
    }

    /// The turns that this side has had.
    #[must_use]
    pub fn turns(&self) -> Vec<Turn> {
        self.turns.state().sides[self.side].turns.clone()
    }

    /// The turns that the other sides have had, side by side.
    #[must_use]
    pub fn turns_of_the_others(&self) -> Vec<Vec<Turn>> {
        let state = self.turns.state();
        let others = (0..state.sides.len()).filter(|side| *side != self.side);
        others.map(|side| state.sides[side].turns.clone()).collect()
    }

    /// Waits until every side has ended its load, or given its place up.
    pub fn wait_for_the_others(&self) {
        let mut state = self.turns.state();
        while state.sides.iter().any(|side| side.presence != Presence::Gone) {
            state = self.turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A seat for each lane. The first turn begins when all sides have theirs.
    pub(crate) fn seats(&self, lanes: usize) -> Vec<Seat<'_>> {
        let mut state = self.turns.state();
        state.sides[self.side].presence = Presence::Here(lanes);
        self.turns.go_on(state);
        (0..lanes).map(|_| Seat { turns: self.turns, side: self.side }).collect()
    }

    /// The number of this side's first lane, so that no two lanes of the process have the same.
    pub(crate) fn first_lane(&self, lanes: usize) -> usize {
        self.side * lanes
    }

    fn give_up(&self) {
        let mut state = self.turns.state();
        state.sides[self.side].presence = Presence::Gone;
        self.turns.go_on(state);
        self.turns.changed.notify_all();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // A side that has had its load is gone already; nothing changes then.
        if self.turns.state().sides[self.side].presence != Presence::Gone {
            self.give_up();
        }
    }
}

impl Seat<'_> {
    /// Waits for the side's first turn; returns its begin.
    pub(crate) fn begin(&mut self) -> u64 {
        let began = self.turns.await_turn(self.side, 0);
        Origin::at(began).wait();
        began
    }
}

impl TakesTurns for Seat<'_> {
    fn length(&self) -> Nanos {
        self.turns.state().length
    }

    fn pass(&mut self) -> Rest {
        let mut state = self.turns.state();
        let side = &mut state.sides[self.side];
        let had = side.begun;
        side.drained += 1;
        self.turns.go_on(state);
        let until = self.turns.await_turn(self.side, had);
        let from = self.turns.state().sides[self.side].ended;
        Origin::at(until).wait();
        Rest { from, until }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        let side = &mut state.sides[self.side];
        if let Presence::Here(lanes) = side.presence {
            side.presence = if lanes == 1 { Presence::Gone } else { Presence::Here(lanes - 1) };
        }
        self.turns.go_on(state);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Two sides with a lane each; each turn of a side lasts so much longer than its time. Returns the lengths of the
    /// turns.
    fn lengths(waits: &[[Nanos; 2]]) -> Vec<Nanos> {
        let turns = Turns::new(2, 0, Duration::from_millis(100));
        let mut state = turns.state();
        let mut now = 0;
        for side in &mut state.sides {
            side.presence = Presence::Here(1);
        }
        assert!(state.go_on(&|| now));
        let mut lengths = Vec::new();
        for round in waits {
            for _ in 0..2 {
                let (side, began) = (state.cycle[state.place], state.began.unwrap());
                lengths.push(state.length / MS);
                now = began + state.length + round[side];
                state.sides[side].drained = 1;
                assert!(state.go_on(&|| now));
                let last = state.sides[side].turns.last().unwrap();
                assert_eq!(last.waited, round[side]);
            }
        }
        lengths
    }

    #[test]
    fn turns_that_are_spent_waiting_become_longer_for_all_sides() {
        let quick = lengths(&[[2 * MS, 9 * MS]; 6]);
        assert_eq!(quick, [100; 12]);
        // The second side waits 30 ms: more than a tenth of 100 ms and of 200 ms, less than that of 400 ms.
        let slow = lengths(&[[2 * MS, 30 * MS]; 6]);
        assert_eq!(slow, [100, 100, 100, 200, 200, 200, 400, 400, 400, 400, 400, 400]);
        let hopeless = lengths(&[[0, 2_000 * MS]; 12]);
        assert_eq!(hopeless.last(), Some(&1_000), "there is a longest");
    }

    #[test]
    fn a_single_stall_makes_no_turn_longer() {
        let mut waits = [[MS, MS]; 8];
        waits[3] = [MS, 1_000 * MS];
        assert_eq!(lengths(&waits), [100; 16]);
    }
}
