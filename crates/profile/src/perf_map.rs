//! Names of functions that a runtime compiled while it ran: a text with an address, a length and a name on each line.

use std::collections::BTreeMap;

use crate::elf::NAME_BYTES;
use crate::foreign_file::{own_text, remove};

/// Functions by their first address; what was written later is true.
#[derive(Debug, Default)]
pub(crate) struct PerfMap {
    by_start: BTreeMap<u64, (u64, String)>,
}

impl PerfMap {
    /// What a process wrote; empty if it wrote none that can be trusted.
    pub(crate) fn read(pid: u32, is_removed: bool) -> PerfMap {
        let path = format!("/tmp/perf-{}.map", own_number(pid));
        let Some(text) = own_text(pid, &path) else { return PerfMap::default() };
        if is_removed {
            remove(pid, &path);
        }
        PerfMap::parse(&text)
    }

    fn parse(text: &str) -> PerfMap {
        let mut map = PerfMap::default();
        for (from, length, name) in text.lines().filter_map(line) {
            map.add(from, length, name);
        }
        map
    }

    fn add(&mut self, from: u64, length: u64, name: &str) {
        let until = from.saturating_add(length);
        let covered = self.by_start.range(..until).rev();
        let covered =
            covered.take_while(|(start, (length, _))| from < start.saturating_add(*length));
        for start in covered.map(|(start, _)| *start).collect::<Vec<_>>() {
            self.by_start.remove(&start);
        }
        self.by_start.insert(from, (length, name.to_owned()));
    }

    pub(crate) fn function(&self, address: u64) -> Option<&str> {
        let (from, (length, name)) = self.by_start.range(..=address).next_back()?;
        (address - from < *length).then_some(name)
    }
}

fn line(text: &str) -> Option<(u64, u64, &str)> {
    let mut words = text.splitn(3, ' ');
    let mut number = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
    let (from, length) = (number()?, number()?);
    let is_name = |name: &&str| (1..=NAME_BYTES).contains(&name.len());
    Some((from, length, words.next().filter(is_name)?))
}

/// The number by which the process knows itself, within its own namespace.
fn own_number(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(pid)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn later_functions_replace_those_whose_code_they_cover() {
        let map = PerfMap::parse("100 20 JS:*a file.js:1\n0x120 10 b\nnonsense\n110 18 c\n200 8\n");
        assert_eq!(map.function(0x100), None, "a was replaced");
        assert_eq!((map.function(0x110), map.function(0x127)), (Some("c"), Some("c")));
        assert_eq!((map.function(0x12f), map.function(0x204)), (None, None));
        let long = PerfMap::parse(&format!("100 20 {}", "a".repeat(NAME_BYTES + 1)));
        assert_eq!(long.function(0x100), None);
        let whole = PerfMap::parse("100 20 JS:*a file.js:1\nffffffffffffffff ffffffffffffffff end");
        assert_eq!(whole.function(0x11f), Some("JS:*a file.js:1"));
    }

    #[test]
    fn a_map_that_is_not_to_be_removed_stays() {
        let own = std::process::id();
        let path = format!("/tmp/perf-{own}.map");
        std::fs::write(&path, "100 20 a").expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("its rights");
        for is_there in [true, false] {
            assert_eq!(PerfMap::read(own, !is_there).function(0x100), Some("a"));
            assert_eq!(std::fs::exists(&path).expect("a folder"), is_there);
        }
    }

    #[test]
    fn a_process_knows_itself_by_its_own_number() {
        assert_eq!(own_number(std::process::id()), std::process::id());
        assert_eq!(own_number(u32::MAX), u32::MAX);
    }
}
