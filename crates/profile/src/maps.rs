//! Where processes have their code: which file, and which place in it, an address belongs to.

use std::collections::HashMap;
use std::fs;

use crate::ranges::Ranges;
use crate::records::Mapping;

/// Mappings of code by process.
#[derive(Debug, Default)]
pub(crate) struct Maps(HashMap<u32, Ranges<Mapping>>);

impl Maps {
    /// Reads what a process has now; nothing if it has ended.
    pub(crate) fn read(&mut self, pid: u32) {
        // A file's name may be of any bytes.
        let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for mapping in String::from_utf8_lossy(&text).lines().filter_map(parse) {
            self.add(pid, mapping);
        }
    }

    pub(crate) fn add(&mut self, pid: u32, mapping: Mapping) {
        self.0.entry(pid).or_default().add(mapping.from, mapping.length, mapping);
    }

    /// A process that was forked has what its parent has; not one of which something is known.
    pub(crate) fn inherit(&mut self, pid: u32, parent: u32) {
        if let (false, Some(maps)) = (self.0.contains_key(&pid), self.0.get(&parent)) {
            self.0.insert(pid, maps.clone());
        }
    }

    pub(crate) fn find(&self, pid: u32, address: u64) -> Option<&Mapping> {
        self.0.get(&pid)?.find(address)
    }

    pub(crate) fn of(&self, pid: u32) -> impl Iterator<Item = &Mapping> {
        self.0.get(&pid).into_iter().flat_map(Ranges::all)
    }
}

/// A line of `/proc/PID/maps` with code: `55d0-55e0 r-xp 00001000 fe:00 12 /usr/bin/dyno`.
fn parse(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (from, until) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (from, until, offset) = (number(from)?, number(until)?, number(words.next()?)?);
    let path = words.nth(2).unwrap_or_default().trim_start().to_owned();
    let length = until.checked_sub(from)?;
    rights.contains('x').then_some(Mapping { from, length, offset, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(from: u64, length: u64, path: &str) -> Mapping {
        Mapping { from, length, offset: 0, path: path.into() }
    }

    #[test]
    fn only_code_is_read() {
        let code = "55d0-55e0 r-xp 00001000 fe:00 12     /usr/bin/a b (deleted)";
        let expected = Mapping { offset: 0x1000, ..mapping(0x55d0, 16, "/usr/bin/a b (deleted)") };
        assert_eq!(parse(code), Some(expected));
        assert_eq!(parse("55d0-55e0 rw-p 00001000 fe:00 12 /usr/bin/a"), None);
        assert_eq!(parse("55d0-55e0 r-xp 0 00:00 0"), Some(mapping(0x55d0, 16, "")));
        assert_eq!(parse("55e0-55d0 r-xp 0 00:00 0"), None);
    }

    #[test]
    fn a_fork_has_the_code_of_its_parent_and_what_it_maps_itself() {
        let mut maps = Maps::default();
        maps.add(1, mapping(0x100, 0x100, "parent"));
        maps.inherit(2, 1);
        maps.add(2, mapping(0x300, 0x100, "own"));
        let path = |pid, address| maps.find(pid, address).map(|found| found.path.as_str());
        assert_eq!(
            (path(2, 0x110), path(2, 0x310), path(1, 0x310)),
            (Some("parent"), Some("own"), None)
        );
    }
}
