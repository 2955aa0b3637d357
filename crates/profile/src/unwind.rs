//! Stacks by the tables that compilers write for exceptions (DWARF), where code keeps no frame pointers.

use std::collections::HashMap;
use std::fs::File;
use std::rc::Rc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder, UnwinderNative,
};

use crate::elf::sections;
use crate::records::{Mapping, RawStack};

/// A stack is followed no further.
const MOST_FRAMES: usize = 127;

type Sections = Vec<Option<(std::ops::Range<u64>, Rc<[u8]>)>>;

/// The tables of one process.
pub(crate) struct Unwinding {
    tables: UnwinderNative<Rc<[u8]>, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl Unwinding {
    /// Of what is mapped, by how each file is opened and where in it an address lies.
    pub(crate) fn of<'m>(
        mappings: impl Iterator<Item = &'m Mapping>,
        mut open: impl FnMut(&Mapping) -> Option<(Rc<File>, u64)>,
    ) -> Unwinding {
        let mut tables = UnwinderNative::new();
        let mut read: HashMap<String, Sections> = HashMap::new();
        for mapping in mappings {
            let Some((file, address)) = open(mapping) else { continue };
            let found = read.entry(mapping.path.clone()).or_insert_with(|| {
                let found = sections(&file, &[".text", ".eh_frame", ".eh_frame_hdr"]).into_iter();
                found.map(|section| section.map(|(range, bytes)| (range, bytes.into()))).collect()
            });
            let [text, frames, index] = &found[..] else { continue };
            let range = |it: &Option<(std::ops::Range<u64>, Rc<[u8]>)>| {
                it.as_ref().map(|(range, _)| range.clone())
            };
            let bytes = |it: &Option<(_, Rc<[u8]>)>| it.as_ref().map(|(_, bytes)| bytes.clone());
            let info = ExplicitModuleSectionInfo {
                text_svma: range(text),
                text: bytes(text),
                eh_frame_svma: range(frames),
                eh_frame: bytes(frames),
                eh_frame_hdr_svma: range(index),
                eh_frame_hdr: bytes(index),
                ..ExplicitModuleSectionInfo::default()
            };
            let addresses = mapping.from..mapping.from.saturating_add(mapping.length);
            let base = mapping.from.wrapping_sub(address);
            tables.add_module(Module::new(mapping.path.clone(), addresses, base, info));
        }
        Unwinding { tables, cache: CacheNative::new() }
    }

    /// The addresses of a stack, the innermost first.
    pub(crate) fn stack(&mut self, raw: &RawStack) -> Vec<u64> {
        let (instruction, pointer, registers) = native(raw);
        let mut read = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(pointer)).map_err(|_| ())?;
            let word = raw.bytes.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
            word.try_into().map(u64::from_ne_bytes).map_err(|_| ())
        };
        let mut frames =
            self.tables.iter_frames(instruction, registers, &mut self.cache, &mut read);
        let mut stack = Vec::new();
        // What cannot be followed further ends there, as it does at its own end.
        while let Ok(Some(frame)) = frames.next() {
            stack.push(frame.address());
            if stack.len() == MOST_FRAMES {
                break;
            }
        }
        stack
    }
}

/// The instruction, the stack's end, and what unwinding needs of the registers.
#[cfg(target_arch = "x86_64")]
fn native(raw: &RawStack) -> (u64, u64, UnwindRegsNative) {
    let [base, pointer, instruction] = [6, 7, 8].map(|at| raw.registers[at]);
    (instruction, pointer, UnwindRegsNative::new(instruction, pointer, base))
}

#[cfg(target_arch = "aarch64")]
fn native(raw: &RawStack) -> (u64, u64, UnwindRegsNative) {
    let [base, link, pointer, instruction] = [29, 30, 31, 32].map(|at| raw.registers[at]);
    (instruction, pointer, UnwindRegsNative::new(link, pointer, base))
}
