//! What every lane does between two turns, whatever its connections are for: it sleeps, finds out whether it slept or
//! worked for too long, and reads what has come.

use crate::engine::{Conn, Engine, Event, Slept};
use crate::{Nanos, SECOND};

/// A lane never sleeps for longer than this, so that it knows when it did, and notices an early end in time.
pub(crate) const LOOK_UP: Nanos = SECOND / 100;
/// A sleep that lasted too long by less than this, and a shorter turn, are ignored.
pub(crate) const STILL: Nanos = SECOND / 1_000;
/// An engine hands over at least this many events at once, if there are as many.
const EVENTS_AT_ONCE: usize = 16;

/// A turn, and the sleep after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) slept: Slept,
    /// How long the turn worked.
    pub(crate) worked: Nanos,
    /// How long the turn worked; 0 if that is to be ignored.
    pub(crate) long_worked: Nanos,
    /// By how much the sleep lasted too long; 0 if that is to be ignored.
    pub(crate) overslept: Nanos,
    /// Since then the lane has not looked at what came, although it should have.
    pub(crate) still_from: Option<Nanos>,
}

impl Pause {
    /// The lane worked from `began` on, and slept, intending to sleep until `wake`.
    pub(crate) fn of(began: Nanos, wake: Nanos, slept: Slept) -> Pause {
        let long = |time: Nanos| if time < STILL { 0 } else { time };
        let worked = slept.from.saturating_sub(began);
        let overslept = long(slept.until.saturating_sub(wake.max(slept.from)));
        let still_from = match (long(worked), overslept) {
            (0, 0) => None,
            (0, _) => Some(wake),
            (_, _) => Some(began),
        };
        Pause { slept, worked, long_worked: long(worked), overslept, still_from }
    }
}

/// Reads all that has come by now, and not only the first part of it: what lies unread is not late.
pub(crate) fn read_all(
    engine: &mut impl Engine,
    slots: usize,
    handle: &mut impl FnMut(Conn, Event<'_>, Nanos),
) {
    for _ in 0..=slots / EVENTS_AT_ONCE {
        let now = engine.now();
        engine.sleep(now, 0);
        if !engine.deliver(handle) {
            break;
        }
    }
}
