//! The end report of a load as a document.

use super::details::Details;
use super::{FinishedLoad, requirements, sentence, words};
use crate::document::{Depth, Document, Paragraph, Section, Tone};
use crate::{agents, written};

/// The whole report.
pub fn document(run: &FinishedLoad) -> Document {
    let asked = &run.asked;
    let mut sections = Details::of(run).sections();
    sections.push(agents::lost(&run.lost));
    sections.extend(agents::section(&run.agents));
    sections.extend([
        run.verdict.section(),
        Section::new("required", "What was required", Depth::Brief).with(requirements::blocks(run)),
    ]);
    sections.retain(|section| !section.blocks.is_empty());
    let strict = run.order.limits.lenient.then(|| {
        Paragraph::new(Tone::Dim, "lenient: broken framing that old servers send is accepted")
    });
    Document {
        title: format!("{} at {}", asked.words(), asked.address),
        notes: strict.into_iter().collect(),
        answer: vec![sentence::of(run)],
        verdict: run.verdict.word,
        conditions: vec![conditions(run), written::checked(&super::checked(run))],
        sections,
        ..Document::default()
    }
}

fn conditions(run: &FinishedLoad) -> String {
    let order = &run.order;
    let lanes = match order.lanes {
        1 => "1 thread".to_string(),
        lanes => format!("{lanes} threads"),
    };
    let cpus = match order.cpus.as_slice() {
        [] => String::new(),
        cpus => format!(" on CPU {}", words::list(cpus)),
    };
    format!("{} · {lanes}{cpus}", words::of_load(order))
}

#[cfg(test)]
mod tests;
