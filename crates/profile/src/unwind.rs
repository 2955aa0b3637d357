//! Stacks by the tables that compilers write for exceptions (DWARF), where code keeps no frame pointers.

use std::cell::Cell;
use std::fs::File;
use std::rc::Rc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder, UnwinderNative,
};

use gimli::{
    BaseAddresses, CallFrameInstruction, CieOrFde, EhFrame, LittleEndian, Operation, UnwindSection,
};

use crate::elf::{self, Section};
use crate::records::{Mapping, RawStack};

/// A stack is followed no further.
const MOST_FRAMES: usize = 127;
/// Of no compiler's tables is an entry as long.
const ENTRY_BYTES: usize = 64 << 10;

/// The tables of one process.
#[derive(Default)]
pub(crate) struct Unwinding {
    tables: UnwinderNative<Rc<[u8]>, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl Unwinding {
    /// Adds a file that is mapped, by these sections of it, and the address that it gives to the mapping's beginning.
    pub(crate) fn add(&mut self, mapping: &Mapping, address: u64, sections: &[Option<Section>; 2]) {
        let [text, frames] = sections;
        let info = ExplicitModuleSectionInfo {
            text_svma: text.as_ref().map(|(range, _)| range.clone()),
            text: text.as_ref().map(|(_, bytes)| Rc::clone(bytes)),
            eh_frame_svma: frames.as_ref().map(|(range, _)| range.clone()),
            eh_frame: frames.as_ref().map(|(_, bytes)| Rc::clone(bytes)),
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

/// What of a file is needed: its code, and its tables. An index that it may have is not believed: it could lead into the
/// middle of an entry.
pub(crate) fn sections(file: &File, left: &Cell<u64>) -> [Option<Section>; 2] {
    let found = elf::sections(file, [".text", ".eh_frame"], left);
    let [text, frames] = found.unwrap_or_default();
    [text, frames.filter(ends_soon)]
}

/// Whether all rules of a file's tables come to an end: an expression that jumps may have none, and framehop would follow
/// it for ever. Compilers write no such expression.
fn ends_soon((range, bytes): &Section) -> bool {
    let mut frames = EhFrame::new(bytes, LittleEndian);
    if cfg!(target_arch = "aarch64") {
        frames.set_vendor(gimli::Vendor::AArch64);
    }
    let bases = BaseAddresses::default().set_eh_frame(range.start);
    let mut entries = frames.entries(&bases);
    // What framehop cannot read, it does not follow.
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        let Ok(entry) = entry.parse(EhFrame::cie_from_offset) else { continue };
        let cie = entry.cie();
        if ENTRY_BYTES < cie.entry_len().max(entry.entry_len()) {
            return false;
        }
        for mut rules in [cie.instructions(&frames, &bases), entry.instructions(&frames, &bases)] {
            while let Ok(Some(rule)) = rules.next() {
                let (CallFrameInstruction::DefCfaExpression { expression }
                | CallFrameInstruction::Expression { expression, .. }
                | CallFrameInstruction::ValExpression { expression, .. }) = rule
                else {
                    continue;
                };
                let Ok(expression) = expression.get(&frames) else { continue };
                let mut operations = expression.operations(cie.encoding());
                while let Ok(Some(operation)) = operations.next() {
                    if matches!(operation, Operation::Skip { .. } | Operation::Bra { .. }) {
                        return false;
                    }
                }
            }
        }
    }
    true
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of one entry, whose rule is this expression.
    fn tables(expression: &[u8; 3]) -> Section {
        let entry = |body: &[u8]| [&(body.len() as u32).to_le_bytes()[..], body].concat();
        // The return address is 8 below the frame; pointers are relative, of 4 bytes.
        let cie = [0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0x90, 1, 0, 0, 0, 0, 0];
        let fde = [28, 0, 0, 0, 0xe0, 0xef, 0xff, 0xff, 0, 1, 0, 0, 0, 0x0f, 3];
        let bytes = [entry(&cie), entry(&[&fde[..], expression, &[0; 6]].concat()), vec![0; 4]];
        (0x2000..0x2038, bytes.concat().into())
    }

    #[test]
    fn tables_whose_rules_have_no_end_are_not_followed() {
        // `breg7 8` and `nop` end; `skip -3` leads to itself.
        assert!(ends_soon(&tables(&[0x77, 8, 0x96])));
        assert!(!ends_soon(&tables(&[0x2f, 0xfd, 0xff])));
        let own = File::open("/proc/self/exe").expect("this program");
        assert!(sections(&own, &Cell::new(u64::MAX))[1].is_some());
    }
}
