//! Where a value is on paper, and which round values an axis names.

use lab::figure::Unit;
use units::trimmed;

/// Maps values to places on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: Kind,
    from: f64,
    to: f64,
}

/// `low < high`, both finite; for a logarithm, above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Linear { high: f64 },
    Log { low: f64, high: f64 },
}

impl Scale {
    /// From zero to a round number that is no less than all values.
    pub(crate) fn linear(values: &[f64], from: f64, to: f64) -> Scale {
        let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if 0.0 < most { most } else { 1.0 };
        let step = step(most);
        let high = (most / step - 1e-9).ceil().max(1.0) * step;
        Scale { kind: Kind::Linear { high }, from, to }
    }

    /// From zero to exactly this.
    pub(crate) fn upto(high: f64, from: f64, to: f64) -> Scale {
        let high = if high.is_finite() && 0.0 < high { high } else { 1.0 };
        Scale { kind: Kind::Linear { high }, from, to }
    }

    /// Between two members of 1, 2, 5, 10, … that include all values above zero.
    pub fn log(values: &[f64], from: f64, to: f64) -> Scale {
        let positive = || values.iter().copied().filter(|value| value.is_finite() && 0.0 < *value);
        let (least, most) = (positive().fold(f64::MAX, f64::min), positive().fold(0.0, f64::max));
        let (least, most) = if least <= most { (least, most) } else { (1.0, 10.0) };
        let low = round_down(least * 1.000_001);
        let high = round_up(most * 0.999_999).max(low * 5.0);
        Scale { kind: Kind::Log { low, high }, from, to }
    }

    /// Linear, or by factors where the values lie far apart.
    pub(crate) fn near_or_far(values: &[f64], from: f64, to: f64) -> Scale {
        const FAR: f64 = 30.0;
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let scale = if 0.0 < least && FAR * least < most { Scale::log } else { Scale::linear };
        scale(values, from, to)
    }

    /// The place of a value; a value beyond the axis is at its end.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            _ if value.is_nan() => 0.0,
            Kind::Linear { high } => value / high,
            Kind::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The highest value on the axis.
    pub fn high(&self) -> f64 {
        match self.kind {
            Kind::Linear { high } | Kind::Log { high, .. } => high,
        }
    }

    /// The lowest value on the axis.
    pub fn low(&self) -> f64 {
        match self.kind {
            Kind::Linear { .. } => 0.0,
            Kind::Log { low, .. } => low,
        }
    }

    /// Round values, only as many as the paper has room for at this distance.
    pub(crate) fn ticks(&self, apart: f64) -> Vec<f64> {
        let room = ((self.to - self.from).abs() / apart).floor().max(1.0) as usize;
        match self.kind {
            Kind::Linear { high } => {
                let multiples = |step: f64| -> Vec<f64> {
                    (0..=(high / step + 1e-9) as usize).map(|n| n as f64 * step).collect()
                };
                let step = step(high);
                let mut wider =
                    [1.0, 2.0, 4.0, 5.0, 10.0].map(|times| multiples(step * times)).into_iter();
                wider.find(|ticks| ticks.len() <= room + 1).unwrap_or(vec![0.0, high])
            }
            Kind::Log { low, high } => {
                let every = |digits: &[f64], decades| every(digits, decades, low, high);
                let finer = [every(&[1.0, 2.0, 5.0], 1), every(&[1.0], 1), every(&[1.0], 2)];
                finer.into_iter().find(|ticks| ticks.len() <= room + 1).unwrap_or(every(&[1.0], 3))
            }
        }
    }
}

/// The round values of every so many decades that begin with these digits.
fn every(digits: &[f64], decades: i32, low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    let exponents = (first..=last).filter(|n| n.rem_euclid(decades) == 0);
    let all = exponents.flat_map(|n| digits.iter().map(move |d| d * 10f64.powi(n)));
    all.filter(|tick| low * 0.999 <= *tick && *tick <= high * 1.001).collect()
}

/// A round distance that divides this into five to ten.
fn step(most: f64) -> f64 {
    let decade = 10f64.powf(most.log10().floor());
    match most / decade {
        share if share <= 2.0 => decade / 4.0,
        share if share <= 5.0 => decade / 2.0,
        _ => decade,
    }
}

fn round_down(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let digit = [5.0, 2.0].into_iter().find(|digit| digit * decade <= value);
    digit.unwrap_or(1.0) * decade
}

fn round_up(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| value <= digit * decade);
    digit.unwrap_or(10.0) * decade
}

/// A tick's value with its unit: `50 ms`, `2 s`, `12,000`.
pub(crate) fn tick(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Milliseconds => {
            scaled(value * 1e6, 1e3, &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")])
        }
        Unit::Bytes => scaled(value, 1.0, &[(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")]),
        Unit::Percent => plain(value) + " %",
        Unit::PerSecond | Unit::Count | Unit::KibPerSecond => plain(value),
    }
}

fn scaled(value: f64, least: f64, units: &[(f64, &str)]) -> String {
    if value < least * 1e-9 {
        return "0".into();
    }
    let fits = units.iter().find(|(scale, _)| *scale <= value * 1.000_001);
    let (scale, unit) = fits.unwrap_or(&units[units.len() - 1]);
    plain(value / scale) + unit
}

/// Without meaningless digits, thousands separated.
fn plain(value: f64) -> String {
    trimmed(value, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scale: &Scale, unit: Unit) -> Vec<String> {
        scale.ticks(30.0).into_iter().map(|value| tick(unit, value)).collect()
    }

    #[test]
    fn ticks_are_round_and_have_their_units() {
        let rate = Scale::linear(&[11_099.0, 12_000.0], 0.0, 200.0);
        assert_eq!(
            shown(&rate, Unit::PerSecond),
            ["0", "2,500", "5,000", "7,500", "10,000", "12,500"]
        );
        let time = Scale::log(&[0.0914, 1_820.0], 0.0, 200.0);
        assert_eq!(shown(&time, Unit::Milliseconds), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        let share = Scale::linear(&[0.0], 0.0, 60.0);
        assert_eq!(shown(&share, Unit::Percent), ["0 %", "0.5 %", "1 %"]);
        let memory = Scale::linear(&[135e6], 0.0, 200.0);
        assert_eq!(
            shown(&memory, Unit::Bytes),
            ["0", "25 MB", "50 MB", "75 MB", "100 MB", "125 MB", "150 MB"]
        );
    }

    #[test]
    fn every_value_is_on_paper_even_if_ugly() {
        for values in [&[][..], &[0.0], &[1e-9, 1e9], &[f64::NAN, f64::INFINITY, 5.0], &[7.0; 3]] {
            for scale in [Scale::linear(values, 10.0, 110.0), Scale::log(values, 110.0, 10.0)] {
                assert!(scale.low() < scale.high());
                for value in values.iter().filter(|value| value.is_finite()) {
                    assert!((10.0..=110.0).contains(&scale.at(*value)), "{values:?} {scale:?}");
                }
                assert!((2..=14).contains(&scale.ticks(10.0).len()), "{values:?} {scale:?}");
            }
        }
    }

    #[test]
    fn more_is_higher_and_ends_are_ends() {
        let scale = Scale::log(&[1.0, 100.0], 100.0, 0.0);
        assert_eq!(
            [0.0, 1.0, 10.0, 100.0, 900.0].map(|value| scale.at(value).round()),
            [100.0, 100.0, 50.0, 0.0, 0.0]
        );
    }
}
