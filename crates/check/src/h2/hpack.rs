//! HPACK (RFC 7541): pieces of header blocks as octets, right or wrong, and a reader of the server's blocks. It shares
//! only the RFC's tables with the client that loads.

pub(crate) mod huffman;

use std::collections::VecDeque;

use units::rfc7541::STATIC;

/// A field: its name and its value.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// RFC 7541, 4.1: what an entry costs beside its octets.
const ENTRY: usize = 32;
/// What a table holds unless SETTINGS say otherwise.
const TABLE: usize = 4096;
/// What the fields of one block may take: as much as a load reads of a head. A few octets can stand for megabytes.
const LIST: usize = 64 << 10;

/// A number that begins in the last bits of an octet, whose first bits are `pattern` (RFC 7541, 5.1).
pub(crate) fn push_number(out: &mut Vec<u8>, pattern: u8, bits: u32, number: usize) {
    let most = (1 << bits) - 1;
    if number < most {
        return out.push(pattern | number as u8);
    }
    out.push(pattern | most as u8);
    let mut rest = number - most;
    while rest >= 128 {
        out.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    out.push(rest as u8);
}

/// A string, plain or coded (RFC 7541, 5.2).
pub(crate) fn push_string(out: &mut Vec<u8>, octets: &[u8], is_coded: bool) {
    let coded = if is_coded { huffman::encode(octets) } else { octets.to_vec() };
    push_number(out, if is_coded { 0x80 } else { 0 }, 7, coded.len());
    out.extend_from_slice(&coded);
}

/// Reads the header blocks of one direction of a connection, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    /// The newest entry is the first.
    entries: VecDeque<Field>,
    most: usize,
    /// What SETTINGS allow.
    allowed: usize,
    /// Whether the next block must begin with the table's new size (RFC 9113, 4.3.1).
    must_resize: bool,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder { entries: VecDeque::new(), most: TABLE, allowed: TABLE, must_resize: false }
    }
}

impl Decoder {
    /// SETTINGS now allow a table of this size.
    pub(crate) fn allow(&mut self, size: usize) {
        self.allowed = size;
        if size < self.most {
            self.must_resize = self.entries.iter().map(self::size).sum::<usize>() > size;
            self.most = size;
            self.shrink(size);
        }
    }

    /// The list that a block is, or what is wrong with it.
    pub(crate) fn decode(&mut self, mut block: &[u8]) -> Result<Vec<Field>, &'static str> {
        let (mut list, mut room) = (Vec::new(), LIST);
        let mut keep = |list: &mut Vec<Field>, field: Field| -> Result<(), &'static str> {
            room = room.checked_sub(self::size(&field)).ok_or(TOO_LARGE)?;
            list.push(field);
            Ok(())
        };
        if std::mem::take(&mut self.must_resize) && block.first().is_none_or(|it| it >> 5 != 1) {
            return Err("a block does not begin with the table's size, though it was lowered");
        }
        while let Some(first) = block.first().copied() {
            match first {
                0x80.. => {
                    let place = number(&mut block, 7)?;
                    keep(&mut list, self.at(place)?)?;
                }
                0x40.. => {
                    let field = self.literal(&mut block, 6)?;
                    self.insert(field.clone());
                    keep(&mut list, field)?;
                }
                0x20.. => {
                    let size = number(&mut block, 5)?;
                    if !list.is_empty() {
                        return Err("a table is resized in the middle of a block");
                    }
                    if self.allowed < size {
                        return Err("a table grows beyond what SETTINGS allow");
                    }
                    self.most = size;
                    self.shrink(size);
                }
                _ => keep(&mut list, self.literal(&mut block, 4)?)?,
            }
        }
        Ok(list)
    }

    fn at(&self, place: usize) -> Result<Field, &'static str> {
        let place = place.checked_sub(1).ok_or("a field has place 0 of the table")?;
        let fixed = STATIC
            .get(place)
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        let found = fixed.or_else(|| self.entries.get(place - STATIC.len()).cloned());
        found.ok_or("no field has this place in the table")
    }

    fn literal(&self, block: &mut &[u8], bits: u32) -> Result<Field, &'static str> {
        let name = match number(block, bits)? {
            0 => string(block)?,
            place => self.at(place)?.0,
        };
        Ok((name, string(block)?))
    }

    fn insert(&mut self, field: Field) {
        let size = size(&field);
        self.shrink(self.most.saturating_sub(size));
        if size <= self.most {
            self.entries.push_front(field);
        }
    }

    fn shrink(&mut self, most: usize) {
        while most < self.entries.iter().map(size).sum() {
            self.entries.pop_back();
        }
    }
}

fn size(field: &Field) -> usize {
    field.0.len() + field.1.len() + ENTRY
}

const CUT: &str = "a header block ends within a field";
const TOO_LARGE: &str = "its fields take more than 64 KiB, and dyno reads no more of a head";

fn number(block: &mut &[u8], bits: u32) -> Result<usize, &'static str> {
    let (first, mut rest) = block.split_first().ok_or(CUT)?;
    let most = (1 << bits) - 1;
    let mut number = usize::from(*first) & most;
    let mut shift = 0;
    while number >= most {
        let (octet, after) = rest.split_first().ok_or(CUT)?;
        rest = after;
        number += usize::from(octet & 127) << shift;
        shift += 7;
        if octet & 128 == 0 {
            break;
        }
        if shift > 28 {
            return Err("a number is too large");
        }
    }
    *block = rest;
    Ok(number)
}

fn string(block: &mut &[u8]) -> Result<Vec<u8>, &'static str> {
    let is_coded = block.first().ok_or(CUT)? & 128 != 0;
    let length = number(block, 7)?;
    let (octets, rest) = block.split_at_checked(length).ok_or(CUT)?;
    *block = rest;
    if is_coded { huffman::decode(octets) } else { Ok(octets.to_vec()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc7541::{GOOD_BLOCKS, NO_BLOCKS, check_examples, octets};

    #[test]
    fn the_blocks_of_the_rfc_are_decoded() {
        check_examples(Decoder::default, |decoder, block| {
            let list = decoder.decode(block).unwrap();
            let line =
                |(n, value): &Field| format!("{}: {}", n.escape_ascii(), value.escape_ascii());
            let lines: Vec<_> = list.iter().map(line).collect();
            (lines.join("\n"), decoder.entries.iter().map(size).sum())
        });
    }

    #[test]
    fn what_is_no_block_is_found() {
        let read = |hex: &str| Decoder::default().decode(&octets(hex));
        assert!(NO_BLOCKS.iter().all(|hex| read(hex).is_err()));
        assert!(GOOD_BLOCKS.iter().all(|hex| read(hex).is_ok()));
    }

    #[test]
    fn what_a_block_expands_to_is_limited() {
        let mut block = vec![0x40];
        push_string(&mut block, b"x", false);
        push_string(&mut block, &[b'a'; 4000], false);
        let bomb = |times| [&block[..], &vec![0xbe; times]].concat();
        assert_eq!(Decoder::default().decode(&bomb(15)).map(|list| list.len()), Ok(16));
        assert_eq!(Decoder::default().decode(&bomb(16)), Err(TOO_LARGE));
        assert_eq!(Decoder::default().decode(&bomb(1 << 20)), Err(TOO_LARGE));
    }

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 126, 127, 128, 300, 60_000] {
            for is_coded in [false, true] {
                let value = vec![b'~'; length];
                let mut block = vec![0];
                push_string(&mut block, b"name", is_coded);
                push_string(&mut block, &value, is_coded);
                assert_eq!(Decoder::default().decode(&block), Ok(vec![(b"name".to_vec(), value)]));
            }
        }
    }
}
