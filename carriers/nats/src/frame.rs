//! One message on the wire: a signed head, and a line or a part of one. Pure.
//!
//! What is signed begins with the byte FF. A broker lets its clients sign a text of its choice when they connect, with
//! the same key; FF is in no text, so no signature of that kind is ever one of a frame.

use std::fmt;

use nkeys::KeyPair;

use crate::name::Name;

const MAGIC: &[u8] = b"\xffdyno-nats";
const VERSION: u8 = 1;
const KEY_BYTES: usize = 56;
const NONCE_BYTES: usize = 16;
const SIGNATURE_BYTES: usize = 64;
/// What a frame has beside its payload, at most.
pub(crate) const OVERHEAD: usize =
    MAGIC.len() + 2 + KEY_BYTES + 2 * NONCE_BYTES + 8 + 4 + 3 * 64 + SIGNATURE_BYTES;

/// A frame does not carry more of a line, so that small frames do not wait for long.
pub(crate) const MOST_PAYLOAD: usize = 256 << 10;

/// Which instance of a program speaks: drawn when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nonce(pub(crate) [u8; NONCE_BYTES]);

impl Nonce {
    /// Stands for an instance that is not known yet.
    pub(crate) const NONE: Nonce = Nonce([0; NONCE_BYTES]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A coordinator looks for an agent.
    Hello = 1,
    /// The agent's answer, for this instance of the coordinator.
    Welcome = 2,
    /// The agent's other answer: it works for another coordinator.
    Busy = 3,
    /// A line, or a part of one.
    Line = 4,
    /// Nothing else was to be said.
    Alive = 5,
    /// The sender could not reach the broker for a while, in milliseconds.
    Blinked = 6,
    /// The sender ends.
    Bye = 7,
}

impl Kind {
    const ALL: [Kind; 7] =
        [Kind::Hello, Kind::Welcome, Kind::Busy, Kind::Line, Kind::Alive, Kind::Blinked, Kind::Bye];

    fn of(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// Whether it belongs to a pair of instances that know each other, and so has a counter.
    pub(crate) fn is_in_session(self) -> bool {
        matches!(self, Kind::Line | Kind::Alive | Kind::Blinked | Kind::Bye)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    /// The sender's public key, as nkeys write it.
    pub(crate) key: String,
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) from_nonce: Nonce,
    pub(crate) to_nonce: Nonce,
    /// Rises from frame to frame of a session; 0 outside of one.
    pub(crate) counter: u64,
    /// This is part `piece` of `pieces`, counted from 0.
    pub(crate) piece: u16,
    pub(crate) pieces: u16,
    pub(crate) payload: Vec<u8>,
}

/// Why bytes are no frame for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotAFrame,
    Version(u8),
    Malformed(&'static str),
    Lab,
    Signature,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotAFrame => out.write_str("it is no frame of dyno-nats"),
            Fault::Version(version) => {
                write!(
                    out,
                    "it has version {version} of the frames, and this program has {VERSION}"
                )
            }
            Fault::Malformed(part) => write!(out, "its {part} is malformed"),
            Fault::Lab => out.write_str("it belongs to another lab"),
            Fault::Signature => out.write_str("its signature is wrong"),
        }
    }
}

impl Frame {
    /// The frame's bytes, signed with `keys`, whose public half must be `key`.
    pub(crate) fn encode(&self, lab: &Name, keys: &KeyPair) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(OVERHEAD + self.payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[VERSION, self.kind as u8]);
        bytes.extend_from_slice(self.key.as_bytes());
        bytes.extend_from_slice(&self.from_nonce.0);
        bytes.extend_from_slice(&self.to_nonce.0);
        bytes.extend_from_slice(&self.counter.to_be_bytes());
        bytes.extend_from_slice(&self.piece.to_be_bytes());
        bytes.extend_from_slice(&self.pieces.to_be_bytes());
        for name in [lab, &self.from, &self.to] {
            // A name has at most 63 bytes.
            bytes.push(name.as_str().len() as u8);
            bytes.extend_from_slice(name.as_str().as_bytes());
        }
        bytes.extend_from_slice(&self.payload);
        let signature = keys.sign(&bytes).map_err(|error| format!("cannot sign: {error}"))?;
        bytes.extend_from_slice(&signature);
        Ok(bytes)
    }

    /// Judges all that one frame can be judged by: its form, its lab, and that the owner of the key in it signed it.
    /// Whose key that is, and whether the frame is new, is for the caller to judge.
    pub(crate) fn decode(bytes: &[u8], lab: &Name) -> Result<Frame, Fault> {
        if !bytes.starts_with(MAGIC) {
            return Err(Fault::NotAFrame);
        }
        let signed = bytes.len().checked_sub(SIGNATURE_BYTES).ok_or(Fault::Malformed("length"))?;
        if OVERHEAD + MOST_PAYLOAD < bytes.len() {
            return Err(Fault::Malformed("length"));
        }
        let (signed, signature) = bytes.split_at(signed);
        let mut rest = Rest(signed.strip_prefix(MAGIC).ok_or(Fault::Malformed("length"))?);
        match rest.byte()? {
            VERSION => {}
            other => return Err(Fault::Version(other)),
        }
        let kind = Kind::of(rest.byte()?).ok_or(Fault::Malformed("kind"))?;
        let key = rest.take(KEY_BYTES)?;
        let key = std::str::from_utf8(key).map_err(|_| Fault::Malformed("key"))?.to_string();
        let from_nonce = Nonce(rest.array()?);
        let to_nonce = Nonce(rest.array()?);
        let counter = u64::from_be_bytes(rest.array()?);
        let piece = u16::from_be_bytes(rest.array()?);
        let pieces = u16::from_be_bytes(rest.array()?);
        let in_lab = rest.name()?;
        let (from, to) = (rest.name()?, rest.name()?);
        if piece >= pieces {
            return Err(Fault::Malformed("number of pieces"));
        }
        if in_lab != *lab {
            return Err(Fault::Lab);
        }
        let signer = KeyPair::from_public_key(&key).map_err(|_| Fault::Malformed("key"))?;
        signer.verify(signed, signature).map_err(|_| Fault::Signature)?;
        let payload = rest.0.to_vec();
        Ok(Frame { kind, key, from, to, from_nonce, to_nonce, counter, piece, pieces, payload })
    }
}

/// What of a frame was not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Fault::Malformed("length"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.take(N)?.try_into().map_err(|_| Fault::Malformed("length"))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.array::<1>()?[0])
    }

    fn name(&mut self) -> Result<Name, Fault> {
        let length = self.byte()?;
        let name = std::str::from_utf8(self.take(length.into())?);
        name.ok().and_then(|name| Name::parse(name).ok()).ok_or(Fault::Malformed("name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> Name {
        Name::parse("lab").unwrap()
    }

    fn frame(keys: &KeyPair) -> Frame {
        Frame {
            kind: Kind::Line,
            key: keys.public_key(),
            from: Name::parse("desk3").unwrap(),
            to: Name::coordinator(),
            from_nonce: Nonce([7; 16]),
            to_nonce: Nonce([9; 16]),
            counter: u64::MAX,
            piece: 2,
            pieces: 3,
            payload: b"{\"beat\":1}".to_vec(),
        }
    }

    #[test]
    fn a_frame_comes_back_as_it_was_sent() {
        let keys = KeyPair::new_user();
        for kind in Kind::ALL {
            let frame = Frame { kind, ..frame(&keys) };
            let bytes = frame.encode(&lab(), &keys).unwrap();
            assert!(bytes.len() <= OVERHEAD + frame.payload.len());
            assert_eq!(Frame::decode(&bytes, &lab()), Ok(frame));
        }
    }

    #[test]
    fn the_longest_names_are_within_the_overhead() {
        let keys = KeyPair::new_user();
        let long = Name::parse(&"x".repeat(63)).unwrap();
        let frame = Frame { from: long.clone(), to: long.clone(), ..frame(&keys) };
        let bytes = frame.encode(&long, &keys).unwrap();
        assert_eq!(bytes.len(), OVERHEAD + frame.payload.len());
    }

    #[test]
    fn no_bit_can_be_changed_and_no_byte_added_or_taken_away() {
        let keys = KeyPair::new_user();
        let bytes = frame(&keys).encode(&lab(), &keys).unwrap();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut mutated = bytes.clone();
                mutated[place] ^= 1 << bit;
                assert!(Frame::decode(&mutated, &lab()).is_err(), "bit {bit} of byte {place}");
            }
            assert!(Frame::decode(&bytes[..place], &lab()).is_err(), "{place} bytes of it");
            let mut longer = bytes.clone();
            longer.insert(place, bytes[place]);
            assert!(Frame::decode(&longer, &lab()).is_err(), "a byte more at {place}");
        }
    }

    #[test]
    fn what_has_the_right_form_but_another_signer_is_refused() {
        let (keys, others) = (KeyPair::new_user(), KeyPair::new_user());
        let bytes = frame(&keys).encode(&lab(), &others).unwrap();
        assert_eq!(Frame::decode(&bytes, &lab()), Err(Fault::Signature));
    }

    #[test]
    fn frames_of_other_labs_and_versions_and_texts_are_refused_by_what_is_wrong() {
        let keys = KeyPair::new_user();
        let elsewhere = Name::parse("elsewhere").unwrap();
        let bytes = frame(&keys).encode(&elsewhere, &keys).unwrap();
        assert_eq!(Frame::decode(&bytes, &lab()), Err(Fault::Lab));
        let mut newer = frame(&keys).encode(&lab(), &keys).unwrap();
        newer[MAGIC.len()] = 9;
        assert_eq!(Frame::decode(&newer, &lab()), Err(Fault::Version(9)));
        for text in ["", "{\"beat\":1}", "dyno-nats"] {
            assert_eq!(Frame::decode(text.as_bytes(), &lab()), Err(Fault::NotAFrame));
        }
        let none = Frame { piece: 0, pieces: 0, ..frame(&keys) }.encode(&lab(), &keys).unwrap();
        assert_eq!(Frame::decode(&none, &lab()), Err(Fault::Malformed("number of pieces")));
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_hashed() {
        let keys = KeyPair::new_user();
        let payload = vec![b'x'; MOST_PAYLOAD + OVERHEAD];
        let bytes = Frame { payload, ..frame(&keys) }.encode(&lab(), &keys).unwrap();
        assert_eq!(Frame::decode(&bytes, &lab()), Err(Fault::Malformed("length")));
    }

    /// See the head of this file.
    #[test]
    fn what_is_signed_is_no_text_that_a_broker_could_ask_to_be_signed() {
        let keys = KeyPair::new_user();
        let bytes = frame(&keys).encode(&lab(), &keys).unwrap();
        assert!(std::str::from_utf8(&bytes[..bytes.len() - SIGNATURE_BYTES]).is_err());
        assert!(std::str::from_utf8(&bytes[..1]).is_err());
    }
}
