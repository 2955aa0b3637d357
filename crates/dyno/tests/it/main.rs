//! The whole program, as sentences.

mod calibrate;
mod faults;
mod json;
mod load;
mod refusals;
mod rig;
mod schema;
mod serve;
