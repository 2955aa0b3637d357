//! The table of results: each server where it is best, all of them at one load level, or everything.

use analysis::{Comparison, Estimate, JudgedTrial, Placed, Row, Table, Verdict};
use lab::figure::{self, Figure};
use lab::subject::Processes;
use units::count;

use super::findings::Findings;
use super::{conformance, experiment_text, race};
use crate::document::{self, Cell, Column, MORE, Mark, Marks, Sign, Tone, View};
use crate::number_format::{Written, marks};
use crate::paired::Ratio;

/// A row in one of the views.
#[derive(Clone, Copy)]
struct Shown<'t> {
    placed: Placed<'t>,
    /// It stands for its server, at the load where that is best.
    is_best: bool,
}

impl Shown<'_> {
    fn row(&self, findings: &Findings<'_>, cells: Vec<Cell>) -> document::Row {
        let Placed { row, rank } = self.placed;
        let slot = Some(findings.slot(&row.subject));
        document::Row { slot, tie: rank, is_reference: row.is_reference, cells }
    }
}

type MakeCell<'t> = Box<dyn Fn(&Shown<'_>) -> Cell + 't>;

/// The columns with the functions that fill them.
#[derive(Default)]
struct Columns<'t> {
    columns: Vec<Column>,
    makers: Vec<MakeCell<'t>>,
}

impl<'t> Columns<'t> {
    fn add(&mut self, column: Column, cell: impl Fn(&Shown<'_>) -> Cell + 't) {
        self.columns.push(column);
        self.makers.push(Box::new(cell));
    }
}

/// One workload's table. `key` is its name in links.
pub(super) fn table(findings: &Findings<'_>, table: &Table, key: String) -> document::Table {
    let Columns { columns, makers } = columns(findings, table);
    let view = |key: String, name: String, shown: Vec<Shown<'_>>| {
        let cells = |shown: &Shown<'_>| makers.iter().map(|cell| cell(shown)).collect();
        let rows = shown.iter().map(|shown| shown.row(findings, cells(shown))).collect();
        View { key, name, rows }
    };
    let points = table.points();
    let mut views = Vec::new();
    if 1 < points.len() {
        let mut best = shown(table.bests(), true);
        best.extend(references(table, |row| {
            let mut peaks = table.peaks.iter();
            peaks.any(|peak| peak.subject == row.subject && peak.point == row.point)
        }));
        views.push(view("best".into(), "where it did best".into(), best));
    }
    for (n, &point) in points.iter().enumerate() {
        let mut all = shown(table.at(point), points.len() == 1);
        all.extend(references(table, |row| row.point == point));
        views.push(view(n.to_string(), format!("at {}", findings.place(point)), all));
    }
    let caption = match points.as_slice() {
        [] => "no load was planned".into(),
        [only] => format!("at {}", findings.place(*only)),
        _ => "each server under the load where it did best".into(),
    };
    let notes = notes(table).into_iter().chain(race::note(findings)).collect();
    document::Table { key, caption, columns, views, notes }
}

/// What each round of a row has in a table, and how soon its column is left out.
const OF_ROUNDS: [(Figure, u8); 7] = [
    (Figure::Throughput, 0),
    (Figure::OnTime, 2),
    (Figure::ResponseP50, 1),
    (Figure::ResponseP90, 3),
    (Figure::ResponseP99, 0),
    (Figure::FailedShare, 2),
    (Figure::SilentShare, 4),
];

/// Whether a row has a figure. A silence, or an answer that came in parts, is one only where there was one, or where the
/// experiment asks for it.
fn has(row: &Row, figure: Figure, is_asked: bool) -> bool {
    let is_event =
        matches!(figure, Figure::SilentShare | Figure::LongestSilence | Figure::ReceiveMax);
    row.estimate(figure).is_some_and(|it| is_asked || !is_event || 0.0 < it.max)
}

/// Each load of a row, and the means of all.
pub(super) fn each_load(row: &Row) -> document::Table {
    let there = OF_ROUNDS.into_iter().filter(|(figure, _)| has(row, *figure, false));
    let (shown, priorities): (Vec<Figure>, Vec<u8>) = there.unzip();
    let mut columns = vec![Column::new("load", "load", 0).left()];
    columns.extend(shown.iter().zip(priorities).map(|(figure, priority)| {
        Column::new(figure.name(), figure.heading(), priority).meaning(figure.meaning())
    }));
    columns.push(Column::new("verdict", "verdict", 1).left());
    let round_row = |trial: &JudgedTrial| {
        let name = Cell::text((trial.repeat + 1).to_string()).toned(Tone::Dim);
        let figures = shown.iter().map(|figure| of_round(trial, *figure)).collect();
        load_row(name, figures, Some(trial.verdict()))
    };
    let mean = Cell::text("mean [95 %]").toned(Tone::Strong);
    let means = shown.iter().map(|figure| with_interval(row, *figure)).collect();
    let means = load_row(mean, means, row.verdict());
    document::Table::of("loads", columns, row.trials.iter().map(round_row).chain([means]))
}

fn load_row(name: Cell, figures: Vec<Cell>, verdict: Option<Verdict>) -> document::Row {
    let verdict = Cell::text(verdict.map_or("–", Verdict::name));
    let cells = std::iter::once(name).chain(figures).chain([verdict]).collect();
    document::Row { cells, ..document::Row::default() }
}

fn of_round(trial: &JudgedTrial, figure: Figure) -> Cell {
    trial.figures.get(figure).map_or(Cell::none(), |number| {
        let marks = marks(number.is_bound, number.is_supported);
        Written::of(figure.unit(), number.value, None).cell(number.value).marked(marks)
    })
}

fn with_interval(row: &Row, figure: Figure) -> Cell {
    let Some(estimate) = row.estimate(figure) else { return Cell::none() };
    cell_of(figure, &estimate)
}

/// A figure with its marks and its interval.
#[must_use]
pub fn cell_of(figure: Figure, estimate: &Estimate) -> Cell {
    let written = Written::estimate(figure.unit(), estimate);
    let interval = written.interval.clone();
    Cell { interval, ..written.cell(estimate.value) }
}

fn shown(placed: Vec<Placed<'_>>, is_best: bool) -> Vec<Shown<'_>> {
    placed.into_iter().map(|placed| Shown { placed, is_best }).collect()
}

fn references<'t>(
    table: &'t Table,
    is_wanted: impl Fn(&Row) -> bool + 't,
) -> impl Iterator<Item = Shown<'t>> {
    let rows = table.rows.iter().filter(move |row| row.is_reference && is_wanted(row));
    rows.map(|row| Shown { placed: Placed { row, rank: None }, is_best: false })
}

/// Notes that apply to all columns.
fn notes(table: &Table) -> Vec<String> {
    let rounds = table.rows.iter().map(Row::measured).max().unwrap_or(0);
    match rounds {
        0 => Vec::new(),
        1 => vec!["one round: how much rounds differ is not known".into()],
        _ => vec![
            "means over the rounds (geometric for rates, times and bytes), in brackets the 95 % interval by Student's t \
             over the rounds of this run"
                .into(),
        ],
    }
}

/// A race has the p99.9 among its first columns: of two servers with one p99, it shows which of them stalls.
const TAIL_OF_A_RACE: u8 = 4;

fn columns<'t>(findings: &'t Findings<'_>, table: &'t Table) -> Columns<'t> {
    let mut all = Columns::default();
    if 1 < table.bests().len() && table.rows.iter().any(|row| 1 < row.measured()) {
        let meaning = "first to last place: the order within is not settled (Holm's correction over the table)";
        all.add(Column::new("rank", "rank", 8).left().folding().meaning(meaning), |shown| {
            rank(shown.placed.rank)
        });
    }
    all.add(Column::new("subject", "server", 0).left(), |shown| {
        let row = shown.placed.row;
        let tone = if row.is_reference { Tone::Dim } else { Tone::Plain };
        let marks = Marks::default()
            .when(row.unmet.is_some(), Mark::Unranked)
            .when(row.unmet.is_none() && row.is_reference, Mark::Reference);
        let name = Cell::text(findings.title(&row.subject)).toned(tone).marked(marks);
        Cell { sign: Sign::Slot, ..name }
    });
    if table.is_curve() {
        let column = Column::new("place", findings.axis(table), 0);
        all.add(column.meaning("the load"), |shown| {
            let point = findings.shown(shown.placed.row.point);
            Cell::text(experiment_text::place(point)).valued(Some(point.value()))
        });
    }
    let rate = Figure::Throughput;
    let column = Column::new(rate.name(), rate.heading(), 0);
    all.add(column.meaning(rate.meaning()).explained(), |shown| throughput(table, shown));
    let (main, more): (Vec<_>, Vec<_>) =
        wanted(findings, table).into_iter().partition(|(_, priority)| *priority < MORE);
    let is_failed = |(figure, _): &(Figure, u8)| *figure == Figure::FailedShare;
    let answers = main.iter().position(is_failed).map_or(main.len(), |failed| failed + 1);
    // What the answers were worth, then what they cost.
    figures(findings, &main[..answers], &mut all);
    all.add(Column::new("verdict", "verdict", 4).left().folding(), |shown| {
        Cell::verdict(shown.placed.row.verdict())
    });
    figures(findings, &main[answers..], &mut all);
    // `dyno load` checks no rule of the RFCs.
    if !findings.is_load() {
        // Where a service works beside the servers, its cost is to be seen before it.
        let is_beside = main.iter().any(|(figure, _)| *figure == Figure::ServiceCpuPerThousand);
        let priority = if is_beside { MORE - 1 } else { 5 };
        let column = Column::new("conformance", "conformance", priority).folding().explained();
        all.add(column.meaning(conformance::MEANING), |shown| {
            conformance::cell(findings, &shown.placed.row.subject)
        });
    }
    all.add(
        Column::new("rounds", "rounds", 9).folding().meaning("measured, of those planned"),
        |shown| rounds(shown.placed.row),
    );
    figures(findings, &more, &mut all);
    if table.rows.iter().any(|row| !row.failures().is_empty()) {
        let column = Column::new("failures", "failures by kind", MORE + 7).left();
        all.add(column.meaning("requests of all measured rounds that failed"), failures);
    }
    for (key, of) in [
        ("version", (|entry| &entry.version) as fn(&lab::record::Entry) -> &String),
        ("processes", |entry| &entry.processes),
    ] {
        let column = Column::new(key, key, MORE + 8).left().folding();
        all.add(column, move |shown| {
            let stated = findings.entry(&shown.placed.row.subject).map(of);
            let stated = stated.filter(|text| *text != Processes::Unstated.name());
            Cell::known(stated)
        });
    }
    all
}

/// A column for each of these figures.
fn figures(findings: &Findings<'_>, wanted: &[(Figure, u8)], all: &mut Columns<'_>) {
    for &(figure, priority) in wanted {
        let column = Column::new(figure.name(), findings.heading(figure), priority);
        let column = column.meaning(figure.meaning()).folding();
        let is_plain = matches!(figure, Figure::CpuPerThousand | Figure::RssPeak);
        let column = if is_plain { column.explained() } else { column };
        all.add(column, move |shown| estimated(shown.placed.row, figure));
    }
}

/// How soon a figure's column is left out where room is short; none for one that has no column.
pub(super) fn priority(figure: Figure) -> Option<u8> {
    match figure.column() {
        figure::Column::Main(place) => Some(place),
        figure::Column::More(place) => Some(MORE + place),
        figure::Column::Nowhere => None,
    }
}

/// The figures that this table has, and how soon each column is left out.
fn wanted(findings: &Findings<'_>, table: &Table) -> Vec<(Figure, u8)> {
    let own = findings.run.experiment.as_ref().map_or(&[][..], |experiment| &experiment.columns);
    let mut wanted = own_first(own);
    let tail = wanted.iter_mut().find(|(figure, _)| *figure == Figure::ResponseP999);
    if let Some((_, priority)) = tail.filter(|_| findings.is_race()) {
        *priority = TAIL_OF_A_RACE;
    }
    wanted
        .retain(|(figure, _)| table.rows.iter().any(|row| has(row, *figure, own.contains(figure))));
    wanted
}

/// The experiment's own columns first, then those that every run has.
fn own_first(own: &[Figure]) -> Vec<(Figure, u8)> {
    let own_first = own.iter().enumerate().filter(|(_, figure)| **figure != Figure::Throughput);
    let mut wanted: Vec<(Figure, u8)> =
        own_first.map(|(place, &figure)| (figure, (1 + place as u8).min(MORE - 1))).collect();
    for figure in Figure::OF_TRIALS.into_iter().filter(|figure| *figure != Figure::Throughput) {
        let Some(priority) = priority(figure) else { continue };
        if !wanted.iter().any(|(other, _)| *other == figure) {
            let is_more = !own.is_empty() && !matches!(figure, Figure::FailedShare);
            wanted.push((figure, if is_more { priority.max(MORE) } else { priority }));
        }
    }
    wanted
}

/// First to last place.
pub(super) fn rank(places: Option<(usize, usize)>) -> Cell {
    let Some((first, last)) = places else { return Cell::none() };
    let text = if first == last { first.to_string() } else { format!("{first}–{last}") };
    Cell::text(text).valued(Some(first as f64)).toned(Tone::Dim)
}

/// A figure over the rounds, with its marks.
pub(super) fn estimated(row: &Row, figure: Figure) -> Cell {
    let Some(estimate) = row.estimate(figure) else { return Cell::none() };
    let tone = match figure {
        _ if row.unmet.is_some() => Tone::Dim,
        Figure::FailedShare if 0.0 < estimate.value || 0.0 < estimate.max => Tone::Bad,
        _ if row.is_doubtful() => Tone::Doubtful,
        _ => Tone::Plain,
    };
    Written::estimate(figure.unit(), &estimate).cell(estimate.value).toned(tone)
}

/// The throughput with its interval and all marks of the row; or why there is none.
fn throughput(table: &Table, shown: &Shown<'_>) -> Cell {
    let row = shown.placed.row;
    if row.measured() == 0 {
        return unmeasured(row);
    }
    let cell = estimated(row, Figure::Throughput);
    let mut peaks = table.peaks.iter();
    let is_open = shown.is_best
        && peaks.any(|peak| peak.is_open && peak.subject == row.subject && peak.point == row.point);
    let marks = cell
        .marks
        .when(is_open && table.is_curve(), Mark::Open)
        .when(row.has_crashed, Mark::Crashed)
        .when(row.is_behind(), Mark::Behind)
        .and(verdict_mark(row));
    let tone = match cell.tone {
        Tone::Plain => Tone::Strong,
        tone => tone,
    };
    let interval = with_interval(row, Figure::Throughput).interval;
    Cell { interval, ..cell.marked(marks).toned(tone) }
}

/// `0.92× [0.88–0.97]`: the second side of a comparison divided by its first.
#[must_use]
pub fn ratio_text(made: &Comparison) -> String {
    Ratio::from(made).to_string()
}

/// How a row's verdict is marked.
pub(super) fn verdict_mark(row: &Row) -> Marks {
    mark(row.verdict())
}

/// How a verdict is marked.
pub(super) fn mark(verdict: Option<Verdict>) -> Marks {
    match verdict {
        None | Some(Verdict::Valid) => Marks::default(),
        Some(Verdict::Suspect) => Marks::default().with(Mark::Suspect),
        Some(Verdict::Invalid) => Marks::default().with(Mark::Invalid),
    }
}

/// Why a row has no figure.
pub(crate) fn unmeasured(row: &Row) -> Cell {
    let ways: Vec<String> = row
        .unmeasured()
        .into_iter()
        .map(|(kind, times)| format!("{} ({times} of {})", kind.meaning(), row.planned))
        .collect();
    match ways.is_empty() {
        true => Cell::text("not run yet").toned(Tone::Dim),
        false => Cell::text(format!("not measured: {}", ways.join(", "))).toned(Tone::Bad),
    }
}

fn failures(shown: &Shown<'_>) -> Cell {
    let all = shown.placed.row.failures();
    let kinds = all.iter().map(|(failure, times)| format!("{} {failure}", count(*times)));
    match all.is_empty() {
        true => Cell::none(),
        false => Cell::text(kinds.collect::<Vec<_>>().join(", ")),
    }
}

/// `, 1 × died`: how trials of a row ended that are no measurement.
pub(super) fn ends(row: &Row) -> String {
    let ends = row.unmeasured().into_iter();
    ends.map(|(kind, times)| format!(", {times} × {}", kind.meaning())).collect()
}

/// `3`, or `1 of 2, 1 × died`.
fn rounds(row: &Row) -> Cell {
    let text = match row.measured() == row.planned {
        true => row.planned.to_string(),
        false => format!("{} of {}{}", row.measured(), row.planned, ends(row)),
    };
    let tone = if row.measured() < row.planned { Tone::Doubtful } else { Tone::Dim };
    Cell::text(text).valued(Some(row.measured() as f64)).toned(tone)
}
