//! The signature plot: what was answered, how long it took and what failed, against what was offered.

use analysis::{Row, Table};
use lab::experiment::Point;
use lab::figure::Figure;

use crate::chart::{
    About, Axis, Ceiling, Column, Lines, Panel, Room, Rows, Series, Spot, Stand, Trust, Value,
};
use crate::markup::Markup;
use crate::number_format::Written;
use crate::number_format::in_unit_of;
use crate::{Findings, references};

/// A workload's signature plot.
pub(crate) fn drawn(
    findings: &Findings<'_>,
    table: &Table,
    room: Room,
    stand: Stand<'_>,
) -> Markup {
    let about = about(findings, table);
    match table.is_curve() {
        true => curves(findings, table, about).svg(room, stand),
        false => {
            let rows = bests(table);
            let throughput = Column {
                ceiling: ceiling(findings, table),
                way: Some(RATE),
                ..column(findings, &rows, "throughput/s", Figure::Throughput)
            };
            let mut response = Column {
                way: Some(TIME),
                axis: Axis::ByFactors(Figure::ResponseP99.unit()),
                ..column(findings, &rows, "p99 (stroke: p50)", Figure::ResponseP99)
            };
            for (value, row) in response.values.iter_mut().zip(&rows) {
                let p50 = spot(findings, row, Figure::ResponseP50);
                value.second = p50.map(|p50| (p50.value, p50.says));
            }
            let failed = column(findings, &rows, "failed", Figure::FailedShare);
            let cpu = || column(findings, &rows, CPU, Figure::CpuPerThousand);
            let columns = match table.by_cpu {
                true => vec![cpu(), throughput, response, failed],
                false => vec![throughput, response, failed],
            };
            let dots = dots(findings, &rows, about, columns);
            Rows { note: shared(table).into(), ..dots }.svg(room, stand)
        }
    }
}

/// What the CPU time of an answer is called.
const CPU: &str = "CPU for 1,000 answers";

/// Panels of rates, and panels of times: a switch in the script applies to all charts at once.
const RATE: &str = "rate";
const TIME: &str = "time";

/// What it cost: CPU time, memory and bytes.
pub(crate) fn cost(findings: &Findings<'_>, table: &Table, room: Room) -> Markup {
    let about = About {
        title: format!("{}: CPU time, memory and bytes", findings.task(&table.workload)),
        description: "The servers' CPU time, the most memory they held, and the bytes of an answer"
            .into(),
    };
    let less = "mean of the rounds; less is better";
    match table.is_curve() {
        true => {
            let figures = [
                ("CPU", "100 % is one CPU", Figure::CpuShare),
                (CPU, less, Figure::CpuPerThousand),
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
            Lines { about, axis, panels, first, ..Lines::default() }.svg(room, Stand::Page)
        }
        false => {
            let columns = [
                (CPU, Figure::CpuPerThousand),
                ("memory held at most", Figure::RssPeak),
                ("bytes of an answer", Figure::AnswerBytes),
            ];
            let rows = bests(table);
            let columns = columns.map(|(heading, figure)| column(findings, &rows, heading, figure));
            dots(findings, &rows, about, columns.into()).svg(room, Stand::Page)
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
    }
}

fn curves(findings: &Findings<'_>, table: &Table, about: About) -> Lines {
    let is_offered = table.rows.iter().any(|row| row.estimate(Figure::Offered).is_some());
    let throughput = Panel {
        has_even_line: is_offered,
        ceiling: ceiling(findings, table),
        way: Some(RATE),
        height: 230.0,
        ..panel(findings, table, Figure::Throughput, "throughput/s", shared(table))
    };
    let mut response = Panel {
        is_log: true,
        way: Some(TIME),
        height: 200.0,
        limit: is_offered.then(|| {
            let p99_ms = table.promise.p99_ms();
            (p99_ms, format!("limit: p99 ≤ {}", in_unit_of(Figure::ResponseP99, p99_ms)))
        }),
        ..panel(findings, table, Figure::ResponseP99, "response time", "p99 with marks, p50 thin")
    };
    let medians = all(findings, table, Figure::ResponseP50).into_iter();
    response.series.splice(0..0, medians.map(|series| series.lined("thin")));
    let failed = Panel {
        height: 72.0,
        ..panel(findings, table, Figure::FailedShare, "failed", "of the requests that were due")
    };
    let leads = table.by_cpu.then(|| Panel {
        height: 200.0,
        ..panel(findings, table, Figure::CpuPerThousand, CPU, "mean of the rounds; less is better")
    });
    Lines {
        about,
        axis: axis(table),
        panels: leads.into_iter().chain([throughput, response, failed]).collect(),
        first: first(findings, table),
        ..Lines::default()
    }
}

/// The servers whose names come first where there is no room for all: the best.
fn first(findings: &Findings<'_>, table: &Table) -> Vec<usize> {
    let bests = table.bests().into_iter();
    bests.map(|placed| findings.slot(&placed.row.subject)).collect()
}

/// What a server that does nothing reaches, place by place; or else the service with no server.
fn ceiling(findings: &Findings<'_>, table: &Table) -> Option<Ceiling> {
    let spot = |row: &&Row| {
        let ceiling = table.ceiling(row.point)?;
        Some(Spot { x: place(findings, row), value: ceiling.value, ..Spot::default() })
    };
    let references = references(table);
    if references.is_empty() {
        return of_service(findings, table);
    }
    let by = findings.title(&references.first()?.subject).to_string();
    let spots: Vec<Spot> = references.iter().filter_map(spot).collect();
    (!spots.is_empty()).then_some(Ceiling { by, spots })
}

fn of_service(findings: &Findings<'_>, table: &Table) -> Option<Ceiling> {
    let known = table.service_ceilings.iter();
    let known = known.filter_map(|(point, found)| Some((*point, found.as_ref().ok()?)));
    let mut by = None;
    let mut spots = Vec::new();
    for (point, found) in known {
        by.get_or_insert_with(|| format!("the database alone ({})", found.by));
        let x = findings.shown(point).value();
        spots.push(Spot { x, value: found.answers_per_s, ..Spot::default() });
    }
    Some(Ceiling { by: by?, spots })
}

/// Whose throughput it is, if it is not the server's alone.
fn shared(table: &Table) -> &'static str {
    if table.shares_cpu { "throughput: server and database on one CPU" } else { "" }
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
                points,
                ..Series::default()
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
        says: format!(
            "{}{} {} at {}",
            written.bounded(),
            written.between(),
            figure.heading(),
            findings.place(row.point)
        ),
        ..Spot::default()
    })
}

/// The rate that a schedule offered; without a schedule, the place itself.
fn place(findings: &Findings<'_>, row: &Row) -> f64 {
    let offered = row.estimate(Figure::Offered);
    offered.map_or(findings.shown(row.point).value(), |offered| offered.value)
}

/// The rows of a chart of one place, from the best.
fn bests(table: &Table) -> Vec<&Row> {
    table.bests().into_iter().map(|placed| placed.row).collect()
}

fn column(findings: &Findings<'_>, rows: &[&Row], heading: &str, figure: Figure) -> Column {
    Column::new(heading, Axis::FromZero(figure.unit()), values(findings, rows, figure))
}

fn values(findings: &Findings<'_>, rows: &[&Row], figure: Figure) -> Vec<Value> {
    let values = rows.iter().map(|row| {
        let Some(spot) = spot(findings, row, figure) else { return Value::absent("not measured") };
        Value {
            value: Some(spot.value),
            interval: spot.interval,
            trust: spot.trust,
            shown: spot.says.split(' ').next().unwrap_or_default().into(),
            says: spot.says,
            ..Value::default()
        }
    });
    values.collect()
}

fn dots(findings: &Findings<'_>, rows: &[&Row], about: About, columns: Vec<Column>) -> Rows {
    let names = rows.iter().map(|row| findings.name(&row.subject)).collect();
    Rows { about, names, columns, bars: "bars: 95 %", ..Rows::default() }
}
