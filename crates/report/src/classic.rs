//! The article's plots and peaks drawn again, then and now side by side.

use analysis::{Cell, ThenNow, ThenNowRow};
use lab::figure::{Figure, Unit};
use units::chosen;

use crate::Findings;
use crate::chart::{
    About, Axis, Column, Lines, Panel, Room, Rows, Series, SharedAxis, Spot, Stand, Trust, Value,
    both,
};
use crate::markup::{Markup, markup};
use crate::number_format::Written;
use crate::number_format::in_unit_of;
use crate::render::html::{beside, dim};
use crate::run::then_now::{has_times, times};

/// The article's plots and peaks, with ours beside them.
pub(crate) fn pictures(findings: &Findings<'_>, found: &ThenNow) -> Markup {
    markup!("{}{}", peaks(findings, found), plots(findings, found))
}

/// The peaks that were published, the best of all loads: a row for each server, a column for each figure.
fn peaks(findings: &Findings<'_>, found: &ThenNow) -> Markup {
    let label = &findings.history.label;
    let is_peak = |line: &&ThenNowRow| {
        line.place.is_none() && line.cells.iter().any(|cell| cell.then.is_some())
    };
    let lines: Vec<&ThenNowRow> = found.lines.iter().filter(is_peak).collect();
    let column = |(place, figure): (usize, &Figure)| {
        let value = |line: &&ThenNowRow| peak(findings, line, line.cells[place], *figure);
        let axis = Axis::ByFactors(figure.unit());
        Column::new(figure.heading(), axis, lines.iter().map(value).collect())
    };
    let mut columns: Vec<Column> = found.figures.iter().enumerate().map(column).collect();
    columns.retain(|column| column.values.iter().any(|value| value.second.is_some()));
    if columns.is_empty() {
        return Markup::default();
    }
    let rows = Rows {
        about: About {
            title: format!("{}: {label} and now", findings.task(&found.workload)),
            description: "What was published and what this run found, for each server".into(),
        },
        names: lines.iter().map(|line| findings.name(&line.subject)).collect(),
        columns,
        note: format!("the best of all loads · stroke: {label}, as published · mark: now"),
        ..Rows::default()
    };
    both(|room| rows.svg(room, Stand::Page))
}

/// Without a published figure there is nothing to set beside ours.
fn peak(findings: &Findings<'_>, line: &ThenNowRow, cell: Cell, figure: Figure) -> Value {
    let Some(then) = cell.then else { return Value::default() };
    let second = Some((then, format!("{}: {}", findings.history.label, in_unit_of(figure, then))));
    let Some(now) = cell.now else {
        return Value { second, ..Value::absent("not measured now") };
    };
    let mut rows = findings.board.tables.iter().flat_map(|table| &table.rows);
    let row = rows.find(|row| row.subject == line.subject && Some(row.point) == line.at);
    let written = Written::estimate(figure.unit(), &now).bounded();
    Value {
        value: Some(now.value),
        second,
        is_joined: true,
        trust: row.map(Trust::of_row).unwrap_or_default(),
        shown: times(&cell),
        says: format!("now: {written}"),
        ..Value::default()
    }
}

/// The article's plot and ours beside it, over one axis of places: each of its figures with a curve.
fn plots(findings: &Findings<'_>, found: &ThenNow) -> Option<Markup> {
    let label = &findings.history.label;
    let mut charts = Markup::default();
    for (place, &figure) in found.figures.iter().enumerate() {
        let then = series(findings, found, place, &|cell| {
            cell.then.map(|then| (then, in_unit_of(figure, then)))
        });
        let now = series(findings, found, place, &|cell| {
            let now = cell.now?;
            Some((now.value, Written::estimate(figure.unit(), &now).bounded()))
        });
        let is_curve = then.iter().any(|series| 1 < series.points.len());
        let values = |all: &[Series]| -> Vec<f64> {
            all.iter().flat_map(|series| series.points.iter().map(|spot| spot.value)).collect()
        };
        let (before, after) = (values(&then), values(&now));
        let is_any = |values: &[f64]| values.iter().any(|value| 0.0 < *value);
        // A line that is zero everywhere is no picture.
        if !is_curve || !has_times(figure) || !is_any(&before) || !is_any(&after) {
            continue;
        }
        // A value that was rounded to zero has no place on an axis by factors.
        let is_log = figure.unit() == Unit::Milliseconds
            && before.iter().chain(&after).all(|value| 0.0 < *value);
        let places: Vec<f64> = then
            .iter()
            .chain(&now)
            .flat_map(|series| series.points.iter().map(|spot| spot.x))
            .collect();
        for (when, series) in [(label.as_str(), then), ("now", now)] {
            let panel = Panel {
                is_log,
                ..Panel::new(
                    format!("{} · {when}", figure.heading()),
                    format!("against {}", axis(findings, found)),
                    figure.unit(),
                    154.0,
                    series,
                )
            };
            let plot = Lines {
                about: About {
                    title: format!(
                        "{}: {}, {when}",
                        findings.task(&found.workload),
                        figure.heading()
                    ),
                    description: figure.meaning().into(),
                },
                across: SharedAxis::Counts(places.clone()),
                panels: vec![panel],
                ..Lines::default()
            };
            charts.push(&plot.svg(Room::Small(400.0), Stand::Page));
        }
    }
    let note = "Each panel has the height that its own figures need; the large picture above has both on one axis.";
    beside("charts pairs", &charts).map(|charts| markup!("{}{}", dim(note), charts))
}

pub(crate) fn axis(findings: &Findings<'_>, found: &ThenNow) -> &'static str {
    let point = found.lines.iter().find_map(|line| line.at);
    point.map_or("the axis", |point| findings.shown(point).unit())
}

fn series(
    findings: &Findings<'_>,
    found: &ThenNow,
    place: usize,
    of: &dyn Fn(&Cell) -> Option<(f64, String)>,
) -> Vec<Series> {
    let subjects = found.lines.chunk_by(|one, other| one.subject == other.subject);
    let spot = |line: &ThenNowRow| {
        let (value, written) = of(&line.cells[place])?;
        let x = line.place? * findings.calls();
        Some(Spot { x, value, says: format!("{written} at {}", chosen(x)), ..Spot::default() })
    };
    let series = subjects.map(|lines| {
        let subject = lines.first().map_or("", |line| line.subject.as_str());
        Series {
            title: findings.title(subject).into(),
            slot: findings.slot(subject),
            points: lines.iter().filter_map(spot).collect(),
            ..Series::default()
        }
    });
    series.filter(|series| !series.points.is_empty()).collect()
}
