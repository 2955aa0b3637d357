//! Stacks by the tables that compilers write for exceptions (DWARF), where code keeps no frame pointers.

use std::rc::Rc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder, UnwinderNative,
};

use crate::elf::Section;
use crate::records::{Mapping, RawStack};

/// A stack is followed no further.
const MOST_FRAMES: usize = 127;
/// What of a file is needed.
pub(crate) const SECTIONS: [&str; 3] = [".text", ".eh_frame", ".eh_frame_hdr"];

/// The tables of one process.
#[derive(Default)]
pub(crate) struct Unwinding {
    tables: UnwinderNative<Rc<[u8]>, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl Unwinding {
    /// Adds a file that is mapped, by these sections of it, and the address that it gives to the mapping's beginning.
    pub(crate) fn add(&mut self, mapping: &Mapping, address: u64, sections: &[Option<Section>; 3]) {
        let [text, frames, index] = sections;
        let range = |it: &Option<Section>| it.as_ref().map(|(range, _)| range.clone());
        let bytes = |it: &Option<Section>| it.as_ref().map(|(_, bytes)| Rc::clone(bytes));
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
        self.tables.add_module(Module::new(mapping.path.clone(), addresses, base, info));
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
