//! A histogram with its cumulative curve for each place, over one axis of time.

use analysis::{Detail, Number, Spread};
use lab::experiment::Point;
use lab::figure::{Figure, Unit};

use crate::Findings;
use crate::chart::{About, Form, Lines, Panel, Room, Series, SharedAxis, Spot, Stand, Trust};
use crate::markup::{Markup, markup};
use crate::number_format::in_unit_of;
use crate::number_format::marks;
use crate::render::html::{beside, dim};

/// The column of what was given up ends at so many times the time-out.
const GIVEN_UP: f64 = 1.3;

/// Up to this many places, each has the room of a large chart.
const FEW: usize = 3;

pub(super) fn histograms(findings: &Findings<'_>, detail: &Detail, slot: usize) -> Markup {
    let is_few = detail.places.len() <= FEW;
    let width = if is_few { 400.0 } else { 200.0 };
    let times: Vec<f64> = detail.places.iter().flat_map(|(_, spread)| times(spread)).collect();
    let chart = |(point, spread): &(Point, Spread)| {
        histogram(findings, detail, *point, spread, &times, slot)
            .svg(Room::Small(width), Stand::Page)
    };
    let charts: Markup = detail.places.iter().map(chart).collect();
    if charts.is_empty() {
        return dim("No round was measured, so there is no distribution of its answers.");
    }
    let is_single = detail.closeups.iter().all(|close| close.rounds <= 1);
    let (heading, together) = match (findings.is_load(), is_single) {
        (true, true) => ("Distribution", ""),
        (true, false) => ("Distribution", ", all loads together"),
        (false, _) => ("Distribution under each load", ", all measured rounds together"),
    };
    let legend = format!(
        "How long answers took{together}. Bars: how many took so long, by the tallest; line: the share that was answered \
         by then, with p50 and p99 as marks (hollow: fewer than 10 samples lie beyond). A dashed bar is what was given up \
         at the time-out."
    );
    markup!(
        "<h4>{}</h4>\n{}{}",
        heading,
        dim(&legend),
        beside(if is_few { "charts" } else { "charts many" }, &charts)
    )
}

fn times(spread: &Spread) -> Vec<f64> {
    let bins = spread.bins.first().into_iter().chain(spread.bins.last());
    // What was given up has room beyond the time-out.
    let limit = (0 < spread.censored).then_some(spread.limit_ms * GIVEN_UP);
    bins.flat_map(|bin| [bin.from_ms, bin.until_ms]).chain(limit).collect()
}

fn histogram(
    findings: &Findings<'_>,
    detail: &Detail,
    point: Point,
    spread: &Spread,
    times: &[f64],
    slot: usize,
) -> Lines {
    let named = [
        ("p50", 0.5, Figure::ResponseP50, spread.p50),
        ("p99", 0.99, Figure::ResponseP99, spread.p99),
    ];
    let mut marks: Vec<Spot> = Vec::new();
    for (name, share, figure, number) in named {
        let Some(number) = number else { continue };
        let is_doubtful = !number.is_supported || number.is_bound;
        marks.push(Spot {
            x: number.value,
            value: 100.0 * share,
            trust: Trust::Full.or_doubtful(is_doubtful),
            says: format!("{name} {}", value(figure, number)),
            ..Spot::default()
        });
    }
    let mut notes: Vec<String> = marks.iter().map(|mark| mark.says.clone()).collect();
    if 0 < spread.censored {
        notes.push(format!("{} given up", in_unit_of(Figure::Failed, spread.censored as f64)));
    }
    let note = notes.join(" · ");
    let mut series = distribution(spread);
    series.push((Form::Marks(""), marks));
    let series =
        series.into_iter().map(|(form, points)| Series { slot, form, points, ..Series::default() });
    let panel = Panel::new(findings.place(point), &note, Unit::Percent, 80.0, series.collect());
    Lines {
        about: About {
            title: format!(
                "{}, {}, {}",
                findings.title(&detail.subject),
                findings.task(&detail.workload),
                findings.place(point)
            ),
            description: format!("Distribution of the response time: {note}"),
        },
        across: SharedAxis::Times(times.to_vec()),
        panels: vec![Panel { includes: vec![100.0], ..panel }],
        slot: Some(slot),
        ..Lines::default()
    }
}

/// Columns, in percent of the tallest; and the percentage that was answered by then, as a line.
fn distribution(spread: &Spread) -> Vec<(Form, Vec<Spot>)> {
    let answered = spread.bins.last().map_or(0.0, |bin| bin.upto);
    let given_up = if 0 < spread.censored { 1.0 - answered } else { 0.0 };
    let shares = spread.bins.iter().map(|bin| bin.share);
    let tallest = shares.fold(given_up, f64::max).max(f64::MIN_POSITIVE);
    let column = |from: f64, until: f64, share: f64| {
        let (x, width) = (f64::midpoint(from, until), until - from);
        Spot { x, width, value: 100.0 * share / tallest, ..Spot::default() }
    };
    let columns = spread.bins.iter().map(|bin| column(bin.from_ms, bin.until_ms, bin.share));
    let beyond = column(spread.limit_ms, spread.limit_ms * GIVEN_UP, given_up);
    let place = |x: f64, share: f64| Spot { x, value: 100.0 * share, ..Spot::default() };
    let first = spread.bins.first().map(|bin| place(bin.from_ms, 0.0));
    let mut curve: Vec<Spot> = first.into_iter().collect();
    let mut upto = 0.0;
    for bin in &spread.bins {
        // Between two columns nothing was answered: the curve stays where it is.
        curve.extend([place(bin.from_ms, upto), place(bin.until_ms, bin.upto)]);
        upto = bin.upto;
    }
    let last = spread.bins.last().map(|bin| place(bin.until_ms, bin.upto));
    let rest = last.into_iter().chain([place(f64::MAX, answered)]).collect();
    vec![
        (Form::Columns("fill"), columns.collect()),
        (Form::Columns("given"), vec![beyond]),
        (Form::Line("trace"), curve),
        (Form::Line("lead"), rest),
    ]
}

/// A time with its marks.
pub(super) fn value(figure: Figure, found: Number) -> String {
    marks(found.is_bound, found.is_supported).around(&in_unit_of(figure, found.value))
}
