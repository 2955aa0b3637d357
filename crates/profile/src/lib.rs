//! Where the CPU time of a tree of processes goes: samples of its stacks in, a [`Profile`] of lines and functions out.
//!
//! A sampled trial is for shares only. Times of an answer are these shares of the CPU time that was measured without
//! any sampling.

mod calls;
mod elf;
mod events;
mod fold;
mod foreign_file;
mod maps;
mod names;
mod pace;
mod pattern;
mod perf_map;
mod processes;
mod profile;
mod ranges;
mod records;
mod refusal;
mod rules;
mod sampler;
mod unwind;

pub use calls::CallCounter;
pub use events::is_permitted;
pub use pattern::Pattern;
pub use processes::{executable, waited_ns, waited_since};
pub use profile::{BLOCKS, Calls, Line, Method, NAMELESS, Profile, Side, Stack, Target};
pub use refusal::refusal;
pub use rules::{LineRule, NameRule, Runtime};
pub use sampler::{Sampler, SamplerOrder};
