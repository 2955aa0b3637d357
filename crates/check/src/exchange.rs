//! Plays a case's steps over a socket of its own and notes what arrived. Whatever the server does, the exchange ends in
//! time, and keeps only a bounded part of what it receives.

mod patient;
mod quote;

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tls::Stream;

use crate::answer::{ParsedStream, ReceivedAnswer, read};
use crate::case::Case;
use crate::flaw::Flaw;
use crate::frame::{frames, masked};
use crate::script::{Rule, Step};
use crate::seen::{End, Seen};
use crate::slow::Slow;
use crate::target::Target;
use quote::quoted;

/// How long we wait, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For an answer, or the rest of one.
    pub answer: Duration,
    /// For an end of the connection, or an answer that was not requested.
    pub settle: Duration,
    /// For the end of a connection when the answer has announced it.
    pub announced: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            connect: Duration::from_secs(2),
            answer: Duration::from_millis(1500),
            settle: Duration::from_millis(250),
            announced: Duration::from_secs(2),
        }
    }
}

/// At most this many bytes are read.
const RECEIVED: usize = 2 << 20;
/// At most this many of the sent bytes are kept.
const SENT: usize = 4 << 10;

pub(crate) fn exchange(case: &Case, target: &Target, post: &str, patience: &Patience) -> Seen {
    exchange_until(case, target, post, patience, &|| false)
}

/// Plays a case that may take minutes, unless the user interrupts it.
pub(crate) fn exchange_until(
    case: &Case,
    target: &Target,
    post: &str,
    patience: &Patience,
    is_halted: &dyn Fn() -> bool,
) -> Seen {
    let began = Instant::now();
    if let [Step::Crowd(crowd)] = case.steps {
        let slow = crate::slow::gather(crowd, target, post, is_halted);
        return Seen { slow, end: End::Open, took: began.elapsed(), ..nothing(began) };
    }
    let Ok(mut talk) = Talk::open(target, case.limit, patience) else {
        return nothing(began);
    };
    for step in case.steps {
        if !talk.has_given_up {
            talk.play(step, target, post, patience, is_halted);
        }
    }
    if case.answers > 0 {
        talk.listen(case, patience);
    }
    talk.into_seen(began)
}

fn nothing(began: Instant) -> Seen {
    Seen { took: began.elapsed(), ..unconnected() }
}

/// An exchange that never began.
pub(crate) fn unconnected() -> Seen {
    Seen {
        sent: Vec::new(),
        sent_len: 0,
        received: Vec::new(),
        reading: ParsedStream::default(),
        end: End::Unconnected,
        marks: Vec::new(),
        took: Duration::ZERO,
        unix_s: unix_s(),
        grew: None,
        slow: Slow::default(),
    }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

struct Talk {
    socket: Stream,
    until: Instant,
    sent: Vec<u8>,
    sent_len: u64,
    received: Vec<u8>,
    end: End,
    marks: Vec<usize>,
    /// How many answers or frames had arrived at the last mark.
    counted: usize,
    /// Whether a step could not be played, so that the rest makes no sense.
    has_given_up: bool,
    slow: Slow,
}

impl Talk {
    fn open(target: &Target, limit: Duration, patience: &Patience) -> std::io::Result<Talk> {
        let socket = target.connect(patience.connect)?;
        socket.socket().set_nonblocking(true)?;
        socket.socket().set_nodelay(true)?;
        Ok(Talk {
            socket,
            until: Instant::now() + limit,
            sent: Vec::new(),
            sent_len: 0,
            received: Vec::new(),
            end: End::Open,
            marks: Vec::new(),
            counted: 0,
            has_given_up: false,
            slow: Slow::default(),
        })
    }

    fn play(
        &mut self,
        step: &Step,
        target: &Target,
        post: &str,
        patience: &Patience,
        is_halted: &dyn Fn() -> bool,
    ) {
        match step {
            Step::Send(template) => self.send(&target.fill(template, post)),
            Step::Raw(bytes) => self.send(bytes),
            Step::Drip(template, pause) => {
                for octet in target.fill(template, post) {
                    self.send(&[octet]);
                    std::thread::sleep(*pause);
                }
            }
            Step::Fill(octet, count) => {
                let block = vec![*octet; (*count).min(64 << 10)];
                let mut left = *count;
                while left > 0 && self.end == End::Open {
                    let now = left.min(block.len());
                    self.send(&block[..now]);
                    left -= now;
                }
            }
            Step::Repeat(template, count) => self.repeat(&target.fill(template, post), *count),
            Step::Frames(first, len, count) => self.repeat(&masked(*first, *len), *count),
            Step::Pause(time) => std::thread::sleep(*time),
            Step::Receive(limit) => self.receive(*limit, patience),
            Step::ReceiveToEnd => {
                self.wait(patience.announced, &|talk| talk.end != End::Open, is_halted);
            }
            Step::Quote(template) => match quoted(template, self.reading().finals.first()) {
                Some(template) => self.send(&target.fill(&template, post)),
                None => self.has_given_up = true,
            },
            Step::Trickle(trickle) => {
                self.trickle(trickle, &target.fill(trickle.head, post), is_halted);
            }
            Step::Idle(limit) => {
                let began = Instant::now();
                let has_ended = self.wait(*limit, &|talk| talk.end != End::Open, is_halted);
                self.slow.waited = began.elapsed();
                self.slow.acted = has_ended.then_some(self.slow.waited);
            }
            // A crowd is the only step of its case, and is not played here.
            Step::Crowd(_) => {}
            Step::ReceivePong(payload) => self.receive_pong(payload, patience),
            Step::HalfClose => {
                let _ = self.socket.end_sending();
            }
        }
    }

    /// The same bytes repeated, sent a block at a time.
    fn repeat(&mut self, bytes: &[u8], count: usize) {
        let placeholder = bytes.windows(3).position(|window| window == b"{n}");
        let mut block = Vec::new();
        for number in 0..count {
            match placeholder {
                Some(at) => {
                    block.extend_from_slice(&bytes[..at]);
                    block.extend_from_slice(number.to_string().as_bytes());
                    block.extend_from_slice(&bytes[at + 3..]);
                }
                None => block.extend_from_slice(bytes),
            }
            if block.len() >= 64 << 10 || number + 1 == count {
                self.send(&block);
                block.clear();
            }
            if self.end != End::Open {
                return;
            }
        }
    }

    /// Sends, and reads meanwhile, so that neither side waits for the other for ever.
    fn send(&mut self, bytes: &[u8]) {
        let mut left = bytes;
        while (!left.is_empty() || self.socket.has_unsent()) && self.end == End::Open {
            let written = match left {
                [] => self.socket.flush().map(|()| 0),
                left => self.socket.write(left),
            };
            match written {
                Ok(count) => {
                    let room = SENT.saturating_sub(self.sent.len()).min(count);
                    self.sent.extend_from_slice(&left[..room]);
                    self.sent_len += count as u64;
                    left = &left[count..];
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let wait = self.until.saturating_duration_since(Instant::now());
                    if !self.turn(wait, PollFlags::OUT) {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What the server sent before it closed is still to be read.
                Err(_) => {
                    while self.end == End::Open
                        && self.turn(Duration::from_millis(50), PollFlags::empty())
                    {
                    }
                    if self.end == End::Open {
                        self.end = End::Reset;
                    }
                    return;
                }
            }
        }
    }

    /// Waits until the socket can be read (or written, if requested) and reads what is there. False: the time is over.
    fn turn(&mut self, wait: Duration, also: PollFlags) -> bool {
        let flags = PollFlags::IN | also;
        let limit = Timespec {
            tv_sec: wait.as_secs().min(3600) as i64,
            tv_nsec: i64::from(wait.subsec_nanos()),
        };
        let mut fds = [PollFd::new(self.socket.socket(), flags)];
        match poll(&mut fds, Some(&limit)) {
            Ok(0) => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
        let mut buffer = [0; 64 << 10];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.end = End::Closed,
            Ok(count) => {
                self.received.extend_from_slice(&buffer[..count]);
                if self.received.len() > RECEIVED {
                    self.end = End::Flooded;
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => {}
                _ => self.end = End::Reset,
            },
        }
        true
    }

    fn reading(&self) -> ParsedStream {
        let sent = &self.sent;
        read(&self.received, self.end != End::Open, &|number| {
            number == 0 && sent.starts_with(b"HEAD ")
        })
    }

    /// How many complete answers, interim answers and frames have arrived.
    fn count(&self) -> usize {
        let reading = self.reading();
        let finals = reading.finals.iter().filter(|answer| answer.is_whole).count();
        let switched = reading.finals.first().is_some_and(|answer| answer.status == 101);
        let framed = if switched { frames(&self.received[reading.rest..]).len() } else { 0 };
        finals + reading.interim.len() + framed
    }

    fn receive(&mut self, limit: Duration, patience: &Patience) {
        let limit = limit.max(if limit.is_zero() { patience.answer } else { limit });
        let until = (Instant::now() + limit).min(self.until);
        while self.end == End::Open && self.count() <= self.counted {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.turn(left, PollFlags::empty()) {
                break;
            }
        }
        self.counted = self.count();
        self.marks.push(self.received.len());
    }

    /// A server that refused the handshake sends no pong. If a server does not answer pings, nothing more is awaited
    /// from it.
    fn receive_pong(&mut self, payload: &[u8], patience: &Patience) {
        let is_over = |talk: &Talk| {
            let seen = talk.seen(talk.reading(), Duration::ZERO);
            talk.end != End::Open || seen.has_pong(payload) || seen.is_refused()
        };
        // A long message takes long to read: a second for each MiB.
        let limit = patience.answer + Duration::from_secs(self.sent_len >> 20);
        if !self.wait(limit, &is_over, &|| false) {
            self.has_given_up = true;
        }
        self.counted = self.count();
        self.marks.push(self.received.len());
    }

    /// Reads to the end of the exchange: the answers that were requested, then whatever arrives unrequested.
    fn listen(&mut self, case: &Case, patience: &Patience) {
        let mut until = (Instant::now() + patience.answer).min(self.until);
        if case.pass.iter().any(Rule::wants_failure) {
            self.ask_whether_it_goes_on(case, patience);
        }
        let mut settled = false;
        while self.end == End::Open {
            if !settled && self.is_answered(case) {
                settled = true;
                let is_owed = self.is_end_owed(case);
                let unsaid = if is_owed { 4 * patience.settle } else { patience.settle };
                let is_announced = self.is_end_announced(case);
                until = Instant::now() + if is_announced { patience.announced } else { unsaid };
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.turn(left, PollFlags::empty()) {
                return;
            }
        }
    }

    /// Frames are processed in order: a server that answers a ping after a frame that it should have refused will not
    /// refuse it any more. A server that refuses it soon is not sent the ping.
    fn ask_whether_it_goes_on(&mut self, case: &Case, patience: &Patience) {
        let is_over = |talk: &Talk| talk.end != End::Open || talk.is_answered(case);
        if !self.wait(patience.answer / 3, &is_over, &|| false) {
            self.send(b"\x89\x85\0\0\0\0over?");
        }
    }

    /// Whether everything has arrived that the case waits for.
    fn is_answered(&self, case: &Case) -> bool {
        if self.has_given_up {
            return true;
        }
        let reading = self.reading();
        if reading.finals.first().is_some_and(|answer| answer.status == 101) {
            let seen = self.seen(reading, Duration::ZERO);
            let is_decided = !seen.closes().is_empty() || seen.goes_on();
            let come: Vec<bool> = case.pass.iter().filter_map(|it| it.has_come(&seen)).collect();
            // A case that wants no WebSocket waits for no frame.
            return is_decided || come.is_empty() || come.contains(&true);
        }
        // Bytes that are not HTTP have no end that could be awaited.
        let is_readable = |answer: &ReceivedAnswer| !answer.flaws.contains(&Flaw::StatusLine);
        let is_hopeless = !reading.finals.iter().all(is_readable);
        let wholes = reading.finals.iter().filter(|answer| answer.is_whole);
        is_hopeless || wholes.count() >= case.answers
    }

    /// Whether the server owes the end of the connection, by what it has sent.
    fn is_end_announced(&self, case: &Case) -> bool {
        let reading = self.reading();
        if reading.finals.first().is_some_and(|answer| answer.status == 101) {
            return case.pass.iter().any(Rule::wants_end);
        }
        reading.finals.last().is_some_and(ReceivedAnswer::says_close)
    }

    /// Whether only the end of the connection can make it right: in that case the server gets more time.
    fn is_end_owed(&self, case: &Case) -> bool {
        let seen = self.seen(self.reading(), Duration::ZERO);
        case.pass.iter().any(Rule::wants_end) && !case.pass.iter().any(|rule| rule.holds(&seen))
    }

    fn seen(&self, reading: ParsedStream, took: Duration) -> Seen {
        Seen {
            sent: self.sent.clone(),
            sent_len: self.sent_len,
            received: self.received.clone(),
            reading,
            end: self.end,
            marks: self.marks.clone(),
            took,
            unix_s: unix_s(),
            grew: None,
            slow: self.slow.clone(),
        }
    }

    fn into_seen(mut self, began: Instant) -> Seen {
        let reading = self.reading();
        // On a busy machine the time may be over before all of a flood has come.
        if self.end == End::Open && reading.is_flood() {
            self.end = End::Flooded;
        }
        let received = std::mem::take(&mut self.received);
        Seen { received, ..self.seen(reading, began.elapsed()) }
    }
}
