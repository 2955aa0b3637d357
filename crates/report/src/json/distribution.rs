//! A distribution of times as JSON.

use std::collections::BTreeMap;

use load::{Distribution, Moment, Moments, Nanos, PERCENTILES, Quantile};
use serde::{Serialize, Serializer};

use super::json_type;

json_type! {
    /// A distribution of times, in nanoseconds. All but the mean have three significant digits; without samples they are
    /// null.
    pub struct DistributionJson as "distribution" of it: Distribution;
        let moments = it.moments();
        let moment = |named: fn(Moments) -> Moment| moments.map(|all| named(all).value);
        let time = |named: fn(Moments) -> Moment| moment(named).map(|value| value as Nanos);
        let quantiles = PERCENTILES.map(|(_, q)| it.quantile(q));
        let [p50, p75, p90, p95, p99, p99_9, p99_99] =
            quantiles.map(|quantile| quantile.map(|quantile| quantile.value));
        let few = PERCENTILES.iter().zip(quantiles).filter_map(|((name, _), quantile)| {
            quantile.is_some_and(|quantile| !quantile.is_supported).then_some(*name)
        });
    {
        /// samples
        count: u64 = it.count(),
        /// samples that were given up: their true value is no less than the one recorded
        censored: u64 = it.censored(),
        /// arithmetic mean, exact
        mean_ns: Option<f64> = moment(|all| all.mean),
        /// standard deviation; of samples that were given up, the least that it can be
        sd_ns: Option<f64> = moment(|all| all.sd),
        /// smallest value
        min_ns: Option<Nanos> = time(|all| all.min),
        /// median
        p50_ns: Option<Nanos> = p50,
        /// 75 % of the samples are no more
        p75_ns: Option<Nanos> = p75,
        /// 90 % of the samples are no more
        p90_ns: Option<Nanos> = p90,
        /// 95 % of the samples are no more
        p95_ns: Option<Nanos> = p95,
        /// 99 % of the samples are no more
        p99_ns: Option<Nanos> = p99,
        /// 99.9 % of the samples are no more
        p99_9_ns: Option<Nanos> = p99_9,
        /// 99.99 % of the samples are no more
        p99_99_ns: Option<Nanos> = p99_99,
        /// largest value
        max_ns: Option<Nanos> = time(|all| all.max),
        /// percentiles beyond which fewer than ten samples lie: do not quote them
        unsupported: Vec<&'static str> = few.collect(),
        /// for each of these figures that is a bound (`≥`), true: samples were given up, and the true value is no less. A
        /// figure that is none is not named
        is_bound: BTreeMap<&'static str, bool> = bounds_of(moments, quantiles),
        /// all of it: HdrHistogram, V2 with deflate, in base64, as every HdrHistogram library reads it. Merge histograms;
        /// never average percentiles
        histogram: Option<String> = it.encoded(),
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
    bounds_of(distribution.moments(), PERCENTILES.map(|(_, q)| distribution.quantile(q)))
}

fn bounds_of(
    moments: Option<Moments>,
    quantiles: [Option<Quantile>; PERCENTILES.len()],
) -> BTreeMap<&'static str, bool> {
    let moments = moments.map(|Moments { mean, sd, min, max }| {
        [("mean_ns", mean), ("sd_ns", sd), ("min_ns", min), ("max_ns", max)]
            .map(|(name, moment)| (name, moment.is_bound))
    });
    let quantiles = PERCENTILES.iter().zip(quantiles);
    let quantiles = quantiles.filter_map(|((name, _), found)| Some((*name, found?.is_bound)));
    moments.into_iter().flatten().chain(quantiles).filter(|(_, is_bound)| *is_bound).collect()
}
