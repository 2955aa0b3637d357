//! The reader of frames, by properties: however the bytes are cut they mean the same, and none of them make it panic.

use std::sync::Arc;

use proptest::prelude::*;

use super::frames::{DATA, FRAME_HEAD, GOAWAY, HEADERS, SETTINGS, push_frame};
use super::{Multiplex, PREFACE};
use crate::Config;
use crate::state::{Shared, ThreadState};

/// What a connection writes that takes these pieces, one after the other, at one instant.
fn written(pieces: &[&[u8]], state: &mut ThreadState) -> Vec<u8> {
    let mut multiplex = Multiplex::begin(state, 0);
    for piece in pieces {
        multiplex.take(piece, 0, state);
    }
    std::mem::take(&mut state.out)
}

fn state() -> ThreadState {
    ThreadState::new(Arc::new(Shared::new(Config::default(), None)), 0)
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
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let mut state = state();
        let whole = written(&[&bytes], &mut state);
        prop_assert_eq!(written(&pieces, &mut state), whole);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut state = state();
        written(&[PREFACE, &bytes], &mut state);
        written(&[&bytes], &mut state);
    }
}

#[test]
fn the_properties_see_answers_and_ends() {
    let mut bytes = PREFACE.to_vec();
    push_frame(&mut bytes, SETTINGS, 0, 0, b"");
    push_frame(&mut bytes, HEADERS, 5, 1, b"\x82\x86\x84");
    push_frame(&mut bytes, DATA, 0, 9, b"");
    let written = written(&[&bytes], &mut state());
    let (mut kinds, mut at) = (Vec::new(), 0);
    while at < written.len() {
        let length = usize::from(written[at + 1]) << 8 | usize::from(written[at + 2]);
        kinds.push(written[at + 3]);
        at += FRAME_HEAD + length;
    }
    assert_eq!(kinds, [SETTINGS, 8, SETTINGS, HEADERS, GOAWAY]);
}
