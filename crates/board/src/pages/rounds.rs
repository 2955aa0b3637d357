//! Rounds: frozen lists of runs. What was printed of them stays as it was, whatever is computed of them later.

use analysis::Estimate;
use report::document::{Block, Cell, Column, Depth, Document, Row, Section, Sign, Table, Tone};
use report::run::cell_of;

use super::{File, links, page, root};
use crate::folder::Known;
use crate::ranking::Shown;
use crate::rows_table::ROWS_MOST;
use crate::settings::{Round, is_id};
use crate::slug::slug;
use crate::summary::RunSummary;

pub(crate) fn address(name: &str) -> String {
    format!("round/{}/index.html", slug(name))
}

/// Whether the run with this id is one of the round's.
pub(crate) fn of_round(round: &Round, id: &str) -> bool {
    round.runs.iter().any(|written| is_id(written, id))
}

/// The answer as it was printed; before it is, that of its first runs.
pub(crate) fn answer(known: &Known, round: &Round) -> Vec<String> {
    if !round.sentences.is_empty() {
        return round.sentences.clone();
    }
    let runs = round.runs.iter().filter_map(|id| known.run(id));
    let answers = runs.filter_map(|run| Some((&run.experiment, run.answer.first()?)));
    match round.runs.len() {
        0 | 1 => answers.map(|(_, answer)| answer.clone()).collect(),
        _ => answers.map(|(experiment, answer)| format!("{experiment}: {answer}")).collect(),
    }
}

pub(crate) fn of(known: &Known, name: &str, round: &Round) -> File {
    let path = address(name);
    let root = root(&path);
    let is_own = |shown: &Shown<'_>| known.written.is_own(shown.class());
    let rows = rows(known, round);
    let (own, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_own);
    let mut sections = Vec::new();
    for (id, heading, rows) in
        [("own", "Its rows", own), ("others", "Its rows on other machines", others)]
    {
        if !rows.is_empty() {
            let table = Block::Table(table(id, &root, &rows));
            sections.push(Section::new(id, heading, Depth::Brief).with([table]));
        }
    }
    let changes = round.changes.iter().map(|says| Block::paragraph(Tone::Plain, says));
    sections.push(Section::new("changed", "What changed", Depth::Brief).with(changes));
    let runs = round.runs.iter().map(|id| match known.run(id) {
        Some(run) => (
            format!("{root}r/{}/index.html", run.short),
            run.short.clone(),
            format!("{}, {}{}", run.experiment, run.date(), since(known, run)),
        ),
        None => (format!("{root}r/index.html"), id.clone(), "not on this board".into()),
    });
    sections.push(Section::new("runs", "Its runs", Depth::Brief).with([links(runs)]));
    let frozen = match round.sentences.is_empty() {
        true => "Not frozen yet: the round's file has no `sentences`.",
        false => {
            "The figures are those that its files published. Where a later dyno computes another one, it stands beside."
        }
    };
    let document = Document {
        label: format!("round {name} · {}", round.date),
        title: round.title.clone(),
        answer: answer(known, round),
        conditions: vec![frozen.into()],
        sections,
        ..Document::default()
    };
    page(known, &path, &document)
}

/// What was found of a run since.
fn since(known: &Known, run: &RunSummary) -> String {
    let superseded = known.superseded(run);
    superseded.map_or(String::new(), |it| format!("; superseded since: {}", it.reason))
}

/// The rows of its runs, superseded ones among them, in the order of the runs.
fn rows<'k>(known: &'k Known, round: &Round) -> Vec<Shown<'k>> {
    let runs = known.runs.iter().enumerate().filter(|(_, run)| of_round(round, &run.id));
    let rows =
        runs.flat_map(|(place, run)| run.rows.iter().map(move |row| Shown { place, run, row }));
    rows.take(ROWS_MOST).collect()
}

fn table(key: &str, root: &str, rows: &[Shown<'_>]) -> Table {
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("load", "workload and load", 0).left(),
        Column::new("figure", "figure", 2).left(),
        Column::new("printed", "as printed", 0),
        Column::new("now", "as computed now", 1),
        Column::new("verdict", "verdict", 0).left(),
        Column::new("version", "server's version", 1).left(),
        Column::new("trials", "trials", 1),
        Column::new("date", "date", 1).left(),
        Column::new("dyno", "dyno", 1).left(),
        Column::new("class", "machine class", 1).left(),
        Column::new("run", "run", 1).left(),
    ];
    Table::of(
        key,
        columns,
        rows.iter().map(|Shown { run, row, .. }: &Shown<'_>| {
            let now =
                row.estimate(row.leading).map_or_else(Cell::none, |it| cell_of(row.leading, it));
            let printed = printed(row).unwrap_or_else(|| now.clone());
            let is_same = (&printed.text, &printed.interval) == (&now.text, &now.interval);
            let now = if is_same { Cell::text("the same").toned(Tone::Dim) } else { now };
            let server = Cell { sign: Sign::Slot, ..Cell::text(&row.title) };
            let cells = vec![
                server.linked(format!("{root}s/{}/index.html", slug(&row.server))),
                Cell::text(format!("{}, {}", row.task, row.place)),
                Cell::text(row.leading.heading()),
                printed.toned(Tone::Strong),
                now,
                Cell { sign: Sign::Verdict(row.verdict), ..Cell::text(row.verdict.name()) },
                Cell::text(row.stated_version()),
                Cell::text(format!("{}/{}", row.measured, row.planned)),
                Cell::text(run.date()),
                Cell::text(&run.dyno),
                Cell::text(&run.class.label),
                Cell::text(&run.short[..run.short.len().min(8)])
                    .linked(format!("{root}r/{}/index.html", run.short)),
            ];
            Row { cells, is_reference: row.is_reference, ..Row::default() }
        }),
    )
}

/// The figure that the row's file claims.
fn printed(row: &crate::summary::RowSummary) -> Option<Cell> {
    let (value, low, high) = row.claimed?;
    let now = row.estimate(row.leading)?;
    Some(cell_of(row.leading, &Estimate { value, low, high, ..*now }))
}

/// The list of all rounds, newest first.
pub(crate) fn list(known: &Known) -> File {
    let path = "round/index.html";
    let root = root(path);
    let rounds = known.written.newest_rounds().into_iter().map(|(name, round)| {
        (format!("{root}{}", address(name)), round.title.clone(), round.date.clone())
    });
    let document = Document {
        label: "frozen lists of runs".into(),
        title: "Rounds".into(),
        sections: vec![Section::new("rounds", "", Depth::Brief).with([links(rounds)])],
        ..Document::default()
    };
    page(known, path, &document)
}
