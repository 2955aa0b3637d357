//! Slices of a long text that is made once: a body is other bytes each time, and they cost no time to make.

use std::sync::OnceLock;

use super::{Values, mix};
use crate::chance::Chance;

/// The length of the text.
const BYTES: usize = 1 << 20;
/// A longer slice would be much the same each time.
pub(super) const BYTES_MAX: u32 = 1 << 18;

/// Makes the text before any load begins; returns the length of a slice that is wanted.
pub(super) fn made(len: u32) -> u32 {
    all();
    len
}

/// So many bytes, at a place that the request's values determine.
pub(super) fn bytes(len: u32, values: Values) -> &'static [u8] {
    let from = place(values, BYTES - len as usize);
    &all()[from..from + len as usize]
}

fn all() -> &'static [u8] {
    static ALL: OnceLock<Vec<u8>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut chance = Chance::new(0x0b17_e500);
        (0..BYTES / 8).flat_map(|_| chance.draw().to_le_bytes()).collect()
    })
}

/// A place from 0 to the last one.
fn place(values: Values, last: usize) -> usize {
    ((u128::from(mix(values.random ^ 0x5_11ce)) * (last as u128 + 1)) >> 64) as usize
}
