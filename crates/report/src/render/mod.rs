//! A file for each format of documents, and the list of all formats.

pub mod csv;
pub mod html;
mod markdown;
mod terminal;

use crate::document::Document;

pub use markdown::shown as markdown_text;
pub use terminal::Screen;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Markdown,
    Html,
    Csv,
    Json,
    Svg,
}

impl Format {
    pub const ALL: [Format; 6] =
        [Format::Text, Format::Markdown, Format::Html, Format::Csv, Format::Json, Format::Svg];

    /// Its name behind `--format` and in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Svg => "svg",
        }
    }

    /// What it is useful for.
    pub fn about(self) -> &'static str {
        match self {
            Format::Text => "Tables for people",
            Format::Markdown => "Sentences and tables for a README",
            Format::Html => "One self-contained page",
            Format::Csv => "A line for each trial",
            Format::Json => "Everything, as docs/json.md says",
            Format::Svg => "A workload's chart",
        }
    }

    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The ending of a file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Text => "txt",
            Format::Markdown | Format::Html | Format::Csv | Format::Json | Format::Svg => {
                self.name()
            }
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; charset=utf-8",
            Format::Markdown => "text/markdown; charset=utf-8",
            Format::Html => "text/html; charset=utf-8",
            Format::Csv => "text/csv; charset=utf-8",
            Format::Json => "application/json",
            Format::Svg => "image/svg+xml",
        }
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
