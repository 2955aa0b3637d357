//! The chunked transfer coding, byte by byte where it frames and in slices where it carries.

use crate::fault::WireFault;
use crate::h1::Limits;

/// What the next bytes were.
pub(crate) enum Part<'b> {
    /// Sizes, extensions, trailers.
    Framing,
    /// Bytes of the body.
    Data(&'b [u8]),
    /// The body is over.
    End,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chunked {
    at: At,
    /// The chunk's size as far as it has been read, then what is left of the chunk.
    size: u64,
    /// Bytes of the line being read.
    line: u32,
    /// Bytes of the body so far.
    received: u64,
    extensions: u32,
    trailers: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Before the first digit of a size.
    #[default]
    SizeStart,
    Size,
    /// Blanks after the size: an extension must follow.
    Blank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the last empty one.
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
}

/// No real chunk is larger than this; adding sizes up cannot overflow.
const SIZE_MAX: u64 = i64::MAX as u64;

impl Chunked {
    /// Takes framing up to the next data, or the data at hand.
    pub(crate) fn take<'b>(
        &mut self,
        rest: &mut &'b [u8],
        limits: &Limits,
    ) -> Result<Part<'b>, WireFault> {
        while let Some(&byte) = rest.first() {
            if self.at == At::Data {
                return Ok(Part::Data(self.take_data(rest)));
            }
            *rest = &rest[1..];
            self.at = self.step(byte, limits)?;
            if self.at == At::SizeStart && byte == b'\n' && self.is_last() {
                return Ok(Part::End);
            }
        }
        Ok(Part::Framing)
    }

    /// Whether the data just taken was the last of its chunk.
    pub(crate) fn is_chunk_over(&self) -> bool {
        self.at == At::DataCr
    }

    /// The state after the last LF is `SizeStart` with this mark.
    fn is_last(&self) -> bool {
        self.size == u64::MAX
    }

    fn take_data<'b>(&mut self, rest: &mut &'b [u8]) -> &'b [u8] {
        let len = rest.len().min(usize::try_from(self.size).unwrap_or(usize::MAX));
        let (data, after) = rest.split_at(len);
        *rest = after;
        self.size -= len as u64;
        if self.size == 0 {
            self.at = At::DataCr;
        }
        data
    }

    fn step(&mut self, byte: u8, limits: &Limits) -> Result<At, WireFault> {
        self.line += 1;
        match self.at {
            At::SizeStart | At::Size => self.size_byte(byte, limits),
            At::Blank | At::Extension => self.extension_byte(byte, limits),
            At::SizeLf => expect(byte, b'\n').map(|()| self.size_is_read()),
            At::Data => unreachable!("data is taken in slices"),
            At::DataCr if byte == b'\n' && limits.lenient => Ok(self.new_chunk()),
            At::DataCr => expect(byte, b'\r').map(|()| At::DataLf),
            At::DataLf => expect(byte, b'\n').map(|()| self.new_chunk()),
            At::TrailerStart | At::TrailerName | At::TrailerValue | At::TrailerLf | At::LastLf => {
                self.trailer_byte(byte, limits)
            }
        }
    }

    fn size_byte(&mut self, byte: u8, limits: &Limits) -> Result<At, WireFault> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            // Leading zeros cost the sender as much as the reader, but must end at some point.
            if limits.chunk_line < self.line as usize {
                return Err(WireFault::HeadTooLarge);
            }
            let size = self.size.checked_mul(16).and_then(|size| size.checked_add(digit.into()));
            let fits = |size: &u64| size.saturating_add(self.received) <= SIZE_MAX;
            self.size = size.filter(fits).ok_or(WireFault::BadChunk)?;
            return Ok(At::Size);
        }
        match byte {
            _ if self.at == At::SizeStart => Err(WireFault::BadChunk),
            b'\r' => Ok(At::SizeLf),
            b'\n' if limits.lenient => Ok(self.size_is_read()),
            b';' => Ok(At::Extension),
            b' ' | b'\t' => Ok(At::Blank),
            _ => Err(WireFault::BadChunk),
        }
    }

    /// RFC 9112, 7.1.1: unknown extensions are skipped, and limited.
    fn extension_byte(&mut self, byte: u8, limits: &Limits) -> Result<At, WireFault> {
        self.extensions += 1;
        if limits.chunk_line < self.line as usize || limits.extensions < self.extensions as usize {
            return Err(WireFault::HeadTooLarge);
        }
        match (byte, self.at) {
            (b'\r', At::Blank) if !limits.lenient => Err(WireFault::BadChunk),
            (b'\r', _) => Ok(At::SizeLf),
            (b'\n', _) if limits.lenient => Ok(self.size_is_read()),
            (b' ' | b'\t', at) => Ok(at),
            (b';', _) => Ok(At::Extension),
            (_, At::Blank) | (0..=31 | 127, _) => Err(WireFault::BadChunk),
            _ => Ok(At::Extension),
        }
    }

    fn size_is_read(&mut self) -> At {
        self.received += self.size;
        self.line = 0;
        if self.size == 0 { At::TrailerStart } else { At::Data }
    }

    fn new_chunk(&mut self) -> At {
        self.size = 0;
        self.line = 0;
        At::SizeStart
    }

    fn end(&mut self) -> At {
        self.size = u64::MAX;
        At::SizeStart
    }

    fn trailer_byte(&mut self, byte: u8, limits: &Limits) -> Result<At, WireFault> {
        self.trailers += 1;
        if limits.trailers < self.trailers as usize {
            return Err(WireFault::HeadTooLarge);
        }
        match (self.at, byte) {
            (At::TrailerStart, b'\r') => Ok(At::LastLf),
            (At::TrailerStart, b'\n') if limits.lenient => Ok(self.end()),
            (At::LastLf, b'\n') => Ok(self.end()),
            (At::TrailerValue, b'\r') => Ok(At::TrailerLf),
            (At::TrailerValue, b'\n') if limits.lenient => Ok(At::TrailerStart),
            (At::TrailerLf, b'\n') => Ok(At::TrailerStart),
            (At::TrailerName, b':') => Ok(At::TrailerValue),
            (At::TrailerStart | At::TrailerName, byte) if is_token(byte) => Ok(At::TrailerName),
            (At::TrailerValue, b'\t' | 32..=126 | 128..) => Ok(At::TrailerValue),
            _ => Err(WireFault::Field),
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn expect(byte: u8, expected: u8) -> Result<(), WireFault> {
    if byte == expected { Ok(()) } else { Err(WireFault::BadChunk) }
}
