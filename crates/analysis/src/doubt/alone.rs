//! What is doubted of a load that stands alone, as `dyno load` makes it: what can be seen in any recording, and what
//! matters only where one load is looked at.

use agents::AgentFacts;
use lab::record::{
    AGENTS, AGENTS_LOST, AGENTS_LOST_SHARE, QUEUE_BACKLOG, QUEUE_OVERFLOWS, TrialRecord,
};
use load::{End, Failure, Recording, Tally};

use super::{Doubt, Ordered, SAMPLES_FOR_P99, of_recording};
use crate::conduct::Faults;

/// If more of the requests waited for a connection than this, it is said.
const WAITED: f64 = 0.01;

/// All reasons to doubt it; what is beside the recording, such as connections that found the accept queue full, is
/// handed over.
#[must_use]
pub fn of_load(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
    beside: impl IntoIterator<Item = Doubt>,
) -> Vec<Doubt> {
    let total = &recording.total;
    let own = [
        end(recording),
        none_right(total),
        failures(total),
        few_for_tail(total),
        blocked(total, ordered),
    ];
    let shared =
        of_recording(recording, agents, ordered).into_iter().filter_map(|found| match found {
            // A load that gave up and missing measurements are said in more detail above.
            Doubt::Stopped | Doubt::Nothing | Doubt::FewSamples { samples: 0 } => None,
            // The verdict is about a handful of lines here, and not about a table.
            Doubt::FewSamples { samples } => Some(Doubt::FewAlone { samples }),
            other => Some(other),
        });
    own.into_iter().flatten().chain(shared).chain(beside).collect()
}

/// A number that the load noted.
fn noted<T: std::str::FromStr>(trial: &TrialRecord, name: &str) -> Option<T> {
    trial.conditions.iter().find(|fact| fact.name == name)?.value.parse().ok()
}

/// The accept queue of the server, as the load noted it.
pub(super) fn overflows(trial: &TrialRecord) -> Option<Doubt> {
    overflowed(noted(trial, QUEUE_OVERFLOWS)?, noted(trial, QUEUE_BACKLOG))
}

/// The agents that did not finish, as the load noted them.
pub(super) fn noted_agents_lost(trial: &TrialRecord) -> Option<Doubt> {
    let share = noted(trial, AGENTS_LOST_SHARE).unwrap_or(0.0);
    agents_lost(noted(trial, AGENTS_LOST)?, noted(trial, AGENTS)?, share)
}

/// A doubt if any agent was lost: so many of so many, who had such a share of the load.
#[must_use]
pub fn agents_lost(lost: u64, of: u64, share: f64) -> Option<Doubt> {
    (0 < lost).then_some(Doubt::AgentsLost { lost, of, share })
}

/// A doubt if any connection found it full.
#[must_use]
pub fn overflowed(overflows: u64, backlog: Option<u32>) -> Option<Doubt> {
    (0 < overflows).then_some(Doubt::Overflows { overflows, backlog, is_isolated: false })
}

fn end(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done | End::Halted => None,
        End::GaveUp(failure) => Some(Doubt::GaveUp(failure)),
    }
}

fn none_right(total: &Tally) -> Option<Doubt> {
    let mostly = most_seen(total, |_| true).map(|(most, _)| most);
    (total.correct == 0).then_some(Doubt::NoneRight { attempted: total.attempted, mostly })
}

fn failures(total: &Tally) -> Option<Doubt> {
    let faults = Faults::of([total]);
    let mostly = most_seen(total, |failure| !failure.is_own()).map(|(most, _)| most);
    (0 < total.correct && 0 < faults.all()).then_some(Doubt::Failures { faults, mostly })
}

/// The most frequent class among those that `belongs` admits, and how many they are together.
#[must_use]
pub fn most_seen(total: &Tally, belongs: fn(Failure) -> bool) -> Option<(Failure, u64)> {
    let there = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    let all: u64 = there.clone().map(|failure| total.failures(failure)).sum();
    let most = there.max_by_key(|&failure| total.failures(failure))?;
    (0 < all).then_some((most, all))
}

/// Too few samples even for the p99 are reported already.
fn few_for_tail(total: &Tally) -> Option<Doubt> {
    let samples = total.response.count();
    let is_supported = total.response.quantile(0.999)?.is_supported;
    (SAMPLES_FOR_P99 <= samples && !is_supported).then_some(Doubt::FewForTail { samples })
}

fn blocked(total: &Tally, ordered: Ordered) -> Option<Doubt> {
    let share = total.blocked.count() as f64 / total.attempted.max(1) as f64;
    let p99_ms = total.blocked.quantile(0.99)?.value as f64 / 1e6;
    let may_grow = ordered.connections.is_none();
    (WAITED < share).then_some(Doubt::Blocked { share, p99_ms, may_grow })
}
