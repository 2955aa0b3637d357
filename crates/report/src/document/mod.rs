//! What is shown, without how: headings, paragraphs, tables, drawings, evidence. It is composed once; each format in
//! `render/` shows it in its own way, and none of them knows what a server is.

mod marks;
mod table;

use std::borrow::Cow;

use analysis::{Gravity, Verdict, Worth};
use units::count;

use crate::markup::Markup;
use crate::paint::Line;
pub use crate::paint::Tone;
pub use marks::{Mark, Marks};
pub use table::{Align, Cell, Column, MORE, Row, Sign, Table, View};

/// A whole report.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What it is about: the experiment, the run, when.
    pub label: String,
    /// The question, or what was done.
    pub title: String,
    /// What a reader must know before the first number.
    pub notes: Vec<Paragraph>,
    /// The answer in a few sentences.
    pub answer: Vec<String>,
    /// The verdict on the whole.
    pub verdict: Option<Verdict>,
    /// How many rows are valid, suspect, invalid, where there are rows.
    pub worth: Option<Worth>,
    /// How and where it was measured, a line each.
    pub conditions: Vec<String>,
    pub sections: Vec<Section>,
    /// What else a reader can do.
    pub ending: Vec<Paragraph>,
}

/// A name in links: nothing in it that an id may not have.
pub(crate) fn anchor(name: &str) -> String {
    let kept = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars().map(|letter| if kept(letter) { letter } else { '-' }).collect()
}

impl Document {
    /// `verdict: suspect; rows: 2 valid · 1 suspect · 0 invalid`.
    pub(crate) fn verdict_line(&self) -> Option<String> {
        let whole = self.verdict?;
        let verdict = whole.name();
        // A single row is worth what all of it is, unless something is odd about its table.
        let Some(worth) = self.worth.filter(|worth| *worth != Worth::of([Some(whole)])) else {
            return Some(format!("verdict: {verdict}"));
        };
        let rows = [
            (worth.valid, "valid"),
            (worth.suspect, "suspect"),
            (worth.invalid, "invalid"),
            (worth.untried, "not run yet"),
        ];
        // The three verdicts are always there, so that a reader need not know how many there are.
        let said = rows.iter().filter(|(rows, name)| 0 < *rows || *name != "not run yet");
        let said: Vec<String> =
            said.map(|(rows, name)| format!("{} {name}", count(*rows as u64))).collect();
        Some(format!("verdict: {verdict}; rows: {}", said.join(" · ")))
    }
}

/// A part of a report, with a heading unless that is empty.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its id, for links within the page.
    pub id: Cow<'static, str>,
    pub heading: String,
    /// Beside the heading.
    pub note: String,
    pub depth: Depth,
    pub blocks: Vec<Block>,
}

/// Which formats show a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    Brief,
    /// A terminal only when the full report is requested.
    Full,
    /// Only the page.
    Page,
}

/// A part of a section.
#[derive(Clone, Debug)]
pub enum Block {
    Heading(String),
    Paragraph(Paragraph),
    /// Findings, each under its own line.
    Entries(Vec<Entry>),
    /// Short facts, each with its name.
    Facts(Vec<Fact>),
    Table(Table),
    Drawing(Drawing),
    Fold(Fold),
}

/// Blocks under a line: on a page they are shown when it is opened, in a terminal when the full report is requested.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    pub summary: String,
    /// The slot of its subject, which decides a colour and a sign.
    pub slot: Option<usize>,
    pub is_open: bool,
    pub blocks: Vec<Block>,
}

/// Text that flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paragraph {
    pub tone: Tone,
    pub text: String,
}

impl Paragraph {
    pub fn new(tone: Tone, text: impl Into<String>) -> Paragraph {
        Paragraph { tone, text: text.into() }
    }
}

/// A named fact, in one line or several.
#[derive(Clone, Debug)]
pub struct Fact {
    pub name: String,
    pub tone: Tone,
    pub texts: Vec<String>,
}

impl Fact {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Fact {
        Fact { name: name.into(), tone: Tone::Plain, texts: vec![text.into()] }
    }

    #[must_use]
    pub fn and(mut self, text: impl Into<String>) -> Fact {
        self.texts.push(text.into());
        self
    }
}

/// One finding: a line, its details, and output of other programs, line by line as they wrote it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub tone: Tone,
    pub head: String,
    pub lines: Vec<Paragraph>,
    pub quoted: Vec<String>,
    /// A line for a shell, to be copied: it is neither wrapped nor cut.
    pub command: String,
    /// Bytes that only a page has room for, and shows when they are opened, line by line.
    pub bytes: Vec<String>,
}

impl Entry {
    pub fn new(tone: Tone, head: impl Into<String>) -> Entry {
        Entry { tone, head: head.into(), ..Entry::default() }
    }

    #[must_use]
    pub fn with(mut self, tone: Tone, text: impl Into<String>) -> Entry {
        self.lines.push(Paragraph::new(tone, text));
        self
    }
}

/// A picture: as markup, and as characters.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    pub markup: Markup,
    pub lines: Vec<Line>,
    /// Whether a brief text has it, too.
    pub is_brief: bool,
}

impl From<Gravity> for Tone {
    fn from(gravity: Gravity) -> Tone {
        match gravity {
            Gravity::Note => Tone::Dim,
            Gravity::Suspect => Tone::Doubtful,
            Gravity::Invalid => Tone::Bad,
        }
    }
}

impl Section {
    pub fn new(
        id: impl Into<Cow<'static, str>>,
        heading: impl Into<String>,
        depth: Depth,
    ) -> Section {
        let (heading, note) = (heading.into(), String::new());
        Section { id: id.into(), heading, note, depth, blocks: Vec::new() }
    }

    #[must_use]
    pub(crate) fn noting(mut self, note: impl Into<String>) -> Section {
        self.note = note.into();
        self
    }

    /// With these blocks, but for lists and tables of nothing. A section without a block is not shown.
    #[must_use]
    pub fn with(mut self, blocks: impl IntoIterator<Item = Block>) -> Section {
        let is_of_something = |block: &Block| match block {
            Block::Entries(all) => !all.is_empty(),
            Block::Table(table) => table.views.iter().any(|view| !view.rows.is_empty()),
            _ => true,
        };
        self.blocks.extend(blocks.into_iter().filter(is_of_something));
        self
    }
}

impl Block {
    pub fn paragraph(tone: Tone, text: impl Into<String>) -> Block {
        Block::Paragraph(Paragraph::new(tone, text))
    }

    /// A picture that only a page can show.
    pub fn picture(markup: Markup) -> Block {
        Block::Drawing(Drawing { markup, lines: Vec::new(), is_brief: false })
    }

    pub fn fold(summary: impl Into<String>, blocks: Vec<Block>) -> Block {
        Block::Fold(Fold { summary: summary.into(), blocks, ..Fold::default() })
    }
}
