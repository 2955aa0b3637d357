//! What oha prints, and the JSON that it writes: times in seconds.

use serde_json::Value;

use super::hey;
use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::{figure, figure_of};

pub(crate) fn rows_of_text(name: &str, text: &str) -> Vec<Row> {
    let is_oha = text.contains("Success rate:") && text.contains("Requests/sec:");
    let mut rows = if is_oha { hey::runs(name, text) } else { Vec::new() };
    // Whether its rate counts requests without an answer depends on the version.
    rows.iter_mut().for_each(|row| row.counted = None);
    rows
}

pub(crate) fn rows_of_json(name: &str, value: &Value) -> Option<Vec<Row>> {
    let summary = value.get("summary")?;
    let percentiles = value.get("latencyPercentiles")?.as_object()?;
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Connections));
    row.rate_per_s = row.above_zero("requestsPerSec", figure_of(summary, "requestsPerSec"));
    let seconds = |number: f64| Time::exact(number * 1e9);
    row.mean = row.time("average", figure_of(summary, "average").map(seconds));
    row.percentile("fastest", 0.0, figure_of(summary, "fastest").map(seconds));
    row.percentile("slowest", 1.0, figure_of(summary, "slowest").map(seconds));
    for (key, value) in percentiles {
        let percent: Option<f64> = key.strip_prefix('p').and_then(|text| text.parse().ok());
        let Some(percent) = percent.filter(|percent| (0.0..100.0).contains(percent)) else {
            continue;
        };
        row.percentile(key, percent / 100.0, figure(value).map(seconds));
    }
    let counts = |key: &str| {
        let list = value.get(key).and_then(Value::as_object).into_iter().flatten();
        list.filter_map(|(key, value)| Some((key.clone(), figure(value)?))).collect::<Vec<_>>()
    };
    let statuses = counts("statusCodeDistribution");
    // Requests that were under way at the end are no failures.
    let errors = counts("errorDistribution");
    let broken: f64 = errors
        .iter()
        .filter(|(key, _)| !key.contains(hey::UNDER_WAY))
        .map(|(_, count)| count)
        .sum();
    let answered: f64 = statuses.iter().map(|(_, count)| count).sum();
    let refused = statuses.iter().filter(|(status, _)| status.starts_with(['4', '5']));
    let refused: f64 = refused.map(|(_, count)| count).sum();
    row.samples = row.count("statusCodeDistribution", Some(answered)).filter(|count| 0.0 < *count);
    row.requests = (0.0 < answered + broken).then_some(answered + broken);
    row.failed = row.requests.map(|_| refused + broken);
    Some(vec![row])
}
