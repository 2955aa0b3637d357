//! HTTP/1.1, the client's side: one exchange at a time on a connection.
//!
//! ```text
//!  Idle ──submit──► Head ──┬─► Fixed ──────┐
//!    ▲               ▲ │1xx├─► Chunked ────┤ whole
//!    │               └─┘   ├─► UntilClose ─┤ (ended)
//!    └─────────────────────┴───────────────┘
//! ```

mod chunked;
mod head;
mod memo;

use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::expect::{BodyJudge, BodyRule, Mismatch};
use crate::fault::WireFault;
use crate::forms::Forms;
use crate::template::Values;
use crate::{ExchangeId, News, Progress, Session};
pub(crate) use chunked::{Chunked, Part};
pub(crate) use head::{Framing, Head, Scan, fault, has_no_body, read_length};
pub use memo::HeadMemo;

/// How much of anything a peer may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a head, not counting interim heads.
    pub head: usize,
    /// Fields of a head; at most 128.
    pub fields: usize,
    /// Interim answers before an answer.
    pub interims: u8,
    /// Bytes of one chunk's line.
    pub chunk_line: usize,
    /// Bytes of all chunk extensions of a body together.
    pub extensions: usize,
    /// Bytes of all trailers of a body together.
    pub trailers: usize,
    /// Bytes of a body.
    pub body: u64,
    /// Accept what old servers do: bare LF, folded fields, spaces before a colon, both lengths.
    pub lenient: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head: 64 << 10,
            fields: head::FIELDS_MAX,
            interims: 8,
            chunk_line: 4 << 10,
            extensions: 16 << 10,
            trailers: 16 << 10,
            body: 1 << 30,
            lenient: false,
        }
    }
}

/// The HTTP/1.1 state of one connection.
#[derive(Debug)]
pub struct H1<'a> {
    limits: &'a Limits,
    memo: Option<&'a HeadMemo<'a>>,
    forms: Option<Forms>,
    state: State,
    exchange: ExchangeId,
    /// Bytes that have come of the answer under way.
    octets: u64,
    ask: Option<&'a Ask>,
    values: Values,
    /// The beginning of a head whose end has not come yet; empty otherwise.
    partial: Vec<u8>,
    scan: Scan,
    interims: u8,
    status: u16,
    mismatch: Option<Mismatch>,
    reusable: bool,
    body: BodyJudge,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    /// Nothing of the answer has come.
    Requested,
    Head,
    Fixed {
        left: u64,
    },
    Chunked(Chunked),
    UntilClose,
}

impl<'a> H1<'a> {
    /// A connection on which nothing has been sent.
    #[must_use]
    pub fn new(limits: &'a Limits) -> H1<'a> {
        H1 {
            limits,
            memo: None,
            forms: None,
            state: State::Idle,
            exchange: ExchangeId::default(),
            octets: 0,
            ask: None,
            values: Values::default(),
            partial: Vec::new(),
            scan: Scan::default(),
            interims: 0,
            status: 0,
            mismatch: None,
            reusable: true,
            body: BodyJudge::default(),
        }
    }

    /// One of many connections that remember together the last head that came.
    #[must_use]
    pub fn remembering(limits: &'a Limits, memo: &'a HeadMemo<'a>) -> H1<'a> {
        H1 { memo: Some(memo), ..H1::new(limits) }
    }

    /// One of many connections that learn together which forms right bodies have, if any are learnt.
    #[must_use]
    pub fn learning(self, forms: Option<Forms>) -> H1<'a> {
        H1 { forms, ..self }
    }

    /// How far the answer has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        match self.state {
            State::Idle => Progress::Idle,
            State::Requested => Progress::Requested,
            State::Head => Progress::Head,
            State::Fixed { .. } | State::Chunked(_) | State::UntilClose => Progress::Body,
        }
    }
}

impl<'a> Session<'a> for H1<'a> {
    type Fault = WireFault;
    const SHARED: bool = false;

    fn open(&mut self, news: &mut Vec<News<WireFault>>, _output: &mut Vec<u8>) {
        news.push(News::Ready);
    }

    fn room(&self) -> usize {
        usize::from(matches!(self.state, State::Idle))
    }

    fn submit(
        &mut self,
        exchange: ExchangeId,
        ask: &'a Ask,
        values: Values,
        _news: &mut Vec<News<WireFault>>,
        output: &mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        assert!(matches!(self.state, State::Idle), "one exchange at a time");
        self.state = State::Requested;
        self.exchange = exchange;
        self.octets = 0;
        self.ask = Some(ask);
        self.values = values;
        self.interims = 0;
        let ready = ask.ready(values);
        if ready.is_none() {
            ask.encode(values, output);
        }
        ready
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<News<WireFault>>,
        _output: &mut Vec<u8>,
    ) -> Result<(), WireFault> {
        self.octets += bytes.len() as u64;
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            match &mut self.state {
                // RFC 9112, 9.2: bytes that no request waits for are never an answer to one.
                State::Idle => {
                    // The answer before them does not have these bytes.
                    if rest.len() < bytes.len()
                        && let Some(News::Answered { octets, .. }) = news.last_mut()
                    {
                        *octets -= rest.len() as u64;
                    }
                    return Err(unsolicited(first));
                }
                State::Requested => {
                    news.push(News::FirstByte(self.exchange));
                    self.state = State::Head;
                }
                State::Head => self.take_head(&mut rest, news)?,
                State::Fixed { left } => {
                    let len = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= len as u64;
                    let is_whole = *left == 0;
                    let (part, after) = rest.split_at(len);
                    rest = after;
                    self.judge(part);
                    if is_whole {
                        self.finish(news);
                    }
                }
                State::Chunked(chunked) => match chunked.take(&mut rest, self.limits)? {
                    Part::Framing => {}
                    Part::Data(part) => {
                        self.judge(part);
                        self.check_size()?;
                    }
                    Part::End => self.finish(news),
                },
                State::UntilClose => {
                    self.judge(rest);
                    rest = &[];
                    self.check_size()?;
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self, news: &mut Vec<News<WireFault>>) -> Result<(), WireFault> {
        if matches!(self.state, State::UntilClose) {
            self.finish(news);
        }
        Ok(())
    }

    fn under_way(&self, found: &mut Vec<(ExchangeId, Progress)>) {
        if !self.is_at_rest() {
            found.push((self.exchange, self.progress()));
        }
    }

    fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    fn abandon(
        &mut self,
        _exchange: ExchangeId,
        _news: &mut Vec<News<WireFault>>,
        _output: &mut Vec<u8>,
    ) {
    }

    fn close(&mut self, _output: &mut Vec<u8>) {}

    fn reset(&mut self) {
        *self = H1 { memo: self.memo, forms: self.forms.take(), ..H1::new(self.limits) };
    }
}

impl<'a> H1<'a> {
    /// Reads one head, interim or final, if its end is within `rest`.
    fn take_head(
        &mut self,
        rest: &mut &[u8],
        news: &mut Vec<News<WireFault>>,
    ) -> Result<(), WireFault> {
        if self.partial.is_empty() {
            if 0 < self.interims {
                news.push(News::FirstByte(self.exchange));
            }
            if self.scan.is_at_start()
                && let (Some(memo), Some(ask)) = (self.memo, self.ask)
                && let Some((head, len)) = memo.recall(ask, rest)
            {
                debug_assert_eq!(Head::read(&rest[..len], ask, self.values, self.limits), Ok(head));
                *rest = &rest[len..];
                return self.take_final(head, news);
            }
            // The usual case otherwise: the head came in one piece and is read in place.
            let Some(end) = self.scan.find_end(rest, self.limits)? else {
                self.partial.extend_from_slice(rest);
                *rest = &[];
                return Ok(());
            };
            let (bytes, after) = rest.split_at(end);
            *rest = after;
            return self.read_head(bytes, news);
        }
        let before = self.partial.len();
        self.partial.extend_from_slice(rest);
        let Some(end) = self.scan.find_end(&self.partial, self.limits)? else {
            *rest = &[];
            return Ok(());
        };
        *rest = &rest[end - before..];
        let partial = std::mem::take(&mut self.partial);
        self.read_head(&partial[..end], news)
    }

    fn read_head(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<News<WireFault>>,
    ) -> Result<(), WireFault> {
        self.scan = Scan::default();
        let ask = self.ask.expect("a head is read only after a request");
        let head = Head::read(bytes, ask, self.values, self.limits)?;
        if head.status == 101 {
            return Err(WireFault::Unexpected101);
        }
        // RFC 9110, 15.2: interim answers may come before the answer, and are skipped.
        if head.status < 200 {
            self.interims += 1;
            if self.limits.interims < self.interims {
                return Err(WireFault::InterimFlood);
            }
            news.push(News::Interim(self.exchange));
            return Ok(());
        }
        if let Some(memo) = self.memo {
            memo.keep(ask, bytes, head);
        }
        self.take_final(head, news)
    }

    /// The head of the answer is there; the body follows.
    fn take_final(&mut self, head: Head, news: &mut Vec<News<WireFault>>) -> Result<(), WireFault> {
        self.status = head.status;
        self.mismatch = head.mismatch;
        self.reusable = head.keeps_alive;
        self.body = BodyJudge::of(head.delivery);
        match head.framing {
            Framing::Fixed(0) => self.finish(news),
            Framing::Fixed(length) if self.limits.body < length => {
                return Err(WireFault::BodyTooLarge);
            }
            Framing::Fixed(length) => self.state = State::Fixed { left: length },
            Framing::Chunked => self.state = State::Chunked(Chunked::default()),
            Framing::UntilClose => {
                self.reusable = false;
                self.state = State::UntilClose;
            }
        }
        Ok(())
    }

    fn rule(&self) -> &BodyRule {
        self.ask.map_or(&BodyRule::Any, |ask| ask.body_rule(self.mismatch))
    }

    fn judge(&mut self, part: &[u8]) {
        let mut body = std::mem::take(&mut self.body);
        body.take(self.rule(), part, self.values, self.forms.as_ref());
        self.body = body;
    }

    fn check_size(&self) -> Result<(), WireFault> {
        if self.limits.body < self.body.received() {
            return Err(WireFault::BodyTooLarge);
        }
        Ok(())
    }

    fn finish(&mut self, news: &mut Vec<News<WireFault>>) {
        let mut body = std::mem::take(&mut self.body);
        let body_is_right = body.is_right(self.rule(), self.values, self.forms.as_ref());
        self.state = State::Idle;
        news.push(News::Answered {
            exchange: self.exchange,
            status: self.status,
            octets: self.octets,
            mismatch: self.mismatch.or((!body_is_right).then_some(Mismatch::Body)),
            reusable: self.reusable,
        });
    }
}

/// Distinguished by the first byte, so that it does not matter how the bytes were cut.
fn unsolicited(first: u8) -> WireFault {
    if first == b'H' { WireFault::Unsolicited } else { WireFault::Surplus }
}

#[cfg(test)]
mod tests;
