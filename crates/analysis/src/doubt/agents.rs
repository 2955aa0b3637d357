//! Whether the agents of a load saw one server over equal ways, began together, and stayed to the end.

use agents::{AgentFacts, LinkUse};
use lab::record::{self, TrialRecord};
use load::Nanos;
use units::{count, counted, nanos, percent};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Share, Time};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

/// Medians that differ by less than this are one server's, by chance or by the length of a cable.
const APART: f64 = 0.2;
/// Windows of an agent that begin this much later lie beside other windows of the others.
const BEGAN_APART: Nanos = 50_000_000;
const DRIFT: u64 = 10_000_000;
const FULL: f64 = 0.8;
/// Of a thousand segments, and never fewer than this many at all: single ones are lost on every way.
const LOSS: f64 = 0.001;
const LOST_LEAST: u64 = 10;

pub(super) const ALL: &[Definition] =
    &[AGENTS_LOST, AGENTS_APART, START_APART, CLOCK_DRIFT, LINK_FULL, PATH_LOSS, CONTROL_BLINKED];

/// Agents were lost, and with them their share of the load.
pub(crate) const AGENTS_LOST: Definition = Definition::new("agents_lost", Invalid)
    .when("with `--load-on`, or when connections are held by several processes: an agent ended, could not be reached \
        for the time of its lease, or delivered no result")
    .because("its share of the load was lost with it: the figures are those of a smaller load than was ordered")
    .way_out("see above how each was lost, and run it again with all of them");

/// The answers to one agent took another time than those to the others.
pub(crate) const AGENTS_APART: Definition = Definition::new("agents_apart", Suspect)
    .when("the median response time of one agent differs by more than {} from the median of the others', and lies \
        outside the range of their windows' medians (10th to 90th percentile)")
    .thresholds(&[Share(APART)])
    .because("a different route or network card, or a busy CPU: the agents did not see the same server")
    .way_out("`dyno agents check` compares the hosts' network paths; leave out a host whose path or CPU differs, or \
        report it separately");

/// An agent began after the instant that had been agreed on.
pub(crate) const START_APART: Definition = Definition::new("start_apart", Suspect)
    .when("an agent began its load more than {} after the instant that had been agreed on")
    .thresholds(&[Time(BEGAN_APART as f64)])
    .because("until then only a part of the ordered load was sent")
    .way_out("see what kept that machine busy, and run again");

/// An agent's clock went another way than the coordinator's while the load went on.
pub(crate) const CLOCK_DRIFT: Definition = Definition::new("clock_drift", Suspect)
    .when("from before the load until after it an agent's clock gained or lost more than {}, and more than the \
        estimates may be wrong")
    .thresholds(&[Time(DRIFT as f64)])
    .because("its windows are not aligned with those of the other agents")
    .way_out("let a service such as chrony discipline its clock, and do not set the clock during a load");

/// The link of a host had hardly room left.
pub(crate) const LINK_FULL: Definition = Definition::new("link_full", Suspect)
    .when("more than {} of what a host's link or its shaper (a token bucket) can carry passed in one direction")
    .thresholds(&[Share(FULL)])
    .because("the network may have been the limit")
    .way_out("ask for smaller answers or less load, or take a faster link");

/// Segments were lost on the way.
pub(crate) const PATH_LOSS: Definition = Definition::new("path_loss", Suspect)
    .when("a host retransmitted {} TCP segments or more, and more than {} of all")
    .thresholds(&[Count(LOST_LEAST), Share(LOSS)])
    .because("the response times contain the wait for them")
    .way_out("look for a full link, a shaper or a faulty cable between the two; `dyno agents check` shows their \
        speeds");

/// The connection to an agent was interrupted.
pub(crate) const CONTROL_BLINKED: Definition = Definition::new("control_blinked", Note)
    .when("the connection to an agent was interrupted for less than 2 seconds")
    .because("its load continued; after 2 seconds it would have ended")
    .way_out("look at the network to it, or at the broker, if it happens again");

/// The agents that did not finish, as a load that was kept noted them.
pub(super) fn noted_lost(trial: &TrialRecord) -> Option<Doubt> {
    let share = super::noted(trial, record::AGENTS_LOST_SHARE).unwrap_or(0.0);
    agents_lost(
        super::noted(trial, record::AGENTS_LOST)?,
        super::noted(trial, record::AGENTS)?,
        share,
    )
}

/// A doubt if any agent was lost: so many of so many, who had such a share of the load.
#[must_use]
pub fn agents_lost(lost: u64, of: u64, share: f64) -> Option<Doubt> {
    (0 < lost).then(|| {
        AGENTS_LOST.found(format!(
            "{} of {} were lost, and {} of the load with them: the figures are those of the others",
            count(lost),
            counted(of, "agent", "agents"),
            percent(share)
        ))
    })
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
    doubts
}

/// What the link of a host gives reason to doubt.
fn of_link(host: &str, link: &LinkUse) -> Vec<Doubt> {
    let full = link.full().filter(|share| FULL < *share).map(|share| {
        let link = &link.name;
        LINK_FULL.found(format!(
            "{} of what {link} of {host} can carry passed over it: the network may have been the limit, and not the \
             server",
            percent(share)
        ))
    });
    let LinkUse { segments, retransmitted, .. } = *link;
    let is_lossy = LOST_LEAST <= retransmitted && (LOSS * segments as f64) < retransmitted as f64;
    let loss = is_lossy.then(|| {
        PATH_LOSS.found(format!(
            "{host} retransmitted {} of {} TCP segments: they were lost or delayed, and the response times contain \
             the wait for them",
            count(retransmitted),
            count(segments)
        ))
    });
    full.into_iter().chain(loss).collect()
}

/// An agent's median against the middle one of the others', if it lies beyond what its own windows and theirs vary.
fn apart(agent: &AgentFacts, agents: &[AgentFacts]) -> Option<Doubt> {
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
    (is_beyond && 1.0 + APART < ratio).then(|| {
        AGENTS_APART.found(format!(
            "half of the answers to {} took more than {}, and of those to the other agents more than {}: they did \
             not see the same server, or not over equal network paths",
            agent.name,
            nanos(p50),
            nanos(middle)
        ))
    })
}

fn medians(agent: &AgentFacts) -> Option<(Nanos, (Nanos, Nanos))> {
    let saw = agent.saw?;
    Some((saw.p50?, saw.p50_of_windows?))
}

fn start_apart(agent: &AgentFacts) -> Option<Doubt> {
    let by = agent.beside.began_late;
    (BEGAN_APART < by).then(|| {
        START_APART.found(format!(
            "{} began {} later than all agents had agreed: until then only a part of the ordered load was sent",
            agent.name,
            nanos(by)
        ))
    })
}

fn clock_drift(agent: &AgentFacts) -> Option<Doubt> {
    let by = agent.drift_ns?;
    // What may be the estimate's own error is none of the clock's.
    let is_much = DRIFT < by.unsigned_abs().saturating_sub(agent.drift_error_ns);
    is_much.then(|| {
        CLOCK_DRIFT.found(format!(
            "the clock of {} {} {} against this machine's during the load: its windows are not aligned with those of \
             other agents, and its seconds have another length",
            agent.name,
            if by < 0 { "lost" } else { "gained" },
            nanos(by.unsigned_abs())
        ))
    })
}

fn blinked(agent: &AgentFacts) -> Option<Doubt> {
    let long = agent.blinked_ns;
    (0 < long).then(|| {
        CONTROL_BLINKED.found(format!(
            "the connection to {} was interrupted for {}; its load continued",
            agent.name,
            nanos(long)
        ))
    })
}
