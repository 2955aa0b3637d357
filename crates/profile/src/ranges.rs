//! What is where in memory: what comes later replaces what it covers.

use std::collections::BTreeMap;

/// (length, what is there) by first address; none overlaps another.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for Ranges<T> {
    fn default() -> Ranges<T> {
        Ranges(BTreeMap::new())
    }
}

impl<T> Ranges<T> {
    pub(crate) fn add(&mut self, from: u64, length: u64, found: T) {
        let until = from.saturating_add(length);
        let covered = self.0.range(..until).rev();
        let covered =
            covered.take_while(|(start, (length, _))| from < start.saturating_add(*length));
        for start in covered.map(|(start, _)| *start).collect::<Vec<_>>() {
            self.0.remove(&start);
        }
        self.0.insert(from, (length, found));
    }

    pub(crate) fn find(&self, address: u64) -> Option<&T> {
        let (from, (length, found)) = self.0.range(..=address).next_back()?;
        (address - from < *length).then_some(found)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.0.values().map(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_replaces_what_it_covers() {
        let mut ranges = Ranges::default();
        for (from, length, name) in
            [(0x100, 0x100, "old"), (0x300, 0x100, "kept"), (0x180, 0x100, "new")]
        {
            ranges.add(from, length, name);
        }
        ranges.add(u64::MAX, u64::MAX, "end");
        let found = [0x110, 0x180, 0x27f, 0x280, 0x3ff, 0x400].map(|it| ranges.find(it).copied());
        assert_eq!(found, [None, Some("new"), Some("new"), None, Some("kept"), None]);
        assert_eq!(ranges.all().collect::<Vec<_>>(), [&"new", &"kept", &"end"]);
    }
}
