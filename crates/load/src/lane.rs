//! One thread's loop: what is due → onto connections that are free → wait → record.
//!
//! Connections are told apart by what they wait for; those that have something to do stand on
//! the agenda, and no turn looks at all of them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use wire::{Asks, News, Progress, Session, Values, WireFault};

use crate::arrivals::Chance;
use crate::deadlines::Deadlines;
use crate::engine::{Break, Conn, Engine, Event};
use crate::failure::Failure;
use crate::recorder::{Clocks, Recorder};
use crate::supply::{Kind, Supply};
use crate::{Nanos, SECOND};

/// One request and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) intended: Nanos,
    /// `UNSENT` before it left.
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) values: Values,
    is_retry: bool,
}

const UNSENT: Nanos = Nanos::MAX;

impl Exchange {
    pub(crate) fn is_sent(&self) -> bool {
        self.sent != UNSENT
    }
}

/// What all lanes of a run are told alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) asks: &'a Asks,
    pub(crate) timeout: Nanos,
    pub(crate) keep_alive: bool,
}

/// Connections begun at once, so that a pool's beginning does not overflow a server's backlog.
const OPENING_MAX: usize = 100;
/// After so many lost connections in a row, connecting is slowed down.
const PATIENCE: u32 = 5;
const BACK_OFF_MAX: Nanos = SECOND / 10;
/// What is under way at the end is waited for so long, and no longer than the time-out.
const DRAIN_MAX: Nanos = SECOND * 3 / 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No connection.
    Vacant,
    Connecting,
    /// Established; it may have an exchange to send, or wait for one.
    Free,
    /// Its exchange has left.
    Busy,
    /// To be closed in this turn.
    Leaving,
}

/// One place for a connection.
struct Line<'a, S> {
    session: S,
    state: State,
    exchange: Option<Exchange>,
    unsent: Unsent<'a>,
    begun: Nanos,
    free_since: Nanos,
    deadline: Nanos,
    is_on_wheel: bool,
    is_on_agenda: bool,
    /// Answers that this connection has carried.
    carried: u32,
    /// Calls that its session has yet to make, the current one included.
    calls: u32,
    /// When its session was due.
    arrived: Nanos,
}

/// What the kernel has not taken yet of a request.
enum Unsent<'a> {
    Nothing,
    Own(Vec<u8>),
    /// The rest of a request that is always the same is not copied.
    Constant(&'a [u8]),
}

pub(crate) struct Lane<'a, E, S> {
    engine: E,
    desk: Desk<'a, S>,
}

/// All of a lane but its engine.
struct Desk<'a, S> {
    rules: Rules<'a>,
    lines: Vec<Line<'a, S>>,
    new_session: &'a dyn Fn() -> S,
    supply: Supply,
    recorder: Recorder,
    /// Due, and waiting for a connection.
    waiting: VecDeque<Exchange>,
    /// Free connections of a pool, the one that rested longest first. An entry may be outdated.
    resting: VecDeque<Conn>,
    /// Places without a connection.
    vacant: Vec<Conn>,
    /// Connections of the beginning that have not been begun.
    to_begin: VecDeque<Conn>,
    /// Connections to be begun again when the server has had time to recover.
    backing_off: BinaryHeap<Reverse<(Nanos, Conn)>>,
    agenda: Vec<Conn>,
    deadlines: Deadlines,
    connecting: usize,
    in_flight: usize,
    /// Exchanges begun and not ended.
    unfinished: usize,
    /// Connections lost since the last answer.
    lost_in_a_row: u32,
    drain_until: Nanos,
    chance: Chance,
    next_seq: u64,
    seq_stride: u64,
    news: Vec<News>,
    found: Vec<Conn>,
    output: Vec<u8>,
}

impl<'a, E: Engine, S: Session<'a>> Lane<'a, E, S> {
    pub(crate) fn new(
        engine: E,
        rules: Rules<'a>,
        new_session: &'a dyn Fn() -> S,
        supply: Supply,
        recorder: Recorder,
        seed: (u64, u64, u64),
    ) -> Lane<'a, E, S> {
        let (seed, first_seq, seq_stride) = seed;
        let desk = Desk {
            rules,
            lines: Vec::new(),
            new_session,
            supply,
            recorder,
            waiting: VecDeque::new(),
            resting: VecDeque::new(),
            vacant: Vec::new(),
            to_begin: VecDeque::new(),
            backing_off: BinaryHeap::new(),
            agenda: Vec::new(),
            deadlines: Deadlines::new(rules.timeout),
            connecting: 0,
            in_flight: 0,
            unfinished: 0,
            lost_in_a_row: 0,
            drain_until: Nanos::MAX,
            chance: Chance::new(seed),
            next_seq: first_seq,
            seq_stride,
            news: Vec::new(),
            found: Vec::new(),
            output: Vec::new(),
        };
        Lane { engine, desk }
    }

    /// Runs until all is done, or `is_halted` and what is under way has been waited for.
    pub(crate) fn press(mut self, is_halted: impl Fn() -> bool) {
        self.desk.reserve();
        loop {
            let now = self.engine.now();
            self.keep_time(now);
            if is_halted() {
                self.desk.stop(now);
            }
            self.desk.take_due(now);
            self.desk.expire(now);
            self.act();
            if self.desk.is_over(now) {
                break;
            }
            let wake = self.desk.wake(now);
            let desk = &mut self.desk;
            self.engine.wait(wake, desk.in_flight, &mut |conn, event, at| {
                desk.hear(conn, event, at);
            });
        }
        let under_way = self.desk.under_way();
        let clocks = self.clocks();
        self.desk.recorder.finish(clocks, under_way);
    }

    fn keep_time(&mut self, now: Nanos) {
        if self.desk.recorder.turn <= now {
            self.desk.recorder.turn_over(now);
        }
        if self.desk.recorder.is_unsettled() {
            let clocks = self.clocks();
            self.desk.recorder.settle(clocks);
        }
    }

    fn clocks(&self) -> Clocks {
        Clocks { cpu: self.engine.cpu(), idle: self.engine.idle() }
    }

    /// Does what stands on the agenda, and gives free connections what is due.
    fn act(&mut self) {
        let mut next = 0;
        // What is done here may put more on the agenda.
        while let Some(&conn) = self.desk.agenda.get(next) {
            next += 1;
            self.desk.lines[conn as usize].is_on_agenda = false;
            self.act_on(conn);
        }
        self.desk.agenda.clear();
        self.begin_waiting();
        self.serve_waiting();
    }

    fn act_on(&mut self, conn: Conn) {
        let line = &mut self.desk.lines[conn as usize];
        match line.state {
            State::Leaving => self.leave(conn),
            State::Free if line.exchange.is_some() => self.send(conn),
            State::Busy => self.send_rest(conn),
            State::Free | State::Vacant | State::Connecting => {}
        }
    }

    fn leave(&mut self, conn: Conn) {
        self.engine.close(conn);
        let line = &mut self.desk.lines[conn as usize];
        line.session.reset();
        line.unsent = Unsent::Nothing;
        line.state = State::Vacant;
        line.carried = 0;
        if line.exchange.is_some() {
            self.begin(conn);
        } else {
            self.desk.refill(conn, self.engine.now());
        }
    }

    /// Begins a connection; an exchange that is bound to it is sent when it is established.
    fn begin(&mut self, conn: Conn) {
        let now = self.engine.now();
        let timeout = self.desk.rules.timeout;
        let line = &mut self.desk.lines[conn as usize];
        line.begun = now;
        line.state = State::Connecting;
        let due = line.exchange.map_or(now, |exchange| exchange.intended);
        self.desk.set_deadline(conn, due + timeout);
        self.desk.connecting += 1;
        self.desk.recorder.window().connections.begun += 1;
        if let Err(cause) = self.engine.open(conn) {
            self.desk.lose(conn, cause.into(), now);
        }
    }

    /// Begins connections of the opening, and of those that backed off.
    fn begin_waiting(&mut self) {
        while self.desk.connecting < OPENING_MAX
            && let Some(conn) = self.desk.to_begin.pop_front()
        {
            self.desk.bind_if_closed(conn, self.engine.now());
            self.begin_if_wanted(conn);
        }
        while let Some(&Reverse((at, conn))) = self.desk.backing_off.peek()
            && at <= self.engine.now()
        {
            self.desk.backing_off.pop();
            self.desk.bind_if_closed(conn, self.engine.now());
            self.begin_if_wanted(conn);
        }
    }

    /// A closed loop's connection without an exchange is of no more use.
    fn begin_if_wanted(&mut self, conn: Conn) {
        let has_exchange = self.desk.lines[conn as usize].exchange.is_some();
        if has_exchange || self.desk.supply.kind != Kind::Closed {
            self.begin(conn);
        }
    }

    /// Puts what is due onto resting connections, then onto new ones.
    fn serve_waiting(&mut self) {
        match self.desk.supply.kind {
            Kind::Closed => {}
            Kind::Open => {
                while !self.desk.waiting.is_empty()
                    && let Some(conn) = self.desk.rested()
                {
                    self.desk.lines[conn as usize].exchange = self.desk.waiting.pop_front();
                    self.send(conn);
                }
                while self.desk.connecting < self.desk.waiting.len().min(OPENING_MAX)
                    && let Some(conn) = self.desk.place()
                {
                    self.begin(conn);
                }
            }
            Kind::Sessions { calls } => {
                while !self.desk.waiting.is_empty()
                    && let Some(conn) = self.desk.place()
                {
                    let line = &mut self.desk.lines[conn as usize];
                    line.exchange = self.desk.waiting.pop_front();
                    line.calls = calls;
                    line.arrived = line.exchange.map_or(0, |exchange| exchange.intended);
                    self.begin(conn);
                }
            }
        }
    }

    fn send(&mut self, conn: Conn) {
        let now = self.engine.now();
        let line = &mut self.desk.lines[conn as usize];
        let Some(exchange) = line.exchange.as_mut() else {
            return;
        };
        let deadline = exchange.intended + self.desk.rules.timeout;
        if deadline <= now {
            let was_free = line.free_since <= exchange.intended;
            let failure = if was_free { Failure::Late } else { Failure::Blocked };
            return self.desk.lose(conn, failure, now);
        }
        exchange.sent = now;
        let values = exchange.values;
        self.desk.output.clear();
        let ask = self.desk.rules.asks.choose(values);
        let constant = line.session.submit(conn, ask, values, &mut self.desk.output);
        line.state = State::Busy;
        let own_connect = line.carried == 0 && !matches!(self.desk.supply.kind, Kind::Open);
        self.desk.recorder.sent(exchange, line.free_since, own_connect);
        self.desk.in_flight += 1;
        self.desk.set_deadline(conn, deadline);
        let written = self.engine.write(conn, constant.unwrap_or(&self.desk.output));
        let line = &mut self.desk.lines[conn as usize];
        match written {
            Ok(len) => {
                self.desk.recorder.window().bytes_sent += len as u64;
                line.unsent = match constant {
                    Some(bytes) if len < bytes.len() => Unsent::Constant(&bytes[len..]),
                    None if len < self.desk.output.len() => {
                        Unsent::Own(self.desk.output[len..].to_vec())
                    }
                    Some(_) | None => Unsent::Nothing,
                };
            }
            Err(cause) => self.desk.lose_sending(conn, cause, now),
        }
    }

    fn send_rest(&mut self, conn: Conn) {
        let line = &mut self.desk.lines[conn as usize];
        let rest: &[u8] = match &line.unsent {
            Unsent::Nothing => return,
            Unsent::Own(bytes) => bytes,
            Unsent::Constant(bytes) => bytes,
        };
        match self.engine.write(conn, rest) {
            Ok(len) => {
                self.desk.recorder.window().bytes_sent += len as u64;
                line.unsent.advance(len);
            }
            Err(cause) => {
                let now = self.engine.now();
                self.desk.lose_sending(conn, cause, now);
            }
        }
    }
}

impl Unsent<'_> {
    fn advance(&mut self, len: usize) {
        match self {
            Unsent::Nothing => {}
            Unsent::Own(bytes) => drop(bytes.drain(..len)),
            Unsent::Constant(bytes) => *bytes = &bytes[len..],
        }
        if self.is_empty() {
            *self = Unsent::Nothing;
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Unsent::Nothing => true,
            Unsent::Own(bytes) => bytes.is_empty(),
            Unsent::Constant(bytes) => bytes.is_empty(),
        }
    }
}

impl<'a, S: Session<'a>> Desk<'a, S> {
    /// Prepares the connections that are opened at the beginning.
    fn reserve(&mut self) {
        for _ in 0..self.supply.connections {
            let conn = self.new_line();
            self.to_begin.push_back(conn);
        }
    }

    fn new_line(&mut self) -> Conn {
        let conn = self.lines.len() as Conn;
        self.lines.push(Line {
            session: (self.new_session)(),
            state: State::Vacant,
            exchange: None,
            unsent: Unsent::Nothing,
            begun: 0,
            free_since: 0,
            deadline: Nanos::MAX,
            is_on_wheel: false,
            is_on_agenda: false,
            carried: 0,
            calls: 0,
            arrived: 0,
        });
        conn
    }

    /// A place for one more connection, if the pool may grow.
    fn place(&mut self) -> Option<Conn> {
        if let Some(conn) = self.vacant.pop() {
            return Some(conn);
        }
        (self.lines.len() < self.supply.max_connections).then(|| self.new_line())
    }

    /// The free connection that rested longest.
    fn rested(&mut self) -> Option<Conn> {
        loop {
            let conn = self.resting.pop_front()?;
            let line = &self.lines[conn as usize];
            if line.state == State::Free && line.exchange.is_none() {
                return Some(conn);
            }
        }
    }

    fn new_exchange(&mut self, intended: Nanos) -> Exchange {
        let seq = self.next_seq;
        self.next_seq += self.seq_stride;
        let values = Values { seq, random: self.chance.next() };
        let exchange =
            Exchange { intended, sent: UNSENT, first_byte: UNSENT, values, is_retry: false };
        self.recorder.attempted(&exchange);
        self.unfinished += 1;
        exchange
    }

    fn fail(&mut self, exchange: &Exchange, failure: Failure, at: Nanos) {
        self.unfinished -= 1;
        self.recorder.failed(exchange, failure, at, self.rules.timeout);
    }

    /// Takes what the schedule says is due.
    fn take_due(&mut self, now: Nanos) {
        while let Some(intended) = self.supply.due(now) {
            if let Kind::Sessions { .. } = self.supply.kind {
                self.recorder.session_attempted(intended);
            }
            let exchange = self.new_exchange(intended);
            self.waiting.push_back(exchange);
        }
    }

    /// A closed loop's connection always has an exchange, as long as there are any left.
    fn bind_if_closed(&mut self, conn: Conn, now: Nanos) {
        if self.supply.kind == Kind::Closed
            && self.lines[conn as usize].exchange.is_none()
            && self.supply.take_one(now)
        {
            self.lines[conn as usize].exchange = Some(self.new_exchange(now));
        }
    }

    /// What becomes of a place that has just lost its connection and has no exchange.
    fn refill(&mut self, conn: Conn, now: Nanos) {
        match self.supply.kind {
            Kind::Closed => {
                let excess = self.lost_in_a_row.saturating_sub(PATIENCE).min(20);
                let slow_down = PATIENCE <= self.lost_in_a_row;
                let pause = if slow_down { (1_000_000 << excess).min(BACK_OFF_MAX) } else { 0 };
                self.backing_off.push(Reverse((now + pause, conn)));
            }
            Kind::Open | Kind::Sessions { .. } => self.vacant.push(conn),
        }
    }

    fn note(&mut self, conn: Conn) {
        let line = &mut self.lines[conn as usize];
        if !line.is_on_agenda {
            line.is_on_agenda = true;
            self.agenda.push(conn);
        }
    }

    fn set_deadline(&mut self, conn: Conn, deadline: Nanos) {
        let line = &mut self.lines[conn as usize];
        line.deadline = deadline;
        if !line.is_on_wheel {
            line.is_on_wheel = true;
            self.deadlines.insert(conn, deadline);
        }
    }

    fn hear(&mut self, conn: Conn, event: Event<'_>, at: Nanos) {
        if self.recorder.turn <= at {
            self.recorder.turn_over(at);
        }
        match event {
            Event::Connected => self.hear_connected(conn, at),
            Event::Bytes(bytes) => self.hear_bytes(conn, bytes, at),
            Event::Writable => self.note(conn),
            Event::Ended => self.hear_end(conn, at),
            Event::Broken(cause) => {
                let failure = self.blame(conn, cause);
                self.lose(conn, failure, at);
            }
        }
    }

    fn hear_connected(&mut self, conn: Conn, at: Nanos) {
        self.connecting -= 1;
        let line = &mut self.lines[conn as usize];
        line.state = State::Free;
        line.free_since = at;
        line.deadline = Nanos::MAX;
        let window = self.recorder.window();
        window.connections.established += 1;
        window.connect.record(at - line.begun);
        if line.exchange.is_some() {
            self.note(conn);
        } else {
            self.rest(conn);
        }
    }

    fn hear_bytes(&mut self, conn: Conn, bytes: &[u8], at: Nanos) {
        self.recorder.window().bytes_received += bytes.len() as u64;
        let line = &mut self.lines[conn as usize];
        if line.state == State::Leaving {
            return;
        }
        let heard = line.session.receive(bytes, &mut self.news);
        self.hear_news(conn, at);
        if let Err(fault) = heard {
            self.lose(conn, Failure::Wire(fault), at);
        }
    }

    fn hear_end(&mut self, conn: Conn, at: Nanos) {
        let line = &mut self.lines[conn as usize];
        if line.state == State::Leaving {
            return;
        }
        let heard = line.session.ended(&mut self.news);
        self.hear_news(conn, at);
        let fault = heard.err().unwrap_or(WireFault::Empty);
        self.lose(conn, Failure::Wire(fault), at);
    }

    fn hear_news(&mut self, conn: Conn, at: Nanos) {
        for index in 0..self.news.len() {
            match self.news[index] {
                News::FirstByte(_) => {
                    if let Some(exchange) = &mut self.lines[conn as usize].exchange {
                        exchange.first_byte = at;
                    }
                }
                News::Answered { status, mismatch, reusable, .. } => {
                    let line = &mut self.lines[conn as usize];
                    let Some(exchange) = line.exchange.take() else {
                        continue;
                    };
                    line.carried = line.carried.saturating_add(1);
                    let reusable = reusable && line.unsent.is_empty();
                    self.in_flight -= 1;
                    self.lost_in_a_row = 0;
                    match mismatch {
                        None => {
                            self.unfinished -= 1;
                            self.recorder.correct(&exchange, at, status);
                        }
                        Some(mismatch) => self.fail(&exchange, Failure::Content(mismatch), at),
                    }
                    self.go_on(conn, at, reusable, mismatch.is_none());
                }
            }
        }
        self.news.clear();
    }

    /// What a connection does after an answer.
    fn go_on(&mut self, conn: Conn, at: Nanos, reusable: bool, was_right: bool) {
        let (next, stays) = match self.supply.kind {
            Kind::Closed => (self.supply.take_one(at), reusable && self.rules.keep_alive),
            Kind::Open => (false, reusable && self.rules.keep_alive),
            Kind::Sessions { .. } => {
                let line = &mut self.lines[conn as usize];
                line.calls -= 1;
                let is_last = line.calls == 0;
                if is_last || !was_right || !reusable {
                    let arrived = line.arrived;
                    self.recorder.session_over(arrived, is_last && was_right);
                }
                let goes_on = !is_last && was_right && reusable;
                (goes_on, goes_on)
            }
        };
        if next {
            self.lines[conn as usize].exchange = Some(self.new_exchange(at));
        }
        let line = &mut self.lines[conn as usize];
        line.deadline = Nanos::MAX;
        line.free_since = at;
        line.state = if stays { State::Free } else { State::Leaving };
        if next || !stays {
            self.note(conn);
        } else {
            self.rest(conn);
        }
    }

    /// An established connection without an exchange waits for one.
    fn rest(&mut self, conn: Conn) {
        if self.supply.kind == Kind::Open {
            self.resting.push_back(conn);
        }
    }

    /// The class of a break, by how far the exchange had come.
    fn blame(&self, conn: Conn, cause: Break) -> Failure {
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

    fn lose_sending(&mut self, conn: Conn, cause: Break, now: Nanos) {
        let carried = self.lines[conn as usize].carried;
        let failure = match Failure::from(cause) {
            Failure::ConnectReset if carried == 0 => Failure::SendReset,
            Failure::ConnectReset => Failure::Wire(WireFault::Empty),
            other => other,
        };
        self.lose(conn, failure, now);
    }

    /// A connection is of no more use, and `failure` says why.
    fn lose(&mut self, conn: Conn, failure: Failure, at: Nanos) {
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
                // A pool's connection was begun for what waits longest.
                if let Some(exchange) = self.waiting.pop_front() {
                    self.fail(&exchange, failure, at);
                }
            }
            None => self.note_loss_at_rest(failure),
        }
        self.note(conn);
    }

    fn note_loss_at_rest(&mut self, failure: Failure) {
        let notes = &mut self.recorder.window().notes;
        match failure {
            Failure::Wire(WireFault::Surplus) => notes.surplus += 1,
            Failure::Wire(WireFault::Unsolicited) => notes.unsolicited += 1,
            _ => notes.idle_closed += 1,
        }
    }

    fn lose_exchange(&mut self, conn: Conn, mut exchange: Exchange, failure: Failure, at: Nanos) {
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

    fn send_again(&mut self, conn: Conn, exchange: Exchange) {
        match self.supply.kind {
            Kind::Open => self.waiting.push_front(exchange),
            Kind::Closed | Kind::Sessions { .. } => {
                self.lines[conn as usize].exchange = Some(exchange);
            }
        }
    }

    /// Gives up what is out of time.
    fn expire(&mut self, now: Nanos) {
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

    fn expire_line(&mut self, conn: Conn, now: Nanos) {
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
        self.lose(conn, failure, now);
    }

    fn stop(&mut self, now: Nanos) {
        self.supply.stop(now);
        self.recorder.stop_at(now);
    }

    fn is_over(&mut self, now: Nanos) -> bool {
        if !self.supply.is_over(now) {
            return false;
        }
        if self.unfinished == 0 {
            return true;
        }
        if self.recorder.measured_until() <= now && self.drain_until == Nanos::MAX {
            self.drain_until = now + DRAIN_MAX.min(self.rules.timeout);
        }
        self.drain_until <= now
    }

    fn wake(&mut self, now: Nanos) -> Nanos {
        let again = self.backing_off.peek().map(|Reverse((at, _))| *at);
        let look = self.deadlines.next_look();
        let waiting = self.waiting.front().map(|first| first.intended + self.rules.timeout);
        let times = [self.supply.next(now), again, look, waiting, Some(self.drain_until)];
        times.into_iter().flatten().fold(self.recorder.turn, Nanos::min)
    }

    fn under_way(&self) -> u64 {
        let bound = self.lines.iter().filter_map(|line| line.exchange.as_ref());
        let all = bound.chain(self.waiting.iter());
        all.filter(|exchange| self.recorder.is_measured(exchange)).count() as u64
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
