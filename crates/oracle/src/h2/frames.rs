//! HTTP/2's frames (RFC 9113, 4 to 6): how one is read and written.

pub(crate) use units::rfc9113::*;

/// No window is larger.
pub(crate) const WINDOW_MAX: i64 = LARGEST as i64;

#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: &'a [u8],
}

/// What is wrong with what the peer has sent: with the connection, or with one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Connection(u32, &'static str),
    Stream(u32, u32),
}

impl<'a> Frame<'a> {
    /// The frame at the front of `bytes`, if it is whole.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Option<Frame<'a>>, Wrong> {
        let Some((head, rest)) = bytes.split_at_checked(FRAME_HEAD) else { return Ok(None) };
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        if FRAME_MAX < length {
            return Err(Wrong::Connection(
                FRAME_SIZE_ERROR,
                "a frame is longer than SETTINGS allow",
            ));
        }
        let stream = number(&head[5..]) & 0x7fff_ffff;
        let payload = rest.get(..length);
        Ok(payload.map(|payload| Frame { kind: head[3], flags: head[4], stream, payload }))
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload of DATA or HEADERS without its padding (RFC 9113, 6.1).
    pub(crate) fn unpadded(&self) -> Result<&'a [u8], Wrong> {
        if !self.has(PADDED) {
            return Ok(self.payload);
        }
        let (padding, rest) = self.payload.split_first().ok_or(SIZE)?;
        let kept = rest.len().checked_sub(usize::from(*padding));
        let kept = kept.ok_or(Wrong::Connection(PROTOCOL_ERROR, "more padding than payload"))?;
        Ok(&rest[..kept])
    }
}

pub(crate) const SIZE: Wrong =
    Wrong::Connection(FRAME_SIZE_ERROR, "a frame has not the length of its kind");

/// Four octets, as a number.
pub(crate) fn number(octets: &[u8]) -> u32 {
    octets.iter().take(4).fold(0, |sum, octet| sum << 8 | u32::from(*octet))
}

pub(crate) fn push_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    push_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

/// The head of a frame, whose length may lie.
pub(crate) fn push_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

pub(crate) fn push_reset(out: &mut Vec<u8>, stream: u32, code: u32) {
    push_frame(out, RST_STREAM, 0, stream, &code.to_be_bytes());
}

pub(crate) fn push_goaway(out: &mut Vec<u8>, last: u32, code: u32, why: &[u8]) {
    push_head(out, 8 + why.len(), GOAWAY, 0, 0);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&code.to_be_bytes());
    out.extend_from_slice(why);
}

pub(crate) fn push_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    push_head(out, 6 * settings.len(), SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn push_window(out: &mut Vec<u8>, stream: u32, increment: u32) {
    push_frame(out, WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}
