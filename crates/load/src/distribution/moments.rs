//! Figures about all values of a distribution, and which of them are only bounds.

use super::Distribution;
use super::places::Count;
use crate::Nanos;

/// A figure about all values, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub value: f64,
    /// The true value is no less than this, and may be more.
    pub is_bound: bool,
}

/// What is said of all values together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub mean: Moment,
    /// The standard deviation of the sample; of censored values, the least that it can be.
    pub sd: Moment,
    pub min: Moment,
    pub max: Moment,
}

impl Distribution {
    /// None if there are no values.
    #[must_use]
    pub fn moments(&self) -> Option<Moments> {
        let counts: Vec<Count> = self.counts().collect();
        let (first, last) = (counts.first()?, counts.last()?);
        let is_any = 0 < self.censored();
        let sd = if is_any { least_deviation(&counts) } else { deviation(&counts) };
        let time = |value: Nanos, is_bound| Moment { value: value as f64, is_bound };
        Some(Moments {
            mean: Moment { value: self.mean(), is_bound: is_any },
            // A single value does not deviate from itself, whatever it is.
            sd: Moment { value: sd, is_bound: is_any && 1 < self.count() },
            // A value that is known to be as small is the smallest one.
            min: time(first.lowest(), is_any && first.censored == first.times),
            max: time(last.highest(), is_any),
        })
    }

    /// The least of the bounds: a percentile below it is none.
    #[must_use]
    pub fn least_bound(&self) -> Option<Nanos> {
        self.counts().find(|count| 0 < count.censored).map(|count| count.lowest())
    }
}

/// The standard deviation of values that are all known.
fn deviation(counts: &[Count]) -> f64 {
    let all = counts.iter().map(|count| count.times).sum::<u64>() as f64;
    let known = counts.iter().map(|count| (count.median() as f64, count.times as f64));
    let mean = known.clone().fold(0.0, |sum, (value, times)| sum + value * times / all);
    let squares =
        known.fold(0.0, |sum, (value, times)| sum + (value - mean) * (value - mean) * times);
    (squares / all).sqrt()
}

/// The least standard deviation that is possible if each censored value lies at its bound or above.
///
/// The variance is convex in the unknown values. It grows with a value that lies above the mean, so bounds above the
/// mean stay where they are; those below it count at the mean, to which they contribute nothing then.
fn least_deviation(counts: &[Count]) -> f64 {
    let all: u64 = counts.iter().map(|count| count.times).sum();
    let mut mean = 0.0;
    loop {
        let (count, sum) = kept(counts, mean)
            .fold((0.0, 0.0), |(n, sum), (value, times)| (n + times, sum + times * value));
        // Without values below it, the mean rises, and more bounds may lie below it then.
        if sum / count <= mean {
            break;
        }
        mean = sum / count;
    }
    let squares: f64 =
        kept(counts, mean).map(|(value, times)| times * (value - mean).powi(2)).sum();
    (squares / all as f64).sqrt()
}

/// The values at or above a mean, and those below it that are known, with how often they occur.
fn kept(counts: &[Count], mean: f64) -> impl Iterator<Item = (f64, f64)> {
    counts.iter().map(move |count| {
        let value = count.median() as f64;
        let free = if value < mean { count.censored } else { 0 };
        (value, (count.times - free) as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(known: &[Nanos], bounds: &[Nanos]) -> Distribution {
        let mut made = Distribution::new(1 << 30);
        known.iter().for_each(|&value| made.record(value));
        bounds.iter().for_each(|&value| made.record_censored(value));
        made
    }

    /// Mean, sd, smallest and largest: each as a number, and whether it is a bound.
    fn seen(known: &[Nanos], bounds: &[Nanos]) -> [(f64, bool); 4] {
        let found = of(known, bounds).moments().unwrap();
        [found.mean, found.sd, found.min, found.max].map(|it| (it.value, it.is_bound))
    }

    #[test]
    fn moments_at_the_edges() {
        assert_eq!(of(&[], &[]).moments(), None);
        let exact = [(3.0, false), (0.0, false), (3.0, false), (3.0, false)];
        assert_eq!(seen(&[3], &[]), exact, "one value");
        let one_bound = [(3.0, true), (0.0, false), (3.0, true), (3.0, true)];
        assert_eq!(seen(&[], &[3]), one_bound, "one value deviates by nothing, whatever it is");
        let [mean, sd, min, max] = seen(&[], &[2, 6]);
        assert_eq!((mean, sd), ((4.0, true), (0.0, true)), "both may be 6, or anything more");
        assert_eq!((min, max), ((2.0, true), (6.0, true)));
        let [mean, sd, min, max] = seen(&[2, 4], &[]);
        assert_eq!([mean, sd, min, max], [(3.0, false), (1.0, false), (2.0, false), (4.0, false)]);
        let [_, sd, min, max] = seen(&[2], &[4]);
        assert_eq!([sd, min, max], [(1.0, true), (2.0, false), (4.0, true)]);
        let [.., min, _] = seen(&[2, 9], &[2]);
        assert_eq!(min, (2.0, false), "one of those that are as small is known");
    }

    /// A value that was given up below the mean may have been nearer to it than its bound.
    #[test]
    fn a_bound_below_the_mean_counts_at_the_mean() {
        let [(mean, _), (sd, is_bound), ..] = seen(&[100, 300], &[1, 150]);
        assert_eq!((mean, is_bound), (137.75, true));
        // Both may have been 200, which is the mean then.
        assert_eq!(sd, (2.0 * 100.0_f64.powi(2) / 4.0).sqrt());
        // Only the first one lies below the mean, 200, of the others.
        let [_, (sd, _), ..] = seen(&[100], &[1, 300]);
        assert_eq!(sd, (2.0 * 100.0_f64.powi(2) / 3.0).sqrt());
    }

    fn truth(values: &[Nanos]) -> [f64; 4] {
        let (count, sum) = (values.len() as f64, values.iter().sum::<u64>() as f64);
        let squares = values.iter().map(|&value| (value as f64 - sum / count).powi(2)).sum::<f64>();
        let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        [sum / count, (squares / count).sqrt(), *min as f64, *max as f64]
    }

    /// What is called a bound is one, and what is not is the truth, whenever and however many values are given up.
    #[test]
    fn no_moment_exceeds_the_truth_and_without_a_mark_it_is_the_truth() {
        let mut drawn = wire::Chance::new(3);
        let mut chance = |most: u64| (drawn.draw() >> 33) % most;
        let (mut marked, mut exact) = ([0; 4], [0; 4]);
        for round in 0..3_000 {
            let (mut known, mut bounds, mut all) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..1 + chance(12) {
                let value = 1 + chance(1_000);
                // At a time-out, at any age, or never.
                let at = if round % 2 == 0 { 700 } else { 1 + chance(value) };
                let is_given_up = if round % 2 == 0 { at < value } else { chance(3) == 0 };
                let (values, seen) =
                    if is_given_up { (&mut bounds, at) } else { (&mut known, value) };
                values.push(seen);
                all.push(value);
            }
            for (place, ((value, is_bound), is)) in
                seen(&known, &bounds).into_iter().zip(truth(&all)).enumerate()
            {
                assert!(value <= is + 1e-6, "{place}: {value} {is}; {known:?} {bounds:?}");
                assert!(is_bound || (value - is).abs() < 1e-6, "{place}: {known:?} {bounds:?}");
                if is_bound { marked[place] += 1 } else { exact[place] += 1 }
            }
        }
        assert!(marked.iter().chain(&exact).all(|times| 100 < *times), "{marked:?} {exact:?}");
    }
}
