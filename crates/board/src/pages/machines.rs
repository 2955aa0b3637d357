//! The classes of machines: the facts that each follows from, and what people wrote of it.

use std::collections::BTreeMap;

use report::document::{Block, Depth, Document, Fact, Section, Tone};

use super::workloads::{address, by_class};
use super::{File, links, page, root, written_links};
use crate::folder::Known;
use crate::summary::RunSummary;

pub(crate) fn machines(known: &Known) -> File {
    let path = "m/index.html";
    let mut classes: BTreeMap<(bool, &str), Vec<&RunSummary>> = BTreeMap::new();
    for run in &known.runs {
        let label = run.class.label.as_str();
        classes.entry((!known.written.is_own(label), label)).or_default().push(run);
    }
    let sections = classes.into_iter().map(|((_, label), runs)| class(known, label, &runs));
    let document = Document {
        label: "machines are compared only within a class".into(),
        title: "Machines".into(),
        answer: vec![
            "A class follows from the facts that dyno read: the CPU's model, the CPUs used, the memory, the kernel. What \
             its owner says of it is not a part of it."
                .into(),
        ],
        sections: sections.collect(),
        ..Document::default()
    };
    page(known, path, &document)
}

fn class(known: &Known, label: &str, runs: &[&RunSummary]) -> Section {
    let own = if known.written.is_own(label) { "the board's own" } else { "not the board's own" };
    let facts = runs.last().map_or(&[][..], |run| &run.class.facts);
    let facts = facts.iter().map(|(name, value)| Fact::new(*name, value));
    let says = format!("{own}; {}", units::counted(runs.len() as u64, "run", "runs"));
    let root = root("m/index.html");
    let workloads = by_class(known);
    let pages = workloads.keys().filter(|(_, class)| *class == label);
    let pages: Vec<_> = pages
        .map(|(workload, class)| {
            (format!("{root}{}", address(workload, class)), workload.to_string(), String::new())
        })
        .collect();
    let mut blocks = vec![Block::paragraph(Tone::Dim, says), Block::Facts(facts.collect())];
    blocks.extend(links(pages));
    if let Some(about) = known.written.machines.get(label) {
        let texts = [about.title.clone(), about.notes.clone(), about.maintainers.join(", ")];
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        blocks.extend(texts.map(|text| Block::paragraph(Tone::Plain, text)));
        blocks.extend(written_links(&about.links));
    }
    Section::new(label.to_string(), label, Depth::Brief).with(blocks)
}
