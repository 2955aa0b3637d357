//! A second of a load, while it is under way, as a line of JSON: `dyno.stream/1`.

use std::collections::BTreeMap;

use load::{Distribution, Failure, Glance, Nanos, SECOND};
use units::seconds;

use super::json::by_class;
use crate::json::{DistributionJson, json_type};

const SCHEMA: &str = "dyno.stream/1";

/// What happened in about a second.
#[derive(Clone, Debug)]
pub struct Slice {
    from: Nanos,
    until: Nanos,
    is_warmup: bool,
    attempted: u64,
    correct: u64,
    failed: [u64; Failure::COUNT],
    under_way: u64,
    answered: u64,
    sent_bytes: u64,
    received_bytes: u64,
    response: Distribution,
    service: Distribution,
    first_byte: Distribution,
}

impl Slice {
    #[must_use]
    pub fn of(glance: &Glance<'_>) -> Slice {
        let window = glance.window;
        Slice {
            from: glance.from,
            until: glance.now,
            is_warmup: glance.is_warmup,
            attempted: window.attempted,
            correct: window.correct,
            failed: window.failed,
            under_way: window.under_way,
            answered: window.answered,
            sent_bytes: window.bytes_sent,
            received_bytes: window.bytes_received,
            response: window.response.clone(),
            service: window.service.clone(),
            first_byte: window.first_byte.clone(),
        }
    }

    /// Adds what happened next.
    pub fn add(&mut self, glance: &Glance<'_>) {
        let window = glance.window;
        self.until = glance.now;
        self.attempted += window.attempted;
        self.correct += window.correct;
        self.failed.iter_mut().zip(window.failed).for_each(|(sum, more)| *sum += more);
        self.under_way += window.under_way;
        self.answered += window.answered;
        self.sent_bytes += window.bytes_sent;
        self.received_bytes += window.bytes_received;
        self.response.merge(&window.response);
        self.service.merge(&window.service);
        self.first_byte.merge(&window.first_byte);
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
        serde_json::to_string(&SliceJson::from(self)).map(|text| text + "\n")
    }
}

json_type! {
    /// A line for each second of a load, while it is under way; the last line of the warm-up and that of the load may be
    /// shorter. Times count from the start, warm-up included. The lines after the warm-up, those that come while the
    /// last answers are waited for included, add up to the books of the whole load.
    pub(crate) struct SliceJson as "stream" of slice: Slice {
        /// which document this is
        #[schemars(extend("const" = SCHEMA))]
        schema: &'static str = SCHEMA,
        /// the beginning of this second
        from_s: f64 = seconds(slice.from),
        /// its end
        until_s: f64 = seconds(slice.until),
        /// whether it lies before the measured time
        is_warmup: bool,
        /// measured requests that were due in it, and begun
        attempted: u64,
        /// measured requests that were answered as expected in it
        correct: u64,
        /// measured requests that failed in it
        failed: u64 = slice.failed.iter().sum(),
        /// measured requests without an answer when the load was stopped; only the last line has any
        under_way: u64,
        /// failures by their stable names, only the classes that occurred
        by_class: BTreeMap<&'static str, u64> = by_class(&slice.failed),
        /// correct answers that came in it, those to requests of the warm-up included
        answered: u64,
        /// octets sent
        sent_bytes: u64,
        /// octets received
        received_bytes: u64,
        /// response times of what ended in it: of the warm-up's requests, or else of measured ones
        response: DistributionJson = (&slice.response).into(),
        /// service times, likewise
        service: DistributionJson = (&slice.service).into(),
        /// times to the first byte, likewise
        first_byte: DistributionJson = (&slice.first_byte).into(),
    }
}
