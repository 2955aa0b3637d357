//! Two instances that know each other: what goes between them is numbered, and lines are cut and joined. Pure.

use nkeys::KeyPair;

use crate::frame::{Frame, Kind, Nonce};
use crate::machine::{ABSENT_TICKS, QUIET_TICKS, SILENT_TICKS};
use crate::name::Name;

/// No line is longer.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// One end: who it is, and with which key it signs.
pub(crate) struct Identity {
    keys: KeyPair,
    public: String,
    lab: Name,
    name: Name,
    nonce: Nonce,
}

impl Identity {
    pub(crate) fn new(keys: KeyPair, lab: Name, name: Name, nonce: Nonce) -> Identity {
        let public = keys.public_key();
        Identity { keys, public, lab, name, nonce }
    }

    pub(crate) fn lab(&self) -> &Name {
        &self.lab
    }

    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    pub(crate) fn nonce(&self) -> Nonce {
        self.nonce
    }

    /// A frame outside of a session.
    pub(crate) fn greeting(
        &self,
        kind: Kind,
        to: &Name,
        to_nonce: Nonce,
    ) -> Result<Vec<u8>, String> {
        self.frame(kind, to, to_nonce, 0).encode(&self.lab, &self.keys)
    }

    fn frame(&self, kind: Kind, to: &Name, to_nonce: Nonce, counter: u64) -> Frame {
        Frame {
            kind,
            key: self.public.clone(),
            from: self.name.clone(),
            to: to.clone(),
            from_nonce: self.nonce,
            to_nonce,
            counter,
            piece: 0,
            pieces: 1,
            payload: Vec::new(),
        }
    }
}

/// What a peer's frame says, once it has been accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A whole line.
    Line(Vec<u8>),
    /// Nothing: it lives, or more of a line will follow.
    Alive,
    Blinked(u32),
    Bye,
}

/// A session with one instance of a peer.
pub(crate) struct Link {
    peer: Name,
    key: String,
    nonce: Nonce,
    sent: u64,
    received: u64,
    joined: Joined,
    /// Ticks since the last frame from the peer, and to it.
    silent: u32,
    quiet: u32,
    /// The broker said that the peer is not there, and nothing has come since.
    pub(crate) is_absent: bool,
}

/// The pieces of a line that have come so far.
#[derive(Default)]
struct Joined {
    bytes: Vec<u8>,
    pieces: u16,
    next: u16,
}

impl Link {
    pub(crate) fn new(peer: Name, key: String, nonce: Nonce) -> Link {
        let joined = Joined::default();
        let (sent, received, silent, quiet, is_absent) = (0, 0, 0, 0, false);
        Link { peer, key, nonce, sent, received, joined, silent, quiet, is_absent }
    }

    /// A tick has passed. Says what the peer has done, if it is lost.
    pub(crate) fn tick(&mut self) -> Option<String> {
        self.silent += 1;
        self.quiet += 1;
        let seconds = self.silent / 4;
        if self.is_absent && ABSENT_TICKS <= self.silent {
            return Some(format!("has left the broker: not heard of for {seconds} s"));
        }
        (SILENT_TICKS <= self.silent).then(|| format!("was silent for {seconds} s"))
    }

    /// Whether the peer needs a sign of life.
    pub(crate) fn is_quiet(&self) -> bool {
        QUIET_TICKS <= self.quiet
    }

    /// A frame of this kind.
    pub(crate) fn send(
        &mut self,
        me: &Identity,
        kind: Kind,
        payload: &[u8],
    ) -> Result<Vec<u8>, String> {
        self.send_piece(me, kind, (0, 1), payload)
    }

    /// The frames that a line becomes, with at most `most` of its bytes in each.
    pub(crate) fn send_line(
        &mut self,
        me: &Identity,
        line: &[u8],
        most: usize,
    ) -> Result<Vec<Vec<u8>>, String> {
        let pieces = u16::try_from(line.len().div_ceil(most).max(1));
        let pieces = pieces.map_err(|_| "the line has too many pieces".to_string())?;
        let mut parts = line.chunks(most);
        let part = |piece| {
            self.send_piece(me, Kind::Line, (piece, pieces), parts.next().unwrap_or_default())
        };
        (0..pieces).map(part).collect()
    }

    fn send_piece(
        &mut self,
        me: &Identity,
        kind: Kind,
        (piece, pieces): (u16, u16),
        payload: &[u8],
    ) -> Result<Vec<u8>, String> {
        self.quiet = 0;
        self.sent += 1;
        let payload = payload.to_vec();
        let frame = me.frame(kind, &self.peer, self.nonce, self.sent);
        Frame { piece, pieces, payload, ..frame }.encode(&me.lab, &me.keys)
    }

    /// Whether the frame comes from the instance at the other end.
    pub(crate) fn is_of(&self, frame: &Frame) -> bool {
        frame.from == self.peer && frame.from_nonce == self.nonce && frame.key == self.key
    }

    /// Accepts a frame of the peer that is new, and says what it means; otherwise, why it is dropped.
    pub(crate) fn receive(&mut self, frame: Frame) -> Result<Said, String> {
        if frame.counter <= self.received {
            let (counter, last) = (frame.counter, self.received);
            return Err(format!("it has number {counter}, and number {last} has been seen"));
        }
        let is_next = frame.counter == self.received + 1;
        self.received = frame.counter;
        let said = match frame.kind {
            Kind::Line => self.join(&frame, is_next)?,
            Kind::Alive => Said::Alive,
            Kind::Bye => Said::Bye,
            Kind::Blinked => {
                let bytes = frame.payload.try_into();
                let bytes = bytes.map_err(|_| "it should have a duration".to_string())?;
                Said::Blinked(u32::from_be_bytes(bytes))
            }
            Kind::Hello | Kind::Welcome | Kind::Busy => return Err("it is a greeting".into()),
        };
        (self.silent, self.is_absent) = (0, false);
        Ok(said)
    }

    fn join(&mut self, frame: &Frame, is_next: bool) -> Result<Said, String> {
        let joined = &mut self.joined;
        if frame.piece == 0 {
            *joined = Joined { bytes: Vec::new(), pieces: frame.pieces, next: 0 };
        }
        let follows = joined.next == frame.piece && joined.pieces == frame.pieces;
        if !follows || (0 < frame.piece && !is_next) {
            *joined = Joined::default();
            return Err("the piece of the line before it is missing".into());
        }
        if MAX_LINE < joined.bytes.len() + frame.payload.len() {
            *joined = Joined::default();
            return Err("the line is longer than 4 MiB".into());
        }
        joined.bytes.extend_from_slice(&frame.payload);
        joined.next += 1;
        if joined.next < joined.pieces {
            return Ok(Said::Alive);
        }
        let line = std::mem::take(joined).bytes;
        is_one_line(&line)?;
        Ok(Said::Line(line))
    }
}

/// What comes from outside stays one line where it is printed, and is not taken for one of this program's own, which
/// begin with `!`.
fn is_one_line(line: &[u8]) -> Result<(), String> {
    if line.is_empty() {
        return Err("the line is empty".into());
    }
    if line.starts_with(b"!") {
        return Err("the line begins with `!`".into());
    }
    if line.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) || str::from_utf8(line).is_err() {
        return Err("the line is not one line of text".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ends that know each other, and the receiver's lab.
    fn pair() -> (Identity, Link, Link, Name) {
        let (lab, a, b) = ("lab", "desk3", "coordinator");
        let [lab, a, b] = [lab, a, b].map(|name| Name::parse(name).unwrap());
        let keys = KeyPair::new_user();
        let key = keys.public_key();
        let me = Identity::new(keys, lab.clone(), a.clone(), Nonce([1; 16]));
        let sender = Link::new(b, "U".into(), Nonce([2; 16]));
        (me, sender, Link::new(a, key, Nonce([1; 16])), lab)
    }

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|place| b'a' + (place % 26) as u8).collect()
    }

    #[test]
    fn a_line_is_cut_and_joined_at_any_length() {
        for (length, most) in [(1, 1), (10, 3), (9, 3), (1000, 1000), (MAX_LINE, 1 << 18)] {
            let (me, mut sender, mut receiver, lab) = pair();
            let frames = sender.send_line(&me, &text(length), most).unwrap();
            assert_eq!(frames.len(), length.div_ceil(most));
            let mut said: Vec<Said> = frames
                .iter()
                .map(|bytes| receiver.receive(Frame::decode(bytes, &lab).unwrap()).unwrap())
                .collect();
            assert_eq!(said.pop(), Some(Said::Line(text(length))));
            assert!(said.iter().all(|said| *said == Said::Alive));
        }
    }

    /// The mutation that a broker can make: which frames arrive, how often, and in which order.
    #[test]
    fn whatever_a_broker_does_with_frames_whole_lines_arrive_once_in_their_order_or_not_at_all() {
        let mut seed = 1u64;
        let mut chance = |of: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % of
        };
        for _ in 0..40 {
            let (me, mut sender, mut receiver, lab) = pair();
            let lines: Vec<Vec<u8>> = (0..12).map(|number| text(1 + number * 7)).collect();
            let frames = lines.iter().flat_map(|line| sender.send_line(&me, line, 16).unwrap());
            let mut frames: Vec<Vec<u8>> = frames.collect();
            for _ in 0..chance(8) {
                let (a, b) = (chance(frames.len()), chance(frames.len()));
                match chance(3) {
                    0 => frames.swap(a, b),
                    1 => frames.insert(a, frames[b].clone()),
                    _ => drop(frames.remove(a)),
                }
            }
            let said =
                frames.iter().filter_map(|it| receiver.receive(Frame::decode(it, &lab).ok()?).ok());
            let mut expected = lines.iter();
            for said in said.filter(|said| *said != Said::Alive) {
                let Said::Line(line) = said else { panic!("{said:?}") };
                assert!(expected.any(|sent| *sent == line), "a line twice, early or changed");
            }
        }
    }

    #[test]
    fn a_line_that_would_grow_beyond_4_mib_is_dropped_before_it_is_kept() {
        let (me, mut sender, mut receiver, lab) = pair();
        let frames = sender.send_line(&me, &text(MAX_LINE + 1), 1 << 18).unwrap();
        let mut said: Vec<_> = frames
            .iter()
            .map(|bytes| receiver.receive(Frame::decode(bytes, &lab).unwrap()))
            .collect();
        assert!(said.pop().unwrap().unwrap_err().contains("longer than 4 MiB"));
        assert!(receiver.joined.bytes.is_empty());
    }

    #[test]
    fn lines_that_would_be_taken_for_others_are_dropped() {
        for bad in ["", "!blinked 3", "a\ndesk2 {}", "a\r", "a\0"] {
            let (me, mut sender, mut receiver, lab) = pair();
            let frames = sender.send_line(&me, bad.as_bytes(), 100).unwrap();
            let said = receiver.receive(Frame::decode(&frames[0], &lab).unwrap());
            assert!(said.unwrap_err().starts_with("the line "), "{bad:?}");
        }
    }

    #[test]
    fn a_blink_has_a_duration() {
        let (me, mut sender, mut receiver, lab) = pair();
        let good = sender.send(&me, Kind::Blinked, &412u32.to_be_bytes()).unwrap();
        let bad = sender.send(&me, Kind::Blinked, b"412").unwrap();
        let mut receive = |bytes: &[u8]| receiver.receive(Frame::decode(bytes, &lab).unwrap());
        assert_eq!(receive(&good), Ok(Said::Blinked(412)));
        assert!(receive(&bad).is_err());
    }
}
