//! Whether text that comes in pieces is UTF-8. A fault is detected at the first byte that causes it.

use crate::held::HeldFault;

/// A character that has begun, at most three bytes of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8 {
    begun: [u8; 4],
    has: u8,
}

impl Utf8 {
    pub(super) fn take(&mut self, part: &[u8]) -> Result<(), HeldFault> {
        let mut rest = part;
        while let (true, Some((&byte, after))) = (0 < self.has, rest.split_first()) {
            self.begun[usize::from(self.has)] = byte;
            self.has += 1;
            rest = after;
            match std::str::from_utf8(&self.begun[..usize::from(self.has)]) {
                Ok(_) => self.has = 0,
                Err(error) if error.error_len().is_some() => return Err(HeldFault::NotUtf8),
                Err(_) => {}
            }
        }
        match std::str::from_utf8(rest) {
            Ok(_) => Ok(()),
            Err(error) if error.error_len().is_some() => Err(HeldFault::NotUtf8),
            Err(error) => {
                let begun = &rest[error.valid_up_to()..];
                self.begun[..begun.len()].copy_from_slice(begun);
                self.has = begun.len() as u8;
                Ok(())
            }
        }
    }

    /// The text has ended.
    pub(super) fn finish(&mut self) -> Result<(), HeldFault> {
        match std::mem::take(self).has {
            0 => Ok(()),
            _ => Err(HeldFault::NotUtf8),
        }
    }
}
