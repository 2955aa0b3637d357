//! Held connections: the price list, every server's ramp, what gave way and what was given back.

pub(super) mod csv;
mod details;
mod sentence;

use std::collections::BTreeMap;

use analysis::{Estimate, HeldSubject, Memory, Plateau, PlateauFigure, Ramps, Row};
use lab::experiment::Point;
use lab::figure::{Figure, Unit};
use lab::record::OutcomeKind;
use units::count;

use super::findings::Findings;
use super::{conformance, results, trouble};
use crate::document::{
    self, Block, Cell, Column, Depth, Entry, MORE, Mark, Marks, Section, Sign, Table, Tone, anchor,
};
use crate::held as pictures;
use crate::load::terms;
use crate::number_format::Written;

/// The first figures of each probe stand in between; its other ones are shown on demand.
const OF_PROBES: [u8; 3] = [5, 7, 9];

/// Everything that a run says about held connections; empty if it held none.
pub(super) fn sections(findings: &Findings<'_>) -> Vec<Section> {
    let subjects: Vec<(&Ramps, &HeldSubject)> = subjects(findings).collect();
    if subjects.is_empty() {
        return Vec::new();
    }
    let mut sections = vec![
        Section::new("held", "What a held connection costs", Depth::Brief)
            .noting(sentence::rounds(&subjects))
            .with([
                Block::Table(prices(findings, &subjects)),
                Block::picture(pictures::pictures(findings)),
            ]),
    ];
    for ramps in &findings.board.ramps {
        sections.push(plateaus(findings, ramps));
    }
    let entries = |says| entries(findings, says);
    let watched = sentence::watched(findings.run.experiment.as_ref());
    for (id, heading, note, entries, depth) in [
        ("gave-way", "What gave way first", "", entries(sentence::gave_way_in_full), Depth::Brief),
        (
            "lost",
            "Connections that failed or were lost",
            "all measured rounds together",
            entries(sentence::losses),
            Depth::Full,
        ),
        (
            "after",
            "Memory after all were closed",
            watched.trim(),
            entries(sentence::after),
            Depth::Full,
        ),
    ] {
        let section = Section::new(id, heading, depth).noting(note);
        sections.push(section.with([Block::Entries(entries)]));
    }
    sections.push(details(findings, &subjects));
    sections
}

/// A single ramp of one server: its steps, what gave way, and what else is known of it.
pub(crate) fn of_one_ramp(findings: &Findings<'_>) -> Vec<Section> {
    let Some(ramps) = findings.board.ramps.first() else { return Vec::new() };
    let steps: Vec<(&HeldSubject, &Plateau)> = steps(ramps).collect();
    let mut table = plateau_table(findings, ramps, &steps).without(&["subject", "rounds"]);
    // There is no fuller report than this one.
    table.columns.iter_mut().for_each(|column| column.priority = column.priority.min(MORE - 1));
    let lost = Block::Entries(entries(findings, sentence::losses));
    let details = subjects(findings).filter_map(|(_, held)| ramp_details(findings, held));
    vec![
        Section::new("steps", "", Depth::Brief).with([Block::Table(table)]),
        Section::new("losses", "", Depth::Brief).with([lost]),
        Section::new("beside", "", Depth::Brief).with(details.flatten()),
    ]
}

/// What is said of each server and workload of which there is anything to say.
fn entries(findings: &Findings<'_>, says: fn(&HeldSubject) -> Option<String>) -> Vec<Entry> {
    let about = |(ramps, held): (&Ramps, &HeldSubject)| {
        let entry = Entry::new(Tone::Plain, name_and_task(findings, ramps, held));
        Some(entry.with(Tone::Plain, says(held)?))
    };
    subjects(findings).filter_map(about).collect()
}

fn name_and_task(findings: &Findings<'_>, ramps: &Ramps, held: &HeldSubject) -> String {
    format!("{}, {}", findings.title(&held.subject), findings.task(&ramps.workload))
}

/// What is known of each server's last ramp besides its steps.
fn details(findings: &Findings<'_>, subjects: &[(&Ramps, &HeldSubject)]) -> Section {
    let with_heading = |(ramps, held): &(&Ramps, &HeldSubject)| {
        let heading = Block::Heading(name_and_task(findings, ramps, held));
        let blocks = ramp_details(findings, held)?;
        Some(std::iter::once(heading).chain(blocks))
    };
    Section::new("ramps", "What else was seen of each server's last ramp", Depth::Full)
        .with(subjects.iter().filter_map(with_heading).flatten())
}

/// Details of the last round that was measured.
fn ramp_details(findings: &Findings<'_>, held: &HeldSubject) -> Option<Vec<Block>> {
    let mut rounds = held.rounds.iter().rev();
    let last = rounds.find(|round| round.outcome.kind == OutcomeKind::Measured)?;
    let trial = findings.trials.iter().find(|trial| trial.key.number == last.number)?;
    let is_unverified = terms::is_unverified(&findings.run.facts);
    Some(details::blocks(trial.held.as_ref()?, is_unverified))
}

/// The price list: a row for each server and workload.
fn prices(findings: &Findings<'_>, subjects: &[(&Ramps, &HeldSubject)]) -> Table {
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("workload", "held", 0).left().folding(),
        Column::new("connection", "KiB each", 0).meaning(
            "memory of a connection: the slope of memory over the connections that are open",
        ),
        Column::new("message", "CPU/1k", 3)
            .meaning("the server's CPU time for 1,000 messages, at the last step")
            .explained(),
        Column::new("late", "late p99", 4).meaning(
            "99 % of the messages of the last step came no later than this after they were due",
        ),
        Column::new("reached", "reached", 2)
            .meaning("the most that were open where no more than 0.1 % of those requested were lost")
            .explained(),
        Column::new("way", "gave way first", 0)
            .left()
            .meaning(
                "on the first step, of any round, where connections failed, were lost, did not open or were silent, or \
                 p99 of lateness was beyond a tenth of the interval",
            )
            .explained(),
        Column::new("back", "given back", 5)
            .meaning("of the memory that was added, after all connections were closed")
            .explained(),
        Column::new("verdict", "verdict", 6).left().folding(),
        Column::new("conformance", "conformance", 7)
            .folding()
            .explained()
            .meaning(conformance::MEANING),
        Column::new("rounds", "rounds", 8).folding().meaning("measured, of those planned"),
    ];
    let price_row = |(ramps, held): &(&Ramps, &HeldSubject)| price(findings, ramps, held);
    let notes = vec![sentence::price_legend(subjects)];
    Table::of("held", columns, subjects.iter().map(price_row)).noting(notes)
}

fn price(findings: &Findings<'_>, ramps: &Ramps, held: &HeldSubject) -> document::Row {
    let price = &held.price;
    let late = held.plateaus.last().and_then(|last| last.estimate(Figure::PushLateP99));
    let back = price.after.as_ref().and_then(|after| after.given_back_percent);
    let kind = price.memory.filter(|slope| slope.of == Memory::Rss).map_or("", |_| " RSS");
    let written = price.memory.map(|slope| Written::slope(&slope));
    let text = written.as_ref().map_or("–".into(), |each| each.value.clone() + kind);
    let each = Cell::text(text).valued(price.memory.map(|slope| slope.bytes));
    let each = Cell {
        interval: written.and_then(|each| each.interval),
        ..each.marked(mark(held)).toned(Tone::Strong)
    };
    let planned = row(findings, &ramps.workload, held).map_or(held.measured, |row| row.planned);
    let cells = vec![
        name(findings, held),
        Cell::text(findings.task(&ramps.workload)),
        each,
        estimated(Unit::Milliseconds, price.cpu_ms_per_1000),
        estimated(Unit::Milliseconds, late),
        estimated(Unit::Count, price.reached),
        match &price.gave_way {
            _ if held.rounds.is_empty() => Cell::none(),
            None => Cell::text("nothing").toned(Tone::Good),
            Some(found) => Cell::text(pictures::gave_way(found)).toned(Tone::Bad),
        },
        estimated(Unit::Percent, back),
        Cell::verdict(held.verdict),
        conformance::cell(findings, &held.subject),
        Cell::text(format!("{} of {planned}", held.measured)).valued(Some(held.measured as f64)),
    ];
    let slot = Some(findings.slot(&held.subject));
    document::Row { slot, is_reference: held.is_reference, cells, ..document::Row::default() }
}

fn name(findings: &Findings<'_>, held: &HeldSubject) -> Cell {
    let found = findings.board.conformity(&held.subject);
    let is_unmet = found.is_some_and(|found| found.unmet.is_some());
    let marks = Marks::default()
        .when(is_unmet, Mark::Unranked)
        .when(!is_unmet && held.is_reference, Mark::Reference);
    Cell { sign: Sign::Slot, ..Cell::text(findings.title(&held.subject)).marked(marks) }
}

/// Every server's ramp with one workload.
fn plateaus(findings: &Findings<'_>, ramps: &Ramps) -> Section {
    let task = findings.task(&ramps.workload);
    let title = findings.workload_title(&ramps.workload).map(|title| format!(": {title}"));
    let heading = format!("{task}, step by step{}", title.unwrap_or_default());
    let section = Section::new(format!("steps-{}", anchor(&ramps.workload)), heading, Depth::Full);
    let steps: Vec<(&HeldSubject, &Plateau)> = steps(ramps).collect();
    let mut blocks = Vec::new();
    if !steps.is_empty() {
        let summary = format!("Every step of {task} in numbers");
        let table = plateau_table(findings, ramps, &steps);
        blocks.push(Block::fold(summary, vec![Block::Table(table)]));
    }
    for held in &ramps.subjects {
        let row = row(findings, &ramps.workload, held).filter(|row| row.measured() == 0);
        blocks.extend(row.map(|row| {
            let (title, why) = (findings.title(&held.subject), results::unmeasured(row));
            let text = format!("{title} with {}: {}", count(u64::from(held.connections)), why.text);
            Block::paragraph(why.tone, text)
        }));
    }
    let table = findings.board.tables.iter().find(|table| table.workload == ramps.workload);
    blocks.extend(table.into_iter().flat_map(|table| trouble::remarks(findings, table)));
    section.with(blocks)
}

const LATE: PlateauFigure<'static> = PlateauFigure::Own(Figure::PushLateP99);

fn plateau_table(
    findings: &Findings<'_>,
    ramps: &Ramps,
    entries: &[(&HeldSubject, &Plateau)],
) -> Table {
    let shown = shown(findings, entries);
    let has_reference = ramps.subjects.iter().any(|held| held.is_reference);
    let mut columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("connections", "connections", 0),
    ];
    for &(figure, priority) in &shown {
        let column = Column::new(figure.name().to_string(), figure.heading(), priority)
            .meaning(figure.meaning());
        let is_foreign = matches!(figure, PlateauFigure::Probe(_)) && priority < MORE;
        columns.push(if is_foreign { column.explained() } else { column });
        if figure == LATE && has_reference {
            let meaning = "the late p99 of dyno's own server with as many connections: what the load and the machine add";
            let column = Column::new("late_reference", "(ref.)", 6);
            columns.push(column.meaning(meaning).explained());
        }
    }
    columns.push(Column::new("rounds", "rounds", 5).folding());
    let rows = entries.iter().map(|&(held, plateau)| {
        let connections = count(plateau.connections as u64);
        let title = name(findings, held);
        let marks = title.marks.and(mark(held));
        let mut cells = vec![
            title.marked(marks),
            Cell::text(connections).valued(Some(plateau.connections as f64)),
        ];
        for &(figure, _) in &shown {
            cells.push(cell(figure, plateau));
            if figure == LATE && has_reference {
                let reference = ramps.reference(plateau.connections);
                let reference = reference.filter(|_| !held.is_reference);
                let late = reference.and_then(|other| other.estimate(Figure::PushLateP99));
                cells.push(late.map_or(Cell::text(""), |late| {
                    estimated(Unit::Milliseconds, Some(late)).toned(Tone::Dim)
                }));
            }
        }
        cells.push(Cell::text(count(plateau.rounds as u64)).toned(Tone::Dim));
        let slot = Some(findings.slot(&held.subject));
        document::Row { slot, is_reference: held.is_reference, cells, ..document::Row::default() }
    });
    let notes = vec![sentence::plateau_legend(ramps)];
    let key = format!("steps-{}", anchor(&ramps.workload));
    Table::of(key, columns, rows).noting(notes)
}

fn subjects<'t>(findings: &'t Findings<'_>) -> impl Iterator<Item = (&'t Ramps, &'t HeldSubject)> {
    let ramps = findings.board.ramps.iter();
    ramps.flat_map(|ramps| ramps.subjects.iter().map(move |held| (ramps, held)))
}

fn steps(ramps: &Ramps) -> impl Iterator<Item = (&HeldSubject, &Plateau)> {
    let subjects = ramps.subjects.iter();
    subjects.flat_map(|held| held.plateaus.iter().map(move |plateau| (held, plateau)))
}

/// The row of the board with the trials' outcomes and doubts.
pub(super) fn row<'t>(
    findings: &'t Findings<'_>,
    workload: &str,
    held: &HeldSubject,
) -> Option<&'t Row> {
    let is_its = |(table, row): &(&str, &Row)| {
        *table == workload
            && row.subject == held.subject
            && row.point == Point::Held(held.connections)
    };
    findings.rows().find(is_its).map(|(_, row)| row)
}

fn mark(held: &HeldSubject) -> Marks {
    results::mark(held.verdict.filter(|_| 0 < held.measured))
}

/// The figures that any server has, and how soon each is left out.
fn shown<'t>(
    findings: &'t Findings<'_>,
    entries: &[(&HeldSubject, &Plateau)],
) -> Vec<(PlateauFigure<'t>, u8)> {
    let is_there = |figure: PlateauFigure<'_>| {
        entries.iter().any(|(_, plateau)| plateau.estimate(figure).is_some())
    };
    let has_cpu = is_there(Figure::StepCpuShare.into());
    let has_pss = entries.iter().all(|(_, plateau)| plateau.estimate(Figure::PssMean).is_some());
    let is_rare = |figure: Figure| match figure {
        Figure::Missed => entries.iter().all(|(_, plateau)| plateau.sums.missed == 0),
        Figure::Waiting => entries.iter().all(|(_, plateau)| plateau.sums.waiting == 0),
        _ => false,
    };
    let own = Figure::OF_STEPS.into_iter().filter(|figure| !is_rare(*figure));
    let own = own.filter_map(|figure| {
        let priority = match figure {
            // RSS matters where PSS was not always read.
            Figure::RssMean if !has_pss => Some(1),
            Figure::PssMean if !has_pss => Some(9),
            // Where no process was watched, there is room for what came of it.
            Figure::Messages if !has_cpu => Some(1),
            _ => results::priority(figure),
        };
        Some((figure.into(), priority?))
    });
    let mut shown: Vec<(PlateauFigure<'t>, u8)> = own.chain(of_probes(findings)).collect();
    shown.retain(|(figure, _)| is_there(*figure));
    shown
}

/// The figures of the run's probes, each of which has its own first ones.
fn of_probes<'t>(findings: &'t Findings<'_>) -> impl Iterator<Item = (PlateauFigure<'t>, u8)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let figures = findings.board.readings.iter().flat_map(|reading| &reading.figures);
    figures.map(move |figure| {
        let probe = figure.name.split('_').next().unwrap_or_default();
        let place = places.entry(probe).or_default();
        *place += 1;
        (figure.into(), OF_PROBES.get(*place - 1).copied().unwrap_or(MORE + 10))
    })
}

fn cell(figure: PlateauFigure<'_>, plateau: &Plateau) -> Cell {
    if let Some(sum) = summed(figure, plateau) {
        let tone = if 0 < sum { Tone::Bad } else { Tone::Dim };
        return Cell::text(count(sum)).valued(Some(sum as f64)).toned(tone);
    }
    let cell = estimated(figure.unit(), plateau.estimate(figure));
    match figure {
        PlateauFigure::Own(Figure::Open) => cell.toned(Tone::Strong),
        PlateauFigure::Own(Figure::Messages) => {
            let marks = cell.marks.when(plateau.cuts_beats, Mark::CutBeats);
            cell.marked(marks)
        }
        PlateauFigure::Own(_) | PlateauFigure::Probe(_) => cell,
    }
}

/// The sum of all rounds: with three rounds the median would hide what one of them lost.
fn summed(figure: PlateauFigure<'_>, plateau: &Plateau) -> Option<u64> {
    let sums = &plateau.sums;
    let PlateauFigure::Own(figure) = figure else { return None };
    match figure {
        Figure::StepFailed => Some(sums.failed),
        Figure::Lost => Some(sums.lost),
        Figure::Silent => Some(sums.silent),
        Figure::Waiting => Some(sums.waiting),
        Figure::Missed => Some(sums.missed),
        _ => None,
    }
}

fn estimated(unit: Unit, estimate: Option<Estimate>) -> Cell {
    let Some(estimate) = estimate else { return Cell::none() };
    Written::estimate(unit, &estimate).cell(estimate.value)
}

fn shown_in(unit: Unit, estimate: &Estimate) -> String {
    Written::estimate(unit, estimate).bounded()
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
