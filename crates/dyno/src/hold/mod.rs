//! Held connections on one or more addresses: planned, spread over processes, merged, reported.

pub(crate) mod document;
pub(crate) mod json;
pub(crate) mod messages;
mod parts;
mod resources;

pub(crate) use parts::{HoldResult, hold, holder};
pub(crate) use resources::{Available, Required, Resources};
