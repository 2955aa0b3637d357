//! Sends out: load from here, from other processes and from other machines, behind one trait; and the agent, which
//! carries out what a coordinator orders.
//!
//! An agent is a range of lanes. Whatever carries the lines between it and its coordinator (pipes, ssh, srun, NATS) is
//! a child process whose standard input and output have them.

mod agent_group;
mod allow;
mod busy;
mod carrier;
mod identity;
mod loads;
mod own_threads;
mod pipes;
mod place;
mod serve;
pub mod servers;
mod split;

pub use agent_group::{AgentGroup, AgentMeeting, Wish};
pub use allow::{Allow, Allowed};
pub use loads::{
    AgentFacts, AgentNow, Doing, Held, LoadEvent, Loads, LoadsError, LostAgent, Pressed,
};
pub use own_threads::OwnThreads;
pub use place::{Place, SshHost};
pub use post::{Beside, Caps, Host, LinkUse, Phase, Program, Way};
pub use serve::{Limits, serve, serve_via};

// In it agents and coordinators have their instants.
pub(crate) use load::monotonic_ns as now_ns;
