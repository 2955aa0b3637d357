//! The conditions that are the same for all subjects: which CPUs, how much memory. A condition that cannot be had is
//! reported, as a value.

mod cpus;
mod group;
mod hierarchy;

pub use cpus::{Cpus, Split, split};
pub use group::{Group, Readings};
pub(crate) use group::{abandoned, kills_for_memory, listed, members, remove};
pub(crate) use hierarchy::limits_of_cpu;
