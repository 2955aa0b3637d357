//! A load, or several of one kind, as a page for a browser: the report, and the course over time.

use super::{FinishedLoad, document, repeated};
use crate::Findings;
use crate::document::{Block, Depth, Document, Section};
use crate::page::alone;
use crate::render::Shown;
use crate::time::utc;

/// One self-contained HTML file. The findings are those of the run that this load is.
pub fn page(run: &FinishedLoad, findings: &Findings<'_>) -> String {
    let mut document = document(run);
    document.label = format!("dyno load · {}", utc(run.began_unix_ms));
    insert_course(&mut document, findings, "latencies");
    for (id, heading) in [
        ("rates", "What was measured"),
        ("steps", "Step by step"),
        ("latencies", "Times"),
        ("books", "What became of the requests"),
        ("evidence", "The first failures, byte by byte"),
        ("beside", "Connections, and dyno itself"),
    ] {
        name(&mut document, id, heading);
    }
    document.sections.retain(|section| section.id != "histogram");
    alone(&document).into_string()
}

/// The same of several loads. The findings are those of the run that they are.
pub fn page_of_all(loads: &[FinishedLoad], findings: &Findings<'_>) -> String {
    let csv = findings.csv().unwrap_or_default();
    crate::page::page(findings, &repeated(loads, findings), &csv).into_string()
}

/// Puts the pictures before this section, or at the end.
fn insert_course(document: &mut Document, findings: &Findings<'_>, before: &str) {
    let pictures = crate::detail::of_load(findings);
    let course = Section::new("course", "How long answers took, and when", Depth::Page)
        .with([Block::picture(pictures)]);
    let place = document.sections.iter().position(|section| section.id == before);
    document.sections.insert(place.unwrap_or(document.sections.len()), course);
}

fn name(document: &mut Document, id: &str, heading: &str) {
    let mut sections = document.sections.iter_mut();
    if let Some(section) = sections.find(|section| section.id == id) {
        section.heading = heading.into();
    }
}
