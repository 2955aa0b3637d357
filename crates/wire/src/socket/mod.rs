//! WebSocket (RFC 6455), the client's side.
//!
//! ```text
//!  Handshake ──101──► Open ──Close──► Over
//! ```
//!
//! No extension is offered, so none may be used; what a peer sends nevertheless is a fault with a name.

mod frames;
mod handshake;
mod utf8;

use crate::ask::{Ask, AskError, Request};
use crate::chance::Chance;
use crate::expect::Expect;
use crate::fault::WireFault;
use crate::h1::{Limits, Scan};
use crate::held::{First, HeldError, HeldEvent, HeldFault, HeldLimits};
use crate::template::Values;
use frames::{Frame, Header, Opcode, push_frame};
use handshake::{Key, agreed};
use utf8::Utf8;

/// The request for a WebSocket: `headers` are those of the handshake itself and those that the caller adds.
pub fn socket_ask(host: &str, target: &str, headers: &[(String, String)]) -> Result<Ask, AskError> {
    let own =
        [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")];
    let own = own.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    let headers = headers.iter().cloned().chain(own).collect();
    Ask::new(&Request { headers, ..Request::get(host, target) }, Expect::default())
}

#[derive(Debug)]
pub struct Socket<'a> {
    ask: &'a Ask,
    limits: &'a Limits,
    held: HeldLimits,
    state: State,
    /// The source of the key and the masks.
    chance: Chance,
    key: Key,
    /// The beginning of a head, or of a control frame's payload, whose end has not come yet; empty otherwise.
    partial: Vec<u8>,
    header: Header,
    frame: Option<Frame>,
    /// The kind of the message whose fragments are coming.
    message: Option<Opcode>,
    fragments: u32,
    first: First,
    utf8: Utf8,
    /// Whether dyno has sent a Close.
    has_left: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Handshake(Scan),
    Open,
    Over,
}

/// Pongs wait for a peer that does not read, up to this size; later ones are dropped.
const OUTPUT_MAX: usize = 16 << 10;

impl<'a> Socket<'a> {
    /// A connection on which nothing has been sent. `ask` was built by [`socket_ask`].
    #[must_use]
    pub fn new(ask: &'a Ask, limits: &'a Limits, held: HeldLimits) -> Socket<'a> {
        Socket {
            ask,
            limits,
            held,
            state: State::Handshake(Scan::default()),
            chance: Chance::new(0),
            key: Key::default(),
            partial: Vec::new(),
            header: Header::default(),
            frame: None,
            message: None,
            fragments: 0,
            first: First::default(),
            utf8: Utf8::default(),
            has_left: false,
        }
    }

    pub(crate) fn begin(&mut self, chance: u64, output: &mut Vec<u8>) {
        *self = Socket::new(self.ask, self.limits, self.held);
        self.chance = Chance::new(chance);
        self.key = Key::of([self.chance.draw(), self.chance.draw()]);
        self.ask.encode(Values { seq: 0, random: chance }, output);
        // The request is complete except for its key.
        output.truncate(output.len() - b"\r\n".len());
        output.extend_from_slice(b"Sec-WebSocket-Key: ");
        output.extend_from_slice(self.key.text().as_bytes());
        output.extend_from_slice(b"\r\n\r\n");
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub(crate) fn send_text(&mut self, text: &[u8], output: &mut Vec<u8>) -> bool {
        let may = self.is_open() && !self.has_left;
        if may {
            let mask = self.mask();
            push_frame(Opcode::Text, text, mask, output);
        }
        may
    }

    /// Sends a message of either kind.
    pub fn reply(&mut self, payload: &[u8], is_text: bool, output: &mut Vec<u8>) {
        if self.is_open() && !self.has_left {
            let mask = self.mask();
            let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
            push_frame(opcode, payload, mask, output);
        }
    }

    pub(crate) fn leave(&mut self, output: &mut Vec<u8>) {
        if self.is_open() {
            self.close_with_code(1000, output);
        }
    }

    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        output: &mut Vec<u8>,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let mut rest = bytes;
        let result = self.take(&mut rest, output, on_event);
        if let Err(fault) = result {
            if let (true, Some(code)) = (self.is_open(), code(fault)) {
                self.close_with_code(code, output);
            }
            self.state = State::Over;
        }
        result
    }

    pub(crate) fn ended(&mut self) -> Result<(), HeldError> {
        let is_nothing = self.partial.is_empty();
        match std::mem::replace(&mut self.state, State::Over) {
            State::Handshake(_) if is_nothing => Err(WireFault::Empty.into()),
            State::Handshake(_) => Err(WireFault::CutHead.into()),
            State::Open => Err(HeldFault::CutSocket.into()),
            State::Over => Ok(()),
        }
    }

    fn take(
        &mut self,
        rest: &mut &[u8],
        output: &mut Vec<u8>,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        while !rest.is_empty() {
            match self.state {
                State::Handshake(scan) => self.take_head(rest, scan, on_event)?,
                State::Open => self.take_frame(rest, output, on_event)?,
                // RFC 6455, 5.5.1: nothing counts after a Close.
                State::Over => return Ok(()),
            }
        }
        Ok(())
    }

    fn take_head(
        &mut self,
        rest: &mut &[u8],
        mut scan: Scan,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let before = self.partial.len();
        let mut head = std::mem::take(&mut self.partial);
        head.extend_from_slice(rest);
        let Some(end) = scan.find_end(&head, self.limits)? else {
            *rest = &[];
            self.partial = head;
            self.state = State::Handshake(scan);
            return Ok(());
        };
        *rest = &rest[end - before..];
        agreed(&head[..end], self.key, self.limits)?;
        self.state = State::Open;
        on_event(HeldEvent::Opened);
        Ok(())
    }

    /// A frame's header, or the part of its payload that is at hand.
    fn take_frame(
        &mut self,
        rest: &mut &[u8],
        output: &mut Vec<u8>,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let mut frame = match self.frame.take() {
            Some(frame) => frame,
            None => match self.header.take(rest)? {
                None => return Ok(()),
                Some(frame) => self.begun(frame)?,
            },
        };
        let len = rest.len().min(usize::try_from(frame.left).unwrap_or(usize::MAX));
        let (part, after) = rest.split_at(len);
        *rest = after;
        frame.left -= len as u64;
        let is_whole = frame.left == 0;
        match frame.opcode.is_control() {
            true => self.control(frame.opcode, part, is_whole, output, on_event)?,
            false => self.data(part, is_whole && frame.is_final, on_event)?,
        }
        if !is_whole {
            self.frame = Some(frame);
        }
        Ok(())
    }

    /// Checks that a frame is allowed here.
    fn begun(&mut self, frame: Frame) -> Result<Frame, HeldFault> {
        if frame.opcode.is_control() {
            return Ok(frame);
        }
        match (frame.opcode, self.message) {
            (Opcode::More, None) | (Opcode::Text | Opcode::Binary, Some(_)) => {
                return Err(HeldFault::BadFragment);
            }
            (Opcode::More, Some(_)) => {}
            (opcode, None) => (self.message, self.fragments) = (Some(opcode), 0),
            (_, Some(_)) => {}
        }
        self.fragments += 1;
        let bytes = self.first.bytes().saturating_add(frame.left);
        if self.held.message < bytes || self.held.fragments < self.fragments {
            return Err(HeldFault::MessageTooLarge);
        }
        Ok(frame)
    }

    fn data(
        &mut self,
        part: &[u8],
        is_last: bool,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        let is_text = self.message == Some(Opcode::Text);
        if is_text {
            self.utf8.take(part)?;
            if is_last {
                self.utf8.finish()?;
            }
        }
        on_event(HeldEvent::Part { bytes: part, is_text });
        if is_last {
            self.message = None;
            self.first.finish(part, |shown, bytes| on_event(HeldEvent::Message { shown, bytes }));
        } else {
            self.first.take(part);
        }
        Ok(())
    }

    fn control(
        &mut self,
        opcode: Opcode,
        part: &[u8],
        is_whole: bool,
        output: &mut Vec<u8>,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        if !is_whole {
            self.partial.extend_from_slice(part);
            return Ok(());
        }
        let mut payload = std::mem::take(&mut self.partial);
        payload.extend_from_slice(part);
        match opcode {
            Opcode::Ping => {
                if !self.has_left && output.len() < OUTPUT_MAX {
                    let mask = self.mask();
                    push_frame(Opcode::Pong, &payload, mask, output);
                }
                on_event(HeldEvent::Ping);
            }
            Opcode::Close => {
                let code = frames::close_code(&payload)?;
                // RFC 6455, 5.5.1: the Close is answered, with the code that came.
                match code {
                    Some(code) => self.close_with_code(code, output),
                    None => self.close_without_code(output),
                }
                self.state = State::Over;
                on_event(HeldEvent::Close(code));
            }
            _ => on_event(HeldEvent::Pong),
        }
        Ok(())
    }

    fn close_with_code(&mut self, code: u16, output: &mut Vec<u8>) {
        self.push_close(&code.to_be_bytes(), output);
    }

    fn close_without_code(&mut self, output: &mut Vec<u8>) {
        self.push_close(&[], output);
    }

    fn push_close(&mut self, payload: &[u8], output: &mut Vec<u8>) {
        if !self.has_left {
            self.has_left = true;
            let mask = self.mask();
            push_frame(Opcode::Close, payload, mask, output);
        }
    }

    /// A mask protects proxies, and need not be secret.
    fn mask(&mut self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.chance.draw().to_le_bytes();
        [a, b, c, d]
    }
}

/// The code with which a peer's fault is reported to it. RFC 6455, 7.4.1.
fn code(error: HeldError) -> Option<u16> {
    let HeldError::Held(fault) = error else { return None };
    match fault {
        HeldFault::NotUtf8 => Some(1007),
        HeldFault::MessageTooLarge => Some(1009),
        HeldFault::ReservedBits
        | HeldFault::Opcode
        | HeldFault::Masked
        | HeldFault::BadFrameLength
        | HeldFault::BadControl
        | HeldFault::BadFragment
        | HeldFault::BadClose => Some(1002),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
