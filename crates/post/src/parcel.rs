//! What is too long for a line goes in parts. A part is sent again until it is acknowledged, and what has come is used
//! only if all of it is there and has the digest that every part names.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::line::{LineError, read};
use crate::message::Task;
use crate::{MILLISECOND, Nanos, hex};

/// No part is longer: as base64 it fits a message of 1 MiB, which is what NATS carries as it is installed.
pub const PART_MAX: usize = 512 << 10;
/// No order is longer, its bodies included.
pub const ORDER_MAX: usize = 128 << 20;
/// No result is longer.
pub const RESULT_MAX: usize = 256 << 20;

/// So many parts may be on their way at once.
const UNDER_WAY: usize = 4;
/// A part that is not acknowledged is sent again.
const AGAIN: Nanos = 700 * MILLISECOND;

/// A part of an order or of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parcel {
    /// From 0.
    pub number: u32,
    pub of: u32,
    /// The SHA-256 of the whole, in hexadecimal digits.
    pub digest: String,
    #[serde(with = "text")]
    pub bytes: Vec<u8>,
}

/// An order, as its parcels have it.
pub fn encode_task(task: &Task) -> Result<Vec<u8>, LineError> {
    written(task, ORDER_MAX)
}

/// A result or any other value, as its parcels have it.
pub fn encode_whole<T: Serialize>(value: &T) -> Result<Vec<u8>, LineError> {
    written(value, RESULT_MAX)
}

pub fn decode_whole<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LineError> {
    read(bytes)
}

pub(crate) fn written<T: Serialize>(value: &T, most: usize) -> Result<Vec<u8>, LineError> {
    let bytes = serde_json::to_vec(value).map_err(|error| LineError::Wrong(error.to_string()))?;
    match bytes.len() <= most {
        true => Ok(bytes),
        false => {
            Err(LineError::Wrong(format!("it has {} bytes, and {most} are the most", bytes.len())))
        }
    }
}

/// Bytes as base64.
pub(crate) mod text {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes that are to be on the other side.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    digest: String,
    of: usize,
    /// All parts before this one are acknowledged.
    first: usize,
    /// When each part from `first` on was sent last; none if it is acknowledged.
    sent: Vec<Option<Nanos>>,
}

impl Outbox {
    pub(crate) fn new(bytes: Vec<u8>) -> Outbox {
        let (digest, of) = (digest(&bytes), bytes.len().div_ceil(PART_MAX).max(1));
        Outbox { bytes, digest, of, first: 0, sent: Vec::new() }
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// All parts, in their order.
    pub(crate) fn into_parcels(self) -> impl Iterator<Item = Parcel> {
        (0..self.of).map(move |number| self.parcel(number))
    }

    pub(crate) fn is_done(&self) -> bool {
        self.first == self.of
    }

    pub(crate) fn acknowledge(&mut self, number: u32) {
        if let Some(place) = (number as usize).checked_sub(self.first)
            && let Some(sent) = self.sent.get_mut(place)
        {
            *sent = None;
        }
        let done = self.sent.iter().take_while(|sent| sent.is_none()).count();
        self.sent.drain(..done);
        self.first += done;
    }

    /// The parts that are to be sent now.
    pub(crate) fn due(&mut self, now: Nanos) -> Vec<Parcel> {
        let mut due = Vec::new();
        for (place, sent) in self.sent.iter_mut().enumerate() {
            if sent.is_some_and(|sent| sent + AGAIN <= now) {
                *sent = Some(now);
                due.push(self.first + place);
            }
        }
        while self.sent.len() < UNDER_WAY && self.first + self.sent.len() < self.of {
            due.push(self.first + self.sent.len());
            self.sent.push(Some(now));
        }
        due.into_iter().map(|number| self.parcel(number)).collect()
    }

    fn parcel(&self, number: usize) -> Parcel {
        let from = number * PART_MAX;
        let until = self.bytes.len().min(from + PART_MAX);
        Parcel {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            of: u32::try_from(self.of).unwrap_or(u32::MAX),
            digest: self.digest.clone(),
            bytes: self.bytes[from..until].to_vec(),
        }
    }
}

/// The parts that have come.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// How many bytes all of them may have.
    most: usize,
    of: u32,
    digest: String,
    parts: Vec<Option<Vec<u8>>>,
    is_whole: bool,
}

impl Inbox {
    pub(crate) fn new(most: usize) -> Inbox {
        Inbox { most, of: 0, digest: String::new(), parts: Vec::new(), is_whole: false }
    }

    /// Takes a part; returns the whole, once, when the last missing part comes.
    pub(crate) fn take(&mut self, parcel: Parcel) -> Result<Option<Vec<u8>>, String> {
        if self.is_whole {
            return Ok(None);
        }
        let Parcel { number, of, digest: named, bytes } = parcel;
        if self.of == 0 {
            if of == 0 || self.most.div_ceil(PART_MAX).max(1) < of as usize {
                return Err(format!("{of} parts are not between 1 and what is allowed"));
            }
            (self.of, self.digest) = (of, named.clone());
            self.parts = vec![None; of as usize];
        }
        if (of, &named) != (self.of, &self.digest) {
            return Err("two parts are not of the same whole".into());
        }
        let is_last = number.checked_add(1) == Some(of);
        let is_right_long = if is_last { bytes.len() <= PART_MAX } else { bytes.len() == PART_MAX };
        let Some(part) = self.parts.get_mut(number as usize).filter(|_| is_right_long) else {
            return Err(format!("part {number} of {of} has {} bytes", bytes.len()));
        };
        if part.is_some() {
            return Ok(None);
        }
        *part = Some(bytes);
        if self.parts.iter().any(Option::is_none) {
            return Ok(None);
        }
        let whole: Vec<u8> = self.parts.iter_mut().filter_map(Option::take).flatten().collect();
        self.is_whole = true;
        match digest(&whole) == self.digest {
            true => Ok(Some(whole)),
            false => Err("the parts do not have the digest that they name".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|place| (place * 7 % 251) as u8).collect()
    }

    #[test]
    fn what_is_lost_comes_again_and_the_whole_is_what_was_sent() {
        for length in [0, 1, PART_MAX, PART_MAX + 1, 9 * PART_MAX - 5] {
            let mut outbox = Outbox::new(bytes(length));
            let mut inbox = Inbox::new(ORDER_MAX);
            let (mut now, mut whole, mut turn) = (0, None, 0);
            while !outbox.is_done() {
                for parcel in outbox.due(now) {
                    turn += 1;
                    let number = parcel.number;
                    // Every third part is lost, every fifth acknowledgement, and the others come twice.
                    if turn % 3 == 0 {
                        continue;
                    }
                    whole = inbox.take(parcel.clone()).unwrap().or(whole);
                    assert_eq!(inbox.take(parcel), Ok(None));
                    if turn % 5 != 0 {
                        outbox.acknowledge(number);
                    }
                }
                now += AGAIN;
            }
            assert_eq!(whole, Some(bytes(length)));
            assert!(turn < 60, "{turn}");
        }
    }

    #[test]
    fn parts_that_are_not_of_one_whole_are_refused() {
        let whole = bytes(2 * PART_MAX);
        let parcels = || Outbox::new(whole.clone()).due(0);
        let refused = |parcel: Parcel| {
            let mut inbox = Inbox::new(RESULT_MAX);
            assert_eq!(inbox.take(parcels()[0].clone()), Ok(None));
            inbox.take(parcel).unwrap_err()
        };
        let mut wrong = parcels()[1].clone();
        wrong.bytes[9] ^= 1;
        assert!(refused(wrong).contains("digest"));
        assert!(refused(Parcel { digest: String::new(), ..parcels()[1].clone() }).contains("same"));
        assert!(refused(Parcel { number: 2, ..parcels()[1].clone() }).contains("part 2 of 2"));
        let long = Parcel { bytes: bytes(PART_MAX + 1), ..parcels()[1].clone() };
        assert!(refused(long).contains("bytes"));
        let vast = Parcel { of: u32::MAX, ..parcels()[0].clone() };
        assert!(Inbox::new(RESULT_MAX).take(vast).is_err(), "nothing is allocated for it");
        assert!(Inbox::new(RESULT_MAX).take(Parcel { of: 0, ..parcels()[0].clone() }).is_err());
    }

    #[test]
    fn only_a_few_parts_are_on_their_way_at_once() {
        let mut outbox = Outbox::new(bytes(10 * PART_MAX));
        assert_eq!(outbox.due(0).len(), UNDER_WAY);
        assert_eq!(outbox.due(1).len(), 0);
        outbox.acknowledge(2);
        assert_eq!(outbox.due(2).len(), 0, "the first is still awaited");
        outbox.acknowledge(0);
        assert_eq!(outbox.due(3).iter().map(|parcel| parcel.number).collect::<Vec<_>>(), [4]);
        outbox.acknowledge(99);
        assert_eq!(outbox.due(AGAIN).len(), 2, "1 and 3; 4 was sent later");
    }
}
