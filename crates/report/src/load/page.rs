//! A single load as a page for a browser: what a terminal shows without headings has them there.

use crate::document::Document;

/// Names the sections, and leaves out the pictures that are made of characters.
pub(crate) fn named(document: &mut Document) {
    document.sections.retain(|section| section.id != "histogram");
    for section in &mut document.sections {
        let heading = match section.id.as_ref() {
            "rates" => "What was measured",
            "steps" => "Step by step",
            "latencies" => "Times",
            "books" => "What became of the requests",
            "evidence" => "The first failures, byte by byte",
            "beside" => "Connections, and dyno itself",
            _ => continue,
        };
        section.heading = heading.into();
    }
}
