//! The last head of a lane, and what it meant: most answers have the same head for a second, until its `date` changes.

use std::cell::RefCell;

use super::head::Head;
use crate::ask::Ask;

/// The last head that was read, shared by the connections of a lane. A head with the same bytes that answers the same
/// request means the same, and need not be read again.
#[derive(Debug, Default)]
pub struct HeadMemo<'a>(RefCell<Option<Known<'a>>>);

#[derive(Debug)]
struct Known<'a> {
    ask: &'a Ask,
    bytes: Vec<u8>,
    head: Head,
}

impl<'a> HeadMemo<'a> {
    /// What the head at the beginning of `bytes` means, and its length, if it is the last one that was read.
    pub(super) fn recall(&self, ask: &'a Ask, bytes: &[u8]) -> Option<(Head, usize)> {
        let known = self.0.borrow();
        let known = known.as_ref()?;
        let is_same = std::ptr::eq(known.ask, ask) && bytes.starts_with(&known.bytes);
        is_same.then_some((known.head, known.bytes.len()))
    }

    /// Keeps a head, if it means the same to each request of this kind.
    pub(super) fn keep(&self, ask: &'a Ask, bytes: &[u8], head: Head) {
        if !ask.expect.judges_all_alike() {
            return;
        }
        let mut known = self.0.borrow_mut();
        let mut kept = known.take().map_or_else(Vec::new, |known| known.bytes);
        kept.clear();
        kept.extend_from_slice(bytes);
        *known = Some(Known { ask, bytes: kept, head });
    }
}
