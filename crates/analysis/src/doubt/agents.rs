//! Whether the agents of a load saw one server over equal ways, began together, and stayed to the end.

use agents::{AgentFacts, LinkUse};
use lab::record::{AGENTS, AGENTS_LOST, AGENTS_LOST_SHARE, TrialRecord};
use load::Nanos;
use units::{count, counted, nanos, percent};

use super::Doubt;
use super::definition::{duration, family, in_percent};
use crate::verdict::Gravity;

/// Medians that differ by less than this are one server's, by chance or by the length of a cable.
const APART: f64 = 0.2;
/// Windows of an agent that begin this much later lie beside other windows of the others.
const START_APART: Nanos = 50_000_000;
const DRIFT: u64 = 10_000_000;
const FULL: f64 = 0.8;
/// Of a thousand segments, and never fewer than this many at all: single ones are lost on every way.
const LOSS: f64 = 0.001;
const LOST_LEAST: u64 = 10;

family! {
    /// What may be wrong with a load that several agents carried out.
    AgentsDoubt;

    /// Agents were lost, and with them their share of the load.
    Lost {
        lost: u64,
        of: u64,
        /// The share of the load that they had.
        share: f64,
    }
    id: "agents_lost",
    gravity: Gravity::Invalid,
    when: "with `--load-on`, or when connections are held by several processes: an agent ended, could not be reached for the \
        time of its lease, or delivered no result",
    because: "its share of the load left with it, and what the others measured is another load than was ordered; it is \
        reported all the same",
    says: format!(
        "{} of {} were lost, and {} of the load with them: the figures are those of the others",
        count(*lost),
        counted(*of, "agent", "agents"),
        percent(*share)
    ),
    way_out: "see above how each was lost; the rest is another load than was ordered, so run it again with all of them",
    examples: [{ lost: 1, of: 3, share: 0.33 }],

    /// The answers to one agent took another time than those to the others.
    Apart { agent: String, p50: Nanos, others: Nanos }
    id: "agents_apart",
    gravity: Gravity::Suspect,
    when: format!(
        "the median response time of one agent differs by more than {} from the middle one of the others', and lies beyond \
         what their windows' medians vary (their 10th to 90th percentiles)",
        in_percent(APART)
    ),
    because: "another way, another network card, a busy CPU: the agents did not see the same server",
    says: format!(
        "half of the answers to {agent} took more than {}, and of those to the other agents more than {}: they did not see \
         the same server, or not over equal ways",
        nanos(*p50),
        nanos(*others)
    ),
    way_out: "`dyno agents check` compares the hosts' ways; leave one out whose way or CPU is another, or report it by \
        itself",
    examples: [{ agent: "desk2".into(), p50: 8_000_000, others: 5_000_000 }],

    /// An agent began after the instant that had been agreed on.
    StartApart { agent: String, by: Nanos }
    id: "start_apart",
    gravity: Gravity::Suspect,
    when: format!(
        "an agent began its load more than {} after the instant that had been agreed on",
        duration(START_APART as f64)
    ),
    because: "until then the load was a part of what was ordered",
    says: format!(
        "{agent} began {} after the instant that all agents had agreed on: at first the load was a part of what was ordered",
        nanos(*by)
    ),
    way_out: "see what kept that machine busy, and run again",
    examples: [{ agent: "desk2".into(), by: 80_000_000 }],

    /// An agent's clock went another way than the coordinator's while the load went on.
    ClockDrift { agent: String, by: i64 }
    id: "clock_drift",
    gravity: Gravity::Suspect,
    when: format!(
        "from before the load until after it an agent's clock gained or lost more than {}, and more than the estimates may \
         be wrong",
        duration(DRIFT as f64)
    ),
    because: "its windows lie beside others of the other agents",
    says: format!(
        "the clock of {agent} {} {} against this machine's while the load went on: its windows lie beside other windows, and \
         its rates are by another second",
        if *by < 0 { "lost" } else { "gained" },
        nanos(by.unsigned_abs())
    ),
    way_out: "let a service such as chrony keep its clock, and not set it while a load goes on",
    examples: [{ agent: "desk2".into(), by: -20_000_000 }],

    /// The link of a host had hardly room left.
    LinkFull { host: String, link: String, share: f64 }
    id: "link_full",
    gravity: Gravity::Suspect,
    when: format!(
        "more than {} of what a host's link or its shaper (a token bucket) can carry passed in one direction",
        in_percent(FULL)
    ),
    because: "the network may have been the limit",
    says: format!(
        "{} of what {link} of {host} can carry passed over it: the network may have been the limit, and not the server",
        percent(*share)
    ),
    way_out: "ask for smaller answers or less load, or take a faster link",
    examples: [{ host: "desk2".into(), link: "eth0".into(), share: 0.93 }],

    /// Segments were lost on the way.
    PathLoss { host: String, retransmitted: u64, segments: u64 }
    id: "path_loss",
    gravity: Gravity::Suspect,
    when: format!(
        "a host sent {LOST_LEAST} segments of TCP or more again, and more than {} of all",
        in_percent(LOSS)
    ),
    because: "the wait for them is in the response times",
    says: format!(
        "{host} sent {} of {} segments of TCP again: they were lost on the way, or came late, and the wait for them is in \
         the response times",
        count(*retransmitted),
        count(*segments)
    ),
    way_out: "look for a full link, a shaper or a faulty cable between the two; `dyno agents check` shows their speeds",
    examples: [{ host: "desk2".into(), retransmitted: 90, segments: 10_000 }],

    /// The connection to an agent was interrupted.
    Blinked {
        agent: String,
        /// For so long in all.
        long: Nanos,
    }
    id: "control_blinked",
    gravity: Gravity::Note,
    when: "the connection to an agent was interrupted for less than 2 seconds",
    because: "its load went on; after 2 seconds it would have ended",
    says: format!(
        "the connection to {agent} was interrupted for {}; its load went on",
        nanos(*long)
    ),
    way_out: "look at the network to it, or at the broker, if it happens again",
    examples: [{ agent: "desk2".into(), long: 700_000_000 }],
}

/// The agents that did not finish, as a load that was kept noted them.
pub(super) fn noted_lost(trial: &TrialRecord) -> Option<Doubt> {
    let share = super::noted(trial, AGENTS_LOST_SHARE).unwrap_or(0.0);
    agents_lost(super::noted(trial, AGENTS_LOST)?, super::noted(trial, AGENTS)?, share)
}

/// A doubt if any agent was lost: so many of so many, who had such a share of the load.
#[must_use]
pub fn agents_lost(lost: u64, of: u64, share: f64) -> Option<Doubt> {
    (0 < lost).then_some(AgentsDoubt::Lost { lost, of, share }.into())
}

/// What the agents of a load and their ways give reason to doubt, beside whether they were fast enough.
#[must_use]
pub fn of_agents(agents: &[AgentFacts]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for agent in agents {
        doubts.extend(apart(agent, agents));
        doubts.extend(start_apart(agent));
        doubts.extend(clock_drift(agent));
        doubts.extend(agent.beside.link.iter().flat_map(|link| of_link(&agent.name, link)));
        doubts.extend(blinked(agent));
    }
    doubts.into_iter().map(Doubt::from).collect()
}

/// What the link of a host gives reason to doubt.
fn of_link(host: &str, link: &LinkUse) -> Vec<AgentsDoubt> {
    let full = link.full().filter(|share| FULL < *share).map(|share| AgentsDoubt::LinkFull {
        host: host.into(),
        link: link.name.clone(),
        share,
    });
    let LinkUse { segments, retransmitted, .. } = *link;
    let is_lossy = LOST_LEAST <= retransmitted && (LOSS * segments as f64) < retransmitted as f64;
    let loss =
        is_lossy.then(|| AgentsDoubt::PathLoss { host: host.into(), retransmitted, segments });
    full.into_iter().chain(loss).collect()
}

/// An agent's median against the middle one of the others', if it lies beyond what its own windows and theirs vary.
fn apart(agent: &AgentFacts, agents: &[AgentFacts]) -> Option<AgentsDoubt> {
    let (p50, own) = medians(agent)?;
    let mut others: Vec<_> =
        agents.iter().filter(|it| it.name != agent.name).filter_map(medians).collect();
    // Of two agents neither is the odd one: the slower is named.
    if others.len() == 1 && p50 <= others[0].0 {
        return None;
    }
    others.sort_unstable();
    let (middle, _) = *others.get(others.len() / 2)?;
    let low = others.iter().map(|(_, (low, _))| *low).min()?;
    let high = others.iter().map(|(_, (_, high))| *high).max()?;
    let is_beyond = own.1 < low || high < own.0;
    let ratio = p50.max(middle) as f64 / p50.min(middle).max(1) as f64;
    (is_beyond && 1.0 + APART < ratio).then(|| AgentsDoubt::Apart {
        agent: agent.name.clone(),
        p50,
        others: middle,
    })
}

fn medians(agent: &AgentFacts) -> Option<(Nanos, (Nanos, Nanos))> {
    let saw = agent.saw?;
    Some((saw.p50?, saw.p50_of_windows?))
}

fn start_apart(agent: &AgentFacts) -> Option<AgentsDoubt> {
    let by = agent.beside.began_late;
    (START_APART < by).then(|| AgentsDoubt::StartApart { agent: agent.name.clone(), by })
}

fn clock_drift(agent: &AgentFacts) -> Option<AgentsDoubt> {
    let by = agent.drift_ns?;
    // What may be the estimate's own error is none of the clock's.
    let is_much = DRIFT < by.unsigned_abs().saturating_sub(agent.drift_error_ns);
    is_much.then(|| AgentsDoubt::ClockDrift { agent: agent.name.clone(), by })
}

fn blinked(agent: &AgentFacts) -> Option<AgentsDoubt> {
    let long = agent.blinked_ns;
    (0 < long).then(|| AgentsDoubt::Blinked { agent: agent.name.clone(), long })
}

#[cfg(test)]
mod tests {
    use agents::Beside;
    use load::PartSummary;

    use super::*;

    const MS: Nanos = 1_000_000;

    fn link() -> LinkUse {
        LinkUse {
            name: "eth0".into(),
            speed: Some(1_000_000_000),
            sent: 10_000_000,
            received: 90_000_000,
            over: load::SECOND,
            segments: 10_000,
            retransmitted: 9,
            ..LinkUse::default()
        }
    }

    /// Three agents that saw the same server.
    fn three() -> Vec<AgentFacts> {
        let one = |number: usize| AgentFacts {
            name: format!("g{number}"),
            first: number - 1,
            lanes: 1,
            of: 3,
            drift_ns: Some(0),
            drift_error_ns: MS,
            saw: Some(PartSummary {
                p50: Some(5 * MS + number as Nanos * 10_000),
                p50_of_windows: Some((4 * MS, 6 * MS)),
                ..PartSummary::default()
            }),
            beside: Beside { began_late: 0, link: Some(link()) },
            ..AgentFacts::default()
        };
        (1..=3).map(one).collect()
    }

    fn found(change: impl FnOnce(&mut AgentFacts)) -> Vec<Doubt> {
        let mut agents = three();
        change(&mut agents[1]);
        of_agents(&agents)
    }

    fn seen(agent: &mut AgentFacts, p50: Nanos, windows: (Nanos, Nanos)) {
        let saw = agent.saw.as_mut().unwrap();
        (saw.p50, saw.p50_of_windows) = (Some(p50), Some(windows));
    }

    fn name() -> String {
        "g2".into()
    }

    #[test]
    fn agents_that_see_one_server_alike_raise_no_doubt() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(of_agents(&[]), []);
        assert_eq!(of_agents(&three()[..1]), []);
        // A server that varies so much for all of them.
        assert_eq!(found(|agent| seen(agent, 8 * MS, (5 * MS, 9 * MS))), []);
        // Steadily another way, but hardly.
        assert_eq!(found(|agent| seen(agent, 6_010_000, (6_001_000, 6_020_000))), []);
        assert_eq!(found(|agent| agent.saw = None), []);
    }

    #[test]
    fn an_agent_whose_answers_take_another_time_is_apart() {
        let apart = |p50| {
            let others = 5 * MS + 30_000;
            vec![Doubt::Agents(AgentsDoubt::Apart { agent: name(), p50, others })]
        };
        assert_eq!(found(|agent| seen(agent, 8 * MS, (7 * MS, 9 * MS))), apart(8 * MS));
        assert_eq!(found(|agent| seen(agent, 2 * MS, (2 * MS, 3 * MS))), apart(2 * MS));
        // Of two the slower one is named, once.
        let mut two = three();
        two.pop();
        seen(&mut two[1], 8 * MS, (7 * MS, 9 * MS));
        assert!(
            matches!(&of_agents(&two)[..], [Doubt::Agents(AgentsDoubt::Apart { agent, .. })] if *agent == name())
        );
    }

    #[test]
    fn a_late_start_and_a_clock_of_its_own_pace_are_seen() {
        let late = |by| found(|agent| agent.beside.began_late = by);
        assert_eq!(late(50 * MS), []);
        let by = 51 * MS;
        assert_eq!(late(by), [Doubt::Agents(AgentsDoubt::StartApart { agent: name(), by })]);
        let drifted =
            |by, within| found(|agent| (agent.drift_ns, agent.drift_error_ns) = (Some(by), within));
        assert_eq!(drifted(-12_000_000, 2 * MS), [], "it may be the estimate's error");
        let by = -12_000_001;
        let doubt = AgentsDoubt::ClockDrift { agent: name(), by };
        assert_eq!(drifted(by, 2 * MS), [Doubt::Agents(doubt)]);
    }

    #[test]
    fn a_full_link_and_a_lossy_way_are_seen() {
        let link =
            |change: fn(&mut LinkUse)| found(|agent| change(agent.beside.link.as_mut().unwrap()));
        assert_eq!(link(|link| link.received = 100_000_000), []);
        let full = link(|link| link.received = 100_000_001);
        assert!(matches!(&full[..], [Doubt::Agents(AgentsDoubt::LinkFull { .. })]), "{full:?}");
        assert_eq!(link(|link| (link.speed, link.sent) = (None, u64::MAX)), [], "nobody knows");
        assert_eq!(link(|link| (link.speed, link.over) = (Some(0), 0)), []);
        assert_eq!(link(|link| link.retransmitted = 10), [], "one of a thousand");
        let (host, segments) = (name(), 10_000);
        let loss = AgentsDoubt::PathLoss { host, retransmitted: 11, segments };
        assert_eq!(link(|link| link.retransmitted = 11), [Doubt::Agents(loss)]);
    }

    #[test]
    fn an_interrupted_connection_to_an_agent_is_noted() {
        let blinked = found(|agent| agent.blinked_ns = 900 * MS);
        let doubt = AgentsDoubt::Blinked { agent: name(), long: 900 * MS };
        assert_eq!(blinked[0].gravity(), Gravity::Note);
        assert_eq!(blinked, [Doubt::Agents(doubt)]);
    }
}
