//! Every table of a report with tabs between its cells, for `cut`, `awk` and spreadsheets: all rows and all columns, as a
//! reader sees them.

use super::Format;
use crate::document::{Block, Document, Table};
use crate::paint::Line;

pub(super) static TSV: Format = Format {
    name: "tsv",
    about: "Every table, tab-separated",
    ending: "tsv",
    media_type: "text/tab-separated-values; charset=utf-8",
    make: |shown, _| Ok(render(&shown.document())),
};

/// The answer, and the tables under the headings of their sections, with an empty line between two.
fn render(document: &Document) -> String {
    let answer = document.answer.iter().map(|text| format!("# {}\n", cell(text)));
    let mut tables: Vec<String> = vec![answer.collect()];
    for section in &document.sections {
        let name = if section.heading.is_empty() { &section.id } else { section.heading.as_str() };
        of_blocks(&section.blocks, name, &mut tables);
    }
    tables.retain(|text| !text.is_empty());
    tables.join("\n")
}

fn of_blocks(blocks: &[Block], name: &str, tables: &mut Vec<String>) {
    for block in blocks {
        match block {
            Block::Table(table) => tables.push(of_table(table, name)),
            Block::Fold(fold) => of_blocks(&fold.blocks, &fold.summary, tables),
            Block::Heading(_)
            | Block::Paragraph(_)
            | Block::Entries(_)
            | Block::Facts(_)
            | Block::Drawing(_) => {}
        }
    }
}

fn of_table(table: &Table, name: &str) -> String {
    let heads = table.columns.iter().map(|column| cell(&column.heading));
    let rows = table.all_rows().into_iter().map(|row| {
        let cells = row.cells.iter().map(|it| cell(&it.whole_text()));
        line(cells)
    });
    format!("# {}\n{}{}", cell(name), line(heads), rows.collect::<String>())
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join("\t") + "\n"
}

/// A text without what would end its cell, or be obeyed by a terminal.
fn cell(text: &str) -> String {
    Line::plain(text.replace(['\n', '\r', '\t'], " ")).shown(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Column, Depth, Row, Section};

    #[test]
    fn what_others_wrote_stays_in_its_cell() {
        let columns = vec![Column::new("a", "server", 0), Column::new("b", "rate", 0)];
        let cells = vec![Cell::text("one\ttwo\nthree\u{1b}[2J"), Cell::text("1,000")];
        let table = Table::of("t", columns, [Row { cells, ..Row::default() }]);
        let section = Section::new("results", "Results", Depth::Brief).with([Block::Table(table)]);
        let text = render(&Document { sections: vec![section], ..Document::default() });
        assert!(text.starts_with("# Results\nserver\trate\none two three"), "{text}");
        assert!(text.ends_with("\t1,000\n") && !text.contains('\u{1b}'), "{text}");
    }
}
