//! Which reasons there are to doubt a trial, or a single load: every check, in its order.

use ::agents::AgentFacts;
use lab::experiment::Point;
use lab::figure::{Terms, rates::OnTime, readings};
use lab::record::{OutcomeKind, TrialRecord};
use load::{Nanos, Recording};

use super::{
    Doubt, agents, alone, answers, books, drift, generator, held, http2, machine, queue, rate,
    security, shape, spots, steady, still, subject,
};
use agents::of_agents;
use alone::of_load;

/// All reasons to doubt what was measured, the instrument's faults first.
#[must_use]
pub fn doubts(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    if let (true, Some(loaded)) = (terms.is_load, &trial.loaded) {
        let ordered = Ordered { looked_away: None, ..ordered(trial, &loaded.recording, terms) };
        let lost = alone::noted_agents_lost(trial).into_iter();
        let beside = lost.chain(of_agents(&loaded.agents)).chain(alone::overflows(trial));
        return of_load(&loaded.recording, &loaded.agents, ordered, beside);
    }
    let kind = trial.outcome.kind;
    let unmeasured = (kind != OutcomeKind::Measured).then_some(Doubt::Unmeasured(kind));
    unmeasured
        .into_iter()
        .chain(of_pressed(trial, terms))
        .chain(of_held(trial))
        .chain(spots::conformance_under_load(trial))
        .collect()
}

fn of_held(trial: &TrialRecord) -> Vec<Doubt> {
    let Some(held) = &trial.held else { return Vec::new() };
    held::all(trial, held).into_iter().chain(of_surroundings(trial)).collect()
}

/// What the machine and the subject's processes did meanwhile, whatever was loaded or held.
fn of_surroundings(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    let all = [
        queue::overflows(trial),
        queue::syn_retries(trial),
        machine::steal(trial),
        machine::other_programs(trial),
        machine::other_dyno(trial),
        machine::clock_step(trial),
        subject::processes_ended(trial),
        subject::memory_kills(trial),
        subject::left_cgroup(trial),
    ];
    all.into_iter().flatten()
}

fn of_pressed(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    let Some(loaded) = &trial.loaded else { return Vec::new() };
    let recording = &loaded.recording;
    let ordered = ordered(trial, recording, terms);
    let mut doubts = of_recording(recording, &loaded.agents, ordered);
    doubts.extend(books::connections(trial));
    doubts.extend(of_agents(&loaded.agents));
    doubts.extend(of_surroundings(trial));
    doubts.extend(shape::delayed_ack(trial));
    doubts.extend(subject::twin_busy(loaded));
    doubts.extend(subject::short_slices(loaded));
    // A server that does not keep up has no steady state to wait for.
    if !doubts.iter().any(Doubt::is_behind)
        && let Some(found) = steady::warmup_too_short(recording)
    {
        // It is more specific than a difference between the first third and the last.
        doubts.retain(|doubt| !matches!(doubt, Doubt::Drift { .. }));
        doubts.push(found);
    }
    doubts
}

fn ordered(trial: &TrialRecord, recording: &Recording, terms: Terms) -> Ordered {
    let point = trial.key.point;
    Ordered {
        calls: terms.calls,
        on_time: terms.on_time(recording, point),
        connections: match point {
            Point::Connections(connections) => Some(connections),
            Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => None,
        },
        looked_away: match trial.loaded.as_ref().and_then(|loaded| loaded.in_turns) {
            None => readings::longest_gap(trial),
            Some(turns) => turns.looked_away,
        },
    }
}

/// The order of a load, as far as its recording is compared with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ordered {
    /// How many requests of a session wait for one another; 1 without sessions.
    pub calls: u32,
    /// How many of a schedule's requests were on time; none for a closed loop.
    pub on_time: Option<OnTime>,
    /// The connections of a closed loop.
    pub connections: Option<u32>,
    /// The longest time in which no monitor read anything, although it was to; none without a monitor.
    pub looked_away: Option<Nanos>,
}

/// What can be checked in any recording, whether it is a trial's or that of `dyno load`. The instrument's faults are
/// first. Where agents carried the load out, those that were too slow for it are named.
#[must_use]
pub fn of_recording(recording: &Recording, agents: &[AgentFacts], ordered: Ordered) -> Vec<Doubt> {
    let behind =
        rate::not_on_time(recording, ordered).or_else(|| rate::growing(recording, ordered));
    // A server that does not keep up answers later and later, and a load that changes is not steady: both are expected.
    let is_steady = behind.is_none() && recording.sections.is_empty();
    let drift = if is_steady { drift::drift(recording) } else { None };
    let own = [
        books::books(recording, ordered),
        books::stopped(recording),
        books::own_failures(recording),
        still::stood_still(recording, agents, ordered),
        generator::late(recording, agents),
        books::under_way(recording),
        behind,
        rate::carried_in(recording, ordered),
    ];
    let seen = [
        answers::silence(recording),
        answers::surplus(recording),
        answers::unlike_bodies(recording),
        answers::reconnects(recording),
        drift,
        shape::mean_above_p99(recording, ordered.connections),
        books::few_samples(recording),
    ];
    let protocols =
        security::of_recording(recording).into_iter().chain(http2::of_recording(recording));
    let busy = generator::busy(recording, agents);
    own.into_iter()
        .flatten()
        .chain(busy)
        .chain(seen.into_iter().flatten())
        .chain(protocols)
        .collect()
}
