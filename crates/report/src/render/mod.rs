//! A file for each format of results, and the list of all formats. What is shown is `Shown`: it says what of it goes
//! into each of them.

pub mod csv;
pub mod html;
mod json;
mod junit;
mod markdown;
mod measures;
mod svg;
mod terminal;
mod tsv;

use crate::document::Document;
pub use crate::page::HTML;

pub use csv::CSV;
pub use json::JSON;
pub use junit::JUNIT;
pub(crate) use junit::{End, Suite, Test, written as test_cases};
pub use markdown::{MARKDOWN, shown as markdown_text};
pub use measures::Measure;
pub use svg::{Chart, Charts, SVG};
pub use terminal::{Glyphs, Screen, TEXT};

/// All formats.
pub static FORMATS: [&Format; 11] = [
    &TEXT,
    &MARKDOWN,
    &HTML,
    &CSV,
    &JSON,
    &SVG,
    &JUNIT,
    &tsv::TSV,
    &measures::BMF,
    &measures::BIGGER,
    &measures::SMALLER,
];

/// A format in which results are written.
#[derive(Debug)]
pub struct Format {
    /// Its name behind `--format`.
    pub name: &'static str,
    /// What it is useful for.
    pub about: &'static str,
    /// The ending of a file's name.
    pub ending: &'static str,
    pub media_type: &'static str,
    /// A result in this format, or why there is none of it.
    pub(crate) make: fn(&dyn Shown, Screen) -> Result<String, String>,
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Format {
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.into_iter().find(|format| format.name == name)
    }

    /// The format whose files have this ending.
    pub fn of_ending(ending: &str) -> Option<&'static Format> {
        FORMATS.into_iter().find(|format| format.ending == ending)
    }

    /// The result in this format; on this screen, if it is a text.
    pub fn of(&self, shown: &dyn Shown, screen: Screen) -> Result<String, String> {
        (self.make)(shown, screen)
    }
}

/// A result, as the formats need it. Most of them are made of its document; what a result does not have is no format of
/// it.
pub trait Shown {
    /// As sentences, tables and drawings.
    fn document(&self) -> Document;

    /// For programs.
    fn json(&self) -> serde_json::Result<String>;

    /// One self-contained page.
    fn page(&self) -> String {
        crate::page::alone(&self.document()).into_string()
    }

    fn text(&self, screen: Screen) -> String {
        text(&self.document(), screen)
    }

    fn markdown(&self) -> String {
        markdown(&self.document())
    }

    /// A line for each trial.
    fn csv(&self) -> Option<String> {
        None
    }

    /// The charts, the first of which is drawn if there is room for one.
    fn charts(&self) -> Charts<'_> {
        Box::new(std::iter::empty())
    }

    /// Figures of servers, each by itself.
    fn measures(&self) -> Option<Vec<Measure>> {
        None
    }

    /// Test cases for a CI server.
    fn junit(&self) -> Option<String> {
        None
    }
}

/// For a terminal.
pub fn text(document: &Document, screen: Screen) -> String {
    terminal::render(document, screen)
}

/// For a README.
pub fn markdown(document: &Document) -> String {
    markdown::render(document)
}

#[cfg(test)]
mod tests;
