//! How long answers took at one place: as a histogram, and as a spectrum of percentiles.

use lab::figure::Number;
use load::{Distribution, Quantile};

use super::counts::Counts;

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
    /// The histogram of all these distributions together; `limit_ms` is the time-out.
    pub(super) fn of<'d>(
        distributions: impl Iterator<Item = &'d Distribution>,
        limit_ms: f64,
    ) -> Spread {
        let counts = Counts::of(distributions);
        let all = counts.count().max(1) as f64;
        let mut upto = 0;
        let mut bins = Vec::new();
        for (bin, times) in counts.bins(BINS) {
            upto += times;
            bins.push(Bin {
                from_ms: edge_ms(bin),
                until_ms: edge_ms(bin + 1),
                share: times as f64 / all,
                upto: upto as f64 / all,
            });
        }
        let quantiles = counts.quantiles(&[0.5, 0.99]);
        let number = |place: usize| quantiles.get(place).map(number);
        Spread {
            count: counts.count(),
            censored: counts.censored(),
            limit_ms,
            bins,
            p50: number(0),
            p99: number(1),
        }
    }
}

impl Spectrum {
    pub(super) fn of<'d>(distributions: impl Iterator<Item = &'d Distribution>) -> Spectrum {
        let counts = Counts::of(distributions);
        let all = counts.count() as f64;
        let steps = (0..).map(|n| 10f64.powf(f64::from(n) / f64::from(STEPS)));
        let tails: Vec<f64> = steps.take_while(|one_in| *one_in <= all).collect();
        let shares: Vec<f64> = tails.iter().map(|one_in| 1.0 - 1.0 / one_in).collect();
        let found = counts.quantiles(&shares);
        let step = |(&one_in, found): (&f64, &Quantile)| Step { one_in, number: number(found) };
        Spectrum { steps: tails.iter().zip(&found).map(step).collect() }
    }
}

/// The lower end of a bin.
fn edge_ms(bin: u32) -> f64 {
    10f64.powf(f64::from(bin) / BINS) / 1e6
}

pub(super) fn number(quantile: &Quantile) -> Number {
    Number {
        value: quantile.value as f64 / 1e6,
        is_bound: quantile.is_bound,
        is_supported: quantile.is_supported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::SECOND;

    /// 9,900 values of a millisecond, 90 of ten, and ten that were given up.
    fn made() -> Distribution {
        let mut made = Distribution::new(5 * SECOND);
        made.record_many(1_000_000, 9_900);
        made.record_many(10_000_000, 90);
        (0..10).for_each(|_| made.record_censored(5 * SECOND));
        made
    }

    #[test]
    fn a_histogram_tells_what_was_given_up_apart() {
        let spread = Spread::of([made()].iter(), 5_000.0);
        assert_eq!((spread.count, spread.censored, spread.bins.len()), (10_000, 10, 2));
        let [one, ten] = spread.bins[..] else { panic!("two bins") };
        assert_eq!((one.share, one.upto, ten.share, ten.upto), (0.99, 0.99, 0.009, 0.999));
        assert!(one.from_ms <= 1.0 && 1.0 < one.until_ms && 9.9 < ten.from_ms);
        assert_eq!(spread.p50.map(|p50| (p50.is_bound, p50.is_supported)), Some((false, true)));
    }

    #[test]
    fn a_spectrum_reaches_as_far_as_there_are_values_and_says_where_they_are_few() {
        let steps = Spectrum::of([made()].iter()).steps;
        let (first, last) = (steps[0], steps[steps.len() - 1]);
        assert_eq!((first.one_in, steps.len()), (1.0, 4 * STEPS as usize + 1));
        assert!((9_999.0..10_001.0).contains(&last.one_in) && last.number.is_bound);
        let supported = |step: &&Step| step.number.is_supported;
        let most = steps.iter().filter(supported).map(|step| step.one_in).fold(0.0, f64::max);
        assert!((900.0..=1_000.0).contains(&most), "ten of 10,000 lie beyond one in 1,000: {most}");
        assert!(steps.windows(2).all(|pair| pair[0].number.value <= pair[1].number.value));
    }

    #[test]
    fn nothing_is_no_picture() {
        let none = Distribution::new(SECOND);
        assert_eq!(Spectrum::of([none].iter()).steps, []);
        assert_eq!(Spread::of([].iter(), 5.0).bins, []);
    }
}
