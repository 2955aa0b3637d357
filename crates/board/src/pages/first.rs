//! The first page: the question, the newest round's answer, one table, what changed, the common questions.

use report::document::{Block, Depth, Document, Paragraph, Section, Tone};

use super::rounds::{answer, of_round};
use super::workloads::{self, by_class, order};
use super::{File, beside, links, page};
use crate::changes::{Change, sentence};
use crate::folder::Known;
use crate::ranking::{Ranked, Shown};
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
        .with([Block::Table(table("0", "", &rows, with))])
        .with(links([more]))
}

fn main_rows(known: &Known) -> Option<(String, String, Vec<Ranked<'_>>)> {
    let rounds = known.written.newest_rounds();
    let is_newest =
        |shown: &&Shown<'_>| rounds.first().is_none_or(|(_, round)| of_round(round, &shown.run.id));
    let presets = &known.written.settings.presets;
    let asked = |workload: &str| presets.iter().position(|it| it.workload == workload);
    let all = by_class(known);
    let own = all.iter().filter(|((_, class), _)| known.written.is_own(class));
    let (&(workload, class), loads) = own.min_by_key(|((workload, _), loads)| {
        let is_older = !loads.values().flatten().any(|shown| is_newest(&shown));
        (is_older, asked(workload).unwrap_or(presets.len()))
    })?;
    // Of a workload that is not in the newest round all rows.
    let of_newest = loads.values().map(|rows| rows.iter().filter(is_newest).copied().collect());
    let of_newest: Vec<Shown<'_>> = of_newest.max_by_key(Vec::len)?;
    let largest = loads.values().max_by_key(|rows| rows.len())?;
    let rows = order(if of_newest.is_empty() { largest } else { &of_newest });
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
    Section::new("presets", "Common questions", Depth::Brief).with(links(found))
}

fn refused(known: &Known) -> Section {
    let number = known.refused.len() as u64;
    let link = (0 < number).then(|| {
        let files = units::counted(number, "file", "files");
        ("r/index.html#refused".into(), files, "each with its reason".into())
    });
    Section::new("refused", "Files that were refused", Depth::Brief).with(links(link))
}
