//! HTTP/2's frames (RFC 9113, 4 to 7), written without any rule and read leniently.

pub(crate) use units::rfc9113::*;

/// The names of flags, and the kinds of frames that have them.
pub(crate) const FLAGS: [(&str, u8, &[u8]); 5] = [
    ("END_STREAM", END_STREAM, &[DATA, HEADERS]),
    ("ACK", ACK, &[SETTINGS, PING]),
    ("END_HEADERS", END_HEADERS, &[HEADERS, CONTINUATION, PUSH_PROMISE]),
    ("PADDED", PADDED, &[DATA, HEADERS]),
    ("PRIORITY", PRIORITISED, &[HEADERS]),
];

pub(crate) fn setting_name(setting: u16) -> String {
    let place = usize::from(setting).checked_sub(1);
    let name = place.and_then(|place| SETTINGS_NAMES.get(place)).map(ToString::to_string);
    name.unwrap_or_else(|| format!("setting {setting:#06x}"))
}

pub(crate) fn kind_name(kind: u8) -> String {
    let name = KINDS.get(usize::from(kind)).map(ToString::to_string);
    name.unwrap_or_else(|| format!("a frame of kind {kind}"))
}

pub(crate) fn code_name(code: u32) -> String {
    let name = CODES.get(code as usize).map(ToString::to_string);
    name.unwrap_or_else(|| format!("error {code}"))
}

/// A frame that has arrived whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The frame at the front of these octets, and how many of them it takes; none while it is not whole.
    pub(crate) fn read(octets: &[u8]) -> Option<(Frame, usize)> {
        let (head, rest) = octets.split_at_checked(FRAME_HEAD)?;
        let length = number(&head[..3]) as usize;
        let payload = rest.get(..length)?.to_vec();
        let stream = number(&head[5..]) & 0x7fff_ffff;
        Some((Frame { kind: head[3], flags: head[4], stream, payload }, FRAME_HEAD + length))
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload of DATA or HEADERS without padding and priority; none if there is more of them than payload.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        let mut content = &self.payload[..];
        if self.has(PADDED) {
            let (padding, rest) = content.split_first()?;
            content = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if self.kind == HEADERS && self.has(PRIORITISED) {
            content = content.get(5..)?;
        }
        Some(content)
    }
}

/// Octets as a number, most significant first; at most four of them.
pub(crate) fn number(octets: &[u8]) -> u32 {
    octets.iter().take(4).fold(0, |sum, octet| sum << 8 | u32::from(*octet))
}

/// The head of a frame, whatever follows it.
pub(crate) fn push_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

pub(crate) fn push_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    push_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

pub(crate) fn push_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    push_head(out, 6 * settings.len(), SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_once_it_is_whole() {
        let mut octets = Vec::new();
        push_frame(&mut octets, DATA, PADDED | END_STREAM, 0x8000_0003, b"\x02hi\0\0");
        for cut in 0..octets.len() {
            assert_eq!(Frame::read(&octets[..cut]), None, "{cut}");
        }
        octets.push(9);
        let (frame, taken) = Frame::read(&octets).unwrap();
        assert_eq!((frame.stream, taken, frame.content()), (3, 14, Some(&b"hi"[..])));
        let of = |flags, payload: &[u8]| {
            let frame = Frame { kind: HEADERS, flags, stream: 1, payload: payload.to_vec() };
            frame.content().map(<[u8]>::to_vec)
        };
        assert_eq!(of(PADDED, b""), None);
        assert_eq!(of(PADDED, b"\x02a"), None);
        assert_eq!(of(PADDED | PRIORITISED, b"\x01\0\0\0\0\0ab"), Some(b"a".to_vec()));
        assert_eq!(of(PRIORITISED, b"1234"), None);
    }
}
