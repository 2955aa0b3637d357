//! Loads of `dyno load` as a run: what the store keeps of them, and what is estimated from several.

mod record;
mod shelf;
mod why;

pub(crate) use shelf::Shelf;
pub(crate) use why::{ServerWatch, profile};
