//! An instant as logs write it: seconds with decimals, or a date and time by RFC 3339.

/// An instant, in nanoseconds from some beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) ns: i128,
    /// Written as a date, so that it counts from 1970.
    pub(crate) is_date: bool,
}

const SECOND: i128 = 1_000_000_000;

/// None if it is neither of the two.
pub(crate) fn parse(text: &str) -> Option<Instant> {
    match seconds(text) {
        Some(ns) => Some(Instant { ns, is_date: false }),
        None => Some(Instant { ns: date(text)?, is_date: true }),
    }
}

/// `12`, `12.5`, `-0.25`: never through a floating-point number, which would round the seconds since 1970.
pub(crate) fn seconds(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && part.is_empty() || 15 < whole.len() {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { number(whole)? };
    Some(sign * (whole * SECOND + fraction(part)?))
}

/// Digits only: a sign is none.
fn number(text: &str) -> Option<i128> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

/// What stands after the point, in nanoseconds; more digits are cut off.
fn fraction(part: &str) -> Option<i128> {
    if part.is_empty() {
        return Some(0);
    }
    number(part)?;
    number(&format!("{:0<9}", &part[..part.len().min(9)]))
}

/// RFC 3339, 5.6: `2026-01-31T12:00:00.5+01:00`.
pub(crate) fn date(text: &str) -> Option<i128> {
    if !text.is_ascii() || text.len() < 20 {
        return None;
    }
    let (day, rest) = text.split_at(10);
    let (clock, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at(8);
    let places = rest
        .strip_prefix('.')
        .map_or(0, |digits| digits.bytes().take_while(u8::is_ascii_digit).count());
    let (part, zone) = match rest.strip_prefix('.') {
        Some(_) if places == 0 => return None,
        Some(digits) => digits.split_at(places),
        None => ("", rest),
    };
    let [year, month, day] = fields(day, '-')?;
    let [hour, minute, second] = fields(clock, ':')?;
    let is_date = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    // A leap second is the 60th.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let seconds = days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    (is_date && is_time).then_some((seconds - offset(zone)?) * SECOND + fraction(part)?)
}

fn fields(text: &str, sign: char) -> Option<[i128; 3]> {
    let parts: Vec<&str> = text.split(sign).collect();
    let [one, two, three] = parts[..] else { return None };
    let is_pair = two.len() == 2 && three.len() == 2;
    if is_pair { Some([number(one)?, number(two)?, number(three)?]) } else { None }
}

/// Seconds east of UTC.
fn offset(zone: &str) -> Option<i128> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match zone.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, zone.strip_prefix('-')?),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let is_pair = hours.len() == 2 && minutes.len() == 2;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (is_pair && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn is_leap(year: i128) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i128, month: i128) -> i128 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the first of January in the year 0.
fn days_before(year: i128, month: i128, day: i128) -> i128 {
    let leaps =
        if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    let months: i128 = (1..month).map(|month| days_of(year, month)).sum();
    year * 365 + leaps + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(text: &str) -> i128 {
        let ns = |text| parse(text).unwrap_or_else(|| panic!("{text}")).ns;
        ns(text) - ns("1970-01-01T00:00:00Z")
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(unix("2000-03-01T00:00:00Z"), 951_868_800 * SECOND);
        assert_eq!(unix("2026-11-22T23:49:26Z"), 1_795_391_366 * SECOND);
        assert_eq!(unix("2026-11-22t23:49:26.000000001z"), 1_795_391_366 * SECOND + 1);
        assert_eq!(unix("2026-11-23 01:19:26+01:30"), 1_795_391_366 * SECOND);
        assert_eq!(unix("1972-02-29T00:00:00-00:00"), 68_169_600 * SECOND);
        assert_eq!(unix("0000-03-01T00:00:00Z"), -62_162_035_200 * SECOND);
        assert_eq!(unix("2016-12-31T23:59:60Z"), unix("2017-01-01T00:00:00Z"));
    }

    #[test]
    fn seconds_keep_all_their_digits() {
        let ns = |text| parse(text).map(|at| at.ns);
        assert_eq!(ns("1795391366.123456789"), Some(1_795_391_366_123_456_789));
        assert_eq!(ns(".5"), Some(500_000_000));
        assert_eq!(ns("-1.25"), Some(-1_250_000_000));
        assert_eq!(ns("3.1234567899"), Some(3_123_456_789));
    }

    #[test]
    fn nothing_else_is_an_instant() {
        for text in ["", ".", "-", "1e3", "+1", "1,5", "--1", "12:00", "1.2.3", "1.x", "inf"] {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in [
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00+01:00x",
            "26-01-001T00:00:00Z",
            "2026-01-01X00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
