//! A figure as it is printed, against the number that the JSON has of it.

/// What the JSON says of a figure, in seconds, bytes, percent, or without a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated {
    pub(super) value: f64,
    /// The ends of its interval, as far as they are there.
    pub(super) ends: [Option<f64>; 2],
    pub(super) is_bound: bool,
    /// The other marks that must stand at it, and no more.
    pub(super) marks: String,
    /// Its interval is printed beside it.
    pub(super) has_interval: bool,
}

const MARKS: &str = "≥≤~*?!↓†";
const UNITS: [(&str, f64); 11] = [
    ("", 1.0),
    ("%", 1.0),
    ("×", 1.0),
    ("ns", 1e-9),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

/// Says what is wrong with it, if anything is.
pub(super) fn check(printed: &str, stated: &Stated) -> Result<(), String> {
    let (before, rest) = printed.split_once('[').unwrap_or((printed, ""));
    let (between, after) = rest.split_once(']').unwrap_or(("", rest));
    let around = format!("{before}{after}");
    let (marks, number): (String, String) = around.chars().partition(|it| MARKS.contains(*it));
    let sorted = |marks: &str| {
        let mut all: Vec<char> = marks.chars().collect();
        all.sort_unstable();
        all
    };
    let bound = match (stated.is_bound, stated.ends) {
        (false, _) => "",
        (true, [None, Some(_)]) => "≤",
        (true, _) => "≥",
    };
    let wanted = format!("{bound}{}", stated.marks);
    let wrong = |what: &str| Err(format!("{what}: `{printed}` for {stated:?}"));
    if sorted(&marks) != sorted(&wanted) {
        return wrong("marks");
    }
    let step = step(stated);
    let Some(unit) = agrees(number.trim(), stated.value, step, None) else { return wrong("value") };
    let [low, high] = stated.ends;
    let agree = |text: &str, end: Option<f64>| match (text.strip_prefix('>'), end) {
        (_, None) => false,
        (Some(least), Some(end)) => agrees(least, end, end, Some(unit)).is_some() || 1_000.0 < end,
        (None, Some(end)) => agrees(text, end, step, Some(unit)).is_some(),
    };
    let is_right = match between.split_once(['–']).or(between.split_once(" to ")) {
        _ if between.is_empty() => !stated.has_interval || [low, high] == [None; 2],
        Some((one, other)) => agree(one, low) && agree(other, high),
        // An interval that is open has one end, with its own unit.
        None => {
            let end = between.strip_prefix(bound).filter(|_| stated.is_bound);
            let known = low.xor(high);
            end.zip(known).is_some_and(|(text, end)| agrees(text, end, 0.0, None).is_some())
        }
    };
    if is_right { Ok(()) } else { wrong("interval") }
}

/// The unit of a number that is this one, rounded as it is printed.
fn agrees(text: &str, value: f64, step: f64, unit: Option<f64>) -> Option<f64> {
    let (is_less, text) = (text.starts_with('<'), text.trim_start_matches('<'));
    let end = text.find(|it: char| !"0123456789.,−".contains(it)).unwrap_or(text.len());
    let (digits, name) = text.split_at(end);
    let unit = unit.unwrap_or(UNITS.iter().find(|(known, _)| *known == name.trim())?.1);
    let shown: f64 = digits.replace(',', "").replace('−', "-").parse().ok()?;
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len() as i32);
    let half = (0.5 * 0.1_f64.powi(decimals) * unit).max(step / 2.0);
    // A part is not shown as all of it.
    let is_nearly_all = name == "%" && digits == "99.9" && (99.9..100.0).contains(&value);
    let is_it = match is_less {
        true => 0.0 < value && value < shown * unit,
        false => (shown * unit - value).abs() <= half * 1.000_001 || is_nearly_all,
    };
    is_it.then_some(unit)
}

/// The least difference that its interval supports: one in the second digit of half its width.
fn step(stated: &Stated) -> f64 {
    let second = |number: f64| 10_f64.powf(number.abs().log10().floor() - 1.0);
    match stated.ends {
        [Some(low), Some(high)] if low < high && stated.value != 0.0 => {
            second((high - low) / 2.0).min(second(stated.value))
        }
        _ => 0.0,
    }
}

#[test]
fn a_figure_is_checked_digit_by_digit_with_its_marks_and_its_interval() {
    let of = |value, ends, is_bound, marks: &str| Stated {
        value,
        ends,
        is_bound,
        marks: marks.into(),
        has_interval: true,
    };
    let rate = of(1_170.4, [Some(902.0), Some(1_538.0)], false, "↓?");
    assert_eq!(check("1,170↓? [900–1,540]", &rate), Ok(()));
    for wrong in ["1,170↓ [900–1,540]", "1,160↓? [900–1,540]", "1,170↓? [910–1,540]", "1,170↓?"]
    {
        assert!(check(wrong, &rate).is_err(), "{wrong}");
    }
    let bound = of(5.0, [Some(4.214), None], true, "");
    assert_eq!(check("≥5.00s [≥4.21s]", &bound), Ok(()));
    for wrong in ["5.00s [≥4.21s]", "≥5.00s [4.21–9.00]", "≥5.00ms [≥4.21s]", "≥5.00s* [≥4.21s]"]
    {
        assert!(check(wrong, &bound).is_err(), "{wrong}");
    }
    assert_eq!(check("≤0.020× [≤0.061]", &of(0.02, [None, Some(0.0611)], true, "")), Ok(()));
    assert_eq!(check("<0.1%", &of(0.04, [None; 2], false, "")), Ok(()));
}
