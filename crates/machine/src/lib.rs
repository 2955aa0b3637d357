//! The machine: processes and their wardens, CPUs, memory groups, network namespaces, sockets, monitors, limits. No word
//! of experiments or subjects' files.

pub mod conditions;
pub mod facts;
pub mod limits;
pub mod link;
pub mod monitor;
pub mod namespace;
pub mod owned;
pub mod ports;
mod proc;
pub mod process;
pub mod resident;
pub mod sockets;
pub mod unprivileged;

/// Something that was read off the machine, or done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its name, such as `kernel` or `net.core.somaxconn`.
    pub name: String,
    /// As it was read.
    pub value: String,
}

/// One monitor's values over a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name, such as `subject.memory.rss`; `docs/readings.md` names them all.
    pub name: String,
    /// Its unit: `bytes`, `ns`, `count`, `ratio`, …
    pub unit: String,
    /// The time, in nanoseconds since the watch began, and the value of each point, in the order of time.
    pub points: Vec<(u64, f64)>,
}
