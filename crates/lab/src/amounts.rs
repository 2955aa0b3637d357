//! Numbers as people write them: `10s`, `2m`, `500ms`, `10k`, `1536MiB`. They are parsed once, where they are read.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The longest time that may be written.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

const UNITS: [(&str, f64); 9] = [
    ("", 1.0),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("h", 3_600.0),
];

/// A time above zero and up to a day.
pub fn time(text: &str) -> Result<Duration, String> {
    match time_or_none(text)? {
        Duration::ZERO => Err("it must be longer than 0; write it like 500ms or 10s".into()),
        time => Ok(time),
    }
}

/// A time up to a day, which may be zero.
pub fn time_or_none(text: &str) -> Result<Duration, String> {
    let unclear = || format!("`{text}` is not a time; write it like 500ms, 10s, 2m or 1h");
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (amount, unit) = text.split_at(digits);
    let amount: f64 = amount.parse().map_err(|_| unclear())?;
    let (_, unit_s) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(unclear)?;
    match Duration::try_from_secs_f64(amount * unit_s) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(format!("`{text}` is longer than a day; at most 24h")),
    }
}

/// A time above zero, in a file.
pub(crate) fn read_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    time(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A time as the functions above read it: whole in its unit, so that nothing of it is lost.
pub fn written(time: Duration) -> String {
    let nanos = time.as_nanos();
    let mut units = [(1_000_000_000, "s"), (1_000_000, "ms")].into_iter();
    let (scale, unit) = units.find(|(scale, _)| nanos.is_multiple_of(*scale)).unwrap_or((1, "ns"));
    format!("{}{unit}", nanos / scale)
}

/// How many, at least one: `50`, `10k`, `1M`.
pub fn count(text: &str) -> Result<u64, String> {
    let unclear = || format!("`{text}` is not a count; write a whole number, as 50, 10k or 1M");
    let (digits, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'M') => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unclear());
    }
    let number: u64 = digits.parse().map_err(|_| unclear())?;
    match number.checked_mul(scale) {
        Some(0) => Err("it must be at least 1".into()),
        Some(count) => Ok(count),
        None => Err(unclear()),
    }
}

/// No machine has files for more connections than this.
const CONNECTIONS_MAX: u64 = 1_000_000;

pub fn connections(text: &str) -> Result<usize, String> {
    match count(text)? {
        count if count <= CONNECTIONS_MAX => Ok(count as usize),
        _ => Err("at most 1,000,000 connections".into()),
    }
}

/// Bytes, with their unit: `1536MiB`, `2GiB`, `64KiB`, `1GB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    let unclear = || format!("`{text}` is not a size; write it like 512MiB or 2GiB");
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (amount, unit) = text.split_at(digits);
    let amount: u64 = amount.parse().map_err(|_| unclear())?;
    let scale = match unit.trim_start() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(unclear()),
    };
    match amount.checked_mul(scale) {
        Some(0) => Err("it must be more than 0".into()),
        Some(bytes) => Ok(bytes),
        None => Err(unclear()),
    }
}

pub fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}` is not a percentage; write a number from 0 to 100")),
    }
}

/// Some of the machine's CPUs, in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cpus(
    /// Their numbers.
    pub Vec<usize>,
);

/// CPUs: `1,3` or `0-3`.
pub fn cpus(text: &str) -> Result<Cpus, String> {
    let unclear = || format!("`{text}` names no CPUs; write them like 1,3 or 0-3");
    let number = |text: &str| text.parse::<usize>().ok().filter(|&cpu| cpu < 65_536);
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err(unclear()),
        }
    }
    Ok(Cpus(cpus))
}

impl TryFrom<String> for Cpus {
    type Error = String;

    fn try_from(text: String) -> Result<Cpus, String> {
        cpus(&text)
    }
}

impl From<Cpus> for String {
    fn from(Cpus(numbers): Cpus) -> String {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        numbers.join(",")
    }
}

/// A field that may be left out, as it stands in a file: the text that a person writes.
macro_rules! as_text {
    ($(#[$about:meta])* $module:ident, $Value:ty, $read:path, $write:expr) => {
        $(#[$about])*
        pub(crate) mod $module {
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[allow(clippy::ref_option)] // serde requires it
            pub(crate) fn serialize<S: Serializer>(
                value: &Option<$Value>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                value.map($write).serialize(serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$Value>, D::Error> {
                let text = Option::<String>::deserialize(deserializer)?;
                text.map(|text| $read(&text).map_err(D::Error::custom)).transpose()
            }
        }
    };
}

as_text!(time_text, std::time::Duration, super::time, super::written);
as_text!(bytes_text, u64, super::bytes, |bytes| format!("{bytes}B"));
as_text!(percent_text, f64, super::percent, |percent| format!("{percent}%"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let ms = |text| time(text).map(|time| time.as_millis());
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("10s"), Ok(10_000));
        assert_eq!(ms("2m"), Ok(120_000));
        assert_eq!(ms("1.5"), Ok(1_500));
        assert_eq!(ms("24h"), Ok(86_400_000));
        assert_eq!(time_or_none("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn what_is_no_time_is_refused_with_the_way_out() {
        for text in ["", "0", "0s", "-1s", "s", "1 s", "1d", "inf", "NaN", "25h", "1e3", "1.2.3"] {
            assert!(time(text).is_err(), "{text}");
        }
        assert!(time("10sec").unwrap_err().ends_with("write it like 500ms, 10s, 2m or 1h"));
    }

    #[test]
    fn counts_are_whole_and_above_nothing() {
        assert_eq!(count("10k"), Ok(10_000));
        assert_eq!(count("2M"), Ok(2_000_000));
        for text in ["", "0", "-1", "1.5", "k", "1e3", "99999999999999999999", "+5"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(connections("1000001").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("1536MiB"), Ok(1_610_612_736));
        assert_eq!(bytes("2 GB"), Ok(2_000_000_000));
        for text in ["", "12", "MiB", "0MiB", "1.5GiB", "1TiB", "99999999999999GiB", "-1MiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cpus_are_listed_or_spanned() {
        assert_eq!(cpus("1,3"), Ok(Cpus(vec![1, 3])));
        assert_eq!(cpus("0-2,5"), Ok(Cpus(vec![0, 1, 2, 5])));
        for text in ["", "a", "3-1", "1,,2", "-1", "0-99999999"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }
}
