//! The signature plot: what was answered, how long it took and what failed, against what was offered; and what it cost.

use analysis::{Row, Table};
use lab::experiment::Point;
use lab::figure::Figure;

use crate::chart::{About, Ceiling, Column, Curves, Dots, Panel, Room, Series, Spot, Stand, Trust};
use crate::markup::Markup;
use crate::run::words::number;
use crate::written::Written;
use crate::{Findings, references};

/// A workload's signature plot.
pub(crate) fn drawn(
    findings: &Findings<'_>,
    table: &Table,
    id: &str,
    room: Room,
    stand: Stand<'_>,
) -> Markup {
    let about = About { id: id.into(), ..about(findings, table) };
    match table.is_curve() {
        true => curves(findings, table, about).svg(room, stand),
        false => {
            let columns = [
                Shown { way: Some(RATE), ..shown("throughput/s", Figure::Throughput) },
                Shown {
                    thin: Some(Figure::ResponseP50),
                    is_log: true,
                    way: Some(TIME),
                    ..shown("p99 (stroke: p50)", Figure::ResponseP99)
                },
                shown("failed", Figure::FailedShare),
            ];
            let note = note(findings, table);
            Dots { note, ..dots(findings, table, about, &columns) }.svg(room, stand)
        }
    }
}

/// Panels of rates, and panels of times: a switch in the script applies to all charts at once.
const RATE: &str = "rate";
const TIME: &str = "time";

/// What it cost: CPU time, memory and bytes.
pub(crate) fn cost(findings: &Findings<'_>, table: &Table, id: &str, room: Room) -> Markup {
    let about = About {
        id: id.into(),
        title: format!("{}: CPU time, memory and bytes", findings.task(&table.workload)),
        description:
            "The subjects' CPU time, the most memory they held, and the bytes of an answer".into(),
        ..About::default()
    };
    let less = "mean of the rounds; less is better";
    match table.is_curve() {
        true => {
            let figures = [
                ("CPU", "100 % is one CPU", Figure::CpuShare),
                ("CPU for 1,000 answers", less, Figure::CpuPerThousand),
                ("memory held at most", less, Figure::RssPeak),
                ("bytes of an answer", "head and body, on average", Figure::AnswerBytes),
            ];
            let is_there = |figure| table.rows.iter().any(|row| row.estimate(figure).is_some());
            let panels = figures
                .into_iter()
                .filter(|(_, _, figure)| is_there(*figure))
                .map(|(heading, note, figure)| Panel {
                    height: 120.0,
                    ..panel(findings, table, figure, heading, note)
                })
                .collect();
            let (axis, first) = (axis(table), first(findings, table));
            Curves { about, axis, panels, first, ..Curves::default() }.svg(room, Stand::Page)
        }
        false => {
            let columns = [
                ("CPU for 1,000 answers", Figure::CpuPerThousand),
                ("memory held at most", Figure::RssPeak),
                ("bytes of an answer", Figure::AnswerBytes),
            ];
            let columns = columns.map(|(heading, figure)| shown(heading, figure));
            dots(findings, table, about, &columns).svg(room, Stand::Page)
        }
    }
}

fn about(findings: &Findings<'_>, table: &Table) -> About {
    let names: Vec<&str> =
        findings.subjects(table).into_iter().map(|subject| findings.title(subject)).collect();
    About {
        title: format!("{}: {}", findings.run.name, findings.task(&table.workload)),
        description: format!(
            "Correct answers a second, response times and failures of {}. All figures are in the table.",
            names.join(", ")
        ),
        ..About::default()
    }
}

fn curves(findings: &Findings<'_>, table: &Table, about: About) -> Curves {
    let is_offered = table.rows.iter().any(|row| row.estimate(Figure::Offered).is_some());
    let throughput = Panel {
        past: published(findings, table),
        past_peaks: published_peaks(findings, table),
        has_even_line: is_offered,
        ceiling: ceiling(findings, table),
        way: Some(RATE),
        height: 230.0,
        ..panel(findings, table, Figure::Throughput, "throughput/s", &note(findings, table))
    };
    let response = Panel {
        is_log: true,
        way: Some(TIME),
        height: 200.0,
        limit: is_offered.then(|| {
            let p99_ms = table.promise.p99_ms;
            (p99_ms, format!("promise: p99 ≤ {}", number(Figure::ResponseP99, p99_ms)))
        }),
        thin: all(findings, table, Figure::ResponseP50),
        ..panel(findings, table, Figure::ResponseP99, "response time", "p99 with marks, p50 thin")
    };
    let failed = Panel {
        height: 72.0,
        ..panel(findings, table, Figure::FailedShare, "failed", "of the requests that were due")
    };
    Curves {
        about,
        axis: axis(table),
        panels: vec![throughput, response, failed],
        first: first(findings, table),
        ..Curves::default()
    }
}

/// The servers whose names come first where there is no room for all: the best.
fn first(findings: &Findings<'_>, table: &Table) -> Vec<usize> {
    let bests = table.bests().into_iter();
    bests.map(|placed| findings.slot(&placed.row.subject)).collect()
}

/// What a server that does nothing reaches, place by place.
fn ceiling(findings: &Findings<'_>, table: &Table) -> Option<Ceiling> {
    let spot = |row: &&Row| {
        let ceiling = table.ceiling(row.point)?;
        Some(Spot { x: place(findings, row), value: ceiling.value, ..Spot::default() })
    };
    let references = references(table);
    let by = findings.title(&references.first()?.subject).to_string();
    let spots: Vec<Spot> = references.iter().filter_map(spot).collect();
    (!spots.is_empty()).then_some(Ceiling { by, spots })
}

/// What is not a sign of the charts themselves.
fn note(findings: &Findings<'_>, table: &Table) -> String {
    let is_past = |figure: &lab::history::Published| {
        figure.workload == table.workload && figure.figure == Figure::Throughput
    };
    match findings.history.figures.iter().any(is_past) {
        true => format!("dashed: {}, as published", findings.history.label),
        false => String::new(),
    }
}

fn axis(table: &Table) -> String {
    match table.rows.first().map(|row| row.point) {
        Some(Point::Connections(_)) | None => "connections".into(),
        Some(Point::Held(_)) => "held connections".into(),
        Some(Point::Requests(_) | Point::Sessions(_)) => "requests/s offered".into(),
    }
}

fn panel(
    findings: &Findings<'_>,
    table: &Table,
    figure: Figure,
    heading: &str,
    note: &str,
) -> Panel {
    Panel::new(heading, note, figure.unit(), 0.0, all(findings, table, figure))
}

/// A figure of all subjects of a table.
fn all(findings: &Findings<'_>, table: &Table, figure: Figure) -> Vec<Series> {
    let subjects = findings.subjects(table).into_iter();
    subjects
        .map(|subject| {
            let rows = table.rows.iter().filter(|row| row.subject == subject);
            let points = spots(findings, rows, figure);
            Series {
                title: findings.title(subject).into(),
                slot: findings.slot(subject),
                dash: 0,
                points,
            }
        })
        .collect()
}

/// The measured values of these rows, in their order, with the gaps between.
fn spots<'t>(
    findings: &Findings<'_>,
    rows: impl Iterator<Item = &'t Row>,
    figure: Figure,
) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut is_after_gap = false;
    for row in rows {
        let spot = spot(findings, row, figure);
        is_after_gap |= spot.is_none();
        if let Some(spot) = spot {
            spots.push(Spot { is_after_gap, ..spot });
            is_after_gap = false;
        }
    }
    spots
}

fn spot(findings: &Findings<'_>, row: &Row, figure: Figure) -> Option<Spot> {
    let estimate = row.estimate(figure)?;
    let written = Written::estimate(figure.unit(), &estimate);
    Some(Spot {
        x: place(findings, row),
        value: estimate.value,
        interval: estimate.interval(),
        trust: Trust::of_row(row).or_doubtful(estimate.is_bound),
        is_after_gap: false,
        says: format!(
            "{}{} {} at {}",
            written.bounded(),
            written.between(),
            figure.heading(),
            findings.place(row.point)
        ),
    })
}

/// The rate that a schedule offered; without a schedule, the place itself.
fn place(findings: &Findings<'_>, row: &Row) -> f64 {
    let offered = row.estimate(Figure::Offered);
    offered.map_or(findings.shown(row.point).value(), |offered| offered.value)
}

fn published(findings: &Findings<'_>, table: &Table) -> Vec<Series> {
    let calls = findings.calls();
    let of = |subject: &str| {
        let found = findings.history.figures.iter().filter(|figure| {
            figure.subject == subject
                && figure.workload == table.workload
                && figure.figure == Figure::Throughput
        });
        let spot = |figure: &lab::history::Published| {
            Some(Spot { x: figure.point? * calls, value: figure.value, ..Spot::default() })
        };
        let mut points: Vec<Spot> = found.filter_map(spot).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Series { title: String::new(), slot: findings.slot(subject), dash: 0, points }
    };
    findings.subjects(table).into_iter().map(of).collect()
}

fn published_peaks(findings: &Findings<'_>, table: &Table) -> Vec<(usize, f64)> {
    let subjects = findings.subjects(table).into_iter();
    let peak = |subject| {
        let found = findings.history.find(subject, &table.workload, None, Figure::Throughput)?;
        Some((findings.slot(subject), found.value))
    };
    subjects.filter_map(peak).collect()
}

/// The content of a column.
struct Shown<'t> {
    heading: &'t str,
    figure: Figure,
    /// A second, quieter figure beside it.
    thin: Option<Figure>,
    is_log: bool,
    way: Option<&'static str>,
}

fn shown(heading: &str, figure: Figure) -> Shown<'_> {
    Shown { heading, figure, thin: None, is_log: false, way: None }
}

fn dots(findings: &Findings<'_>, table: &Table, about: About, columns: &[Shown<'_>]) -> Dots {
    let bests = table.bests();
    let rows: Vec<&Row> = bests.into_iter().map(|placed| placed.row).collect();
    let title =
        |row: &&Row| (findings.slot(&row.subject), findings.title(&row.subject).to_string());
    let ceiling = ceiling(findings, table);
    let column = |shown: &Shown<'_>| Column {
        heading: shown.heading.into(),
        unit: shown.figure.unit(),
        is_log: shown.is_log,
        is_ratio: false,
        series: all(findings, table, shown.figure),
        thin: shown.thin.map_or(Vec::new(), |thin| all(findings, table, thin)),
        ceiling: ceiling.clone().filter(|_| shown.figure == Figure::Throughput),
        way: shown.way,
    };
    Dots {
        about,
        titles: rows.iter().map(title).collect(),
        columns: columns.iter().map(column).collect(),
        note: String::new(),
    }
}
