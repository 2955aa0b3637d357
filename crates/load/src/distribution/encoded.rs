//! Reads and writes a histogram in HdrHistogram's V2 format, and writes it with deflate.
//!
//! Bytes may come from anywhere: 40 of them may claim a payload of 4 GiB, or values to `u64::MAX` with five digits. So
//! nothing is made of any that have not been judged here first, without allocating.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use units::named;

use super::places::{OCTAVE, octaves};
use super::{DIGITS, LOWEST};

named! {
    /// Why bytes are not one of dyno's histograms.
    pub enum EncodedError {
        Short = "a histogram shorter than its header",
        /// Or compressed.
        Format = "not a histogram in HdrHistogram's V2 format",
        Configuration = "a histogram of another precision or range than ours",
        /// Or longer than its counts can be.
        Length = "a histogram whose length is not what its header says",
        Count = "a histogram whose counts reach beyond its range or its end",
        Censored = "a histogram with more censored values than values",
    }
}

impl std::error::Error for EncodedError {}

const COOKIE: u32 = 0x1c84_9303 | 0x10;
/// With deflate.
const DEFLATED_COOKIE: u32 = 0x1c84_9304 | 0x10;
const HEADER_LEN: usize = 40;
/// No count is larger in this format.
pub(super) const TIMES_MAX: u64 = i64::MAX as u64;
/// A count takes no more bytes than this.
const COUNT_LEN_MAX: usize = 9;
/// How many values the histogram holds, if it is sound.
pub(super) fn judge(bytes: &[u8]) -> Result<u64, EncodedError> {
    let Some((header, payload)) = bytes.split_at_checked(HEADER_LEN) else {
        return Err(EncodedError::Short);
    };
    let half = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let whole = |at: usize| u64::from_be_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let (cookie, payload_len, offset, digits) = (half(0), half(4), half(8), half(12));
    let (lowest, highest, ratio) = (whole(16), whole(24), f64::from_bits(whole(32)));
    if cookie != COOKIE {
        return Err(EncodedError::Format);
    }
    let is_ours = offset == 0
        && digits == u32::from(DIGITS)
        && lowest == LOWEST
        && 2 <= highest
        && ratio.to_bits() == 1.0_f64.to_bits();
    if !is_ours {
        return Err(EncodedError::Configuration);
    }
    let places = places(highest);
    if payload.len() != payload_len as usize || COUNT_LEN_MAX * places < payload.len() {
        return Err(EncodedError::Length);
    }
    walk(payload, places as u64)
}

/// Up to which value sound bytes distinguish values.
pub(super) fn highest(bytes: &[u8]) -> u64 {
    bytes.get(24..32).and_then(|it| it.try_into().ok()).map_or(0, u64::from_be_bytes)
}

/// The sum of two histograms whose bytes are sound; none if they do not distinguish the same values.
pub(super) fn sum(one: &[u8], other: &[u8]) -> Option<Box<[u8]>> {
    let (header, counts) = one.split_at_checked(HEADER_LEN)?;
    let (other_header, other_counts) = other.split_at_checked(HEADER_LEN)?;
    if header[..4] != other_header[..4] || header[8..] != other_header[8..] {
        return None;
    }
    let (mut ours, mut theirs) =
        (Counts::of(counts).peekable(), Counts::of(other_counts).peekable());
    let mut sums = Vec::new();
    loop {
        let next =
            [ours.peek(), theirs.peek()].into_iter().flatten().map(|(place, _)| *place).min();
        let Some(place) = next else { break };
        let here = [&mut ours, &mut theirs].map(|counts| counts.next_if(|count| count.0 == place));
        let counts = here.into_iter().flatten();
        sums.push((place, counts.map(|count| count.1).try_fold(0, u64::checked_add)?));
    }
    written(highest(one), sums.into_iter())
}

/// The bytes of a histogram that distinguishes values up to `highest`, from its counts in the order of their places; none
/// if a count is larger than the format can hold.
pub(super) fn written(highest: u64, counts: impl Iterator<Item = (u64, u64)>) -> Option<Box<[u8]>> {
    let mut bytes = Vec::with_capacity(HEADER_LEN);
    for half in [COOKIE, 0, 0, u32::from(DIGITS)] {
        bytes.extend(half.to_be_bytes());
    }
    for whole in [LOWEST, highest, 1.0_f64.to_bits()] {
        bytes.extend(whole.to_be_bytes());
    }
    let mut next = 0;
    for (place, times) in counts {
        match place - next {
            0 => {}
            1 => push(0, &mut bytes),
            zeros => push(-i64::try_from(zeros).ok()?, &mut bytes),
        }
        push(i64::try_from(times).ok()?, &mut bytes);
        next = place + 1;
    }
    // Of no values at all, one zero is written.
    if next == 0 {
        push(0, &mut bytes);
    }
    let len = u32::try_from(bytes.len() - HEADER_LEN).ok()?;
    bytes[4..8].copy_from_slice(&len.to_be_bytes());
    Some(bytes.into())
}

/// Such bytes with deflate.
pub(super) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let payload = written.expect("writing to memory cannot fail");
    let len = u32::try_from(payload.len()).expect("a histogram has no more than half a megabyte");
    [&DEFLATED_COOKIE.to_be_bytes(), &len.to_be_bytes(), &payload[..]].concat()
}

/// The places of sound bytes that have values, and how many.
pub(super) fn counts(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    Counts::of(bytes.get(HEADER_LEN..).unwrap_or_default())
}

/// The places that have values, and how many.
struct Counts<'b> {
    payload: &'b [u8],
    place: u64,
}

impl<'b> Counts<'b> {
    fn of(payload: &'b [u8]) -> Counts<'b> {
        Counts { payload, place: 0 }
    }
}

impl Iterator for Counts<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        loop {
            let (number, rest) = number(self.payload)?;
            self.payload = rest;
            let at = self.place;
            self.place += if number < 0 { number.unsigned_abs() } else { 1 };
            if 0 < number {
                return Some((at, number.unsigned_abs()));
            }
        }
    }
}

/// Writes a number as `number` reads it.
fn push(number: i64, bytes: &mut Vec<u8>) {
    let mut encoded = (number << 1 ^ number >> 63) as u64;
    for _ in 1..COUNT_LEN_MAX {
        if encoded < 0x80 {
            break;
        }
        bytes.push(encoded as u8 | 0x80);
        encoded >>= 7;
    }
    bytes.push(encoded as u8);
}

/// How many counts a histogram up to `highest` has: at most 56,320, which are 440 KiB.
fn places(highest: u64) -> usize {
    octaves(highest) * OCTAVE
}

/// Adds up the counts: each is a number, or, if negative, a run of that many zeros.
fn walk(mut payload: &[u8], places: u64) -> Result<u64, EncodedError> {
    let (mut place, mut count) = (0_u64, 0_u64);
    while !payload.is_empty() {
        let (number, rest) = number(payload).ok_or(EncodedError::Count)?;
        let step = if number < 0 { number.unsigned_abs() } else { 1 };
        place =
            place.checked_add(step).filter(|place| *place <= places).ok_or(EncodedError::Count)?;
        let here = u64::try_from(number).unwrap_or(0);
        count = count.checked_add(here).ok_or(EncodedError::Count)?;
        payload = rest;
    }
    Ok(count)
}

/// The next number, which is ZigZag and LEB128 with a ninth byte of eight bits, and what follows it.
fn number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut encoded = 0;
    for (index, &byte) in bytes.iter().take(COUNT_LEN_MAX).enumerate() {
        let is_ninth = index + 1 == COUNT_LEN_MAX;
        let bits = if is_ninth { byte } else { byte & 0x7f };
        encoded |= u64::from(bits) << (7 * index);
        if is_ninth || byte < 0x80 {
            let number = (encoded >> 1) as i64 ^ -((encoded & 1) as i64);
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::distribution::tests::by_the_library;
    use crate::distribution::{Distribution, Folded};

    fn folded(max: u64, values: &[u64]) -> Folded {
        let mut distribution = Distribution::new(max);
        values.iter().for_each(|&value| distribution.record(value));
        Folded::of(&distribution)
    }

    fn with(at: usize, byte: u8) -> Vec<u8> {
        let mut bytes = folded(5_000_000_000, &[1, 100, 1_000_000]).bytes().to_vec();
        bytes[at] = byte;
        bytes
    }

    #[test]
    fn forty_hostile_bytes_are_refused_before_anything_is_allocated() {
        let mut bytes = with(0, 0x1c);
        bytes.truncate(HEADER_LEN);
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(judge(&bytes), Err(EncodedError::Length));
        assert_eq!(judge(&with(15, 5)), Err(EncodedError::Configuration), "five digits");
        assert_eq!(judge(&with(16, 1)), Err(EncodedError::Configuration), "a high lowest");
        assert_eq!(judge(&with(3, 0x14)), Err(EncodedError::Format), "compressed");
        assert_eq!(judge(&bytes[..39]), Err(EncodedError::Short));
    }

    #[test]
    fn a_count_beyond_the_format_is_its_largest() {
        let mut made = Distribution::new(1_000);
        (0..2).for_each(|_| made.record_many(5, 1 << 62));
        assert_eq!(judge(Folded::of(&made).bytes()), Ok(TIMES_MAX));
        assert!(made.encoded().is_some());
    }

    #[test]
    fn runs_of_zeros_do_not_lead_out_of_the_range() {
        let mut bytes = folded(5_000_000_000, &[]).bytes().to_vec();
        bytes.truncate(HEADER_LEN);
        bytes.extend([0xff; 9]);
        bytes[7] = 9;
        assert_eq!(judge(&bytes), Err(EncodedError::Count));
    }

    #[test]
    fn there_are_as_many_places_as_the_library_makes() {
        let edges = (1..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for highest in edges.chain([u64::MAX, 5_000_000_000]).filter(|highest| 2 <= *highest) {
            let made = Distribution::new(highest);
            assert_eq!(places(highest), by_the_library(&made).distinct_values(), "{highest}");
        }
        assert_eq!(places(u64::MAX), 56_320);
    }

    proptest! {
        #[test]
        fn what_is_added_up_unopened_is_what_opening_would_give(
            bits in 1_u32..=64,
            one in prop::collection::vec((any::<u64>(), 1_u64..1 << 40, any::<bool>()), 0..30),
            other in prop::collection::vec((any::<u64>(), 1_u64..1 << 40, any::<bool>()), 0..30),
        ) {
            let made = |values: &[(u64, u64, bool)]| {
                let mut distribution = Distribution::new(u64::MAX >> (64 - bits));
                for &(value, times, is_bound) in values {
                    // Small values lie close together.
                    let value = value >> (times % 64);
                    distribution.record_many(value, times);
                    if is_bound {
                        distribution.record_censored(value);
                    }
                }
                distribution
            };
            let (one, other) = (made(&one), made(&other));
            let mut opened = one.clone();
            opened.merge(&other);
            let (mut sum, other) = (Folded::of(&one), Folded::of(&other));
            sum.absorb(&other);
            prop_assert_eq!(sum, Folded::of(&opened));
        }

        #[test]
        fn what_was_folded_comes_back(
            bits in 1_u32..=64,
            values in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut distribution = Distribution::new(u64::MAX >> (64 - bits));
            values.iter().for_each(|&value| distribution.record(value));
            let folded = Folded::of(&distribution);
            prop_assert_eq!(judge(folded.bytes()), Ok(values.len() as u64));
            let again = Folded::from_parts(folded.bytes(), None, folded.sum());
            prop_assert_eq!(again.expect("sound").unfold(), distribution);
        }

        #[test]
        fn what_is_not_refused_can_be_decoded(
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            keep in any::<prop::sample::Index>(),
            cut in any::<bool>(),
        ) {
            let mut bytes = folded(5_000_000_000, &[0, 7, 1 << 20, 1 << 21, 1 << 32]).bytes().to_vec();
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cut {
                bytes.truncate(keep.index(bytes.len()));
            }
            if let Ok(folded) = Folded::from_parts(&bytes, None, 0) {
                prop_assert_eq!(judge(&bytes), Ok(folded.unfold().count()));
            }
        }

        #[test]
        fn random_payloads_are_refused_or_decoded(
            payload in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut bytes = folded(5_000_000_000, &[]).bytes()[..HEADER_LEN].to_vec();
            bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
            bytes.extend(payload);
            if let Ok(folded) = Folded::from_parts(&bytes, None, 0) {
                prop_assert_eq!(judge(&bytes), Ok(folded.unfold().count()));
            }
        }
    }
}
