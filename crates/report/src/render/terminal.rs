//! A document in a terminal: wrapped text, tables in as many columns as there is room for.

use analysis::Verdict;

use crate::document::{
    Align, Block, Cell, Depth, Document, Entry, Fact, MORE, Paragraph, Row, Section, Table,
};
use crate::grid::{self, Cell as GridCell};
use crate::paint::{Line, Tone, wrapped};
use crate::render::Format;

/// Below this width nothing can be read.
const NARROWEST: usize = 40;
/// Wider lines are no easier to read; tables may be.
const PROSE: usize = 120;

/// The screen on which a document is shown.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub width: usize,
    pub is_coloured: bool,
    /// The full report, instead of what a reader wants first.
    pub is_full: bool,
    pub glyphs: Glyphs,
}

/// The characters that a screen can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    Unicode,
    Ascii,
}

impl Screen {
    /// So many columns of a file, for a brief report.
    #[must_use]
    pub const fn file(width: usize) -> Screen {
        Screen { width, is_coloured: false, is_full: false, glyphs: Glyphs::Unicode }
    }
}

pub static TEXT: Format = Format {
    name: "text",
    about: "Tables for people",
    ending: "txt",
    media_type: "text/plain; charset=utf-8",
    make: |shown, screen| Ok(shown.text(screen)),
};

pub(super) fn render(document: &Document, screen: Screen) -> String {
    let width = screen.width.max(NARROWEST);
    let prose = width.min(PROSE);
    let mut parts = vec![heading(document, prose)];
    let most = if screen.is_full { Depth::Full } else { Depth::Brief };
    let shown = document.sections.iter().filter(|section| section.depth <= most);
    let mut said = Vec::new();
    parts.extend(shown.map(|section| of_section(section, width, screen.is_full, &mut said)));
    if !document.answer.is_empty() {
        let mut lines = vec![Line::toned(Tone::Strong, "in short")];
        // After a long report its heading is no longer on the screen.
        lines.extend(verdict(document, prose));
        lines.extend(document.answer.iter().flat_map(|text| toned(Tone::Plain, text, prose)));
        parts.push(lines);
    }
    parts.push(document.ending.iter().flat_map(|text| paragraph(text, prose)).collect());
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        for (place, line) in part.iter().enumerate() {
            // Prose was wrapped and tables fit; only headings are left.
            let line = if place == 0 { line.clone().cut(width) } else { line.clone() };
            text.push_str(line.shown(screen.is_coloured).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn heading(document: &Document, width: usize) -> Vec<Line> {
    let mut lines = toned(Tone::Dim, &document.label, width);
    lines.extend(toned(Tone::Strong, &document.title, width));
    lines.extend(document.notes.iter().flat_map(|note| paragraph(note, width)));
    lines.extend(document.conditions.iter().flat_map(|text| toned(Tone::Dim, text, width)));
    lines.extend(verdict(document, width));
    lines
}

fn verdict(document: &Document, width: usize) -> Vec<Line> {
    let (Some(verdict), Some(text)) = (document.verdict, document.verdict_line()) else {
        return Vec::new();
    };
    let tone = match verdict {
        Verdict::Valid => Tone::Good,
        Verdict::Suspect => Tone::Doubtful,
        Verdict::Invalid => Tone::Bad,
    };
    toned(tone, &text, width)
}

fn of_section(section: &Section, width: usize, is_full: bool, said: &mut Vec<String>) -> Vec<Line> {
    let blocks: Vec<Line> =
        section.blocks.iter().flat_map(|block| of_block(block, width, is_full, said)).collect();
    if blocks.is_empty() || section.heading.is_empty() {
        return blocks;
    }
    let note = match section.note.as_str() {
        "" => String::new(),
        note => format!("  {note}"),
    };
    let heading = Line::toned(Tone::Strong, section.heading.clone()).and(Tone::Dim, note);
    std::iter::once(heading).chain(blocks).collect()
}

fn of_block(block: &Block, width: usize, is_full: bool, said: &mut Vec<String>) -> Vec<Line> {
    let prose = width.min(PROSE);
    match block {
        Block::Heading(text) => vec![Line::plain(""), Line::toned(Tone::Strong, text.clone())],
        Block::Paragraph(text) => paragraph(text, prose),
        Block::Entries(entries) => {
            entries.iter().flat_map(|entry| of_entry(entry, prose)).collect()
        }
        Block::Table(table) => of_table(table, width, is_full, said),
        Block::Facts(facts) => of_facts(facts, prose),
        Block::Drawing(drawing) if (is_full || drawing.is_brief) && !drawing.lines.is_empty() => {
            let lines = drawing.lines.iter().map(|line| line.clone().cut(width));
            let before = (!drawing.is_brief).then(Line::default);
            before.into_iter().chain(lines).collect()
        }
        Block::Drawing(_) => Vec::new(),
        Block::Fold(fold) if is_full => {
            let inside: Vec<Line> = fold
                .blocks
                .iter()
                .flat_map(|block| of_block(block, width, is_full, said))
                .collect();
            match inside.is_empty() {
                true => inside,
                false => {
                    toned(Tone::Strong, &fold.summary, prose).into_iter().chain(inside).collect()
                }
            }
        }
        Block::Fold(_) => Vec::new(),
    }
}

/// Each fact's name, and its texts beside it.
fn of_facts(facts: &[Fact], width: usize) -> Vec<Line> {
    let indent = 2 + facts.iter().map(|fact| fact.name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for fact in facts {
        let mut name = fact.name.clone();
        for text in &fact.texts {
            for part in wrapped(text, width.saturating_sub(indent).max(20)) {
                let label = Line::toned(Tone::Dim, format!("{name:<indent$}"));
                lines.push(label.and(fact.tone, part));
                name.clear();
            }
        }
    }
    lines
}

fn of_entry(entry: &Entry, width: usize) -> Vec<Line> {
    let mut lines = toned(entry.tone, &entry.head, width);
    let inner = width.saturating_sub(2).max(20);
    for text in &entry.lines {
        lines.extend(
            wrapped(&text.text, inner)
                .into_iter()
                .filter(|line| !line.is_empty())
                .map(|line| Line::toned(text.tone, format!("  {line}"))),
        );
    }
    let quoted = entry.quoted.iter();
    lines.extend(quoted.map(|line| Line::toned(Tone::Dim, format!("  │ {line}")).cut(width)));
    if !entry.command.is_empty() {
        lines.push(Line::plain(format!("  {}", entry.command)));
    }
    lines
}

/// In a brief report the first view; else all rows, with each subject's name only once. Legends that other tables have
/// `said` are not repeated.
fn of_table(table: &Table, width: usize, is_full: bool, said: &mut Vec<String>) -> Vec<Line> {
    let rows: Vec<&Row> = match (is_full, table.views.first()) {
        (_, None) => return Vec::new(),
        (true, _) => table.all_rows(),
        (false, Some(first)) => first.rows.iter().collect(),
    };
    let most = if is_full { u8::MAX } else { MORE - 1 };
    let mut shown = table.columns_upto(most);
    let is_too_wide = |columns: &[usize]| width < widest(&drawn(table, columns, &rows, usize::MAX));
    while is_too_wide(&shown) {
        let least = shown
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|&(place, &column)| (table.columns[column].priority, place));
        match least {
            Some((place, &column)) if 0 < table.columns[column].priority => {
                shown.remove(place);
            }
            Some(_) | None => break,
        }
    }
    let parts = side_by_side(&shown, is_too_wide);
    let lines = parts.iter().flat_map(|columns| fitting(table, columns, &rows, width));
    let mut lines: Vec<Line> = lines.map(|line| line.cut(width)).collect();
    lines.splice(..0, toned(Tone::Dim, &table.caption, width.min(PROSE)));
    let legend = table.legend(&shown, &rows, said).join(" · ");
    for text in table.alike_line(most).into_iter().chain([legend]) {
        lines.extend(
            toned(Tone::Dim, &text, width.min(PROSE)).into_iter().filter(|line| 0 < line.width()),
        );
    }
    lines
}

/// The columns in parts that are narrow enough, one below the other, each after the first column: no figure is cut. One
/// column that is too wide by itself stays so.
fn side_by_side(shown: &[usize], is_too_wide: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let Some((&first, others)) = shown.split_first() else { return Vec::new() };
    let mut parts = vec![vec![first]];
    for &column in others {
        let last = parts.last_mut().expect("there is a first part");
        last.push(column);
        if 2 < last.len() && is_too_wide(last) {
            last.pop();
            parts.push(vec![first, column]);
        }
    }
    parts
}

/// A name keeps at least so many letters.
const NAME_LEAST: usize = 12;

/// The columns, with names in the first one that are shortened where figures would not fit beside them.
fn fitting(table: &Table, shown: &[usize], rows: &[&Row], width: usize) -> Vec<Line> {
    let lines = drawn(table, shown, rows, usize::MAX);
    let over = widest(&lines).saturating_sub(width);
    // A text at the end is cut there.
    let ends_in_figure =
        shown.last().is_some_and(|place| table.columns[*place].align == Align::Right);
    if over == 0 || shown.len() < 2 || !ends_in_figure {
        return lines;
    }
    let names = rows.iter().filter_map(|row| row.cells.get(shown[0]));
    let longest = names.map(|cell| cell.whole_text().chars().count()).max().unwrap_or(0);
    drawn(table, shown, rows, longest.saturating_sub(over).max(NAME_LEAST))
}

fn widest(lines: &[Line]) -> usize {
    lines.iter().map(Line::width).max().unwrap_or(0)
}

/// The columns in full, but for names in the first one: they have at most so many letters.
fn drawn(table: &Table, shown: &[usize], rows: &[&Row], name_most: usize) -> Vec<Line> {
    let head = shown.iter().map(|&place| {
        let column = &table.columns[place];
        aligned(column.align, Tone::Dim, column.heading.clone())
    });
    let mut grid: Vec<Vec<GridCell>> = vec![head.collect()];
    let mut last: Option<&str> = None;
    for row in rows {
        let none = Cell::default();
        let cells = shown.iter().enumerate().map(|(at, &place)| {
            let (column, cell) = (&table.columns[place], row.cells.get(place).unwrap_or(&none));
            let is_again = at == 0 && 1 < table.views.len() && last == Some(cell.text.as_str());
            let mut text = if is_again { String::new() } else { cell.whole_text() };
            if let Some((end, _)) = text.char_indices().nth(name_most).filter(|_| at == 0) {
                text.truncate(end);
                text.pop();
                text.push('…');
            }
            aligned(column.align, cell.tone, text)
        });
        grid.push(cells.collect());
        last = shown.first().and_then(|&place| row.cells.get(place)).map(|cell| cell.text.as_str());
    }
    grid::lines(&grid)
}

fn aligned(align: Align, tone: Tone, text: String) -> GridCell {
    GridCell { tone, text, is_left: align == Align::Left }
}

fn paragraph(paragraph: &Paragraph, width: usize) -> Vec<Line> {
    toned(paragraph.tone, &paragraph.text, width)
}

fn toned(tone: Tone, text: &str, width: usize) -> Vec<Line> {
    if text.is_empty() {
        return Vec::new();
    }
    wrapped(text, width).into_iter().map(|line| Line::toned(tone, line)).collect()
}
