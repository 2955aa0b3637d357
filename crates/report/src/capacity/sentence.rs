//! What a search says in sentences.

use std::time::Duration;

use analysis::search::{
    Aim, Conclusion, Criterion, End, Found, Limit, Pooled, Press, Progress, Tried,
};
use units::{chosen, counted, duration, listed, nanos, rate};

use super::FinishedSearch;

/// `p99 ≤ 10 ms and at most 1 % failed`
#[must_use]
pub fn aim(aim: &Aim) -> String {
    let mut all: Vec<String> = aim.limits.iter().map(limit).collect();
    all.push(match aim.failures {
        0.0 => "no failures".into(),
        share => format!("at most {} failed", whole(share)),
    });
    listed(&all)
}

fn limit(limit: &Limit) -> String {
    format!("p{} ≤ {}", limit.percent, duration(Duration::from_nanos(limit.within)))
}

/// `p99 ≤ 10 ms`, or `failures`.
#[must_use]
pub fn criterion(criterion: &Criterion) -> String {
    criterion.limit.as_ref().map_or("failures".into(), limit)
}

/// `> 10 ms`, or `failed`.
pub(crate) fn column(criterion: &Criterion) -> String {
    match criterion.limit {
        Some(limit) => format!("> {}", duration(Duration::from_nanos(limit.within))),
        None => "failed".into(),
    }
}

/// A small share matters here: `0.71 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", bare(share))
}

/// What was lost, of which more may have been where trials ended early.
pub(crate) fn lost(pooled: &Pooled) -> String {
    format!("{}{}", if pooled.is_bound { "≥ " } else { "" }, share(pooled.loss))
}

/// A share as it was typed: `5 %`.
pub(crate) fn whole(share: f64) -> String {
    // What was divided by 100 is not exact.
    format!("{} %", chosen((share * 1e6).round() / 1e4))
}

/// A share as it was typed, without its unit: `5`.
pub(crate) fn bare(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent == 0.0 => "0".into(),
        _ if percent < 0.001 => "< 0.001".into(),
        _ if percent < 0.1 => format!("{percent:.3}"),
        _ if percent < 10.0 => format!("{percent:.2}"),
        _ => format!("{percent:.0}"),
    }
}

/// `4 min`
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds < 90.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

/// The answer about one server in a few sentences.
pub(crate) fn sentences(found: &FinishedSearch<'_>) -> Vec<String> {
    let mut all = vec![format!("{}, {} {}.", under(found), found.server(), holds(found))];
    all.extend(evidence(found));
    all
}

/// `With p99 ≤ 10 ms and at most 1 % failed (Poisson arrivals)`.
pub(crate) fn under(found: &FinishedSearch<'_>) -> String {
    let arrivals = if found.is_poisson() { "Poisson arrivals" } else { "evenly spaced arrivals" };
    format!("With {} ({arrivals})", aim(&found.of.search.aim))
}

/// What the answer about one server rests on, and why it is not better known.
pub(crate) fn evidence(found: &FinishedSearch<'_>) -> Vec<String> {
    let mut all: Vec<String> = kept(found).into_iter().collect();
    all.extend(open(found));
    let is_cut_short = matches!(
        found.answer.conclusion,
        Conclusion::OutOfTime { .. }
            | Conclusion::Unfinished { .. }
            | Conclusion::Wider
            | Conclusion::CannotTell { .. }
    );
    all.extend(noise(found).filter(|_| is_cut_short));
    all
}

/// How many of the full trials at the ends kept the aim: `5 of 5 fresh processes met the limits at 1,520/s, 1 of 5 at
/// 1,580/s.`
fn kept(found: &FinishedSearch<'_>) -> Option<String> {
    let full = [&found.answer.lower, &found.answer.upper].into_iter().flatten();
    let mut full = full.filter(|end| !end.is_short);
    let first = full.next()?;
    let trials = match (found.of.search.is_fresh, first.judged.of) {
        (true, 1) => "fresh process",
        (true, _) => "fresh processes",
        (false, 1) => "load of one process",
        (false, _) => "loads of one process",
    };
    let at_rate = |end: &End| format!("at {}/s", rate(end.rate));
    let kept = |end: &End| format!("{} of {}", end.judged.kept, end.judged.of);
    let other =
        full.next().map_or(String::new(), |end| format!(", and {} {}", kept(end), at_rate(end)));
    Some(format!("{} {trials} met the limits {}{other}.", kept(first), at_rate(first)))
}

/// Why no more is known.
pub(super) fn open(found: &FinishedSearch<'_>) -> Option<String> {
    let answer = &found.answer;
    Some(match &answer.conclusion {
        Conclusion::Found | Conclusion::NotMet => return None,
        Conclusion::AtLeast => {
            let ceiling = found.answer.ceiling.filter(|ceiling| answer.is_capped_by(*ceiling));
            let because = ceiling.map_or(String::new(), |ceiling| {
                format!(", because dyno's own server gives {} answers/s here", rate(ceiling))
            });
            format!("Higher rates were not tried{because}.")
        }
        Conclusion::OutOfTime { needed_s } => format!(
            "The time limit ended the search: about {} more would be needed for a bracket of {}.",
            seconds(*needed_s),
            whole(found.of.search.width)
        ),
        Conclusion::Unfinished { needed_s } => {
            format!("The search is not finished: about {} more are needed.", seconds(*needed_s))
        }
        Conclusion::Wider => format!(
            "This is wider than {}, because a rate in between stayed undecided.",
            whole(found.of.search.width)
        ),
        Conclusion::Collapsed { kept } => format!(
            "It held {}/s at first, and later neither that nor any lower rate: it did not recover from the overload in \
             between.",
            rate(*kept)
        ),
        Conclusion::CannotTell { says, in_a_row } => {
            format!("{in_a_row} trials in a row were no evidence, and were not counted: {says}.")
        }
    })
}

/// Which trials were repeated, and why: `7 of 24 trials were repeated: dyno itself sent late (5), other programs used
/// up to 1.2 CPUs (2).`
pub(crate) fn noise(found: &FinishedSearch<'_>) -> Option<String> {
    let all = &found.answer.noise;
    let times: usize = all.iter().map(|(_, times)| times).sum();
    let kinds: Vec<String> = all
        .iter()
        .map(|(worst, times)| match all.len() {
            1 => worst.says(),
            _ => format!("{} ({times})", worst.says()),
        })
        .collect();
    let of = counted(found.answer.trials as u64, "trial", "trials");
    let was = if times == 1 { "was" } else { "were" };
    (0 < times)
        .then(|| format!("{times} of {of} {was} repeated and not counted: {}.", kinds.join(", ")))
}

/// Where nothing is known.
const UNKNOWN: &str = "has no known capacity";

/// What a server holds, in a few words, beside others: `holds 1,520/s and not 1,580/s`.
pub(crate) fn holds(found: &FinishedSearch<'_>) -> String {
    let answer = &found.answer;
    let (lower, upper) = (answer.lower.as_ref(), answer.upper.as_ref());
    let shown = |end: &End| format!("{}/s", rate(end.rate));
    let short = |end: &End| if end.is_short { ", as far as short trials show" } else { "" };
    match (&answer.conclusion, lower, upper) {
        (Conclusion::CannotTell { .. } | Conclusion::Collapsed { .. }, ..) | (_, None, None) => {
            UNKNOWN.into()
        }
        (Conclusion::AtLeast, Some(lower), _) => format!("holds at least {}", shown(lower)),
        (Conclusion::NotMet, _, Some(upper)) => {
            format!("does not hold even {}{}", shown(upper), because(found, upper))
        }
        (_, Some(lower), None) => {
            format!("holds {}, and perhaps more{}{}", shown(lower), short(lower), undecided(lower))
        }
        (_, None, Some(upper)) => {
            format!("does not hold {}, and perhaps less{}", shown(upper), short(upper))
        }
        (_, Some(lower), Some(upper)) => format!(
            "holds {} and not {}{}{}",
            shown(lower),
            shown(upper),
            undecided(lower),
            untested(lower, upper).map_or(String::new(), |says| format!(" ({says})"))
        ),
    }
}

/// What is not kept at a rate: ` (p99 is 31.0 ms)`, where that is beyond its limit; or else what was lost most.
fn because(found: &FinishedSearch<'_>, end: &End) -> String {
    let first = found.of.search.aim.limits.first();
    let beyond = end.percentile.zip(first).filter(|(is, limit)| limit.within < is.value);
    if let Some((is, limit)) = beyond {
        let least = if is.is_bound { "at least " } else { "" };
        return format!(" (p{} is {least}{})", limit.percent, nanos(is.value));
    }
    let Some(worst) = end.judged.worst().filter(|_| end.percentile.is_some()) else {
        return String::new();
    };
    let took = worst.criterion.limit.map_or("failed".into(), |limit| {
        format!("took longer than {}", duration(Duration::from_nanos(limit.within)))
    });
    format!(" ({} {took})", lost(worst))
}

/// How a search ended, in a few words.
pub(crate) fn ended(conclusion: &Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Found => "as narrow as asked for",
        Conclusion::Wider => "wider: a rate in between stayed undecided",
        Conclusion::AtLeast => "the highest rate is held",
        Conclusion::NotMet => "the lowest rate is not held",
        Conclusion::OutOfTime { .. } => "out of time",
        Conclusion::Unfinished { .. } => "not over",
        Conclusion::Collapsed { .. } => "it did not recover",
        Conclusion::CannotTell { .. } => "cannot tell",
    }
}

/// The ends that only short trials know.
fn untested(lower: &End, upper: &End) -> Option<String> {
    let end_only_short = |end: &End| {
        let trials = counted(end.judged.of as u64, "short trial", "short trials");
        format!("{}/s was not tested in full, but in {trials} only", rate(end.rate))
    };
    match (lower.is_short, upper.is_short) {
        (false, false) => None,
        (true, false) => Some(end_only_short(lower)),
        (false, true) => Some(end_only_short(upper)),
        (true, true) => Some("neither rate was tested in full, but in short trials only".into()),
    }
}

/// Behind a rate at which all full trials kept the aim, too few to decide.
fn undecided(end: &End) -> String {
    match end.is_short || end.is_decided() {
        true => String::new(),
        false => format!(
            ", as far as {} show",
            counted(end.judged.of as u64, "full trial", "full trials")
        ),
    }
}

/// How far a search has come: `between 1,480 and 1,580/s; about 14 trials left, 3 min`.
#[must_use]
pub fn progress(progress: &Progress) -> String {
    let limit = match progress.left_s < progress.seconds {
        true => format!(", of which the limit leaves {}", seconds(progress.left_s)),
        false => String::new(),
    };
    format!(
        "{}; about {} left, {}{limit}",
        bracket(progress),
        counted(progress.trials as u64, "trial", "trials"),
        seconds(progress.seconds)
    )
}

/// The bracket so far.
#[must_use]
pub fn bracket(progress: &Progress) -> String {
    match (progress.holds, progress.breaks) {
        (None, None) => "nothing is known yet".into(),
        (Some(holds), None) => format!("holds {}/s", rate(holds)),
        (None, Some(breaks)) => format!("does not hold {}/s", rate(breaks)),
        (Some(holds), Some(breaks)) => format!("between {} and {}/s", rate(holds), rate(breaks)),
    }
}

/// What one trial showed.
#[must_use]
pub fn trial(press: &Press, tried: &Tried, of: &Aim) -> String {
    let load = match press.rate {
        None => "closed loop".into(),
        Some(at) => format!("{}/s for {:.0} s", rate(at), press.seconds),
    };
    let what = press.kind.name();
    let says = match &tried.found {
        Found::Closed { per_s } => format!("{} answers/s", rate(*per_s)),
        Found::Unfit(says) => format!("repeated: {says}"),
        Found::Disturbed { noise, .. } => format!("repeated: {}", noise.says()),
        Found::Open(evidence) => {
            let lost = evidence.lost.iter().zip(of.criteria()).map(|(lost, criterion)| {
                let at_least = if evidence.is_cut { "≥ " } else { "" };
                let lost = *lost as f64 / evidence.due.max(1) as f64;
                format!("{at_least}{} {}", share(lost), column(&criterion))
            });
            let word = if evidence.keeps(of) { "kept" } else { "broken" };
            let cut = if evidence.is_cut { ", ended early" } else { "" };
            format!("{word}{cut}: {}", lost.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{what:6} {load}: {says}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_what_the_limit_leaves_where_that_is_less_than_is_needed() {
        let so_far = Progress {
            holds: Some(1_480.0),
            breaks: None,
            trials: 14,
            seconds: 170.0,
            left_s: 200.0,
        };
        assert_eq!(progress(&so_far), "holds 1,480/s; about 14 trials left, 3 min");
        let short = Progress { left_s: 20.0, ..so_far };
        let says = "holds 1,480/s; about 14 trials left, 3 min, of which the limit leaves 20 s";
        assert_eq!(progress(&short), says);
    }
}
