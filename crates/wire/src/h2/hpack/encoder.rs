//! Writes the heads of requests, with a table that never evicts: what is in it stays where it is.

use super::integer;
use super::prepared::{Constant, PLACES_MAX, Piece, Prepared};
use super::table::DEFAULT_SIZE;
use crate::ask::Ask;
use crate::template::{Values, push_decimal};

/// The first index of the table that we fill, which is its newest entry.
const NEWEST: usize = units::rfc7541::STATIC.len() + 1;

/// The encoding side of one connection.
#[derive(Debug)]
pub(in crate::h2) struct Encoder<'a> {
    /// Whether fields are inserted at all.
    inserts: bool,
    /// What the server allows, as far as we use it.
    limit: usize,
    /// The least that the server has allowed since our last block, if it said anything.
    least: Option<usize>,
    /// The size that the server knows of.
    agreed: usize,
    /// The sizes of all entries. `used <= limit`, once the server knows of the limit.
    used: usize,
    inserted: u8,
    /// For each place, which insertion its field was, from 1; 0 if it is not in the table.
    insertions: [u8; PLACES_MAX],
    /// The block that came of the last request, if that request always gives the same one and `inserted` is this.
    last: Option<(&'a Prepared, u8)>,
    block: Vec<u8>,
}

impl<'a> Encoder<'a> {
    pub(in crate::h2) fn new(inserts: bool) -> Encoder<'a> {
        Encoder {
            inserts,
            limit: DEFAULT_SIZE,
            least: None,
            agreed: DEFAULT_SIZE,
            used: 0,
            inserted: 0,
            insertions: [0; PLACES_MAX],
            last: None,
            block: Vec::new(),
        }
    }

    /// The server allows a table of this size.
    pub(in crate::h2) fn allow(&mut self, size: u32) {
        self.limit = DEFAULT_SIZE.min(size as usize);
        self.least = Some(self.least.map_or(self.limit, |least| least.min(self.limit)));
    }

    /// Appends the fields of a request.
    pub(in crate::h2) fn encode(
        &mut self,
        prepared: &'a Prepared,
        ask: &Ask,
        values: Values,
        output: &mut Vec<u8>,
    ) {
        self.announce(output);
        if let Some((last, inserted)) = self.last
            && std::ptr::eq(last, prepared)
            && inserted == self.inserted
        {
            return output.extend_from_slice(&self.block);
        }
        let (start, before) = (output.len(), self.inserted);
        let mut varies = false;
        for piece in &prepared.pieces {
            match piece {
                Piece::Ready(fields) => output.extend_from_slice(fields),
                Piece::Constant(field) => self.push(field, output),
                Piece::Filled { name, value } => {
                    output.extend_from_slice(name);
                    integer::encode(0, 7, value.filled_len(values), output);
                    value.fill(values, output);
                    varies = true;
                }
                Piece::Length { name } => {
                    let length = ask.body_len(values);
                    output.extend_from_slice(name);
                    output.push(length.checked_ilog10().unwrap_or(0) as u8 + 1);
                    push_decimal(length, output);
                    varies = true;
                }
            }
        }
        if !varies && before == self.inserted {
            self.block.clear();
            self.block.extend_from_slice(&output[start..]);
            self.last = Some((prepared, self.inserted));
        }
    }

    /// RFC 7541, 4.2: a change of the table's size is said at the start of the next block, the least one first.
    fn announce(&mut self, output: &mut Vec<u8>) {
        let Some(least) = self.least.take() else { return };
        self.last = None;
        if least < self.limit && least < self.agreed {
            integer::encode(0x20, 5, least, output);
            self.agreed = least;
        }
        if self.limit != self.agreed {
            integer::encode(0x20, 5, self.limit, output);
            self.agreed = self.limit;
        }
        // What the server has not evicted is older than all that follows, and is evicted before any of that.
        if least < self.used {
            (self.used, self.inserted) = (0, 0);
            self.insertions = [0; PLACES_MAX];
        }
    }

    fn push(&mut self, field: &Constant, output: &mut Vec<u8>) {
        let Some(place) = field.place.filter(|_| self.inserts) else {
            return output.extend_from_slice(&field.plain);
        };
        let insertion = self.insertions[usize::from(place)];
        if insertion != 0 {
            let index = NEWEST + usize::from(self.inserted - insertion);
            return integer::encode(0x80, 7, index, output);
        }
        if self.limit < self.used + field.size {
            return output.extend_from_slice(&field.plain);
        }
        self.used += field.size;
        self.inserted += 1;
        self.insertions[usize::from(place)] = self.inserted;
        output.extend_from_slice(&field.inserting);
    }
}
