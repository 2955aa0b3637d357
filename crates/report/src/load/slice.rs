//! A second of a load, while it is under way, as a line of JSON: `dyno.stream/1`.

use std::collections::BTreeMap;

use load::{Distribution, Failure, Glance, Nanos, SECOND, Tally};
use schemars::JsonSchema;
use serde::Serialize;

use super::json::by_class;
use crate::json::{DistributionJson, distribution};

const SCHEMA: &str = "dyno.stream/1";

/// A line for each second of a load, while it runs; the last line of the warm-up and that of the load may be
/// shorter. Times count from the start, warm-up included. The lines after the warm-up, those that come while the
/// last answers are waited for included, add up to the books of the whole load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "stream")]
pub struct Slice {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the beginning of this second
    #[serde(rename = "from_s", serialize_with = "load::json_form::seconds::serialize")]
    #[schemars(with = "f64")]
    from: Nanos,
    /// its end
    #[serde(rename = "until_s", serialize_with = "load::json_form::seconds::serialize")]
    #[schemars(with = "f64")]
    until: Nanos,
    /// whether it lies before the measured time
    is_warmup: bool,
    #[serde(flatten)]
    counted: Counted,
    /// measured requests without an answer when the load was stopped; only the last line has any
    under_way: u64,
    /// correct answers that came in it, those to requests of the warm-up included
    answered: u64,
    /// service times of what ended in it
    #[serde(serialize_with = "distribution")]
    #[schemars(with = "DistributionJson")]
    service: Distribution,
}

/// What is told of a load while it runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Counted {
    /// measured requests that were due in it, and begun
    pub(super) attempted: u64,
    /// measured requests that were answered as expected in it
    pub(super) correct: u64,
    /// measured requests that failed in it
    failed: u64,
    /// failures by their stable names, only the classes that occurred
    pub(super) by_class: BTreeMap<&'static str, u64>,
    /// octets sent
    pub(super) sent_bytes: u64,
    /// octets received
    pub(super) received_bytes: u64,
    /// response times of what ended in it: of the warm-up's requests, or else of measured ones
    #[serde(serialize_with = "distribution")]
    #[schemars(with = "DistributionJson")]
    pub(super) response: Distribution,
    /// times to the first byte, of the requests of `response`
    #[serde(serialize_with = "distribution")]
    #[schemars(with = "DistributionJson")]
    pub(super) first_byte: Distribution,
}

impl Counted {
    pub(super) fn of(tally: &Tally) -> Counted {
        Counted {
            attempted: tally.attempted,
            correct: tally.correct,
            failed: tally.failed_in_all(),
            by_class: by_class(&tally.failed),
            sent_bytes: tally.bytes_sent,
            received_bytes: tally.bytes_received,
            response: tally.response.clone(),
            first_byte: tally.first_byte.clone(),
        }
    }

    fn add(&mut self, tally: &Tally) {
        self.attempted += tally.attempted;
        self.correct += tally.correct;
        self.failed += tally.failed_in_all();
        for (class, times) in by_class(&tally.failed) {
            *self.by_class.entry(class).or_default() += times;
        }
        self.sent_bytes += tally.bytes_sent;
        self.received_bytes += tally.bytes_received;
        self.response.merge(&tally.response);
        self.first_byte.merge(&tally.first_byte);
    }

    pub(super) fn failures(&self, failure: Failure) -> u64 {
        self.by_class.get(failure.name()).copied().unwrap_or(0)
    }
}

impl Slice {
    #[must_use]
    pub fn of(glance: &Glance<'_>) -> Slice {
        let window = glance.window;
        Slice {
            schema: SCHEMA,
            from: glance.from,
            until: glance.now,
            is_warmup: glance.is_warmup,
            counted: Counted::of(window),
            under_way: window.under_way,
            answered: window.answered,
            service: window.service.clone(),
        }
    }

    /// Adds what happened next.
    pub fn add(&mut self, glance: &Glance<'_>) {
        let window = glance.window;
        self.until = glance.now;
        self.counted.add(window);
        self.under_way += window.under_way;
        self.answered += window.answered;
        self.service.merge(&window.service);
    }

    /// Whether it is a second long.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        SECOND <= self.until - self.from
    }

    /// Whether what comes next belongs to the same part of the load. The warm-up is never mixed with the measured time.
    #[must_use]
    pub fn goes_with(&self, glance: &Glance<'_>) -> bool {
        self.is_warmup == glance.is_warmup
    }

    /// One line, with its end.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}
