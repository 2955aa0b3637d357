//! An HTTP answer that does not end, and where its messages lie in it.

use serde::{Deserialize, Serialize};

use super::{First, HeldError, HeldEvent, HeldFault, HeldLimits};
use crate::ask::Ask;
use crate::fault::WireFault;
use crate::h1::{Chunked, Framing, Head, Limits, Part, Scan};
use crate::template::Values;

/// What a message of a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// A chunk; of a body without chunks, a line.
    Chunk,
    /// An event of `text/event-stream` that has data; comments that keep a connection alive do not count.
    Event,
}

/// One connection with an endless answer.
#[derive(Debug)]
pub struct Stream<'a> {
    ask: &'a Ask,
    limits: &'a Limits,
    held: HeldLimits,
    cut: Cut,
    state: State,
    random: u64,
    /// The beginning of a head whose end has not come yet; empty otherwise.
    partial: Vec<u8>,
    first: First,
    line: EventCursor,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Head { scan: Scan, interims: u8 },
    Chunked(Chunked),
    UntilClose,
    Over,
}

/// Where in an event the next byte lies.
#[derive(Clone, Copy, Debug, Default)]
struct EventCursor {
    /// Bytes of the current line, up to the four that distinguish data from other lines.
    has: u8,
    /// They were those of `data`.
    is_data: bool,
    /// A line of the event had data.
    event_has_data: bool,
}

impl<'a> Stream<'a> {
    /// A connection on which nothing has been sent.
    #[must_use]
    pub fn new(ask: &'a Ask, cut: Cut, limits: &'a Limits, held: HeldLimits) -> Stream<'a> {
        Stream {
            ask,
            limits,
            held,
            cut,
            state: State::Head { scan: Scan::default(), interims: 0 },
            random: 0,
            partial: Vec::new(),
            first: First::default(),
            line: EventCursor::default(),
        }
    }

    pub(super) fn begin(&mut self, chance: u64, output: &mut Vec<u8>) {
        *self = Stream::new(self.ask, self.cut, self.limits, self.held);
        self.random = chance;
        self.ask.encode(self.values(), output);
    }

    fn values(&self) -> Values {
        Values { seq: 0, random: self.random }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Chunked(_) | State::UntilClose)
    }

    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.state {
                State::Head { scan, interims } => {
                    self.take_head(&mut rest, scan, interims, on_event)?;
                }
                State::Chunked(mut chunked) => {
                    let part = chunked.take(&mut rest, self.limits)?;
                    self.state = State::Chunked(chunked);
                    match part {
                        Part::Framing => {}
                        Part::Data(data) => self.body(data, chunked.is_chunk_over(), on_event)?,
                        Part::End => {
                            self.state = State::Over;
                            return Err(HeldFault::StreamEnded.into());
                        }
                    }
                }
                State::UntilClose => {
                    self.lines(rest, on_event)?;
                    rest = &[];
                }
                State::Over => return Err(WireFault::Surplus.into()),
            }
        }
        Ok(())
    }

    pub(super) fn ended(&mut self, _: &mut dyn FnMut(HeldEvent<'_>)) -> Result<(), HeldError> {
        let is_nothing = self.partial.is_empty();
        match std::mem::replace(&mut self.state, State::Over) {
            State::Head { .. } if is_nothing => Err(WireFault::Empty.into()),
            State::Head { .. } => Err(WireFault::CutHead.into()),
            State::Chunked(_) => Err(WireFault::CutBody.into()),
            State::UntilClose => Err(HeldFault::StreamEnded.into()),
            State::Over => Ok(()),
        }
    }

    /// Reads one head, interim or final, if its end is within `rest`.
    fn take_head(
        &mut self,
        rest: &mut &[u8],
        mut scan: Scan,
        interims: u8,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let before = self.partial.len();
        let mut head = std::mem::take(&mut self.partial);
        head.extend_from_slice(rest);
        let Some(end) = scan.find_end(&head, self.limits)? else {
            *rest = &[];
            self.partial = head;
            self.state = State::Head { scan, interims };
            return Ok(());
        };
        *rest = &rest[end - before..];
        let head = Head::read(&head[..end], self.ask, self.values(), self.limits)?;
        if head.status == 101 {
            return Err(WireFault::Unexpected101.into());
        }
        if head.status < 200 {
            if self.limits.interims <= interims {
                return Err(WireFault::InterimFlood.into());
            }
            self.state = State::Head { scan: Scan::default(), interims: interims + 1 };
            return Ok(());
        }
        if let Some(mismatch) = head.mismatch {
            return Err(HeldError::Content(mismatch));
        }
        self.state = match head.framing {
            Framing::Fixed(_) => return Err(HeldFault::NotAStream.into()),
            Framing::Chunked => State::Chunked(Chunked::default()),
            Framing::UntilClose => State::UntilClose,
        };
        on_event(HeldEvent::Opened);
        Ok(())
    }

    /// A piece of a chunk, the last of it or not.
    fn body(
        &mut self,
        part: &[u8],
        is_last: bool,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        if self.cut == Cut::Event {
            return self.events(part, on_event);
        }
        self.check(part)?;
        match is_last {
            true => self
                .first
                .finish(part, |shown, bytes| on_event(HeldEvent::Message { shown, bytes })),
            false => self.first.take(part),
        }
        Ok(())
    }

    /// A body without chunks.
    fn lines(
        &mut self,
        part: &[u8],
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        if self.cut == Cut::Event {
            return self.events(part, on_event);
        }
        for line in part.split_inclusive(|&byte| byte == b'\n') {
            self.body(line, line.ends_with(b"\n"), on_event)?;
        }
        Ok(())
    }

    /// Lines end in LF, CR LF; an empty one ends the event.
    fn events(
        &mut self,
        part: &[u8],
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        for piece in part.split_inclusive(|&byte| byte == b'\n') {
            self.check(piece)?;
            if !self.line.take(piece) {
                self.first.take(piece);
            } else if std::mem::take(&mut self.line.event_has_data) {
                self.first
                    .finish(piece, |shown, bytes| on_event(HeldEvent::Message { shown, bytes }));
            } else {
                self.first.clear();
            }
        }
        Ok(())
    }

    fn check(&self, part: &[u8]) -> Result<(), HeldError> {
        match self.first.bytes() + part.len() as u64 <= self.held.message {
            true => Ok(()),
            false => Err(HeldFault::MessageTooLarge.into()),
        }
    }
}

impl EventCursor {
    /// A piece of a line, up to its end if that is in it; whether an event ends here.
    fn take(&mut self, piece: &[u8]) -> bool {
        const DATA: &[u8] = b"data";
        let (text, ends) = match piece.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (piece, false),
        };
        for &byte in text {
            if byte == b'\r' {
                continue;
            }
            let at = usize::from(self.has);
            if at < DATA.len() {
                self.is_data = (at == 0 || self.is_data) && byte == DATA[at];
                self.has += 1;
                self.event_has_data |= self.is_data && usize::from(self.has) == DATA.len();
            } else {
                break;
            }
        }
        let is_empty = self.has == 0;
        if ends {
            (self.has, self.is_data) = (0, false);
        }
        ends && is_empty
    }
}
