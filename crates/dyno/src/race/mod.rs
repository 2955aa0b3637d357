//! A race: sides that need neither files nor a project, told apart, written as the texts that the lab reads, and asked
//! once before the load.

mod asked;
pub(crate) mod ceiling;
pub(crate) mod label;
pub(crate) mod look;
pub(crate) mod side;
pub(crate) mod slices;
pub(crate) mod texts;
