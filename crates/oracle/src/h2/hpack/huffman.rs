//! The Huffman code of RFC 7541, appendix B. It is canonical: the lengths of its codes determine the codes.

use units::rfc7541::LENGTHS;

const LONGEST: usize = 30;
const END: u16 = 256;

/// The code, as a decoder walks it: for each length the first code, and where its symbols begin.
struct Code {
    symbols: [u16; 257],
    first: [u32; LONGEST + 1],
    count: [u32; LONGEST + 1],
    offset: [u32; LONGEST + 1],
    /// The code of each symbol.
    codes: [u32; 257],
    /// By the next eight bits: the symbol and its length, where the code has no more bits than that.
    short: [(u16, u8); 256],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut code = Code {
        symbols: [0; 257],
        first: [0; LONGEST + 1],
        count: [0; LONGEST + 1],
        offset: [0; LONGEST + 1],
        codes: [0; 257],
        short: [(0, 0); 256],
    };
    let (mut length, mut next, mut place) = (1, 0, 0);
    while length <= LONGEST {
        next <<= 1;
        code.first[length] = next;
        code.offset[length] = place;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                code.symbols[place as usize] = symbol as u16;
                code.codes[symbol] = next;
                let (mut at, end) = if length <= 8 {
                    ((next << (8 - length)) as usize, ((next + 1) << (8 - length)) as usize)
                } else {
                    (0, 0)
                };
                while at < end {
                    code.short[at] = (symbol as u16, length as u8);
                    at += 1;
                }
                next += 1;
                place += 1;
            }
            symbol += 1;
        }
        code.count[length] = place - code.offset[length];
        length += 1;
    }
    code
}

/// Appends the text; `None` if it is no Huffman-coded string.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (mut bits, mut held) = (0_u64, 0_u32);
    let mut rest = coded.iter();
    loop {
        while held <= 56 {
            let Some(byte) = rest.next() else { break };
            bits |= u64::from(*byte) << (56 - held);
            held += 8;
        }
        let (symbol, length) = next_symbol(bits);
        if held < length {
            // RFC 7541, 5.2: the padding is shorter than an octet, and all ones.
            let is_padding = held < 8 && (held == 0 || bits >> (64 - held) == (1 << held) - 1);
            return is_padding.then_some(());
        }
        if symbol == END {
            return None;
        }
        out.push(symbol as u8);
        bits <<= length;
        held -= length;
    }
}

/// The symbol that these bits begin with, and how many of them it takes.
fn next_symbol(bits: u64) -> (u16, u32) {
    let (symbol, length) = CODE.short[(bits >> 56) as usize];
    if length > 0 {
        return (symbol, u32::from(length));
    }
    for length in 9..=LONGEST {
        let code = (bits >> (64 - length)) as u32;
        let place = code.wrapping_sub(CODE.first[length]);
        if place < CODE.count[length] {
            return (CODE.symbols[(CODE.offset[length] + place) as usize], length as u32);
        }
    }
    unreachable!("the code is complete: every 30 bits begin with a symbol")
}

/// How many octets the text has when coded.
pub(super) fn coded_length(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        held += length;
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        out.push((bits << (8 - held)) as u8 | (0xff >> held));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc7541::{CODED, NOT_CODED, octets};
    use proptest::prelude::*;

    fn decoded(coded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    #[test]
    fn the_strings_of_the_rfc_are_coded_as_there() {
        for (text, coded) in CODED {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!(out, octets(coded));
            assert_eq!(decoded(&out).unwrap(), text.as_bytes());
        }
        assert!(NOT_CODED.iter().all(|hex| decoded(&octets(hex)).is_none()));
        assert_eq!(decoded(b"\x1f").unwrap(), b"a");
    }

    proptest! {
        #[test]
        fn what_is_coded_is_decoded(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut out = Vec::new();
            encode(&text, &mut out);
            prop_assert_eq!(out.len(), coded_length(&text));
            prop_assert_eq!(decoded(&out), Some(text));
        }
    }
}
