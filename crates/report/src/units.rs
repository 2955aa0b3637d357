//! Numbers with their units, three significant digits.

use std::time::Duration;

const TIMES: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const BYTES: [(f64, &str); 5] = [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")];

/// `0.4 ms` becomes `400 µs`: the unit in which the number is from 1 to 999.
pub fn time(ns: f64) -> String {
    scaled(ns, &TIMES)
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

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    if value == 0.0 {
        return format!("0 {}", units[0].1);
    }
    // A number that would be rounded to 1000 belongs to the next unit.
    let fits = |(scale, _): &&(f64, &str)| value / scale < 999.5;
    let (scale, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    format!("{} {unit}", digits(value / scale))
}

/// Three significant digits, thousands set apart.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => count(value.round() as u64),
    }
}

/// `98,211`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    let text = format!("{:.3}", ns / scale);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `93 %`; a share above zero is never shown as 0 %, and one below 1 never as 100 %.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent <= 0.0 => "0 %".into(),
        percent if percent < 0.1 => "< 0.1 %".into(),
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent if percent < 99.0 => format!("{percent:.0} %"),
        percent if percent < 100.0 => format!("{:.1} %", percent.min(99.9)),
        percent => format!("{percent:.0} %"),
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
    }
}
