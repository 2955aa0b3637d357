//! A race: sides that need neither files nor a project. Each gets a label; the flags and
//! they are made into an experiment; and before the load each is sent one request.

pub mod label;
pub mod look;
pub mod procedure;
pub mod side;
pub mod slices;
