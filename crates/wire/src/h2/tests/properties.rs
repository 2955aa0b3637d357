use super::*;
use crate::cuts::cut_at;
use proptest::prelude::*;

/// What a connection makes of bytes that come in these pieces. After a fault nothing more is read.
fn hear(order: H2Order, asks: &[Ask], pieces: &[&[u8]]) -> (Vec<H2News>, Vec<u8>, Option<H2Fault>) {
    let mut talk = Talk::asked(order, asks);
    let fault = pieces.iter().find_map(|piece| talk.hear(piece).err());
    assert!(talk.h2.incoming.size() < 200 << 10);
    talk.news.retain(|news| !matches!(news, H2News::Part { .. }));
    (talk.news, talk.output, fault)
}

static ASKS: LazyLock<[Ask; 6]> = LazyLock::new(|| {
    let header = vec![("a".into(), Template::literal("b"))];
    [
        get().clone(),
        post(10),
        request("GET", "", Expect { headers: header, ..Expect::default() }),
        request("HEAD", "", Expect::default()),
        request("GET", "", Expect { body: BodyRule::Length(5), ..Expect::default() }),
        post(200_000),
    ]
});

/// Frames of a server that is mostly sound.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let stream = || prop::sample::select(vec![1_u32, 3, 5, 7, 9, 11]);
    let fields = prop::sample::select(vec![
        ":status: 200",
        ":status: 200\ncontent-length: 5",
        ":status: 103\nlink: x",
        ":status: 404\na: b",
        ":status: 304\ncontent-length: 9",
        ":status: 200\nA: b",
        "x-sum: 1",
    ]);
    let flags = || prop::sample::select(vec![EH, WHOLE, EH, WHOLE, 0, ES]);
    let inserts = vec![0x88, 0x61, 3, b'n', b'o', b'w', 0x40, 1, b'a', 1, b'b'];
    let blocks = prop::sample::select(vec![
        inserts,
        vec![0x88, 0xbe],
        vec![0x88],
        vec![0x8d, 0xbf],
        vec![0x20, 0x3f, 0xe1, 0x1f, 0x88],
        vec![0x80],
    ]);
    let body = prop::sample::select(vec!["", "hello", "hi", "hello, world"]);
    let others = prop::sample::select(vec![
        settings(&[]),
        settings(&[(3, 1), (4, 0), (1, 0)]),
        frame(PING, 0, 0, &[7; 8]),
        window(0, 1_000),
        window(11, 70_000),
        frame(77, 0, 0, b"unknown"),
        frame(DATA, PAD | ES, 1, &[3, b'h', b'i', 0, 0, 0]),
        frame(PRIORITY, 0, 3, &[0; 5]),
        goaway(5, 0),
        goaway(3, 2),
    ]);
    prop_oneof![
        4 => (stream(), flags(), blocks).prop_map(|(stream, flags, it)| frame(HEADERS, flags, stream, &it)),
        4 => (stream(), flags(), fields).prop_map(|(stream, flags, it)| head(stream, flags, it)),
        4 => (stream(), 0..2_u8, body).prop_map(|(stream, flags, it)| data(stream, flags, it)),
        1 => (stream(), flags()).prop_map(|(stream, flags)| frame(CONTINUATION, flags & EH, stream, &[0x0f])),
        1 => (stream(), 0..14_u32).prop_map(|(stream, code)| rst(stream, code)),
        3 => others,
    ]
}

/// Some octets are changed, left out or doubled.
fn spoilt(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (place, what, value) in changes {
        if bytes.is_empty() {
            break;
        }
        let place = place.index(bytes.len());
        match what % 4 {
            0 => bytes[place] = *value,
            1 => bytes[place] ^= 1 << (value % 8),
            2 => drop(bytes.remove(place)),
            _ => bytes.insert(place, *value),
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    // A debug build also decodes each head that is known from an equal one, and compares.
    #[test]
    fn cutting_the_bytes_anywhere_changes_nothing(
        frames in prop::collection::vec(frames(), 0..30),
        changes in changes(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        small in any::<bool>(),
    ) {
        let windows = if small { Windows::new(9, 65_535).unwrap() } else { Windows::default() };
        let limits = Limits { body: if small { 10 } else { 1 << 30 }, ..Limits::default() };
        let (order, asks) = (H2Order { windows, limits, ..order(6) }, &*ASKS);
        let bytes = spoilt(frames.concat(), &changes);
        let whole = hear(order, asks, &[&bytes]);

        prop_assert_eq!(&hear(order, asks, &cut_at(&bytes, &cuts)), &whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&hear(order, asks, &single), &whole);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (order, asks) = (order(6), &*ASKS);
        hear(order, asks, &[&bytes]);
        let mut talk = Talk::open(order);
        let _ = talk.hear(&bytes);
    }

    #[test]
    fn each_exchange_ends_at_most_once_and_room_is_what_is_left(
        frames in prop::collection::vec(frames(), 0..60),
        changes in changes(),
    ) {
        let (order, asks) = (order(6), &*ASKS);
        let mut talk = Talk::asked(order, asks);
        let mut next = asks.len() as u32 + 1;
        for bytes in frames {
            if talk.hear(&spoilt(bytes, &changes)).is_err() {
                break;
            }
            talk.go_on();
            if 0 < talk.h2.room() {
                talk.ask(next, &asks[next as usize % asks.len()]);
                next += 1;
            }
        }
        let mut ended: Vec<ExchangeId> = talk.news.iter().filter_map(|news| match news {
            H2News::Answered { exchange, .. }
            | H2News::Refused(exchange)
            | H2News::Failed(exchange, _) => Some(*exchange),
            _ => None,
        }).collect();
        let mut under_way = Vec::new();
        talk.h2.under_way(&mut under_way);
        ended.extend(under_way.into_iter().map(|(exchange, _)| exchange));
        let mut ended: Vec<u32> = ended.into_iter().map(number).collect();
        ended.sort_unstable();
        prop_assert_eq!(ended, (1..next).collect::<Vec<_>>());
        prop_assert_eq!(talk.h2.slots.iter().count(), talk.h2.under_way);
        prop_assert_eq!(talk.h2.slots.iter().filter(|slot| 0 < slot.unsent).count(), talk.h2.unsent);
    }
}
