//! Rules over plain values: what holds of every measurement, whether dyno made it or another program did.

/// A mean that is above or below another figure by so little is rounding.
pub const ROUNDING: f64 = 1.02;
/// If the median is further below the p99 than this, the times are spread, and a mean that reaches the p99 cannot be
/// the centre of the same times.
pub(crate) const SPREAD: f64 = 0.8;
/// A mean that is above what Little's law permits by less than this share is no contradiction: the load has a beginning
/// and an end.
const LITTLE: f64 = 0.05;
/// A rate that differs by no more from the requests divided by the time is rounded, or its time was read another way.
const RATE: f64 = 0.01;
/// Fewer than four subjects may agree by chance, or because they are related.
pub const ALIKE_AT_LEAST: usize = 4;
/// They must be so large a share of all, too. A third is a choice, and no measurement. The two
/// published tables that something else had limited had 43 % and 46 %, which 40 % would find, too; but two tables do
/// not say how small such a share can be. How often sound tables have a third was not counted.
const SHARE_AT_LEAST: f64 = 1.0 / 3.0;
/// Rates that differ by no more than this are the same: servers written by different people differ by more.
pub const SAME_RATE: f64 = 0.015;
/// A median is printed with three digits: medians that differ by no more than this are the same number.
pub const SAME_MEDIAN: f64 = 0.005;

/// Whether the mean is above the p99, or equals it although the times are spread. Where the median is not known, two
/// figures that are the same to the last digit are one figure.
#[must_use]
pub fn mean_reaches_p99(mean: f64, p99: f64, p50: Option<f64>) -> bool {
    let is_equal = match p50 {
        Some(p50) => p99 < mean * ROUNDING && p50 < SPREAD * p99,
        None => p99 == mean,
    };
    p99 * ROUNDING < mean || is_equal
}

/// Little's law: where so many requests are under way all the time, and so many are answered each second, each takes
/// so many seconds on average. None if no request is answered.
#[must_use]
pub fn mean_s_by_littles_law(under_way: f64, per_s: f64) -> Option<f64> {
    (0.0 < per_s).then(|| under_way / per_s)
}

/// Whether a mean is longer than the requests can have taken that at most so many connections carried at once.
///
/// It holds upward only. With fewer requests under way than connections (some wait for the client, or are opened again)
/// the mean is shorter, which is no contradiction. Where times count from a schedule, they include a wait that no
/// connection carried, so the rule does not hold there.
#[must_use]
pub fn is_above_littles_law(mean_s: f64, under_way: f64, per_s: f64) -> bool {
    let most = mean_s_by_littles_law(under_way, per_s);
    most.is_some_and(|most_s| most_s * (1.0 + LITTLE) < mean_s)
}

/// The least and the most that the mean of times with these percentiles can be: pairs of a share and a time, both
/// ascending. The first share is 0 if the shortest time is known, the last is 1 if the longest is; without that there
/// is no most.
#[must_use]
pub fn mean_bounds(percentiles: &[(f64, f64)]) -> (f64, Option<f64>) {
    let (mut least, mut most, mut before) = (0.0, 0.0, (0.0, 0.0));
    for &(share, time) in percentiles {
        least += (share - before.0) * before.1;
        most += (share - before.0) * time;
        before = (share, time);
    }
    least += (1.0 - before.0) * before.1;
    (least, (1.0 <= before.0).then_some(most))
}

/// Whether a rate is not that of so many requests in a time that lies between these seconds. Rates are printed with two
/// decimals.
#[must_use]
pub fn is_unlike_its_count(per_s: f64, requests: f64, seconds: [f64; 2]) -> bool {
    let [shortest, longest] = seconds;
    let slack = RATE * per_s + 0.005;
    0.0 < shortest && (requests / shortest + slack < per_s || per_s + slack < requests / longest)
}

/// Whether a standard deviation of so many times is more than half of their range, which only times could have that lie
/// beyond it. Programs divide by one sample fewer than there are.
#[must_use]
pub fn is_above_half_the_range(sd: f64, range: f64, samples: f64) -> bool {
    1.0 < samples && range / 2.0 * (samples / (samples - 1.0)).sqrt() < sd / (1.0 + 1e-9)
}

/// The largest group of these sorted values in which the highest is above the lowest by no more than this share, if it
/// is so large that the values have something in common. Values of zero are no figures.
#[must_use]
pub fn alike<T>(sorted: &[(f64, T)], within: f64) -> Option<&[(f64, T)]> {
    let group = largest_group(sorted, within);
    let is_many =
        ALIKE_AT_LEAST <= group.len() && SHARE_AT_LEAST * sorted.len() as f64 <= group.len() as f64;
    is_many.then_some(group)
}

fn largest_group<T>(sorted: &[(f64, T)], within: f64) -> &[(f64, T)] {
    let from = |start: usize| {
        let highest = sorted[start].0 * (1.0 + within);
        let until = sorted.partition_point(|(value, _)| *value <= highest);
        &sorted[start..until.max(start)]
    };
    (0..sorted.len()).map(from).max_by_key(|group| group.len()).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_equals_the_p99_is_asked_for_the_spread_of_the_times() {
        assert!(mean_reaches_p99(20.0, 20.0, Some(10.0)), "spread, and the mean is the p99");
        assert!(!mean_reaches_p99(20.0, 20.0, Some(20.0)), "all times are the same");
        assert!(mean_reaches_p99(20.0, 20.0, None), "one figure under two names");
        assert!(!mean_reaches_p99(20.0, 20.1, None));
        assert!(mean_reaches_p99(20.0, 19.0, None) && mean_reaches_p99(20.0, 19.0, Some(19.0)));
        assert!(!mean_reaches_p99(20.0, 60.0, Some(18.0)));
    }

    #[test]
    fn little_s_law_is_broken_upward_only() {
        // 100 connections and 1,000 answers a second: 100 ms at most.
        assert!(is_above_littles_law(0.106, 100.0, 1_000.0));
        assert!(!is_above_littles_law(0.104, 100.0, 1_000.0));
        assert!(!is_above_littles_law(0.001, 100.0, 1_000.0), "connections may idle");
        assert!(
            !is_above_littles_law(1.0, 100.0, 0.0) && !is_above_littles_law(1.0, 1.0, f64::NAN)
        );
    }

    #[test]
    fn a_rate_is_its_requests_divided_by_its_time() {
        let is_unlike = |per_s, requests| is_unlike_its_count(per_s, requests, [9.995, 10.005]);
        assert!(is_unlike(20_000.0, 100_000.0) && is_unlike(9_880.0, 100_000.0));
        assert!(!is_unlike(9_950.0, 100_000.0) && !is_unlike(10_050.0, 100_000.0));
        assert!(!is_unlike(0.10, 1.04), "two decimals");
        assert!(!is_unlike_its_count(1.0, 100.0, [0.0, 0.005]), "too short a time");
    }

    #[test]
    fn no_standard_deviation_is_above_half_the_range() {
        assert!(is_above_half_the_range(50.0, 20.0, 1_000.0));
        assert!(!is_above_half_the_range(10.0, 20.0, 1_000.0));
        // Of 0 and 20 it is 14.1, where one divides by one sample.
        assert!(!is_above_half_the_range(200.0_f64.sqrt(), 20.0, 2.0));
        assert!(!is_above_half_the_range(1.0, 0.0, 1.0), "one sample has none");
    }

    #[test]
    fn percentiles_bound_the_mean() {
        let near = |(least, most): (f64, Option<f64>), expected: (f64, Option<f64>)| {
            assert!((least - expected.0).abs() < 1e-9, "{least}");
            let is_near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
            assert!(
                most.zip(expected.1).is_none_or(is_near) && most.is_some() == expected.1.is_some()
            );
        };
        // Half of the times are at least 10, one in ten is at least 20.
        near(mean_bounds(&[(0.5, 10.0), (0.9, 20.0)]), (0.4 * 10.0 + 0.1 * 20.0, None));
        near(
            mean_bounds(&[(0.0, 2.0), (0.5, 10.0), (1.0, 40.0)]),
            (0.5 * 2.0 + 0.5 * 10.0, Some(0.5 * 10.0 + 0.5 * 40.0)),
        );
        near(mean_bounds(&[]), (0.0, None));
    }

    #[test]
    fn a_third_of_all_on_one_value_is_a_group_and_three_of_nine_are_not() {
        let of = |alike: usize, all: usize| {
            let values: Vec<(f64, ())> = (0..all)
                .map(|place| {
                    (if place < alike { 1_000.0 } else { 1_000.0 * 1.1_f64.powi(place as i32) }, ())
                })
                .collect();
            super::alike(&values, SAME_RATE).map(<[_]>::len)
        };
        assert_eq!([of(4, 12), of(5, 16), of(3, 9), of(0, 0)], [Some(4), None, None, None]);
    }
}
