//! Texts of `/proc`: files that are kept open and read again and again, and how their content is parsed.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::str::FromStr;

/// A file that is read again and again, from its beginning.
#[derive(Debug)]
pub(crate) struct Reread {
    file: File,
}

impl Reread {
    pub(crate) fn open(path: &str) -> Option<Reread> {
        File::open(path).ok().map(|file| Reread { file })
    }

    /// Its text now; nothing if its process or interface is gone.
    pub(crate) fn text<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let mut filled = 0;
        loop {
            buffer.resize((filled * 2).max(4096), 0);
            match self.file.read_at(&mut buffer[filled..], filled as u64) {
                Ok(0) => return (0 < filled).then(|| &buffer[..filled]),
                // The kernel writes each of these texts whole: one that leaves room in the buffer is complete.
                Ok(read) if filled + read < buffer.len() => return Some(&buffer[..filled + read]),
                Ok(read) => filled += read,
                Err(_) => return None,
            }
        }
    }
}

/// The number in a file that holds nothing else.
pub(crate) fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Every visible process.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The number after `key` and white space, at the beginning of a line: `Pss:   12 kB`, `tw 3`.
pub(crate) fn keyed(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// The numbers of a line: `cpu  1 2 3`.
pub(crate) fn numbers(text: &str, key: &str) -> Option<Vec<u64>> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
    rest.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}

/// The number that follows a word of a line: `TCP: inuse 1 orphan 0 tw 5`.
pub(crate) fn worded(text: &str, key: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    let mut words = rest.split_ascii_whitespace().skip_while(|other| *other != word);
    words.nth(1)?.parse().ok()
}

/// The place of a column in a pair of lines: `TcpExt: A B` over `TcpExt: 1 2`.
pub(crate) fn column(text: &str, key: &str, name: &str) -> Option<usize> {
    let heads = text.lines().find_map(|line| line.strip_prefix(key))?;
    heads.split_ascii_whitespace().position(|head| head == name)
}

/// The counter of this name in a pair of lines.
pub(crate) fn counter(text: &str, key: &str, name: &str) -> Option<u64> {
    cell(text, key, column(text, key, name)?)
}

/// The value in that column.
pub(crate) fn cell(text: &str, key: &str, column: usize) -> Option<u64> {
    let values = text.lines().filter_map(|line| line.strip_prefix(key)).nth(1)?;
    values.split_ascii_whitespace().nth(column)?.parse().ok()
}

/// The length of a clock tick of `/proc`, and the size of a page: both are in the auxiliary vector of every program.
pub(crate) struct Units {
    pub(crate) tick_ns: u64,
    pub(crate) page_bytes: u64,
}

impl Units {
    pub(crate) fn of_this_machine() -> Units {
        Units::parse(&std::fs::read("/proc/self/auxv").unwrap_or_default())
    }

    /// Pairs of words: `AT_PAGESZ` is 6, `AT_CLKTCK` 17.
    fn parse(auxv: &[u8]) -> Units {
        const WORD: usize = size_of::<usize>();
        let word = |bytes: &[u8]| Some(usize::from_ne_bytes(bytes.try_into().ok()?) as u64);
        let value = |key| {
            auxv.chunks_exact(2 * WORD)
                .find(|pair| word(&pair[..WORD]) == Some(key))
                .and_then(|pair| word(&pair[WORD..]))
        };
        Units {
            tick_ns: 1_000_000_000 / value(17).filter(|ticks| 0 < *ticks).unwrap_or(100),
            page_bytes: value(6).filter(|bytes| 0 < *bytes).unwrap_or(4096),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read() {
        assert_eq!(keyed("Rss:  100 kB\nPss:     42 kB\nPss_Dirty: 3 kB\n", "Pss:"), Some(42));
        assert_eq!(keyed("Pss: none\n", "Pss:"), None);
        assert_eq!(numbers("cpu  1 2 3\ncpu0 1 2 3\n", "cpu"), Some(vec![1, 2, 3]));
        let sockstat = "sockets: used 13\nTCP: inuse 1 orphan 0 tw 5 alloc 1 mem 143\n";
        assert_eq!(worded(sockstat, "TCP:", "tw"), Some(5));
        assert_eq!(worded(sockstat, "TCP:", "mem"), Some(143));
        assert_eq!(worded(sockstat, "TCP:", "none"), None);
    }

    #[test]
    fn columns_are_found_by_their_heads() {
        let netstat = "TcpExt: A ListenDrops B\nTcpExt: 1 7 2\nIpExt: X\nIpExt: 9\n";
        let at = column(netstat, "TcpExt:", "ListenDrops").expect("it is there");
        assert_eq!(cell(netstat, "TcpExt:", at), Some(7));
        assert_eq!(column(netstat, "TcpExt:", "X"), None);
        assert_eq!(cell(netstat, "TcpExt:", 9), None);
    }

    #[test]
    fn units_are_the_kernels() {
        let units = Units::of_this_machine();
        assert!(units.page_bytes.is_power_of_two() && units.tick_ns <= 10_000_000);
        let unknown = Units::parse(b"too short");
        assert_eq!((unknown.tick_ns, unknown.page_bytes), (10_000_000, 4096));
    }

    #[test]
    fn a_long_file_is_read_to_its_end() {
        let path = std::env::temp_dir().join(format!("lab-reread-{}", std::process::id()));
        std::fs::write(&path, vec![b'x'; 10_000]).expect("a temporary file");
        let file = Reread::open(path.to_str().expect("a path")).expect("it is there");
        let mut buffer = Vec::new();
        assert_eq!(file.text(&mut buffer).map(<[u8]>::len), Some(10_000));
        std::fs::write(&path, b"less").expect("a temporary file");
        assert_eq!(file.text(&mut buffer), Some(&b"less"[..]));
        std::fs::remove_file(&path).expect("it is there");
    }
}
