//! Dunnett's distribution: the largest of several deviations from the same side. Because they have that side in common,
//! they are large together, and the largest of them is less often large than if they were independent.

use crate::student;

/// The probability that at least one of `count` deviations is this large, to either side, where all sides are equal and
/// their common spread is known with so many degrees of freedom.
pub(crate) fn any(t: f64, count: usize, freedom: f64) -> f64 {
    let alone = student::two_sided(t, freedom);
    // By the logarithm of the spread as it was estimated, in parts of the true one.
    let least = -16.0 / freedom - 4.0 / freedom.sqrt();
    let step = ((-least).min(1.8) - least) / SPREADS;
    let (mut whole, mut none) = (0.0, 0.0);
    for place in 0..SPREADS as u32 {
        let spread = (f64::from(place) + 0.5).mul_add(step, least);
        let weight = (freedom * (spread - (2.0 * spread).exp() / 2.0 + 0.5)).exp();
        whole += weight;
        none += weight * all_within(std::f64::consts::SQRT_2 * t * spread.exp(), count);
    }
    (1.0 - none / whole).clamp(alone, (alone * count as f64).min(1.0))
}

/// The critical value: the deviation that the largest of `count` has with this probability.
pub(crate) fn point(probability: f64, count: usize, freedom: f64) -> f64 {
    match count {
        0 | 1 => student::point(probability, freedom),
        _ => student::kept(probability, count, freedom, || solved(probability, count, freedom)),
    }
}

fn solved(probability: f64, count: usize, freedom: f64) -> f64 {
    let mut low = student::point(probability, freedom);
    let mut high = student::point(probability / count as f64, freedom);
    let off = |t: f64| any(t, count, freedom).ln() - probability.ln();
    let (mut above, mut under) = (off(low), off(high));
    // Between so near ends the logarithm is nearly a line.
    for _ in 0..LINES {
        let t = (high * above - low * under) / (above - under);
        match off(t) {
            more if 0.0 < more => (low, above) = (t, more),
            less => (high, under) = (t, less),
        }
    }
    (high * above - low * under) / (above - under)
}

/// The parts into which the integrals are cut: the error is below one in a million.
const SPREADS: f64 = 32.0;
const STEP: f64 = 0.5;
const LINES: usize = 4;

/// The probability that none of `count` normal values is further than this from one more.
fn all_within(distance: f64, count: usize) -> f64 {
    let mass = |place: u32| {
        let middle = STEP * f64::from(place);
        let density = (-middle * middle / 2.0).exp() / std::f64::consts::TAU.sqrt();
        density * (below(middle + distance) - below(middle - distance)).powi(count as i32)
    };
    // It is symmetrical.
    STEP * (mass(0) + 2.0 * (1..12).map(mass).sum::<f64>())
}

/// The share of normal values below this one, to one part in ten million: a series of Chebyshev's.
fn below(value: f64) -> f64 {
    const SERIES: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let far = value.abs() / std::f64::consts::SQRT_2;
    let part = 1.0 / (1.0 + far / 2.0);
    let sum = SERIES.iter().rev().fold(0.0, |sum, factor| sum * part + factor);
    let beyond = part * (sum - far * far).exp() / 2.0;
    if value < 0.0 { beyond } else { 1.0 - beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_dunnett_s_tables() {
        for (probability, count, freedom, printed) in [
            (0.05, 2, 8.0, 2.67),
            (0.05, 4, 8.0, 3.02),
            (0.05, 4, 20.0, 2.65),
            (0.01, 3, 10.0, 3.74),
            (0.01, 4, 10.0, 3.88),
        ] {
            let found = point(probability, count, freedom);
            assert!((found - printed).abs() < 0.006, "{probability} {count} {freedom}: {found}");
            assert!((any(found, count, freedom) - probability).abs() < 1e-4);
        }
        assert!((any(2.0, 1, 5.0) - student::two_sided(2.0, 5.0)).abs() < 1e-5);
        assert!(any(1e6, 4, 3.0) < 1e-12);
        assert_eq!(any(0.0, 4, 3.0), 1.0);
    }
}
