//! The tables: for every workload who came to what, with what an article found beside it; and the peaks.

use analysis::{Row, Table, Verdict};
use lab::figure::Figure;

use super::columns::{Column, fitted};
use super::{Told, conformance, trouble, words};
use crate::report::paint::{Ink, Line, bar, wrapped};
use crate::report::table::Cell;

/// The usual columns, and which go first where there is no room.
const USUAL: [(Figure, u8); 11] = [
    (Figure::Offered, 5),
    (Figure::Achieved, 0),
    (Figure::ResponseP50, 1),
    (Figure::ResponseP90, 7),
    (Figure::ResponseP99, 1),
    (Figure::ResponseP999, 8),
    (Figure::ResponseMax, 6),
    (Figure::FailedShare, 2),
    (Figure::CpuPerThousand, 4),
    (Figure::RssPeak, 5),
    (Figure::PssPeak, 9),
];

/// A line of a table: what we found, or what was published.
enum Entry<'t> {
    Ours(&'t Row),
    Theirs(&'t Row),
}

/// One workload's table, its legend, its peaks.
pub(super) fn lines(told: &Told<'_>, table: &Table, width: usize) -> Vec<Line> {
    let mut lines = vec![title(told, table)];
    lines.extend(rows(told, table, width));
    if table.rows.iter().any(|row| 0 < row.measured()) {
        lines.extend(legend(told, table, width));
        lines.extend(trouble::remarks(table, width));
    }
    lines
}

fn title(told: &Told<'_>, table: &Table) -> Line {
    let unit = table.rows.first().map_or(String::new(), |row| match table.is_curve() {
        true => format!("  by {}", row.point.unit()),
        false => format!("  at {}", row.point),
    });
    Line::ink(Ink::Bold, table.workload.clone())
        .and(
            Ink::Plain,
            told.workload_title(&table.workload)
                .map_or(String::new(), |title| format!(": {title}")),
        )
        .and(Ink::Dim, unit)
}

/// All rows. A subject with several places has its name above them, else beside its numbers.
fn rows(told: &Told<'_>, table: &Table, width: usize) -> Vec<Line> {
    let is_curve = table.is_curve();
    let has_more = has_more_published(told, table);
    let mut entries = Vec::new();
    for row in table.rows.iter().filter(|row| 0 < row.measured()) {
        entries.push(Entry::Ours(row));
        if has_more && published(told, table, row).next().is_some() {
            entries.push(Entry::Theirs(row));
        }
    }
    let places =
        table.rows.iter().map(|row| words::place(row.point).chars().count()).max().unwrap_or(0);
    let label = |row: &Row| match is_curve {
        true => format!("  {:>places$}", words::place(row.point)),
        false => format!("{}{}", told.title(&row.subject), beside_name(row)),
    };
    let mut drawn = fitted(columns(told, table, &entries, &label), width).into_iter();
    let heading = drawn.next().filter(|_| !entries.is_empty());
    let mut lines: Vec<Line> = heading.into_iter().collect();
    let mut last = None;
    for row in &table.rows {
        if is_curve && last != Some(&row.subject) {
            let title = Line::ink(Ink::Bold, told.title(&row.subject));
            lines.push(title.and(Ink::Dim, beside_name(row)));
            last = Some(&row.subject);
        }
        match row.measured() {
            0 => lines.push(unmeasured(&label(row), row).cut(width)),
            _ => lines.extend(drawn.next()),
        }
        if has_more && 0 < row.measured() && published(told, table, row).next().is_some() {
            lines.extend(drawn.next());
        }
    }
    lines
}

fn columns(
    told: &Told<'_>,
    table: &Table,
    entries: &[Entry<'_>],
    label: &dyn Fn(&Row) -> String,
) -> Vec<Column> {
    let first = entries.iter().map(|entry| match entry {
        Entry::Ours(row) => Cell::plain(label(row)),
        Entry::Theirs(row) => {
            let width = label(row).chars().count();
            Cell::ink(Ink::Dim, format!("{:>width$}", told.history.label))
        }
    });
    let mut columns =
        vec![Column { heading: Cell::ink(Ink::Dim, ""), drop: 0, cells: first.collect() }];
    for (figure, drop) in wanted(told) {
        let is_there = table.rows.iter().any(|row| row.estimate(figure).is_some());
        if !is_there {
            continue;
        }
        let cells = entries.iter().map(|entry| match entry {
            Entry::Ours(row) => ours(figure, row),
            Entry::Theirs(row) => theirs(told, table, figure, row),
        });
        let heading = Cell::ink(Ink::Dim, figure.heading());
        columns.push(Column { heading, drop, cells: cells.collect() });
        if figure == Figure::Achieved {
            columns.push(conformances(told, entries));
            columns.extend(beside_achieved(told, table, entries));
        }
    }
    let rounds = entries.iter().map(|entry| match entry {
        Entry::Ours(row) if row.measured() < row.planned => {
            Cell::ink(Ink::Doubtful, format!("{}/{}", row.measured(), row.planned))
        }
        Entry::Ours(row) => Cell::ink(Ink::Dim, row.measured().to_string()),
        Entry::Theirs(_) => Cell::plain(""),
    });
    columns.push(Column { heading: Cell::ink(Ink::Dim, "n"), drop: 3, cells: rounds.collect() });
    columns
}

/// The experiment's own columns, or the usual ones.
fn wanted(told: &Told<'_>) -> Vec<(Figure, u8)> {
    let own = told.experiment.as_ref().map(|experiment| experiment.columns.as_slice());
    match own {
        None | Some([]) => USUAL.to_vec(),
        Some(own) => {
            let drop =
                |place: usize, figure| if figure == Figure::Achieved { 0 } else { 1 + place as u8 };
            own.iter().enumerate().map(|(place, &figure)| (figure, drop(place, figure))).collect()
        }
    }
}

/// The rounds' interval, and what was published.
fn beside_achieved(told: &Told<'_>, table: &Table, entries: &[Entry<'_>]) -> Vec<Column> {
    let figure = Figure::Achieved;
    let intervals = entries.iter().map(|entry| match entry {
        Entry::Ours(row) => {
            let estimate = row.estimate(figure);
            Cell::ink(
                Ink::Dim,
                estimate.map_or("–".into(), |estimate| words::interval(figure, &estimate)),
            )
        }
        Entry::Theirs(_) => Cell::plain(""),
    });
    let heading = |text: &str| Cell::ink(Ink::Dim, text);
    let mut columns =
        vec![Column { heading: heading("[95 %]"), drop: 2, cells: intervals.collect() }];
    if !has_interval(table) {
        columns.clear();
    }
    let has_any = table.rows.iter().any(|row| published(told, table, row).next().is_some());
    if has_any && !has_more_published(told, table) {
        let cells = entries.iter().map(|entry| match entry {
            Entry::Ours(row) | Entry::Theirs(row) => theirs(told, table, figure, row),
        });
        columns.push(Column {
            heading: heading(&told.history.label),
            drop: 3,
            cells: cells.collect(),
        });
    }
    columns
}

/// How much of the RFCs each keeps.
fn conformances(told: &Told<'_>, entries: &[Entry<'_>]) -> Column {
    let cells = entries.iter().map(|entry| match entry {
        Entry::Ours(row) => conformance::cell(told, &row.subject),
        Entry::Theirs(_) => Cell::plain(""),
    });
    Column { heading: Cell::ink(Ink::Dim, "conformance"), drop: 1, cells: cells.collect() }
}

/// Whether any row has more rounds than one.
fn has_interval(table: &Table) -> bool {
    table.rows.iter().any(|row| 1 < row.measured())
}

fn ours(figure: Figure, row: &Row) -> Cell {
    let Some(estimate) = row.estimate(figure) else { return Cell::ink(Ink::Dim, "–") };
    let text = words::estimate(figure, &estimate);
    let crashed = if row.has_crashed { conformance::CRASHED } else { "" };
    match figure {
        Figure::Achieved if row.unmet.is_some() => {
            let behind = if row.is_behind() { "↓" } else { "" };
            Cell::ink(Ink::Dim, text + crashed + behind + mark(row))
        }
        Figure::Achieved if row.is_doubtful() || row.is_behind() => {
            let behind = if row.is_behind() { "↓" } else { "" };
            let doubt = if row.is_doubtful() { mark(row) } else { "" };
            Cell::ink(Ink::Doubtful, text + crashed + behind + doubt)
        }
        _ if row.unmet.is_some() => Cell::ink(Ink::Dim, text),
        Figure::Achieved => Cell::ink(Ink::Bold, text + crashed),
        Figure::FailedShare if 0.0 < estimate.value || 0.0 < estimate.max => {
            Cell::ink(Ink::Bad, text)
        }
        _ if !estimate.is_supported => Cell::ink(Ink::Dim, text + "*"),
        _ => Cell::plain(text),
    }
}

/// How a row's verdict is marked.
pub(super) fn mark(row: &Row) -> &'static str {
    match row.verdict() {
        None | Some(Verdict::Valid) => "",
        Some(Verdict::Suspect) => "?",
        Some(Verdict::Invalid) => "!",
    }
}

/// Beside the name of who is no competitor, or not ranked.
pub(super) fn beside_name(row: &Row) -> &'static str {
    match &row.unmet {
        Some(_) => NOT_RANKED,
        None => of_reference(row.is_reference),
    }
}

/// Beside the name of who does not keep what is required.
pub(super) const NOT_RANKED: &str = " (not ranked)";

/// Beside the name of who is no competitor.
pub(super) fn of_reference(is_one: bool) -> &'static str {
    if is_one { " (reference)" } else { "" }
}

fn theirs(told: &Told<'_>, table: &Table, figure: Figure, row: &Row) -> Cell {
    let found = told.history.find(&row.subject, &table.workload, Some(row.point.value()), figure);
    Cell::ink(Ink::Dim, found.map_or(String::new(), |found| words::number(figure, found.value)))
}

fn published<'t>(
    told: &'t Told<'_>,
    table: &'t Table,
    row: &'t Row,
) -> impl Iterator<Item = Figure> + 't {
    let figures = told.history.figures.iter().filter(|published| {
        published.subject == row.subject
            && published.workload == table.workload
            && published.point == Some(row.point.value())
    });
    figures.map(|published| published.figure)
}

/// Whether the article has more than rates: then its figures have lines of their own.
fn has_more_published(told: &Told<'_>, table: &Table) -> bool {
    let more = |row: &Row| published(told, table, row).any(|figure| figure != Figure::Achieved);
    table.rows.iter().any(more)
}

/// A row without a measurement says why.
pub(super) fn unmeasured(label: &str, row: &Row) -> Line {
    let line = Line::plain(format!("{label}  "));
    let ways: Vec<String> = row
        .unmeasured()
        .into_iter()
        .map(|(kind, times)| format!("{} ({times} of {})", words::outcome(kind), row.planned))
        .collect();
    match ways.is_empty() {
        true => line.and(Ink::Dim, "not run yet"),
        false => line.and(Ink::Bad, format!("not measured: {}", ways.join(", "))),
    }
}

/// What the columns and marks mean.
fn legend(told: &Told<'_>, table: &Table, width: usize) -> Vec<Line> {
    let measured = || table.rows.iter().filter(|row| 0 < row.measured());
    let figures = wanted(told);
    let estimates = || {
        let pairs =
            measured().flat_map(|row| figures.iter().map(move |(figure, _)| (row, *figure)));
        pairs.filter_map(|(row, figure)| row.estimate(figure))
    };
    let shown = |figure: Figure| {
        wanted(told).iter().any(|(other, _)| *other == figure)
            && measured().any(|row| row.estimate(figure).is_some())
    };
    let mut parts = vec![
        match has_interval(table) {
            true => "figures: means of n rounds (geometric for rates, times and bytes) [95 % interval by Student's t over the rounds of this run]",
            false => "achieved/s: correct answers a second; one round, so no telling how far rounds lie apart",
        }
        .to_string(),
        "times: response time from when a request was due".into(),
    ];
    for figure in [Figure::CpuPerThousand, Figure::RssPeak, Figure::Received, Figure::AnswerBytes] {
        if shown(figure) {
            parts.push(format!("{}: {}", figure.heading(), figure.meaning()));
        }
    }
    parts.extend(conformance::legend(told));
    if measured().any(|row| published(told, table, row).next().is_some()) {
        parts.push(format!("{}: as published, on another machine", told.history.label));
    }
    for (shown, says) in [("?", "?: in doubt, see below"), ("!", "!: invalid, see below")] {
        if measured().any(|row| mark(row) == shown) {
            parts.push(says.into());
        }
    }
    if measured().any(|row| row.is_reference) {
        parts.push(
            "reference: no competitor, it does next to nothing and shows how far the load and the machine come"
                .into(),
        );
    }
    if measured().any(Row::is_behind) {
        parts.push(
            "↓: it did not keep up with what was offered, or the trial was too short to tell"
                .into(),
        );
    }
    if estimates().any(|estimate| estimate.is_censored) {
        parts.push("≥: requests were given up at the time-out, the truth is no less".into());
    }
    if estimates().any(|estimate| !estimate.is_supported) {
        parts.push("*: fewer than 10 samples lie beyond".into());
    }
    wrapped(&parts.join(" · "), width).into_iter().map(|line| Line::ink(Ink::Dim, line)).collect()
}

/// The most that each subject came to; nothing where nobody was pressed at more than one place.
pub(super) fn peaks(told: &Told<'_>, table: &Table, width: usize) -> Vec<Line> {
    let most = table.peaks.iter().map(|peak| peak.achieved.value).fold(0.0, f64::max);
    if most <= 0.0 {
        return Vec::new();
    }
    let figure = Figure::Achieved;
    let theirs = |subject: &str| told.history.find(subject, &table.workload, None, figure);
    let mut column = Vec::new();
    let mut add = |heading: &str, drop: u8, cell: &dyn Fn(&analysis::Peak) -> Cell| {
        let cells = table.peaks.iter().map(cell).collect();
        column.push(Column { heading: Cell::ink(Ink::Dim, heading), drop, cells });
    };
    add("", 0, &|peak| {
        let beside = if peak.is_unmet { NOT_RANKED } else { of_reference(peak.is_reference) };
        let title = format!("{}{beside}", told.title(&peak.subject));
        Cell::ink(if peak.is_reference || peak.is_unmet { Ink::Dim } else { Ink::Bold }, title)
    });
    add("peak/s", 0, &|peak| {
        let open = if peak.is_open { "≥" } else { "" };
        let text = format!("{open}{}", words::estimate(figure, &peak.achieved));
        match peak.is_doubtful {
            true => Cell::ink(Ink::Doubtful, text + "?"),
            false => Cell::ink(Ink::Bold, text),
        }
    });
    add("[95 %]", 2, &|peak| Cell::ink(Ink::Dim, words::interval(figure, &peak.achieved)));
    add("at", 3, &|peak| Cell::plain(words::place_and_unit(peak.point)));
    if table.peaks.iter().any(|peak| theirs(&peak.subject).is_some()) {
        add(&told.history.label, 1, &|peak| {
            let found = theirs(&peak.subject);
            Cell::ink(
                Ink::Dim,
                found.map_or("–".into(), |found| words::number(figure, found.value)),
            )
        });
    }
    add("", 4, &|peak| Cell::left(Ink::Good, bar(peak.achieved.value / most, 20)));
    let mut lines = vec![
        Line::ink(Ink::Bold, table.workload.clone())
            .and(Ink::Plain, ": the most answers a second of each"),
    ];
    lines.extend(fitted(column, width));
    if table.peaks.iter().any(|peak| peak.is_open) {
        let says = "≥: at the last place, where it still kept up: it may be able to do more";
        lines.extend(wrapped(says, width).into_iter().map(|line| Line::ink(Ink::Dim, line)));
    }
    lines
}
