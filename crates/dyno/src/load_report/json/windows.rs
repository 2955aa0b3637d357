//! The course of a load as JSON.

use std::collections::BTreeMap;

use load::{Distribution, Nanos, Window};
use report::json::encoded;
use report::units::seconds;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of the run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "window")]
pub(super) struct WindowJson {
    /// its beginning
    from_s: f64,
    /// its end
    until_s: f64,
    /// whether it is part of the warm-up, and in no figure
    is_warmup: bool,
    /// requests that were due in it
    attempted: u64,
    /// requests that were answered as expected in it, those of the warm-up included
    correct: u64,
    /// requests that failed in it
    failed: u64,
    /// failures by their stable names, only the classes that occurred
    by_class: BTreeMap<&'static str, u64>,
    /// requests under way, on average
    in_flight: f64,
    /// octets sent
    sent_bytes: u64,
    /// octets received
    received_bytes: u64,
    /// CPU time of dyno's lanes
    cpu_s: f64,
    /// median response time
    p50_ns: Option<Nanos>,
    /// response time of 99 % of the requests
    p99_ns: Option<Nanos>,
    /// longest response time
    max_ns: Option<Nanos>,
    /// the response times, like `histogram` of a distribution
    response_histogram: Option<String>,
    /// the service times, likewise
    service_histogram: Option<String>,
}

pub(super) fn of(window: &Window) -> WindowJson {
    let (response, service) = (window.response.unfold(), window.service.unfold());
    let value = |q| response.quantile(q).map(|quantile| quantile.value);
    let histogram = |of: &Distribution| encoded(&of.histogram());
    WindowJson {
        from_s: seconds(window.from),
        until_s: seconds(window.until),
        is_warmup: window.is_warmup,
        attempted: window.attempted,
        correct: window.correct,
        failed: window.failed.iter().sum(),
        by_class: super::by_class(&window.failed),
        in_flight: window.in_flight,
        sent_bytes: window.bytes_sent,
        received_bytes: window.bytes_received,
        cpu_s: seconds(window.cpu),
        p50_ns: value(0.5),
        p99_ns: value(0.99),
        max_ns: response.extremes().map(|(_, max)| max),
        response_histogram: histogram(&response),
        service_histogram: histogram(&service),
    }
}
