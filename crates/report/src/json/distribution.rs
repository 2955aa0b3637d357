//! A distribution of times as JSON.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use load::{Distribution, Moment, Moments, Nanos, PERCENTILES};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

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
    /// standard deviation; of samples that were given up, the least that it can be
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
    /// for each of these figures that is a bound (`≥`), true: samples were given up, and the true value is no less. A
    /// figure that is none is not named
    is_bound: BTreeMap<&'static str, bool>,
    /// all of it: HdrHistogram, V2 with deflate, in base64, as every HdrHistogram library reads it. Merge histograms;
    /// never average percentiles
    histogram: Option<String>,
}

impl From<&Distribution> for DistributionJson {
    fn from(distribution: &Distribution) -> DistributionJson {
        let moments = distribution.moments();
        let moment = |named: fn(Moments) -> Moment| moments.map(|all| named(all).value);
        let time = |named: fn(Moments) -> Moment| moment(named).map(|value| value as Nanos);
        let quantiles = PERCENTILES.map(|(_, q)| distribution.quantile(q));
        let [p50, p75, p90, p95, p99, p99_9, p99_99] =
            quantiles.map(|quantile| quantile.map(|quantile| quantile.value));
        let few = PERCENTILES.iter().zip(quantiles).filter_map(|((name, _), quantile)| {
            quantile.is_some_and(|quantile| !quantile.is_supported).then_some(*name)
        });
        DistributionJson {
            count: distribution.count(),
            censored: distribution.censored(),
            mean_ns: moment(|all| all.mean),
            sd_ns: moment(|all| all.sd),
            min_ns: time(|all| all.min),
            p50_ns: p50,
            p75_ns: p75,
            p90_ns: p90,
            p95_ns: p95,
            p99_ns: p99,
            p99_9_ns: p99_9,
            p99_99_ns: p99_99,
            max_ns: time(|all| all.max),
            unsupported: few.collect(),
            is_bound: bounds(distribution),
            histogram: encoded(&distribution.histogram()),
        }
    }
}

impl From<&Histogram<u64>> for DistributionJson {
    /// The times of a histogram of which none was given up.
    fn from(histogram: &Histogram<u64>) -> DistributionJson {
        let count = histogram.len();
        let moment = |value: f64| (0 < count).then_some(value);
        let time = |value: Nanos| (0 < count).then_some(value);
        let [p50, p75, p90, p95, p99, p99_9, p99_99] =
            PERCENTILES.map(|(_, q)| time(histogram.value_at_quantile(q)));
        let few = PERCENTILES.iter().filter(|(_, q)| 0 < count && !load::is_supported(count, *q));
        DistributionJson {
            count,
            censored: 0,
            mean_ns: moment(histogram.mean()),
            sd_ns: moment(histogram.stdev()),
            min_ns: time(histogram.min()),
            p50_ns: p50,
            p75_ns: p75,
            p90_ns: p90,
            p95_ns: p95,
            p99_ns: p99,
            p99_9_ns: p99_9,
            p99_99_ns: p99_99,
            max_ns: time(histogram.max()),
            unsupported: few.map(|(name, _)| *name).collect(),
            is_bound: BTreeMap::new(),
            histogram: encoded(histogram),
        }
    }
}

/// Writes a distribution as its figures and its histogram.
pub(crate) fn distribution<S: Serializer>(
    distribution: &Distribution,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    DistributionJson::from(distribution).serialize(serializer)
}

/// The figures of a distribution that are bounds, by their names in JSON.
pub fn bounds(distribution: &Distribution) -> BTreeMap<&'static str, bool> {
    let moments = distribution.moments().map(|Moments { mean, sd, min, max }| {
        [("mean_ns", mean), ("sd_ns", sd), ("min_ns", min), ("max_ns", max)]
            .map(|(name, moment)| (name, moment.is_bound))
    });
    let quantiles = PERCENTILES.iter().filter_map(|(name, q)| {
        distribution.quantile(*q).map(|quantile| (*name, quantile.is_bound))
    });
    moments.into_iter().flatten().chain(quantiles).filter(|(_, is_bound)| *is_bound).collect()
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
