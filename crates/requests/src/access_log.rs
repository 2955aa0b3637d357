//! The lines of nginx's and Apache's access logs, of which only the time is read: `common`, `combined`, and either with
//! nginx's `$request_time` at the end.

use crate::instant;

/// When a line was written, and how long its request took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The beginning of its second.
    pub(crate) second_ns: i128,
    /// `$request_time`, in seconds with decimals.
    pub(crate) took_ns: Option<i128>,
}

/// `10/Oct/2000:13:55:36 -0700`
const TIME_LENGTH: usize = 26;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// None if the line has no time in brackets.
pub(crate) fn entry(line: &str) -> Option<Entry> {
    let opened = line.match_indices('[').map(|(place, _)| place + 1);
    let second_ns = opened.filter_map(|from| time(line.get(from..)?)).next()?;
    let last = line.trim_end().rsplit(' ').next().unwrap_or_default();
    let took_ns = last.contains('.').then(|| instant::seconds(last)).flatten();
    Some(Entry { second_ns, took_ns: took_ns.filter(|took| 0 <= *took) })
}

/// What begins with a time and a closing bracket.
fn time(text: &str) -> Option<i128> {
    let (time, rest) = text.split_at_checked(TIME_LENGTH)?;
    if !rest.starts_with(']') {
        return None;
    }
    let (day, clock) = time.split_once(':')?;
    let [day, month, year] = day.split('/').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (clock, zone) = clock.split_once(' ')?;
    let (hours, minutes) = zone.split_at_checked(3)?;
    instant::date(&format!("{year}-{month:02}-{day}T{clock}{hours}:{minutes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str =
        r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;

    #[test]
    fn the_time_of_both_formats_is_read_with_and_without_request_time() {
        let second_ns = instant::date("2000-10-10T20:55:36Z").unwrap();
        let combined = format!(r#"{COMMON} "http://[::1]/a" "Mozilla/5.0 (X11; rv:1.5)""#);
        let with = |took: Option<i128>| Some(Entry { second_ns, took_ns: took });
        assert_eq!(entry(COMMON), with(None), "2326 is a number of bytes");
        assert_eq!(entry(&combined), with(None));
        assert_eq!(entry(&format!("{COMMON} 0.250")), with(Some(250_000_000)));
        assert_eq!(entry(&format!("{combined} 12.003\r")), with(Some(12_003_000_000)));
        assert_eq!(
            entry(&format!("[x] [{COMMON}")),
            with(None),
            "the time is in the second bracket"
        );
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "12.5",
            "2026-01-31T12:00:00Z",
            "[10/Oct/2000:13:55:36 -0700",
            "[10/Okt/2000:13:55:36 -0700]",
            "[32/Oct/2000:13:55:36 -0700]",
            "[10/Oct/2000:13:55:36 0700 ]",
            "[é0/Oct/2000:13:55:36 -070]",
        ] {
            assert_eq!(entry(line), None, "{line}");
        }
    }
}
