//! What a search says in sentences.

use std::time::Duration;

use analysis::search::{
    Aim, Conclusion, Criterion, End, Found, Limit, Pooled, Press, Progress, Tried,
};
use units::{chosen, counted, duration, nanos, rate};

use super::{FinishedSearch, trials_of};

/// `p99 ≤ 10 ms and at most 1 % failed`
#[must_use]
pub fn aim(aim: &Aim) -> String {
    let mut all: Vec<String> = aim.limits.iter().map(limit).collect();
    all.push(match aim.failures {
        0.0 => "no failures".into(),
        share => format!("at most {} failed", whole(share)),
    });
    let last = all.pop().unwrap_or_default();
    format!("{} and {last}", all.join(", "))
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

/// The same without its unit.
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

/// The answer in a few sentences.
pub(crate) fn answer(found: &FinishedSearch<'_>) -> Vec<String> {
    let answer = found.answer;
    let arrivals = if found.is_poisson { "Poisson arrivals" } else { "evenly spaced arrivals" };
    let aim = aim(&found.search.aim);
    let (lower, upper) = (answer.lower.as_ref(), answer.upper.as_ref());
    let first = match (&answer.conclusion, lower, upper) {
        (Conclusion::CannotTell { says, in_a_row }, ..) => {
            format!("Cannot tell: {says}, {in_a_row} trials in a row{}.", known(lower, upper))
        }
        (Conclusion::Collapsed { kept }, ..) => format!(
            "Cannot tell: it kept {}/s at first, and later neither that nor any lower rate: it did not recover from what \
             it was given in between.",
            rate(*kept)
        ),
        (Conclusion::NotMet, _, Some(upper)) => {
            let is = upper.percentile.map_or(String::new(), |is| {
                let percent = found.search.aim.limits[0].percent;
                let least = if is.is_bound { "at least " } else { "" };
                format!(": p{percent} is {least}{}", nanos(is.value))
            });
            format!("It does not hold even {}/s with {aim}{is}.", rate(upper.rate))
        }
        (Conclusion::AtLeast, Some(lower), _) => format!(
            "It holds at least {}/s with {aim}, {}, {arrivals}; more was not tried{}.",
            rate(lower.rate),
            trials_of(found, lower.judged.of),
            found.ceiling.filter(|ceiling| answer.is_capped_by(*ceiling)).map_or(
                String::new(),
                |ceiling| format!(
                    ", because dyno's own server gives {} answers/s here",
                    rate(ceiling)
                )
            )
        ),
        (_, Some(lower), None) if !lower.is_short => format!(
            "It holds at least {}/s with {aim}, {}, {arrivals}{}; no rate that it does not hold was found{}.",
            rate(lower.rate),
            trials_of(found, lower.judged.of),
            undecided(lower),
            wider(&answer.conclusion)
        ),
        (_, Some(lower), Some(upper)) => format!(
            "It holds {}/s and not {}/s with {aim}{}, {arrivals}{}{}{}.",
            rate(lower.rate),
            rate(upper.rate),
            processes(found, lower, upper),
            undecided(lower),
            untested(lower, upper).map_or(String::new(), |says| format!("; {says}")),
            wider(&answer.conclusion)
        ),
        (_, lower, upper) => {
            format!("Cannot tell{}{}.", known(lower, upper), wider(&answer.conclusion))
        }
    };
    let mut all = vec![first];
    let keeps = lower.filter(|end| found.search.is_fresh && end.is_decided()).map(|end| {
        let (kept, of) = (end.judged.kept, end.judged.of);
        format!(
            "At {}/s {kept} of {of} processes kept it, and it answered {}/s.",
            rate(end.rate),
            rate(end.answered_per_s)
        )
    });
    all.extend(
        keeps.filter(|_| matches!(answer.conclusion, Conclusion::Found | Conclusion::AtLeast)),
    );
    let is_cut_short = match answer.conclusion {
        Conclusion::OutOfTime { .. }
        | Conclusion::Unfinished { .. }
        | Conclusion::Wider
        | Conclusion::CannotTell { .. } => true,
        Conclusion::Found
        | Conclusion::AtLeast
        | Conclusion::NotMet
        | Conclusion::Collapsed { .. } => false,
    };
    all.extend(noise(found).filter(|_| is_cut_short));
    all
}

/// Which trials were repeated, and why: `7 of 24 trials were repeated: dyno itself was late (5), other programs used up to
/// 1.2 CPUs (2).`
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
    (0 < times).then(|| {
        format!("{times} of {of} {was} repeated, and {was} no evidence: {}.", kinds.join(", "))
    })
}

/// Where nothing is known.
const UNKNOWN: &str = "has no known capacity";

/// What a server holds, in a few words, beside others: `holds 1,520/s and not 1,580/s`.
pub(crate) fn holds(found: &FinishedSearch<'_>) -> String {
    let answer = found.answer;
    let (lower, upper) = (answer.lower.as_ref(), answer.upper.as_ref());
    let shown = |end: &End| format!("{}/s", rate(end.rate));
    let short = |end: &End| if end.is_short { ", as far as short trials show" } else { "" };
    match (&answer.conclusion, lower, upper) {
        (Conclusion::CannotTell { .. } | Conclusion::Collapsed { .. }, ..) | (_, None, None) => {
            UNKNOWN.into()
        }
        (Conclusion::AtLeast, Some(lower), _) => format!("holds at least {}", shown(lower)),
        (Conclusion::NotMet, _, Some(upper)) => format!("does not hold even {}", shown(upper)),
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

/// How many full trials the ends rest on, behind a comma.
fn processes(found: &FinishedSearch<'_>, lower: &End, upper: &End) -> String {
    let (low, high) = (lower.judged.of, upper.judged.of);
    let at = |end: &End| format!(", {} at {}/s", trials_of(found, end.judged.of), rate(end.rate));
    match (lower.is_short, upper.is_short) {
        (true, true) => String::new(),
        (false, true) => at(lower),
        (true, false) => at(upper),
        (false, false) if low == high => format!(", {} each", trials_of(found, low)),
        (false, false) => format!(", {low} and {}", trials_of(found, high)),
    }
}

/// The ends that only short trials know.
fn untested(lower: &End, upper: &End) -> Option<String> {
    let one = |end: &End| {
        let trials = counted(end.judged.of as u64, "short trial", "short trials");
        format!("{}/s was not tested in full, but in {trials} only", rate(end.rate))
    };
    match (lower.is_short, upper.is_short) {
        (false, false) => None,
        (true, false) => Some(one(lower)),
        (false, true) => Some(one(upper)),
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

fn wider(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::OutOfTime { needed_s } => format!(
            "; this is wider than asked for, because the limit of time came first: about {} more would be needed",
            seconds(*needed_s)
        ),
        Conclusion::Unfinished { needed_s } => {
            format!("; the search is not over: about {} more are needed", seconds(*needed_s))
        }
        Conclusion::Wider => {
            "; this is wider than asked for, because a rate in between stayed undecided".into()
        }
        _ => String::new(),
    }
}

/// What is known where there is no bracket.
fn known(lower: Option<&End>, upper: Option<&End>) -> String {
    match (lower, upper) {
        (None, None) => String::new(),
        (Some(lower), None) => format!("; it holds {}/s", rate(lower.rate)),
        (None, Some(upper)) => format!("; it does not hold {}/s", rate(upper.rate)),
        (Some(lower), Some(upper)) => {
            format!("; it holds {}/s and not {}/s", rate(lower.rate), rate(upper.rate))
        }
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
