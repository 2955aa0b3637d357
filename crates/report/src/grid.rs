//! Columns in line: the first to the left, numbers to the right.

use crate::paint::{Line, Tone};

/// Blanks between columns.
const BETWEEN: usize = 2;

/// A text in a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// A text among numbers is aligned left.
    pub(crate) is_left: bool,
}

impl Cell {
    /// The width that it takes of its column.
    fn width(&self) -> usize {
        self.text.chars().count() - self.marks()
    }

    /// A footnote's marks stand outside the column, so that the digits stay aligned: as many as there is room for.
    fn marks(&self) -> usize {
        let is_mark = |character: &char| ['*', '?', '↓'].contains(character);
        match self.is_left {
            true => 0,
            false => self.text.chars().rev().take_while(is_mark).take(BETWEEN).count(),
        }
    }
}

/// Every row as a line; two blanks lie between columns.
pub(crate) fn lines(rows: &[Vec<Cell>]) -> Vec<Line> {
    // The first column contains names: nothing in them is a mark.
    let named = |row: &Vec<Cell>| {
        let cells = row.iter().cloned().enumerate();
        cells.map(|(at, cell)| Cell { is_left: at == 0 || cell.is_left, ..cell }).collect()
    };
    let rows: Vec<Vec<Cell>> = rows.iter().map(named).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[Cell], widths: &[usize]) -> Line {
    let mut line = Line::default();
    // Marks of the cell to the left stand in the blanks before a cell.
    let mut blanks = 0;
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let pad = " ".repeat(width - cell.width());
        let (before, after) = match cell.is_left {
            // Blanks at the end would count as text where a line is cut.
            true if at + 1 == row.len() => (String::new(), String::new()),
            true => (String::new(), pad),
            false => (pad, String::new()),
        };
        let before = " ".repeat(blanks) + &before;
        line =
            line.and(Tone::Plain, before).and(cell.tone, cell.text.clone()).and(Tone::Plain, after);
        blanks = BETWEEN - cell.marks();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn plain(text: &str, is_left: bool) -> Cell {
        Cell { tone: Tone::Plain, text: text.into(), is_left }
    }

    #[test]
    fn digits_stay_in_line_beside_marks() {
        let cells = |texts: [&str; 3]| texts.map(|text| plain(text, false)).to_vec();
        let rows = [
            cells(["", "p50", "p99"]),
            cells(["response", "1.00 ms", "12.0 ms*"]),
            cells(["late", "10.0 µs*", "1.20 ms*"]),
        ];
        let text: Vec<String> = lines(&rows).iter().map(|line| line.shown(false)).collect();
        expect![[r#"
                          p50      p99
            response  1.00 ms  12.0 ms*
            late      10.0 µs* 1.20 ms*"#]]
        .assert_eq(&text.join("\n"));
    }

    #[test]
    fn a_line_ends_with_its_last_text() {
        let cells = |text: &str| vec![plain("a", false), plain(text, true)];
        let widths = lines(&[cells("short"), cells("a long text")]);
        assert_eq!(widths.iter().map(Line::width).collect::<Vec<_>>(), [8, 14]);
    }

    #[test]
    fn a_name_of_marks_is_a_name() {
        let rows = [
            vec![
                plain("What???", false),
                plain("1***", false),
                plain("x****", true),
                plain("2", false),
            ],
            vec![plain("a", false), plain("10", false), plain("y", true), plain("30", false)],
        ];
        let text: Vec<String> = lines(&rows).iter().map(|line| line.shown(false)).collect();
        expect![[r#"
            What???  1***x****   2
            a        10  y      30"#]]
        .assert_eq(&text.join("\n"));
    }
}
