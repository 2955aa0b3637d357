//! The messages. Every line is one frame: which run it belongs to, which meeting of that run with the agent, and what
//! it says.

use load::{HoldOrder, HoldWindow, Holding, LiveWindow, Order, Part};
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::host::{Beside, Host, Way};
use crate::parcel::Parcel;

/// Both sides must speak the same one.
pub const PROTOCOL: u32 = 1;

/// A line between a coordinator and an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame<Message> {
    /// The run of the coordinator; no two runs have the same.
    pub run: String,
    /// The number that the agent drew when the two met; zero in a greeting, which comes before that, and in a refusal to
    /// meet. So a line of an earlier meeting, which was held up or is sent again, moves nothing.
    pub meeting: u64,
    pub says: Message,
}

/// A line to an agent.
pub type CoordinatorFrame = Frame<ToAgent>;

/// A line of an agent.
pub type AgentFrame = Frame<FromAgent>;

/// What an agent obeys. There is nothing else: no command line, no path, no environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToAgent {
    Hello(Greeting),
    /// Sent by the coordinator's clock at `sent`.
    Ping {
        number: u32,
        sent: Nanos,
    },
    /// Take an order, which comes as parcels.
    Arm {
        trial: u64,
    },
    Parcel {
        trial: u64,
        parcel: Parcel,
    },
    /// This part of the result has come.
    Ack {
        trial: u64,
        number: u32,
    },
    /// Carry the order out from this instant of the agent's clock on.
    Go {
        trial: u64,
        origin: Nanos,
    },
    /// End at this instant of the agent's clock; none: as soon as possible, and before anything was sent not at all.
    Halt {
        trial: u64,
        at: Option<Nanos>,
    },
    /// The coordinator lives, and has taken so many of the trial's windows.
    Beat {
        trial: u64,
        windows: u64,
    },
    Bye,
}

/// What an agent says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromAgent {
    Hello(Box<Host>),
    /// The ping came at `heard` by the agent's clock, and this was sent at `answered`.
    Pong {
        number: u32,
        sent: Nanos,
        heard: Nanos,
        answered: Nanos,
    },
    /// This part of the order has come.
    Ack {
        trial: u64,
        number: u32,
    },
    Armed {
        trial: u64,
        ready: Ready,
    },
    /// The agent does not meet the coordinator, or does not take its order.
    Refused {
        trial: Option<u64>,
        says: String,
    },
    /// It will begin then, by its own clock.
    Gone {
        trial: u64,
        origin: Nanos,
    },
    /// The origin has passed by so much; nothing was sent.
    Late {
        trial: u64,
        by: Nanos,
    },
    /// The agent lives; it has this trial, or 0.
    Alive {
        trial: u64,
    },
    /// What happened lately. Windows are numbered from 0 in each trial; those before `oldest` are not kept any more.
    Window {
        trial: u64,
        number: u64,
        oldest: u64,
        window: Live,
    },
    /// A part of the result.
    Parcel {
        trial: u64,
        parcel: Parcel,
    },
    /// The order could not be carried out.
    Failed {
        trial: u64,
        says: String,
    },
}

/// The first line to an agent. Of a later protocol it may have more fields: an agent that cannot obey that still says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub protocol: u32,
    /// The dyno of the coordinator.
    pub dyno: String,
    /// The SHA-256 of its program; none where both are certainly the same.
    pub sha256: Option<String>,
    /// Who asks: a user and a host.
    pub by: String,
    /// An agent that hears nothing for so long ends its load.
    pub lease: Nanos,
}

/// What an agent has for an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Files that it may open.
    pub files: u64,
    /// The way to the server; none where both are on one machine.
    pub way: Option<Way>,
}

/// What an agent does in a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    Load(Box<Order>),
    Hold(Box<HoldOrder>),
}

/// What it measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Measured {
    Load(Box<Part>, Beside),
    Hold(Box<Holding>),
}

/// A window of a trial that is under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Live {
    Load(Box<LiveWindow>),
    Hold(Box<HoldWindow>),
}
