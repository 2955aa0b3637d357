//! Reasons why a trial's numbers may not be what they seem. Each file has a family of doubts: their definitions, and the
//! checks over what the trial left behind that raise them. None of them removes a number.

pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod books;
mod ceiling;
mod database;
mod definition;
mod drift;
pub(crate) mod ending;
pub(crate) mod failures;
mod file_verdict;
mod forms;
pub(crate) mod generator;
mod held;
pub(crate) mod http2;
pub(crate) mod machine;
mod queue;
pub(crate) mod rate;
mod reasons;
mod samples;
pub(crate) mod security;
pub(crate) mod shape;
mod spots;
mod steady;
pub(crate) mod subject;

pub use agents::{agents_lost, of_agents};
pub use definition::{By, Definition, Doubt, doubts_table};
pub use drift::Drifting;
pub use ending::NOT_MEASURED;
pub use failures::{OWN_FAILURES, most_seen};
pub use held::of_holding;
pub use queue::overflowed;
pub use reasons::{Ordered, doubts, of_load, of_recording};
pub use samples::{SAMPLES_FOR_P99, none_held};
pub use steady::{Steady, steady};

pub(crate) use ceiling::near;
pub(crate) use definition::{Threshold, table};
pub(crate) use file_verdict::stated;
pub(crate) use security::SAME_TLS;

use lab::record::TrialRecord;

/// Every doubt, in the order of the table in docs/validity.md.
fn all() -> impl Iterator<Item = &'static Definition> {
    let families = [
        ending::ALL,
        books::ALL,
        samples::ALL,
        generator::ALL,
        failures::ALL,
        forms::ALL,
        rate::ALL,
        answers::ALL,
        queue::ALL,
        shape::ALL,
        drift::ALL,
        steady::ALL,
        machine::ALL,
        subject::ALL,
        database::ALL,
        spots::ALL,
        ceiling::ALL,
        security::ALL,
        http2::ALL,
        agents::ALL,
        held::ALL,
        file_verdict::ALL,
    ];
    families.into_iter().flatten()
}

impl Doubt {
    /// Whether it means that the server did not keep up with its schedule.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let behind = [rate::NOT_ON_TIME, rate::GROWING];
        self.is_any(&behind) || self.states_any(&behind)
    }

    /// Whether it is about the ways that a load took, TLS, HTTP/2 or agents: no mark in a table stands for it.
    #[must_use]
    pub fn is_about_its_ways(&self) -> bool {
        [security::ALL, http2::ALL, agents::ALL].iter().any(|family| self.is_any(family))
    }
}

/// A number that a load noted when it was kept.
fn noted<T: std::str::FromStr>(trial: &TrialRecord, name: &str) -> Option<T> {
    trial.conditions.iter().find(|fact| fact.name == name)?.value.parse().ok()
}

#[cfg(test)]
mod tests;
