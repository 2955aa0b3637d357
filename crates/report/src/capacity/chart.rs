//! The chart of capacities: between which two rates each server's lies, and what was lost at every rate that was tried.

use analysis::search::{Conclusion, Criterion, End, Place};
use lab::figure::Unit;
use units::rate;

use super::{FinishedSearch, sentence};
use crate::chart::{
    About, Axis, Ceiling, Column, Lines, Name, Panel, Room, Rows, Series, Spot, Stand, Trust,
    Value, both, rows_over_lines,
};
use crate::markup::Markup;

/// The axis ends so far beyond the last end of a bracket; rates that were tried further up are not drawn.
const BEYOND: f64 = 1.3;
/// The axis goes by factors where capacities lie further apart than this.
const FAR: f64 = 30.0;
/// Less than this share lies on the ground of the panel, percent.
const LEAST_PERCENT: f64 = 0.01;

/// Searches for one aim, each on a row; empty without one.
pub(crate) fn drawn(searches: &[FinishedSearch<'_>], stand: Stand<'_>) -> Markup {
    let Some(first) = searches.first() else { return Markup::default() };
    let criterion = first.of.search.aim.criteria()[0];
    let values: Vec<Value> = searches.iter().map(value).collect();
    let tried = || searches.iter().flat_map(|it| &it.answer.places).map(|place| place.rate);
    let ends = values.iter().filter_map(|value| value.interval);
    let mut ends: Vec<f64> =
        ends.flat_map(|(low, high)| [low, high]).filter(|end| end.is_finite()).collect();
    if ends.is_empty() {
        ends = tried().collect();
    }
    let least = ends.iter().copied().fold(f64::MAX, f64::min);
    let most = ends.iter().copied().fold(0.0, f64::max);
    let is_far = 0.0 < least && least * FAR < most;
    let axis = if is_far { Axis::ByFactors } else { Axis::FromZero };
    let rows = Rows {
        about: about(searches),
        names: searches.iter().map(|it| Name::of(it.slot(), it.server())).collect(),
        note: note(&values, is_far),
        columns: vec![Column {
            includes: if is_far { vec![least, most] } else { vec![most * BEYOND] },
            ceiling: searches
                .iter()
                .filter_map(|it| it.answer.ceiling)
                .reduce(f64::max)
                .map(ceiling),
            ..Column::new("requests/s that are held", axis(Unit::PerSecond), values)
        }],
        bars: "a bar reaches from the rate that is held to the one that is not",
    };
    let series = searches.iter().map(|it| losses(it, &criterion, most * BEYOND));
    let limit = sentence::column(&criterion);
    let limit = limit.trim_start_matches("> ");
    let lost = format!("answered after {limit}, of the requests due");
    let series: Vec<Series> = series.collect();
    let is_short = |spot: &Spot| spot.trust != Trust::Full;
    let hollow = series.iter().flat_map(|series| &series.points).any(is_short);
    let note = if hollow { "hollow: short trials, which decide nothing" } else { "" };
    let panel = Panel {
        is_log: true,
        includes: vec![LEAST_PERCENT, 100.0],
        limit: Some((100.0 * criterion.allowed, "so much may be lost".into())),
        ..Panel::new(lost, note, Unit::Percent, 190.0, series)
    };
    let lines = Lines { axis: "requests/s".into(), panels: vec![panel], ..Lines::default() };
    match stand {
        Stand::Page => both(|room| rows_over_lines(&rows, &lines, room, stand)),
        Stand::Alone { .. } => rows_over_lines(&rows, &lines, Room::Wide, stand),
    }
}

fn about(searches: &[FinishedSearch<'_>]) -> About {
    let aim = searches.first().map_or(String::new(), |it| sentence::aim(&it.of.search.aim));
    let says = searches.iter().map(|it| format!("{} {}", it.server(), sentence::holds(it)));
    About {
        title: format!("the rate that each server holds with {aim}"),
        description: says.collect::<Vec<String>>().join("; "),
    }
}

fn note(values: &[Value], is_far: bool) -> String {
    let is_open = |value: &Value| value.interval.is_some_and(|(_, high)| high.is_infinite());
    let factors = is_far.then_some("the axis goes by factors");
    let arrow = values.iter().any(is_open).then_some("an arrow to the right: that or more");
    factors.into_iter().chain(arrow).collect::<Vec<_>>().join(" · ")
}

/// What the load and the machine reach.
fn ceiling(value: f64) -> Ceiling {
    Ceiling { by: "dyno's own server".into(), spots: vec![Spot { value, ..Spot::default() }] }
}

/// The rate that is held and the one that is not, as an interval; an end that was not found is open.
fn value(found: &FinishedSearch<'_>) -> Value {
    let answer = &found.answer;
    let end = |end: &Option<End>| end.as_ref().map(|end| end.rate);
    let is_known =
        !matches!(answer.conclusion, Conclusion::CannotTell { .. } | Conclusion::Collapsed { .. });
    let (lower, upper) = (end(&answer.lower), end(&answer.upper));
    if !is_known || (lower.is_none() && upper.is_none()) {
        return Value::absent(sentence::holds(found));
    }
    let is_short = [&answer.lower, &answer.upper].into_iter().flatten().any(|end| end.is_short);
    let shown = match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{}–{}", rate(lower), rate(upper)),
        (Some(lower), None) => format!("≥ {}", rate(lower)),
        (None, upper) => format!("< {}", rate(upper.unwrap_or_default())),
    };
    Value {
        interval: Some((lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY))),
        trust: Trust::of(super::verdict(found).word).or_doubtful(is_short),
        shown,
        says: sentence::holds(found),
        ..Value::default()
    }
}

/// What was lost at each rate up to this one.
fn losses(found: &FinishedSearch<'_>, criterion: &Criterion, most: f64) -> Series {
    let places = found.answer.places.iter().filter(|place| place.rate <= most);
    let spots = places.filter_map(|place| spot(place, criterion));
    let named = |spot: Spot| Spot { says: format!("{}: {}", found.server(), spot.says), ..spot };
    Series { slot: found.slot(), points: spots.map(named).collect(), ..Series::default() }
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
        "{} {}; {} of {} {kind} met the limits{early}",
        sentence::lost(pooled),
        sentence::column(criterion),
        judged.kept,
        judged.of
    );
    Some(Spot {
        x: place.rate,
        value: 100.0 * pooled.loss,
        interval: pooled.interval.map(|(low, high)| (100.0 * low, 100.0 * high)),
        trust,
        says: format!("{at}: {says}"),
        ..Spot::default()
    })
}
