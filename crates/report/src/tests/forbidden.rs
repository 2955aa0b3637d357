//! What no sentence may say, of a load, of the servers of a run, or of two sides: a list of predicates over the sentence
//! and what was measured.

use analysis::KEPT_UP;

/// A sentence, and what was measured.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) sentence: String,
    /// Those that failed or answered wrongly more than is tolerated, as the sentence calls them.
    pub(crate) failing: Vec<String>,
    /// Those that failed, and no more than is tolerated.
    pub(crate) tolerated: Vec<String>,
    /// Those whose figures are invalid.
    pub(crate) invalid: Vec<String>,
    /// Of a schedule: the share of the requests on time of each.
    pub(crate) on_time: Vec<(String, f64)>,
    /// Those of the last rank.
    pub(crate) last: Vec<String>,
    /// The figures of which the table says that B is worse, and those of which it cannot tell.
    pub(crate) worse: Vec<String>,
    pub(crate) open: Vec<String>,
}

type Predicate = fn(&Told) -> bool;

/// Each with what is wrong where it is true.
const FORBIDDEN: [(&str, Predicate); 9] = [
    ("a failing side is not named before the figures", is_unnamed),
    ("a failing side is compared", is_compared),
    ("what a side failed is not said", is_silent),
    ("it kept up", is_said_behind),
    ("it did not keep up", is_said_to_keep_up),
    ("an interval contradicts the words beside it", contradicts_interval),
    ("a side whose figures are invalid is said to lead", is_invalid_first),
    ("one server is slowest, though others share its rank", is_slowest_alone),
    ("the table and a sentence disagree about a figure", contradicts_table),
];

/// Which of them this sentence says.
pub(crate) fn said(told: &Told) -> Vec<&'static str> {
    FORBIDDEN.iter().filter(|(_, is_said)| is_said(told)).map(|(says, _)| *says).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ")
}

fn is_unnamed(told: &Told) -> bool {
    let figures = ["requests/s", "/s [", "×", " p99 ", "on time", " answers "];
    let first = figures.iter().filter_map(|it| told.sentence.find(it)).min();
    told.failing.iter().any(|name| {
        let verbs = ["failed", "answered wrongly:"].iter();
        let named = verbs.filter_map(|verb| told.sentence.find(&format!("{name} {verb} "))).min();
        named.is_none_or(|at| first.is_some_and(|first| first < at))
    })
}

fn is_compared(told: &Told) -> bool {
    let of_two = sentences(&told.sentence).filter(|it| it.contains('×') || it.contains("fastest"));
    of_two.into_iter().any(|it| told.failing.iter().any(|name| it.contains(name.as_str())))
}

fn is_silent(told: &Told) -> bool {
    let is_there = |name: &String| {
        let [failed, answered] = ["failed", "answered"].map(|verb| format!("{name} {verb} "));
        let mut wrongly = told.sentence.split(&answered).skip(1);
        told.sentence.contains(&failed) || wrongly.any(|after| after.contains(" wrongly"))
    };
    !told.tolerated.iter().all(is_there)
}

fn is_said_behind(told: &Told) -> bool {
    told.on_time.iter().filter(|(_, share)| KEPT_UP <= *share).any(|(name, _)| {
        let is_it = |after: &str| {
            after.split(')').next().is_some_and(|it| it.ends_with("% of the requests on time"))
        };
        (name == "The server" && told.sentence.contains("did not keep up"))
            || told.sentence.split(&format!("{name} (")).skip(1).any(is_it)
    })
}

fn is_said_to_keep_up(told: &Told) -> bool {
    let contains = |text: &str| told.sentence.contains(text);
    told.on_time.iter().filter(|(_, share)| *share < KEPT_UP - 1e-9).any(|(name, _)| {
        let both = format!("{name} both kept up");
        contains("All servers kept up")
            || contains("; both kept up")
            || contains(&both)
            || contains(&format!("{name} kept up"))
    })
}

/// The ends of an interval, as they are printed.
fn ends(text: &str) -> Option<(f64, f64)> {
    let number =
        |text: &str| text.replace(',', "").trim_start_matches(['<', '>']).parse::<f64>().ok();
    if let Some(end) = text.strip_prefix('≥') {
        return Some((number(end)?, f64::INFINITY));
    }
    if let Some(end) = text.strip_prefix('≤') {
        return Some((0.0, number(end)?));
    }
    let (low, high) = text.split_once('–').or(text.split_once(" to "))?;
    Some((number(low)?, number(high)?))
}

/// Where no difference is shown the interval holds 1, and elsewhere it does not.
fn contradicts_interval(told: &Told) -> bool {
    sentences(&told.sentence).any(|text| {
        let is_alike = text.contains("No difference is shown");
        text.match_indices("× [").any(|(place, _)| {
            let (before, after) = (&text[..place], &text[place + "× [".len()..]);
            let Some((low, high)) = after.split(']').next().and_then(ends) else { return true };
            let clause = before.rsplit(['(', ';']).next().unwrap_or(before);
            let is_undecided = is_alike || before.trim_end_matches(clause).ends_with("is shown (");
            let is_judged =
                ["Within: ", "Cannot tell: ", "Not worse: "].iter().any(|it| text.starts_with(it));
            match (is_undecided, is_judged) {
                (true, _) => 1.0 < low || high < 1.0,
                (false, true) => false,
                (false, false) => low <= 1.0 && 1.0 <= high,
            }
        })
    })
}

fn is_invalid_first(told: &Told) -> bool {
    told.invalid.iter().any(|name| told.sentence.contains(&format!("{name} is fastest")))
}

fn is_slowest_alone(told: &Told) -> bool {
    1 < told.last.len() && told.sentence.contains("Slowest is ")
}

fn contradicts_table(told: &Told) -> bool {
    let says = |word: &str, figures: &[String]| {
        let mut of_word = sentences(&told.sentence).filter(|text| text.starts_with(word));
        of_word.any(|text| figures.iter().any(|it| text.contains(&format!(", {it}: "))))
    };
    says("Cannot tell: ", &told.worse) || says("Worse: ", &told.open)
}
