//! Reads blocks of compressed fields, and keeps the table that the peer fills.

use units::rfc7541::STATIC;

use super::table::{OVERHEAD, Place, Table};
use super::{HpackFault, integer};

/// The decoding side of one connection, and the fields of the block that was read last.
#[derive(Debug)]
pub(in crate::h2) struct Decoder {
    pub(super) table: Table,
    /// The size that was announced to the peer.
    announced: usize,
    /// The octets of the fields, name and value, one field after the other.
    pub(super) text: Vec<u8>,
    fields: Vec<Place>,
}

/// What a block did and what it depended on, besides the fields that it carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::h2) struct Effect {
    /// It referred to entries of the peer's table: later, the same octets may mean other fields.
    pub(in crate::h2) refers: bool,
    /// The sizes of the entries that it inserted.
    pub(in crate::h2) inserted: usize,
    /// It changed the table's size.
    pub(in crate::h2) resized: bool,
    /// It carried more than the limit allows. The fields beyond are left out, and all else is as if they were not.
    pub(in crate::h2) is_too_large: bool,
    /// RFC 9113, 10.5.1: the octets of names and values, and 32 for each field.
    pub(in crate::h2) list_size: usize,
}

/// A block seldom needs more; what a larger one needed is not kept.
const TEXT_KEPT: usize = 4 << 10;

impl Decoder {
    pub(in crate::h2) fn new(announced: usize) -> Decoder {
        Decoder { table: Table::new(announced), announced, text: Vec::new(), fields: Vec::new() }
    }

    /// The fields of the block that was read last.
    pub(in crate::h2) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
        self.fields.iter().map(|field| field.of(&self.text))
    }

    /// Reads a block; its fields are those that `fields` has then.
    pub(in crate::h2) fn decode(
        &mut self,
        block: &[u8],
        list_max: usize,
    ) -> Result<Effect, HpackFault> {
        self.fields.clear();
        self.text.clear();
        self.text.shrink_to(TEXT_KEPT);
        let (mut effect, mut rest, mut has_fields) = (Effect::default(), block, false);
        while let Some(&first) = rest.first() {
            let at = self.text.len();
            // RFC 7541, 6: the highest bits of the first octet say which kind of field follows.
            let name = match first {
                0x80.. => self.take_indexed(&mut rest, &mut effect)?,
                0x40.. => self.take_literal(&mut rest, 6, &mut effect)?,
                0x20.. => {
                    // RFC 7541, 4.2: only before the first field, and within what was announced.
                    let size = integer::decode(&mut rest, 5)?;
                    if has_fields || self.announced < size {
                        return Err(HpackFault::Size);
                    }
                    self.table.resize(size);
                    effect.resized = true;
                    continue;
                }
                0.. => self.take_literal(&mut rest, 4, &mut effect)?,
            };
            if (0x40..0x80).contains(&first) {
                let (name, value) = self.text[at..].split_at(name);
                self.table.insert(name, value);
                effect.inserted += name.len() + value.len() + OVERHEAD;
            }
            has_fields = true;
            effect.list_size += self.text.len() - at + OVERHEAD;
            effect.is_too_large = list_max < effect.list_size;
            if effect.is_too_large {
                self.text.truncate(at);
            } else {
                let value = self.text.len() - at - name;
                self.fields.push(Place { at: at as u32, name: name as u32, value: value as u32 });
            }
        }
        Ok(effect)
    }

    /// Whether both know the same entries.
    #[cfg(debug_assertions)]
    pub(in crate::h2) fn agrees_with(&self, other: &Decoder) -> bool {
        let entries = |decoder: &Decoder| {
            let entry = |index| decoder.table.get(index).map(|(n, v)| (n.to_vec(), v.to_vec()));
            (0..).map_while(entry).collect::<Vec<_>>()
        };
        self.table.limit() == other.table.limit() && entries(self) == entries(other)
    }

    /// Appends name and value of an indexed field to the text, and returns the length of the name.
    fn take_indexed(&mut self, rest: &mut &[u8], effect: &mut Effect) -> Result<usize, HpackFault> {
        let index = integer::decode(rest, 7)?;
        let (name, value) = find(&self.table, index).ok_or(HpackFault::Index)?;
        effect.refers |= STATIC.len() < index;
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(value);
        Ok(name.len())
    }

    /// Appends name and value of a literal field to the text, and returns the length of the name.
    fn take_literal(
        &mut self,
        rest: &mut &[u8],
        prefix: u8,
        effect: &mut Effect,
    ) -> Result<usize, HpackFault> {
        let at = self.text.len();
        match integer::decode(rest, prefix)? {
            0 => integer::decode_string(rest, &mut self.text)?,
            index => {
                let (name, _) = find(&self.table, index).ok_or(HpackFault::Index)?;
                self.text.extend_from_slice(name);
                effect.refers |= STATIC.len() < index;
            }
        }
        let name = self.text.len() - at;
        integer::decode_string(rest, &mut self.text)?;
        Ok(name)
    }
}

/// RFC 7541, 2.3.3: one number for both tables, from 1.
fn find(table: &Table, index: usize) -> Option<(&[u8], &[u8])> {
    match index.checked_sub(1)? {
        index if index < STATIC.len() => {
            let (name, value) = STATIC[index];
            Some((name.as_bytes(), value.as_bytes()))
        }
        index => table.get(index - STATIC.len()),
    }
}
