//! The table that can stand alone: each subject at its best, or all of them at one place, or everything.

use analysis::{Placed, Row, Table, Verdict};
use lab::experiment::Point;
use lab::figure::Figure;

use super::badge;
use super::part::paragraph;
use crate::chart::marks::key;
use crate::markup::escaped;
use crate::{Findings, conformance, references};

/// Figures in the order of their columns.
const FIGURES: [Figure; 11] = [
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::ResponseP999,
    Figure::ResponseMax,
    Figure::ResponseSd,
    Figure::FailedShare,
    Figure::CpuPerThousand,
    Figure::RssPeak,
    Figure::PssPeak,
    Figure::StartUp,
];

/// A row as it stands in one of the table's bodies.
struct Entry<'t> {
    placed: Placed<'t>,
    is_best: bool,
}

/// One column: its name for links, its heading, what that means, and a cell.
struct Column<'t> {
    key: &'static str,
    heading: String,
    meaning: String,
    cell: Box<dyn Fn(&Entry<'_>) -> Cell + 't>,
}

#[derive(Default)]
struct Cell {
    says: String,
    /// What it is sorted by; without one, by its text.
    value: Option<f64>,
    /// Of a class of its own; no text of a stranger.
    class: &'static str,
    /// Markup before the text.
    before: String,
}

/// The whole table with what belongs to it. `place` is its number in the page.
pub(super) fn results(findings: &Findings<'_>, table: &Table, place: usize) -> String {
    let columns = columns(findings, table);
    let points = table.points();
    let mut bodies = String::new();
    if 1 < points.len() {
        bodies.push_str(&body(findings, "at-best", &entries(table.bests(), true), &columns));
    }
    for (n, &point) in points.iter().enumerate() {
        let mut entries = entries(table.at(point), points.len() == 1);
        let reference = references(table).into_iter().filter(|row| row.point == point);
        let unranked = |row| Entry { placed: Placed { row, rank: None }, is_best: false };
        entries.extend(reference.map(unranked));
        bodies.push_str(&body(findings, &format!("at-{n}"), &entries, &columns));
    }
    let heads: String = columns.iter().map(head).collect();
    format!(
        "<div class=\"results\" data-table=\"{place}\">\n<div class=\"tools\">{}</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"results\">\
         <table>\n<caption>{}</caption>\n<thead><tr>{heads}</tr></thead>\n{bodies}</table></div>\n{}</div>\n",
        choice(findings, &points, place),
        escaped(&caption(findings, table, &points)),
        paragraph("dim", LEGEND)
    )
}

const LEGEND: &str = "A bracket holds those whose order this data cannot settle. ? in doubt, ! invalid, see below · ↓ it did not keep up \
     with what was offered, or the trial was too short to tell · ≥ requests were given up at the time-out, or it may be able to do \
     more: the truth is no less · * fewer than 10 samples lie beyond · figures are the \
     means of the rounds, geometric for rates, times and bytes · † it was gone after a case of its conformance check · a server that is not ranked gave wrong answers, \
     does not meet what the experiment requires, or has invalid figures";

fn caption(findings: &Findings<'_>, table: &Table, points: &[Point]) -> String {
    match points {
        [only] => format!("{} at {}", table.workload, findings.place(*only)),
        _ => table.workload.clone(),
    }
}

/// Which places are shown: it works without script, by the style of `chosen`.
fn choice(findings: &Findings<'_>, points: &[Point], place: usize) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let option = |(n, point): (usize, &Point)| {
        format!("<option value=\"{n}\">at {}</option>", escaped(&findings.place(*point)))
    };
    let options: String = points.iter().enumerate().map(option).collect();
    format!(
        "<label>each <select class=\"chosen\" name=\"at{place}\" autocomplete=\"off\"><option value=\"best\" selected>where it \
         came to the most</option>{options}<option value=\"all\">at every place</option></select></label>"
    )
}

/// The style that shows what is chosen, for tables of up to so many places.
pub(super) fn chosen(places: usize) -> String {
    let hide = |value: &str, bodies: &str| {
        format!(
            ".results:has(.chosen option[value=\"{value}\"]:checked) {bodies}{{display:none}}\n"
        )
    };
    let one = |n: usize| hide(&n.to_string(), &format!("tbody:not(.at-{n})"));
    let all: String = (0..places).map(one).collect();
    hide("best", "tbody:not(.at-best)") + &hide("all", "tbody.at-best") + &all
}

fn entries(placed: Vec<Placed<'_>>, is_best: bool) -> Vec<Entry<'_>> {
    placed.into_iter().map(|placed| Entry { placed, is_best }).collect()
}

fn body(
    findings: &Findings<'_>,
    class: &str,
    entries: &[Entry<'_>],
    columns: &[Column<'_>],
) -> String {
    let mut html = format!("<tbody class=\"{class}\">\n");
    for (n, entry) in entries.iter().enumerate() {
        let slot = findings.slot(&entry.placed.row.subject);
        let cells: String =
            columns.iter().map(|column| cell(column, &(column.cell)(entry))).collect();
        let (tie, reference) = (tie(entry, n + 1), entry.placed.row.is_reference);
        let class = if reference { "reference" } else { tie };
        html.push_str(&format!("<tr data-s=\"{slot}\" class=\"{class}\">{cells}</tr>\n"));
    }
    html + "</tbody>\n"
}

/// The part of a bracket around those who cannot be told apart.
fn tie(entry: &Entry<'_>, place: usize) -> &'static str {
    match entry.placed.rank {
        Some((first, last)) if first == last => "",
        Some((first, _)) if first == place => "tie first",
        Some((_, last)) if last == place => "tie last",
        Some(_) => "tie",
        None => "",
    }
}

fn head(column: &Column<'_>) -> String {
    // On a phone they would stand before the first number; who took part is told below, too.
    let class = if ["version", "processes"].contains(&column.key) { " class=\"more\"" } else { "" };
    format!(
        "<th scope=\"col\"{class} data-key=\"{}\" title=\"{}\">{}</th>",
        column.key,
        escaped(&column.meaning),
        escaped(&column.heading)
    )
}

fn cell(column: &Column<'_>, cell: &Cell) -> String {
    let value = cell.value.map_or(String::new(), |value| format!(" data-v=\"{value}\""));
    let class = match cell.class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let (open, close) = match column.key {
        "subject" => ("th scope=\"row\"", "th"),
        _ => ("td", "td"),
    };
    format!("<{open}{class}{value}>{}{}</{close}>", cell.before, escaped(&cell.says))
}

fn columns<'t>(findings: &'t Findings<'_>, table: &'t Table) -> Vec<Column<'t>> {
    let mut columns = about(findings, table);
    let is_there = |figure: &Figure| table.rows.iter().any(|row| row.estimate(*figure).is_some());
    for figure in FIGURES.into_iter().filter(is_there) {
        columns.push(Column {
            key: figure.name(),
            heading: figure.heading().into(),
            meaning: figure.meaning().into(),
            cell: Box::new(move |entry| estimated(findings, entry, figure)),
        });
        if figure == Figure::FailedShare && table.rows.iter().any(|row| !row.failures().is_empty())
        {
            columns.push(Column {
                key: "failures",
                heading: "failures by kind".into(),
                meaning: "requests of all measured rounds that failed, by kind".into(),
                cell: Box::new(|entry| failures(findings, entry.placed.row)),
            });
        }
    }
    columns.push(Column {
        key: "rounds",
        heading: "rounds".into(),
        meaning: "measured, of those planned".into(),
        cell: Box::new(|entry| rounds(entry.placed.row)),
    });
    columns.push(Column {
        key: "verdict",
        heading: "verdict".into(),
        meaning: "whether the figures can be relied on; reasons below".into(),
        cell: Box::new(|entry| {
            let Some(verdict) = entry.placed.row.verdict() else {
                return Cell { says: "not yet run".into(), class: "text", ..Cell::default() };
            };
            Cell {
                says: verdict.name().into(),
                class: badge::class(verdict),
                before: badge::sign(verdict),
                ..Cell::default()
            }
        }),
    });
    columns
}

/// Who, where, and what came of it.
fn about<'t>(findings: &'t Findings<'_>, table: &'t Table) -> Vec<Column<'t>> {
    let entry = |row: &Row| findings.run.entries.iter().find(|entry| entry.name == row.subject);
    let said = |of: fn(&lab::record::Entry) -> &str| -> Box<dyn Fn(&Entry<'_>) -> Cell + 't> {
        Box::new(move |shown| {
            let says = entry(shown.placed.row).map_or("", of);
            Cell { says: says.into(), class: "text more", ..Cell::default() }
        })
    };
    let column = |key, heading: &str, meaning: &str, cell| Column {
        key,
        heading: heading.into(),
        meaning: meaning.into(),
        cell,
    };
    let has_rank = table.rows.iter().any(|row| 1 < row.measured());
    let mut columns = Vec::new();
    if has_rank {
        let meaning =
            "from … to: the order within is not settled; by Holm's correction over all pairs";
        columns.push(column("rank", "rank", meaning, Box::new(rank)));
    }
    columns.push(column(
        "subject",
        "subject",
        "",
        Box::new(move |shown| subject(findings, shown.placed.row)),
    ));
    columns.push(column("version", "version", "as it says itself", said(|entry| &entry.version)));
    columns.push(column("processes", "processes", "as declared", said(|entry| &entry.processes)));
    if table.is_curve() {
        columns.push(column(
            "place",
            "at",
            "the place of the axis",
            Box::new(|shown| Cell {
                says: findings.place(shown.placed.row.point),
                value: Some(shown.placed.row.point.value()),
                ..Cell::default()
            }),
        ));
    }
    let meaning = Figure::Achieved.meaning();
    columns.push(column(
        "achieved_per_s",
        Figure::Achieved.heading(),
        meaning,
        Box::new(move |shown| {
            let is_open =
                |peak: &analysis::Peak| peak.is_open && peak.subject == shown.placed.row.subject;
            let is_open = shown.is_best && table.peaks.iter().any(is_open);
            let mut cell = estimated(findings, shown, Figure::Achieved);
            if is_open {
                cell.says.insert(0, '≥');
            }
            Cell { class: "main", ..cell }
        }),
    ));
    let meaning = "cases of the RFCs passed, of those that apply; obligations broken; failures that an attacker could use; \
                   never part of a speed";
    columns.push(column(
        "conformance",
        "conformance",
        meaning,
        Box::new(|shown| Cell {
            says: conformance::short(findings, &shown.placed.row.subject),
            value: conformance::value(findings, &shown.placed.row.subject),
            class: if shown.placed.row.has_crashed { "crashed" } else { "" },
            ..Cell::default()
        }),
    ));
    columns.push(column(
        "interval",
        "95 % interval",
        "over the rounds",
        Box::new(|shown| Cell { says: interval(findings, shown.placed.row), ..Cell::default() }),
    ));
    if findings
        .history
        .figures
        .iter()
        .any(|figure| figure.workload == table.workload && figure.figure == Figure::Achieved)
    {
        let heading = format!("{}, published", findings.history.label);
        let meaning = "another machine, other versions";
        columns.push(column(
            "published",
            &heading,
            meaning,
            Box::new(move |shown| published(findings, table, shown)),
        ));
    }
    columns
}

fn rank(shown: &Entry<'_>) -> Cell {
    let says = shown.placed.rank.map_or("–".into(), |(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    });
    Cell {
        says,
        value: shown.placed.rank.map(|(first, _)| first as f64),
        class: "rank",
        ..Cell::default()
    }
}

/// A subject's mark before its name; a reference has none.
pub(crate) fn key_of(slot: Option<usize>) -> String {
    let mark = slot.map_or(String::new(), |slot| key(slot, (0.0, 0.0)).trim_end().into());
    format!("<svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{mark}</svg>")
}

fn subject(findings: &Findings<'_>, row: &Row) -> Cell {
    let before = key_of((!row.is_reference).then(|| findings.slot(&row.subject)));
    let ceiling = match (&row.unmet, row.is_reference) {
        (Some(_), _) => " (not ranked)",
        (None, true) => " (ceiling)",
        (None, false) => "",
    };
    Cell { says: format!("{}{ceiling}", findings.title(&row.subject)), before, ..Cell::default() }
}

fn estimated(findings: &Findings<'_>, shown: &Entry<'_>, figure: Figure) -> Cell {
    let row = shown.placed.row;
    let Some(estimate) = row.estimate(figure) else {
        return Cell { says: "–".into(), ..Cell::default() };
    };
    let bound = if estimate.is_censored { "≥" } else { "" };
    let support = if estimate.is_supported || estimate.is_censored { "" } else { "*" };
    let (mut behind, mut doubt, mut crashed) = ("", "", "");
    if figure == Figure::Achieved {
        crashed = conformance::mark(row);
        behind = if row.is_behind() { "↓" } else { "" };
        doubt = match row.verdict() {
            Some(Verdict::Invalid) => "!",
            _ if row.is_doubtful() => "?",
            _ => "",
        };
    }
    let number = (findings.number)(figure, estimate.shown().value);
    Cell {
        says: format!("{bound}{number}{support}{crashed}{behind}{doubt}"),
        value: Some(estimate.value),
        class: if row.is_doubtful() { "doubtful" } else { "" },
        ..Cell::default()
    }
}

fn interval(findings: &Findings<'_>, row: &Row) -> String {
    let shown = |value| (findings.number)(Figure::Achieved, value);
    let estimate = row.estimate(Figure::Achieved);
    let interval = estimate.and_then(|estimate| estimate.shown().interval);
    match (estimate, interval) {
        (None, _) => "–".into(),
        (Some(_), None) => "one round".into(),
        (Some(_), Some((low, high))) => format!("{}–{}", shown(low), shown(high)),
    }
}

fn published(findings: &Findings<'_>, table: &Table, shown: &Entry<'_>) -> Cell {
    let row = shown.placed.row;
    let find =
        |point| findings.history.find(&row.subject, &table.workload, point, Figure::Achieved);
    let found = find(Some(row.point.value())).filter(|_| !shown.is_best);
    let found = found.or_else(|| find(None).filter(|_| shown.is_best));
    Cell {
        says: found.map_or("–".into(), |found| (findings.number)(Figure::Achieved, found.value)),
        value: found.map(|found| found.value),
        class: "past",
        ..Cell::default()
    }
}

fn failures(findings: &Findings<'_>, row: &Row) -> Cell {
    let all = row.failures();
    let kinds = all.iter().map(|(failure, times)| {
        format!("{} {failure}", (findings.number)(Figure::Failed, *times as f64))
    });
    let says = match all.is_empty() {
        true => "–".into(),
        false => kinds.collect::<Vec<_>>().join(", "),
    };
    Cell { says, class: "text", ..Cell::default() }
}

fn rounds(row: &Row) -> Cell {
    let ends =
        row.unmeasured().into_iter().map(|(kind, times)| format!(" · {times} {}", kind.name()));
    Cell {
        says: format!("{}/{}{}", row.measured(), row.planned, ends.collect::<String>()),
        value: Some(row.measured() as f64),
        ..Cell::default()
    }
}
