//! A load as a page for a browser: its report, and its course over time.

use super::{FinishedLoad, document};
use crate::Findings;
use crate::document::{Block, Depth, Section};
use crate::time::utc;

/// One self-contained HTML file. The findings are those of the run that this load is.
pub fn page(run: &FinishedLoad, findings: &Findings<'_>) -> String {
    let mut document = document(run);
    document.label = format!("dyno load · {}", utc(run.began_unix_ms));
    let pictures = crate::detail::of_load(findings);
    let course = Section::new("course", "How long answers took, and when", Depth::Page)
        .with([Block::picture(pictures)]);
    // After the rates, and before the percentiles as numbers.
    let place = document.sections.iter().position(|section| section.id == "latencies");
    document.sections.insert(place.unwrap_or(document.sections.len()), course);
    for (id, heading) in [
        ("rates", "What was measured"),
        ("steps", "Step by step"),
        ("latencies", "Times"),
        ("books", "What became of the requests"),
        ("evidence", "The first failures, byte by byte"),
        ("beside", "Connections, and dyno itself"),
    ] {
        let mut sections = document.sections.iter_mut();
        if let Some(section) = sections.find(|section| section.id == id) {
            section.heading = heading.into();
        }
    }
    document.sections.retain(|section| section.id != "histogram");
    crate::page::alone(&document).into_string()
}
