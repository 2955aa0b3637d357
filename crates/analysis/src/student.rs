//! Student's t with any number of degrees of freedom, also fractional: what Welch's comparison needs of it.

use std::cell::RefCell;
use std::collections::HashMap;

/// Intervals are of 95 %: the probability that one does not hold the truth.
pub(crate) const OUTSIDE: f64 = 0.05;

/// The mean of some numbers, and the sum of their squared deviations from it.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum())
}

/// The standard error of a sum, and its degrees of freedom, after Welch and Satterthwaite: of parts that are each known
/// with a variance and degrees of freedom of their own.
pub(crate) fn welch(parts: &[(f64, f64)]) -> (f64, f64) {
    let sum: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let squares: f64 = parts.iter().map(|(variance, freedom)| variance.powi(2) / freedom).sum();
    (sum.sqrt(), if 0.0 < squares { sum.powi(2) / squares } else { 1.0 })
}

/// The two-sided p-value: the probability of a deviation at least this large, to either side.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    tail(t, freedom, ln_beta(freedom))
}

/// Simulations ask for the same few critical values millions of times. So many of them are kept; then all are dropped.
const KEPT_MAX: usize = 1_024;

thread_local! {
    static POINTS: RefCell<HashMap<[u64; 3], f64>> = RefCell::default();
}

/// The critical value: the deviation to either side that has this probability.
pub(crate) fn point(two_sided_p: f64, freedom: f64) -> f64 {
    kept(two_sided_p, 1, freedom, || solved(two_sided_p, freedom))
}

/// The critical value of the largest of so many deviations, which is solved for only if it is not known yet.
pub(crate) fn kept(p: f64, count: usize, freedom: f64, solved: impl FnOnce() -> f64) -> f64 {
    let arguments = [p.to_bits(), count as u64, freedom.to_bits()];
    if let Some(point) = POINTS.with_borrow(|points| points.get(&arguments).copied()) {
        return point;
    }
    let point = solved();
    POINTS.with_borrow_mut(|points| {
        if KEPT_MAX <= points.len() {
            points.clear();
        }
        points.insert(arguments, point);
    });
    point
}

fn solved(two_sided_p: f64, freedom: f64) -> f64 {
    // Newton's method on the logarithm of the probability, which falls with t, kept between two ends.
    let (mut low, mut high) = (0.0, 1e12_f64);
    let mut t = 2.0;
    let whole = ln_beta(freedom);
    for _ in 0..100 {
        let tail = tail(t, freedom, whole);
        let off = tail.ln() - two_sided_p.ln();
        match off < 0.0 {
            true => high = t,
            false => low = t,
        }
        let slope = -2.0 * density(t, freedom, whole) / tail;
        let next = t - off / slope;
        let next = if low < next && next < high { next } else { f64::midpoint(low, high) };
        let step = (next - t).abs();
        t = next;
        if step <= 1e-12 * t {
            break;
        }
    }
    t
}

/// The logarithm of the complete beta function, which is the same for every t.
fn ln_beta(freedom: f64) -> f64 {
    ln_gamma(freedom / 2.0) + ln_gamma(0.5) - ln_gamma(f64::midpoint(freedom, 1.0))
}

/// Student's density.
fn density(t: f64, freedom: f64, whole: f64) -> f64 {
    (-whole - f64::midpoint(freedom, 1.0) * (t * t / freedom).ln_1p()).exp() / freedom.sqrt()
}

/// The two-sided p-value: the regularised incomplete beta function at x. `rest` is 1 - x, computed by itself because x
/// may be nearly 1.
fn tail(t: f64, freedom: f64, whole: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    let (a, b, square) = (freedom / 2.0, 0.5, t * t);
    let (x, rest) = (freedom / (freedom + square), square / (freedom + square));
    let front = (a * x.ln() + b * rest.ln() - whole).exp();
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(a, b, x) / a,
        false => 1.0 - front * fraction(b, a, rest) / b,
    }
}

/// The continued fraction of the incomplete beta function, by the method of Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const NOTHING: f64 = 1e-300;
    let off_zero = |value: f64| if value.abs() < NOTHING { NOTHING } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / off_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..200 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = result;
        for term in [even, odd] {
            d = 1.0 / off_zero(1.0 + term * d);
            c = off_zero(1.0 + term / c);
            result *= c * d;
        }
        if (result - before).abs() < 1e-12 * result.abs() {
            break;
        }
    }
    result
}

/// Stirling's series, at an argument large enough for it to be exact.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1_260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_printed_tables() {
        for (p, freedom, printed) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 4.0, 2.776),
            (0.05, 30.0, 2.042),
            (0.05, 1e6, 1.960),
            (0.4, 4.0, 0.941),
            (0.01, 10.0, 3.169),
        ] {
            let found = point(p, freedom);
            assert!((found - printed).abs() < 0.000_6, "{p} {freedom}: {found}");
            assert!((two_sided(found, freedom) - p).abs() < 1e-9);
            assert_eq!(point(p, freedom), found, "the one that was kept");
        }
        // However many are asked for.
        for freedom in 1..5_000 {
            let found = point(0.01, f64::from(freedom));
            assert!((two_sided(found, f64::from(freedom)) - 0.01).abs() < 1e-9, "{freedom}");
        }
        assert_eq!(two_sided(0.0, 3.0), 1.0);
        assert!(two_sided(1e9, 3.0) < 1e-20);
    }
}
