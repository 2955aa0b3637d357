//! Performs what a bad HTTP/2 server does. A script belongs to one stream or to the connection.

use super::answer::Asked;
use super::frames::{DATA, END_STREAM, HEADERS, push_frame, push_goaway, push_reset};
use super::hpack::Manner;
use super::stream::{Body, Source, Stream};
use super::{Counts, Multiplex};
use crate::faults::acts::{Act, On, Style, USUAL};
use crate::play::End;
use crate::state::{BUFFER, ThreadState};

const DRIP_NS: u64 = 1_000_000_000;

/// A script under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    acts: &'static [Act],
    at: usize,
    /// How often a repeating act has been done.
    progress: u64,
    /// Whether an act that waits has begun to.
    is_waiting: bool,
    /// Nothing happens before this instant.
    due_ns: u64,
}

/// How far a script has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Played {
    Done,
    /// It goes on at this instant.
    At(u64),
    /// It goes on when the peer has room.
    Again,
    /// It goes on after something has happened, if ever.
    Blocked,
    End(End),
}

impl Script {
    pub(crate) fn of(acts: &'static [Act]) -> Script {
        Script { acts, at: 0, progress: 0, is_waiting: false, due_ns: 0 }
    }

    fn wait(&mut self, span_ns: u64, now_ns: u64) -> Played {
        self.is_waiting = true;
        self.due_ns = now_ns + span_ns;
        Played::At(self.due_ns)
    }
}

impl Multiplex {
    /// A stream's script has its turn.
    pub(super) fn play_for_stream(
        &mut self,
        id: u32,
        mut stream: Stream,
        mut script: Script,
        state: &mut ThreadState,
        now_ns: u64,
    ) {
        let played = self.play(&mut script, Some((id, &mut stream)), state, now_ns);
        stream.script = Some(script);
        match played {
            Played::Done => {
                self.streams.insert(id, stream);
                self.forget(id, state);
            }
            Played::At(due_ns) => self.wait(id, stream, due_ns),
            Played::Again => self.wait(id, stream, now_ns),
            Played::Blocked if stream.has_more() => self.keep(id, stream, None),
            Played::Blocked => drop(self.streams.insert(id, stream)),
            Played::End(end) => {
                self.streams.insert(id, stream);
                self.end = Some(end);
            }
        }
    }

    /// Goes on with a script as far as it goes now.
    pub(super) fn play(
        &mut self,
        script: &mut Script,
        mut stream: Option<(u32, &mut Stream)>,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> Played {
        if now_ns < script.due_ns {
            return Played::At(script.due_ns);
        }
        let this = stream.as_ref().map_or(self.last_id.max(1), |(id, _)| *id);
        while let Some(act) = script.acts.get(script.at) {
            match *act {
                Act::Frame(kind, flags, on, payload) => {
                    push_frame(&mut state.out, kind, flags, self.numbered(on, this), payload);
                    let is_end = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
                    if is_end && matches!(on, On::This) {
                        self.ends(&mut stream, &state.out);
                    }
                }
                Act::Repeat(kind, flags, on, payload, times) => {
                    let on = self.numbered(on, this);
                    while script.progress < times && state.out.len() < BUFFER {
                        push_frame(&mut state.out, kind, flags, on, payload);
                        script.progress += 1;
                    }
                    if script.progress < times {
                        return Played::Again;
                    }
                }
                Act::Raw(octets) => state.out.extend_from_slice(octets),
                Act::Fields(fields, flags) => {
                    self.push_plain(this, fields, flags, &mut state.out);
                    if flags & END_STREAM != 0 {
                        self.ends(&mut stream, &state.out);
                    }
                }
                Act::Answer(style) => {
                    if let Some((id, stream)) = &mut stream {
                        script.at += 1;
                        if self.answer_in_style(*id, stream, style, state, now_ns) {
                            continue;
                        }
                        return Played::Blocked;
                    }
                }
                Act::Content(pattern, times) => {
                    if let Some((_, stream)) = &mut stream {
                        script.at += 1;
                        let length = times.saturating_mul(pattern.len() as u64);
                        stream.body =
                            Body { source: Source::Pattern(pattern, length), at: 0, is_last: true };
                        return Played::Blocked;
                    }
                }
                Act::Drip(octets) => {
                    let octet = &octets[script.progress as usize % octets.len()..][..1];
                    push_frame(&mut state.out, DATA, 0, this, octet);
                    script.progress += 1;
                    return script.wait(DRIP_NS, now_ns);
                }
                Act::Reset(code) => push_reset(&mut state.out, this, code),
                Act::GoAway(last, code, why) => {
                    let last = self.numbered(last, this);
                    self.last_accepted = self.last_accepted.min(last);
                    push_goaway(&mut state.out, last, code, why);
                }
                Act::Settings(settings) => self.announce(settings, &mut state.out),
                Act::Greet => {
                    let own_window = state.config().window;
                    self.greet(own_window, &mut state.out);
                }
                Act::Unacknowledging => self.acknowledges = false,
                Act::Await(requests) if self.requests < requests => return Played::Blocked,
                Act::Await(_) => {}
                Act::Wait(span) if !script.is_waiting => {
                    return script.wait(span.as_nanos() as u64, now_ns);
                }
                Act::Wait(_) => script.is_waiting = false,
                Act::Mute => return Played::Blocked,
                Act::Silence => return Played::End(End::Silence),
                Act::Fin => return Played::End(End::Fin),
                Act::Rst => return Played::End(End::Rst),
            }
            script.at += 1;
            script.progress = 0;
        }
        Played::Done
    }

    fn numbered(&self, on: On, this: u32) -> u32 {
        match on {
            On::This => this,
            On::Connection => 0,
            On::Idle => self.last_id + 1000,
            On::Own => 2,
            On::Last => 0x7fff_ffff,
        }
    }

    /// An act has written END_STREAM of the answer: it is none that counts, and its instant is kept.
    fn ends(&mut self, stream: &mut Option<(u32, &mut Stream)>, out: &[u8]) {
        if let Some((id, stream)) = stream
            && !stream.has_ended
        {
            stream.has_ended = true;
            let asked = Asked::usual(*id, 0, stream.ended_ns);
            self.leaves(&Asked { counts: Counts::Nothing, ..asked }, true, out);
        }
    }

    /// The right answer; returns whether all of it is written.
    fn answer_in_style(
        &mut self,
        id: u32,
        stream: &mut Stream,
        style: Style,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> bool {
        stream.style = style;
        let asked = Asked::usual(id, stream.window, stream.ended_ns);
        let asked = Asked { style, counts: Counts::Faulty, ..asked };
        let rest = self.answer_kept(&asked, stream, state, now_ns);
        stream.has_ended = rest.is_none();
        match rest {
            None => true,
            Some(rest) => {
                rest.into_stream(stream);
                false
            }
        }
    }

    /// HEADERS that no table has a part in: nothing of it is checked.
    fn push_plain(&mut self, id: u32, fields: &[(&str, &str)], flags: u8, out: &mut Vec<u8>) {
        let style = Style { manner: Manner::Plain, ..USUAL };
        self.push_fields(id, fields, flags, &style, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Fault, Start};

    #[test]
    fn no_script_has_an_act_that_does_nothing_there() {
        for fault in Fault::all() {
            let misplaced = |act: &Act| match fault.start {
                Start::Preface => matches!(act, Act::Answer(_) | Act::Content(..) | Act::Mute),
                _ => matches!(act, Act::Await(_) | Act::Greet),
            };
            assert!(!fault.acts().iter().any(misplaced), "{}", fault.name);
        }
    }
}
