//! How a figure is written: in the unit that fits it, with only the digits that its interval supports.

use analysis::{Basis, Estimate, Slope};
use lab::checked::Checked;
use lab::figure::{Figure, Unit};
use units::{BYTES, Scale, TIMES, decimals, fitting, fixed, of_hundred};

use crate::document::{Cell, Mark, Marks};

/// A figure as people read it. Files for programs have all of its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// With its unit, without its marks.
    pub(crate) value: String,
    /// `[981–1,002]`, in the unit of the value; `[≥981]` for a bound. None for a single round.
    pub(crate) interval: Option<String>,
    pub(crate) marks: Marks,
}

impl Written {
    /// A value in its figure's unit.
    pub(crate) fn of(unit: Unit, value: f64, interval: Option<(f64, f64)>) -> Written {
        let units: &[Scale] = match unit {
            Unit::Milliseconds => &TIMES,
            Unit::Bytes => &BYTES,
            Unit::Percent => &PERCENT,
            Unit::PerSecond | Unit::Count | Unit::KibPerSecond => &BARE,
        };
        let factor = if unit == Unit::Milliseconds { NS_PER_MS } else { 1.0 };
        written(Some(unit), units, value * factor, interval.map(|ends| scaled(ends, factor)))
    }

    /// A number that has no unit, such as a ratio, or whose unit is named elsewhere.
    pub(crate) fn bare(value: f64, interval: Option<(f64, f64)>) -> Written {
        written(None, &BARE, value, interval)
    }

    /// A ratio. An interval that does not hold 1 is written with so many digits that it does not seem to.
    pub(crate) fn ratio(value: f64, interval: Option<(f64, f64)>) -> Written {
        let usual = Written::bare(value, interval);
        let Some((low, high)) = interval.filter(|(low, high)| 1.0 < *low || *high < 1.0) else {
            return usual;
        };
        let near = if 1.0 < low { low } else { high };
        let form = |decimals: usize| Form {
            unit: None,
            is_smallest: true,
            step: 0.1_f64.powi(decimals as i32),
        };
        let is_1 = |text: &str| text.trim_end_matches(['0', '.']) == "1";
        let ends = usual.interval.as_deref().unwrap_or_default().trim_matches(['[', ']']);
        if !ends.split('–').any(is_1) {
            return usual;
        }
        let is_enough = |decimals: &usize| !is_1(&form(*decimals).text(near, *decimals));
        let decimals = (2..MOST_DECIMALS).find(is_enough).unwrap_or(MOST_DECIMALS);
        let text = |number: f64| form(decimals).text(number, decimals);
        let interval = Some(format!("[{}–{}]", text(low), text(high)));
        Written { value: text(value), interval, ..usual }
    }

    /// A number from several rounds with its interval and its marks.
    pub(crate) fn estimate(unit: Unit, estimate: &Estimate) -> Written {
        let written = Written::of(unit, estimate.value, estimate.interval());
        let at_least = || Some(format!("[≥{}]", number(unit, estimate.at_least()?)));
        let marks = marks(estimate.is_bound, estimate.is_supported);
        Written { interval: written.interval.or_else(at_least), marks, ..written }
    }

    /// Memory of a connection in units of 1,024 bytes; `~` before an interval that is about the line of one round only.
    pub(crate) fn slope(slope: &Slope) -> Written {
        let written =
            Written::bare(slope.bytes / KIB, slope.interval.map(|ends| scaled(ends, 1.0 / KIB)));
        let line = match slope.basis {
            Basis::Rounds => "",
            Basis::Line => "~",
        };
        let interval = written.interval.map(|interval| format!("{line}{interval}"));
        Written { interval, ..written }
    }

    /// `≥5.00s`, `1.20ms*`.
    pub(crate) fn marked(&self) -> String {
        self.marks.around(&self.value)
    }

    /// With the mark of a bound only, for places that have no legend.
    pub(crate) fn bounded(&self) -> String {
        let is_bound = self.marks.iter().any(|mark| mark == Mark::Bound);
        Marks::default().when(is_bound, Mark::Bound).around(&self.value)
    }

    /// ` [981–1,002]`, to follow the value; empty without an interval.
    pub(crate) fn between(&self) -> String {
        self.interval.as_ref().map_or(String::new(), |interval| format!(" {interval}"))
    }

    /// As a table's cell, which is sorted by this value.
    pub(crate) fn cell(self, value: f64) -> Cell {
        Cell::text(self.value).valued(Some(value)).marked(self.marks)
    }
}

/// A value without an interval: whole numbers in full, of all others up to three significant digits.
pub(crate) fn number(unit: Unit, value: f64) -> String {
    Written::of(unit, value, None).value
}

/// A number without an interval in its figure's unit.
pub(crate) fn in_unit_of(figure: Figure, value: f64) -> String {
    number(figure.unit(), value)
}

/// What a number in this unit does not say by itself, for a heading.
pub(crate) fn unsaid(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "each second",
        Unit::KibPerSecond => "KiB each second",
        Unit::Count | Unit::Percent | Unit::Milliseconds | Unit::Bytes => "",
    }
}

/// Whether a number is a bound, and whether too few samples lie beyond it.
pub(crate) fn marks(is_bound: bool, is_supported: bool) -> Marks {
    let is_few = !is_supported && !is_bound;
    Marks::default().when(is_bound, Mark::Bound).when(is_few, Mark::FewSamples)
}

const BARE: [Scale; 1] = [(1.0, "")];
const PERCENT: [Scale; 1] = [(1.0, "%")];
const NS_PER_MS: f64 = 1e6;
const KIB: f64 = 1_024.0;
/// A ratio is never written with more.
const MOST_DECIMALS: usize = 9;

fn scaled((low, high): (f64, f64), factor: f64) -> (f64, f64) {
    (low * factor, high * factor)
}

fn written(
    unit: Option<Unit>,
    units: &[Scale],
    value: f64,
    interval: Option<(f64, f64)>,
) -> Written {
    let step = interval.map_or(0.0, |ends| supported(value, ends));
    // Zero has no size of its own: its interval has.
    let sizes = interval.map_or([0.0; 2], |(low, high)| [low.abs(), high.abs()]);
    let size = match rounded(value, step) {
        0.0 if value != 0.0 => value,
        0.0 => sizes.into_iter().filter(|size| size.is_finite()).fold(0.0, f64::max),
        size => size,
    };
    let (scale, name) = fitting(size, units);
    let form = Form { unit, is_smallest: scale == units[0].0, step: step / scale };
    let most = form.decimals(size / scale);
    let text = |number: f64| form.text(number / scale, most);
    let near = rounded(value, step) / scale;
    let interval = interval.map(|ends| between(ends, far(unit, value, ends), near, text));
    Written { value: text(value) + name, interval, marks: Marks::default() }
}

/// An interval around a value; in place of an end that is far off, what lies nearer.
fn between(
    (low, high): (f64, f64),
    [is_below, is_above]: [bool; 2],
    near: f64,
    text: impl Fn(f64) -> String,
) -> String {
    let low_end = if is_below { format!("<{}", rough(near / FAR)) } else { text(low) };
    let high_end = if is_above { format!(">{}", rough(near * FAR)) } else { text(high) };
    let and = if low < 0.0 || is_below || is_above { " to " } else { "–" };
    format!("[{low_end}{and}{high_end}]")
}

/// An end so many times further off has no digits that mean anything: two rounds that differ by a factor of 4 are enough
/// for one.
const FAR: f64 = 1_000.0;

/// Which ends of an interval lie so far from its value that what is written in their place is surely nearer, whatever
/// rounding does to it.
fn far(unit: Option<Unit>, value: f64, (low, high): (f64, f64)) -> [bool; 2] {
    let is_scaled = unit.is_some_and(|unit| unit != Unit::Percent) && 0.0 < value && 0.0 < low;
    let is_far = |times: f64| is_scaled && times.is_finite() && 2.0 * FAR < times;
    [is_far(value / low), is_far(high / value)]
}

/// A number above zero in two digits, or as a whole number.
fn rough(number: f64) -> String {
    let decimals = (1.0 - number.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = fixed(number, decimals);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// The smallest difference that an interval supports: one in the second digit of half its width. Zero where the
/// interval has no width, or none that can be used: every digit is written. However wide it is, two digits of the value
/// stay, because a mean that is rounded to a power of ten would be another number.
fn supported(value: f64, (low, high): (f64, f64)) -> f64 {
    let second_digit = |number: f64| 10_f64.powf(number.log10().floor() - 1.0);
    match (high - low) / 2.0 {
        half if half.is_finite() && 0.0 < half && value.is_finite() && value != 0.0 => {
            second_digit(half).min(second_digit(value.abs()))
        }
        half if half.is_finite() && 0.0 < half => second_digit(half),
        _ => 0.0,
    }
}

/// The number that is written of a value: a ratio of two such numbers can be recomputed by a reader.
pub(crate) fn as_written(estimate: &Estimate) -> f64 {
    let step = estimate.interval().map_or(0.0, |ends| supported(estimate.value, ends));
    rounded(estimate.value, step)
}

fn rounded(number: f64, step: f64) -> f64 {
    if 0.0 < step { (number / step).round() * step } else { number }
}

/// How a value and the ends of its interval are written.
struct Form {
    unit: Option<Unit>,
    /// There are no parts of a byte.
    is_smallest: bool,
    /// Smaller differences are not written; zero: all are.
    step: f64,
}

impl Form {
    /// How many decimals a number of this size has: three significant digits, and no more than its interval supports.
    fn decimals(&self, size: f64) -> usize {
        let most = match self.unit {
            _ if size == 0.0 => 0,
            Some(Unit::Count) => 0,
            Some(Unit::Bytes) if self.is_smallest => 0,
            Some(Unit::PerSecond) if size.fract() == 0.0 && self.step == 0.0 => 0,
            Some(
                Unit::PerSecond
                | Unit::Bytes
                | Unit::Milliseconds
                | Unit::Percent
                | Unit::KibPerSecond,
            )
            | None => decimals(size),
        };
        if 0.0 < self.step { most.min(decimals_of(self.step)) } else { most }
    }

    fn text(&self, number: f64, decimals: usize) -> String {
        let is_share = self.unit == Some(Unit::Percent);
        // Rounded once: 491.497 is 491, and not 492 by way of 491.5.
        let decimals = if is_share { decimals.min(1) } else { decimals };
        let digit = 0.1_f64.powi(decimals as i32);
        if is_share {
            // `of_hundred` rounds, too: 98.52 is 99, and not 98 by way of 98.5.
            let near = if 1.5 * digit < self.step { rounded(number, self.step) } else { number };
            // What is not none is not shown as none, and what is not all is not shown as all.
            let is_end = (near <= 0.0 && 0.0 < number) || (100.0 <= near && number < 100.0);
            let shown = if is_end { number } else { near };
            return of_hundred(shown, decimals).replace(' ', "");
        }
        let near = rounded(number, self.step.max(digit));
        match near == 0.0 {
            true if number == 0.0 => "0".into(),
            // A number above zero is not shown as zero: it has its first digit.
            true => {
                let first = 10_f64.powf(number.abs().log10().floor());
                fixed(rounded(number, first), decimals_of(first))
            }
            false => fixed(near, decimals),
        }
    }
}

/// How many decimals a power of ten has.
fn decimals_of(power: f64) -> usize {
    (-power.log10()).round().clamp(0.0, 9.0) as usize
}

/// `checked: status 2xx of 1,214,377 answers; the bodies were not compared`.
pub(crate) fn checked(checked: &Checked) -> String {
    let Checked { answers, what, bodies } = checked;
    let answers = units::counted(*answers, "answer", "answers");
    format!("checked: {what} of {answers}{bodies}")
}

#[cfg(test)]
mod tests {
    use lab::figure::{Fold, Number};

    use super::*;

    /// The value and its interval, as they are printed beside each other.
    fn shown(unit: Unit, value: f64, interval: (f64, f64)) -> String {
        let written = Written::of(unit, value, Some(interval));
        written.value.clone() + &written.between()
    }

    #[test]
    fn a_value_has_the_digits_that_half_of_its_interval_supports() {
        let rate = |value, low, high| shown(Unit::PerSecond, value, (low, high));
        assert_eq!(rate(110_683.0, 81_685.0, 154_430.0), "111,000 [82,000–154,000]");
        assert_eq!(rate(17_257.0, 4_438.0, 46_292.0), "17,000 [4,000–46,000]");
        assert_eq!(rate(11_099.4, 11_020.3, 11_180.2), "11,099 [11,020–11,180]");
        assert_eq!(rate(25.34, 24.21, 26.58), "25.3 [24.2–26.6]");
        let time = |value, low, high| shown(Unit::Milliseconds, value, (low, high));
        assert_eq!(time(12.04, 11.2, 12.9), "12.0ms [11.2–12.9]");
        assert_eq!(time(12.04, 3.1, 46.2), "12ms [3–46]", "no digit after the point is known");
        assert_eq!(time(1.234_56, 1.2, 1.27), "1.23ms [1.20–1.27]", "never more than three");
        let bytes = shown(Unit::Bytes, 26.34e6, (25e6, 28e6));
        assert_eq!(bytes, "26.3MB [25.0–28.0]");
        assert_eq!(shown(Unit::Bytes, 26.34e6, (9e6, 60e6)), "26MB [9–60]");
        assert_eq!(shown(Unit::Count, 854.3, (842.0, 866.0)), "854 [842–866]");
    }

    #[test]
    fn an_interval_that_does_not_hold_1_does_not_seem_to() {
        let ratio = |value, interval| {
            let written = Written::ratio(value, Some(interval));
            written.value.clone() + &written.between()
        };
        assert_eq!(ratio(0.99, (0.987, 0.9961)), "0.990 [0.987–0.996]");
        assert_eq!(ratio(1.004, (1.000_4, 1.008)), "1.0040 [1.0004–1.0080]");
        assert_eq!(ratio(0.99, (0.98, 0.994)), "0.99 [0.98–0.99]");
        assert_eq!(ratio(0.99, (0.98, 1.0)), "0.99 [0.98–1.00]", "it holds 1");
        assert_eq!(ratio(1.3, (1.02, 1.7)), "1.30 [1.02–1.70]");
        let mut chance = load::Chance::new(33);
        for _ in 0..10_000 {
            let (low, width) = (0.9 + 0.2 * chance.unit(), 0.1 * chance.unit().powi(4));
            let (middle, high) = (low + width / 2.0, low + width);
            let interval = Written::ratio(middle, Some((low, high))).interval.unwrap();
            let ends = interval.trim_matches(['[', ']']).split_once('–').unwrap();
            let ends = (ends.0.parse::<f64>().unwrap(), ends.1.parse::<f64>().unwrap());
            let holds = |(low, high): (f64, f64)| low <= 1.0 && 1.0 <= high;
            assert_eq!(holds(ends), holds((low, high)), "{low} to {high}: {interval}");
        }
    }

    #[test]
    fn intervals_at_the_edges() {
        let rate = |value, low, high| shown(Unit::PerSecond, value, (low, high));
        assert_eq!(rate(2_000.0, 4.2, 46_292.0), "2,000 [4–46,300]", "above zero");
        assert_eq!(rate(329.0, 0.9, 1e5), "330 [0.9–100,000]", "wider than the value");
        assert_eq!(rate(5.0, 5.0, 5.0), "5 [5–5]", "no width");
        assert_eq!(
            rate(1e15, 9e14, 2e15),
            "1,000,000,000,000,000 [900,000,000,000,000–2,000,000,000,000,000]"
        );
        let time = |value, low, high| shown(Unit::Milliseconds, value, (low, high));
        assert_eq!(time(12.04, 3.0, f64::INFINITY), "12.0ms [3.0–∞]", "open above");
        assert_eq!(time(0.0, 0.0, 3.24), "0ms [0–3.2]", "zero has the unit of its interval");
        assert_eq!(time(0.0, 0.0, 0.0), "0ns [0–0]");
        assert_eq!(time(2e-6, 1e-6, 4e-6), "2.0ns [1.0–4.0]", "tiny");
        let bare = Written::bare(12.2, Some((-84.5, 109.0)));
        assert_eq!(bare.value + &bare.interval.unwrap(), "12[−85 to 109]", "below zero");
        let ratio = Written::bare(6.234, Some((2.1, 18.3)));
        assert_eq!(ratio.value + &ratio.interval.unwrap(), "6.2[2.1–18.3]");
    }

    /// Two rounds have one degree of freedom.
    #[test]
    fn an_end_that_lies_too_far_off_is_named_as_beyond_a_thousand_times_the_value() {
        let of_rounds = |unit, values: [f64; 2]| {
            let number = |value| Number { value, is_bound: false, is_supported: true };
            let found = Estimate::of(&values.map(number), Fold::Factors).unwrap();
            Written::estimate(unit, &found).marked() + &Written::estimate(unit, &found).between()
        };
        assert_eq!(of_rounds(Unit::PerSecond, [116.0, 7_000.0]), "900 [<0.9 to >900,000]");
        assert_eq!(of_rounds(Unit::Milliseconds, [2.0, 8.0]), "4.0ms [<0.004 to >4,000]");
        assert_eq!(of_rounds(Unit::Milliseconds, [2.0, 3.0]), "2.4ms [0.2–32.2]");
        let rate = |value, low, high| shown(Unit::PerSecond, value, (low, high));
        assert_eq!(rate(5_000.0, 4_000.0, 2e7), "5,000 [4,000 to >5,000,000]");
    }

    #[test]
    fn a_value_that_rounding_takes_to_1000_has_the_next_unit() {
        let time = |value, low, high| shown(Unit::Milliseconds, value, (low, high));
        assert_eq!(time(0.999_6, 0.95, 1.05), "1.00ms [0.95–1.05]");
        assert_eq!(time(0.996, 0.4, 1.6), "1.00ms [0.40–1.60]");
        assert_eq!(time(0.999_4, 0.999, 0.999_8), "999µs [999–1,000]");
        assert_eq!(number(Unit::Milliseconds, 0.999_6), "1.00ms");
    }

    #[test]
    fn without_an_interval_three_digits_and_whole_numbers_in_full() {
        let time = |value| number(Unit::Milliseconds, value);
        assert_eq!([12.04, 0.0, 4e-7, 6.1e6].map(time), ["12.0ms", "0ns", "0.40ns", "6,100s"]);
        let rate = |value| number(Unit::PerSecond, value);
        assert_eq!([110_683.4, 25.34, 3.0, 0.05].map(rate), ["110,683", "25.3", "3", "0.050"]);
        let count = |value| number(Unit::Count, value);
        assert_eq!([854.3, 0.33, 0.0].map(count), ["854", "0.3", "0"]);
        assert_eq!(
            [999.0, 0.0, 1e12].map(|value| number(Unit::Bytes, value)),
            ["999B", "0B", "1.00TB"]
        );
    }

    #[test]
    fn a_share_is_neither_none_nor_all_unless_it_is() {
        let share = |value, low, high| shown(Unit::Percent, value, (low, high));
        assert_eq!(share(0.04, 0.0, 0.2), "<0.1% [0–0.2]");
        assert_eq!(share(99.97, 99.9, 100.0), "99.9% [99.9–100]");
        assert_eq!(share(98.522, 97.46, 98.94), "99% [97–99]", "rounded once");
        assert_eq!(share(45.0, 10.0, 80.0), "45% [10–80]");
        assert_eq!(share(2.5, 1.2, 3.8), "2.5% [1.2–3.8]");
        assert_eq!(share(2.4, 0.0, 60.0), "2.4% [0–60]");
        assert_eq!(
            [0.0, 0.3, 40.0, 100.0, 187.0].map(|value| number(Unit::Percent, value)),
            ["0%", "0.3%", "40%", "100%", "187%"]
        );
    }

    #[test]
    fn a_bound_is_marked_and_its_interval_is_open() {
        let estimate = Estimate {
            value: 5_000.0,
            min: 4_000.0,
            max: 5_000.0,
            high: None,
            low: Some(4_210.0),
            rounds: 3,
            is_bound: true,
            is_supported: false,
        };
        let written = Written::estimate(Unit::Milliseconds, &estimate);
        assert_eq!(written.marked() + &written.between(), "≥5.00s [≥4.21s]");
        let few = Estimate { is_bound: false, low: None, ..estimate };
        assert_eq!(Written::estimate(Unit::Milliseconds, &few).marked(), "5.00s*");
    }

    /// What is printed is off by at most half of the last digit that the interval supports, or of the third digit.
    #[test]
    fn rounding_takes_away_no_more_than_it_may() {
        for exponent in -3..7 {
            for width in [1e-4, 0.003, 0.02, 0.3, 1.7, 40.0] {
                let value = 2.345_678 * 10_f64.powi(exponent);
                let interval = (value * (1.0 - width), value * (1.0 + width));
                let written = Written::bare(value, Some(interval));
                let read: f64 = written.value.replace(',', "").parse().unwrap();
                let third = if value < 1.0 { value / 10.0 } else { value / 100.0 };
                let digit = supported(value, interval).max(third);
                // Where the interval is wide, the first digit stays.
                assert!(
                    (read - value).abs() <= digit.min(value) / 2.0 + 1e-12,
                    "{value} ±{width}: {read}"
                );
            }
        }
    }
}
