//! The records of the kernel's ring, read.

use crate::events::REGISTERS;

/// What a record says; others are of no interest.
#[derive(Debug, PartialEq)]
pub(crate) enum Record {
    Sample(Sample),
    /// A process or a thread began.
    Fork {
        pid: u32,
        parent: u32,
    },
    /// A thread has a name.
    Comm {
        pid: u32,
        tid: u32,
        name: String,
    },
    Map {
        pid: u32,
        mapping: Mapping,
    },
    /// So many records found no room.
    Lost(u64),
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sample {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) time_ns: u64,
    /// Return addresses, the innermost first.
    pub(crate) kernel: Vec<u64>,
    pub(crate) user: Vec<u64>,
    /// Registers and a copy of the top of the stack, where they were asked for.
    pub(crate) raw: Option<RawStack>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct RawStack {
    pub(crate) registers: [u64; REGISTERS],
    pub(crate) bytes: Vec<u8>,
}

/// Where a process has code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) from: u64,
    pub(crate) length: u64,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Empty for anonymous memory.
    pub(crate) path: String,
}

const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MAP: u32 = 10;

/// Marks within a stack: what follows is the kernel's, or the user's.
const CONTEXTS: u64 = 0xffff_ffff_ffff_f000;
const KERNEL: u64 = 0xffff_ffff_ffff_ff80;
const USER: u64 = 0xffff_ffff_ffff_fe00;

/// Reads a record; none if it is of another kind, or shorter than it must be.
pub(crate) fn read(kind: u32, bytes: &[u8], has_raw: bool) -> Option<Record> {
    let mut bytes = Bytes(bytes);
    match kind {
        SAMPLE => sample(&mut bytes, has_raw).map(Record::Sample),
        FORK => Some(Record::Fork { pid: bytes.u32()?, parent: bytes.u32()? }),
        COMM => Some(Record::Comm { pid: bytes.u32()?, tid: bytes.u32()?, name: bytes.text() }),
        LOST => {
            bytes.u64()?;
            bytes.u64().map(Record::Lost)
        }
        MAP => {
            let pid = bytes.u32()?;
            bytes.u32()?;
            let (from, length, offset) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
            // The device, the file's number and generation, and what may be done with it.
            bytes.take(32)?;
            Some(Record::Map { pid, mapping: Mapping { from, length, offset, path: bytes.text() } })
        }
        _ => None,
    }
}

fn sample(bytes: &mut Bytes<'_>, has_raw: bool) -> Option<Sample> {
    let instruction = bytes.u64()?;
    let (pid, tid, time_ns) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
    let mut sample = Sample { pid, tid, time_ns, ..Sample::default() };
    let mut context = 0;
    for _ in 0..bytes.u64()? {
        match bytes.u64()? {
            mark if CONTEXTS <= mark => context = mark,
            address if context == KERNEL => sample.kernel.push(address),
            address if context == USER => sample.user.push(address),
            _ => {}
        }
    }
    if has_raw {
        sample.raw = raw(bytes);
    }
    if sample.kernel.is_empty() && sample.user.is_empty() {
        let is_kernel = instruction >> 63 == 1;
        if is_kernel { &mut sample.kernel } else { &mut sample.user }.push(instruction);
    }
    Some(sample)
}

/// Registers and stack; none of a thread of the kernel, which has no user's registers.
fn raw(bytes: &mut Bytes<'_>) -> Option<RawStack> {
    let has_registers = bytes.u64()? != 0;
    let mut registers = [0; REGISTERS];
    if has_registers {
        for register in &mut registers {
            *register = bytes.u64()?;
        }
    }
    let size = bytes.u64()? as usize;
    let copied = bytes.take(size)?;
    let filled = if size == 0 { 0 } else { bytes.u64()? as usize };
    has_registers.then(|| RawStack { registers, bytes: copied[..filled.min(size)].to_vec() })
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    /// Up to the zero that ends it.
    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    #[test]
    fn a_sample_has_a_stack_of_the_kernel_and_one_of_the_user() {
        let bytes = words(&[7, pair(3, 4), 99, 5, KERNEL, 1 << 63 | 1, USER, 0x10, 0x20]);
        let Some(Record::Sample(sample)) = read(SAMPLE, &bytes, false) else { panic!("a sample") };
        assert_eq!((sample.pid, sample.tid, sample.time_ns), (3, 4, 99));
        assert_eq!((sample.kernel, sample.user), (vec![1 << 63 | 1], vec![0x10, 0x20]));
    }

    #[test]
    fn a_sample_without_a_stack_has_its_instruction() {
        let bytes = words(&[0x1234, pair(3, 4), 99, 0]);
        let Some(Record::Sample(sample)) = read(SAMPLE, &bytes, false) else { panic!("a sample") };
        assert_eq!(sample.user, [0x1234]);
    }

    #[test]
    fn a_record_that_is_cut_at_any_place_is_none() {
        let mut bytes = words(&[7, pair(3, 4), 99, 2, USER, 0x10, 2]);
        bytes.extend(words(&[1; REGISTERS]));
        bytes.extend(words(&[16, 5, 6, 8]));
        let Some(Record::Sample(whole)) = read(SAMPLE, &bytes, true) else { panic!("a sample") };
        assert_eq!(whole.raw.map(|raw| raw.bytes), Some(words(&[5])));
        for length in 0..48 {
            assert_eq!(read(SAMPLE, &bytes[..length], true), None, "{length}");
        }
        for length in 48..bytes.len() {
            let Some(Record::Sample(cut)) = read(SAMPLE, &bytes[..length], true) else { continue };
            assert!(cut.raw.is_none(), "{length}");
        }
    }

    #[test]
    fn mappings_names_and_forks_are_read() {
        let mut bytes = words(&[pair(3, 3), 0x1000, 0x2000, 0x400, 0, 0, 0, 0]);
        bytes.extend(b"/bin/a\0\0");
        let path = "/bin/a".to_owned();
        let mapping = Mapping { from: 0x1000, length: 0x2000, offset: 0x400, path };
        assert_eq!(read(MAP, &bytes, false), Some(Record::Map { pid: 3, mapping }));
        let fork = words(&[pair(9, 3), pair(9, 3), 1]);
        assert_eq!(read(FORK, &fork, false), Some(Record::Fork { pid: 9, parent: 3 }));
        assert_eq!(read(LOST, &words(&[1, 12]), false), Some(Record::Lost(12)));
        assert_eq!(read(99, &fork, false), None);
    }
}
