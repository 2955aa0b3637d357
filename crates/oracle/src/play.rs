//! Performs what takes time: delayed answers, beats and the scripts of faults. Bytes go to the
//! thread's buffer; what must happen to the socket is returned, not done.

use std::collections::VecDeque;
use std::time::Duration;

use crate::answer::{Answer, Circumstances, Next};
use crate::beats::{After, Beats, Rhythm, Wrap};
use crate::faults::{Change, FOREVER, Fault, Step};
use crate::request::head;
use crate::socket::Role;
use crate::state::{BUFFER, ThreadState};

/// A delayed answer is the shortest script.
const ANSWER: &[Step] = &[Step::Answer(Change::Right)];
const DRIP_NS: u64 = 1_000_000_000;

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) head: Vec<u8>,
    pub(crate) content: Vec<u8>,
    pub(crate) arrived_ns: u64,
}

/// A performance under way.
#[derive(Debug, Default)]
pub(crate) struct Play {
    asks: VecDeque<Ask>,
    steps: &'static [Step],
    /// Which step is next.
    at: usize,
    /// How many octets of a repeating step have been sent.
    progress: u64,
    /// Whether a step that waits has begun its wait.
    waiting: bool,
    /// Nothing happens before this instant.
    due_ns: u64,
    beats: Option<Beats>,
    /// The connection's purpose after the performance, if that made it a WebSocket.
    pub(crate) socket: Option<Role>,
    /// Whether it departs from the correct behaviour.
    pub(crate) faulty: bool,
    /// Right answers written since this was last read.
    pub(crate) answered: u32,
    /// Whether the connection ends with the performance.
    pub(crate) closes: bool,
}

/// How a connection ends, once what is written has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Fin,
    Rst,
    /// It never reads or writes again.
    Silence,
}

/// What the connection must do once the bytes in the thread's buffer are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing, until something comes.
    Rest,
    /// Come back at this instant.
    Wait(u64),
    /// Read another request; come back then, or at this instant.
    Read(u64),
    /// Come back when the other connections have had their turn.
    Yield,
    End(End),
    /// Go on with the next request.
    Ended,
}

impl Play {
    /// The right answer, no sooner than `due_ns`.
    pub(crate) fn delayed(ask: Ask, due_ns: u64) -> Play {
        Play { due_ns, ..Play::script(ANSWER, Some(ask)) }
    }

    /// A fault, upon a request or upon a new connection.
    pub(crate) fn fault(fault: &Fault, ask: Option<Ask>, due_ns: u64) -> Play {
        Play { faulty: true, due_ns, ..Play::script(fault.steps(), ask) }
    }

    /// What happens in place of TLS.
    pub(crate) fn bare(steps: &'static [Step]) -> Play {
        Play { faulty: true, ..Play::script(steps, None) }
    }

    /// What follows a head whose content never ends.
    pub(crate) fn beats(rhythm: Rhythm, wrap: Wrap, state: &mut ThreadState, now_ns: u64) -> Play {
        let beats = Some(Beats::begin(rhythm, wrap, state, now_ns));
        Play { beats, ..Play::script(&[], None) }
    }

    fn script(steps: &'static [Step], ask: Option<Ask>) -> Play {
        Play { asks: ask.into_iter().collect(), steps, ..Play::default() }
    }

    /// Whether it would go on forever, so that it should end when the peer has ended.
    pub(crate) fn is_endless(&self) -> bool {
        let step = self.steps.get(self.at);
        self.beats.is_some()
            || matches!(
                step,
                Some(Step::Repeat(_, FOREVER) | Step::Drip(_) | Step::Await(_) | Step::Silence)
            )
    }

    /// Whether it is waiting for another request.
    pub(crate) fn awaits(&self) -> bool {
        self.waiting && matches!(self.steps.get(self.at), Some(Step::Await(_)))
    }

    /// Takes the request that it awaited.
    pub(crate) fn take(&mut self, ask: Ask) {
        self.asks.push_back(ask);
        self.waiting = false;
        self.at += 1;
        self.due_ns = 0;
    }

    /// Writes as much as may be written now.
    pub(crate) fn perform(&mut self, state: &mut ThreadState, now_ns: u64) -> Turn {
        if now_ns < self.due_ns {
            return if self.awaits() { Turn::Read(self.due_ns) } else { Turn::Wait(self.due_ns) };
        }
        while let Some(step) = self.steps.get(self.at) {
            match *step {
                Step::Send(bytes) => state.out.extend_from_slice(bytes),
                Step::Repeat(bytes, times) => {
                    if !self.repeat(bytes, times, &mut state.out) {
                        return Turn::Yield;
                    }
                }
                Step::Drip(bytes) => {
                    state.out.push(bytes[self.progress as usize % bytes.len()]);
                    self.progress += 1;
                    self.due_ns = now_ns + DRIP_NS;
                    return Turn::Wait(self.due_ns);
                }
                Step::Answer(change) => {
                    let ask = self.asks.pop_front();
                    self.answer(ask, change, state, now_ns);
                }
                Step::AnswerNewest => {
                    let ask = self.asks.pop_back();
                    self.answer(ask, Change::Right, state, now_ns);
                }
                Step::Swallow => drop(self.asks.pop_front()),
                Step::Await(most) if !self.waiting => return Turn::Read(self.wait(most, now_ns)),
                Step::Wait(span) if !self.waiting => return Turn::Wait(self.wait(span, now_ns)),
                Step::Await(_) | Step::Wait(_) => self.waiting = false,
                Step::Silence => return Turn::End(End::Silence),
                Step::Fin => return Turn::End(End::Fin),
                Step::Rst => return Turn::End(End::Rst),
            }
            self.at += 1;
            self.progress = 0;
        }
        self.push_beats(state, now_ns)
    }

    fn wait(&mut self, span: Duration, now_ns: u64) -> u64 {
        self.waiting = true;
        self.due_ns = now_ns + span.as_nanos() as u64;
        self.due_ns
    }

    /// Writes up to a buffer of a repetition; returns whether it is complete.
    fn repeat(&mut self, bytes: &[u8], times: u64, out: &mut Vec<u8>) -> bool {
        let total = times.saturating_mul(bytes.len() as u64);
        while self.progress < total && out.len() < BUFFER {
            let from = (self.progress % bytes.len() as u64) as usize;
            let until = bytes.len().min(from + (BUFFER - out.len()));
            out.extend_from_slice(&bytes[from..until]);
            self.progress += (until - from) as u64;
        }
        self.progress == total
    }

    fn answer(&mut self, ask: Option<Ask>, change: Change, state: &mut ThreadState, now_ns: u64) {
        let Some(ask) = ask else { return };
        state.burn();
        let head = head(&ask.head).ok().flatten().expect("this head was whole when it was kept");
        let reply = state.config().reply.clone();
        let mut answer = Answer::chosen(reply.as_deref(), &head, &ask.content, state.config());
        if let Change::Spoilt(spoil) = change {
            answer = answer.spoilt(spoil, &head, &ask.content, state.config());
        }
        let persists = !answer.is_last(&head);
        self.closes |= !persists;
        self.answered += 1;
        let delay_ns = state.config().tell_delay.then_some(now_ns - ask.arrived_ns);
        let around = Circumstances { date: &state.date(now_ns), delay_ns, persists };
        match answer.write(&head, change, &around, &mut state.out) {
            Next::Nothing => {}
            Next::Beats(rhythm, wrap) => {
                self.beats = Some(Beats::begin(rhythm, wrap, state, now_ns));
            }
            Next::Socket(role) => self.socket = Some(role),
        }
    }

    fn push_beats(&mut self, state: &mut ThreadState, now_ns: u64) -> Turn {
        let Some(beats) = &mut self.beats else {
            return Turn::Ended;
        };
        match beats.push_due(state, now_ns) {
            After::Next(due_ns) => Turn::Wait(due_ns),
            After::Silence => Turn::End(End::Silence),
            After::End => {
                beats.push_end(&mut state.out);
                Turn::Ended
            }
        }
    }

    /// Leaves out the beats that became due while the peer did not read.
    pub(crate) fn skip_beats(&mut self, now_ns: u64, skipped: &mut u64) {
        if let Some(beats) = &mut self.beats {
            beats.skip(now_ns, skipped);
        }
    }
}
