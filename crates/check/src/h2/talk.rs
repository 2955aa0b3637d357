//! Plays a case of HTTP/2 on a connection of its own: sends what it has, answers what a client must answer, and listens
//! until nothing more can change what is judged.

use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::act::Act;
use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PING, PREFACE, SETTINGS,
    push_frame,
};
use super::received::Received;
use super::sign::Sign;
use crate::case::Case;
use crate::exchange::{Line, Patience, unconnected, unix_s};
use crate::observation::Slow;
use crate::observation::{End, Observation};
use crate::script::Rule;
use crate::target::Target;

/// The PING that shows that everything before it was processed.
pub(super) const PROBE: &[u8; 8] = b"dyno end";
/// No block that is sent at once is larger.
const BLOCK: usize = 64 << 10;

pub(crate) struct Stage<'a> {
    pub(crate) target: &'a Target,
    /// The path that takes bodies.
    pub(crate) post: &'a str,
    pub(crate) patience: &'a Patience,
    pub(crate) is_halted: &'a dyn Fn() -> bool,
}

struct Talk<'a> {
    line: Line,
    stage: &'a Stage<'a>,
    /// What was seen so far; it always has what was heard.
    seen: Observation,
    /// Whether the preface was sent.
    is_begun: bool,
    /// Whether the last frame has begun a header block that has no end.
    is_in_block: bool,
    /// Whether something was sent after which no frame can be read.
    is_muddled: bool,
    /// Whether a step could not be played, so that the rest makes no sense.
    has_given_up: bool,
    slow: Slow,
}

/// The whole exchange.
pub(crate) fn converse(acts: &[Act], case: &Case, stage: &Stage<'_>) -> Observation {
    let began = Instant::now();
    let Ok(line) = Line::open(stage.target, case.limit, stage.patience.connect) else {
        return Observation { took: began.elapsed(), ..unconnected() };
    };
    let mut talk = Talk {
        line,
        stage,
        seen: Observation { end: End::Open, heard: Some(Received::default()), ..unconnected() },
        is_begun: false,
        is_in_block: false,
        is_muddled: false,
        has_given_up: false,
        slow: Slow::default(),
    };
    for act in acts {
        if !talk.has_given_up && talk.line.end == End::Open {
            talk.play(act);
        }
    }
    let is_owed = case.answers > 0 && !talk.listen(case);
    Observation { took: began.elapsed(), is_owed, ..talk.into_seen() }
}

impl Talk<'_> {
    fn play(&mut self, act: &Act) {
        match act {
            Act::Open(_) => {
                self.send(act, 0);
                let acknowledged = self.heard().acknowledged;
                self.until(&|talk| {
                    talk.heard().acknowledged > acknowledged && talk.heard().is_greeted()
                });
            }
            // No frame can say that it is longer.
            Act::TooLong(..) if self.heard().frame_max() == (1 << 24) - 1 => {
                self.has_given_up = true;
            }
            Act::Octets(_) | Act::Frame(..) | Act::TooLong(..) => self.send(act, 0),
            Act::Repeat(times, higher, acts) => self.repeat(*times, *higher, acts),
            Act::Beyond(acts) => match self.heard().streams_max() {
                times @ 0..=1000 => self.repeat(times as usize, 2, acts),
                _ => self.has_given_up = true,
            },
            Act::Upload(stream, length) => self.upload(*stream, *length),
            Act::Listen(time) => {
                self.wait(*time, &|_| false);
            }
            Act::Until(sign) => {
                self.until(&|talk| sign.is_in(talk.heard(), talk.line.end));
            }
            Act::Await(sign) => {
                let moment = self.stage.patience.settle;
                self.wait(moment, &|talk| sign.is_in(talk.heard(), talk.line.end));
            }
            Act::Idle(limit) => {
                let began = Instant::now();
                let has_ended = self.wait(*limit, &|talk| {
                    talk.line.end != End::Open || Sign::Refused(1).is_in(talk.heard(), End::Open)
                });
                self.slow.waited = began.elapsed();
                self.slow.acted = has_ended.then_some(self.slow.waited);
            }
        }
    }

    fn send(&mut self, act: &Act, higher: u32) {
        let mut octets = Vec::new();
        let frame_max = self.heard().frame_max();
        act.push(&mut octets, self.stage.target, self.stage.post, frame_max, higher);
        self.note(act, &octets);
        self.write(&octets);
    }

    /// Keeps what the server's frames will be judged by.
    fn note(&mut self, act: &Act, octets: &[u8]) {
        match act {
            Act::Open(_) | Act::Frame(..) | Act::TooLong(..) => {
                let mut rest = octets;
                if let Some(after) = rest.strip_prefix(PREFACE) {
                    (rest, self.is_begun) = (after, true);
                }
                while let Some((frame, taken)) = Frame::read(rest) {
                    let Frame { kind, flags, stream, payload } = &frame;
                    self.heard_mut().sent.note(*kind, *flags, *stream, payload);
                    if matches!(*kind, HEADERS | CONTINUATION) {
                        self.is_in_block = flags & END_HEADERS == 0;
                    }
                    rest = &rest[taken..];
                }
            }
            Act::Octets(octets) if octets.starts_with(PREFACE) => self.is_begun = true,
            Act::Octets(_) => self.is_muddled = true,
            Act::Repeat(..)
            | Act::Beyond(_)
            | Act::Upload(..)
            | Act::Listen(_)
            | Act::Until(_)
            | Act::Await(_)
            | Act::Idle(_) => {}
        }
    }

    /// Content, a frame at a time, whenever the windows have room.
    fn upload(&mut self, stream: u32, length: usize) {
        let mut sent = 0;
        while sent < length && self.line.end == End::Open {
            self.until(&|talk| talk.has_room(stream, sent) || talk.is_over(stream));
            let room =
                self.heard().room(stream, sent).min(length - sent).min(super::frame::FRAME_MAX);
            if room == 0 {
                return;
            }
            sent += room;
            let flags = if sent == length { END_STREAM } else { 0 };
            let mut octets = Vec::new();
            push_frame(&mut octets, DATA, flags, stream, &vec![b'x'; room]);
            self.heard_mut().sent.note(DATA, flags, stream, b"");
            self.write(&octets);
            self.turn(Duration::ZERO);
        }
    }

    fn repeat(&mut self, times: usize, higher: u32, acts: &[Act]) {
        let (mut block, frame_max) = (Vec::new(), self.heard().frame_max());
        for number in 0..times {
            for act in acts {
                let begun = block.len();
                let higher = higher * number as u32;
                act.push(&mut block, self.stage.target, self.stage.post, frame_max, higher);
                let octets = block[begun..].to_vec();
                self.note(act, &octets);
            }
            if block.len() >= BLOCK || number + 1 == times {
                self.write(&block);
                block.clear();
            }
            if self.line.end != End::Open || (self.stage.is_halted)() {
                return;
            }
        }
    }

    /// Sends octets, and reads meanwhile.
    fn write(&mut self, octets: &[u8]) {
        self.line.send(octets);
        self.hear();
    }

    /// Reads what there is, and answers what a client must answer.
    fn turn(&mut self, wait: Duration) -> bool {
        let has_come = self.line.turn(wait, PollFlags::empty());
        self.hear();
        if self.is_in_block || !self.is_begun || self.line.end != End::Open {
            return has_come;
        }
        let owed = std::mem::take(&mut self.heard_mut().owed);
        if !owed.is_empty() && !self.is_muddled {
            let mut answers = Vec::new();
            for one in owed {
                match one {
                    None => push_frame(&mut answers, SETTINGS, ACK, 0, b""),
                    Some(payload) => push_frame(&mut answers, PING, ACK, 0, &payload),
                }
            }
            self.write(&answers);
        }
        has_come
    }

    /// Reads until something is so, and says whether it is.
    fn wait(&mut self, limit: Duration, is_so: &dyn Fn(&Talk<'_>) -> bool) -> bool {
        const SLICE: Duration = Duration::from_millis(250);
        let until = (Instant::now() + limit).min(self.line.until);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let is_over = left.is_zero() || self.line.end != End::Open || (self.stage.is_halted)();
            if is_so(self) || is_over {
                return is_so(self);
            }
            self.turn(left.min(SLICE));
        }
    }

    fn until(&mut self, is_so: &dyn Fn(&Talk<'_>) -> bool) {
        self.has_given_up |= !self.wait(self.stage.patience.answer, is_so);
    }

    /// Listens until nothing more can change what is judged, and says whether everything came that was waited for.
    fn listen(&mut self, case: &Case) -> bool {
        let patience = self.stage.patience;
        let is_over = |talk: &Talk<'_>| talk.is_decided(case);
        // A server that refuses soon is not sent the probe.
        if self.wait(patience.answer / 10, &is_over) || self.line.end != End::Open {
            return true;
        }
        if self.heard().has_failed() {
            // RFC 9113, 5.4.1: the end of the connection follows.
            let is_end_owed = case.pass.iter().any(Rule::wants_end);
            let limit = if is_end_owed { patience.announced } else { patience.settle };
            self.wait(limit, &is_over);
            return true;
        }
        let can_probe = self.is_begun && !self.is_in_block && !self.is_muddled;
        if can_probe {
            let mut probe = Vec::new();
            push_frame(&mut probe, PING, 0, 0, PROBE);
            self.write(&probe);
        }
        // What is judged by what does not come needs no answer to wait for.
        let awaits = case.pass.iter().any(|rule| rule.has_come(&self.seen).is_some());
        let is_quiet = |talk: &Talk<'_>| {
            talk.is_decided(case)
                || talk.heard().has_failed()
                || talk.heard().has_answered_probe() && (!awaits || talk.heard().owes_nothing())
        };
        let has_come = self.wait(patience.answer, &is_quiet);
        // What a thread of the server has yet to say about a stream.
        self.wait(patience.settle, &is_over);
        has_come
    }

    /// Whether the case is decided by what has come, whatever else may come.
    fn is_decided(&self, case: &Case) -> bool {
        let seen = &self.seen;
        case.pass.iter().any(|rule| rule.has_come(seen) == Some(true) && rule.holds(seen))
    }

    fn has_room(&self, stream: u32, sent: usize) -> bool {
        0 < self.heard().room(stream, sent)
    }

    /// Whether the server has answered on this stream in full, or has reset it.
    fn is_over(&self, stream: u32) -> bool {
        let reply = self.heard().reply(stream);
        reply.is_some_and(|reply| reply.is_whole || reply.reset.is_some())
    }

    fn heard(&self) -> &Received {
        self.seen.heard.as_ref().expect("it was there when the exchange began")
    }

    fn heard_mut(&mut self) -> &mut Received {
        self.seen.heard.as_mut().expect("it was there when the exchange began")
    }

    /// Reads what has come.
    fn hear(&mut self) {
        self.seen.end = self.line.end;
        let heard = self.seen.heard.as_mut().expect("it was there when the exchange began");
        heard.take(&self.line.received);
    }

    fn into_seen(mut self) -> Observation {
        Observation {
            is_closed_by_notice: self.line.is_closed_by_notice(),
            sent: self.line.sent,
            sent_len: self.line.sent_len,
            received: self.line.received,
            end: self.line.end,
            slow: self.slow,
            unix_s: unix_s(),
            ..self.seen
        }
    }
}
