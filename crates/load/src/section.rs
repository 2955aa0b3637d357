//! Parts of a changing load: the steps of steps, the tenths of a ramp.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::distribution::Distribution;
use crate::json_form;

// Its distribution has a form of its own in a document.
/// A tenth of a ramp or of listed times, or a step: what was due there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "section")]
pub struct Section<D = Distribution> {
    /// its beginning
    #[serde(rename = "from_s", with = "json_form::seconds")]
    #[schemars(with = "f64")]
    pub from: Nanos,
    /// its end
    #[serde(rename = "until_s", with = "json_form::seconds")]
    #[schemars(with = "f64")]
    pub until: Nanos,
    /// requests that were due in it
    pub due: u64,
    /// requests of these that were answered as expected
    pub correct: u64,
    /// requests of these that were answered on time
    pub on_time: u64,
    /// requests of these that failed
    pub failed: u64,
    /// correct answers that came in it, whenever they were due
    pub correct_inside: u64,
    /// response times of what was due in it
    pub response: D,
}

impl Section {
    pub(crate) fn new(from: Nanos, until: Nanos, max: Nanos) -> Section {
        Section { from, until, response: Distribution::new(max), ..Section::default() }
    }

    /// What it is with its response times in another form.
    pub fn with<D>(&self, response: D) -> Section<D> {
        let Section { from, until, due, correct, on_time, failed, correct_inside, .. } = *self;
        Section { from, until, due, correct, on_time, failed, correct_inside, response }
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
