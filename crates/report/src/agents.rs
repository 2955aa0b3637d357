//! Agents in words and as JSON: where a load came from, how exactly the clocks there are known, and which were lost.

mod origin;

use std::collections::BTreeMap;

use agents::{AgentFacts, LinkUse, LostAgent, Program, Way};
use load::PartSummary;
use units::{counted, nanos, seconds};

use crate::document::{Block, Depth, Fact, Section, Tone};
use crate::json::json_type;
pub(crate) use origin::{of_link, offset, table};

/// The section about the agents of a load; without agents there is none.
pub(crate) fn section(agents: &[AgentFacts]) -> Option<Section> {
    let table = table("origin", &[agents])?;
    Some(Section::new("origin", ORIGIN, Depth::Full).with([Block::Table(table)]))
}

/// Those that did not finish.
pub(crate) fn lost(agents: &[LostAgent]) -> Section {
    let lost = agents.iter().map(|lost| Block::paragraph(Tone::Bad, lost.to_string()));
    Section::new("agents", "", Depth::Brief).with(lost)
}

pub(crate) const ORIGIN: &str = "Where the load came from";

/// Where a load came from, in a few words: machines by their names, and processes by their number.
pub(crate) fn load_from(agents: &[&AgentFacts]) -> String {
    match agents.iter().all(|agent| agent.has_our_clock) {
        true => {
            let processes = counted(agents.len() as u64, "process", "processes");
            format!("{processes} of the same machine")
        }
        false => {
            let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
            names.join(", ")
        }
    }
}

/// Where the load came from. Nothing, if from this process; and little, if from processes of this machine.
pub(crate) fn facts_of(agents: &[AgentFacts]) -> Vec<Fact> {
    let lanes = |agent: &AgentFacts| {
        format!("{} ({})", agent.name, counted(agent.lanes as u64, "thread", "threads"))
    };
    match agents {
        [] => Vec::new(),
        local if local.iter().all(|agent| agent.has_our_clock) => {
            let processes = counted(local.len() as u64, "process", "processes");
            vec![Fact::new("load from", format!("{processes} of this machine"))]
        }
        agents => {
            let names: Vec<String> = agents.iter().map(lanes).collect();
            vec![Fact::new("load from", names.join(", ")), Fact::new("clocks", clocks(agents))]
        }
    }
}

/// How exactly all of them began at one instant, and how far they drifted.
fn clocks(agents: &[AgentFacts]) -> String {
    let most = |of: fn(&AgentFacts) -> u64| agents.iter().map(of).max().unwrap_or(0);
    let error = nanos(most(|agent| agent.offset_error_ns));
    let trip = nanos(most(|agent| agent.round_trip_ns));
    let drift = agents.iter().filter_map(|agent| agent.drift_ns).map(i64::unsigned_abs).max();
    let drift =
        drift.map_or(String::new(), |drift| format!("; they moved by {} at most", nanos(drift)));
    format!(
        "those of the agents are known to {error} or better (a message and its answer take {trip}){drift}"
    )
}

/// A figure of an agent's clock, where it has one of its own.
pub(crate) fn estimated(agent: &AgentFacts, figure: f64) -> Option<f64> {
    (!agent.has_our_clock).then_some(figure)
}

// `AgentFacts` has a clock's figures also where the clock is this machine's; what of its host is no fact of a load (what
// its owner allows) is not told.
json_type! {
    /// An agent: a range of threads, in a process of its own.
    pub(crate) struct AgentJson as "agent" of agent: AgentFacts {
        /// its name: of its host, or of the process
        name: String = agent.name.clone(),
        /// as its host calls itself
        host: String = agent.host.name.clone(),
        #[serde(flatten)]
        program: Program = agent.host.program.clone(),
        /// the number of its first thread
        first_lane: usize = agent.first,
        /// how many threads it has
        lanes: usize = agent.lanes,
        /// how many threads all agents have
        of_lanes: usize = agent.of,
        /// CPUs that it may use; empty where that was not asked
        cpus: Vec<usize> = agent.host.cpus.clone(),
        /// files that it may open
        files: u64 = agent.files,
        /// what else shapes a measurement there, by name; of the trials of a run only what a report shows, as the run's own
        /// facts have all of it, with the agent's name before theirs
        facts: BTreeMap<String, String> = agent.host.facts.iter().cloned().collect(),
        /// its clock minus this machine's, as it was estimated before the load; null of a process of this machine, which has the same
        clock_offset_s: Option<f64> = estimated(agent, agent.offset_ns as f64 / 1e9),
        /// the most by which that may be wrong: half of the round trip; null where there is no such estimate
        clock_error_s: Option<f64> = estimated(agent, seconds(agent.offset_error_ns)),
        /// how long a message and its answer took, at best; null where that was not measured
        round_trip_s: Option<f64> = estimated(agent, seconds(agent.round_trip_ns)),
        /// by how much its clock moved against this machine's during the load; null where that was not measured
        clock_drift_s: Option<f64> = agent.drift_ns.map(|drift| drift as f64 / 1e9),
        /// how long its carrier was interrupted
        blinked_s: f64 = seconds(agent.blinked_ns),
        /// how long after the agreed instant the last of its threads began
        began_late_s: f64 = seconds(agent.beside.began_late),
        /// what its share saw; null of held connections, or if it was lost
        saw: Option<AgentSawJson> = agent.saw.as_ref().map(AgentSawJson::from),
        /// the way from its host to the server before the load; null of a process of this machine
        way: Option<Way> = agent.way.clone(),
        /// the link of its host towards the server while the load went on; null where that is not known
        link: Option<LinkUse> = agent.beside.link.clone(),
    }
}

json_type! {
    /// What an agent's share of a load saw: to compare agents with each other, and never averaged.
    pub(crate) struct AgentSawJson as "agent_saw" of saw: PartSummary {
        /// requests that were due in the measured time
        attempted: u64,
        /// those that were answered as expected
        correct: u64,
        /// median response time; null where it is not known
        p50_ns: Option<u64> = saw.p50,
        /// response time of 99 % of the requests; null where it is not known
        p99_ns: Option<u64> = saw.p99,
        /// how late 99 % of the requests were sent at most
        late_p99_ns: Option<u64> = saw.late_p99,
        /// requests that were due each second of the measured time
        attempted_per_s: Option<f64> = saw.attempted_per_s(),
        /// the share of their time in which its threads had something to do
        busy: Option<f64> = saw.busy(),
        /// the share of their time in which its threads had a CPU
        on_cpu: Option<f64> = saw.on_cpu(),
    }
}

json_type! {
    /// An agent that did not finish; what it measured is in no figure.
    pub(crate) struct LostAgentJson as "lost_agent" of lost: LostAgent {
        #[serde(flatten)]
        lost: LostAgent = lost.clone(),
        /// this in words
        says: String = lost.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use agents::Phase;

    use super::*;

    fn lost(phase: Phase, open: Option<u64>) -> String {
        let (name, how) = ("desk3".into(), "it ended: signal 9 (KILL)".into());
        let at_ns = 12_340_000_000;
        LostAgent { name, number: 2, of: 4, phase, at_ns, share: 0.25, open, how }.to_string()
    }

    #[test]
    fn a_lost_agent_is_named_with_its_time_and_its_share() {
        assert_eq!(
            lost(Phase::Load, None),
            "agent desk3 (2 of 4) was lost 12.3 s after the load began: it ended: signal 9 (KILL); 25 % of the load \
             was lost with it, and what it measured is in no figure"
        );
        assert!(lost(Phase::Before, None).contains("was lost before the load began: it ended"));
        assert!(lost(Phase::Report, None).contains("was lost when it reported, 12.3 s after"));
        assert!(lost(Phase::Load, Some(1_200)).contains("with 1,200 open connections: it ended"));
        assert!(
            lost(Phase::Load, Some(1)).ends_with("no step counts its connections, 25 % of all")
        );
    }
}
