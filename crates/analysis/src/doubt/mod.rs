//! Reasons why a trial's numbers may not be what they seem. Each file has a family of doubts: their definitions, and the
//! checks over what the trial left behind that raise them. None of them removes a number.

mod agents;
mod answers;
mod books;
mod ceiling;
mod definition;
mod drift;
mod ending;
mod failures;
mod generator;
mod held;
mod http2;
mod machine;
mod queue;
mod rate;
mod reasons;
mod samples;
mod security;
mod shape;
mod spots;
mod stated;
mod steady;
mod subject;

pub use agents::{AgentsDoubt, agents_lost, of_agents};
pub use answers::AnswersDoubt;
pub use books::BooksDoubt;
pub use ceiling::CeilingDoubt;
pub use definition::{By, doubts_table};
pub use drift::{DriftDoubt, Drifting};
pub use ending::{EndingDoubt, outcome_in_words};
pub use failures::{FailuresDoubt, most_seen};
pub use generator::{BusyThreads, GeneratorDoubt, LateSender};
pub use held::{HeldDoubt, of_holding};
pub use http2::Http2Doubt;
pub use machine::MachineDoubt;
pub use queue::{QueueDoubt, overflowed};
pub use rate::RateDoubt;
pub use reasons::{Ordered, doubts, of_load, of_recording};
pub use samples::{Nothing, SAMPLES_FOR_P99, SamplesDoubt, none_held};
pub use security::{SAME_TLS, TlsDoubt};
pub use shape::ShapeDoubt;
pub use spots::SpotsDoubt;
pub use stated::StatedDoubt;
pub use steady::{Steady, SteadyDoubt, steady};
pub use subject::SubjectDoubt;

pub(crate) use ceiling::near;
pub(crate) use stated::stated;

use lab::record::TrialRecord;

// In the order of the table in docs/validity.md.
definition::families! {
    Ending(EndingDoubt),
    Books(BooksDoubt),
    Samples(SamplesDoubt),
    Generator(GeneratorDoubt),
    Failures(FailuresDoubt),
    Rate(RateDoubt),
    Answers(AnswersDoubt),
    Queue(QueueDoubt),
    Shape(ShapeDoubt),
    Drift(DriftDoubt),
    Steady(SteadyDoubt),
    Machine(MachineDoubt),
    Subject(SubjectDoubt),
    Spots(SpotsDoubt),
    /// About a row, not about a trial.
    Ceiling(CeilingDoubt),
    Tls(TlsDoubt),
    Http2(Http2Doubt),
    Agents(AgentsDoubt),
    Held(HeldDoubt),
    Stated(StatedDoubt),
}

impl Doubt {
    /// Whether it means that the server did not keep up with its schedule.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let is_it = |id: &str| rate::BEHIND.contains(&id);
        match self {
            Doubt::Stated(StatedDoubt::Stated { ids, .. }) => ids.iter().any(|id| is_it(id)),
            found => is_it(found.id()),
        }
    }
}

/// A number that a load noted when it was kept.
fn noted<T: std::str::FromStr>(trial: &TrialRecord, name: &str) -> Option<T> {
    trial.conditions.iter().find(|fact| fact.name == name)?.value.parse().ok()
}

#[cfg(test)]
mod tests;
