//! What is long, over lines that come in order and of which none is lost: cut, and put together again.

use std::collections::VecDeque;

use crate::parcel::{Inbox, Outbox, Parcel, RESULT_MAX};

/// So many reassembly wait to be taken, at most.
const WAITING: usize = 4;

/// The digest of these bytes, and their parts.
pub fn cut(bytes: Vec<u8>) -> (String, impl Iterator<Item = Parcel>) {
    let outbox = Outbox::new(bytes);
    (outbox.digest().to_string(), outbox.into_parcels())
}

/// What has come in parts, until it is taken.
#[derive(Debug, Default)]
pub struct Reassembly {
    coming: Option<Inbox>,
    whole: VecDeque<(String, Vec<u8>)>,
}

impl Reassembly {
    /// Takes the next part.
    pub fn add(&mut self, parcel: Parcel) -> Result<(), String> {
        let digest = parcel.digest.clone();
        let inbox = self.coming.get_or_insert_with(|| Inbox::new(RESULT_MAX));
        let Some(whole) = inbox.take(parcel)? else { return Ok(()) };
        self.coming = None;
        if self.whole.len() == WAITING {
            return Err("too much came that nothing names".into());
        }
        self.whole.push_back((digest, whole));
        Ok(())
    }

    /// The whole of this digest, once.
    pub fn take(&mut self, digest: &str) -> Option<Vec<u8>> {
        let place = self.whole.iter().position(|(name, _)| name == digest)?;
        self.whole.remove(place).map(|(_, whole)| whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PART_MAX;

    #[test]
    fn what_was_cut_is_whole_again_under_its_digest() {
        let mut reassembly = Reassembly::default();
        for length in [0, 7, 2 * PART_MAX, 2 * PART_MAX + 1] {
            let bytes: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
            let (digest, parts) = cut(bytes.clone());
            assert_eq!(reassembly.take(&digest), None);
            parts.for_each(|part| reassembly.add(part).unwrap());
            assert_eq!(reassembly.take("other"), None);
            assert_eq!(reassembly.take(&digest), Some(bytes));
            assert_eq!(reassembly.take(&digest), None, "once");
        }
    }

    #[test]
    fn what_is_never_taken_does_not_fill_the_memory() {
        let mut reassembly = Reassembly::default();
        let mut send = |byte: u8| cut(vec![byte]).1.try_for_each(|part| reassembly.add(part));
        assert!((0..4).all(|byte| send(byte).is_ok()));
        assert!(send(9).unwrap_err().contains("nothing names"));
        let mut reassembly = Reassembly::default();
        let mut wrong: Vec<Parcel> = cut(vec![1, 2]).1.collect();
        wrong[0].bytes[0] = 9;
        assert!(reassembly.add(wrong.remove(0)).unwrap_err().contains("digest"));
    }
}
