//! A race: sides that need neither files nor a project. Each gets a label; the lab reads texts that are made of them; and
//! before the load each is sent one request.

pub mod label;
pub mod look;
pub mod side;
pub mod slices;
pub mod texts;
