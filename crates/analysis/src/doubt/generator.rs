//! Whether dyno itself was fast enough.

use agents::AgentFacts;
use lab::figure::{
    generator::{generator_busy, generator_on_cpu},
    rates::measured_s,
};
use load::{PartSummary, Recording};

use super::{AgentsDoubt, Doubt};

/// A thread that is busier than this may be the limit: what waits for a thread that is busy nine tenths of the time
/// waits long.
pub(super) const BUSY: f64 = 0.9;
/// A shorter trial is only a beginning: it is busy opening its connections.
const BUSY_AFTER_S: f64 = 0.1;
/// If a thread had a CPU for less than this share of the time in which it had something to do, other programs had the
/// CPU.
const STARVED: f64 = 0.7;
/// A tenth of the median time does not change a result …
pub(super) const LATE_SHARE: f64 = 0.1;
/// … and less than a millisecond does not matter to any.
pub(super) const LATE_MS: f64 = 1.0;

/// An agent that sent late, and its bound.
#[derive(Clone, Debug, PartialEq)]
pub struct LateAgent {
    pub agent: String,
    pub p99_ms: f64,
    pub bound_ms: f64,
}

/// An agent whose threads had something to do most of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyAgent {
    pub agent: String,
    /// The share of their time in which they had something to do.
    pub busy: f64,
    /// The share of their time for which they had a CPU.
    pub cpu: f64,
}

/// Each agent is judged by itself: among others that send in time, one that does not is hardly seen.
pub(super) fn late(recording: &Recording, agents: &[AgentFacts]) -> Option<Doubt> {
    let total = &recording.total;
    let median_ms = total.response.quantile(0.5)?.value as f64 / 1e6;
    let of = |agent: &AgentFacts| {
        let saw = agent.saw?;
        let p99_ms = saw.late_p99? as f64 / 1e6;
        let bound_ms = late_bound_ms(saw.p50.map_or(median_ms, |p50| p50 as f64 / 1e6));
        let agent = agent.name.clone();
        (bound_ms < p99_ms).then_some(LateAgent { agent, p99_ms, bound_ms })
    };
    let mut late: Vec<LateAgent> = agents.iter().filter_map(of).collect();
    if !late.is_empty() {
        late.sort_by(|one, other| other.p99_ms.total_cmp(&one.p99_ms));
        return Some(Doubt::Agents(AgentsDoubt::Late(late)));
    }
    let p99_ms = total.late.quantile(0.99)?.value as f64 / 1e6;
    let bound_ms = late_bound_ms(median_ms);
    (bound_ms < p99_ms).then_some(Doubt::Late { p99_ms, bound_ms })
}

fn late_bound_ms(median_ms: f64) -> f64 {
    (median_ms * LATE_SHARE).max(LATE_MS)
}

/// Threads that always have something to do are busy if they have a CPU for most of the time, and otherwise starved.
/// Each agent is judged by itself; the starved ones and the busy ones are two doubts.
pub(super) fn busy(recording: &Recording, agents: &[AgentFacts]) -> Vec<Doubt> {
    if measured_s(recording) < BUSY_AFTER_S {
        return Vec::new();
    }
    let of = |agent: &AgentFacts| {
        let saw: PartSummary = agent.saw?;
        let (busy, cpu) = (saw.busy()?, saw.on_cpu()?);
        (BUSY < busy).then(|| BusyAgent { agent: agent.name.clone(), busy, cpu })
    };
    let mut named: Vec<BusyAgent> = agents.iter().filter_map(of).collect();
    if !named.is_empty() {
        named.sort_by(|one, other| other.busy.total_cmp(&one.busy));
        let (starved, busy): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|it| is_starved(it.busy, it.cpu));
        let all = [AgentsDoubt::Starved(starved), AgentsDoubt::Busy(busy)];
        return all.into_iter().filter(AgentsDoubt::names_any).map(Doubt::Agents).collect();
    }
    let share = generator_busy(&recording.lanes).filter(|share| BUSY < *share);
    let of = |(share, cpu)| match is_starved(share, cpu) {
        true => Doubt::Starved { busy: share, cpu },
        false => Doubt::Busy { share },
    };
    share.zip(generator_on_cpu(&recording.lanes)).map(of).into_iter().collect()
}

fn is_starved(busy: f64, cpu: f64) -> bool {
    cpu < STARVED * busy
}
