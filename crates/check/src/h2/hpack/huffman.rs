//! The Huffman code of RFC 7541, appendix B. It is canonical: the lengths of its codes determine the codes.

use std::sync::LazyLock;

use units::rfc7541::LENGTHS;

const END: usize = 256;
const LONGEST: u8 = 30;

/// A symbol's code, right-aligned, by its symbol.
static CODES: LazyLock<[u32; 257]> = LazyLock::new(|| {
    let (mut codes, mut next) = ([0; 257], 0);
    for length in 1..=LONGEST {
        for symbol in (0..=END).filter(|symbol| LENGTHS[*symbol] == length) {
            codes[symbol] = next;
            next += 1;
        }
        next <<= 1;
    }
    codes
});

/// The octets, coded; the last octet is filled with ones.
pub(crate) fn encode(octets: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let (mut bits, mut count) = (0_u64, 0);
    for octet in octets {
        let length = LENGTHS[usize::from(*octet)];
        bits = bits << length | u64::from(CODES[usize::from(*octet)]);
        count += length;
        while count >= 8 {
            count -= 8;
            coded.push((bits >> count) as u8);
        }
    }
    if count > 0 {
        let room = 8 - count;
        coded.push((bits << room) as u8 | ((1 << room) - 1));
    }
    coded
}

/// What is wrong with a string, if it is not as the RFC has it.
pub(crate) fn decode(coded: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (mut octets, mut bits, mut count) = (Vec::new(), 0_u32, 0_u8);
    for octet in coded {
        for place in (0..8).rev() {
            bits = bits << 1 | u32::from(octet >> place & 1);
            count += 1;
            let is_it = |symbol: &usize| LENGTHS[*symbol] == count && CODES[*symbol] == bits;
            match (0..=END).find(is_it) {
                Some(END) => return Err("a string has the code of its end"),
                Some(symbol) => {
                    octets.push(symbol as u8);
                    (bits, count) = (0, 0);
                }
                None if count > LONGEST => return Err("a string has a code that is none"),
                None => {}
            }
        }
    }
    match (bits + 1).is_power_of_two() && bits + 1 == 1 << count && count < 8 {
        true => Ok(octets),
        false => Err("a string is not filled up with the first bits of its end's code"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc7541::{CODED, NOT_CODED, octets};

    #[test]
    fn the_strings_of_the_rfc_are_coded_and_decoded() {
        for (plain, coded) in CODED {
            assert_eq!(encode(plain.as_bytes()), octets(coded));
            assert_eq!(decode(&octets(coded)).as_deref(), Ok(plain.as_bytes()));
        }
        assert!(NOT_CODED.iter().all(|hex| decode(&octets(hex)).is_err()));
        assert_eq!(decode(b"\x1f").as_deref(), Ok(&b"a"[..]));
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&every)), Ok(every));
    }
}
