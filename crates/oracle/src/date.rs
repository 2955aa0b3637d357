//! The `Date` field: RFC 9110, 5.6.7, written once per second.

/// Days and months as the field spells them; 1 January 1970 was a Thursday.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date as it appears in a head, 29 octets: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn imf_fixdate(unix_s: u64) -> [u8; 29] {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil(days);
    let text = format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        MONTHS[month],
        second / 3600,
        second / 60 % 60,
        second % 60,
    );
    text.as_bytes().try_into().expect("every year of four digits gives 29 octets")
}

/// Year, month from 0, and day of the month of a day since 1970 (Hinnant's algorithm).
fn civil(days: u64) -> (u64, usize, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    (era * 400 + year_of_era + u64::from(month < 2), month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let shown = |unix_s| String::from_utf8(imf_fixdate(unix_s).to_vec()).unwrap();
        assert_eq!(shown(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(shown(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(shown(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(shown(1_767_225_599), "Wed, 31 Dec 2025 23:59:59 GMT");
        assert_eq!(shown(4_107_542_400), "Mon, 01 Mar 2100 00:00:00 GMT");
    }
}
