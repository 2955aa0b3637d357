//! The whole program, as sentences.

#![expect(clippy::unwrap_used, reason = "in a test that is how it fails")]

mod calibrate;
mod faults;
mod json;
mod load;
mod refusals;
mod rig;
mod schema;
mod serve;
mod terminal;
