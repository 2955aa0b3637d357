//! What was seen of held connections: plateau by plateau, and window by window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Loss, PlateauTimes};
use crate::distribution::{Distribution, Folded};
use crate::tally::Still;
use crate::{Nanos, SECOND, written};

/// All that came of a load of held connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holding {
    /// Step by step; those that were reached.
    pub plateaus: Vec<Plateau>,
    /// Second by second. Kept and sent apart: they are large.
    #[serde(skip)]
    pub windows: Vec<HoldWindow>,
    /// When connections began to be closed.
    pub closed_at: Nanos,
    /// It was stopped before its end.
    pub was_halted: bool,
}

/// One step. Of connections, what happened since the step began; of messages, what came in its measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Its place in time.
    pub times: PlateauTimes,
    /// Connections begun, those begun again among them.
    pub begun: u64,
    /// Of them, begun again.
    pub begun_again: u64,
    /// Connections over which messages may come, counted when they could.
    pub opened: u64,
    /// Connections that never were, by cause.
    #[serde(with = "written::losses")]
    pub failed: [u64; Loss::COUNT],
    /// Connections that were and are no more, by cause.
    #[serde(with = "written::losses")]
    pub lost: [u64; Loss::COUNT],
    /// At its end: connections over which messages may come.
    pub open: u64,
    /// At its end: begun, and neither open nor failed.
    pub opening: u64,
    /// At its end: open, and silent for too long.
    pub silent: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes received, of everything.
    pub bytes: u64,
    /// Beats that never came, where messages are numbered.
    pub missed: u64,
    /// Messages that said when they were due: `late` is against that.
    pub stamped: u64,
    /// From the beginning of a connection to TCP's agreement.
    pub connect: Distribution,
    /// From there to the head or the handshake.
    pub agree: Distribution,
    /// Messages against their beat.
    pub late: Distribution,
    /// From one message to the next on the same connection.
    pub gap: Distribution,
    /// The most that our own turn may have added to a message's lateness.
    pub own: Distribution,
    /// What we said and what came back.
    pub echoes: Echoes,
    /// What we said to all, by its number.
    pub broadcasts: BTreeMap<u64, Broadcast>,
    /// CPU time of our threads in the measured part.
    pub cpu: Nanos,
    /// How long the measured part was, as it came to be.
    pub measured: Nanos,
    /// The part of it that a rate is made of, where it is known how far apart messages come.
    #[serde(default)]
    pub whole: Option<WholeBeats>,
    /// What our threads slept through in the step, or were kept from the CPU for.
    #[serde(default)]
    pub still: Still,
}

/// As many whole beats as the measured part has time for, from its beginning: a connection whose messages are on time has
/// one message in each, wherever its first one came. A part of a beat would have one or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeBeats {
    /// All of them together; 0 if the measured part is shorter than a beat.
    pub lasted: Nanos,
    /// Messages that came within them.
    pub messages: u64,
}

/// Texts that were to come back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Echoes {
    /// Were due.
    pub due: u64,
    /// No connection was free for them.
    pub blocked: u64,
    /// Came back as they were said.
    pub correct: u64,
    /// Did not.
    pub failed: u64,
    /// At the end of the step, neither.
    pub under_way: u64,
    /// From when they were due to when they were back.
    pub response: Distribution,
}

/// One text that all were to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broadcast {
    /// The first receiver had it so long after it was due.
    pub first: Nanos,
    /// The last.
    pub last: Nanos,
    /// So many had it.
    pub heard: u64,
}

/// One interval of all plateaus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldWindow {
    /// It begins.
    pub from: Nanos,
    /// It ends.
    pub until: Nanos,
    /// At its end: connections over which messages may come.
    pub open: u64,
    /// At its end: begun, and neither open nor failed.
    pub opening: u64,
    /// Begun within it.
    pub begun: u64,
    /// Opened within it.
    pub opened: u64,
    /// Never were.
    pub failed: u64,
    /// Were, and are no more.
    pub lost: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes received.
    pub bytes: u64,
    /// From the beginning of a connection until it was open.
    pub open_after: Folded,
    /// Messages against their beat.
    pub late: Folded,
}

/// Latencies up to here are told apart.
pub(super) const LONGEST: Nanos = 100 * SECOND;

impl Plateau {
    /// A step in which nothing has happened yet.
    #[must_use]
    pub fn new(times: PlateauTimes) -> Plateau {
        let none = || Distribution::new(LONGEST);
        Plateau {
            times,
            begun: 0,
            begun_again: 0,
            opened: 0,
            failed: [0; Loss::COUNT],
            lost: [0; Loss::COUNT],
            open: 0,
            opening: 0,
            silent: 0,
            messages: 0,
            bytes: 0,
            missed: 0,
            stamped: 0,
            connect: none(),
            agree: none(),
            late: none(),
            gap: none(),
            own: none(),
            echoes: Echoes {
                due: 0,
                blocked: 0,
                correct: 0,
                failed: 0,
                under_way: 0,
                response: none(),
            },
            broadcasts: BTreeMap::new(),
            cpu: 0,
            measured: 0,
            whole: None,
            still: Still::default(),
        }
    }

    /// Adds what another lane saw of the same step.
    pub fn merge(&mut self, other: &Plateau) {
        let sums = [
            (&mut self.begun, other.begun),
            (&mut self.begun_again, other.begun_again),
            (&mut self.opened, other.opened),
            (&mut self.open, other.open),
            (&mut self.opening, other.opening),
            (&mut self.silent, other.silent),
            (&mut self.messages, other.messages),
            (&mut self.bytes, other.bytes),
            (&mut self.missed, other.missed),
            (&mut self.stamped, other.stamped),
            (&mut self.cpu, other.cpu),
            (&mut self.echoes.due, other.echoes.due),
            (&mut self.echoes.blocked, other.echoes.blocked),
            (&mut self.echoes.correct, other.echoes.correct),
            (&mut self.echoes.failed, other.echoes.failed),
            (&mut self.echoes.under_way, other.echoes.under_way),
        ];
        // One of them is a server's word.
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        add(&mut self.failed, &other.failed);
        add(&mut self.lost, &other.lost);
        self.measured = self.measured.max(other.measured);
        self.still.merge(other.still);
        self.whole = match (self.whole, other.whole) {
            (Some(one), Some(other)) => Some(WholeBeats {
                lasted: one.lasted.max(other.lasted),
                messages: one.messages + other.messages,
            }),
            (one, other) => one.or(other),
        };
        self.connect.merge(&other.connect);
        self.agree.merge(&other.agree);
        self.late.merge(&other.late);
        self.gap.merge(&other.gap);
        self.own.merge(&other.own);
        self.echoes.response.merge(&other.echoes.response);
        for (number, heard) in &other.broadcasts {
            let entry = self.broadcasts.entry(*number);
            entry.and_modify(|all| all.merge(heard)).or_insert(*heard);
        }
    }

    /// Messages a second: over whole beats, if it is known how far apart they come, and else over the measured part. None
    /// if that had no time for even one beat.
    #[must_use]
    pub fn messages_per_s(&self) -> Option<f64> {
        let (messages, lasted) = match self.whole {
            Some(whole) => (whole.messages, whole.lasted),
            None => (self.messages, self.measured),
        };
        (0 < lasted).then(|| messages as f64 * SECOND as f64 / lasted as f64)
    }

    /// Open and opening at its end.
    fn has(&self) -> (u64, u64) {
        (self.open, self.opening)
    }

    /// Connections that never were.
    #[must_use]
    pub fn failed_in_all(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Connections that were and are no more.
    #[must_use]
    pub fn lost_in_all(&self) -> u64 {
        self.lost.iter().sum()
    }
}

impl Broadcast {
    pub(super) fn merge(&mut self, other: &Broadcast) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.heard += other.heard;
    }
}

impl Default for Plateau {
    fn default() -> Plateau {
        Plateau::new(PlateauTimes::default())
    }
}

impl HoldWindow {
    pub(super) fn new(from: Nanos, until: Nanos) -> HoldWindow {
        HoldWindow {
            from,
            until,
            open: 0,
            opening: 0,
            begun: 0,
            opened: 0,
            failed: 0,
            lost: 0,
            messages: 0,
            bytes: 0,
            open_after: Folded::of(&Distribution::new(LONGEST)),
            late: Folded::of(&Distribution::new(LONGEST)),
        }
    }

    /// Adds what another lane saw in the same interval.
    pub fn merge(&mut self, other: &HoldWindow) {
        let sums = [
            (&mut self.open, other.open),
            (&mut self.opening, other.opening),
            (&mut self.begun, other.begun),
            (&mut self.opened, other.opened),
            (&mut self.failed, other.failed),
            (&mut self.lost, other.lost),
            (&mut self.messages, other.messages),
            (&mut self.bytes, other.bytes),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum += more);
        self.until = self.until.max(other.until);
        self.open_after.absorb(&other.open_after);
        self.late.absorb(&other.late);
    }
}

impl Holding {
    /// Adds what other lanes saw, exactly, step by step; windows are merged as they come, by [`super::Seconds`]. All lanes
    /// end at one instant. Should one of them have missed it, and have another step or lack one, then the others had in that
    /// step what they had before it.
    pub fn merge(&mut self, other: &Holding) {
        let mut merged: Vec<Plateau> = Vec::new();
        let mut own = std::mem::take(&mut self.plateaus).into_iter().peekable();
        let mut others = other.plateaus.iter().peekable();
        let (mut own_had, mut other_had) = ((0, 0), (0, 0));
        loop {
            let next = [own.peek().map(begins), others.peek().map(|one| begins(one))];
            let Some(from) = next.into_iter().flatten().min() else { break };
            let one = own.next_if(|plateau| begins(plateau) == from);
            let other = others.next_if(|plateau| begins(plateau) == from);
            own_had = one.as_ref().map_or(own_had, Plateau::has);
            other_had = other.map_or(other_had, Plateau::has);
            let mut whole = match one {
                Some(mut one) => {
                    other.into_iter().for_each(|other| one.merge(other));
                    one
                }
                None => match other {
                    Some(other) => other.clone(),
                    None => break,
                },
            };
            (whole.open, whole.opening) = (own_had.0 + other_had.0, own_had.1 + other_had.1);
            merged.push(whole);
        }
        self.plateaus = merged;
        self.closed_at = self.closed_at.max(other.closed_at);
        self.was_halted |= other.was_halted;
    }

    /// Whether every connection that was begun is accounted for.
    #[must_use]
    pub fn books_balance(&self) -> bool {
        self.imbalance().is_none()
    }

    /// The first step at whose end that is not so, with the connections begun by then, and those of them that failed, were
    /// lost, are open or being opened.
    #[must_use]
    pub fn imbalance(&self) -> Option<(&Plateau, u64, u64)> {
        let (mut begun, mut ended) = (0, 0);
        self.plateaus.iter().find_map(|plateau| {
            begun += plateau.begun;
            ended += plateau.failed_in_all() + plateau.lost_in_all();
            let accounted = ended + plateau.open + plateau.opening;
            (begun != accounted).then_some((plateau, begun, accounted))
        })
    }
}

fn begins(plateau: &Plateau) -> Nanos {
    plateau.times.from
}

fn add(sums: &mut [u64; Loss::COUNT], more: &[u64; Loss::COUNT]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lanes_heard_of_a_broadcast_is_added_even_if_it_is_the_same() {
        let order = crate::held::tests::order(1, 1);
        let mut plateau = Plateau::new(order.ramp.plateau(0));
        plateau.broadcasts.insert(1, Broadcast { first: 5, last: 9, heard: 3 });
        let same = plateau.clone();
        plateau.merge(&same);
        assert_eq!(plateau.broadcasts[&1], Broadcast { first: 5, last: 9, heard: 6 });
    }
}
