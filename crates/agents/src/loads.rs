//! What applies a load, wherever its lanes are.

use std::fmt;

use load::{
    Glance, Halt, HoldOrder, HoldWindow, Holding, LiveWindow, Nanos, Order, PartSummary, Recording,
    SECOND, Target,
};
use post::{Beside, ClockEstimate, Host, Phase, Ready, Way};
use serde::{Deserialize, Serialize};
use units::{count, percent};

/// Applies loads, here or elsewhere.
pub trait Loads {
    /// How many lanes there are for a load; none: any number.
    fn lanes(&self) -> Option<usize>;

    /// How many agents there are; each has a part of every load.
    fn count(&self) -> usize {
        1
    }

    /// The hosts of agents that are on other machines, by the agents' names.
    fn hosts(&self) -> Vec<(String, Host)> {
        Vec::new()
    }

    /// Processes of this machine that work for the loads, besides this one.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Applies the load until the order is carried out, or `halt` asks for an end.
    fn press(
        &mut self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Pressed, LoadsError>;

    /// Holds connections until the ramp's end, or until `halt` asks for an end. Where there are several targets, the
    /// order's own does not count, and each agent has one of them, in turn.
    fn hold(
        &mut self,
        order: &HoldOrder,
        targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Held, LoadsError>;
}

/// What happens during a load, or while connections are held.
#[derive(Clone, Copy, Debug)]
pub enum LoadEvent<'e> {
    /// Of a load.
    Glance(&'e Glance<'e>),
    /// A second of held connections that all agents have reported.
    Second(&'e HoldWindow),
    /// What each agent does now: after one of these or a loss, and several times a second where there is neither. Never
    /// where this process loads.
    Agents(&'e [AgentNow]),
    Lost(&'e LostAgent),
}

/// An agent while a load goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentNow {
    pub name: String,
    /// The share of the load that it has.
    pub share: f64,
    pub does: Doing,
    /// How late 1 % of the requests of its newest window, or more, were sent; of held connections none.
    pub late_p99: Option<Nanos>,
}

/// What an agent does, as its newest window has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doing {
    /// It has not reported any window.
    Starting,
    /// It begins so many requests each second.
    Requests(f64),
    /// It has so many connections open.
    Connections(u64),
    Lost,
}

impl AgentNow {
    /// Its newest window, which may claim anything.
    pub(crate) fn sees(&mut self, window: &LiveWindow) {
        let tally = &window.window;
        let begun = tally.attempted.saturating_add(tally.warmup_attempted);
        let length = window.now.saturating_sub(window.from).max(1);
        self.does = Doing::Requests(begun as f64 * SECOND as f64 / length as f64);
        self.late_p99 = tally.late.quantile(0.99).map(|late| late.value);
    }
}

/// What a load measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pressed {
    /// Of all agents together; none if not one of them finished.
    pub recording: Option<Recording>,
    /// Empty where the load was applied by this process.
    pub agents: Vec<AgentFacts>,
    pub lost: Vec<LostAgent>,
}

/// What was held.
#[derive(Debug, Serialize, Deserialize)]
pub struct Held {
    /// Of all agents together; none if not one of them finished.
    pub holding: Option<Holding>,
    /// Empty where the connections were held by this process.
    pub agents: Vec<AgentFacts>,
    pub lost: Vec<LostAgent>,
}

/// An agent, and its part in a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentFacts {
    /// As it was named.
    pub name: String,
    pub host: Host,
    /// Whether it has this machine's clock.
    pub has_our_clock: bool,
    /// Its lanes: the number of the first, and how many of how many.
    pub first: usize,
    pub lanes: usize,
    pub of: usize,
    /// Its clock minus ours, and the most by which that may be wrong; nanoseconds.
    pub offset_ns: i64,
    pub offset_error_ns: u64,
    /// How long a message and its answer took, at best.
    pub round_trip_ns: u64,
    /// By how much its clock has moved against ours during the load; none where that was not measured.
    pub drift_ns: Option<i64>,
    /// Files that it may open.
    pub files: u64,
    /// The most by which that may be wrong.
    pub drift_error_ns: u64,
    /// How long its carrier was interrupted, in all.
    pub blinked_ns: u64,
    /// What its share of a load saw; none of held connections, or if it was lost.
    pub saw: Option<PartSummary>,
    pub beside: Beside,
    /// The way to the server before the load; none of a process of this machine.
    pub way: Option<Way>,
}

impl AgentFacts {
    /// What an agent has learned of itself and of its clock.
    pub(crate) fn with(
        mut self,
        clock: Option<ClockEstimate>,
        after: Option<ClockEstimate>,
        ready: Ready,
    ) -> AgentFacts {
        let clock = clock.unwrap_or_default();
        (self.offset_ns, self.offset_error_ns) = (clock.offset, clock.error());
        self.round_trip_ns = clock.round_trip;
        self.drift_ns = after.map(|after| after.offset.saturating_sub(clock.offset));
        self.drift_error_ns = after.map_or(0, |after| clock.error() + after.error());
        (self.files, self.way) = (ready.files, ready.way);
        self
    }
}

/// An agent that did not finish; what it measured is in no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LostAgent {
    /// its name
    pub name: String,
    /// which one, from 1
    pub number: usize,
    /// of how many
    pub of: usize,
    /// before (the load began), load or report (when its result was to come)
    pub phase: Phase,
    /// when it was noticed, since the load began
    #[serde(rename = "at_s", with = "load::json_form::seconds")]
    #[schemars(with = "f64")]
    pub at_ns: u64,
    /// the share of the load that it had
    pub share: f64,
    /// connections that it held, in the last second that it reported; null of a load
    pub open: Option<u64>,
    /// how it was lost
    pub how: String,
}

impl fmt::Display for LostAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostAgent { name, number, of, phase, at_ns, share, open, how } = self;
        let after = format!("{:.1} s", *at_ns as f64 / 1e9);
        let when = match phase {
            Phase::Before => "before the load began".to_string(),
            Phase::Load => format!("{after} after the load began"),
            Phase::Report => format!("when it reported, {after} after the load began"),
        };
        let with = match open {
            Some(open) => format!(" with {} open connections", count(*open)),
            None => String::new(),
        };
        let share = percent(*share);
        let what = match open {
            Some(_) => format!("no step counts its connections, {share} of all"),
            None => {
                format!(
                    "{share} of the load was lost with it, and what it measured is in no figure"
                )
            }
        };
        write!(f, "agent {name} ({number} of {of}) was lost {when}{with}: {how}; {what}")
    }
}

/// Why no load was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadsError {
    /// It was asked to end before it had begun.
    Interrupted,
    /// In words.
    Refused(String),
    /// Agents were lost before it began; in words. Others may be met in their place.
    Lost(String),
}

impl fmt::Display for LoadsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadsError::Interrupted => f.write_str("interrupted before the load began"),
            LoadsError::Refused(says) | LoadsError::Lost(says) => f.write_str(says),
        }
    }
}

impl std::error::Error for LoadsError {}

impl From<load::LoadError> for LoadsError {
    fn from(error: load::LoadError) -> LoadsError {
        LoadsError::Refused(error.to_string())
    }
}
