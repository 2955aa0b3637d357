//! What happens to a connection that is lost or out of time, and to its exchange.

use wire::{Progress, Session, WireFault};

use super::handshake::unconnected;
use super::pool::Pool;
use super::slot::{Exchange, State, UNSENT};
use crate::Nanos;
use crate::engine::{Break, Conn};
use crate::failure::Failure;
use crate::pause::{Pause, STILL};
use crate::supply::Kind;

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// The class of a break, by how far the exchange had come.
    pub(super) fn classify(&self, conn: Conn, cause: Break) -> Failure {
        let slot = &self.slots[conn as usize];
        if slot.state == State::Connecting || cause != Break::Reset {
            return cause.into();
        }
        match slot.session.progress() {
            Progress::Idle | Progress::Requested if slot.carried == 0 => Failure::ConnectReset,
            Progress::Idle | Progress::Requested | Progress::Head => Failure::RecvReset,
            Progress::Body => Failure::Wire(WireFault::CutBody),
        }
    }

    pub(super) fn lose_sending(&mut self, conn: Conn, cause: Break, now: Nanos) {
        let failure = match Failure::from(cause) {
            Failure::ConnectReset => Failure::SendReset,
            other => other,
        };
        self.lose(conn, failure, now);
    }

    /// Drops a connection that is of no more use, because of `failure`.
    pub(super) fn lose(&mut self, conn: Conn, failure: Failure, at: Nanos) {
        self.lose_over(conn, failure, at, &[]);
    }

    /// The same, where these bytes have shown the failure.
    pub(super) fn lose_over(&mut self, conn: Conn, failure: Failure, at: Nanos, bytes: &[u8]) {
        let slot = &mut self.slots[conn as usize];
        let was_connecting = slot.state == State::Connecting;
        if matches!(slot.state, State::Leaving | State::Vacant) {
            return;
        }
        slot.state = State::Leaving;
        slot.deadline = Nanos::MAX;
        if was_connecting {
            self.connecting -= 1;
            self.end_handshake(conn);
            self.recorder.window().connections.failed += 1;
        }
        match self.slots[conn as usize].exchange.take() {
            Some(exchange) => self.fail_exchange(conn, exchange, failure, at, bytes),
            None if was_connecting => {
                self.lost_in_a_row += 1;
                // A pool's connection was begun for the request that waits longest; a request that waited as long as
                // this connection has been given up already.
                if !failure.is_censored()
                    && let Some(exchange) = self.waiting.pop_front()
                {
                    self.fail(&exchange, failure, at);
                }
            }
            None => self.note_loss_at_rest(failure),
        }
        self.put_on_agenda(conn);
    }

    pub(super) fn note_loss_at_rest(&mut self, failure: Failure) {
        let notes = &mut self.recorder.window().notes;
        match failure {
            Failure::Wire(WireFault::Surplus) => notes.surplus += 1,
            Failure::Wire(WireFault::Unsolicited) => notes.unsolicited += 1,
            _ => notes.idle_closed += 1,
        }
    }

    pub(super) fn fail_exchange(
        &mut self,
        conn: Conn,
        mut exchange: Exchange,
        failure: Failure,
        at: Nanos,
        bytes: &[u8],
    ) {
        let slot = &mut self.slots[conn as usize];
        let is_session = matches!(self.supply.kind, Kind::Sessions { .. });
        let was_reused = 0 < slot.carried;
        if !exchange.is_sent() && was_reused && !failure.is_own() && !is_session {
            // The last exchange caused the loss; this one goes out on another connection.
            self.note_loss_at_rest(failure);
            return self.send_again(conn, exchange);
        }
        let received_nothing = slot.session.progress() == Progress::Requested;
        let is_closed_unanswered = matches!(
            failure,
            Failure::Wire(WireFault::Empty) | Failure::RecvReset | Failure::SendReset
        );
        let may_retry = !exchange.is_retry
            && !is_session
            && self.rules.asks.choose(exchange.values).is_idempotent();
        if exchange.is_sent() {
            self.in_flight -= 1;
        }
        // RFC 9112, 9.3.1: a server may close a connection at rest while a request is on its way.
        if was_reused && received_nothing && is_closed_unanswered && may_retry {
            self.recorder.unsent(&exchange, at);
            self.recorder.window().notes.stale_retries += 1;
            (exchange.sent, exchange.first_byte) = (UNSENT, UNSENT);
            exchange.is_retry = true;
            return self.send_again(conn, exchange);
        }
        self.lost_in_a_row += 1;
        self.keep_evidence(conn, &exchange, failure, at, bytes);
        self.fail(&exchange, failure, at);
        if is_session {
            let arrived = self.slots[conn as usize].arrived;
            self.recorder.session_over(arrived, false);
        }
    }

    pub(super) fn send_again(&mut self, conn: Conn, exchange: Exchange) {
        match self.supply.kind {
            Kind::Open => self.waiting.push_front(exchange),
            Kind::Closed | Kind::Sessions { .. } => {
                self.slots[conn as usize].exchange = Some(exchange);
            }
        }
    }

    /// Gives up what is out of time.
    pub(super) fn expire(&mut self, now: Nanos) {
        while let Some(exchange) = self.waiting.front().copied()
            && self.deadline(&exchange) <= now
        {
            self.waiting.pop_front();
            let failure = match self.is_our_stillness(self.deadline(&exchange)) {
                true => Failure::Late,
                false if 0 < self.connecting || !self.is_full() => {
                    unconnected(0 < self.handshaking)
                }
                false => Failure::Blocked,
            };
            self.fail(&exchange, failure, now);
            if let Kind::Sessions { .. } = self.supply.kind {
                self.recorder.session_over(exchange.intended, false);
            }
        }
        let mut found = std::mem::take(&mut self.found);
        self.deadlines.look(now, &mut found);
        for conn in found.drain(..) {
            self.expire_slot(conn, now);
        }
        self.found = found;
    }

    pub(super) fn expire_slot(&mut self, conn: Conn, now: Nanos) {
        let slot = &mut self.slots[conn as usize];
        // This entry is outdated: the connection was looked at sooner.
        if now < slot.looked_at && slot.looked_at != Nanos::MAX {
            return;
        }
        slot.looked_at = Nanos::MAX;
        if slot.deadline == Nanos::MAX {
            return;
        }
        if now < slot.deadline {
            let deadline = slot.deadline;
            return self.set_deadline(conn, deadline);
        }
        let failure = match (slot.state, slot.exchange) {
            (State::Connecting, _) | (_, None) => unconnected(slot.is_reached),
            (_, Some(exchange)) => {
                let has_begun = exchange.has_begun_to_be_answered();
                self.out_of_time(conn, &exchange, has_begun)
            }
        };
        self.lose(conn, failure, now);
    }

    /// The failure of an answer that came after its time; none if it came in time.
    pub(super) fn overdue_answer(
        &self,
        conn: Conn,
        exchange: &Exchange,
        at: Nanos,
    ) -> Option<Failure> {
        let deadline = self.deadline(exchange);
        if at < deadline {
            return None;
        }
        // It may have come in time, and have waited for the generator.
        if self.is_our_stillness(deadline) {
            return Some(Failure::Still);
        }
        Some(self.out_of_time(conn, exchange, exchange.first_byte < deadline))
    }

    /// Whether the lane was not looking at this instant.
    fn is_our_stillness(&self, deadline: Nanos) -> bool {
        self.still_from.is_some_and(|from| from <= deadline)
    }

    fn out_of_time(&self, conn: Conn, exchange: &Exchange, has_begun: bool) -> Failure {
        let is_unwritten = !self.slots[conn as usize].unsent.is_empty();
        let theirs = match has_begun {
            _ if is_unwritten => Failure::SendTimeout,
            true => Failure::Deadline,
            false => Failure::FirstByteTimeout,
        };
        self.own_fault(conn, exchange).unwrap_or(theirs)
    }

    /// Ours, if more than half of the time was over before the request left, and only the generator was waited for.
    /// Waiting for the server to accept a connection does not count, nor does waiting for connections that it keeps
    /// busy, as long as more may be opened.
    fn own_fault(&self, conn: Conn, exchange: &Exchange) -> Option<Failure> {
        if !exchange.is_sent() {
            return None;
        }
        let slot = &self.slots[conn as usize];
        let free_since = slot.free_since.max(exchange.intended);
        let (blocked, late) = (free_since - exchange.intended, exchange.sent - free_since);
        let is_most = |waited: Nanos| self.rules.timeout < 2 * waited;
        let is_own_connection = slot.has_own_connection(self.supply.kind);
        match (is_most(late), is_most(blocked)) {
            (true, _) => Some(Failure::Late),
            (false, true) if !is_own_connection && self.is_full() => Some(Failure::Blocked),
            (false, _) => None,
        }
    }

    /// Why a request did not leave before its time was over, though it has a connection now.
    pub(super) fn unsent_in_time(&self, conn: Conn, exchange: &Exchange) -> Failure {
        let slot = &self.slots[conn as usize];
        let was_free = slot.free_since <= exchange.intended;
        match slot.has_own_connection(self.supply.kind) {
            _ if was_free || self.is_our_stillness(self.deadline(exchange)) => Failure::Late,
            false if self.is_full() => Failure::Blocked,
            _ => Failure::ConnectTimeout,
        }
    }

    /// Whether no further connection may be opened.
    fn is_full(&self) -> bool {
        self.supply.max_connections <= self.slots.len()
    }

    /// Whether reading took so long that answers may lie unread: then they are read before anything is given up. The
    /// time itself is counted when the lane sleeps again.
    pub(super) fn was_kept(&mut self, since: Nanos, now: Nanos) -> bool {
        if now.saturating_sub(since) < STILL {
            return false;
        }
        self.still_from = Some(self.still_from.map_or(since, |from| from.min(since)));
        self.last_still = self.still_since(since)..now;
        true
    }

    /// A request that has waited since the last stillness is still delayed by that one.
    fn still_since(&self, from: Nanos) -> Nanos {
        let waits = self.waiting.front().is_some_and(|first| first.intended < self.last_still.end);
        if waits { self.last_still.start } else { from }
    }

    /// Notes how long this turn worked, and by how much the sleep after it lasted too long. The rest is known when the
    /// clocks are read.
    pub(super) fn look_up(&mut self, pause: Pause) {
        self.still_from = pause.still_from;
        if let Some(from) = self.still_from {
            let until = pause.slept.until;
            self.last_still = self.still_since(from)..until;
            self.recorder.stood_still(pause.long_worked, pause.overslept, until);
        }
    }
}
