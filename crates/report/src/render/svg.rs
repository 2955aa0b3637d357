//! Charts, each alone.

use super::Format;

/// A drawing, and the name of a file for it.
pub struct Chart {
    pub name: String,
    pub svg: String,
}

/// Each is drawn when it is taken.
pub type Charts<'t> = Box<dyn Iterator<Item = Chart> + 't>;

pub static SVG: Format = Format {
    name: "svg",
    about: "A workload's chart",
    ending: "svg",
    media_type: "image/svg+xml",
    make: |shown, _| {
        let first = shown.charts().next();
        first.map(|chart| chart.svg).ok_or_else(|| "it has no chart".into())
    },
};
