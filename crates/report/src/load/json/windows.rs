//! The course of a load as JSON.

use std::collections::BTreeMap;

use load::{Nanos, Window};
use units::seconds;

use crate::json::{bounds, json_type};

json_type! {
    /// A part of the run.
    pub(super) struct WindowJson as "window" of window: Window;
        let response = window.response.unfold();
        let value = |q| response.quantile(q).map(|quantile| quantile.value);
    {
        /// its beginning
        from_s: f64 = seconds(window.from),
        /// its end
        until_s: f64 = seconds(window.until),
        /// whether it is part of the warm-up, and in no figure
        is_warmup: bool,
        /// requests that were due in it
        attempted: u64,
        /// requests that were answered as expected in it, those of the warm-up included
        correct: u64,
        /// requests that failed in it
        failed: u64 = window.failed.iter().sum(),
        /// failures by their stable names, only the classes that occurred
        by_class: BTreeMap<&'static str, u64> = super::by_class(&window.failed),
        /// requests in flight, on average
        in_flight: f64 = window.in_flight(),
        /// octets sent
        sent_bytes: u64 = window.bytes_sent,
        /// octets received
        received_bytes: u64 = window.bytes_received,
        /// CPU time of dyno's threads
        cpu_s: f64 = seconds(window.cpu),
        /// median response time
        p50_ns: Option<Nanos> = value(0.5),
        /// response time of 99 % of the requests
        p99_ns: Option<Nanos> = value(0.99),
        /// longest response time
        max_ns: Option<Nanos> = response.extremes().map(|(_, max)| max),
        /// for each of these three that is a bound (`≥`), true: requests were given up, and the true value is no less
        is_bound: BTreeMap<&'static str, bool> = bounds(&response)
            .into_iter()
            .filter(|(name, _)| ["p50_ns", "p99_ns", "max_ns"].contains(name))
            .collect(),
        /// the response times, like `histogram` of a distribution
        response_histogram: Option<String> = window.response.encoded(),
        /// the service times, like `histogram` of a distribution
        service_histogram: Option<String> = window.service.encoded(),
    }
}
