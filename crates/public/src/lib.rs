//! A kept run in; one file that carries it to strangers, and what a recomputation of such a file finds, out.

mod arguments;
mod claims;
mod class;
mod columns;
mod content;
mod file;
mod privacy;
mod reduce;
mod repetition;
mod run;
mod verify;

pub use class::MachineClass;
pub use file::{PACKED_MAX, UNPACKED_MAX};
pub use privacy::Words;
pub use repetition::{Repetition, counts_as_repetition};
pub use run::{Lineage, PublicRun, REPEATS};
pub use verify::{Difference, Level, Verified, verify, verify_found};
