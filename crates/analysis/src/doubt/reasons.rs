//! Which reasons there are to doubt a trial, or a single load: every family's checks, in their order.

use ::agents::AgentFacts;
use lab::experiment::Point;
use lab::figure::{Terms, rates::OnTime};
use lab::record::TrialRecord;
use load::{Nanos, Recording};

use super::{
    Doubt, agents, answers, books, database, drift, ending, failures, forms, generator, held,
    http2, machine, queue, rate, samples, security, shape, spots, steady, subject,
};
use crate::verdict::Gravity;

/// All reasons to doubt what was measured, the instrument's faults first.
#[must_use]
pub fn doubts(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    if let (true, Some(loaded)) = (terms.is_load, &trial.loaded) {
        let ordered = Ordered { looked_away: None, ..ordered(trial, &loaded.recording, terms) };
        let lost = agents::noted_lost(trial).into_iter();
        let beside = lost.chain(agents::of_agents(&loaded.agents)).chain(queue::of_load(trial));
        return of_load(&loaded.recording, &loaded.agents, ordered, beside);
    }
    let unmeasured = ending::of_outcome(trial.outcome.kind);
    let mut doubts: Vec<Doubt> = unmeasured.into_iter().collect();
    doubts.extend(of_pressed(trial, terms));
    doubts.extend(of_held(trial));
    doubts.extend(spots::conformance_under_load(trial));
    doubts
}

fn of_held(trial: &TrialRecord) -> Vec<Doubt> {
    let Some(held) = &trial.held else { return Vec::new() };
    held::all(trial, held).into_iter().chain(of_surroundings(trial)).collect()
}

/// What the machine and the subject's processes did meanwhile, whatever was loaded or held.
fn of_surroundings(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    queue::of_trial(trial).chain(machine::of_trial(trial)).chain(subject::of_trial(trial))
}

fn of_pressed(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    let Some(loaded) = &trial.loaded else { return Vec::new() };
    let recording = &loaded.recording;
    let ordered = ordered(trial, recording, terms);
    let mut doubts = of_recording(recording, &loaded.agents, ordered);
    doubts.extend(books::connections(trial));
    doubts.extend(agents::of_agents(&loaded.agents));
    doubts.extend(database::of_trial(trial));
    doubts.extend(of_surroundings(trial));
    doubts.extend(shape::delayed_ack(trial));
    // A server that does not keep up has no steady state to wait for.
    if !doubts.iter().any(Doubt::is_behind)
        && let Some(found) = steady::warmup_too_short(recording)
    {
        // It is more specific than a difference between the first third and the last.
        doubts.retain(|doubt| !doubt.is(&drift::NOT_STATIONARY));
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
        looked_away: generator::looked_away(trial),
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
    let mut doubts: Vec<Doubt> = books::books(recording, ordered).into_iter().collect();
    doubts.extend(ending::of_recording(recording));
    doubts.extend(failures::of_recording(recording));
    doubts.extend(forms::of_recording(recording));
    doubts.extend(generator::of_recording(recording, agents, ordered));
    doubts.extend(rate::of_recording(recording, ordered));
    doubts.extend(answers::of_recording(recording));
    // A server that does not keep up answers later and later, and a load that changes is not steady: both are expected.
    if !doubts.iter().any(Doubt::is_behind) && recording.sections.is_empty() {
        doubts.extend(drift::drift(recording));
    }
    doubts.extend(shape::mean_above_p99(recording, ordered.connections));
    doubts.extend(samples::of_recording(recording));
    doubts.extend(security::of_recording(recording));
    doubts.extend(http2::of_recording(recording));
    doubts
}

/// All reasons to doubt a load that stands alone, as `dyno load` makes it: what can be seen in any recording, and what
/// matters only where one load is looked at. What is beside the recording, such as connections that found the accept
/// queue full, is handed over.
#[must_use]
pub fn of_load(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
    beside: impl IntoIterator<Item = Doubt>,
) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = ending::of_load(recording).into_iter().collect();
    doubts.extend(samples::of_load(recording).into_iter().flatten());
    doubts.extend(failures::of_load(recording, ordered).into_iter().flatten());
    let samples = recording.total.response.count();
    let any = of_recording(recording, agents, ordered).into_iter();
    doubts.extend(any.filter_map(|found| alone(found, samples)));
    doubts.extend(beside);
    doubts
}

/// A doubt about any recording, as it is about a load that stands alone: that it gave up, and that nothing was measured,
/// is said in more detail there.
fn alone(found: Doubt, samples: u64) -> Option<Doubt> {
    let is_few = found.is(&samples::TOO_FEW_SAMPLES);
    if found.is_any(&[ending::STOPPED, samples::NOTHING_MEASURED]) || is_few && samples == 0 {
        return None;
    }
    // The verdict is about a handful of lines here, and not about a table.
    Some(if is_few {
        Doubt { gravity: Gravity::Suspect, ..found.with_way_out(samples::RUN_LONGER) }
    } else {
        found
    })
}
