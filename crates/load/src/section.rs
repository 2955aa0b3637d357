//! Parts of a changing load: the steps of steps, the tenths of a ramp.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::distribution::Distribution;

/// A part of a changing load: what was due in it, and the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Its start, on the run's clock.
    pub from: Nanos,
    /// The start of the next one.
    pub until: Nanos,
    /// Requests that became due within it.
    pub due: u64,
    /// Of these, answered as expected.
    pub correct: u64,
    /// Of these, answered within the limit from their intended start.
    pub on_time: u64,
    /// Of these, failed.
    pub failed: u64,
    /// Correct answers that came within it, whenever they were due.
    pub correct_inside: u64,
    /// From intended to done, of the requests that were due within it.
    pub response: Distribution,
}

impl Section {
    pub(crate) fn new(from: Nanos, until: Nanos, max: Nanos) -> Section {
        let response = Distribution::new(max);
        Section {
            from,
            until,
            due: 0,
            correct: 0,
            on_time: 0,
            failed: 0,
            correct_inside: 0,
            response,
        }
    }

    pub(crate) fn merge(&mut self, other: &Section) {
        self.due += other.due;
        self.correct += other.correct;
        self.on_time += other.on_time;
        self.failed += other.failed;
        self.correct_inside += other.correct_inside;
        self.response.merge(&other.response);
    }
}
