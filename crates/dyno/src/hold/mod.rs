//! Held connections on one or more addresses: planned, spread over processes, merged, reported.

pub(crate) mod document;
pub(crate) mod json;
mod means;
mod parts;
pub(crate) mod told;

pub(crate) use means::{Have, Means, Want};
pub(crate) use parts::{Held, hold, holder};
