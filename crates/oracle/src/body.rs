//! Reads request bodies: by length or in chunks, however the bytes are cut. No socket.

use crate::request::{Framing, Refusal, Status, is_field_byte, is_token};

/// The largest body.
pub(crate) const BODY_MAX: u64 = 16 * 1024 * 1024;
/// All of a body's chunk extensions and trailers together.
const EXTRAS_MAX: usize = 16 * 1024;

/// How far a body has been read.
#[derive(Debug)]
pub(crate) struct Body {
    state: State,
    /// Octets of content so far. Invariant: at most `BODY_MAX`.
    content: u64,
    extras: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Content(u64),
    SizeFirst,
    Size(u64),
    BeforeExtension(u64),
    Extension(u64),
    SizeLf(u64),
    Chunk(u64),
    ChunkCr,
    ChunkLf,
    TrailerFirst,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    End,
}

const TOO_LONG: Refusal = Refusal { status: Status::TooLong, why: "the body is over 16 MiB" };

impl Body {
    /// A body that is still to be read; refused at once if its announced length is too long.
    pub(crate) fn begin(framing: Framing) -> Result<Body, Refusal> {
        let state = match framing {
            Framing::None | Framing::Length(0) => State::End,
            Framing::Length(length) if length > BODY_MAX => return Err(TOO_LONG),
            Framing::Length(length) => State::Content(length),
            Framing::Chunked => State::SizeFirst,
        };
        Ok(Body { state, content: 0, extras: 0 })
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.state == State::End
    }

    /// Takes what belongs to the body from the front of `bytes`, content into `kept`; returns how much.
    pub(crate) fn take(&mut self, bytes: &[u8], kept: &mut Vec<u8>) -> Result<usize, Refusal> {
        let mut at = 0;
        while at < bytes.len() && !self.is_whole() {
            match self.state {
                State::Content(left) | State::Chunk(left) => {
                    let taken = (bytes.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
                    kept.extend_from_slice(&bytes[at..at + taken]);
                    at += taken;
                    self.state = self.after_content(left - taken as u64);
                }
                state => {
                    self.state = self.step(state, bytes[at])?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }

    fn after_content(&self, left: u64) -> State {
        match self.state {
            State::Content(_) if left == 0 => State::End,
            State::Content(_) => State::Content(left),
            _ if left == 0 => State::ChunkCr,
            _ => State::Chunk(left),
        }
    }

    /// RFC 9112, 7.1, octet by octet.
    fn step(&mut self, state: State, byte: u8) -> Result<State, Refusal> {
        let next = match (state, byte) {
            (State::SizeFirst | State::Size(_), byte) if byte.is_ascii_hexdigit() => {
                let so_far = match state {
                    State::Size(0) => self.extra().map(|()| 0)?,
                    State::Size(size) => size,
                    _ => 0,
                };
                self.longer_size(so_far, byte)?
            }
            (State::Size(size) | State::Extension(size), b'\r') => State::SizeLf(size),
            (State::Size(size) | State::BeforeExtension(size), b';') => State::Extension(size),
            (State::Size(size) | State::BeforeExtension(size), b' ' | b'\t') => {
                self.extra()?;
                State::BeforeExtension(size)
            }
            (State::Extension(_), byte) if is_field_byte(byte) => {
                self.extra()?;
                state
            }
            (State::SizeLf(0), b'\n') => State::TrailerFirst,
            (State::SizeLf(size), b'\n') => {
                self.content += size;
                State::Chunk(size)
            }
            (State::ChunkCr, b'\r') => State::ChunkLf,
            (State::ChunkLf, b'\n') => State::SizeFirst,
            (State::TrailerFirst, b'\r') => State::EndLf,
            (State::TrailerFirst | State::TrailerName, byte) if is_token(byte) => {
                self.extra()?;
                State::TrailerName
            }
            (State::TrailerName, b':') => State::TrailerValue,
            (State::TrailerValue, b'\r') => State::TrailerLf,
            (State::TrailerValue, byte) if is_field_byte(byte) => {
                self.extra()?;
                State::TrailerValue
            }
            (State::TrailerLf, b'\n') => State::TrailerFirst,
            (State::EndLf, b'\n') => State::End,
            _ => {
                let why = "the chunks are not framed as chunks are";
                return Err(Refusal { status: Status::BadRequest, why });
            }
        };
        Ok(next)
    }

    fn longer_size(&self, so_far: u64, digit: u8) -> Result<State, Refusal> {
        let digit = (digit as char).to_digit(16).expect("the caller saw a hexadecimal digit");
        // `so_far` is at most BODY_MAX, so this cannot overflow.
        let size = so_far * 16 + u64::from(digit);
        if self.content + size > BODY_MAX { Err(TOO_LONG) } else { Ok(State::Size(size)) }
    }

    fn extra(&mut self) -> Result<(), Refusal> {
        self.extras += 1;
        let why = "chunk extensions and trailers of over 16 KiB";
        let refusal = Refusal { status: Status::FieldsTooLarge, why };
        if self.extras > EXTRAS_MAX { Err(refusal) } else { Ok(()) }
    }
}
