//! How long answers took at one place: as a histogram, and as a spectrum of percentiles.

use lab::figure::Number;
use load::{Distribution, Quantile};

/// Histogram bins for each factor of ten.
const BINS: f64 = 20.0;
/// Spectrum steps for each factor of ten.
const STEPS: i32 = 24;

/// A histogram with its cumulative curve, all measured rounds together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The number of values, including those that were given up.
    pub count: u64,
    /// How many are only known to be no less than `limit_ms`.
    pub censored: u64,
    /// The time-out.
    pub limit_ms: f64,
    /// The bins that are not empty, from low to high.
    pub bins: Vec<Bin>,
    pub p50: Option<Number>,
    pub p99: Option<Number>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Its lower end.
    pub from_ms: f64,
    /// Its upper end.
    pub until_ms: f64,
    /// Its share of all values.
    pub share: f64,
    /// The share of all values that are in it or below.
    pub upto: f64,
}

/// Percentiles along a logarithmic axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    /// From the fastest to the slowest.
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// One value in so many is larger: 2 at the median, 100 at the p99.
    pub one_in: f64,
    pub number: Number,
}

impl Spread {
    /// The histogram of these times; `limit_ms` is the time-out.
    pub(super) fn of(times: &Distribution, limit_ms: f64) -> Spread {
        let all = times.count().max(1) as f64;
        let mut upto = 0;
        let mut bins = Vec::new();
        for (bin, times) in bins_of(times, BINS) {
            upto += times;
            bins.push(Bin {
                from_ms: edge_ms(bin, BINS),
                until_ms: edge_ms(bin + 1, BINS),
                share: times as f64 / all,
                upto: upto as f64 / all,
            });
        }
        Spread {
            count: times.count(),
            censored: times.censored(),
            limit_ms,
            bins,
            p50: quantile_ms(times, 0.5),
            p99: quantile_ms(times, 0.99),
        }
    }
}

impl Spectrum {
    pub(super) fn of(times: &Distribution) -> Spectrum {
        let tails = (0..).map(|n| 10f64.powf(f64::from(n) / f64::from(STEPS)));
        let tails = tails.take_while(|one_in| *one_in <= times.count() as f64);
        let step = |one_in| Some(Step { one_in, number: quantile_ms(times, 1.0 - 1.0 / one_in)? });
        Spectrum { steps: tails.filter_map(step).collect() }
    }
}

/// How many values are in each bin that is not empty, from low to high: so many bins to a factor of ten, with bin 0
/// starting at 1 ns. Values that were given up are in no bin.
pub(super) fn bins_of(times: &Distribution, to_ten: f64) -> Vec<(u32, u64)> {
    let mut bins: Vec<(u32, u64)> = Vec::new();
    for (value, times) in times.known() {
        let bin = ((value.max(1) as f64).log10() * to_ten).floor() as u32;
        match bins.last_mut() {
            Some(last) if last.0 == bin => last.1 += times,
            Some(_) | None => bins.push((bin, times)),
        }
    }
    bins
}

/// The lower end of a bin.
pub(super) fn edge_ms(bin: u32, to_ten: f64) -> f64 {
    10f64.powf(f64::from(bin) / to_ten) / 1e6
}

/// A percentile in milliseconds.
pub(super) fn quantile_ms(times: &Distribution, q: f64) -> Option<Number> {
    let Quantile { value, is_bound, is_supported } = times.quantile(q)?;
    Some(Number { value: value as f64 / 1e6, is_bound, is_supported })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, equal};
    use load::SECOND;

    /// 9,900 values of a millisecond, 90 of ten, and ten that were given up.
    fn made() -> Distribution {
        let mut made = equal(MS, 9_900);
        made.record_many(10 * MS, 90);
        (0..10).for_each(|_| made.record_censored(5 * SECOND));
        made
    }

    #[test]
    fn a_histogram_tells_what_was_given_up_apart() {
        let spread = Spread::of(&made(), 5_000.0);
        assert_eq!((spread.count, spread.censored, spread.bins.len()), (10_000, 10, 2));
        let [one, ten] = spread.bins[..] else { panic!("two bins") };
        assert_eq!((one.share, one.upto, ten.share, ten.upto), (0.99, 0.99, 0.009, 0.999));
        assert!(one.from_ms <= 1.0 && 1.0 < one.until_ms && 9.9 < ten.from_ms);
        assert_eq!(spread.p50.map(|p50| (p50.is_bound, p50.is_supported)), Some((false, true)));
    }

    #[test]
    fn bins_hold_what_was_answered_and_not_what_was_given_up() {
        let mut mixed = Distribution::new(5 * SECOND);
        for time in [1_000, 1_010, 50_000, 4_999_000_000] {
            mixed.record(time);
        }
        (0..3).for_each(|_| mixed.record_censored(5 * SECOND));
        assert_eq!(bins_of(&mixed, 10.0), [(30, 2), (46, 1), (96, 1)]);
        let mut failed = Distribution::new(SECOND);
        failed.record_censored(SECOND);
        assert_eq!(bins_of(&failed, 10.0), []);
    }

    #[test]
    fn a_spectrum_reaches_as_far_as_there_are_values_and_says_where_they_are_few() {
        let steps = Spectrum::of(&made()).steps;
        let (first, last) = (steps[0], steps[steps.len() - 1]);
        assert_eq!((first.one_in, steps.len()), (1.0, 4 * STEPS as usize + 1));
        assert!((9_999.0..10_001.0).contains(&last.one_in) && last.number.is_bound);
        let supported = |step: &&Step| step.number.is_supported;
        let most = steps.iter().filter(supported).map(|step| step.one_in).fold(0.0, f64::max);
        assert!((900.0..=1_000.0).contains(&most), "ten of 10,000 lie beyond one in 1,000: {most}");
        assert!(steps.windows(2).all(|pair| pair[0].number.value <= pair[1].number.value));
    }

    #[test]
    fn what_was_under_way_for_a_moment_hides_no_slow_answer() {
        let mut made = equal(MS, 2);
        made.record(50 * MS);
        made.record_censored(4 * MS);
        let spread = Spread::of(&made, 5_000.0);
        let bins: Vec<_> =
            spread.bins.iter().map(|bin| (bin.until_ms.round(), bin.share)).collect();
        assert_eq!(bins, [(1.0, 0.5), (50.0, 0.25)]);
        let bounds = [spread.p50, spread.p99].map(|found| found.map(|found| found.is_bound));
        // Of four, the one given up may be the longest.
        assert_eq!(bounds, [Some(false), Some(true)]);
    }

    #[test]
    fn nothing_is_no_picture() {
        let none = Distribution::new(SECOND);
        assert_eq!(Spectrum::of(&none).steps, []);
        assert_eq!(Spread::of(&none, 5.0).bins, []);
    }
}
