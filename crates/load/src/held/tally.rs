//! What was seen of held connections: plateau by plateau, and window by window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Loss, PlateauTimes};
use crate::distribution::{Distribution, Folded};
use crate::security::{self, Security};
use crate::tally::{Still, add};
use crate::{Nanos, SECOND, json_form};

/// All results of a load of held connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holding {
    /// The steps that were reached, in order.
    pub plateaus: Vec<Plateau>,
    /// Second by second. Stored and sent separately: the windows are large.
    #[serde(skip)]
    pub windows: Vec<HoldWindow>,
    /// When connections began to be closed.
    pub closed_at: Nanos,
    /// Whether the load was stopped before its end.
    pub was_halted: bool,
}

/// One step. Connections are counted from the beginning of the step; messages, only in its measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Its place in time.
    pub times: PlateauTimes,
    /// Connections begun, including those begun again.
    pub begun: u64,
    /// Of them, begun again.
    pub begun_again: u64,
    /// Connections over which messages may come, counted when they could.
    pub opened: u64,
    /// Connections that were never opened, by cause.
    #[serde(with = "json_form::losses")]
    pub failed: [u64; Loss::COUNT],
    /// Connections that were opened and have ended, by cause.
    #[serde(with = "json_form::losses")]
    pub lost: [u64; Loss::COUNT],
    /// At its end: connections over which messages may come.
    pub open: u64,
    /// At its end: begun, and neither open nor failed.
    pub opening: u64,
    /// At its end: open, and silent for too long.
    pub silent: u64,
    pub messages: u64,
    /// Bytes received, of everything.
    pub bytes: u64,
    /// Beats that never came, where messages are numbered.
    pub missed: u64,
    /// Messages that carry the time at which they were due: `late` is measured against that.
    pub stamped: u64,
    /// From the beginning of a connection until TCP has established it.
    pub connect: Distribution,
    /// What connections agreed on with TLS; none without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Box<Security>>,
    /// From there, or from the end of TLS's handshake, to the head, or to the end of the handshake.
    pub agree: Distribution,
    /// Messages how late.
    pub late: Distribution,
    /// From one message to the next on the same connection.
    pub gap: Distribution,
    /// The most that the lane's own turn may have added to a message's lateness.
    pub own: Distribution,
    /// What dyno sent and what came back.
    pub echoes: Echoes,
    /// What dyno sent to all, by its number.
    pub broadcasts: BTreeMap<u64, Broadcast>,
    /// CPU time of dyno's threads in the measured part.
    pub cpu: Nanos,
    /// How long the measured part really was.
    pub measured: Nanos,
    /// The part of it on which a rate is based, where the interval between messages is known.
    pub whole: Option<WholeBeats>,
    /// How long dyno's threads overslept in the step, or were kept from the CPU.
    pub still: Still,
}

/// The whole beats that fit into the measured part, from its beginning: a connection whose messages are on time has
/// one message in each, wherever its first one came. A part of a beat would have one or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeBeats {
    /// Their total length; 0 if the measured part is shorter than a beat.
    pub lasted: Nanos,
    /// Messages that came within them.
    pub messages: u64,
}

// Their distribution has a form of its own in a document.
/// Texts that were sent and had to come back: `due` = `correct` + `failed` + `blocked` + `under_way`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "echo")]
pub struct Echoes<D = Distribution> {
    /// texts that were due
    pub due: u64,
    /// texts that came back as they were sent
    pub correct: u64,
    /// texts that did not
    pub failed: u64,
    /// texts for which no connection was free
    pub blocked: u64,
    /// texts without an answer at the end
    pub under_way: u64,
    /// done − intended
    pub response: D,
}

impl Echoes {
    /// What they are with their response times in another form.
    pub fn with<D>(&self, response: D) -> Echoes<D> {
        let Echoes { due, correct, failed, blocked, under_way, .. } = *self;
        Echoes { due, correct, failed, blocked, under_way, response }
    }
}

/// One text that all connections were to receive. As long as none has, its times are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broadcast {
    /// How long after it was due the first receiver had it.
    pub first: Nanos,
    /// How long after it was due the last receiver had it.
    pub last: Nanos,
    /// How many receivers had it.
    pub received: u64,
}

/// One interval of all plateaus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldWindow {
    /// When it begins.
    pub from: Nanos,
    /// When it ends.
    pub until: Nanos,
    /// At its end: connections over which messages may come.
    pub open: u64,
    /// At its end: begun, and neither open nor failed.
    pub opening: u64,
    /// Begun within it.
    pub begun: u64,
    /// Opened within it.
    pub opened: u64,
    /// Never opened.
    pub failed: u64,
    /// Opened, and ended since.
    pub lost: u64,
    pub messages: u64,
    /// Bytes received.
    pub bytes: u64,
    /// From the beginning of a connection until it was open.
    pub open_after: Folded,
    /// Messages how late.
    pub late: Folded,
}

/// Latencies up to this one are distinguished.
pub(crate) const LONGEST: Nanos = 100 * SECOND;

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
            security: None,
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

    /// Adds what another thread saw of the same step.
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
        // One of them comes from the server and may be any number.
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
        security::merge(&mut self.security, other.security.as_deref());
        self.agree.merge(&other.agree);
        self.late.merge(&other.late);
        self.gap.merge(&other.gap);
        self.own.merge(&other.own);
        self.echoes.response.merge(&other.echoes.response);
        for (number, received) in &other.broadcasts {
            self.broadcasts.entry(*number).or_default().merge(received);
        }
    }

    /// Messages per second: over whole beats, if the interval between messages is known, otherwise over the measured
    /// part. None if that was shorter than one beat.
    #[must_use]
    pub fn messages_per_s(&self) -> Option<f64> {
        let (messages, lasted) = match self.whole {
            Some(whole) => (whole.messages, whole.lasted),
            None => (self.messages, self.measured),
        };
        (0 < lasted).then(|| messages as f64 * SECOND as f64 / lasted as f64)
    }

    /// How late messages came; where texts were to come back, how late these did.
    #[must_use]
    pub fn lateness(&self) -> &Distribution {
        if self.late.count() == 0 { &self.echoes.response } else { &self.late }
    }

    /// Open and opening connections at its end.
    fn has(&self) -> (u64, u64) {
        (self.open, self.opening)
    }

    /// Connections that were never opened.
    #[must_use]
    pub fn failed_in_all(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Connections that were opened and have ended.
    #[must_use]
    pub fn lost_in_all(&self) -> u64 {
        self.lost.iter().sum()
    }
}

impl Broadcast {
    pub(super) fn merge(&mut self, other: &Broadcast) {
        self.first = match (self.received, other.received) {
            (0, _) => other.first,
            (_, 0) => self.first,
            (_, _) => self.first.min(other.first),
        };
        self.last = self.last.max(other.last);
        self.received += other.received;
    }
}

impl Default for Plateau {
    fn default() -> Plateau {
        Plateau::new(PlateauTimes::default())
    }
}

impl HoldWindow {
    #[must_use]
    pub fn new(from: Nanos, until: Nanos) -> HoldWindow {
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

    /// Adds what another thread saw in the same interval.
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
    /// What a lane has that was stopped before it began.
    pub(super) fn of_nothing() -> Holding {
        Holding { plateaus: Vec::new(), windows: Vec::new(), closed_at: 0, was_halted: true }
    }

    /// Adds what other lanes saw, exactly, step by step; windows are merged as they come, by [`super::WindowMerger`]. All
    /// lanes end at one instant. If a lane missed it and has one step more, or one step less, then the counts that the
    /// others had before that step are used for it.
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

    /// What connections agreed on with TLS, in all steps together; none without TLS.
    #[must_use]
    pub fn security(&self) -> Option<Security> {
        let mut whole = None;
        let steps = self.plateaus.iter();
        steps.for_each(|step| security::merge(&mut whole, step.security.as_deref()));
        whole.map(|whole| *whole)
    }

    /// The first step at whose end not every connection that was begun is accounted for, with the connections begun by then, and the number of those that
    /// failed, were lost, are open or are being opened.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lanes_heard_of_a_broadcast_is_added_even_if_it_is_the_same() {
        let order = crate::held::tests::order(1, 1);
        let mut plateau = Plateau::new(order.ramp.plateau(0));
        plateau.broadcasts.insert(1, Broadcast { first: 5, last: 9, received: 3 });
        let same = plateau.clone();
        plateau.merge(&same);
        assert_eq!(plateau.broadcasts[&1], Broadcast { first: 5, last: 9, received: 6 });
        // The lane that sent it may have no receiver.
        let mut sender = Plateau::new(order.ramp.plateau(0));
        sender.broadcasts.insert(1, Broadcast::default());
        sender.broadcasts.insert(2, Broadcast::default());
        sender.merge(&same);
        assert_eq!(sender.broadcasts[&1], same.broadcasts[&1]);
        assert_eq!(sender.broadcasts[&2].received, 0);
    }
}
