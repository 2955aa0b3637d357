//! Load: one [`Order`] in, one [`Recording`] out. Held connections: one [`HoldOrder`] in, one [`Holding`] out.
//!
//! Lanes are threads. Each owns its connections, its engine and its histograms; nothing is shared
//! on the hot path. This crate knows no file, no process and no subject.

mod answers;
mod arrivals;
mod bounds;
mod collector;
mod deadlines;
mod distribution;
mod engine;
mod equal_times;
mod evidence;
mod failure;
mod form_counts;
mod halt;
mod handover;
mod held;
mod http2;
mod in_flight;
pub mod json_form;
mod lane;
mod live;
mod long_turns;
mod order;
mod part;
mod pause;
mod plan;
mod press;
mod recorder;
mod recording;
mod section;
mod security;
mod silence;
#[cfg(test)]
mod strange_json;
mod supply;
mod tally;
mod thread;
mod turns;
mod written;

pub use answers::Answers;
pub use arrivals::{Arrivals, Listed, Rate};
pub use collector::{Glance, Meanwhile};
pub use distribution::{
    Distribution, EncodedError, Folded, Moment, Moments, Number, PERCENTILES, Quantile,
    is_supported,
};
pub use evidence::Evidence;
pub use failure::Failure;
pub use form_counts::FormCounts;
pub use halt::Halt;
pub use held::{
    Broadcast, Echoes, HoldOrder, HoldWhat, HoldWindow, Holding, Loss, Plateau, PlateauTimes, Ramp,
    Sends, WholeBeats, WindowMerger, hold,
};
pub use http2::{HeadCounts, Http2, ServerSettings, Traffic, Waits, WantedStreams};
pub use live::{LiveGatherer, LiveMerger, LiveWindow};
pub use order::{Load, Order, Protocol, Share, Spin, Spread, Stop, Target};
pub use part::{Part, PartSummary, Parts};
pub use press::{press, press_in_turns, press_part};
pub use recording::{Connections, Cut, End, LaneReport, Notes, Recording, Sessions, Slow, Window};
pub use section::Section;
pub use security::{Agreed, Counts, Security};
pub use silence::Silence;
pub use tally::{Flight, Receipt, Still, Tally, Waited};
pub use thread::LoadError;
pub use turns::{CpuReader, Place, Turn, Turns};
pub use wire::h2::H2Order;
pub use wire::{Chance, Compared, RequestForm, Rows};
pub use written::{Agreement, Written};

/// Nanoseconds since the run began: the only clock that this crate uses.
pub type Nanos = u64;

pub const SECOND: Nanos = 1_000_000_000;

/// By so much an answer may come before its wait is over.
pub const EARLY_ALLOWED: Nanos = wire::EARLY_ALLOWED_NS;

/// Now, on the machine's monotonic clock, on which a load's clock may begin.
#[must_use]
pub fn monotonic_ns() -> Nanos {
    engine::Origin::now().nanos()
}
