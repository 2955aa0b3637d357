//! Numbers as other programs print them, for people or in JSON.

use serde_json::Value;

use crate::row::Time;

/// Units of time, in nanoseconds.
const UNITS: [(&str, f64); 13] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
    ("seconds", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3_600e9),
    ("hours", 3_600e9),
];

/// Nanoseconds in a unit of time.
pub(crate) fn unit_ns(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns)
}

/// A time, and whether it had a unit: `1.23ms`, `0.0012 secs`, `1m2.5s`, `417`.
pub(crate) fn time(text: &str) -> Option<(Time, bool)> {
    let mut rest = text.trim();
    let (mut sum, mut step, mut has_unit) = (0.0, 0.0, false);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, digit, behind) = number(rest)?;
        let unit: &str = {
            let behind = behind.trim_start();
            let end = behind.find(|letter: char| !letter.is_alphabetic()).unwrap_or(behind.len());
            rest = &behind[end..];
            &behind[..end]
        };
        let scale = match unit {
            "" if rest.is_empty() && !has_unit => 1.0,
            unit => {
                has_unit = true;
                unit_ns(unit)?
            }
        };
        (sum, step) = (sum + number * scale, digit * scale);
    }
    Some((Time { value: sum, step }, has_unit))
}

/// A time as seconds, if it has a unit.
pub(crate) fn seconds(text: &str) -> Option<Time> {
    let (time, has_unit) = time(text)?;
    has_unit.then_some(Time { value: time.value / 1e9, step: time.step / 1e9 })
}

/// The number at the beginning, what its last digit stands for, and what is behind it.
fn number(text: &str) -> Option<(f64, f64, &str)> {
    let is_part = |(place, byte): (usize, u8)| {
        byte.is_ascii_digit() || byte == b'.' || (place == 0 && matches!(byte, b'-' | b'+'))
    };
    let end = text.bytes().enumerate().take_while(|&(place, byte)| is_part((place, byte))).count();
    let (digits, behind) = text.split_at(end);
    if let Some(behind) = behind.strip_prefix("nan") {
        return Some((f64::NAN, 0.0, behind));
    }
    let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let value: f64 = digits.parse().ok()?;
    Some((value, 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX)), behind))
}

/// The first number of a text, wherever it begins.
pub(crate) fn first_number(text: &str) -> Option<f64> {
    let begin = text.find(|letter: char| letter.is_ascii_digit() || "+-".contains(letter))?;
    number(&text[begin..]).map(|(value, _, _)| value)
}

/// The number right behind these words.
pub(crate) fn number_after(text: &str, words: &str) -> Option<f64> {
    let rest = text[text.find(words)? + words.len()..].trim_start();
    number(rest).map(|(value, _, _)| value)
}

/// The number right before these words.
pub(crate) fn number_before(text: &str, words: &str) -> Option<f64> {
    let before = text[..text.find(words)?].trim_end();
    let word = before.rsplit(|letter: char| letter.is_whitespace() || letter == ',').next()?;
    word.parse().ok()
}

/// A number, also one that was written as a text.
pub(crate) fn figure(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number of an object.
pub(crate) fn figure_of(object: &Value, key: &str) -> Option<f64> {
    figure(object.get(key)?)
}

/// A text of an object.
pub(crate) fn text_of<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit_and_their_last_digit() {
        let of = |text| time(text).map(|(time, has_unit)| (time.value, time.step, has_unit));
        assert_eq!(of("417us"), Some((417e3, 1e3, true)));
        assert_eq!(of("0.5 secs"), Some((5e8, 1e8, true)));
        assert_eq!(of("1m2s"), Some((62e9, 1e9, true)));
        assert_eq!(of("417"), Some((417.0, 1.0, false)));
        assert_eq!(of("-1"), Some((-1.0, 1.0, false)));
        assert!(of("-nan").is_none_or(|(value, ..)| value.is_nan()) && of("nanus").is_some());
        for text in ["", " ", "ms", "1.2.3ms", "1 parsec", "1ms2", "é"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_found_by_the_words_beside_them() {
        let line = "requests: 12 total, 12 started, 11 done";
        assert_eq!(number_before(line, " started"), Some(12.0));
        assert_eq!(number_after("Socket errors: connect 3, read 4", "read"), Some(4.0));
        assert_eq!(first_number("Requests/sec:  12.5"), Some(12.5));
        assert_eq!((number_after("read x", "read"), first_number("x")), (None, None));
    }
}
