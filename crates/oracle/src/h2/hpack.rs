//! HPACK (RFC 7541): header lists as octets and back. It shares only the RFC's
//! tables with the client that is tested against it.

mod decode;
mod encode;
mod huffman;

use std::collections::VecDeque;

use units::rfc7541::STATIC;

pub(crate) use decode::{Decoder, Fields};
pub(crate) use encode::{Encoder, Manner};

/// What a table holds unless SETTINGS says otherwise.
pub(crate) const TABLE_BYTES: usize = 4096;
/// RFC 7541, 4.1: what an entry costs beside its octets.
const ENTRY_BYTES: usize = 32;

/// A dynamic table: the newest entry is the first.
#[derive(Debug)]
struct Table {
    entries: VecDeque<Entry>,
    /// The size of all entries. used <= most
    used: usize,
    most: usize,
}

#[derive(Debug)]
struct Entry {
    /// The name, and after it the value.
    octets: Box<[u8]>,
    name_length: usize,
}

impl Entry {
    fn parts(&self) -> (&[u8], &[u8]) {
        self.octets.split_at(self.name_length)
    }
}

impl Table {
    fn new() -> Table {
        Table { entries: VecDeque::new(), used: 0, most: TABLE_BYTES }
    }

    /// The field at a place; places begin at 1, those of the static table come first.
    fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let place = place.checked_sub(1)?;
        match STATIC.get(place) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.entries.get(place - STATIC.len()).map(Entry::parts),
        }
    }

    /// RFC 7541, 4.4: what does not fit alone empties the table.
    fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + ENTRY_BYTES;
        self.shrink(self.most.saturating_sub(size));
        if size <= self.most {
            let octets = [name, value].concat().into_boxed_slice();
            self.entries.push_front(Entry { octets, name_length: name.len() });
            self.used += size;
        }
    }

    fn resize(&mut self, most: usize) {
        self.most = most;
        self.shrink(most);
    }

    fn shrink(&mut self, most: usize) {
        while most < self.used {
            let oldest = self.entries.pop_back().expect("a table without entries uses nothing");
            self.used -= oldest.octets.len() + ENTRY_BYTES;
        }
    }
}

/// RFC 7541, 5.1: a number that begins in the last bits of an octet, whose first bits are `pattern`.
fn push_number(out: &mut Vec<u8>, pattern: u8, bits: u32, number: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc7541::{GOOD_BLOCKS, NO_BLOCKS, check_examples, octets};
    use proptest::prelude::*;

    fn listed(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
        let mut fields = Fields::default();
        decoder.decode(block, &mut fields).unwrap();
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        fields.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn the_blocks_of_the_rfc_are_decoded() {
        check_examples(Decoder::new, |decoder, block| {
            let fields = listed(decoder, block);
            let lines: Vec<_> = fields.iter().map(|(n, value)| format!("{n}: {value}")).collect();
            (lines.join("\n"), decoder.table.used)
        });
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let read = |hex: &str| Decoder::new().decode(&octets(hex), &mut Fields::default());
        assert!(NO_BLOCKS.iter().all(|hex| read(hex).is_err()));
        assert!(GOOD_BLOCKS.iter().all(|hex| read(hex).is_ok()));
    }

    proptest! {
        #[test]
        fn every_manner_is_understood(
            lists in proptest::collection::vec(proptest::collection::vec(("[a-z-]{1,40}|:status|date", "[ -~]{0,200}"), 0..20), 1..9),
            manner in proptest::sample::select(Manner::ALL.to_vec()),
            sizes in proptest::collection::vec(0_usize..6000, 9),
        ) {
            let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
            for (list, size) in lists.into_iter().zip(sizes) {
                if size < TABLE_BYTES {
                    encoder.limit(size);
                }
                let mut block = Vec::new();
                encoder.begin(manner, &mut block);
                for (name, value) in &list {
                    encoder.push(name.as_bytes(), value.as_bytes(), manner, &mut block);
                }
                prop_assert_eq!(listed(&mut decoder, &block), list);
            }
        }

        #[test]
        fn no_octets_make_it_panic(block in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Decoder::new().decode(&block, &mut Fields::default());
        }
    }
}
