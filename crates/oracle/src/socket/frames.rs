//! Frames: a client's are read strictly, the oracle's are written as short as possible. RFC 6455, 5.

use std::mem;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    /// More of the previous message.
    More = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// What a client sent, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// Text or binary; its fragments are joined.
    Message(Opcode, Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
}

/// Why a client's bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Protocol,
    NotUtf8,
    TooLarge,
}

impl Wrong {
    /// RFC 6455, 7.4.1.
    pub(crate) fn code(self) -> u16 {
        match self {
            Wrong::Protocol => 1002,
            Wrong::NotUtf8 => 1007,
            Wrong::TooLarge => 1009,
        }
    }
}

/// The longest header: two bytes, eight of length, four of mask.
const HEADER_MAX: usize = 14;

/// The receiving side, for pieces of any size. It holds no memory between messages.
#[derive(Debug)]
pub(crate) struct Reader {
    message_max: usize,
    header: [u8; HEADER_MAX],
    header_has: u8,
    frame: Option<Frame>,
    /// The kind of the message whose fragments are coming.
    begun: Option<Opcode>,
    message: Vec<u8>,
    /// The payload of a control frame, which may stand between fragments.
    control: Vec<u8>,
}

/// A frame whose header has been read.
#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: Opcode,
    is_final: bool,
    /// Bytes of its payload that have not come yet.
    left: u64,
    /// The mask, turned so that its first byte is for the payload's next one.
    mask: [u8; 4],
}

impl Reader {
    /// A reader for messages of at most `message_max` bytes.
    pub(crate) fn new(message_max: usize) -> Reader {
        let (header, header_has) = ([0; HEADER_MAX], 0);
        let (message, control) = (Vec::new(), Vec::new());
        Reader { message_max, header, header_has, frame: None, begun: None, message, control }
    }

    /// Takes a part of `bytes` from their front; returns what became whole with it, if anything did.
    pub(crate) fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Received>, Wrong> {
        let mut frame = match self.frame.take() {
            Some(frame) => frame,
            None => match self.take_header(bytes)? {
                Some(frame) => frame,
                None => return Ok(None),
            },
        };
        let count = bytes.len().min(usize::try_from(frame.left).unwrap_or(usize::MAX));
        let (part, rest) = bytes.split_at(count);
        *bytes = rest;
        let kept = if is_control(frame.opcode) { &mut self.control } else { &mut self.message };
        kept.extend(part.iter().zip(frame.mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        frame.mask.rotate_left(count % 4);
        frame.left -= count as u64;
        if 0 < frame.left {
            self.frame = Some(frame);
            return Ok(None);
        }
        self.whole(frame)
    }

    fn take_header(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, Wrong> {
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            self.header[usize::from(self.header_has)] = *byte;
            self.header_has += 1;
            self.judge()?;
            if usize::from(self.header_has) == self.header_length() {
                let frame = self.frame()?;
                self.header_has = 0;
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Checks the newest byte of the header, if it is one of the first two.
    fn judge(&self) -> Result<(), Wrong> {
        let [first, second, ..] = self.header;
        let is_right = match self.header_has {
            // RFC 6455, 5.2: bits of extensions that were not agreed on are 0; 5.5: a control frame is whole.
            1 => {
                first & 0x70 == 0
                    && opcode(first).is_some_and(|it| !is_control(it) || first & 0x80 != 0)
            }
            // RFC 6455, 5.1: a client masks; 5.5: a control frame has at most 125 bytes.
            2 => second & 0x80 != 0 && (first & 0x08 == 0 || second & 0x7f <= 125),
            _ => true,
        };
        if is_right { Ok(()) } else { Err(Wrong::Protocol) }
    }

    /// As far as the first two bytes show; before them, more than there are.
    fn header_length(&self) -> usize {
        match (self.header_has, self.header[1] & 0x7f) {
            (0 | 1, _) => HEADER_MAX,
            (_, 126) => 8,
            (_, 127) => HEADER_MAX,
            _ => 6,
        }
    }

    /// Checks that the frame that the whole header announces is allowed here.
    fn frame(&self) -> Result<Frame, Wrong> {
        let number =
            |digits: &[u8]| digits.iter().fold(0_u64, |sum, digit| sum << 8 | u64::from(*digit));
        let (left, least, mask_at) = match self.header[1] & 0x7f {
            126 => (number(&self.header[2..4]), 126, 4),
            127 => (number(&self.header[2..10]), 1 << 16, 10),
            short => (u64::from(short), 0, 2),
        };
        // RFC 6455, 5.2: the fewest bytes possible, and the highest bit is 0.
        if left < least || left >> 63 != 0 {
            return Err(Wrong::Protocol);
        }
        let mask = [0, 1, 2, 3].map(|at| self.header[mask_at + at]);
        let opcode = opcode(self.header[0]).ok_or(Wrong::Protocol)?;
        let is_fragment = opcode == Opcode::More;
        if !is_control(opcode) && is_fragment != self.begun.is_some() {
            return Err(Wrong::Protocol);
        }
        let room = (self.message_max - self.message.len()) as u64;
        if !is_control(opcode) && room < left {
            return Err(Wrong::TooLarge);
        }
        Ok(Frame { opcode, is_final: self.header[0] & 0x80 != 0, left, mask })
    }

    fn whole(&mut self, frame: Frame) -> Result<Option<Received>, Wrong> {
        match frame.opcode {
            Opcode::Ping => Ok(Some(Received::Ping(mem::take(&mut self.control)))),
            Opcode::Pong => {
                self.control = Vec::new();
                Ok(Some(Received::Pong))
            }
            Opcode::Close => received_close(&mem::take(&mut self.control)).map(Some),
            opcode @ (Opcode::Text | Opcode::Binary | Opcode::More) => {
                let opcode = self.begun.take().unwrap_or(opcode);
                if !frame.is_final {
                    self.begun = Some(opcode);
                    return Ok(None);
                }
                let message = mem::take(&mut self.message);
                // RFC 6455, 8.1.
                if opcode == Opcode::Text && std::str::from_utf8(&message).is_err() {
                    return Err(Wrong::NotUtf8);
                }
                Ok(Some(Received::Message(opcode, message)))
            }
        }
    }
}

fn opcode(first: u8) -> Option<Opcode> {
    use Opcode::{Binary, Close, More, Ping, Pong, Text};
    let all = [More, Text, Binary, Close, Ping, Pong];
    all.into_iter().find(|opcode| *opcode as u8 == first & 0x0f)
}

fn is_control(opcode: Opcode) -> bool {
    match opcode {
        Opcode::Close | Opcode::Ping | Opcode::Pong => true,
        Opcode::More | Opcode::Text | Opcode::Binary => false,
    }
}

/// RFC 6455, 5.5.1 and 7.4: nothing, or a code that may be sent and a reason in UTF-8.
fn received_close(payload: &[u8]) -> Result<Received, Wrong> {
    let [high, low, reason @ ..] = payload else {
        return if payload.is_empty() { Ok(Received::Close(None)) } else { Err(Wrong::Protocol) };
    };
    let code = u16::from_be_bytes([*high, *low]);
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => match std::str::from_utf8(reason) {
            Ok(_) => Ok(Received::Close(Some(code))),
            Err(_) => Err(Wrong::NotUtf8),
        },
        _ => Err(Wrong::Protocol),
    }
}

/// Appends a frame of the oracle's: whole, and not masked.
pub(crate) fn push_frame(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    out.push(0x80 | opcode as u8);
    match payload.len() {
        length @ 0..=125 => out.push(length as u8),
        length @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuts::cut_at;
    use crate::websocket::frame;
    use proptest::prelude::*;

    /// A client's frame: its first byte, and its payload before it is masked.
    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        frame(first, Some([0x37, 0xfa, 0x21, 0x3d]), payload)
    }

    /// What a reader with a limit of 100,000 bytes understands of these pieces, up to the first fault.
    fn understood(pieces: &[&[u8]]) -> Vec<Result<Received, u16>> {
        let (mut reader, mut seen) = (Reader::new(100_000), Vec::new());
        for piece in pieces {
            let mut bytes = *piece;
            while !bytes.is_empty() {
                match reader.take(&mut bytes) {
                    Ok(None) => {}
                    Ok(Some(received)) => seen.push(Ok(received)),
                    Err(wrong) => {
                        seen.push(Err(wrong.code()));
                        return seen;
                    }
                }
            }
        }
        seen
    }

    fn check(bytes: &[u8], expected: &[Result<Received, u16>]) {
        assert_eq!(understood(&[bytes]), expected, "{:02x?}", &bytes[..bytes.len().min(40)]);
    }

    fn text(text: &str) -> Result<Received, u16> {
        Ok(Received::Message(Opcode::Text, text.into()))
    }

    #[test]
    fn the_rfc_s_own_frames_are_understood() {
        check(b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", &[text("Hello")]);
        check(
            b"\x89\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58",
            &[Ok(Received::Ping(b"Hello".into()))],
        );
    }

    #[test]
    fn fragments_are_joined_and_control_frames_may_stand_between_them() {
        let bytes = [
            masked(0x01, "caf\u{e9}".as_bytes().split_at(4).0),
            masked(0x89, b"p"),
            masked(0x00, b""),
            masked(0x8a, b"no ping"),
            masked(0x80, b"\xa9!"),
            masked(0x82, b"\xff"),
        ];
        let binary = Ok(Received::Message(Opcode::Binary, vec![0xff]));
        let ping = Ok(Received::Ping(b"p".into()));
        check(&bytes.concat(), &[ping, Ok(Received::Pong), text("caf\u{e9}!"), binary]);
    }

    #[test]
    fn lengths_of_all_three_sizes_are_read() {
        for length in [0, 125, 126, 0xffff, 0x1_0000, 100_000] {
            let payload = vec![b'x'; length];
            check(&masked(0x82, &payload), &[Ok(Received::Message(Opcode::Binary, payload))]);
        }
        check(&masked(0x82, &[0; 100_001]), &[Err(1009)]);
        let parts = [masked(0x02, &[0; 60_000]), masked(0x80, &[0; 40_001])];
        check(&parts.concat(), &[Err(1009)]);
    }

    #[test]
    fn what_a_client_must_not_send_is_refused() {
        let protocol: [&[u8]; 12] = [
            b"\x81\x05Hello",
            b"\xc1\x80\0\0\0\0",
            b"\x91\x80\0\0\0\0",
            b"\x83\x80\0\0\0\0",
            b"\x8b\x80\0\0\0\0",
            b"\x09\x80\0\0\0\0",
            b"\x89\xfe\0\x7e\0\0\0\0",
            b"\x81\xfe\0\x7d\0\0\0\0",
            b"\x82\xff\0\0\0\0\0\0\xff\xff\0\0\0\0",
            b"\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0",
            b"\x80\x80\0\0\0\0",
            b"\x01\x80\0\0\0\0\x81\x80\0\0\0\0",
        ];
        for bytes in protocol {
            check(bytes, &[Err(1002)]);
        }
        check(&masked(0x81, b"\xc3\x28"), &[Err(1007)]);
        check(&masked(0x81, b"caf\xc3"), &[Err(1007)]);
        check(&masked(0x81, b"\xed\xa0\x80"), &[Err(1007)]);
    }

    #[test]
    fn a_close_has_a_code_that_may_be_sent_or_none() {
        let received = |payload: &[u8]| understood(&[&masked(0x88, payload)]);
        assert_eq!(received(b""), [Ok(Received::Close(None))]);
        assert_eq!(received(b"\x03\xe8bye"), [Ok(Received::Close(Some(1000)))]);
        assert_eq!(received(b"\x0f\xa0"), [Ok(Received::Close(Some(4000)))]);
        assert_eq!(received(b"\x03"), [Err(1002)]);
        for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000_u16] {
            assert_eq!(received(&code.to_be_bytes()), [Err(1002)], "{code}");
        }
        assert_eq!(received(b"\x03\xe8\xff"), [Err(1007)]);
    }

    #[test]
    fn ours_are_written_in_the_fewest_bytes() {
        let header = |length: usize| {
            let mut out = Vec::new();
            push_frame(Opcode::Binary, &vec![0; length], &mut out);
            out.truncate(out.len() - length);
            out
        };
        assert_eq!(header(125), [0x82, 125]);
        assert_eq!(header(126), [0x82, 126, 0, 126]);
        assert_eq!(header(0xffff), [0x82, 126, 0xff, 0xff]);
        assert_eq!(header(0x1_0000), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_cut_of_the_bytes_means_the_same(
            frames in proptest::collection::vec(
                (prop_oneof![Just(0x81_u8), Just(0x01), Just(0x80), Just(0x00), Just(0x89), Just(0x88), any::<u8>()],
                 proptest::collection::vec(any::<u8>(), 0..300)), 1..6),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(|(first, payload)| masked(*first, payload)).collect();
            prop_assert_eq!(understood(&cut_at(&bytes, &cuts)), understood(&[&bytes]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = understood(&[&bytes]);
        }
    }
}
