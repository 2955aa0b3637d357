//! Held connections: they are added in steps and kept, and receive messages for as long as they last.

mod count;
mod desk;
mod hold;
mod lane;
mod line;
mod loss;
mod order;
mod ramp;
mod seconds;
mod tally;

pub use hold::{HoldGlance, hold};
pub use loss::Loss;
pub use order::{HoldOrder, HoldWhat, Share, Voice};
pub use ramp::{PlateauTimes, Ramp};
pub use seconds::Seconds;
pub use tally::{Broadcast, Echoes, HoldWindow, Holding, Plateau, WholeBeats};

#[cfg(test)]
mod tests;
