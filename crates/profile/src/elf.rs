//! Names of functions in a program's file: ELF for 64 bits, of this machine's byte order. The file may be anything, so
//! every number in it is checked, and no more than a bound is read.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// No table of symbols is longer.
const MOST_BYTES: u64 = 64 << 20;
const MOST_SECTIONS: u64 = 4096;

/// A part of the file that is loaded to be run: (place in the file, length, address).
type Segment = (u64, u64, u64);

/// What a file says of its functions.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    segments: Vec<Segment>,
    /// (address, length, name), by address.
    symbols: Vec<(u64, u64, String)>,
}

/// A section: its address, and its bytes.
pub(crate) type Section = (std::ops::Range<u64>, Vec<u8>);

const LOADED: u32 = 1;
const EXECUTABLE: u32 = 1;
/// Mappings begin where a page begins, which may be before their segment does.
const PAGE: u64 = 4096;
const SYMBOLS: u32 = 2;
const DYNAMIC_SYMBOLS: u32 = 11;
const FUNCTION: u8 = 2;
const INDIRECT_FUNCTION: u8 = 10;

impl Elf {
    pub(crate) fn read(file: &File) -> Option<Elf> {
        let reader = Reader::open(file)?;
        let mut elf = Elf { segments: reader.segments()?, symbols: Vec::new() };
        for section in reader.sections()?.iter().filter(|section| section.has_symbols()) {
            let names = reader.sections()?.get(section.link as usize).map(SectionHeader::place);
            let (symbols, names) =
                (reader.bytes(section.place()), names.map(|at| reader.bytes(at)));
            if let (Some(symbols), Some(Some(names))) = (symbols, names) {
                elf.symbols
                    .extend(symbols.chunks_exact(24).filter_map(|entry| symbol(entry, &names)));
            }
        }
        // Of several names of one address, the longest function.
        elf.symbols.sort_by(|a, b| (a.0, b.1, &a.2).cmp(&(b.0, a.1, &b.2)));
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
        (address - from < length).then_some(name)
    }

    /// Whether it has a function of this name.
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.symbols.iter().any(|(_, _, name)| name == wanted)
    }

    /// The address, as the file counts, of a place in the file.
    pub(crate) fn address(&self, place: u64) -> Option<u64> {
        let held = |(from, length, _): &&Segment| *from <= place && place - from < *length;
        let (from, _, address) = self.segments.iter().find(held)?;
        (place - from).checked_add(*address)
    }
}

/// The sections of these names that a file has.
pub(crate) fn sections(file: &File, wanted: &[&str]) -> Vec<Option<Section>> {
    readable_sections(file, wanted).unwrap_or_else(|| wanted.iter().map(|_| None).collect())
}

fn readable_sections(file: &File, wanted: &[&str]) -> Option<Vec<Option<Section>>> {
    let reader = Reader::open(file)?;
    let sections = reader.sections()?;
    let names = reader.bytes(sections.get(usize::from(reader.names_in))?.place())?;
    let find = |wanted: &&str| {
        let section = sections.iter().find(|it| text(&names, it.name) == Some(wanted))?;
        let until = section.address.checked_add(section.length)?;
        Some((section.address..until, reader.bytes(section.place())?))
    };
    Some(wanted.iter().map(find).collect())
}

fn symbol(entry: &[u8], names: &[u8]) -> Option<(u64, u64, String)> {
    let (address, length) = (u64_at(entry, 8)?, u64_at(entry, 16)?);
    let is_function = matches!(entry[4] & 15, FUNCTION | INDIRECT_FUNCTION);
    let name = text(names, u32_at(entry, 0)?)?;
    (is_function && address != 0 && !name.is_empty()).then(|| (address, length, name.into()))
}

#[derive(Clone, Debug)]
struct SectionHeader {
    name: u32,
    kind: u32,
    address: u64,
    from: u64,
    length: u64,
    link: u32,
}

impl SectionHeader {
    fn place(&self) -> (u64, u64) {
        (self.from, self.length)
    }

    fn has_symbols(&self) -> bool {
        matches!(self.kind, SYMBOLS | DYNAMIC_SYMBOLS)
    }
}

struct Reader<'a> {
    file: &'a File,
    header: Vec<u8>,
    names_in: u16,
}

impl<'a> Reader<'a> {
    fn open(file: &'a File) -> Option<Reader<'a>> {
        let mut reader = Reader { file, header: Vec::new(), names_in: 0 };
        reader.header = reader.bytes((0, 64))?;
        // 64 bits, little endian.
        let is_read = reader.header.starts_with(b"\x7fELF\x02\x01");
        reader.names_in = u16_at(&reader.header, 62)?;
        is_read.then_some(reader)
    }

    fn bytes(&self, (from, length): (u64, u64)) -> Option<Vec<u8>> {
        // Beyond the file's end there is nothing: a length that it states must not be believed.
        let end = self.file.metadata().ok()?.len();
        if MOST_BYTES < length || end < from.checked_add(length)? {
            return None;
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, from).ok()?;
        Some(bytes)
    }

    /// A table of the file: where it is, how long an entry is, how many there are.
    fn table(&self, at: usize, size_at: usize, least: u16) -> Option<(Vec<u8>, usize)> {
        let (size, count) = (u16_at(&self.header, size_at)?, u16_at(&self.header, size_at + 2)?);
        let length = u64::from(size) * u64::from(count);
        if size < least || MOST_SECTIONS < u64::from(count) {
            return None;
        }
        Some((self.bytes((u64_at(&self.header, at)?, length))?, size.into()))
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        let (table, size) = self.table(32, 54, 56)?;
        let is_code = |entry: &&[u8]| {
            u32_at(entry, 0) == Some(LOADED)
                && u32_at(entry, 4).is_some_and(|rights| rights & EXECUTABLE != 0)
        };
        table.chunks_exact(size).filter(is_code).map(segment).collect()
    }

    fn sections(&self) -> Option<Vec<SectionHeader>> {
        let (table, size) = self.table(40, 58, 64)?;
        table.chunks_exact(size).map(section).collect()
    }
}

/// A segment, from where its first page begins.
fn segment(entry: &[u8]) -> Option<Segment> {
    let (from, length) = (u64_at(entry, 8)?, u64_at(entry, 32)?);
    let before = from % PAGE;
    let length = length.checked_add(before)?;
    Some((from - before, length, u64_at(entry, 16)?.checked_sub(before)?))
}

fn section(entry: &[u8]) -> Option<SectionHeader> {
    Some(SectionHeader {
        name: u32_at(entry, 0)?,
        kind: u32_at(entry, 4)?,
        address: u64_at(entry, 16)?,
        from: u64_at(entry, 24)?,
        length: u64_at(entry, 32)?,
        link: u32_at(entry, 40)?,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The text that begins there, up to its zero.
fn text(names: &[u8], at: u32) -> Option<&str> {
    let names = names.get(at as usize..)?;
    let end = names.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&names[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This test's own program.
    fn own() -> File {
        File::open("/proc/self/exe").expect("this program")
    }

    #[test]
    fn a_function_of_this_program_is_found() {
        let elf = Elf::read(&own()).expect("an ELF file");
        let (address, _, name) =
            elf.symbols.iter().find(|(_, length, _)| 64 < *length).expect("a function");
        let (from, _, at) = elf
            .segments
            .iter()
            .find(|(_, length, at)| address - at < *length)
            .expect("its segment");
        assert_eq!(elf.function(address - at + from + 1), Some(name.as_str()));
        assert_eq!(elf.function(u64::MAX), None);
    }

    #[test]
    fn sections_are_found_by_name() {
        let found = sections(&own(), &[".text", ".eh_frame", ".none"]);
        assert!(found[0].is_some() && found[1].is_some() && found[2].is_none());
    }

    #[test]
    fn a_damaged_file_says_less_and_ends_nothing() {
        use std::io::Write;
        let mut whole = vec![0; 8192];
        own().read_exact_at(&mut whole, 0).expect("the beginning of this program");
        let path = std::env::temp_dir().join(format!("profile-elf-{}", std::process::id()));
        let mut state = 7_u64;
        for round in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..1 + round % 9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                bytes[16 + (state >> 33) as usize % 600] = (state >> 20) as u8;
            }
            bytes.truncate(64 + (state >> 40) as usize % 8000);
            File::create(&path).and_then(|mut file| file.write_all(&bytes)).expect("a file");
            let file = File::open(&path).expect("the file");
            Elf::read(&file);
            sections(&file, &[".text"]);
        }
        std::fs::remove_file(&path).expect("the file");
    }
}
