//! Spans of time as people write them: `150us`, `1.5ms`, `2s`. Not clocks.

use std::fmt;
use std::time::Duration;

const UNITS: [(&str, f64); 6] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0)];

/// The longest span that may be requested: a day.
const LONGEST_S: f64 = 86_400.0;

/// Reads `150us`, `1.5ms`, `2s`; a bare `0` needs no unit.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let refused =
        || format!("`{text}` is not a span of time up to a day; write it like 150us, 1.5ms or 2s");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (amount, unit) = text.split_at(digits);
    let amount: f64 = amount.parse().map_err(|_| refused())?;
    let (_, unit_s) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(refused)?;
    if amount * unit_s > LONGEST_S {
        return Err(refused());
    }
    Ok(Duration::from_nanos((amount * unit_s * 1e9).round() as u64))
}

/// A span as it may be typed: the shortest exact form up to three decimals.
pub(crate) struct Shown(pub(crate) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos() as f64;
        let (amount, unit) = match nanos {
            nanos if nanos >= 1e9 => (nanos / 1e9, "s"),
            nanos if nanos >= 1e6 => (nanos / 1e6, "ms"),
            nanos if nanos >= 1e3 => (nanos / 1e3, "us"),
            nanos => (nanos, "ns"),
        };
        let text = format!("{amount:.3}");
        write!(f, "{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_unit() {
        let read = |text| span(text).map(|span| span.as_nanos());
        assert_eq!(read("150us"), Ok(150_000));
        assert_eq!(read("150µs"), Ok(150_000));
        assert_eq!(read("1.5ms"), Ok(1_500_000));
        assert_eq!(read("2s"), Ok(2_000_000_000));
        assert_eq!(read("1min"), Ok(60_000_000_000));
        assert_eq!(read("7ns"), Ok(7));
        assert_eq!(read("0"), Ok(0));
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "5", "ms", "-5ms", "5 ms", "1.2.3s", "5parsec", "2000min", "1e9s"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_shows_as_it_would_be_written() {
        for text in ["150us", "1.5ms", "2s", "999ns"] {
            assert_eq!(Shown(span(text).unwrap()).to_string(), text);
        }
    }
}
