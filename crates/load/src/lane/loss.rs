//! What happens to a connection that is lost or out of time, and to its exchange.

use wire::{ExchangeId, Progress, Session, WireFault};

use super::handshake::unconnected;
use super::pool::Pool;
use super::slot::{Exchange, State};
use crate::Nanos;
use crate::engine::{Break, Conn};
use crate::failure::Failure;
use crate::pause::Pause;
use crate::recording::SessionEnd;
use crate::supply::Kind;

/// Why a connection is of no more use.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loss {
    /// By all it carries, this is known.
    Failed(Failure),
    Broken(Break),
    /// It was found broken when it was written to.
    Unwritable(Break),
    /// The peer sends no more.
    Ended,
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// What a loss is for an exchange, by how far that one had come.
    fn classify(&self, conn: Conn, loss: Loss, was_opening: bool, progress: Progress) -> Failure {
        let cause = match loss {
            Loss::Failed(failure) => return failure,
            Loss::Ended => return Failure::Wire(progress.cut()),
            Loss::Unwritable(Break::Reset) => return Failure::SendReset,
            Loss::Broken(cause) | Loss::Unwritable(cause) => cause,
        };
        if was_opening || cause != Break::Reset {
            return cause.into();
        }
        match progress {
            Progress::Idle | Progress::Requested if self.slots[conn as usize].carried == 0 => {
                Failure::ConnectReset
            }
            Progress::Idle | Progress::Requested | Progress::Head => Failure::RecvReset,
            Progress::Body => Failure::Wire(WireFault::CutBody),
        }
    }

    /// Drops a connection that is of no more use.
    pub(super) fn lose(&mut self, conn: Conn, loss: Loss, at: Nanos) {
        self.lose_over(conn, loss, at, &[]);
    }

    /// Drops a connection on which these bytes have shown the failure.
    pub(super) fn lose_over(&mut self, conn: Conn, loss: Loss, at: Nanos, bytes: &[u8]) {
        let slot = &mut self.slots[conn as usize];
        if matches!(slot.state, State::Leaving | State::Vacant) {
            return;
        }
        let was_opening = slot.is_opening();
        let was_connecting = slot.state == State::Connecting;
        if was_opening {
            self.connecting -= 1;
            self.end_handshake(conn);
            self.recorder.window().connections.failed += u64::from(was_connecting);
        }
        self.end_starving(conn, at);
        let slot = &mut self.slots[conn as usize];
        slot.state = State::Leaving;
        let bound = std::mem::take(&mut slot.bound);
        self.list_under_way(conn);
        let mut all = std::mem::take(&mut self.listed);
        let mut rest = bound;
        while let Some(id) = self.slab.pop_front(&mut rest) {
            all.push((id, Progress::Idle));
        }
        let mut has_failed = false;
        for &(id, progress) in &all {
            if self.slab.get(id).is_some() {
                let failure = self.classify(conn, loss, was_opening, progress);
                let received_nothing = progress == Progress::Requested;
                has_failed |= self.fail_exchange(conn, id, received_nothing, failure, at, bytes);
            }
        }
        if all.is_empty() {
            let failure = self.classify(conn, loss, was_opening, Progress::Idle);
            if was_opening {
                has_failed = true;
                // A pool's connection was begun for the request that waits longest; a request that waited as long as
                // this connection has been given up already.
                if !failure.is_censored()
                    && let Some(exchange) = self.slab.pop_front(&mut self.waiting)
                {
                    self.keep_evidence(conn, exchange, failure, at, bytes);
                    self.fail(exchange, failure, at);
                }
            } else {
                self.note_loss_at_rest(failure);
            }
        }
        self.lost_in_a_row += u32::from(has_failed);
        self.listed = all;
        self.put_on_agenda(conn);
    }

    pub(super) fn note_loss_at_rest(&mut self, failure: Failure) {
        let notes = &mut self.recorder.window().notes;
        match failure {
            // In HTTP/2, any frame of a stream that had ended, or that broke another rule.
            Failure::Wire(
                WireFault::Surplus
                | WireFault::Frame
                | WireFault::Hpack
                | WireFault::Flow
                | WireFault::Push,
            ) => notes.surplus += 1,
            Failure::Wire(WireFault::Unsolicited) => notes.unsolicited += 1,
            _ => notes.idle_closed += 1,
        }
    }

    /// The connection of this exchange is lost: it fails, or goes out again. Returns whether it failed.
    fn fail_exchange(
        &mut self,
        conn: Conn,
        id: ExchangeId,
        received_nothing: bool,
        failure: Failure,
        at: Nanos,
        bytes: &[u8],
    ) -> bool {
        let slot = &self.slots[conn as usize];
        let exchange = &mut self.slab[id];
        let is_session = matches!(self.supply.kind, Kind::Sessions { .. });
        let was_reused = 0 < slot.carried;
        if !exchange.is_sent() && was_reused && !failure.is_own() && !is_session {
            // The last exchange caused the loss; this one goes out on another connection.
            self.note_loss_at_rest(failure);
            self.send_again(conn, id);
            return false;
        }
        let is_closed_unanswered = matches!(
            failure,
            Failure::Wire(WireFault::Empty) | Failure::RecvReset | Failure::SendReset
        );
        let may_retry = exchange.tries == 0
            && !is_session
            && self.rules.asks.choose(exchange.values).is_idempotent();
        if exchange.is_sent() {
            self.in_flight -= 1;
        }
        // RFC 9112, 9.3.1: a server may close a connection at rest while a request is on its way.
        if was_reused && received_nothing && is_closed_unanswered && may_retry {
            self.recorder.unsent(exchange, at);
            self.recorder.unanswered(exchange);
            self.recorder.window().notes.stale_retries += 1;
            exchange.tries += 1;
            exchange.go_again(at);
            self.end_wait(id, at);
            self.send_again(conn, id);
            return false;
        }
        self.keep_evidence(conn, id, failure, at, bytes);
        self.fail(id, failure, at);
        if is_session {
            let arrived = self.slots[conn as usize].arrived;
            self.recorder.session_over(arrived, SessionEnd::Failed);
        }
        true
    }

    /// The exchange goes out before those that were due later: on the next connection of this place, or of the pool.
    pub(super) fn send_again(&mut self, conn: Conn, id: ExchangeId) {
        let slot = &mut self.slots[conn as usize];
        let queue = match self.supply.kind {
            Kind::Closed | Kind::Sessions { .. } if !slot.is_replaced => &mut slot.bound,
            _ => &mut self.waiting,
        };
        self.slab.insert_by_intended(queue, id);
        let deadline = self.deadline(id);
        self.watch(conn, deadline);
    }

    /// Gives up what is out of time.
    pub(super) fn expire(&mut self, now: Nanos) {
        let is_overdue = |id| self.deadline(id) <= now;
        let may_be_shut = S::SHARED && self.slab.first(self.waiting).is_some_and(is_overdue);
        let is_shut = may_be_shut && (0..self.slots.len()).any(|conn| self.is_shut(conn as Conn));
        while let Some(id) = self.slab.first(self.waiting)
            && self.deadline(id) <= now
        {
            self.slab.pop_front(&mut self.waiting);
            let wait = self.slab[id].ready..self.deadline(id);
            let kept = self.stalls.delayed(&wait).max(self.slab[id].stalled);
            let failure = match self.is_most(kept) {
                true => Failure::Late,
                false if is_shut => Failure::NoStream,
                // A connection that backs off is one that the server has refused or ended.
                false if 0 < self.connecting || !self.backing_off.is_empty() || !self.is_full() => {
                    unconnected(0 < self.handshaking)
                }
                false => Failure::Blocked,
            };
            let intended = self.slab[id].intended;
            self.fail(id, failure, now);
            if let Kind::Sessions { .. } = self.supply.kind {
                self.recorder.session_over(intended, SessionEnd::Failed);
            }
        }
        let mut found = std::mem::take(&mut self.found);
        self.deadlines.look(now, &mut found);
        for conn in found.drain(..) {
            self.look_at(conn, now);
        }
        self.found = found;
    }

    /// The wheel had this connection looked at.
    fn look_at(&mut self, conn: Conn, now: Nanos) {
        let slot = &mut self.slots[conn as usize];
        // This entry is outdated: the connection was looked at sooner.
        if now < slot.looked_at && slot.looked_at != Nanos::MAX {
            return;
        }
        slot.looked_at = Nanos::MAX;
        self.expire_slot(conn, now);
        if let Some(next) = self.next_deadline(conn) {
            self.watch(conn, next);
        }
    }

    /// When the first of a connection's exchanges, or the connection itself, runs out of time.
    fn next_deadline(&mut self, conn: Conn) -> Option<Nanos> {
        let slot = &self.slots[conn as usize];
        let bound = self.slab.first(slot.bound).map(|id| self.deadline(id));
        match slot.state {
            State::Vacant | State::Leaving => None,
            State::Connecting | State::Opening => {
                Some(bound.unwrap_or_else(|| slot.begun.saturating_add(self.rules.timeout)))
            }
            State::Ready | State::Draining => {
                self.list_under_way(conn);
                let under_way = self.listed.iter().map(|&(id, _)| self.deadline(id));
                under_way.chain(bound).min()
            }
        }
    }

    /// Gives up those of a connection's exchanges that are out of time, and the connection where nothing is left to
    /// wait for.
    pub(super) fn expire_slot(&mut self, conn: Conn, now: Nanos) {
        let Some(deadline) = self.next_deadline(conn) else { return };
        if now < deadline {
            return;
        }
        if self.slots[conn as usize].is_opening() {
            return self.expire_opening(conn, now);
        }
        let overdue: Vec<ExchangeId> =
            self.listed.iter().map(|&(id, _)| id).filter(|&id| self.deadline(id) <= now).collect();
        for id in overdue {
            let has_begun = self.slab[id].has_begun_to_be_answered();
            let failure = self.out_of_time(conn, id, has_begun);
            if !S::SHARED {
                return self.lose(conn, Loss::Failed(failure), now);
            }
            self.abandon(conn, id, failure, now);
        }
        self.drop_overdue(conn, now);
    }

    /// Gives up what could not leave in time, which costs the connection nothing.
    pub(super) fn drop_overdue(&mut self, conn: Conn, now: Nanos) {
        while let Some(id) = self.slab.first(self.slots[conn as usize].bound)
            && self.deadline(id) <= now
        {
            self.slab.pop_front(&mut self.slots[conn as usize].bound);
            self.drop_unsent(conn, id, now);
        }
    }

    /// Gives up one of several exchanges; the connection goes on.
    fn abandon(&mut self, conn: Conn, id: ExchangeId, failure: Failure, now: Nanos) {
        self.output.clear();
        let slot = &mut self.slots[conn as usize];
        slot.session.abandon(id, &mut self.news, &mut self.output);
        self.owe_output(conn);
        self.in_flight -= 1;
        self.keep_evidence(conn, id, failure, now, &[]);
        self.fail(id, failure, now);
        self.go_on(conn, now, true, false);
        self.handle_news(conn, now, &[]);
    }

    /// A connection that is not established, or not ready, in time.
    fn expire_opening(&mut self, conn: Conn, now: Nanos) {
        // The exchange that waited for it longest decides; later ones have time left for another connection.
        let first = self.slab.pop_front(&mut self.slots[conn as usize].bound);
        let later = std::mem::take(&mut self.slots[conn as usize].bound);
        if let Some(first) = first {
            self.slab.push_back(&mut self.slots[conn as usize].bound, first);
        }
        let slot = &self.slots[conn as usize];
        let failure = match slot.state {
            State::Opening => Failure::NoStream,
            _ => unconnected(slot.is_reached),
        };
        self.lose(conn, Loss::Failed(failure), now);
        let mut later = later;
        while let Some(id) = self.slab.pop_front(&mut later) {
            self.bind(conn, id);
        }
    }

    /// An exchange that is out of time before it left.
    pub(super) fn drop_unsent(&mut self, conn: Conn, id: ExchangeId, now: Nanos) {
        let failure = self.unsent_in_time(conn, id);
        self.fail(id, failure, now);
        if let Kind::Sessions { .. } = self.supply.kind {
            let slot = &mut self.slots[conn as usize];
            let arrived = slot.arrived;
            slot.state = State::Leaving;
            self.recorder.session_over(arrived, SessionEnd::Failed);
            self.put_on_agenda(conn);
        } else {
            self.use_room(conn, now);
        }
    }

    /// The failure of an answer that came after its time.
    pub(super) fn overdue_answer(&self, conn: Conn, id: ExchangeId) -> Failure {
        let deadline = self.deadline(id);
        // It may have come in time, and have waited for the generator.
        if self.is_our_stillness(deadline) {
            return Failure::Still;
        }
        self.out_of_time(conn, id, self.slab[id].first_byte < deadline)
    }

    /// Whether the lane was not looking at this instant.
    fn is_our_stillness(&self, deadline: Nanos) -> bool {
        self.stalls.unread_since.is_some_and(|from| from <= deadline)
    }

    fn out_of_time(&self, conn: Conn, id: ExchangeId, has_begun: bool) -> Failure {
        let is_unwritten = self.slots[conn as usize].is_choked;
        let theirs = match has_begun {
            _ if is_unwritten => Failure::SendTimeout,
            _ if self.windows.is_stalled(id) => Failure::SendWindow,
            true => Failure::Deadline,
            false => Failure::FirstByteTimeout,
        };
        self.own_fault(conn, &self.slab[id]).unwrap_or(theirs)
    }

    /// Ours, if more than half of the time was over before the request left, and only the generator was waited for.
    /// Waiting for the server to accept a connection does not count, nor does waiting for connections that it keeps
    /// busy, as long as more may be opened.
    fn own_fault(&self, conn: Conn, exchange: &Exchange) -> Option<Failure> {
        if !exchange.is_sent() {
            return None;
        }
        let blocked = exchange.ready - exchange.intended;
        let late = exchange.sent - exchange.ready;
        let is_own_connection = self.slots[conn as usize].has_own_connection(self.supply.kind);
        // What goes out again has waited for the server before.
        let blocked = if exchange.is_first_sending() { blocked } else { 0 };
        match (self.is_most(late), self.is_most(blocked)) {
            (true, _) => Some(Failure::Late),
            (false, true) if !is_own_connection && self.is_full() => Some(Failure::Blocked),
            (false, _) => None,
        }
    }

    /// Whether this was more than half of the time that a request has.
    fn is_most(&self, waited: Nanos) -> bool {
        self.rules.timeout < 2 * waited
    }

    /// Why a request did not leave before its time was over, though it has a connection now.
    fn unsent_in_time(&self, conn: Conn, id: ExchangeId) -> Failure {
        let slot = &self.slots[conn as usize];
        let is_ready = slot.state == State::Ready;
        let had_room = is_ready && !slot.is_full && slot.room_since <= self.slab[id].intended;
        let kept = self.kept(id, &(self.slab[id].ready..self.deadline(id)));
        match slot.has_own_connection(self.supply.kind) {
            _ if S::SHARED && self.is_shut(conn) => Failure::NoStream,
            _ if slot.is_choked => Failure::SendTimeout,
            _ if had_room || self.is_most(kept) => Failure::Late,
            false if is_ready && self.is_full() => Failure::Blocked,
            _ => Failure::ConnectTimeout,
        }
    }

    /// Whether no further connection may be opened.
    fn is_full(&self) -> bool {
        // Connections that drained have left places beyond the limit.
        let vacant = if S::SHARED { self.vacant.len() } else { 0 };
        self.supply.max_connections <= self.slots.len() - vacant - self.draining
    }

    /// Notes how long this turn worked, and by how much the sleep after it lasted too long. The rest is known when the
    /// clocks are read.
    pub(super) fn look_up(&mut self, pause: Pause) {
        self.stalls.look_up(&pause);
        self.recorder.looked_up(&pause);
    }
}
