//! What becomes of a connection that is lost or out of time, and of the exchange on it.

use wire::{Progress, Session, WireFault};

use super::desk::Desk;
use super::line::{Exchange, State, UNSENT};
use crate::Nanos;
use crate::engine::{Break, Conn};
use crate::failure::Failure;
use crate::supply::Kind;

impl<'a, S: Session<'a>> Desk<'a, S> {
    /// The class of a break, by how far the exchange had come.
    pub(super) fn blame(&self, conn: Conn, cause: Break) -> Failure {
        let line = &self.lines[conn as usize];
        if line.state == State::Connecting || cause != Break::Reset {
            return cause.into();
        }
        match line.session.progress() {
            Progress::Idle | Progress::Asked if line.carried == 0 => Failure::ConnectReset,
            Progress::Idle | Progress::Asked | Progress::Head => Failure::RecvReset,
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

    /// A connection is of no more use, and `failure` says why.
    pub(super) fn lose(&mut self, conn: Conn, failure: Failure, at: Nanos) {
        let line = &mut self.lines[conn as usize];
        let was_connecting = line.state == State::Connecting;
        if matches!(line.state, State::Leaving | State::Vacant) {
            return;
        }
        line.state = State::Leaving;
        line.deadline = Nanos::MAX;
        if was_connecting {
            self.connecting -= 1;
            self.recorder.window().connections.failed += 1;
        }
        match self.lines[conn as usize].exchange.take() {
            Some(exchange) => self.lose_exchange(conn, exchange, failure, at),
            None if was_connecting => {
                self.lost_in_a_row += 1;
                // A pool's connection was begun for what waits longest; what waited as long as
                // this one has been given up already.
                if !failure.is_censored()
                    && let Some(exchange) = self.waiting.pop_front()
                {
                    self.fail(&exchange, failure, at);
                }
            }
            None => self.note_loss_at_rest(failure),
        }
        self.note(conn);
    }

    pub(super) fn note_loss_at_rest(&mut self, failure: Failure) {
        let notes = &mut self.recorder.window().notes;
        match failure {
            Failure::Wire(WireFault::Surplus) => notes.surplus += 1,
            Failure::Wire(WireFault::Unsolicited) => notes.unsolicited += 1,
            _ => notes.idle_closed += 1,
        }
    }

    pub(super) fn lose_exchange(
        &mut self,
        conn: Conn,
        mut exchange: Exchange,
        failure: Failure,
        at: Nanos,
    ) {
        let line = &mut self.lines[conn as usize];
        let is_session = matches!(self.supply.kind, Kind::Sessions { .. });
        let was_reused = 0 < line.carried;
        if !exchange.is_sent() && was_reused && !failure.is_own() && !is_session {
            // The loss was the last exchange's doing; this one goes out on another connection.
            self.note_loss_at_rest(failure);
            return self.send_again(conn, exchange);
        }
        let heard_nothing = line.session.progress() == Progress::Asked;
        let is_closed_unheard = matches!(
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
        if was_reused && heard_nothing && is_closed_unheard && may_retry {
            self.recorder.unsent(at);
            self.recorder.window().notes.stale_retries += 1;
            exchange.sent = UNSENT;
            exchange.is_retry = true;
            return self.send_again(conn, exchange);
        }
        self.lost_in_a_row += 1;
        self.fail(&exchange, failure, at);
        if is_session {
            let arrived = self.lines[conn as usize].arrived;
            self.recorder.session_over(arrived, false);
        }
    }

    pub(super) fn send_again(&mut self, conn: Conn, exchange: Exchange) {
        match self.supply.kind {
            Kind::Open => self.waiting.push_front(exchange),
            Kind::Closed | Kind::Sessions { .. } => {
                self.lines[conn as usize].exchange = Some(exchange);
            }
        }
    }

    /// Gives up what is out of time.
    pub(super) fn expire(&mut self, now: Nanos) {
        while let Some(exchange) = self.waiting.front().copied()
            && exchange.intended + self.rules.timeout <= now
        {
            self.waiting.pop_front();
            let failure =
                if 0 < self.connecting { Failure::ConnectTimeout } else { Failure::Blocked };
            self.fail(&exchange, failure, now);
            if let Kind::Sessions { .. } = self.supply.kind {
                self.recorder.session_over(exchange.intended, false);
            }
        }
        let mut found = std::mem::take(&mut self.found);
        self.deadlines.look(now, &mut found);
        for conn in found.drain(..) {
            self.expire_line(conn, now);
        }
        self.found = found;
    }

    pub(super) fn expire_line(&mut self, conn: Conn, now: Nanos) {
        let line = &mut self.lines[conn as usize];
        line.is_on_wheel = false;
        if line.deadline == Nanos::MAX {
            return;
        }
        if now < line.deadline {
            let deadline = line.deadline;
            return self.set_deadline(conn, deadline);
        }
        let failure = match (line.state, line.session.progress()) {
            (State::Connecting, _) => Failure::ConnectTimeout,
            _ if !line.unsent.is_empty() => Failure::SendTimeout,
            (_, Progress::Idle | Progress::Asked) => Failure::FirstByteTimeout,
            (_, Progress::Head | Progress::Body) => Failure::Deadline,
        };
        let failure = self.own_fault(conn).unwrap_or(failure);
        self.lose(conn, failure, now);
    }

    /// Ours, if most of the time was over before the request left.
    fn own_fault(&self, conn: Conn) -> Option<Failure> {
        let line = &self.lines[conn as usize];
        let exchange = line.exchange.as_ref().filter(|exchange| exchange.is_sent())?;
        let waited = exchange.sent - exchange.intended;
        let was_free = line.free_since <= exchange.intended;
        let own = if was_free { Failure::Late } else { Failure::Blocked };
        (self.rules.timeout < 2 * waited).then_some(own)
    }
}

impl From<Break> for Failure {
    fn from(cause: Break) -> Failure {
        match cause {
            Break::Refused => Failure::ConnectRefused,
            Break::Reset => Failure::ConnectReset,
            Break::TimedOut => Failure::ConnectTimeout,
            Break::Unreachable => Failure::ConnectUnreachable,
            Break::NoPorts => Failure::NoPorts,
            Break::NoFiles => Failure::NoFiles,
        }
    }
}
