//! Where the CPU time of a tree of processes goes: samples of its stacks in, a [`Profile`] of lines and functions out.
//!
//! A sampled trial is for shares only. Times of an answer are these shares of the CPU time that was measured without
//! any sampling.

pub mod profile;

pub use profile::{BLOCKS, Calls, Line, Method, Profile, Side, Stack, Target};
