//! How a board's figures come about, how that changed, and what was wrong.

use report::document::{Block, Depth, Document, Entry, Section, Tone};

use super::{File, page};
use crate::folder::Known;

/// How this dyno judges and orders rows.
const RULES: [&str; 6] = [
    "Every figure is recomputed from the counts and histograms in the run's file. What a file claims is compared with that; \
     a file whose content is not that of its id is refused.",
    "Rows are compared only with rows of the same workload file, manner of request, load, division and class of machines.",
    "Of each server the newest valid row stands in a table. Suspect and invalid rows, quick runs, single rounds and files with \
     differing claims are shown without a number, with the reason.",
    "Rows have numbers where a difference is shown, at 5 % for a whole table: rows of one run round by round, rows of two \
     runs by Welch's comparison. What is not shown to differ is one group.",
    "An interval shows how much the rounds of a run differ. Another day or machine may differ more: only a repetition shows \
     that.",
    "A file never changes. One that is wrong is superseded: its page stays, with the reason, and its rows are in no table but \
     those of its round.",
];

pub(crate) fn method(known: &Known) -> File {
    let rules = RULES.iter().map(|says| Block::paragraph(Tone::Plain, *says));
    let superseded = known.written.superseded.iter().map(|it| {
        Entry::new(Tone::Bad, format!("run {}", it.run)).with(Tone::Plain, it.reason.clone())
    });
    let document = Document {
        label: "how the figures come about".into(),
        title: "Method".into(),
        sections: vec![
            Section::new("rules", "", Depth::Brief).with(rules),
            Section::new("changes", "Changes and errata", Depth::Brief)
                .with(changes(&known.written.changes)),
            Section::new("errata", "Superseded runs", Depth::Brief)
                .with([Block::Entries(superseded.collect())]),
        ],
        ..Document::default()
    };
    page(known, "method/index.html", &document)
}

/// CHANGES.md: its headings and paragraphs, as text.
fn changes(text: &str) -> Vec<Block> {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    let block = |part: &str| match part.trim_start_matches('#') {
        rest if rest.len() < part.len() => Block::Heading(rest.trim().into()),
        rest => Block::paragraph(Tone::Plain, rest.lines().collect::<Vec<_>>().join(" ")),
    };
    parts.take(500).map(block).collect()
}
