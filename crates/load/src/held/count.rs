//! What a lane has seen of the current step and of the current window.

use super::line::{Ear, number};
use super::tally::{Broadcast, LONGEST};
use super::{HoldOrder, HoldWindow, Loss, Plateau, Voice};
use crate::Nanos;
use crate::distribution::{Distribution, Folded};
use crate::order::nanos;

/// Sleep that is longer shows that nothing was waiting for us.
const SLEPT: Nanos = 20_000;

pub(super) struct Count<'a> {
    order: &'a HoldOrder,
    /// The lane's clock began then, on the machine's.
    origin: u64,
    pub(super) plateau: Plateau,
    pub(super) window: HoldWindow,
    /// The window's latencies: they are folded when it ends.
    open_after: Distribution,
    late: Distribution,
    /// How many connections are in these states.
    open: u64,
    opening: u64,
    /// Open ones that wait for an echo.
    saying: u64,
    pub(super) turn_began: Nanos,
    pub(super) waits_since: Nanos,
    /// What came before the current batch may have waited for us so long.
    backlog: Nanos,
    /// When its first event came.
    pub(super) batch: Option<Nanos>,
}

impl<'a> Count<'a> {
    pub(super) fn new(order: &'a HoldOrder, origin: u64) -> Count<'a> {
        Count {
            order,
            origin,
            plateau: Plateau::new(order.ramp.plateau(0)),
            window: HoldWindow::new(0, nanos(order.window)),
            open_after: Distribution::new(LONGEST),
            late: Distribution::new(LONGEST),
            open: 0,
            opening: 0,
            saying: 0,
            turn_began: 0,
            waits_since: 0,
            backlog: 0,
            batch: None,
        }
    }

    fn is_measured(&self, at: Nanos) -> bool {
        let times = &self.plateau.times;
        (times.measured_from..times.until).contains(&at)
    }

    /// An event came: the first of a batch tells whether we slept or kept it waiting.
    pub(super) fn wakes(&mut self, at: Nanos) {
        if self.batch.is_none() {
            let has_slept = self.waits_since + SLEPT < at;
            self.backlog = if has_slept { 0 } else { self.waits_since - self.turn_began };
            self.batch = Some(at);
        }
    }

    pub(super) fn begun(&mut self) {
        self.plateau.begun += 1;
        self.window.begun += 1;
        self.opening += 1;
    }

    pub(super) fn connected(&mut self, after: Nanos) {
        self.plateau.connect.record(after);
    }

    pub(super) fn opened(&mut self, after: Nanos, after_connect: Nanos) {
        self.plateau.agree.record(after_connect);
        self.open_after.record(after);
        self.plateau.opened += 1;
        self.window.opened += 1;
        self.open += 1;
        self.opening -= 1;
    }

    pub(super) fn failed(&mut self, loss: Loss) {
        self.plateau.failed[loss.index()] += 1;
        self.window.failed += 1;
        self.opening -= 1;
    }

    /// It may have been waiting for an echo that was due then.
    pub(super) fn lost(&mut self, loss: Loss, said: Option<Nanos>) {
        self.plateau.lost[loss.index()] += 1;
        self.window.lost += 1;
        self.open -= 1;
        let Some(due) = said else { return };
        self.saying -= 1;
        if self.is_echo_measured(due) {
            self.plateau.echoes.under_way -= 1;
            self.plateau.echoes.failed += 1;
            if loss == Loss::EchoTimeout {
                self.plateau.echoes.response.record_censored(nanos(self.order.timeout));
            }
        }
    }

    pub(super) fn received(&mut self, bytes: u64, at: Nanos) {
        self.window.bytes += bytes;
        if self.is_measured(at) {
            self.plateau.bytes += bytes;
        }
    }

    /// A whole message: how late it is; and if it was to be an echo, whether it is.
    pub(super) fn message(
        &mut self,
        ear: &mut Ear,
        shown: &[u8],
        bytes: u64,
        at: Nanos,
    ) -> Option<Loss> {
        self.window.messages += 1;
        if self.is_measured(at) {
            self.plateau.messages += 1;
            let own = at.saturating_sub(self.batch.unwrap_or(at)) + self.backlog;
            self.plateau.own.record(own);
        }
        match &self.order.voice {
            Some(Voice::Echo { text, .. }) => {
                let said = &text[..text.len().min(wire::MESSAGE_SHOWN)];
                let is_right = shown == said && bytes == text.len() as u64;
                return self.echo(ear, is_right, at);
            }
            Some(Voice::Broadcast { .. }) => self.broadcast(shown, at),
            None => self.beat(ear, shown, at),
        }
        ear.rhythm.last = at;
        None
    }

    fn beat(&mut self, ear: &mut Ear, shown: &[u8], at: Nanos) {
        let is_measured = self.is_measured(at);
        if let (Some(gap), true) = (ear.rhythm.gap(at), is_measured) {
            self.plateau.gap.record(gap);
        }
        let missed = number(shown, b"beat=").map_or(0, |number| ear.rhythm.missed(number));
        let by_beat = self.order.beat.and_then(|beat| ear.rhythm.late(at, nanos(beat)));
        let stamp = self.since_stamp(shown, at);
        let late = stamp.or(by_beat);
        if let Some(late) = late {
            self.late.record(late);
        }
        if is_measured {
            self.plateau.missed = self.plateau.missed.saturating_add(missed);
            self.plateau.stamped += u64::from(stamp.is_some());
            late.into_iter().for_each(|late| self.plateau.late.record(late));
        }
    }

    /// How long ago it says that it was due, on this machine's clock.
    fn since_stamp(&self, shown: &[u8], at: Nanos) -> Option<Nanos> {
        number(shown, b"due_ns=").and_then(|due| (self.origin + at).checked_sub(due))
    }

    fn is_echo_measured(&self, due: Nanos) -> bool {
        self.plateau.times.measured_from <= due
    }

    /// A text was to be said; somebody was free to say it.
    pub(super) fn echo_due(&mut self, due: Nanos, is_said: bool) {
        self.saying += u64::from(is_said);
        if self.is_echo_measured(due) {
            let echoes = &mut self.plateau.echoes;
            echoes.due += 1;
            echoes.under_way += u64::from(is_said);
            echoes.blocked += u64::from(!is_said);
        }
    }

    pub(super) fn is_every_voice_taken(&self) -> bool {
        self.open <= self.saying
    }

    fn echo(&mut self, ear: &mut Ear, is_right: bool, at: Nanos) -> Option<Loss> {
        ear.rhythm.last = at;
        let due = ear.said.take()?;
        self.saying -= 1;
        self.late.record(at - due);
        if self.is_echo_measured(due) {
            let echoes = &mut self.plateau.echoes;
            echoes.under_way -= 1;
            echoes.correct += u64::from(is_right);
            echoes.failed += u64::from(!is_right);
            echoes.response.record(at - due);
        }
        (!is_right).then_some(Loss::EchoWrong)
    }

    pub(super) fn broadcast_text(&self, said: u64, due: Nanos) -> String {
        format!("n={said} due_ns={}\n", self.origin + due)
    }

    fn broadcast(&mut self, shown: &[u8], at: Nanos) {
        let (Some(late), Some(said)) = (self.since_stamp(shown, at), number(shown, b"n=")) else {
            return;
        };
        // More than were said are nobody's.
        if self.spoken_by(at) < said {
            return;
        }
        self.late.record(late);
        // By when it was due: so each is counted for all its receivers, or for none.
        if self.is_measured(at.saturating_sub(late)) {
            self.plateau.late.record(late);
            self.plateau.stamped += 1;
            let heard = Broadcast { first: late, last: late, heard: 1 };
            let entry = self.plateau.broadcasts.entry(said);
            entry.and_modify(|all| all.merge(&heard)).or_insert(heard);
        }
    }

    /// So many texts at most were due for all by then.
    fn spoken_by(&self, at: Nanos) -> u64 {
        match &self.order.voice {
            Some(Voice::Broadcast { every }) => at / nanos(*every).max(1) + 1,
            Some(Voice::Echo { .. }) | None => 0,
        }
    }

    pub(super) fn turn_window(&mut self, now: Nanos) -> HoldWindow {
        let width = nanos(self.order.window);
        let from = now / width * width;
        let mut window = std::mem::replace(&mut self.window, HoldWindow::new(from, from + width));
        (window.open, window.opening) = (self.open, self.opening);
        (window.open_after, window.late) = (Folded::of(&self.open_after), Folded::of(&self.late));
        self.open_after.clear();
        self.late.clear();
        window
    }

    pub(super) fn end_plateau(&mut self, now: Nanos, silent: u64) -> Plateau {
        let times = self.plateau.times;
        let mut plateau = std::mem::replace(&mut self.plateau, Plateau::new(times));
        (plateau.open, plateau.opening) = (self.open, self.opening);
        plateau.measured = now.min(times.until).saturating_sub(times.measured_from);
        // Who has been asked for nothing may be silent.
        if !matches!(self.order.voice, Some(Voice::Echo { .. })) {
            plateau.silent = silent;
        }
        plateau
    }

    pub(super) fn wake(&self, now: Nanos) -> Nanos {
        let times = &self.plateau.times;
        let measured = if now < times.measured_from { times.measured_from } else { Nanos::MAX };
        self.window.until.min(times.until).min(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_is_measured_for_all_its_receivers_or_for_none() {
        let mut order = crate::held::tests::order(1, 1);
        order.voice = Some(Voice::Broadcast { every: std::time::Duration::from_secs(1) });
        let mut count = Count::new(&order, 7);
        let from = count.plateau.times.measured_from;
        let mut hear = |number: u64, due: Nanos, at: Nanos| {
            let text = count.broadcast_text(number, due);
            count.message(&mut Ear::default(), text.as_bytes(), text.len() as u64, at);
        };
        // It was due before we measured; one of its receivers hears it just in time, the other not.
        hear(1, from - 10, from - 5);
        hear(1, from - 10, from + 5);
        hear(2, from, from + 5);
        hear(2, from, from + 8);
        let heard = Broadcast { first: 5, last: 8, heard: 2 };
        assert_eq!(count.plateau.broadcasts.into_iter().collect::<Vec<_>>(), [(2, heard)]);
        assert_eq!(count.plateau.stamped, 2);
    }

    #[test]
    fn numbers_of_a_liar_are_bounded() {
        let mut order = crate::held::tests::order(1, 1);
        let mut count = Count::new(&order, 0);
        let mut ear = Ear::default();
        for text in ["beat=0", "beat=18446744073709551614", "beat=1", "beat=18446744073709551614"] {
            count.message(&mut ear, text.as_bytes(), 9, 5_000_000_000);
        }
        assert_eq!(count.plateau.missed, u64::MAX);
        order.voice = Some(Voice::Broadcast { every: std::time::Duration::from_secs(1) });
        let mut count = Count::new(&order, 0);
        for said in 1..1_000 {
            let text = format!("n={said} due_ns=4900000000");
            count.message(&mut ear, text.as_bytes(), 9, 5_000_000_000);
        }
        assert_eq!(count.plateau.broadcasts.len(), 6);
    }

    #[test]
    fn what_waited_while_we_worked_is_our_own_lateness() {
        let order = crate::held::tests::order(1, 1);
        let mut count = Count::new(&order, 0);
        let own = |count: &mut Count<'_>, first: Nanos, at: Nanos| {
            (count.turn_began, count.waits_since, count.batch) =
                (2_000_000_000, 2_003_000_000, None);
            count.wakes(first);
            count.wakes(at);
            count.message(&mut Ear::default(), b"", 0, at);
            count.plateau.own.extremes().map(|(_, most)| most / 1_000)
        };
        // We slept until the first event came; the second had to wait for the first to be dealt with.
        assert_eq!(own(&mut count, 2_500_000_000, 2_500_100_000), Some(100));
        // Nothing was slept: it may have come at any time in the three milliseconds that the turn before took.
        let after = own(&mut count, 2_003_001_000, 2_003_001_000);
        assert!(after.is_some_and(|after| (2_990..3_010).contains(&after)), "{after:?}");
    }
}
