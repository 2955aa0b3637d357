//! A kept run in; one file that carries it to strangers, and what a recomputation of such a file finds, out.

mod run;
mod verify;

pub use run::{Lineage, PublicRun, REPEATS};
pub use verify::{Difference, Level, Verified, verify};
