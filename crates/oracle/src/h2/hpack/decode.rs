//! Decodes header blocks, strictly.

use super::{TABLE_BYTES, Table, huffman};

/// The largest list that is kept, with 32 octets for each field; what is beyond is dropped, and said.
const LIST_MAX: usize = 64 * 1024;
/// A number beyond this is refused: nothing here is as large.
const NUMBER_MAX: usize = 1 << 28;

/// A header list, in one piece of memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    pub(crate) octets: Vec<u8>,
    /// Where each field's name and value end.
    ends: Vec<(u32, u32)>,
    /// Whether the list was longer than what is kept.
    pub(crate) is_too_long: bool,
}

impl Fields {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut begin = 0;
        self.ends.iter().map(move |(name_end, value_end)| {
            let name = &self.octets[begin..*name_end as usize];
            begin = *value_end as usize;
            (name, &self.octets[*name_end as usize..begin])
        })
    }

    fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
        self.is_too_long = false;
    }

    fn push(&mut self, name: &[u8], value: &[u8]) {
        if LIST_MAX < self.octets.len() + name.len() + value.len() + 32 * (self.ends.len() + 1) {
            self.is_too_long = true;
            return;
        }
        self.octets.extend_from_slice(name);
        let name_end = self.octets.len() as u32;
        self.octets.extend_from_slice(value);
        self.ends.push((name_end, self.octets.len() as u32));
    }
}

/// RFC 9113, 4.3: what cannot be decoded ends the connection, because the table is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecodable(pub(crate) &'static str);

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(super) table: Table,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// Where a name or value comes from.
type Taken<T> = Result<T, Undecodable>;

const CUT: Undecodable = Undecodable("a header block ends within a field");

impl Decoder {
    pub(crate) fn new() -> Decoder {
        Decoder { table: Table::new(), name: Vec::new(), value: Vec::new() }
    }

    /// Replaces `fields` by the list that this block is.
    pub(crate) fn decode(&mut self, mut block: &[u8], fields: &mut Fields) -> Taken<()> {
        fields.clear();
        let mut is_first = true;
        while let Some(first) = block.first().copied() {
            match first {
                0x80.. => {
                    let place = number(&mut block, 7)?;
                    let (name, value) = self.entry(place)?;
                    fields.push(name, value);
                }
                0x40.. => self.literal(&mut block, 6, true, fields)?,
                0x20.. => {
                    // RFC 7541, 4.2: only at the beginning of a block.
                    if !is_first {
                        return Err(Undecodable("a table is resized in the middle of a block"));
                    }
                    let most = number(&mut block, 5)?;
                    if TABLE_BYTES < most {
                        return Err(Undecodable("a table grows beyond what SETTINGS allow"));
                    }
                    self.table.resize(most);
                    continue;
                }
                _ => self.literal(&mut block, 4, false, fields)?,
            }
            is_first = false;
        }
        Ok(())
    }

    fn entry(&self, place: usize) -> Taken<(&[u8], &[u8])> {
        self.table.get(place).ok_or(Undecodable("no field has this place in the table"))
    }

    fn literal(
        &mut self,
        block: &mut &[u8],
        bits: u32,
        kept: bool,
        fields: &mut Fields,
    ) -> Taken<()> {
        let (mut name, mut value) =
            (std::mem::take(&mut self.name), std::mem::take(&mut self.value));
        name.clear();
        value.clear();
        match number(block, bits)? {
            0 => string(block, &mut name)?,
            place => name.extend_from_slice(self.entry(place)?.0),
        }
        string(block, &mut value)?;
        if kept {
            self.table.insert(&name, &value);
        }
        fields.push(&name, &value);
        (self.name, self.value) = (name, value);
        Ok(())
    }
}

fn number(block: &mut &[u8], bits: u32) -> Taken<usize> {
    let most = (1_usize << bits) - 1;
    let (first, rest) = block.split_first().ok_or(CUT)?;
    *block = rest;
    let mut number = usize::from(*first) & most;
    if number < most {
        return Ok(number);
    }
    let mut shift = 0;
    loop {
        let (byte, rest) = block.split_first().ok_or(CUT)?;
        *block = rest;
        number += usize::from(byte & 127) << shift;
        if NUMBER_MAX < number || 28 < shift {
            return Err(Undecodable("a number of a header block is too large"));
        }
        if *byte < 128 {
            return Ok(number);
        }
        shift += 7;
    }
}

fn string(block: &mut &[u8], out: &mut Vec<u8>) -> Taken<()> {
    let is_coded = block.first().is_some_and(|first| *first >= 128);
    let length = number(block, 7)?;
    if block.len() < length {
        return Err(CUT);
    }
    let (octets, rest) = block.split_at(length);
    *block = rest;
    if is_coded {
        huffman::decode(octets, out).ok_or(Undecodable("a string is no Huffman code"))
    } else {
        out.extend_from_slice(octets);
        Ok(())
    }
}
