//! Rounds: frozen lists of runs. What was printed of them stays as it was, whatever is computed of them later.

use report::document::{Block, Depth, Document, Section, Tone};

use super::{File, links, page, root, runs};
use crate::folder::Known;
use crate::ranking::Shown;
use crate::rows_table::{ROWS_MOST, With, table, unnumbered};
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
    let all = [("own", "Its rows", own), ("others", "Its rows on other machines", others)];
    let mut sections = Vec::from(all.map(|(id, heading, rows)| {
        let with = With { printed: true, ..With::default() };
        let table = Block::Table(table(id, &root, &unnumbered(rows), with));
        Section::new(id, heading, Depth::Brief).with([table])
    }));
    let changes = round.changes.iter().map(|says| Block::paragraph(Tone::Plain, says));
    sections.push(Section::new("changed", "What changed", Depth::Brief).with(changes));
    let own_runs = round.runs.iter().map(|id| match known.run(id) {
        Some(run) => (
            format!("{root}{}", runs::address(run)),
            run.short.clone(),
            format!("{}, {}{}", run.experiment, run.date(), since(known, run)),
        ),
        None => (format!("{root}r/index.html"), id.clone(), "not on this board".into()),
    });
    sections.push(Section::new("runs", "Its runs", Depth::Brief).with(links(own_runs)));
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
        sections: vec![Section::new("rounds", "", Depth::Brief).with(links(rounds))],
        ..Document::default()
    };
    page(known, path, &document)
}
