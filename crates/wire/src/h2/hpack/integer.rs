//! Integers and strings as HPACK writes them (RFC 7541, 5).

use super::{HpackFault, huffman};

/// No index, size or length of ours is near this; more digits are an attack.
const LARGEST: u64 = 1 << 28;

/// Appends `value` after the high bits of `mark`, in the octet's low `prefix` bits and in more octets if it must.
pub(super) fn encode(mark: u8, prefix: u8, value: usize, output: &mut Vec<u8>) {
    let full = (1_usize << prefix) - 1;
    if value < full {
        return output.push(mark | value as u8);
    }
    output.push(mark | full as u8);
    let mut left = value - full;
    while 128 <= left {
        output.push(left as u8 | 0x80);
        left >>= 7;
    }
    output.push(left as u8);
}

/// Takes an integer from the front of `rest`.
pub(super) fn decode(rest: &mut &[u8], prefix: u8) -> Result<usize, HpackFault> {
    let full = (1_u64 << prefix) - 1;
    let mut value = u64::from(next(rest)?) & full;
    if value < full {
        return Ok(value as usize);
    }
    for shift in (0..=28).step_by(7) {
        let byte = next(rest)?;
        value += u64::from(byte & 0x7f) << shift;
        if LARGEST < value {
            return Err(HpackFault::Integer);
        }
        if byte & 0x80 == 0 {
            return Ok(value as usize);
        }
    }
    Err(HpackFault::Integer)
}

/// Appends a string, in the Huffman code if that is shorter.
pub(super) fn encode_string(text: &[u8], output: &mut Vec<u8>) {
    let encoded = huffman::encoded_len(text);
    if encoded < text.len() {
        encode(0x80, 7, encoded, output);
        huffman::encode(text, output);
    } else {
        encode(0, 7, text.len(), output);
        output.extend_from_slice(text);
    }
}

/// Takes a string from the front of `rest`, and appends what it says to `output`.
pub(super) fn decode_string(rest: &mut &[u8], output: &mut Vec<u8>) -> Result<(), HpackFault> {
    let is_encoded = rest.first().is_some_and(|byte| byte & 0x80 != 0);
    let length = decode(rest, 7)?;
    let (text, after) = rest.split_at_checked(length).ok_or(HpackFault::Cut)?;
    *rest = after;
    if is_encoded {
        return huffman::decode(text, output);
    }
    output.extend_from_slice(text);
    Ok(())
}

fn next(rest: &mut &[u8]) -> Result<u8, HpackFault> {
    let (&first, after) = rest.split_first().ok_or(HpackFault::Cut)?;
    *rest = after;
    Ok(first)
}
