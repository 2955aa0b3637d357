//! The tables of fields that HPACK refers to by a number: the fixed one, and the one that a peer fills.

use std::collections::VecDeque;

/// RFC 7541, 4.1: what an entry counts besides its octets.
pub(super) const OVERHEAD: usize = 32;

/// The table's size unless something else is agreed on.
pub(crate) const DEFAULT_SIZE: usize = 4096;

/// The fields that a peer has inserted, the newest first. The oldest leave when there is no room.
#[derive(Debug)]
pub(super) struct Table {
    /// The entries' octets, name and value, one entry after the other; those before the first one's are dead.
    bytes: Vec<u8>,
    /// The oldest first.
    entries: VecDeque<Place>,
    /// The sum of the entries' sizes. `size <= limit`
    pub(super) size: usize,
    limit: usize,
}

/// Where the octets of a field are, and how many are its name's and its value's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: u32,
    pub(super) name: u32,
    pub(super) value: u32,
}

impl Place {
    fn size(self) -> usize {
        (self.name + self.value) as usize + OVERHEAD
    }

    /// The field among these octets.
    pub(super) fn of(self, octets: &[u8]) -> (&[u8], &[u8]) {
        let (name, after) = octets[self.at as usize..].split_at(self.name as usize);
        (name, &after[..self.value as usize])
    }
}

impl Table {
    pub(super) fn new(limit: usize) -> Table {
        Table { bytes: Vec::new(), entries: VecDeque::new(), size: 0, limit }
    }

    #[cfg(debug_assertions)]
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn resize(&mut self, limit: usize) {
        self.limit = limit;
        self.make_room(0);
    }

    /// The field with this index of the peer's table; 0 is the newest.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let place = self.entries.len().checked_sub(index + 1)?;
        Some(self.entries[place].of(&self.bytes))
    }

    /// RFC 7541, 4.4: a field that is larger than the table empties it, and is not kept.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let entry = Place { at: 0, name: name.len() as u32, value: value.len() as u32 };
        self.make_room(entry.size());
        if self.limit < entry.size() {
            return;
        }
        let dead = self.entries.front().map_or(self.bytes.len(), |first| first.at as usize);
        // What is dead is moved over when it is half of all: each octet is moved about once.
        if self.limit <= dead {
            self.bytes.drain(..dead);
            for entry in &mut self.entries {
                entry.at -= dead as u32;
            }
        }
        self.entries.push_back(Place { at: self.bytes.len() as u32, ..entry });
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.size += entry.size();
    }

    fn make_room(&mut self, wanted: usize) {
        while self.limit < self.size + wanted
            && let Some(oldest) = self.entries.pop_front()
        {
            self.size -= oldest.size();
        }
        if self.entries.is_empty() {
            self.bytes.clear();
        }
    }
}
