//! The same for all subjects: which CPUs, how much memory. What cannot be had is said, as a value.

mod cpus;
mod group;
mod hierarchy;

pub use cpus::{Cpus, CpusError, Split, split};
pub use group::{Group, Readings};
pub(crate) use group::{kills_for_memory, left_over, listed, members};
