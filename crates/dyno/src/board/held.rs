//! Held connections as text: the price list, every subject's way up, what gave way and what was given back.

pub(super) mod csv;
pub(super) mod markdown;
mod says;

use analysis::{Climb, Estimate, HeldFigure, Plateau, Ramps, Row, Verdict};
use lab::experiment::Point;
use lab::figure::Unit;

use super::columns::{Column, fitted};
use super::results::{NOT_RANKED, of_reference, unmeasured};
use super::{Told, conformance, trouble, words};
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::table::Cell;
use crate::report::units::count;

/// The usual columns, and which go first where there is no room.
const USUAL: [(HeldFigure, u8); 22] = [
    (HeldFigure::Open, 0),
    (HeldFigure::Failed, 2),
    (HeldFigure::Lost, 1),
    (HeldFigure::Silent, 3),
    (HeldFigure::Waiting, 1),
    (HeldFigure::Missed, 4),
    (HeldFigure::ConnectP50, 15),
    (HeldFigure::ConnectP99, 4),
    (HeldFigure::LateP50, 6),
    (HeldFigure::LateP99, 0),
    (HeldFigure::LateMax, 2),
    (HeldFigure::OwnP99, 7),
    (HeldFigure::GapP99, 14),
    (HeldFigure::Messages, 8),
    (HeldFigure::CpuShare, 3),
    (HeldFigure::PssMean, 1),
    (HeldFigure::PssMax, 10),
    (HeldFigure::RssMean, 12),
    (HeldFigure::BeamMean, 9),
    (HeldFigure::BeamEach, 13),
    (HeldFigure::Utilisation, 5),
    (HeldFigure::UtilisationMax, 7),
];

/// What a table of prices has room for; the rest is in `in_full`.
type PriceCell<'c> = &'c dyn Fn(&Told<'_>, &Ramps, &Climb) -> Cell;

/// The price list: a row for each subject and what it held.
pub(super) fn prices(told: &Told<'_>, width: usize) -> Vec<Line> {
    let climbs: Vec<(&Ramps, &Climb)> = climbs(told).collect();
    if climbs.is_empty() {
        return Vec::new();
    }
    let column = |heading: Cell, drop: u8, cell: PriceCell<'_>| Column {
        heading,
        drop,
        cells: climbs.iter().map(|(ramps, climb)| cell(told, ramps, climb)).collect(),
    };
    let right = |text: &str| Cell::ink(Ink::Dim, text);
    let left = |text: &str| Cell::left(Ink::Dim, text);
    let mut columns = vec![
        column(right(""), 0, &|told, _, climb| Cell::ink(Ink::Bold, who(told, climb))),
        column(left("held"), 0, &|_, ramps, _| Cell::left(Ink::Plain, &ramps.workload)),
        column(right("KiB each"), 0, &|_, _, climb| {
            let ink = if mark(climb).is_empty() { Ink::Bold } else { Ink::Doubtful };
            Cell::ink(ink, says::each(climb) + mark(climb))
        }),
        column(left("conformance"), 1, &|told, _, climb| conformance::cell(told, &climb.subject)),
        column(right("[95 %]"), 1, &|_, _, climb| Cell::ink(Ink::Dim, says::interval(climb))),
        column(right("CPU/1k"), 3, &|_, _, climb| {
            estimated(Unit::Milliseconds, climb.price.cpu_ms_per_1000)
        }),
        column(right("reached"), 2, &|_, _, climb| estimated(Unit::Count, climb.price.reached)),
        column(right("given back"), 4, &|_, _, climb| {
            let after = climb.price.after.as_ref();
            estimated(Unit::Percent, after.and_then(|after| after.given_back_percent))
        }),
        column(left("gave way first"), 0, &|_, _, climb| match says::gave_way(climb) {
            None => Cell::left(Ink::Good, "nothing"),
            Some(says) => Cell::left(Ink::Bad, says),
        }),
    ];
    let mut note = says::rounds(&climbs);
    if let [only] = &told.board.ramps[..] {
        columns.remove(1);
        note = format!("{}, {note}", only.workload);
    }
    let title = Line::ink(Ink::Bold, "what a held connection costs");
    let mut lines = vec![title.and(Ink::Dim, format!("  {note}"))];
    lines.extend(fitted(columns, width));
    let legend = std::iter::once(says::price_legend(&climbs));
    let legend = legend.chain(conformance::legend(told));
    lines.extend(dim(&legend.collect::<Vec<_>>().join(" · "), width));
    lines
}

/// Everybody's way up with one workload.
pub(super) fn plateaus(told: &Told<'_>, ramps: &Ramps, width: usize) -> Vec<Line> {
    let title = told.workload_title(&ramps.workload);
    let mut lines = vec![
        Line::ink(Ink::Bold, ramps.workload.clone())
            .and(Ink::Plain, title.map_or(String::new(), |title| format!(": {title}")))
            .and(Ink::Dim, "  by held connections"),
    ];
    let entries: Vec<(&Climb, &Plateau)> = entries(ramps).collect();
    let mut drawn = fitted(columns(ramps, &entries), width).into_iter();
    lines.extend(drawn.next().filter(|_| !entries.is_empty()));
    for climb in &ramps.climbs {
        let name = Line::ink(Ink::Bold, who(told, climb)).and(Ink::Doubtful, mark(climb));
        lines.push(name);
        lines.extend(drawn.by_ref().take(climb.plateaus.len()));
        let row = row(told, &ramps.workload, climb);
        lines.extend(row.filter(|row| row.measured() == 0).map(|row| {
            let label = format!("  {}", count(u64::from(climb.connections)));
            unmeasured(&label, row).cut(width)
        }));
    }
    if !entries.is_empty() {
        lines.extend(dim(&says::plateau_legend(&shown(&entries), ramps), width));
    }
    let table = told.board.tables.iter().find(|table| table.workload == ramps.workload);
    lines.extend(table.into_iter().flat_map(|table| trouble::remarks(table, width)));
    lines
}

/// What gave way first with whom, by all its causes.
pub(super) fn gave_way(told: &Told<'_>, width: usize) -> Vec<Line> {
    let one = |(ramps, climb): (&Ramps, &Climb)| {
        let says = says::gave_way_in_full(climb)?;
        Some(format!("{}, {}: {says}", told.title(&climb.subject), ramps.workload))
    };
    told_of(climbs(told).filter_map(one), "what gave way first", "", width)
}

/// Every connection that failed or was lost, by cause.
pub(super) fn losses(told: &Told<'_>, width: usize) -> Vec<Line> {
    let one = |(ramps, climb): (&Ramps, &Climb)| {
        let says = says::losses(climb)?;
        Some(format!("{}, {}: {says}", told.title(&climb.subject), ramps.workload))
    };
    let title = "connections that failed or were lost";
    told_of(climbs(told).filter_map(one), title, "  all measured rounds together", width)
}

/// What was given back after the close.
pub(super) fn after(told: &Told<'_>, width: usize) -> Vec<Line> {
    let one = |(ramps, climb): (&Ramps, &Climb)| {
        let says = says::after(climb)?;
        Some(format!("{}, {}: {says}", told.title(&climb.subject), ramps.workload))
    };
    let note = says::watched(told.experiment.as_ref());
    told_of(climbs(told).filter_map(one), "memory after all were closed", &note, width)
}

fn told_of(
    texts: impl Iterator<Item = String>,
    title: &str,
    note: &str,
    width: usize,
) -> Vec<Line> {
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let lines = texts.iter().flat_map(|text| wrapped(text, width)).map(Line::plain);
    std::iter::once(Line::ink(Ink::Bold, title).and(Ink::Dim, note)).chain(lines).collect()
}

fn dim(text: &str, width: usize) -> Vec<Line> {
    wrapped(text, width).into_iter().map(|line| Line::ink(Ink::Dim, line)).collect()
}

fn climbs<'t>(told: &'t Told<'_>) -> impl Iterator<Item = (&'t Ramps, &'t Climb)> {
    let ramps = told.board.ramps.iter();
    ramps.flat_map(|ramps| ramps.climbs.iter().map(move |climb| (ramps, climb)))
}

fn entries(ramps: &Ramps) -> impl Iterator<Item = (&Climb, &Plateau)> {
    let climbs = ramps.climbs.iter();
    climbs.flat_map(|climb| climb.plateaus.iter().map(move |plateau| (climb, plateau)))
}

fn who(told: &Told<'_>, climb: &Climb) -> String {
    let found = told.board.conformity(&climb.subject);
    let beside = match found.and_then(|found| found.unmet.as_ref()) {
        Some(_) => NOT_RANKED,
        None => of_reference(climb.is_reference),
    };
    format!("{}{beside}", told.title(&climb.subject))
}

/// The row of the board that has the trials' outcomes and doubts.
fn row<'t>(told: &'t Told<'_>, workload: &str, climb: &Climb) -> Option<&'t Row> {
    let is_its = |(table, row): &(&str, &Row)| {
        *table == workload
            && row.subject == climb.subject
            && row.point == Point::Held(climb.connections)
    };
    told.rows().find(is_its).map(|(_, row)| row)
}

/// How its verdict is marked.
fn mark(climb: &Climb) -> &'static str {
    match climb.verdict {
        None | Some(Verdict::Valid) => "",
        Some(_) if climb.measured == 0 => "",
        Some(Verdict::Suspect) => "?",
        Some(Verdict::Invalid) => "!",
    }
}

/// The figures that anybody has, and how soon each goes.
fn shown(entries: &[(&Climb, &Plateau)]) -> Vec<(HeldFigure, u8)> {
    let is_there =
        |figure: HeldFigure| entries.iter().any(|(_, plateau)| plateau.estimate(figure).is_some());
    let has_pss =
        entries.iter().all(|(_, plateau)| plateau.estimate(HeldFigure::PssMean).is_some());
    let wanted = |(figure, drop): (HeldFigure, u8)| match figure {
        // These are rare, and told where they are; RSS matters where PSS was not always read.
        HeldFigure::Missed if entries.iter().all(|(_, plateau)| plateau.sums.missed == 0) => None,
        HeldFigure::Waiting if entries.iter().all(|(_, plateau)| plateau.sums.waiting == 0) => None,
        HeldFigure::RssMean if !has_pss => Some((figure, 1)),
        HeldFigure::PssMean if !has_pss => is_there(figure).then_some((figure, 10)),
        figure => is_there(figure).then_some((figure, drop)),
    };
    USUAL.into_iter().filter_map(wanted).collect()
}

fn columns(ramps: &Ramps, entries: &[(&Climb, &Plateau)]) -> Vec<Column> {
    let most = entries.iter().map(|(_, plateau)| places(plateau).len()).max().unwrap_or(0);
    let first = entries
        .iter()
        .map(|(_, plateau)| Cell::plain(format!("  {:>most$}", places(plateau))))
        .collect();
    let mut columns = vec![Column { heading: Cell::ink(Ink::Dim, ""), drop: 0, cells: first }];
    for (figure, drop) in shown(entries) {
        let cells = entries.iter().map(|(_, plateau)| cell(figure, plateau)).collect();
        let heading = Cell::ink(Ink::Dim, figure.heading());
        columns.push(Column { heading, drop, cells });
        if figure == HeldFigure::LateP99 && ramps.climbs.iter().any(|climb| climb.is_reference) {
            columns.push(beside(ramps, entries));
        }
    }
    let rounds = entries
        .iter()
        .map(|(_, plateau)| Cell::ink(Ink::Dim, count(plateau.rounds as u64)))
        .collect();
    columns.push(Column { heading: Cell::ink(Ink::Dim, "n"), drop: 5, cells: rounds });
    columns
}

fn places(plateau: &Plateau) -> String {
    count(plateau.connections as u64)
}

/// How late the reference's messages were with as many connections.
fn beside(ramps: &Ramps, entries: &[(&Climb, &Plateau)]) -> Column {
    let cell = |(climb, plateau): &(&Climb, &Plateau)| {
        let reference = ramps.reference(plateau.connections).filter(|_| !climb.is_reference);
        let late = reference.and_then(|other| other.estimate(HeldFigure::LateP99));
        let text = late.map_or(String::new(), |late| shown_in(Unit::Milliseconds, &late));
        Cell::ink(Ink::Dim, text)
    };
    let cells = entries.iter().map(cell).collect();
    Column { heading: Cell::ink(Ink::Dim, "(ref.)"), drop: 6, cells }
}

fn cell(figure: HeldFigure, plateau: &Plateau) -> Cell {
    if let Some(sum) = summed(figure, plateau) {
        let ink = if 0 < sum { Ink::Bad } else { Ink::Dim };
        return Cell::ink(ink, count(sum));
    }
    let Some(estimate) = plateau.estimate(figure) else { return Cell::ink(Ink::Dim, "–") };
    let text = shown_in(figure.unit(), &estimate);
    match figure {
        HeldFigure::Open => Cell::ink(Ink::Bold, text),
        _ if !estimate.is_supported => Cell::ink(Ink::Dim, text + "*"),
        _ => Cell::plain(text),
    }
}

/// What is told of all rounds together: of three rounds the median would hide what one of them lost.
fn summed(figure: HeldFigure, plateau: &Plateau) -> Option<u64> {
    let sums = &plateau.sums;
    match figure {
        HeldFigure::Failed => Some(sums.failed),
        HeldFigure::Lost => Some(sums.lost),
        HeldFigure::Silent => Some(sums.silent),
        HeldFigure::Waiting => Some(sums.waiting),
        HeldFigure::Missed => Some(sums.missed),
        _ => None,
    }
}

fn estimated(unit: Unit, estimate: Option<Estimate>) -> Cell {
    match estimate {
        None => Cell::ink(Ink::Dim, "–"),
        Some(estimate) => Cell::plain(shown_in(unit, &estimate)),
    }
}

fn shown_in(unit: Unit, estimate: &Estimate) -> String {
    let bound = if estimate.is_censored { "≥" } else { "" };
    format!("{bound}{}", words::in_unit(unit, estimate.value))
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
