//! The first bytes of a message that may come in pieces. Between messages it holds no memory.

use super::MESSAGE_SHOWN;

/// What has come of a message, of which only the beginning is kept.
#[derive(Debug, Default)]
pub(crate) struct First {
    kept: Vec<u8>,
    bytes: u64,
}

impl First {
    /// A piece that is not the last.
    pub(crate) fn take(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        let room = MESSAGE_SHOWN - self.kept.len();
        self.kept.extend_from_slice(&part[..part.len().min(room)]);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The last piece: the whole message's first bytes and length. A message in one piece is shown where it lies.
    pub(crate) fn finish(&mut self, last: &[u8], show: impl FnOnce(&[u8], u64)) {
        if self.bytes == 0 {
            return show(&last[..last.len().min(MESSAGE_SHOWN)], last.len() as u64);
        }
        self.take(last);
        let First { kept, bytes } = std::mem::take(self);
        show(&kept, bytes);
    }

    /// Forgets what came.
    pub(crate) fn clear(&mut self) {
        *self = First::default();
    }
}
