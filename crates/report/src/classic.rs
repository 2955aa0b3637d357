//! The article's plots and peaks drawn again, then and now side by side.

use analysis::{Cell, ThenNow, ThenNowRow};
use lab::figure::{Figure, Unit};
use units::chosen;

use crate::Findings;
use crate::chart::{About, Dumbbell, Dumbbells, Plot, Series, Spot, Trust};
use crate::markup::{Markup, markup};
use crate::render::html::{beside, dim};
use crate::run::then_now::{has_times, times};
use crate::run::words::number;
use crate::written::Written;

/// The article's plots and peaks, with ours beside them.
pub(crate) fn pictures(findings: &Findings<'_>, found: &ThenNow) -> Markup {
    markup!("{}{}", peaks(findings, found), plots(findings, found))
}

/// The peaks that were published: the best of all places.
fn peaks(findings: &Findings<'_>, found: &ThenNow) -> Markup {
    let of_figure = |(place, &figure): (usize, &Figure)| {
        let is_peak = |line: &&ThenNowRow| line.place.is_none() && line.cells[place].then.is_some();
        let rows: Vec<Dumbbell> = found
            .lines
            .iter()
            .filter(is_peak)
            .map(|line| dumbbell(findings, line, line.cells[place], figure))
            .collect();
        if rows.is_empty() {
            return Markup::default();
        }
        let label = &findings.history.label;
        let chart = Dumbbells {
            about: About {
                title: format!(
                    "{}: {}, {label} and now",
                    findings.task(&found.workload),
                    figure.heading()
                ),
                description: "What was published and what this run found, for each server".into(),
                heading: format!("the best of all places: {}", figure.heading()),
                note: format!("stroke: {label}, as published · mark: now"),
                ..About::default()
            },
            rows,
        };
        chart.svg(figure.unit(), false)
    };
    found.figures.iter().enumerate().map(of_figure).collect()
}

fn dumbbell(findings: &Findings<'_>, line: &ThenNowRow, cell: Cell, figure: Figure) -> Dumbbell {
    let title = findings.title(&line.subject);
    let mut rows = findings.board.tables.iter().flat_map(|table| &table.rows);
    let row = rows.find(|row| row.subject == line.subject && Some(row.point) == line.at);
    Dumbbell {
        slot: findings.slot(&line.subject),
        title: title.into(),
        then: cell.then.map(|then| {
            let label = &findings.history.label;
            (then, format!("{title}, {label}: {}", number(figure, then)))
        }),
        now: cell.now.map(|now| {
            let written = Written::estimate(figure.unit(), &now).bounded();
            (now.value, format!("{title}, now: {written}"))
        }),
        trust: row.map(Trust::of_row).unwrap_or_default(),
        times: times(&cell),
    }
}

/// The article's plot and ours beside it, over one axis of places: each of its figures with a curve.
fn plots(findings: &Findings<'_>, found: &ThenNow) -> Option<Markup> {
    let label = &findings.history.label;
    let mut charts = Markup::default();
    for (place, &figure) in found.figures.iter().enumerate() {
        let then = series(findings, found, place, &|cell| {
            cell.then.map(|then| (then, number(figure, then)))
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
            let plot = Plot {
                about: About {
                    title: format!(
                        "{}: {}, {when}",
                        findings.task(&found.workload),
                        figure.heading()
                    ),
                    description: figure.meaning().into(),
                    heading: format!("{} · {when}", figure.heading()),
                    note: format!("against {}", axis(findings, found)),
                    ..About::default()
                },
                unit: figure.unit(),
                is_log,
                places: places.clone(),
                class: "line",
                series,
            };
            charts.push(&plot.svg(false));
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
    let one = |lines: &[ThenNowRow]| {
        let subject = lines.first().map_or("", |line| line.subject.as_str());
        let spot = |line: &ThenNowRow| {
            let (value, written) = of(&line.cells[place])?;
            let x = line.place? * findings.calls();
            let says = format!("{written} at {}", chosen(x));
            Some(Spot { x, value, says, ..Spot::default() })
        };
        Series {
            title: findings.title(subject).into(),
            slot: findings.slot(subject),
            dash: 0,
            points: lines.iter().filter_map(spot).collect(),
        }
    };
    subjects.map(one).filter(|series| !series.points.is_empty()).collect()
}
