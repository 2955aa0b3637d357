//! Numbers with their units as a reader sees them, three significant digits. Figures with an interval are written in
//! `report/number_format.rs`. Beside them, what all rooms write down in the same way: enums with names, tables of RFCs.

mod listed;
mod named;
mod nearest;
pub mod rfc7541;
pub mod rfc9113;
mod visible;

use std::time::Duration;

pub use listed::{listed, listed_in_short};
pub use nearest::nearest;
pub use visible::{is_obeyed, visible, without_password, without_passwords};

/// A unit: how many of the smallest one it is, and its symbol.
pub type Scale = (f64, &'static str);

pub const TIMES: [Scale; 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
pub const BYTES: [Scale; 5] = [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")];

/// `0.4 ms` becomes `400 µs`: the unit in which the number is from 1 to 999.
pub fn time(ns: f64) -> String {
    scaled(ns, &TIMES)
}

/// Two hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nanoseconds in seconds, for programs.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A latency in whole nanoseconds.
pub fn nanos(ns: u64) -> String {
    time(ns as f64)
}

/// `400µs`, for tables, where room is short.
pub fn tight(ns: f64) -> String {
    time(ns).replace(' ', "")
}

/// `12.3 MB`
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        _ => scaled(bytes as f64, &BYTES),
    }
}

fn scaled(value: f64, units: &[Scale]) -> String {
    if value == 0.0 {
        return format!("0 {}", units[0].1);
    }
    let (scale, unit) = fitting(value, units);
    format!("{} {unit}", digits(value / scale))
}

/// The unit in which the number is from 1 to 999. A number that would be rounded to 1000 belongs to the next unit.
pub fn fitting(value: f64, units: &[Scale]) -> Scale {
    let fits = |(scale, _): &&Scale| value.abs() / scale < 999.5;
    *units.iter().find(fits).unwrap_or(&units[units.len() - 1])
}

/// Three significant digits, thousands set apart.
pub fn digits(value: f64) -> String {
    fixed(value, decimals(value))
}

/// How many decimals make three significant digits; two of a number below 0.1.
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        size if 0.0 < size && size < 0.0995 => ((-size.log10()).ceil() as usize + 1).min(9),
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    }
}

/// So many decimals, thousands set apart.
pub fn fixed(value: f64, decimals: usize) -> String {
    let size = match value.abs() {
        size if size.is_nan() => return "–".into(),
        size if size.is_infinite() => "∞".into(),
        size => format!("{size:.decimals$}"),
    };
    let (whole, rest) = size.split_at(size.find('.').unwrap_or(size.len()));
    let is_zero = size.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{}{rest}", grouped(whole))
}

/// A number that a user chose: only the digits that were written, up to three after the point.
pub fn chosen(value: f64) -> String {
    trimmed(value, 3)
}

/// At most so many decimals, without zeros at the end.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Digits with their thousands set apart.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    let of = digits.chars().count();
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (of - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `98,211`
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// `1 folder`, `2 folders`
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A rate per second: whole where it is large enough, else with three digits.
pub fn rate(per_s: f64) -> String {
    match per_s {
        _ if per_s.fract() == 0.0 || 99.95 <= per_s => count(per_s.round() as u64),
        _ => digits(per_s),
    }
}

/// A time that the user wrote: only the digits that were written.
pub fn duration(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    let (scale, unit) = TIMES.iter().rev().find(|(scale, _)| *scale <= ns).unwrap_or(&TIMES[0]);
    format!("{} {unit}", chosen(ns / scale))
}

/// `93 %`; a share above zero is never shown as 0 %, and one below 1 never as 100 %.
pub fn percent(share: f64) -> String {
    format!("{} %", of_hundred(share * 100.0, 1))
}

/// A percentage without its unit and with at most so many decimals.
pub fn of_hundred(percent: f64, decimals: usize) -> String {
    match percent {
        percent if percent <= 0.0 => "0".into(),
        percent if percent < 0.1 => "< 0.1".into(),
        percent if percent < 0.95 => format!("{percent:.1}"),
        percent if percent < 9.95 => format!("{percent:.decimals$}"),
        percent if percent < 99.0 => format!("{percent:.0}"),
        percent if percent < 100.0 => format!("{:.1}", percent.min(99.9)),
        percent => format!("{percent:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_in_the_unit_that_fits() {
        let shown = [0.0, 1.0, 999.4, 999.5, 1_234.0, 56_780.0, 999_600.0, 4.5e8, 5e9, 6.1e12];
        assert_eq!(
            shown.map(time),
            [
                "0 ns", "1.00 ns", "999 ns", "1.00 µs", "1.23 µs", "56.8 µs", "1.00 ms", "450 ms",
                "5.00 s", "6,100 s"
            ]
        );
        assert_eq!([bytes(0), bytes(999), bytes(12_345_678)], ["0 B", "999 B", "12.3 MB"]);
    }

    #[test]
    fn counts_and_rates_set_thousands_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.5, 99.97, 98_211.4, 10.0].map(rate), ["0.50", "100", "98,211", "10"]);
        let few = [0.0, 0.05, 0.0042, -0.001, -84.5, -1_234.0, f64::INFINITY, f64::NAN];
        assert_eq!(
            few.map(digits),
            ["0.00", "0.050", "0.0042", "−0.0010", "−84.5", "−1,234", "∞", "–"]
        );
    }

    #[test]
    fn one_thing_is_not_called_several() {
        let shown = [0, 1, 1_200].map(|number| counted(number, "folder", "folders"));
        assert_eq!(shown, ["0 folders", "1 folder", "1,200 folders"]);
    }

    #[test]
    fn what_is_not_all_is_not_shown_as_all() {
        let shown = [0.0, 0.0001, 0.5, 0.9999, 1.0].map(percent);
        assert_eq!(shown, ["0 %", "< 0.1 %", "50 %", "99.9 %", "100 %"]);
    }

    #[test]
    fn a_chosen_time_has_the_digits_that_were_chosen() {
        let ms = Duration::from_millis;
        assert_eq!([ms(500), ms(10_000), ms(1_500)].map(duration), ["500 ms", "10 s", "1.5 s"]);
        let few = [0.01, 0.5, 300.0, 12_000.0, 33.3 * 3.0].map(chosen);
        assert_eq!(few, ["0.01", "0.5", "300", "12,000", "99.9"]);
    }
}
