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
    use proptest::prelude::*;

    fn listed(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
        let mut fields = Fields::default();
        decoder.decode(block, &mut fields).unwrap();
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        fields.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn octets(hex: &str) -> Vec<u8> {
        let hex: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
        let two = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
        hex.chunks(2).map(two).collect()
    }

    /// RFC 7541, appendix C.5 and C.6: three answers of one connection with a table of 256 octets.
    #[test]
    fn the_answers_of_the_rfc_are_decoded_with_evictions() {
        let plain = [
            "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 \
             474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            "4803 3330 37c1 c0bf",
            "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 \
             666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 \
             3630 303b 2076 6572 7369 6f6e 3d31",
        ];
        let coded = [
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 \
             63c7 8f0b 97c8 e9ae 82ae 43d3",
            "4883 640e ffc1 c0bf",
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 \
             b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        ];
        for blocks in [plain, coded] {
            let mut decoder = Decoder::new();
            decoder.table.resize(256);
            let lists = blocks.map(|block| listed(&mut decoder, &octets(block)));
            let date = "Mon, 21 Oct 2013 20:13:2";
            let of = |status: &str, second: &str| {
                let fields = [
                    (":status", status),
                    ("cache-control", "private"),
                    ("date", &format!("{date}{second} GMT")),
                    ("location", "https://www.example.com"),
                ];
                fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
            };
            assert_eq!(lists[0], of("302", "1"));
            assert_eq!(lists[1], of("307", "1"));
            assert_eq!(lists[2][..4], of("200", "2"));
            assert_eq!(lists[2][5].1, "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
            assert_eq!((decoder.table.entries.len(), decoder.table.used), (3, 215));
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let refused =
            |hex: &str| Decoder::new().decode(&octets(hex), &mut Fields::default()).is_err();
        for wrong in [
            "80",
            "be",
            "ffffffff7f",
            "40",
            "400a6b",
            "00",
            "82 20",
            "3fe21f",
            "4082ffff01 61",
            "7f",
        ] {
            assert!(refused(wrong), "{wrong}");
        }
        for right in ["", "82", "20", "3fe11f", "82 84", "0f0d 01 61", "203fe11f"] {
            assert!(!refused(right), "{right}");
        }
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
