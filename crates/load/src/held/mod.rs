//! Held connections: they are added in steps and kept, and receive messages for as long as they last.

mod check;
mod count;
mod hold;
mod lane;
mod loss;
mod merger;
mod order;
mod pool;
mod ramp;
mod slot;
mod tally;

pub use hold::hold;
pub use loss::Loss;
pub use merger::WindowMerger;
pub use order::{HoldOrder, HoldWhat, Sends};
pub use ramp::{PlateauTimes, Ramp};
pub use tally::{Broadcast, Echoes, HoldWindow, Holding, Plateau, WholeBeats};

#[cfg(test)]
mod tests;
