//! What of its code dyno keeps in memory while it loads a server, and afterwards.

use std::fs;

use rustix::mm::{Advice, madvise};

/// Returns to the kernel the pages of code that were needed until now. It maps them again where they run, so
/// this is for the time before a warm-up, and after a load.
#[allow(unsafe_code)]
pub fn release() {
    for (at, length) in code(&fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
        // SAFETY: a private mapping of a file that is not writable has no contents but the file's, which the kernel reads
        // again at the next access. No reference into it changes.
        let _ = unsafe { madvise(at as *mut _, length, Advice::LinuxDontNeed) };
    }
}

/// Where each mapping of a file's code begins, and its length.
fn code(maps: &str) -> impl Iterator<Item = (usize, usize)> {
    maps.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let path = words.nth(3)?;
        let (from, to) = range.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let (from, to) = (number(from)?, number(to)?);
        (rights == "r-xp" && path.starts_with('/')).then_some((from, to.checked_sub(from)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_returned() {
        let maps = "\
55d0-55e0 r--p 00000000 fe:00 12 /usr/bin/dyno
55e0-55f8 r-xp 00010000 fe:00 12 /usr/bin/dyno
55f8-5600 rw-p 00030000 fe:00 12 /usr/bin/dyno
5600-5610 rw-p 00000000 00:00 0 [heap]
7f00-7f10 r-xp 00000000 00:00 0
7fe0-7ff0 r-xp 00000000 00:00 0 [vdso]
nonsense
";
        assert_eq!(code(maps).collect::<Vec<_>>(), [(0x55e0, 0x18)]);
    }

    #[test]
    fn the_program_goes_on_with_less_in_memory() {
        let resident = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap();
            line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap()
        };
        let before = resident();
        release();
        let after = resident();
        assert!(after < before, "{before} KB, then {after} KB");
    }
}
