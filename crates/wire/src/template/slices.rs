//! Slices of long texts that are made once: a body is other bytes each time, and they cost no time to make.

use std::sync::OnceLock;

use super::{Values, mix};
use crate::chance::Chance;

/// The length of the text of any bytes.
const BYTES: usize = 1 << 20;
/// How many integers there are.
const INTEGERS: usize = 1 << 16;
/// A longer slice would be much the same each time.
pub(super) const BYTES_MAX: u32 = 1 << 18;

/// A longer list would be much the same each time.
pub(super) const INTEGERS_MAX: u16 = 1 << 12;
/// The digits of each of them, and a comma.
const WIDTH: usize = 7;

/// The texts.
struct Texts {
    bytes: Vec<u8>,
    integers: Vec<u8>,
    /// `sums[n]`: the first n integers together.
    sums: Vec<u64>,
}

/// Makes the texts before any load begins; returns the length of a slice that is wanted.
pub(super) fn made<N>(len: N) -> N {
    texts();
    len
}

/// So many bytes, at a place that the request's values determine.
pub(super) fn bytes(len: u32, values: Values) -> &'static [u8] {
    let from = place(values, BYTES - len as usize);
    &texts().bytes[from..from + len as usize]
}

/// So many integers as text, with commas between them.
pub(super) fn integers(count: u16, values: Values) -> &'static [u8] {
    let from = place(values, INTEGERS - usize::from(count));
    &texts().integers[from * WIDTH..(from + usize::from(count)) * WIDTH - 1]
}

/// Their sum.
pub(super) fn sum(count: u16, values: Values) -> u64 {
    let from = place(values, INTEGERS - usize::from(count));
    let sums = &texts().sums;
    sums[from + usize::from(count)] - sums[from]
}

fn texts() -> &'static Texts {
    static TEXTS: OnceLock<Texts> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut chance = Chance::new(0x0b17_e500);
        let bytes = (0..BYTES / 8).flat_map(|_| chance.draw().to_le_bytes()).collect();
        let (mut integers, mut sums) = (Vec::with_capacity(INTEGERS * WIDTH), vec![0]);
        for at in 0..INTEGERS {
            let integer = 100_000 + chance.below(900_000) as u64;
            integers.extend_from_slice(format!("{integer},").as_bytes());
            sums.push(sums[at] + integer);
        }
        Texts { bytes, integers, sums }
    })
}

/// A place from 0 to the last one.
fn place(values: Values, last: usize) -> usize {
    ((u128::from(mix(values.random ^ 0x5_11ce)) * (last as u128 + 1)) >> 64) as usize
}
