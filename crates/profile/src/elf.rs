//! Names of functions in a program's file: ELF for 64 bits, of this machine's byte order. The file may be anything, so
//! every number in it is checked, and no more than a bound is read.

use std::cell::Cell;
use std::cmp::Reverse;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// Of all files of a profile so much is read: a server may run many.
pub(crate) const MOST_BYTES: u64 = 512 << 20;
/// So much of a file's table.
const TABLE_BYTES: u64 = 64 << 20;
/// A name of more bytes is none.
pub(crate) const NAME_BYTES: usize = 8 << 10;

/// A part of the file that is loaded to be run: (place in the file, length, address).
type Segment = (u64, u64, u64);

/// What a file says of its functions.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    segments: Vec<Segment>,
    /// (address, length, where its name is), by address.
    symbols: Vec<(u64, u64, usize)>,
    /// The names of all tables.
    names: Vec<u8>,
}

/// A section: its addresses, and its bytes.
pub(crate) type Section = (Range<u64>, Rc<[u8]>);

const LOADED: u64 = 1;
const EXECUTABLE: u64 = 1;
/// Mappings begin where a page begins, which may be before their segment does.
const PAGE: u64 = 4096;
const SYMBOLS: u64 = 2;
const DYNAMIC_SYMBOLS: u64 = 11;
const FUNCTION: u8 = 2;
const INDIRECT_FUNCTION: u8 = 10;

impl Elf {
    /// What is read is taken from what may be read.
    pub(crate) fn read(file: &File, left: &Cell<u64>) -> Option<Elf> {
        let reader = Reader::open(file, left)?;
        let mut elf = Elf { segments: reader.segments()?, ..Elf::default() };
        let sections = reader.sections()?;
        for section in sections.iter().filter(|section| section.has_symbols) {
            let names = sections.get(section.link).and_then(|it| reader.bytes(it.place));
            let (Some(names), Some(symbols)) = (names, reader.bytes(section.place)) else {
                continue;
            };
            let first = elf.names.len();
            elf.names.extend(names);
            let found = symbols.chunks_exact(24).filter_map(|entry| symbol(entry, first));
            elf.symbols.extend(found);
        }
        // Of several names of one address, the longest function; of equals the first by the beginnings of their names.
        let beginning = |at: usize| elf.names.get(at..).map(|name| &name[..name.len().min(32)]);
        let key = |it: &(u64, u64, usize)| (it.0, Reverse(it.1), beginning(it.2));
        elf.symbols.sort_by(|one, other| key(one).cmp(&key(other)));
        elf.symbols.dedup_by_key(|(address, ..)| *address);
        Some(elf)
    }

    /// The function at a place in the file.
    pub(crate) fn function(&self, place: u64) -> Option<&str> {
        let address = self.address(place)?;
        let after = self.symbols.partition_point(|(from, ..)| *from <= address);
        let (from, length, name) = self.symbols.get(after.checked_sub(1)?)?;
        // One written in assembly may state no length: it lasts until the next.
        let length = if *length == 0 { 4096 } else { *length };
        if address - from < length { text(&self.names, *name) } else { None }
    }

    /// Whether it has a function of this name.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        let is_wanted = |name: &[u8]| {
            name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.starts_with(b"\0"))
        };
        self.symbols.iter().any(|(.., at)| self.names.get(*at..).is_some_and(is_wanted))
    }

    /// The address, as the file counts, of a place in the file.
    pub(crate) fn address(&self, place: u64) -> Option<u64> {
        let held = |(from, length, _): &&Segment| *from <= place && place - from < *length;
        let (from, _, address) = self.segments.iter().find(held)?;
        (place - from).checked_add(*address)
    }
}

/// The sections of these names, as far as a file has them.
pub(crate) fn sections<const N: usize>(
    file: &File,
    wanted: [&str; N],
    left: &Cell<u64>,
) -> Option<[Option<Section>; N]> {
    let reader = Reader::open(file, left)?;
    let sections = reader.sections()?;
    let names = sections.get(number::<2>(&reader.header, 62)? as usize)?;
    let names = reader.bytes(names.place)?;
    Some(wanted.map(|wanted| {
        let is_wanted = |it: &&SectionHeader| text(&names, it.name) == Some(wanted);
        let section = sections.iter().find(is_wanted)?;
        let until = section.address.checked_add(section.place.1)?;
        Some((section.address..until, reader.bytes(section.place)?.into()))
    }))
}

/// A function, by where the names of its table begin.
fn symbol(entry: &[u8], first: usize) -> Option<(u64, u64, usize)> {
    let (address, length) = (number::<8>(entry, 8)?, number::<8>(entry, 16)?);
    let is_function = matches!(entry[4] & 15, FUNCTION | INDIRECT_FUNCTION);
    let name = number::<4>(entry, 0).filter(|name| *name != 0)?;
    (is_function && address != 0).then_some((address, length, first + name as usize))
}

struct SectionHeader {
    name: usize,
    has_symbols: bool,
    address: u64,
    /// Where it is in the file, and how long.
    place: (u64, u64),
    /// Which section has the names of its symbols.
    link: usize,
}

struct Reader<'a> {
    file: &'a File,
    header: Vec<u8>,
    left: &'a Cell<u64>,
}

impl<'a> Reader<'a> {
    fn open(file: &'a File, left: &'a Cell<u64>) -> Option<Reader<'a>> {
        let mut reader = Reader { file, header: Vec::new(), left };
        reader.header = reader.bytes((0, 64))?;
        // 64 bits, little endian.
        reader.header.starts_with(b"\x7fELF\x02\x01").then_some(reader)
    }

    fn bytes(&self, (from, length): (u64, u64)) -> Option<Vec<u8>> {
        // Beyond the file's end there is nothing: a length that it states must not be believed.
        let end = self.file.metadata().ok()?.len();
        let left = self.left.get().checked_sub(length)?;
        if TABLE_BYTES < length || end < from.checked_add(length)? {
            return None;
        }
        self.left.set(left);
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, from).ok()?;
        Some(bytes)
    }

    /// The entries of a table of the file, by where the header says its place, and an entry's length and their number.
    fn entries<T>(
        &self,
        (at, size_at, least): (usize, usize, u64),
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<Vec<T>> {
        let [size, count] =
            [number::<2>(&self.header, size_at)?, number::<2>(&self.header, size_at + 2)?];
        let table = self.bytes((number::<8>(&self.header, at)?, size * count))?;
        (least <= size).then(|| table.chunks_exact(size as usize).filter_map(read).collect())
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        self.entries((32, 54, 56), segment)
    }

    fn sections(&self) -> Option<Vec<SectionHeader>> {
        self.entries((40, 58, 64), section)
    }
}

/// A segment with code, from where its first page begins.
fn segment(entry: &[u8]) -> Option<Segment> {
    let is_code = number::<4>(entry, 0)? == LOADED && number::<4>(entry, 4)? & EXECUTABLE != 0;
    let (from, length) = (number::<8>(entry, 8)?, number::<8>(entry, 32)?);
    let before = from % PAGE;
    let (length, address) =
        (length.checked_add(before)?, number::<8>(entry, 16)?.checked_sub(before)?);
    is_code.then_some((from - before, length, address))
}

fn section(entry: &[u8]) -> Option<SectionHeader> {
    Some(SectionHeader {
        name: number::<4>(entry, 0)? as usize,
        has_symbols: matches!(number::<4>(entry, 4)?, SYMBOLS | DYNAMIC_SYMBOLS),
        address: number::<8>(entry, 16)?,
        place: (number::<8>(entry, 24)?, number::<8>(entry, 32)?),
        link: number::<4>(entry, 40)? as usize,
    })
}

/// The number of so many bytes that is there.
fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + BYTES)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The text that begins there, up to its zero; none if it is empty.
fn text(names: &[u8], at: usize) -> Option<&str> {
    let names = names.get(at..)?;
    let end = names.iter().take(NAME_BYTES).position(|byte| *byte == 0)?;
    std::str::from_utf8(&names[..end]).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This test's own program.
    fn own() -> File {
        File::open("/proc/self/exe").expect("this program")
    }

    fn read(file: &File) -> Option<Elf> {
        Elf::read(file, &Cell::new(MOST_BYTES))
    }

    #[test]
    fn a_function_of_this_program_is_found() {
        let elf = read(&own()).expect("an ELF file");
        let (address, _, name) =
            elf.symbols.iter().find(|(_, length, _)| 64 < *length).expect("a function");
        let (from, _, at) = elf
            .segments
            .iter()
            .find(|(_, length, at)| address - at < *length)
            .expect("its segment");
        assert_eq!(elf.function(address - at + from + 1), text(&elf.names, *name));
        assert_eq!(elf.function(u64::MAX), None);
    }

    #[test]
    fn sections_are_found_by_name() {
        let left = Cell::new(MOST_BYTES);
        let found = sections(&own(), [".text", ".eh_frame", ".none"], &left).expect("sections");
        assert!(found[0].is_some() && found[1].is_some() && found[2].is_none());
    }

    /// A file in memory: its header, a segment, four sections, so many functions of the same name, and names.
    fn file(functions: u64, names: &[u8]) -> (File, Vec<u8>) {
        let mut bytes = vec![0; 384];
        let mut put = |at: usize, values: &[u8]| {
            bytes[at..at + values.len()].copy_from_slice(values);
        };
        put(0, b"\x7fELF\x02\x01");
        put(32, &[64]);
        put(40, &[128]);
        put(54, &[56, 0, 1, 0, 64, 0, 4, 0, 2]);
        put(64, &[LOADED as u8, 0, 0, 0, EXECUTABLE as u8]);
        put(64 + 33, &[2]);
        let length = 24 * functions;
        let names_at = 384 + length;
        let sections =
            [(SYMBOLS, 384, length, 0), (3, names_at, names.len() as u64, 0), (1, 0, 64, 6)];
        for (place, (kind, from, length, name)) in sections.into_iter().enumerate() {
            put(192 + 64 * place, &[name, 0, 0, 0, kind as u8]);
            put(192 + 64 * place + 24, &[from.to_le_bytes(), length.to_le_bytes()].concat());
            put(192 + 64 * place + 40, &[2]);
        }
        for _ in 0..functions {
            bytes.extend([1, 0, 0, 0, FUNCTION, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 8]);
            bytes.extend([0; 7]);
        }
        bytes.extend(names);
        let file = rustix::fs::memfd_create("elf", rustix::fs::MemfdFlags::empty());
        let file = File::from(file.expect("a file in memory"));
        file.write_all_at(&bytes, 0).expect("memory");
        (file, bytes)
    }

    /// Each in turn is absurd: the file says less, and ends nothing.
    #[test]
    fn no_number_of_a_file_is_believed() {
        let (file, bytes) = file(1, b"\0work\0.text\0");
        let whole = read(&file).expect("an ELF file");
        let names = [whole.function(20), whole.function(24)];
        assert_eq!((names, whole.has("work")), ([Some("work"), None], true));
        let text = || sections(&file, [".text"], &Cell::new(MOST_BYTES));
        assert!(text().is_some_and(|found| found[0].is_some()));
        let of_sizes = [0, 1, bytes.len() as u64, 1 << 31, 1 << 63, u64::MAX - 511, u64::MAX];
        for (at, value) in (0..bytes.len() - 8).flat_map(|at| of_sizes.map(|value| (at, value))) {
            for length in [1, 2, 4, 8] {
                file.write_all_at(&value.to_le_bytes()[..length], at as u64).expect("memory");
                let elf = read(&file).unwrap_or_default();
                assert!(elf.symbols.len() <= 1 && elf.names.len() <= bytes.len(), "{at} {value}");
                for place in [0, 16, 20, 1 << 63, u64::MAX] {
                    elf.function(place);
                }
                text();
                file.write_all_at(&bytes[at..at + 8], at as u64).expect("memory");
            }
        }
    }

    /// Each of these functions has a name of a megabyte: together 40 GB.
    #[test]
    fn a_file_takes_no_more_memory_than_it_has_bytes() {
        let (file, bytes) = file(40_000, &[&[b'a'; 1 << 20][..], b"\0"].concat());
        let elf = read(&file).expect("an ELF file");
        assert_eq!((elf.function(20), elf.names.len()), (None, (1 << 20) + 1));
        let left = Cell::new(bytes.len() as u64 / 2);
        assert_eq!(Elf::read(&file, &left).map(|elf| elf.symbols.len()), Some(0));
    }
}
