//! How a body is encoded, and whether it means what it must.

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::read::MultiGzDecoder;

/// How a body is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Br,
}

/// So much is unpacked at once.
const STEP: usize = 16 << 10;

impl Coding {
    /// Whether a body, decoded, is this. Decoding ends with the first difference, so no more is ever unpacked than
    /// `truth` has, and a step.
    pub(crate) fn decodes_to(self, body: &[u8], truth: &[u8]) -> bool {
        match self {
            Coding::Identity => body == truth,
            Coding::Gzip => is_gzip_of(body, truth),
            Coding::Br => is_brotli_of(body, truth),
        }
    }

    /// Whether these bytes of a body, from `at` on, are those that a known body has there, or may stand for them.
    /// RFC 1952, 2.3.1: bytes 4 to 7 of gzip are a time, which some servers set to that of the answer. It stays where the
    /// head has a checksum (FHCRC).
    pub(crate) fn is_alike(self, known: &[u8], at: usize, bytes: &[u8]) -> bool {
        let Some(expected) = known.get(at..at + bytes.len()) else { return false };
        let is_timed = self == Coding::Gzip && known.get(3).is_some_and(|flags| flags & 2 == 0);
        let head = if is_timed { 8_usize.saturating_sub(at) } else { 0 };
        let head = head.min(bytes.len());
        let is_like = |place: usize| expected[place] == bytes[place] || 4 <= at + place;
        (0..head).all(is_like) && expected[head..] == bytes[head..]
    }
}

fn is_gzip_of(body: &[u8], truth: &[u8]) -> bool {
    let mut decoder = MultiGzDecoder::new(body);
    let (mut left, mut buffer) = (truth, [0; STEP]);
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return left.is_empty(),
            Ok(count) => match left.strip_prefix(&buffer[..count]) {
                Some(rest) => left = rest,
                None => return false,
            },
            Err(_) => return false,
        }
    }
}

/// Nothing may follow the end of the stream.
fn is_brotli_of(body: &[u8], truth: &[u8]) -> bool {
    let allocator = StandardAlloc::default;
    let mut state = BrotliState::new(allocator(), allocator(), allocator());
    let (mut left_in, mut at, mut total) = (body.len(), 0, 0);
    let (mut left, mut buffer) = (truth, [0; STEP]);
    loop {
        let (mut room, mut count) = (STEP, 0);
        let result = BrotliDecompressStream(
            &mut left_in,
            &mut at,
            body,
            &mut room,
            &mut count,
            &mut buffer,
            &mut total,
            &mut state,
        );
        match left.strip_prefix(&buffer[..count]) {
            Some(rest) => left = rest,
            None => return false,
        }
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess => return left.is_empty() && left_in == 0,
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn gzip(text: &[u8]) -> Vec<u8> {
        fixture::gzip(text, 1)
    }

    /// Stored as it is: RFC 7932, 9.2, a window of 16 bits, one block of up to 64 kB, and an empty last one.
    fn brotli(text: &[u8]) -> Vec<u8> {
        let bits = ((text.len() as u32 - 1) << 4) | (1 << 20);
        let head = &bits.to_le_bytes()[..3];
        [head, text, &[0b11]].concat()
    }

    #[test]
    fn only_the_whole_of_the_right_text_is_right() {
        let text = b"Rust ".repeat(9_000);
        for (coding, packed) in [(Coding::Gzip, gzip(&text)), (Coding::Br, brotli(&text))] {
            assert!(coding.decodes_to(&packed, &text), "{coding:?}");
            let end = packed.len();
            for wrong in [
                packed[..end - 1].to_vec(),
                packed[..end / 2].to_vec(),
                [&packed[..], b"x"].concat(),
                [&packed[..], &packed].concat(),
                text.clone(),
                Vec::new(),
            ] {
                assert!(!coding.decodes_to(&wrong, &text), "{coding:?}, {} bytes", wrong.len());
            }
            assert!(!coding.decodes_to(&packed, &text[1..]), "{coding:?}");
            assert!(!coding.decodes_to(&packed, &[&text[..], b"x"].concat()), "{coding:?}");
            let mut flipped = packed.clone();
            flipped[end / 2] ^= 1;
            assert!(!coding.decodes_to(&flipped, &text), "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_is_unpacked_no_further_than_the_truth_goes() {
        let bomb = gzip(&vec![0; 100 << 20]);
        let began = std::time::Instant::now();
        assert!((0..1_000).all(|_| !Coding::Gzip.decodes_to(&bomb, &[0; 1_000])));
        // A thousand times 100 MB would take minutes.
        assert!(began.elapsed().as_secs() < 20);
    }

    #[test]
    fn the_time_in_a_head_of_gzip_is_of_no_account() {
        let known = gzip(b"Rust");
        let mut later = known.clone();
        later[4..8].copy_from_slice(&[1, 2, 3, 4]);
        for cut in 0..known.len() {
            let (one, other) = later.split_at(cut);
            assert!(Coding::Gzip.is_alike(&known, 0, one));
            assert!(Coding::Gzip.is_alike(&known, cut, other), "{cut}");
        }
        assert!(!Coding::Br.is_alike(&known, 0, &later));
        let summed = |gzip: &[u8]| [&gzip[..3], &[gzip[3] | 2], &gzip[4..]].concat();
        assert!(!Coding::Gzip.is_alike(&summed(&known), 0, &summed(&later)));
        later[9] ^= 1;
        assert!(!Coding::Gzip.is_alike(&known, 0, &later));
        assert!(!Coding::Gzip.is_alike(&known, 1, &known));
    }
}
