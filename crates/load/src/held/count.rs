//! What a lane has seen of the current step and of the current window.

use std::ops::Range;

use super::slot::{Inbox, PendingEcho, number};
use super::tally::{Broadcast, LONGEST, WholeBeats};
use super::{HoldOrder, HoldWindow, Loss, Plateau, Sends};
use crate::Nanos;
use crate::distribution::{Distribution, Folded};
use crate::failure::Failure;
use crate::order::nanos;
use crate::pause::Pause;

/// A longer sleep shows that no event was waiting for the lane.
const SLEPT: Nanos = 20_000;

pub(super) struct Count<'a> {
    order: &'a HoldOrder,
    /// The beginning of the lane's clock, on the machine's clock.
    origin: u64,
    pub(super) plateau: Plateau,
    pub(super) window: HoldWindow,
    /// The window's latencies: they are folded when it ends.
    open_after: Distribution,
    late: Distribution,
    /// How many connections are in these states.
    open: u64,
    opening: u64,
    /// Open connections that wait for an echo.
    awaiting_echo: u64,
    /// How long an event that came before the current batch may have waited for the lane.
    backlog: Nanos,
    /// When the batch's first event came.
    batch: Option<Nanos>,
    /// Since then the lane has not looked at what came, although it should have.
    pub(super) still_from: Option<Nanos>,
    /// The last sleep that was too long: the excess.
    overslept: Range<Nanos>,
    /// The last turn that was too long: the time in which it had no CPU.
    kept_waiting: Range<Nanos>,
    /// When all lanes end, as far as is known.
    pub(super) end: Nanos,
    /// The current beat, counted since the measured part began, and how many messages came in the beats before it.
    beat: (u64, u64),
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
            awaiting_echo: 0,
            backlog: 0,
            batch: None,
            still_from: None,
            overslept: 0..0,
            kept_waiting: 0..0,
            end: order.ramp.end(),
            beat: (0, 0),
        }
    }

    fn is_measured(&self, at: Nanos) -> bool {
        let times = &self.plateau.times;
        (times.measured_from..times.until.min(self.end)).contains(&at)
    }

    /// A turn used this much CPU time, and the lane slept after it.
    pub(super) fn slept(&mut self, pause: Pause, cpu: Nanos) {
        let Pause { slept, worked, long_worked, overslept, still_from } = pause;
        self.still_from = still_from;
        // A lane that slept until an event came kept it waiting no longer than the lane was not running.
        self.backlog = match self.still_from {
            Some(from) if 0 < overslept => slept.until - from,
            Some(_) | None if slept.from + SLEPT < slept.until => 0,
            Some(_) | None => worked,
        };
        self.batch = None;
        self.overslept = slept.until - overslept..slept.until;
        self.kept_waiting = slept.from - long_worked.saturating_sub(cpu)..slept.from;
        self.stood_still();
    }

    /// Counts the part of the last stillness that lies in the step.
    fn stood_still(&mut self) {
        let times = &self.plateau.times;
        let inside = |time: &Range<Nanos>| {
            time.end.min(times.until).saturating_sub(time.start.max(times.from))
        };
        let (overslept, kept_waiting) = (inside(&self.overslept), inside(&self.kept_waiting));
        let sum = overslept + kept_waiting;
        self.plateau.still.merge(crate::tally::Still { sum, overslept, kept_waiting });
    }

    /// The next step begins.
    pub(super) fn begin_plateau(&mut self, plateau: Plateau) {
        self.plateau = plateau;
        self.beat = (0, 0);
        self.stood_still();
    }

    /// The interval between messages, if it is known.
    fn every(&self) -> Option<Nanos> {
        let every = match &self.order.sends {
            Some(Sends::Broadcast { every }) => Some(*every),
            Some(Sends::Echo { .. }) => None,
            None => self.order.beat,
        };
        every.map(nanos).filter(|every| 0 < *every)
    }

    /// An event came.
    pub(super) fn wakes(&mut self, at: Nanos) {
        self.batch = self.batch.or(Some(at));
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

    /// The connection may have been waiting for an echo that was due in the measured part.
    pub(super) fn lost(&mut self, loss: Loss, pending: Option<PendingEcho>) {
        self.plateau.lost[loss.index()] += 1;
        self.window.lost += 1;
        self.open -= 1;
        let Some(PendingEcho { due, .. }) = pending else { return };
        self.awaiting_echo -= 1;
        if self.is_echo_measured(due) {
            self.plateau.echoes.under_way -= 1;
            self.plateau.echoes.failed += 1;
            if is_echo_given_up(loss) {
                self.plateau.echoes.response.record_censored(nanos(self.order.timeout));
            }
        }
    }

    /// At the end of a step, a text has not come back: its time is no less than this.
    pub(super) fn under_way(&mut self, pending: PendingEcho, now: Nanos) {
        if self.is_echo_measured(pending.due) {
            self.plateau.echoes.response.record_censored(now.saturating_sub(pending.due));
        }
    }

    pub(super) fn received(&mut self, bytes: u64, at: Nanos) {
        self.window.bytes += bytes;
        if self.is_measured(at) {
            self.plateau.bytes += bytes;
        }
    }

    /// A whole message: measures how late it is; checks whether it is the expected echo, if there is one.
    pub(super) fn message(
        &mut self,
        inbox: &mut Inbox,
        shown: &[u8],
        bytes: u64,
        at: Nanos,
    ) -> Option<Loss> {
        self.window.messages += 1;
        if self.is_measured(at) {
            self.count_beat(at);
            self.plateau.messages += 1;
            let own = at.saturating_sub(self.batch.unwrap_or(at)) + self.backlog;
            let sent_late = inbox.echo.map_or(0, |pending| pending.sent - pending.due);
            self.plateau.own.record(own + sent_late);
        }
        match &self.order.sends {
            Some(Sends::Echo { text, .. }) => {
                let sent = &text[..text.len().min(wire::MESSAGE_SHOWN)];
                let is_right = shown == sent && bytes == text.len() as u64;
                return self.echo(inbox, is_right, at);
            }
            Some(Sends::Broadcast { .. }) => self.broadcast(shown, at),
            None => self.beat(inbox, shown, at),
        }
        inbox.rhythm.last = at;
        None
    }

    /// Called before a message of another beat is counted.
    fn count_beat(&mut self, at: Nanos) {
        let Some(every) = self.every() else { return };
        let beat = (at - self.plateau.times.measured_from) / every;
        if self.beat.0 < beat {
            self.beat = (beat, self.plateau.messages);
        }
    }

    fn whole_beats(&self, measured: Nanos) -> Option<WholeBeats> {
        let every = self.every()?;
        let beats = measured / every;
        let is_all = self.beat.0 < beats;
        let messages = if is_all { self.plateau.messages } else { self.beat.1 };
        Some(WholeBeats { lasted: beats * every, messages })
    }

    fn beat(&mut self, inbox: &mut Inbox, shown: &[u8], at: Nanos) {
        let is_measured = self.is_measured(at);
        if let (Some(gap), true) = (inbox.rhythm.gap(at), is_measured) {
            self.plateau.gap.record(gap);
        }
        let missed = number(shown, b"beat=").map_or(0, |number| inbox.rhythm.missed(number));
        let by_beat = self.order.beat.and_then(|beat| inbox.rhythm.late(at, nanos(beat), missed));
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

    /// How long ago the message was due by its own stamp, on this machine's clock.
    fn since_stamp(&self, shown: &[u8], at: Nanos) -> Option<Nanos> {
        if !self.order.reads_stamps {
            return None;
        }
        number(shown, b"due_ns=").and_then(|due| (self.origin + at).checked_sub(due))
    }

    fn is_echo_measured(&self, due: Nanos) -> bool {
        self.plateau.times.measured_from <= due
    }

    /// A text was due; `is_sent`: a connection was free to send it.
    pub(super) fn echo_due(&mut self, due: Nanos, is_sent: bool) {
        self.awaiting_echo += u64::from(is_sent);
        if self.is_echo_measured(due) {
            let echoes = &mut self.plateau.echoes;
            echoes.due += 1;
            echoes.under_way += u64::from(is_sent);
            echoes.blocked += u64::from(!is_sent);
        }
    }

    pub(super) fn is_every_sender_busy(&self) -> bool {
        self.open <= self.awaiting_echo
    }

    fn echo(&mut self, inbox: &mut Inbox, is_right: bool, at: Nanos) -> Option<Loss> {
        inbox.rhythm.last = at;
        let PendingEcho { due, .. } = inbox.echo.take()?;
        self.awaiting_echo -= 1;
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

    pub(super) fn broadcast_text(&self, number: u64, due: Nanos) -> String {
        format!("n={number} due_ns={}\n", self.origin + due)
    }

    /// A broadcast that was due at this instant has been sent. Perhaps no connection will receive it.
    pub(super) fn broadcast_sent(&mut self, number: u64, due: Nanos) {
        if self.is_measured(due) {
            self.plateau.broadcasts.entry(number).or_default();
        }
    }

    fn broadcast(&mut self, shown: &[u8], at: Nanos) {
        let (Some(late), Some(number)) = (self.since_stamp(shown, at), number(shown, b"n=")) else {
            return;
        };
        // A number beyond those that were sent belongs to no broadcast.
        if self.texts_due_by(at) < number {
            return;
        }
        self.late.record(late);
        // Decided by when it was due: so each broadcast is counted for all its receivers, or for none.
        if self.is_measured(at.saturating_sub(late)) {
            self.plateau.late.record(late);
            self.plateau.stamped += 1;
            let received = Broadcast { first: late, last: late, received: 1 };
            self.plateau.broadcasts.entry(number).or_default().merge(&received);
        }
    }

    /// At most this many broadcasts were due by then.
    fn texts_due_by(&self, at: Nanos) -> u64 {
        match &self.order.sends {
            Some(Sends::Broadcast { every }) => at / nanos(*every).max(1) + 1,
            Some(Sends::Echo { .. }) | None => 0,
        }
    }

    pub(super) fn turn_window(&mut self, now: Nanos) -> HoldWindow {
        let width = nanos(self.order.window);
        let from = now / width * width;
        let mut window = std::mem::replace(&mut self.window, HoldWindow::new(from, from + width));
        // The last window may be cut short.
        window.until = window.until.min(now);
        (window.open, window.opening) = (self.open, self.opening);
        (window.open_after, window.late) = (Folded::of(&self.open_after), Folded::of(&self.late));
        self.open_after.clear();
        self.late.clear();
        window
    }

    pub(super) fn end_plateau(&mut self, now: Nanos, silent: u64) -> Plateau {
        let times = self.plateau.times;
        let measured = now.min(times.until).saturating_sub(times.measured_from);
        let whole = self.whole_beats(measured);
        let mut plateau = std::mem::replace(&mut self.plateau, Plateau::new(times));
        (plateau.open, plateau.opening) = (self.open, self.opening);
        (plateau.measured, plateau.whole) = (measured, whole);
        // A connection from which no message was requested may be silent.
        if !matches!(self.order.sends, Some(Sends::Echo { .. })) {
            plateau.silent = silent;
        }
        plateau
    }

    pub(super) fn wake(&self, now: Nanos) -> Nanos {
        let times = &self.plateau.times;
        let measured = if now < times.measured_from { times.measured_from } else { Nanos::MAX };
        self.window.until.min(times.until).min(measured).min(self.end)
    }
}

/// The echo took the whole time-out, through the server's fault or dyno's own.
fn is_echo_given_up(loss: Loss) -> bool {
    matches!(loss, Loss::EchoTimeout | Loss::Failure(Failure::Still | Failure::Late))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Slept;

    #[test]
    fn a_broadcast_is_measured_for_all_its_receivers_or_for_none() {
        let mut order = crate::held::tests::order(1, 1);
        order.sends = Some(Sends::Broadcast { every: std::time::Duration::from_secs(1) });
        let mut count = Count::new(&order, 7);
        let from = count.plateau.times.measured_from;
        let mut hear = |number: u64, due: Nanos, at: Nanos| {
            let text = count.broadcast_text(number, due);
            count.message(&mut Inbox::default(), text.as_bytes(), text.len() as u64, at);
        };
        // It was due before the measured part; one of its receivers gets it just in time, the other does not.
        hear(1, from - 10, from - 5);
        hear(1, from - 10, from + 5);
        hear(2, from, from + 5);
        hear(2, from, from + 8);
        let received = Broadcast { first: 5, last: 8, received: 2 };
        assert_eq!(count.plateau.broadcasts.into_iter().collect::<Vec<_>>(), [(2, received)]);
        assert_eq!(count.plateau.stamped, 2);
    }

    #[test]
    fn a_stamp_of_another_clock_says_nothing_and_the_beat_counts() {
        let mut order = crate::held::tests::order(1, 1);
        order.beat = Some(std::time::Duration::from_millis(100));
        for (reads_stamps, stamped, late) in [(true, 2, 2_000), (false, 0, 7)] {
            order.reads_stamps = reads_stamps;
            let mut count = Count::new(&order, 0);
            let from = count.plateau.times.measured_from;
            let mut inbox = Inbox::default();
            for (number, at) in [(0, from), (1, from + 100_000_007)] {
                let text = format!("beat={number} due_ns={}\n", at - 2_000);
                count.message(&mut inbox, text.as_bytes(), text.len() as u64, at);
            }
            assert_eq!(count.plateau.stamped, stamped);
            assert_eq!(count.plateau.late.extremes().map(|(_, most)| most), Some(late));
        }
    }

    #[test]
    fn numbers_of_a_liar_are_bounded() {
        let mut order = crate::held::tests::order(1, 1);
        let mut count = Count::new(&order, 0);
        let mut inbox = Inbox::default();
        for text in ["beat=0", "beat=18446744073709551614", "beat=1", "beat=18446744073709551614"] {
            count.message(&mut inbox, text.as_bytes(), 9, 5_000_000_000);
        }
        assert_eq!(count.plateau.missed, u64::MAX);
        order.sends = Some(Sends::Broadcast { every: std::time::Duration::from_secs(1) });
        let mut count = Count::new(&order, 0);
        for number in 1..1_000 {
            let text = format!("n={number} due_ns=4900000000");
            count.message(&mut inbox, text.as_bytes(), 9, 5_000_000_000);
        }
        assert_eq!(count.plateau.broadcasts.len(), 6);
    }

    #[test]
    fn what_waited_while_we_worked_is_our_own_lateness() {
        let order = crate::held::tests::order(1, 1);
        let mut count = Count::new(&order, 0);
        let own = |count: &mut Count<'_>, first: Nanos, at: Nanos| {
            let slept = Slept { from: 2_003_000_000, until: first };
            count.slept(Pause::of(2_000_000_000, 2_600_000_000, slept), 3_000_000);
            count.wakes(first);
            count.wakes(at);
            count.message(&mut Inbox::default(), b"", 0, at);
            count.plateau.own.extremes().map(|(_, most)| most / 1_000)
        };
        // The lane slept until the first event came; the second had to wait until the first was dealt with.
        assert_eq!(own(&mut count, 2_500_000_000, 2_500_100_000), Some(100));
        // The lane did not sleep: the event may have come at any time in the three milliseconds of the turn before.
        let after = own(&mut count, 2_003_001_000, 2_003_001_000);
        assert!(after.is_some_and(|after| (2_990..3_010).contains(&after)), "{after:?}");
    }
}
