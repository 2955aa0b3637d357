//! Carries: the messages between a coordinator and its agents, and what each side does about them.
//!
//! Both sides are pure functions: what happened and when goes in, what to do comes out. There is no socket here, no
//! clock, no file and no thread, so a seeded simulation can lose, delay and repeat every message.

mod agent;
mod clock;
mod coordinator;
mod files;
mod host;
mod line;
mod message;
mod parcel;
mod patience;
mod reassembly;
mod servers;
mod stream;

pub use agent::{Agent, AgentAction, AgentEvent};
pub use clock::{Clock, ClockEstimate, PINGS, Sample};
pub use coordinator::{
    Assignment, Coordinator, CoordinatorAction, CoordinatorEvent, Loss, PeerFacts, Phase, Terms,
};
pub use files::{PROJECT_BYTES_MAX, PROJECT_FOLDERS, ProjectFile, ProjectFiles, TrustedFolder};
pub use host::{Beside, Caps, Host, LinkUse, Program, Way};
pub use line::{DEPTH_MAX, LINE_MAX, Line, LineError, Lines, decode, encode};
pub use message::{
    AgentFrame, CoordinatorFrame, Frame, FromAgent, Greeting, Live, Measured, PROTOCOL, Ready,
    Task, ToAgent,
};
pub use parcel::{
    ORDER_MAX, PART_MAX, Parcel, RESULT_MAX, decode_whole, encode_task, encode_whole,
};
pub use reassembly::{Reassembly, cut};
pub use servers::{FromServers, RunOrder, ToServers};

/// Nanoseconds of a machine's monotonic clock.
pub type Nanos = u64;

pub const SECOND: Nanos = 1_000_000_000;
pub const MILLISECOND: Nanos = 1_000_000;

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
