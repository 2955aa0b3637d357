//! Whether dyno itself was running all the time.

use agents::AgentFacts;
use lab::figure::rates::measured_s;
use load::{Holding, Nanos, Plateau, Recording};

use super::{Doubt, Ordered};

/// A share of the measured time of each lane: a longer time may have changed a p99.9.
const SHARE: f64 = 0.001;
/// Any scheduler now and then causes a shorter pause.
const SHORTEST: Nanos = 5_000_000;

/// The times in which lanes slept too long, or had no CPU, and in which the monitors read nothing. Of several agents, the
/// one is named that stood still for longest.
pub(super) fn stood_still(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
) -> Option<Doubt> {
    let lanes = recording.lanes.len().max(1) as f64;
    let still = recording.total.still;
    let looked_away = ordered.looked_away.unwrap_or(0);
    let longest = still.longest().max(looked_away);
    let measured_ns = measured_s(recording) * 1e9;
    let share = (still.sum as f64 / lanes).max(looked_away as f64) / measured_ns.max(1.0);
    let p99 = recording.total.response.quantile(0.99).map_or(0, |p99| p99.value);
    let stillest = agents.iter().max_by_key(|agent| agent.saw.map_or(0, |saw| saw.still));
    let is_of_agent = |agent: &&AgentFacts| {
        agent.saw.is_some_and(|saw| looked_away <= saw.still && 0 < saw.still)
    };
    doubt(longest, share, p99, stillest.filter(is_of_agent).map(|agent| agent.name.clone()))
}

/// The same for held connections, on the step in which it was worst. Their times are those of messages, or of opening
/// connections where no message arrived.
pub(super) fn held_still(holding: &Holding, lanes: u64) -> Option<Doubt> {
    let of = |plateau: &Plateau| {
        let lasted = holding.closed_at.min(plateau.times.until).saturating_sub(plateau.times.from);
        let share = plateau.still.sum as f64 / lanes.max(1) as f64 / lasted.max(1) as f64;
        let times = [&plateau.late, &plateau.agree].into_iter().find(|times| 0 < times.count());
        let p99 = times.and_then(|times| times.quantile(0.99)).map_or(0, |p99| p99.value);
        Some((share, doubt(plateau.still.longest(), share, p99, None)?))
    };
    let found = holding.plateaus.iter().filter_map(of);
    found.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, doubt)| doubt)
}

fn doubt(longest: Nanos, share: f64, p99: Nanos, agent: Option<String>) -> Option<Doubt> {
    let is_it = SHORTEST <= longest && (SHARE < share || p99 < longest);
    is_it.then_some(Doubt::StoodStill {
        longest_ms: longest as f64 / 1e6,
        share: share.min(1.0),
        p99_ms: p99 as f64 / 1e6,
        agent,
    })
}
