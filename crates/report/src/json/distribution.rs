//! A distribution of times as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use load::{Distribution, Nanos, PERCENTILES, Quantile};
use schemars::JsonSchema;
use serde::Serialize;

/// A distribution of times, in nanoseconds. All but the mean have three significant digits; without samples they are
/// null.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "distribution")]
pub struct DistributionJson {
    /// samples
    count: u64,
    /// samples that were given up: their true value is no less than the one recorded
    censored: u64,
    /// arithmetic mean, exact
    mean_ns: Option<f64>,
    /// standard deviation
    sd_ns: Option<f64>,
    /// smallest value
    min_ns: Option<Nanos>,
    /// median
    p50_ns: Option<Nanos>,
    /// 75 % of the samples are no more
    p75_ns: Option<Nanos>,
    /// 90 % of the samples are no more
    p90_ns: Option<Nanos>,
    /// 95 % of the samples are no more
    p95_ns: Option<Nanos>,
    /// 99 % of the samples are no more
    p99_ns: Option<Nanos>,
    /// 99.9 % of the samples are no more
    p99_9_ns: Option<Nanos>,
    /// 99.99 % of the samples are no more
    p99_99_ns: Option<Nanos>,
    /// largest value
    max_ns: Option<Nanos>,
    /// percentiles beyond which fewer than ten samples lie: do not quote them
    unsupported: Vec<&'static str>,
    /// percentiles that a censored sample may move: read them as “no less than”
    censored_percentiles: Vec<&'static str>,
    /// all of it: HdrHistogram, V2 with deflate, in base64, as every HdrHistogram library reads it. Merge histograms;
    /// never average percentiles
    histogram: Option<String>,
}

impl From<&Distribution> for DistributionJson {
    fn from(distribution: &Distribution) -> DistributionJson {
        let is_there = 0 < distribution.count();
        let quantiles = PERCENTILES.map(|(_, q)| distribution.quantile(q));
        let [p50, p75, p90, p95, p99, p99_9, p99_99] =
            quantiles.map(|quantile| quantile.map(|quantile| quantile.value));
        let named = |is: fn(Quantile) -> bool| {
            let all = PERCENTILES.iter().zip(quantiles);
            let found = all.filter(|(_, quantile)| quantile.is_some_and(is));
            found.map(|((name, _), _)| *name).collect()
        };
        DistributionJson {
            count: distribution.count(),
            censored: distribution.censored(),
            mean_ns: is_there.then(|| distribution.mean()),
            sd_ns: is_there.then(|| distribution.standard_deviation()),
            min_ns: distribution.extremes().map(|(min, _)| min),
            p50_ns: p50,
            p75_ns: p75,
            p90_ns: p90,
            p95_ns: p95,
            p99_ns: p99,
            p99_9_ns: p99_9,
            p99_99_ns: p99_99,
            max_ns: distribution.extremes().map(|(_, max)| max),
            unsupported: named(|quantile| !quantile.is_supported),
            censored_percentiles: named(|quantile| quantile.is_censored),
            histogram: encoded(&distribution.histogram()),
        }
    }
}

/// Base64 of HdrHistogram's V2 format with deflate; none without samples.
pub fn encoded(histogram: &Histogram<u64>) -> Option<String> {
    if histogram.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}
