//! The chart of capacities: between which two rates each server's lies, and what was lost at every rate that was tried.

use analysis::search::{Conclusion, Criterion, End, Place};
use units::rate;

use super::{FinishedSearch, words};
use crate::chart::{About, Bracket, Brackets, Spot, Stand, Trust};
use crate::markup::Markup;

/// Searches for one aim, each on a row; empty without one.
pub(crate) fn drawn(id: &str, searches: &[FinishedSearch<'_>], stand: Stand<'_>) -> Markup {
    let Some(first) = searches.first() else { return Markup::default() };
    let criterion = first.search.aim.criteria()[0];
    let aim = words::aim(&first.search.aim);
    let says: Vec<String> =
        searches.iter().map(|found| format!("{} {}", found.server, words::holds(found))).collect();
    let about = About {
        id: id.into(),
        title: format!("the rate that each server holds with {aim}"),
        description: says.join("; "),
        ..About::default()
    };
    Brackets {
        about,
        rows: searches.iter().map(|found| row(found, &criterion)).collect(),
        ceiling: searches.iter().filter_map(|found| found.ceiling).reduce(f64::max),
        lost: format!("answered after {}, of the requests due", limit(&criterion)),
        allowed_percent: 100.0 * criterion.allowed,
    }
    .svg(stand)
}

fn limit(criterion: &Criterion) -> String {
    words::column(criterion).trim_start_matches("> ").to_string()
}

fn row(found: &FinishedSearch<'_>, criterion: &Criterion) -> Bracket {
    let answer = found.answer;
    let end = |end: &Option<End>| end.as_ref().map(|end| end.rate);
    let is_known =
        !matches!(answer.conclusion, Conclusion::CannotTell { .. } | Conclusion::Collapsed { .. });
    let (lower, upper) = (end(&answer.lower), end(&answer.upper));
    let is_short = [&answer.lower, &answer.upper].into_iter().flatten().any(|end| end.is_short);
    Bracket {
        label: found.server.into(),
        slot: found.slot,
        ends: (is_known && (lower.is_some() || upper.is_some())).then_some((lower, upper)),
        trust: Trust::of(super::verdict(found).word).or_doubtful(is_short),
        says: words::holds(found),
        spots: answer.places.iter().filter_map(|place| spot(place, criterion)).collect(),
    }
}

/// What was lost at a rate; hollow where only short trials were made.
fn spot(place: &Place, criterion: &Criterion) -> Option<Spot> {
    let at = format!("{}/s", rate(place.rate));
    let (judged, trust, kind) = match (&place.judged, &place.short) {
        (Some(judged), _) => (judged, Trust::Full, "trials"),
        (None, Some(judged)) => (judged, Trust::Doubtful, "short trials"),
        (None, None) => return None,
    };
    let pooled = judged.pooled.first()?;
    let early = match judged.ended_early {
        0 => String::new(),
        some => format!("; {some} ended early"),
    };
    let says = format!(
        "{} {}; {} of {} {kind} kept the aim{early}",
        words::lost(pooled),
        words::column(criterion),
        judged.kept,
        judged.of
    );
    Some(Spot {
        x: place.rate,
        value: 100.0 * pooled.loss,
        interval: pooled.interval.map(|(low, high)| (100.0 * low, 100.0 * high)),
        trust,
        is_after_gap: false,
        says: format!("{at}: {says}"),
    })
}
