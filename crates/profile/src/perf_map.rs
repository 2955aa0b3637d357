//! Names of functions that a runtime compiled while it ran: a text with an address, a length and a name on each line.

use crate::elf::NAME_BYTES;
use crate::foreign_file::{own_text, remove};
use crate::ranges::Ranges;

/// Functions by their addresses; what was written later is true.
#[derive(Debug, Default)]
pub(crate) struct PerfMap(Ranges<String>);

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
            map.0.add(from, length, name.to_owned());
        }
        map
    }

    pub(crate) fn function(&self, address: u64) -> Option<&str> {
        self.0.find(address).map(String::as_str)
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
    fn what_is_no_function_is_skipped() {
        let long = "a".repeat(NAME_BYTES + 1);
        let text = format!("100 20 JS:*a file.js:1\n0x120 10 b\nnonsense\n200 8\n300 8 {long}\n");
        let map = PerfMap::parse(&text);
        let found = [0x11f, 0x12f, 0x204, 0x304].map(|address| map.function(address));
        assert_eq!(found, [Some("JS:*a file.js:1"), Some("b"), None, None]);
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
