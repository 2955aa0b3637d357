//! How values lie about their mean, and how many of them fall into equal steps: what older tools print of a load.

use load::{Distribution, Recording, SECOND};

use crate::student;

/// Values about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scatter {
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    pub max: f64,
    /// The percentage of the values that lie within one standard deviation of the mean.
    pub within_percent: f64,
}

impl Scatter {
    /// Of times; all zero if there are none. The unit is the nanosecond.
    #[must_use]
    pub fn of_times(times: &Distribution) -> Scatter {
        let Some(all) = times.moments() else { return Scatter::default() };
        let (mean, sd, max) = (all.mean.value, all.sd.value, all.max.value);
        let (low, high) = ((mean - sd).max(0.0), mean + sd);
        let within = times.count_between(low as u64, high as u64);
        let within_percent = 100.0 * within as f64 / times.count() as f64;
        Scatter { mean, sd, max, within_percent }
    }

    /// Of the correct answers each second of one thread, window by window of the measured time.
    #[must_use]
    pub fn of_rates(recording: &Recording) -> Scatter {
        let lanes = recording.lanes.len().max(1) as f64;
        let measured = recording.windows.iter().filter(|window| {
            let is_inside = window.from < recording.measured_until;
            is_inside && !window.is_warmup && window.from < window.until
        });
        let rate = |window: &load::Window| {
            let seconds = (window.until - window.from) as f64 / SECOND as f64;
            window.correct as f64 / seconds / lanes
        };
        let rates: Vec<f64> = measured.map(rate).collect();
        if rates.is_empty() {
            return Scatter::default();
        }
        let count = rates.len() as f64;
        let (mean, squares) = student::moments(&rates);
        let sd = (squares / (count - 1.0).max(1.0)).sqrt();
        let within = rates.iter().filter(|rate| (*rate - mean).abs() <= sd).count();
        let max = rates.iter().copied().fold(0.0, f64::max);
        Scatter { mean, sd, max, within_percent: 100.0 * within as f64 / count }
    }
}

/// From the smallest value to the largest in so many equal steps: the end of each, and how many values lie in it. The
/// first has the smallest value alone, and what equals it.
#[must_use]
pub fn steps(times: &Distribution, count: u32) -> Vec<(f64, u64)> {
    let Some((min, max)) = times.extremes() else { return Vec::new() };
    let step = (max - min) as f64 / f64::from(count);
    let end = |place: u32| min as f64 + step * f64::from(place);
    let mut steps: Vec<(f64, u64)> = Vec::new();
    let mut below = 0;
    for place in 0..=count {
        let until = if place == count { max } else { end(place) as u64 };
        let upto = times.count_between(0, until);
        steps.push((end(place), upto.saturating_sub(below)));
        below = upto;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[u64]) -> Distribution {
        let mut times = Distribution::new(10 * SECOND);
        values.iter().for_each(|value| times.record(*value));
        times
    }

    #[test]
    fn times_lie_about_their_mean() {
        let found = Scatter::of_times(&times(&[100, 100, 100, 100, 600]));
        assert_eq!((found.mean, found.sd, found.max), (200.0, 200.0, 600.0));
        assert_eq!(found.within_percent, 80.0);
        assert_eq!(Scatter::of_times(&times(&[])), Scatter::default());
    }

    #[test]
    fn steps_hold_each_value_once() {
        let found = steps(&times(&[100, 100, 150, 199, 200]), 10);
        assert_eq!(found.len(), 11);
        assert_eq!((found[0], found[5].1, found[10]), ((100.0, 2), 1, (200.0, 2)));
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 5);
        assert!(steps(&times(&[]), 10).is_empty());
    }
}
