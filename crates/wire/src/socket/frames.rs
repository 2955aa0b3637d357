//! Frames: two to ten bytes of header and a payload. A server's are never masked, a client's always.

use crate::held::HeldFault;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    /// More of a message that has begun.
    More,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    fn of(bits: u8) -> Option<Opcode> {
        Some(match bits {
            0 => Opcode::More,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Opcode::More => 0,
            Opcode::Text => 1,
            Opcode::Binary => 2,
            Opcode::Close => 8,
            Opcode::Ping => 9,
            Opcode::Pong => 10,
        }
    }

    pub(super) fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

/// A frame whose header has been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) opcode: Opcode,
    pub(super) is_final: bool,
    /// Bytes of the payload that have not come yet.
    pub(super) left: u64,
}

/// A header as far as it has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    bytes: [u8; 10],
    has: u8,
}

impl Header {
    /// Takes bytes up to the header's end. Checks each as it comes, so that the verdict is the same however they were
    /// cut.
    pub(super) fn take(&mut self, rest: &mut &[u8]) -> Result<Option<Frame>, HeldFault> {
        while let Some((&byte, after)) = rest.split_first() {
            *rest = after;
            self.bytes[usize::from(self.has)] = byte;
            self.has += 1;
            self.judge()?;
            if let Some(left) = self.length() {
                let frame = self.frame(left)?;
                *self = Header::default();
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Checks the newest byte, if it is one of the first two.
    fn judge(&self) -> Result<(), HeldFault> {
        let [first, second, ..] = self.bytes;
        match self.has {
            1 if first & 0x70 != 0 => Err(HeldFault::ReservedBits),
            1 if Opcode::of(first & 0x0f).is_none() => Err(HeldFault::Opcode),
            1 if self.is_control() && !self.is_final() => Err(HeldFault::BadControl),
            2 if second & 0x80 != 0 => Err(HeldFault::Masked),
            2 if self.is_control() && 125 < second => Err(HeldFault::BadControl),
            _ => Ok(()),
        }
    }

    fn is_control(&self) -> bool {
        self.bytes[0] & 0x08 != 0
    }

    fn is_final(&self) -> bool {
        self.bytes[0] & 0x80 != 0
    }

    /// The payload's length, once all of it has come.
    fn length(&self) -> Option<u64> {
        let more = match self.bytes[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        if usize::from(self.has) < 2 + more {
            return None;
        }
        match more {
            0 => Some(u64::from(self.bytes[1])),
            more => {
                let digits = &self.bytes[2..2 + more];
                Some(digits.iter().fold(0, |length, &byte| length << 8 | u64::from(byte)))
            }
        }
    }

    fn frame(&self, left: u64) -> Result<Frame, HeldFault> {
        let least = match self.bytes[1] {
            126 => 126,
            127 => 1 << 16,
            _ => 0,
        };
        // RFC 6455, 5.2: the fewest bytes possible, and the highest bit is 0.
        if left < least || 0 < left >> 63 {
            return Err(HeldFault::BadFrameLength);
        }
        let opcode = Opcode::of(self.bytes[0] & 0x0f).ok_or(HeldFault::Opcode)?;
        Ok(Frame { opcode, is_final: self.is_final(), left })
    }
}

/// The code of a Close. RFC 6455, 7.4: some codes are only for local use, and must not be sent.
pub(super) fn close_code(payload: &[u8]) -> Result<Option<u16>, HeldFault> {
    let (code, reason) = match payload {
        [] => return Ok(None),
        [_] => return Err(HeldFault::BadClose),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(HeldFault::BadClose);
    }
    match std::str::from_utf8(reason) {
        Ok(_) => Ok(Some(code)),
        Err(_) => Err(HeldFault::NotUtf8),
    }
}

/// Appends a frame of dyno's.
pub(super) fn push_frame(opcode: Opcode, payload: &[u8], mask: [u8; 4], output: &mut Vec<u8>) {
    output.push(0x80 | opcode.bits());
    match payload.len() {
        len @ 0..=125 => output.push(0x80 | len as u8),
        len @ 126..=0xffff => {
            output.push(0x80 | 126);
            output.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            output.push(0x80 | 127);
            output.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    output.extend_from_slice(&mask);
    output.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}
