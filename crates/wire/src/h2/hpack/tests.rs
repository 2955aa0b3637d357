use httlib_hpack as other;
use proptest::prelude::*;
use units::rfc7541::STATIC;

use super::*;
use crate::ask::Ask;
use crate::h2::Scheme;
use crate::rfc7541::{CODED, GOOD_BLOCKS, NO_BLOCKS, NOT_CODED, check_examples, octets as bytes};
use crate::{Asks, Expect, Request, Values};

type Field = (Vec<u8>, Vec<u8>);

const SOME: Values = Values { seq: 7, random: 11 };
const LIST_MAX: usize = 64 << 10;

fn shown(decoder: &Decoder) -> String {
    let field = |(name, value): (&[u8], &[u8])| {
        format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
    };
    decoder.fields().map(field).collect::<Vec<_>>().join("\n")
}

/// What a block means, and the table's size after it.
fn read(decoder: &mut Decoder, block: &[u8]) -> (String, usize) {
    decoder.decode(block, LIST_MAX).unwrap();
    (shown(decoder), decoder.table.size)
}

fn fault(block: &str) -> Option<HpackFault> {
    Decoder::new(DEFAULT_SIZE).decode(&bytes(block), LIST_MAX).err()
}

#[test]
fn integers_are_those_of_the_rfc() {
    for (value, prefix, hex) in [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a")] {
        let mut output = Vec::new();
        integer::encode(0, prefix, value, &mut output);
        assert_eq!(output, bytes(hex));
        assert_eq!(integer::decode(&mut &output[..], prefix), Ok(value));
    }
}

#[test]
fn the_blocks_of_the_rfc_are_read() {
    let single = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    let named = "1008 7061 7373 776f 7264 0673 6563 7265 74";
    for (block, fields, size) in [
        (single, "custom-key: custom-header", 55),
        ("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path", 0),
        (named, "password: secret", 0),
        ("82", ":method: GET", 0),
    ] {
        let mut decoder = Decoder::new(DEFAULT_SIZE);
        assert_eq!(read(&mut decoder, &bytes(block)), (fields.to_string(), size));
    }
    check_examples(|| Decoder::new(DEFAULT_SIZE), read);
}

#[test]
fn every_octet_is_encoded_as_another_implementation_does() {
    let all: Vec<u8> = (0..=255).collect();
    for text in [&all[..], b"", b"www.example.com", b"a", &[0xff; 7]] {
        let mut mine = Vec::new();
        huffman::encode(text, &mut mine);
        assert_eq!(mine.len(), huffman::encoded_len(text));
        let mut decoded = Vec::new();
        huffman::decode(&mine, &mut decoded).unwrap();
        assert_eq!(decoded, text);
        // The other one: a literal with a name of one octet, and its value in the Huffman code.
        let mut encoder = other::Encoder::default();
        let mut block = Vec::new();
        let flags = other::Encoder::HUFFMAN_VALUE;
        encoder.encode((b"x".to_vec(), text.to_vec(), flags), &mut block).unwrap();
        assert!(block.ends_with(&mine), "{text:?}");
    }
}

#[test]
fn what_huffman_cannot_have_made_is_refused() {
    for hex in NOT_CODED {
        let mut output = Vec::new();
        assert_eq!(huffman::decode(&bytes(hex), &mut output), Err(HpackFault::Huffman), "{hex}");
    }
    for (text, coded) in CODED {
        let mut output = Vec::new();
        huffman::decode(&bytes(coded), &mut output).unwrap();
        assert_eq!(output, text.as_bytes());
    }
    assert_eq!(fault("0001 61 82 1fff"), Some(HpackFault::Huffman));
}

#[test]
fn broken_blocks_are_named_faults() {
    let cases = [
        ("80", HpackFault::Index),
        ("ff 00", HpackFault::Index),
        ("7f 00 00", HpackFault::Index),
        ("ff ffff ffff 0f", HpackFault::Integer),
        ("ff 8080 8080 8080 00", HpackFault::Integer),
        ("ff 80", HpackFault::Cut),
        ("40", HpackFault::Cut),
        ("00 05 61", HpackFault::Cut),
        ("00 01 61", HpackFault::Cut),
        ("00 01 61 7f ffff ff7f", HpackFault::Integer),
        ("3f e2 1f", HpackFault::Size),
        ("82 20", HpackFault::Size),
    ];
    for (hex, expected) in cases {
        assert_eq!(fault(hex), Some(expected), "{hex}");
    }
    assert!(NO_BLOCKS.iter().all(|hex| fault(hex).is_some()));
    assert!(GOOD_BLOCKS.iter().all(|hex| fault(hex).is_none()));
    // 2^28 is read, and is no index.
    assert_eq!(fault("ff 81ff ff7f"), Some(HpackFault::Index));
}

#[test]
fn a_field_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::new(64);
    decoder.decode(&bytes("40 01 61 01 62"), LIST_MAX).unwrap();
    assert_eq!(decoder.table.size, 34);
    let long = format!("40 01 61 28 {}", "62".repeat(40));
    decoder.decode(&bytes(&long), LIST_MAX).unwrap();
    assert_eq!(decoder.table.size, 0);
    assert_eq!(decoder.decode(&[0xbe], LIST_MAX), Err(HpackFault::Index));
}

#[test]
fn a_bomb_takes_no_memory_and_the_table_is_right_after_it() {
    // One field of 4,000 octets, and then that field 10,000 times, two octets for each.
    let mut block = bytes("40 01 61 7f a1 1e");
    block.extend([b'b'; 4_000]);
    block.extend([0xbe; 10_000]);
    block.extend(bytes("40 01 63 01 64"));
    let mut decoder = Decoder::new(DEFAULT_SIZE);
    let effect = decoder.decode(&block, LIST_MAX).unwrap();
    assert!(effect.is_too_large);
    assert!(decoder.fields().count() <= 16);
    assert!(decoder.text.capacity() < 200 << 10, "{}", decoder.text.capacity());
    decoder.decode(&[0xbe], LIST_MAX).unwrap();
    assert_eq!(shown(&decoder), "c: d");
}

/// A request for HTTP/2 with these fields besides the usual ones.
fn ask(target: &str, headers: &[(&str, &str)]) -> Ask {
    let headers = headers.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let request = Request { headers, ..Request::get("localhost", target) };
    Ask::new(&Request { http2: Some(Scheme::Http), ..request }, Expect::default()).unwrap()
}

fn encode<'a>(encoder: &mut Encoder<'a>, ask: &'a Ask) -> Vec<u8> {
    let mut output = Vec::new();
    encoder.encode(ask.http2(SOME).unwrap(), ask, SOME, &mut output);
    output
}

fn read_by_other(decoder: &mut other::Decoder<'_>, block: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    decoder.decode(&mut block.to_vec(), &mut fields).unwrap();
    fields.into_iter().map(|(name, value, _)| (name, value)).collect()
}

#[test]
fn a_usual_request_is_four_octets_after_the_first_time() {
    let ask = ask("/hello", &[]);
    let mut encoder = Encoder::new(true);
    let first = encode(&mut encoder, &ask);
    assert_eq!(first[..2], bytes("82 86"));
    for _ in 0..3 {
        assert_eq!(encode(&mut encoder, &ask), bytes("82 86 bf be"));
    }
    // Without the table, each is as the first one, and nothing is inserted.
    let mut plain = Encoder::new(false);
    let block = encode(&mut plain, &ask);
    assert_eq!(encode(&mut plain, &ask), block);
    let mut decoder = Decoder::new(DEFAULT_SIZE);
    assert_eq!(decoder.decode(&block, LIST_MAX).unwrap().inserted, 0);
    assert_eq!(
        shown(&decoder),
        ":method: GET\n:scheme: http\n:authority: localhost\n:path: /hello"
    );
}

#[test]
fn secrets_and_what_differs_are_never_in_the_table() {
    let headers = [
        ("Authorization", "Basic c2VjcmV0"),
        ("Cookie", "id=1"),
        ("X-Number", "{seq}"),
        ("Proxy-Authorization", "x{random:4}"),
    ];
    let ask = ask("/{seq}", &headers);
    let mut encoder = Encoder::new(true);
    encode(&mut encoder, &ask);
    let block = encode(&mut encoder, &ask);
    let mut decoder = other::Decoder::default();
    let mut fields = Vec::new();
    // Only the authority is in the table: the block before this one inserted it.
    decoder.decode(&mut bytes("41 09 6c6f 6361 6c68 6f73 74"), &mut Vec::new()).unwrap();
    decoder.decode(&mut block.clone(), &mut fields).unwrap();
    let is_never = |flags: u8| flags & other::Decoder::NEVER_INDEXED != 0;
    let never: Vec<_> = fields.iter().filter(|(.., flags)| is_never(*flags)).collect();
    let never = never.iter().map(|(name, ..)| String::from_utf8_lossy(name)).collect::<Vec<_>>();
    assert_eq!(never, ["authorization", "cookie", "proxy-authorization"]);
    assert!(fields.iter().all(|(.., flags)| flags & other::Decoder::WITH_INDEXING == 0));
    assert_eq!(fields.len(), 8);
}

#[test]
fn a_table_that_shrinks_is_announced_and_forgotten() {
    let ask = ask("/hello", &[("x-a", "1")]);
    let mut encoder = Encoder::new(true);
    let mut decoder = Decoder::new(DEFAULT_SIZE);
    // The octets of a request after these sizes were allowed; the announcement with which it begins.
    let mut encoder_of = |sizes: &[u32], update: &str| {
        for &size in sizes {
            encoder.allow(size);
        }
        let block = encode(&mut encoder, &ask);
        let update = bytes(update);
        assert_eq!(block[..update.len()], update);
        assert_eq!(block[update.len()], 0x82, "{block:02x?}");
        decoder.decode(&block, LIST_MAX).unwrap();
        assert_eq!(decoder.fields().count(), 5);
        block.len()
    };
    encoder_of(&[], "");
    assert_eq!(encoder_of(&[], ""), 5);
    // To nothing and back between two requests: both are said, the entries are gone.
    assert!(5 < encoder_of(&[0, 4096], "20 3fe11f"));
    assert_eq!(encoder_of(&[], ""), 5);
    // What still fits stays.
    assert_eq!(encoder_of(&[200], "3fa901"), 5 + 3);
    assert!(5 < encoder_of(&[0], "20"));
    assert!(5 < encoder_of(&[], ""));
    // More than we ever use is not used.
    assert!(5 < encoder_of(&[1 << 20], "3fe11f"));
    assert_eq!(encoder_of(&[], ""), 5);
}

#[test]
fn fields_of_most_requests_get_the_places() {
    let long = |n: usize| format!("/{n}/{}", "x".repeat(2_000));
    let asks = (0..4).map(|n| ask(&long(n), &[("x-all", "1")])).collect();
    let asks = Asks::in_turn(asks, 1).unwrap();
    let mut encoder = Encoder::new(true);
    let mut decoder = other::Decoder::default();
    let mut lengths = Vec::new();
    for turn in 0..8 {
        let ask = asks.choose(Values { seq: turn, random: 0 });
        let block = encode(&mut encoder, ask);
        lengths.push(block.len());
        let fields = read_by_other(&mut decoder, &block);
        assert_eq!(fields[3].1, long(turn as usize % 4).into_bytes());
        assert_eq!(fields[4], (b"x-all".to_vec(), b"1".to_vec()));
    }
    // One path fits beside what all have in common; the others are never in the table.
    assert_eq!(lengths[4], 5);
    assert!(lengths[5..].iter().all(|&length| 1_000 < length), "{lengths:?}");
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let known = prop::sample::select(&STATIC[..])
        .prop_map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    let few = (prop::sample::select(vec!["a", "date", "x-long-name", ":path"]), 0..6_u8)
        .prop_map(|(name, n)| (name.as_bytes().to_vec(), vec![b'0' + n; usize::from(n) * 9]));
    let any = (prop::collection::vec(any::<u8>(), 1..9), prop::collection::vec(any::<u8>(), 0..40));
    prop::collection::vec(prop_oneof![known, few, any], 0..8)
}

proptest! {
    #[test]
    fn what_another_encoder_writes_is_read(
        blocks in prop::collection::vec((fields(), any::<u8>()), 1..12),
        size in prop::sample::select(vec![0_u32, 64, 256, 4096]),
    ) {
        let mut encoder = other::Encoder::with_dynamic_size(size);
        let mut decoder = Decoder::new(size as usize);
        for (fields, flags) in blocks {
            let mut block = Vec::new();
            for (name, value) in &fields {
                // Its best format reads the table; the other flags choose how a literal is written.
                let flags = flags & 0x0f | other::Encoder::BEST_FORMAT;
                encoder.encode((name.clone(), value.clone(), flags), &mut block).unwrap();
            }
            decoder.decode(&block, LIST_MAX).unwrap();
            let read: Vec<Field> =
                decoder.fields().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            prop_assert_eq!(read, fields);
        }
    }

    #[test]
    fn both_decoders_agree_on_what_a_block_means(
        blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..6),
    ) {
        let mut mine = Decoder::new(DEFAULT_SIZE);
        let mut theirs = other::Decoder::default();
        for block in blocks {
            let Ok(_) = mine.decode(&block, usize::MAX) else { break };
            let mut read = Vec::new();
            // The other one is laxer or stricter about some faults, never about what fields mean.
            let Ok(_) = theirs.decode(&mut block.clone(), &mut read) else { break };
            let mine: Vec<Field> = mine.fields().map(|(n, v)| (n.to_vec(), v.to_vec())).collect();
            let theirs: Vec<Field> = read.into_iter().map(|(n, v, _)| (n, v)).collect();
            prop_assert_eq!(mine, theirs);
        }
    }

    #[test]
    fn requests_are_read_by_another_decoder(
        order in prop::collection::vec((0_u64..4, prop::option::weighted(0.2, 0_u32..300)), 1..40),
        inserts in any::<bool>(),
    ) {
        let asks = Asks::in_turn(vec![
            ask("/", &[("x-all", "1")]),
            ask("/one", &[("x-all", "1"), ("x-one", "{seq}")]),
            ask("/two?{random:9}", &[("authorization", "me")]),
            ask("/three", &[("x-all", "1"), ("cookie", "a-long-cookie-with-a-value")]),
        ], 1).unwrap();
        let mut encoder = Encoder::new(inserts);
        let mut decoder = Decoder::new(DEFAULT_SIZE);
        let mut theirs = other::Decoder::default();
        for (seq, resize) in order {
            if let Some(size) = resize {
                encoder.allow(size);
            }
            let values = Values { seq, random: 3 };
            let chosen = asks.choose(values);
            let mut block = Vec::new();
            encoder.encode(chosen.http2(values).unwrap(), chosen, values, &mut block);
            decoder.decode(&block, LIST_MAX).unwrap();
            let text = shown(&decoder);
            let path = [":path: /\n", ":path: /one\n", ":path: /two?", ":path: /three\n"];
            prop_assert!(text.contains(path[seq as usize]), "{text}");
            prop_assert!(!text.contains("x-one") || text.contains("x-one: 1"), "{text}");
            let fields = read_by_other(&mut theirs, &block);
            prop_assert_eq!(fields.len(), decoder.fields().count());
        }
    }

    #[test]
    fn no_block_makes_it_panic(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..5)) {
        let mut decoder = Decoder::new(DEFAULT_SIZE);
        for block in blocks {
            let _ = decoder.decode(&block, 1_000);
            prop_assert!(decoder.table.size <= DEFAULT_SIZE);
        }
    }
}
