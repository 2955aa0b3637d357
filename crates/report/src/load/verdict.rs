//! Whether a single load is valid, suspect or invalid, why, and what to do. The doubts, and their thresholds, are in
//! `analysis`, which judges a load that was kept in the same way.

use agents::{AgentFacts, LostAgent};
use analysis::{By, OWN_FAILURES, Ordered, most_seen, of_agents, of_load, on_time, overflowed};
use load::{Failure, Load, Order, Recording};

use super::Queue;
use crate::verdict::{ExplainedDoubt, ExplainedVerdict, without};

/// Judges a recording, what was observed of the server's accept queue, and which agents are missing.
pub fn weigh(
    recording: &Recording,
    order: &Order,
    queue: Option<Queue>,
    (agents, lost): (&[AgentFacts], &[LostAgent]),
) -> ExplainedVerdict {
    let overflowed = queue.and_then(|queue| overflowed(queue.overflows, queue.backlog));
    let beside = without(lost).into_iter().chain(of_agents(agents)).chain(overflowed);
    let found = of_load(recording, agents, ordered(recording, order), beside);
    let explained = found.iter().map(|found| {
        let explained = ExplainedDoubt::of(found, By::Flags);
        match most_seen(&recording.total, Failure::is_own).filter(|_| found.is(&OWN_FAILURES)) {
            Some((most, _)) => {
                ExplainedDoubt { what_to_do: own_way_out(most, order).into(), ..explained }
            }
            None => explained,
        }
    });
    ExplainedVerdict::by(explained.collect())
}

/// What the recording is compared with.
fn ordered(recording: &Recording, order: &Order) -> Ordered {
    Ordered {
        calls: match order.load {
            Load::Sessions { calls, .. } => calls,
            Load::Closed { .. } | Load::Open { .. } => 1,
        },
        on_time: order.load.arrivals().map(|_| on_time(recording, None)),
        connections: match order.load {
            Load::Closed { connections } => u32::try_from(connections).ok(),
            Load::Open { .. } | Load::Sessions { .. } => None,
        },
        looked_away: None,
    }
}

fn own_way_out(failure: Failure, order: &Order) -> &'static str {
    match (failure, &order.load) {
        (Failure::NoPorts, _) => "give more addresses with --source, or a lower rate",
        (Failure::NoFiles, _) => {
            "raise the limit of open files with ulimit -n, or allow fewer connections"
        }
        (Failure::Blocked, Load::Open { .. } | Load::Sessions { .. }) => {
            "allow more connections with --max-connections, or offer less"
        }
        (Failure::Still, _) => "let nothing stop or pause dyno while it measures, and run it again",
        _ => "offer less, or give it more CPUs with --threads and --load-cpus",
    }
}

#[cfg(test)]
mod tests;
