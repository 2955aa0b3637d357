//! Plays a case's steps over a socket of its own and notes what arrived. Whatever the server does, the exchange ends in
//! time, and keeps only a bounded part of what it receives.

mod line;
mod patient;
mod quote;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::PollFlags;

use crate::answer::{ParsedStream, ReceivedAnswer, read};
use crate::case::Case;
use crate::flaw::Flaw;
use crate::frame::{frames, masked};
use crate::h2::{Stage, converse, greet};
use crate::observation::{End, Observation, Slow};
use crate::script::{Rule, Step};
use crate::target::Target;
pub(crate) use line::Line;
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

pub(crate) fn exchange(
    case: &Case,
    target: &Target,
    post: &str,
    patience: &Patience,
) -> Observation {
    exchange_until(case, target, post, patience, &|| false)
}

/// Plays a case that may take minutes, unless the user interrupts it.
pub(crate) fn exchange_until(
    case: &Case,
    target: &Target,
    post: &str,
    patience: &Patience,
    is_halted: &dyn Fn() -> bool,
) -> Observation {
    let began = Instant::now();
    if let [Step::Crowd(crowd)] = case.steps {
        let slow = crate::slow::gather(crowd, target, post, is_halted);
        return Observation { slow, end: End::Open, took: began.elapsed(), ..nothing(began) };
    }
    let stage = Stage { target, post, patience, is_halted };
    match case.steps {
        [Step::Http2(acts)] => return converse(acts, case, &stage),
        [Step::Tls(hello)] => return greet(hello, case, &stage),
        _ => {}
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

fn nothing(began: Instant) -> Observation {
    Observation { took: began.elapsed(), ..unconnected() }
}

/// An exchange that never began.
pub(crate) fn unconnected() -> Observation {
    Observation { unix_s: unix_s(), ..Observation::default() }
}

pub(crate) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

struct Talk {
    line: Line,
    marks: Vec<usize>,
    /// How many answers or frames had arrived at the last mark.
    counted: usize,
    /// Whether a step could not be played, so that the rest makes no sense.
    has_given_up: bool,
    slow: Slow,
}

impl Talk {
    fn open(target: &Target, limit: Duration, patience: &Patience) -> std::io::Result<Talk> {
        Ok(Talk {
            line: Line::open(target, limit, patience.connect)?,
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
            Step::Send(template) => self.line.send(&target.fill(template, post)),
            Step::Raw(bytes) => self.line.send(bytes),
            Step::Drip(template, pause) => {
                for octet in target.fill(template, post) {
                    self.line.send(&[octet]);
                    std::thread::sleep(*pause);
                }
            }
            Step::Fill(octet, count) => {
                let block = vec![*octet; (*count).min(64 << 10)];
                let mut left = *count;
                while left > 0 && self.line.end == End::Open {
                    let now = left.min(block.len());
                    self.line.send(&block[..now]);
                    left -= now;
                }
            }
            Step::Repeat(template, count) => self.repeat(&target.fill(template, post), *count),
            Step::Frames(first, len, count) => self.repeat(&masked(*first, *len), *count),
            Step::Receive(limit) => self.receive(*limit, patience),
            Step::ReceiveToEnd => {
                self.wait(patience.announced, &|talk| talk.line.end != End::Open, is_halted);
            }
            Step::Quote(template) => match quoted(template, self.reading().finals.first()) {
                Some(template) => self.line.send(&target.fill(&template, post)),
                None => self.has_given_up = true,
            },
            Step::Trickle(trickle) => {
                self.trickle(trickle, &target.fill(trickle.head, post), is_halted);
            }
            Step::Idle(limit) => {
                let began = Instant::now();
                let has_ended = self.wait(*limit, &|talk| talk.line.end != End::Open, is_halted);
                self.slow.waited = began.elapsed();
                self.slow.acted = has_ended.then_some(self.slow.waited);
            }
            // Each of these is the only step of its case, and is not played here.
            Step::Crowd(_) | Step::Http2(_) | Step::Tls(_) => {}
            Step::ReceivePong(payload) => self.receive_pong(payload, patience),
            Step::HalfClose => {
                let _ = self.line.socket.end_sending();
            }
        }
    }

    /// Sends the bytes so many times, a block at a time.
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
                self.line.send(&block);
                block.clear();
            }
            if self.line.end != End::Open {
                return;
            }
        }
    }

    fn reading(&self) -> ParsedStream {
        let sent = &self.line.sent;
        read(&self.line.received, self.line.end != End::Open, &|number| {
            number == 0 && sent.starts_with(b"HEAD ")
        })
    }

    /// How many complete answers, interim answers and frames have arrived.
    fn count(&self) -> usize {
        let reading = self.reading();
        let finals = reading.finals.iter().filter(|answer| answer.is_whole).count();
        let switched = reading.finals.first().is_some_and(|answer| answer.status == 101);
        let framed = if switched { frames(&self.line.received[reading.rest..]).len() } else { 0 };
        finals + reading.interim.len() + framed
    }

    fn receive(&mut self, limit: Duration, patience: &Patience) {
        let limit = limit.max(if limit.is_zero() { patience.answer } else { limit });
        let until = (Instant::now() + limit).min(self.line.until);
        while self.line.end == End::Open && self.count() <= self.counted {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.line.turn(left, PollFlags::empty()) {
                break;
            }
        }
        self.counted = self.count();
        self.marks.push(self.line.received.len());
    }

    /// A server that refused the handshake sends no pong. If a server does not answer pings, nothing more is awaited
    /// from it.
    fn receive_pong(&mut self, payload: &[u8], patience: &Patience) {
        let is_over = |talk: &Talk| {
            let seen = talk.seen(talk.reading(), Duration::ZERO);
            talk.line.end != End::Open || seen.has_pong(payload) || seen.is_refused()
        };
        // A long message takes long to read: a second for each MiB.
        let limit = patience.answer + Duration::from_secs(self.line.sent_len >> 20);
        if !self.wait(limit, &is_over, &|| false) {
            self.has_given_up = true;
        }
        self.counted = self.count();
        self.marks.push(self.line.received.len());
    }

    /// Reads to the end of the exchange: the answers that were requested, then whatever arrives unrequested.
    fn listen(&mut self, case: &Case, patience: &Patience) {
        let mut until = (Instant::now() + patience.answer).min(self.line.until);
        if case.pass.iter().any(Rule::wants_failure) {
            self.ask_whether_it_goes_on(case, patience);
        }
        let mut settled = false;
        while self.line.end == End::Open {
            if !settled && self.is_answered(case) {
                settled = true;
                let is_owed = self.is_end_owed(case);
                let unsaid = if is_owed { 4 * patience.settle } else { patience.settle };
                let is_announced = self.is_end_announced(case);
                until = Instant::now() + if is_announced { patience.announced } else { unsaid };
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.line.turn(left, PollFlags::empty()) {
                return;
            }
        }
    }

    /// Frames are processed in order: a server that answers a ping after a frame that it should have refused will not
    /// refuse it any more. A server that refuses it soon is not sent the ping.
    fn ask_whether_it_goes_on(&mut self, case: &Case, patience: &Patience) {
        let is_over = |talk: &Talk| talk.line.end != End::Open || talk.is_answered(case);
        if !self.wait(patience.answer / 3, &is_over, &|| false) {
            self.line.send(b"\x89\x85\0\0\0\0over?");
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

    fn seen(&self, reading: ParsedStream, took: Duration) -> Observation {
        Observation {
            sent: self.line.sent.clone(),
            sent_len: self.line.sent_len,
            received: Arc::clone(&self.line.received),
            reading,
            end: self.line.end,
            marks: self.marks.clone(),
            took,
            unix_s: unix_s(),
            slow: self.slow.clone(),
            ..Observation::default()
        }
    }

    fn into_seen(mut self, began: Instant) -> Observation {
        let reading = self.reading();
        // On a busy machine the time may be over before all of a flood has come.
        if self.line.end == End::Open && reading.is_flood() {
            self.line.end = End::Flooded;
        }
        self.seen(reading, began.elapsed())
    }
}
