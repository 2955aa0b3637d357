use httlib_hpack as other;
use proptest::prelude::*;
use units::rfc7541::STATIC;

use super::*;
use crate::ask::Ask;
use crate::h2::Scheme;
use crate::{Asks, Expect, Request, Values};

type Field = (Vec<u8>, Vec<u8>);

const SOME: Values = Values { seq: 7, random: 11 };
const LIST_MAX: usize = 64 << 10;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn shown(decoder: &Decoder) -> String {
    let field = |(name, value): (&[u8], &[u8])| {
        format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
    };
    decoder.fields().map(field).collect::<Vec<_>>().join("\n")
}

/// What a decoder with a table of this size makes of blocks, one after the other, and the table's size after each.
fn check(table: usize, blocks: &[(&str, &str, usize)]) {
    let mut decoder = Decoder::new(table);
    for (block, fields, size) in blocks {
        decoder.decode(&bytes(block), LIST_MAX).unwrap();
        assert_eq!(shown(&decoder), *fields);
        assert_eq!(decoder.table.size, *size, "{fields}");
    }
}

fn fault(block: &str) -> Option<HpackFault> {
    Decoder::new(DEFAULT_SIZE).decode(&bytes(block), LIST_MAX).err()
}

// The octets of the next four are the examples of RFC 7541, Appendix C.

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
fn single_fields_are_those_of_the_rfc() {
    let custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    check(4096, &[(custom, "custom-key: custom-header", 55)]);
    check(4096, &[("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path", 0)]);
    check(4096, &[("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret", 0)]);
    check(4096, &[("82", ":method: GET", 0)]);
}

#[test]
fn requests_are_those_of_the_rfc() {
    let meant = [
        (":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com", 57),
        (
            ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n\
             cache-control: no-cache",
            110,
        ),
        (
            ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\n\
             custom-key: custom-value",
            164,
        ),
    ];
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let huffman = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, huffman] {
        let rows: Vec<_> =
            blocks.iter().zip(meant).map(|(hex, (fields, size))| (*hex, fields, size)).collect();
        check(4096, &rows);
    }
}

#[test]
fn answers_are_those_of_the_rfc_with_a_table_that_evicts() {
    let meant = [
        (
            ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n\
             location: https://www.example.com",
            222,
        ),
        (
            ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n\
             location: https://www.example.com",
            222,
        ),
        (
            ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\n\
             location: https://www.example.com\ncontent-encoding: gzip\n\
             set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            215,
        ),
    ];
    let plain = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a
         3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04
         677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49
         553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ];
    let huffman = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e
         919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7
         821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed
         4ee5 b106 3d50 07",
    ];
    for blocks in [plain, huffman] {
        let rows: Vec<_> =
            blocks.iter().zip(meant).map(|(hex, (fields, size))| (*hex, fields, size)).collect();
        check(256, &rows);
    }
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
    // Padding of eight ones; of zeros; the code for the end; the end in the middle.
    for hex in ["1fff", "18", "ffff ffff", "ffff fffc 00", "ff ff ff fc"] {
        let mut output = Vec::new();
        assert_eq!(huffman::decode(&bytes(hex), &mut output), Err(HpackFault::Huffman), "{hex}");
    }
    assert_eq!(huffman::decode(&bytes("1f"), &mut Vec::new()), Ok(()));
    assert_eq!(fault("0001 61 82 1fff"), Some(HpackFault::Huffman));
}

#[test]
fn broken_blocks_are_named_faults() {
    let cases = [
        ("80", HpackFault::Index),
        ("be", HpackFault::Index),
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
    // 2^28 is read, and is no index; the size that was announced is allowed, and so are two changes.
    assert_eq!(fault("ff 81ff ff7f"), Some(HpackFault::Index));
    assert_eq!(fault("3f e1 1f 82"), None);
    assert_eq!(fault("20 3f e1 1f 82"), None);
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
    let kinds: Vec<_> = fields
        .iter()
        .map(|(name, _, flags)| {
            let name = String::from_utf8_lossy(name);
            let never = *flags & other::Decoder::NEVER_INDEXED != 0;
            let kept = *flags & other::Decoder::WITH_INDEXING != 0;
            format!(
                "{name}{}{}",
                if never { " never" } else { "" },
                if kept { " kept" } else { "" }
            )
        })
        .collect();
    let expected = [
        ":method",
        ":scheme",
        ":authority",
        ":path",
        "authorization never",
        "cookie never",
        "x-number",
        "proxy-authorization never",
    ];
    assert_eq!(kinds, expected);
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
