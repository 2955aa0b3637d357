//! The reader of frames. By properties: however the bytes are cut they mean the same, and none of them make it panic. And
//! what a client must not do.

use std::sync::Arc;

use proptest::prelude::*;

use super::frames::{
    CONTINUATION, DATA, FRAME_HEAD, Frame, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, push_frame,
};
use super::{Multiplex, PREFACE};
use crate::Config;
use crate::cuts::cut_at;
use crate::state::{Shared, ThreadState};

/// What a connection writes that takes these pieces, one after the other, at one instant.
fn written(pieces: &[&[u8]], state: &mut ThreadState) -> Vec<u8> {
    let mut multiplex = Multiplex::begin(state, 0);
    for piece in pieces {
        multiplex.take(piece, 0, state);
    }
    std::mem::take(&mut state.out)
}

fn state(config: Config) -> ThreadState {
    ThreadState::new(Arc::new(Shared::new(config, None)), 0)
}

/// A GET as a block of fields: by places of the static table, and a literal path.
fn get(path: &str) -> Vec<u8> {
    [b"\x82\x86\x04", &[path.len() as u8][..], path.as_bytes()].concat()
}

/// Frames that mostly make sense, and some that do not.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let block = prop_oneof![
        6 => Just(b"\x82\x86\x84".to_vec()),
        3 => Just(b"\x83\x86\x84".to_vec()),
        2 => Just(b"\x82\x86\x84\x40\x01a\x01b\xbe".to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ];
    let id = prop_oneof![8 => 0..12_u32, 1 => any::<u32>()];
    let one = prop_oneof![
        8 => (block, prop_oneof![Just(4_u8), Just(5), Just(0), Just(1)], 0..9_u32)
            .prop_map(|(block, flags, id)| (HEADERS, flags, 2 * id + 1, block)),
        4 => (proptest::collection::vec(any::<u8>(), 0..40), 0..2_u8, 0..9_u32)
            .prop_map(|(content, flags, id)| (DATA, flags, 2 * id + 1, content)),
        2 => proptest::collection::vec(any::<u8>(), 0..13).prop_map(|octets| (SETTINGS, 0, 0, octets)),
        3 => (0..12_u8, any::<u8>(), id, proptest::collection::vec(any::<u8>(), 0..20)),
    ];
    proptest::collection::vec(one, 0..12).prop_map(|frames| {
        let mut bytes = PREFACE.to_vec();
        push_frame(&mut bytes, SETTINGS, 0, 0, b"");
        for (kind, flags, id, payload) in &frames {
            push_frame(&mut bytes, *kind, *flags, *id, payload);
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_cut_of_the_bytes_means_the_same(
        bytes in frames(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
    ) {
        let mut state = state(Config::default());
        let whole = written(&[&bytes], &mut state);
        prop_assert_eq!(written(&cut_at(&bytes, &cuts), &mut state), whole);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut state = state(Config::default());
        written(&[PREFACE, &bytes], &mut state);
        written(&[&bytes], &mut state);
    }
}

/// The frames in these bytes: kind, flags, stream and payload.
fn frames_in(mut bytes: &[u8]) -> Vec<(u8, u8, u32, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some(frame) = Frame::read(bytes).unwrap() {
        bytes = &bytes[FRAME_HEAD + frame.payload.len()..];
        frames.push((frame.kind, frame.flags, frame.stream, frame.payload.to_vec()));
    }
    frames
}

fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_frame(&mut bytes, kind, flags, id, payload);
    bytes
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

#[test]
fn the_properties_see_answers_and_ends() {
    let ask = frame(HEADERS, 5, 1, b"\x82\x86\x84");
    let greeting = [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat();
    let bytes = [greeting, ask, frame(DATA, 0, 9, b"")].concat();
    let written = frames_in(&written(&[&bytes], &mut state(Config::default())));
    let kinds: Vec<u8> = written.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, [SETTINGS, WINDOW_UPDATE, SETTINGS, HEADERS, GOAWAY]);
}

/// What becomes of a connection on which a client sends these frames: it goes on, or it or a stream ends with this code.
fn outcome(config: Config, frames: &[Vec<u8>]) -> String {
    let greeting = [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat();
    let bytes = [greeting, frames.concat(), frame(PING, 0, 0, b"the end.")].concat();
    let written = frames_in(&written(&[&bytes], &mut state(config)));
    let end = written.iter().find_map(|(kind, flags, id, payload)| match *kind {
        GOAWAY => Some(format!("goaway {}", payload[7])),
        RST_STREAM => Some(format!("reset {id} {}", payload[3])),
        PING if payload == b"the end." && *flags == 1 => Some("alive".into()),
        _ => None,
    });
    end.expect("each connection ends, or answers a PING")
}

#[test]
fn what_a_client_must_not_do_is_refused() {
    let check = |frames: &[Vec<u8>], expected: &str| {
        let shown: Vec<_> = frames.iter().map(|frame| frame.escape_ascii().to_string()).collect();
        assert_eq!(outcome(Config::default(), frames), expected, "{}", shown.join(" "));
    };
    let slow = frame(HEADERS, 5, 1, &get("/hello?delay=constant:1min"));
    let ask = |block: &[u8]| frame(HEADERS, 5, 1, block);
    let open = || frame(HEADERS, 4, 1, b"\x83\x86\x84");
    let fields = |more: &[u8]| ask(&[b"\x82\x86\x84", more].concat());
    check(&[frame(DATA, 0, 1, b"a")], "goaway 1");
    check(&[frame(DATA, 0, 0, b"a")], "goaway 1");
    check(&[frame(HEADERS, 5, 0, b"\x82\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 5, 2, b"\x82\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 5, 3, b"\x82\x86\x84"), ask(b"\x82\x86\x84")], "goaway 5");
    check(&[frame(RST_STREAM, 0, 1, &[0; 4])], "goaway 1");
    check(&[frame(RST_STREAM, 0, 1, &[0; 3])], "goaway 6");
    check(&[frame(PING, 0, 0, &[0; 7])], "goaway 6");
    check(&[frame(PING, 0, 1, &[0; 8])], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &[0; 5])], "goaway 6");
    check(&[frame(SETTINGS, 1, 0, &[0; 6])], "goaway 6");
    check(&[frame(SETTINGS, 0, 1, b"")], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &setting(2, 2))], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &setting(4, 1 << 31))], "goaway 3");
    check(&[frame(SETTINGS, 0, 0, &setting(5, 16_383))], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[0; 4])], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[0; 3])], "goaway 6");
    check(&[frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[127, 255, 255, 255])], "goaway 3");
    check(&[open(), frame(WINDOW_UPDATE, 0, 1, &[0; 4])], "reset 1 1");
    check(&[open(), frame(WINDOW_UPDATE, 0, 1, &[127, 255, 255, 255])], "reset 1 3");
    check(&[frame(5, 4, 1, &[0, 0, 0, 2])], "goaway 1");
    check(&[frame(CONTINUATION, 4, 1, b"\x82")], "goaway 1");
    check(&[frame(HEADERS, 1, 1, b"\x82"), frame(PING, 0, 0, &[0; 8])], "goaway 1");
    check(&[frame(HEADERS, 1, 1, b"\x82"), frame(CONTINUATION, 4, 3, b"\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 13, 1, b"\x09\x82\x86\x84")], "goaway 1");
    check(&[frame(9, 0, 1, &[0; 16_385])], "goaway 6");
    check(&[ask(b"\x82\x86\x84\xff\xff\x7f")], "goaway 9");
    check(&[open(), frame(HEADERS, 4, 1, b"\x00\x01a\x01b")], "reset 1 1");
    check(&[slow, frame(DATA, 0, 1, b"a")], "reset 1 5");
    check(&[ask(b"\x82\x86")], "reset 1 1");
    check(&[ask(b"\x82\x82\x86\x84")], "reset 1 1");
    check(&[ask(b"\x82\x86\x84\x88")], "reset 1 1");
    check(&[ask(b"\x82\x86\x04\x00")], "reset 1 1");
    check(&[ask(b"\x82\x86\x00\x01a\x01b\x84")], "reset 1 1");
    check(&[fields(b"\x00\x01A\x01b")], "reset 1 1");
    check(&[fields(b"\x00\x01a\x02 b")], "reset 1 1");
    check(&[fields(b"\x00\x01a\x03b\r\n")], "reset 1 1");
    check(&[fields(b"\x00\x0aconnection\x05close")], "reset 1 1");
    check(&[fields(b"\x00\x02te\x04gzip")], "reset 1 1");
    check(&[fields(b"\x01\x01h\x0f\x17\x01g")], "reset 1 1");
    check(&[fields(b"\x0f\x0d\x011")], "reset 1 1");
    let short = frame(HEADERS, 4, 1, b"\x83\x86\x84\x0f\x0d\x012");
    check(&[short, frame(DATA, 1, 1, b"a")], "reset 1 1");
    let well = ["\x00\x02te\x08trailers", "\x01\x01h", ""];
    well.iter().for_each(|more| check(&[fields(more.as_bytes())], "alive"));
    check(&[frame(0xaa, 255, 77, b"unknown")], "alive");
    check(&[frame(2, 0, 77, &[0; 5])], "alive");
}

#[test]
fn more_streams_or_more_content_than_allowed_is_refused() {
    let waiting = |id| frame(HEADERS, 5, id, &get("/hello?delay=constant:1min"));
    let config = Config { streams: 2, ..Config::default() };
    assert_eq!(outcome(config.clone(), &[waiting(1), waiting(3)]), "alive");
    assert_eq!(outcome(config, &[waiting(1), waiting(3), waiting(5)]), "reset 5 7");
    let post = frame(HEADERS, 4, 1, b"\x83\x86\x84");
    let full = vec![
        post,
        frame(SETTINGS, 1, 0, b""),
        frame(DATA, 0, 1, &[0; 10]),
        frame(DATA, 0, 1, &[0; 1]),
    ];
    let small = Config { window: 21, ..Config::default() };
    assert_eq!(outcome(small.clone(), &full[..3]), "alive");
    let twice = [full.clone(), vec![frame(DATA, 0, 1, &[0; 22])]].concat();
    assert_eq!(outcome(small, &twice), "reset 1 3");
}
