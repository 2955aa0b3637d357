//! The Huffman code of RFC 7541, Appendix B. It is canonical: the lengths of the codes say all.

use units::rfc7541::LENGTHS;

use super::HpackFault;

const LONGEST: usize = 30;
const END: u16 = 256;

struct Code {
    /// Each symbol's code, right-aligned.
    codes: [u32; 257],
    /// What eight bits begin with, if it is a whole code: the symbol and how many of the bits it takes; else 0 bits.
    short: [(u8, u8); 256],
    /// For each length: the first value of 32 bits that begins with no code of this length or a shorter one.
    beyond: [u64; LONGEST + 1],
    /// For each length: its first code, and the place of that code's symbol in `symbols`.
    first: [(u32, u16); LONGEST + 1],
    /// The symbols in the order of their codes.
    symbols: [u16; 257],
}

static CODE: Code = code();

/// A canonical code counts upwards, through the lengths and within each through the symbols.
const fn code() -> Code {
    let mut made = Code {
        codes: [0; 257],
        short: [(0, 0); 256],
        beyond: [0; LONGEST + 1],
        first: [(0, 0); LONGEST + 1],
        symbols: [0; 257],
    };
    let (mut next, mut place, mut length) = (0_u32, 0, 1);
    while length <= LONGEST {
        next <<= 1;
        made.first[length] = (next, place as u16);
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                made.codes[symbol] = next;
                made.symbols[place] = symbol as u16;
                if length <= 8 {
                    let (mut at, end) = (next << (8 - length), (next + 1) << (8 - length));
                    while at < end {
                        made.short[at as usize] = (symbol as u8, length as u8);
                        at += 1;
                    }
                }
                next += 1;
                place += 1;
            }
            symbol += 1;
        }
        made.beyond[length] = (next as u64) << (32 - length);
        length += 1;
    }
    made
}

/// How many octets `encode` appends.
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|&byte| usize::from(LENGTHS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

pub(super) fn encode(text: &[u8], output: &mut Vec<u8>) {
    let (mut held, mut bits) = (0_u64, 0_u32);
    for &byte in text {
        let length = u32::from(LENGTHS[usize::from(byte)]);
        held = held << length | u64::from(CODE.codes[usize::from(byte)]);
        bits += length;
        while 8 <= bits {
            bits -= 8;
            output.push((held >> bits) as u8);
        }
    }
    // RFC 7541, 5.2: what is left of the last octet is filled with ones.
    if 0 < bits {
        output.push((held << (8 - bits)) as u8 | 0xff >> bits);
    }
}

pub(super) fn decode(bytes: &[u8], output: &mut Vec<u8>) -> Result<(), HpackFault> {
    let mut rest = bytes.iter();
    // The lowest `bits` bits of `held` have not been read.
    let (mut held, mut bits) = (0_u64, 0_u32);
    loop {
        while bits <= 56
            && let Some(&byte) = rest.next()
        {
            held = held << 8 | u64::from(byte);
            bits += 8;
        }
        if bits == 0 {
            return Ok(());
        }
        // The next 32 bits, with ones behind the end.
        let ahead = held << (64 - bits) | u64::MAX.checked_shr(bits).unwrap_or(0);
        let ahead = ahead >> 32;
        let (symbol, length) = match CODE.short[(ahead >> 24) as usize] {
            (_, 0) => long(ahead),
            (symbol, length) => (u16::from(symbol), u32::from(length)),
        };
        if bits < length {
            // RFC 7541, 5.2: padding is shorter than an octet, and all ones.
            let is_padding = bits < 8 && held & ((1 << bits) - 1) == (1 << bits) - 1;
            return if is_padding { Ok(()) } else { Err(HpackFault::Huffman) };
        }
        if symbol == END {
            return Err(HpackFault::Huffman);
        }
        output.push(symbol as u8);
        bits -= length;
    }
}

/// The code of more than eight bits with which 32 bits begin.
fn long(ahead: u64) -> (u16, u32) {
    let mut length = 9;
    while CODE.beyond[length] <= ahead && length < LONGEST {
        length += 1;
    }
    let (first, place) = CODE.first[length];
    let symbol = usize::from(place) + ((ahead >> (32 - length)) as usize - first as usize);
    (CODE.symbols[symbol], length as u32)
}
