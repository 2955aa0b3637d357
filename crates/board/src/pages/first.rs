//! The first page: the question, the newest round's answer, one table, what changed, the common questions.

use report::document::{Block, Depth, Document, Paragraph, Section, Tone};

use super::rounds::{answer, of_round};
use super::workloads::{self, Loads, by_class, order};
use super::{File, beside, links, page};
use crate::changes::{Change, sentence};
use crate::folder::Known;
use crate::ranking::Ranked;
use crate::rows_table::{With, table};

/// So many sentences of the round's answer.
const SENTENCES: usize = 2;
/// So many changes are named, and so many workloads listed.
const CHANGES: usize = 8;
const LISTED: usize = 100;

pub(crate) fn first(known: &Known, changes: &[Change<'_>]) -> File {
    let settings = &known.written.settings;
    let rounds = known.written.newest_rounds();
    let newest = rounds.first();
    let mut sections = vec![main_table(known)];
    let words = newest.map_or(Vec::new(), |(_, round)| round.changes.clone());
    let shown = changes.iter().rev().take(CHANGES).map(sentence);
    let changed: Vec<Block> =
        words.into_iter().chain(shown).map(|says| Block::paragraph(Tone::Plain, says)).collect();
    sections.push(Section::new("changed", "What changed", Depth::Brief).with(changed));
    sections.push(presets(known));
    let headings = ["Every workload on the board's own machines", "On other machines"];
    sections.extend(workloads::lists(known, "", headings, LISTED));
    sections.push(refused(known));
    let document = Document {
        label: newest.map_or_else(
            || settings.title.clone(),
            |(_, round)| format!("{}, {}", round.title, round.date),
        ),
        title: settings.question.clone(),
        answer: match newest {
            Some((_, round)) => answer(known, round).into_iter().take(SENTENCES).collect(),
            None => vec!["There is no round yet.".into()],
        },
        conditions: Some(settings.about.clone()).filter(|it| !it.is_empty()).into_iter().collect(),
        sections,
        ending: vec![Paragraph::new(
            Tone::Dim,
            "Rows that are not shown to differ have the same numbers. Suspect and invalid rows have none.",
        )],
        ..Document::default()
    };
    page(known, "index.html", &document)
}

/// The table that answers the first common question on the board's own machines: the rows of the newest round.
fn main_table(known: &Known) -> Section {
    let section = Section::new("table", "", Depth::Brief);
    let Some((heading, address, rows)) = main_rows(known) else {
        let none = "No run on one of the board's own machines is here yet.";
        return section.with([Block::paragraph(Tone::Plain, none)]);
    };
    let with = With { ranks: true, pale_before: known.pale_before(), ..With::default() };
    let more = (address, "the page of this workload".to_string(), "all loads".to_string());
    Section::new("table", heading, Depth::Brief)
        .with([Block::Table(table("0", "", &rows, with)), links([more])])
}

fn main_rows(known: &Known) -> Option<(String, String, Vec<Ranked<'_>>)> {
    let rounds = known.written.newest_rounds();
    let is_newest = |id: &str| rounds.first().is_none_or(|(_, round)| of_round(round, id));
    let wanted: Vec<&str> =
        known.written.settings.presets.iter().map(|preset| preset.workload.as_str()).collect();
    let mut best: Option<(bool, usize, &str, &str, &Loads<'_>)> = None;
    let all = by_class(known);
    for ((workload, class), loads) in &all {
        if !known.written.is_own(class) {
            continue;
        }
        let of_newest = loads.values().flatten().filter(|shown| is_newest(&shown.run.id)).count();
        let place = wanted.iter().position(|name| name == workload).unwrap_or(wanted.len());
        let key = (0 < of_newest, usize::MAX - place);
        if best.is_none_or(|(has, other, ..)| (has, other) < key) {
            best = Some((key.0, key.1, workload, class, loads));
        }
    }
    let (has_newest, _, workload, class, loads) = best?;
    let kept = |rows: &&Vec<crate::ranking::Shown<'_>>| {
        rows.iter().filter(|shown| !has_newest || is_newest(&shown.run.id)).count()
    };
    let rows = loads.values().max_by_key(kept)?;
    let shown = rows.iter().copied().filter(|shown| !has_newest || is_newest(&shown.run.id));
    let rows = order(&shown.collect::<Vec<_>>());
    let place = rows.first().map(|ranked| ranked.shown.row.place.clone()).unwrap_or_default();
    let heading = format!("{workload} at {place}, on {class}");
    Some((heading, workloads::address(workload, class), rows))
}

/// Links to what people ask most.
fn presets(known: &Known) -> Section {
    let classes = by_class(known);
    let found = known.written.settings.presets.iter().filter_map(|preset| {
        let address = match preset.compare.as_slice() {
            [a, b] => beside::address(a, b),
            _ => {
                let mut pages = classes.keys().filter(|(workload, _)| *workload == preset.workload);
                let own = pages.clone().find(|(_, class)| known.written.is_own(class));
                let (workload, class) = own.or_else(|| pages.next())?;
                workloads::address(workload, class)
            }
        };
        Some((address, preset.title.clone(), String::new()))
    });
    let found: Vec<_> = found.collect();
    let section = Section::new("presets", "Common questions", Depth::Brief);
    if found.is_empty() { section } else { section.with([links(found)]) }
}

fn refused(known: &Known) -> Section {
    let section = Section::new("refused", "Files that were refused", Depth::Brief);
    match known.refused.len() {
        0 => section,
        number => section.with([links([(
            "r/index.html#refused".into(),
            units::counted(number as u64, "file", "files"),
            "each with its reason".into(),
        )])]),
    }
}
