//! WebSocket frames as a server sends them (RFC 6455, 5.2).

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Whether it ends a message.
    pub is_last: bool,
    /// The reserved bits.
    pub reserved: u8,
    /// What it is.
    pub opcode: u8,
    /// Whether it is masked; a server's must not be.
    pub is_masked: bool,
    /// Its payload, unmasked.
    pub payload: Vec<u8>,
}

/// The frames that are whole, in their order; what is cut short is left out.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Frame> {
    let (mut frames, mut at) = (Vec::new(), 0);
    while let Some((frame, len)) = frame(&bytes[at..]) {
        frames.push(frame);
        at += len;
    }
    frames
}

fn frame(bytes: &[u8]) -> Option<(Frame, usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    let (length, mut at) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
        short => (u64::from(short), 2),
    };
    let is_masked = second & 0x80 != 0;
    let mut mask = [0; 4];
    if is_masked {
        mask = bytes.get(at..at + 4)?.try_into().ok()?;
        at += 4;
    }
    let end = at.checked_add(usize::try_from(length).ok()?)?;
    let payload = bytes.get(at..end)?.iter().enumerate().map(|(index, it)| it ^ mask[index % 4]);
    let frame = Frame {
        is_last: first & 0x80 != 0,
        reserved: first & 0x70,
        opcode: first & 0x0f,
        is_masked,
        payload: payload.collect(),
    };
    Some((frame, end))
}

/// Texts and binaries, put together from their pieces.
pub(crate) fn messages(frames: &[Frame]) -> Vec<Vec<u8>> {
    let (mut messages, mut open) = (Vec::new(), Vec::new());
    for frame in frames.iter().filter(|frame| frame.opcode < 8) {
        open.extend_from_slice(&frame.payload);
        if frame.is_last {
            messages.push(std::mem::take(&mut open));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_joined() {
        let bytes = b"\x01\x02he\x89\x01p\x80\x83\0\0\0\0llo\x88\x02\x03\xe8\x81\x05cut";
        let frames = frames(bytes);
        let opcodes: Vec<u8> = frames.iter().map(|frame| frame.opcode).collect();
        assert_eq!(opcodes, [1, 9, 0, 8]);
        assert_eq!(frames[2].payload, b"llo");
        assert_eq!(messages(&frames), [b"hello".to_vec()]);
        assert_eq!(super::frames(b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff"), []);
    }
}
