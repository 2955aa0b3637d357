//! Columns in line: the first to the left, numbers to the right.

use super::paint::{Ink, Line};

/// A text in a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    ink: Ink,
    text: String,
    is_left: bool,
}

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Cell {
        Cell::ink(Ink::Plain, text)
    }

    pub(crate) fn ink(ink: Ink, text: impl Into<String>) -> Cell {
        Cell { ink, text: text.into(), is_left: false }
    }

    /// A text among numbers: to the left.
    pub(crate) fn left(ink: Ink, text: impl Into<String>) -> Cell {
        Cell { is_left: true, ..Cell::ink(ink, text) }
    }

    /// This text behind a line.
    pub(super) fn after(self, line: Line) -> Line {
        line.and(Ink::Plain, "  ").and(self.ink, self.text)
    }

    /// A footnote's mark stands outside the column, so that the digits stay in line.
    fn width(&self) -> usize {
        self.text.trim_end_matches(['*', '?', '↓']).chars().count()
    }
}

/// Every row as a line; the first column is at least `first` wide, two blanks lie between columns.
pub(crate) fn lines(rows: &[Vec<Cell>], first: usize) -> Vec<Line> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().map(|row| line(row, &widths, first)).collect()
}

fn line(row: &[Cell], widths: &[usize], first: usize) -> Line {
    let mut line = Line::default();
    // Marks of the cell to the left stand in the blanks before a cell.
    let mut marks = 0;
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        line = if column == 0 {
            let pad = first.max(*width) - cell.width();
            line.and(cell.ink, cell.text.clone()).and(Ink::Plain, " ".repeat(pad))
        } else {
            let pad = " ".repeat(width - cell.width());
            let (before, after) =
                if cell.is_left { (String::new(), pad) } else { (pad, String::new()) };
            let before = " ".repeat(2 - marks) + &before;
            line.and(Ink::Plain, before).and(cell.ink, cell.text.clone()).and(Ink::Plain, after)
        };
        marks = if column == 0 { 0 } else { cell.text.chars().count() - cell.width() };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn digits_stay_in_line_beside_marks() {
        let row = |texts: [&str; 3]| texts.map(Cell::plain).to_vec();
        let rows = [
            row(["", "p50", "p99"]),
            row(["response", "1.00 ms", "12.0 ms*"]),
            row(["late", "10.0 µs*", "1.20 ms*"]),
        ];
        let text: Vec<String> = lines(&rows, 10).iter().map(|line| line.shown(false)).collect();
        expect![[r#"
                            p50      p99
            response    1.00 ms  12.0 ms*
            late        10.0 µs* 1.20 ms*"#]]
        .assert_eq(&text.join("\n"));
    }
}
