//! WebSocket frames (RFC 6455, 5): parses a server's frames with what is wrong with them, and makes a simple one of
//! ours.

use units::named;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Whether it ends a message.
    pub is_last: bool,
    /// The reserved bits.
    pub reserved: u8,
    pub opcode: u8,
    /// Whether it is masked; a server's must not be.
    pub is_masked: bool,
    /// Whether its length is encoded in the fewest possible octets.
    pub is_shortest: bool,
    /// Its payload, unmasked.
    pub payload: Vec<u8>,
}

/// A client's frame with this many octets `x`, masked with zeros.
pub(crate) fn masked(first: u8, len: usize) -> Vec<u8> {
    let mut frame = vec![first];
    match len {
        0..=125 => frame.push(0x80 | len as u8),
        126..=0xffff => {
            frame.push(0xfe);
            frame.extend((len as u16).to_be_bytes());
        }
        _ => {
            frame.push(0xff);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(std::iter::repeat_n(b'x', len));
    frame
}

/// At most this many frames are read: a flood of empty frames would take far more memory than its octets.
const MOST: usize = 16_384;

/// The complete frames, in their order; an incomplete one is left out.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Frame> {
    let (mut frames, mut at) = (Vec::new(), 0);
    while let Some((frame, len)) = frame(&bytes[at..]).filter(|_| frames.len() < MOST) {
        frames.push(frame);
        at += len;
    }
    frames
}

fn frame(bytes: &[u8]) -> Option<(Frame, usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    let (length, least, mut at) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 126, 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 1 << 16, 10),
        short => (u64::from(short), 0, 2),
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
        is_shortest: least <= length,
        payload: payload.collect(),
    };
    Some((frame, end))
}

/// Text and binary messages, assembled from their fragments.
pub(crate) fn messages(frames: &[Frame]) -> Vec<Vec<u8>> {
    joined(frames).into_iter().map(|(_, content)| content).collect()
}

/// Messages with the opcode of their first frame.
fn joined(frames: &[Frame]) -> Vec<(u8, Vec<u8>)> {
    let (mut messages, mut open) = (Vec::new(), None);
    for frame in frames.iter().filter(|frame| frame.opcode < 8) {
        let (_, content): &mut (u8, Vec<u8>) = open.get_or_insert((frame.opcode, Vec::new()));
        content.extend_from_slice(&frame.payload);
        if frame.is_last {
            messages.extend(open.take());
        }
    }
    messages
}

named! {
    /// What can be wrong with what a server sends.
    pub(crate) enum Slip {
        Masked = "a masked frame",
        Reserved = "a reserved bit that no extension was agreed for",
        Opcode = "an opcode that is not defined",
        LongForm = "a length in more octets than it needs",
        LongControl = "a control frame of more than 125 octets",
        CutControl = "a control frame in fragments",
        NothingToContinue = "a continuation of nothing",
        Interrupted = "a new message before the end of the last one",
        Text = "a text that is not UTF-8",
        CloseBody = "a Close with a body of one octet",
        CloseCode = "a Close with a code that must not be sent",
        CloseReason = "a Close whose reason is not UTF-8",
        AfterClose = "data after its own Close",
    }
}

/// What is wrong with these frames, each flaw once.
pub(crate) fn slips(frames: &[Frame]) -> Vec<Slip> {
    let mut slips: Vec<Slip> = frames.iter().flat_map(slips_of_one).collect();
    let (mut is_open, mut is_over) = (false, false);
    for frame in frames {
        match (frame.opcode, is_open) {
            (8, _) => is_over = true,
            (0, false) => slips.push(Slip::NothingToContinue),
            (1..=7, true) => slips.push(Slip::Interrupted),
            _ => {}
        }
        if frame.opcode < 8 {
            is_open = !frame.is_last;
            slips.extend(is_over.then_some(Slip::AfterClose));
        }
    }
    let texts = joined(frames).into_iter().filter(|(opcode, _)| *opcode == 1);
    let bad = texts.filter(|(_, content)| std::str::from_utf8(content).is_err());
    slips.extend(bad.map(|_| Slip::Text));
    let mut seen = Vec::new();
    slips.retain(|slip| {
        !seen.contains(slip) && {
            seen.push(*slip);
            true
        }
    });
    slips
}

fn slips_of_one(frame: &Frame) -> Vec<Slip> {
    let is_control = frame.opcode >= 8;
    let close = match (frame.opcode, frame.payload.as_slice()) {
        (8, [_]) => Some(Slip::CloseBody),
        (8, [high, low, ..]) if is_never_sent(u16::from_be_bytes([*high, *low])) => {
            Some(Slip::CloseCode)
        }
        (8, [_, _, reason @ ..]) if std::str::from_utf8(reason).is_err() => Some(Slip::CloseReason),
        _ => None,
    };
    let rest = [
        (frame.is_masked, Slip::Masked),
        (frame.reserved != 0, Slip::Reserved),
        (!matches!(frame.opcode, 0..=2 | 8..=10), Slip::Opcode),
        (!frame.is_shortest, Slip::LongForm),
        (is_control && frame.payload.len() > 125, Slip::LongControl),
        (is_control && !frame.is_last, Slip::CutControl),
    ];
    let rest = rest.into_iter().filter_map(|(is_so, slip)| is_so.then_some(slip));
    rest.chain(close).collect()
}

/// RFC 6455, 7.4.1: codes that stand for what happened without a Close.
fn is_never_sent(code: u16) -> bool {
    matches!(code, 1005 | 1006 | 1015)
}

/// RFC 6455, 7.4, with the codes that were registered since: whether a Close frame may carry this code.
pub(crate) fn may_close(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
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
        assert_eq!(super::frames(&b"\x89\0".repeat(MOST + 9)).len(), MOST);
    }

    #[test]
    fn whatever_a_server_must_not_send_has_a_name() {
        let slips = |bytes: &[u8]| slips(&frames(bytes));
        assert_eq!(slips(b"\x01\x01\xce\x8a\0\x80\x01\xba\x82\x01\xff\x88\x02\x0f\xa0"), []);
        assert_eq!(slips(b"\x88\0"), []);
        assert_eq!(slips(b"\x81\x82\0\0\0\0Hi"), [Slip::Masked]);
        assert_eq!(slips(b"\xc1\x02Hi\xc1\x02Hi"), [Slip::Reserved]);
        assert_eq!(slips(b"\x8b\0"), [Slip::Opcode]);
        assert_eq!(slips(b"\x81\x7e\0\x02Hi"), [Slip::LongForm]);
        assert_eq!(
            slips(&[b"\x89\x7e\0\x7e".as_slice(), &[b'p'; 126]].concat()),
            [Slip::LongControl]
        );
        assert_eq!(slips(b"\x09\0"), [Slip::CutControl]);
        assert_eq!(slips(b"\x80\x02Hi"), [Slip::NothingToContinue]);
        assert_eq!(slips(b"\x01\x02Hi\x81\x02Hi"), [Slip::Interrupted]);
        assert_eq!(slips(b"\x01\x01\xce\x80\x01x"), [Slip::Text]);
        assert_eq!(slips(b"\x88\x01\x03"), [Slip::CloseBody]);
        assert_eq!(slips(b"\x88\x02\x03\xed"), [Slip::CloseCode]);
        assert_eq!(slips(b"\x88\x03\x03\xe8\xff"), [Slip::CloseReason]);
        assert_eq!(slips(b"\x88\x02\x03\xe8\x8a\0\x81\0"), [Slip::AfterClose]);
    }
}
