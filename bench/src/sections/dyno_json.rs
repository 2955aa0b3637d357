//! The one place that knows the names in what `dyno load --json` prints.

use crate::quantiles::json;
use crate::rig::Run;
use serde_json::Value;

/// Requests it began.
pub(crate) fn attempted(run: &Run) -> Option<f64> {
    json(&run.stdout)["books"]["attempted"].as_f64()
}

/// Requests that were answered as expected.
pub(crate) fn correct(run: &Run) -> Option<f64> {
    json(&run.stdout)["books"]["correct"].as_f64()
}

/// How late it sent, at the median. The floor that sends on a schedule tells it alike.
pub(crate) fn late_p50_us(run: &Run) -> Option<f64> {
    Some(late(run)["p50_ns"].as_f64()? / 1e3)
}

/// How late it sent, at the 99th percentile.
pub(crate) fn late_p99_us(run: &Run) -> Option<f64> {
    Some(late(run)["p99_ns"].as_f64()? / 1e3)
}

fn late(run: &Run) -> Value {
    json(&run.stdout)["late"].clone()
}
