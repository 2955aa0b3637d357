//! A table, as text and as Markdown, and the format of numbers in it.

use crate::rounds::Ratio;

/// Rows under columns. The first column is text and aligned left, the others right.
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Sentences and command lines below it.
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Table { title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let mut text = format!("\n{}\n{}\n", self.title, line(&self.columns, &widths));
        for row in &self.rows {
            text += &format!("{}\n", line(row, &widths));
        }
        for note in &self.notes {
            text += &format!("  {note}\n");
        }
        text
    }

    /// For a page.
    pub(crate) fn markdown(&self) -> String {
        let bar = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<&str> =
            (0..self.columns.len()).map(|i| ["---:", ":---"][usize::from(i == 0)]).collect();
        let mut text = format!("\n### {}\n\n{}", self.title, bar(&self.columns));
        text += &format!("| {} |\n", rule.join(" | "));
        self.rows.iter().for_each(|row| text += &bar(row));
        text += "\n";
        self.notes.iter().for_each(|note| text += &format!("- {note}\n"));
        text
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.chain([&self.columns[column]]).map(|cell| cell.chars().count()).max()
        };
        (0..self.columns.len()).map(|column| widest(column).unwrap_or(0)).collect()
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        match index {
            0 => line += &format!("  {cell:<width$}"),
            _ => line += &format!("  {cell:>width$}"),
        }
    }
    line.trim_end().to_owned()
}

/// A dash if there is none.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.decimals$}"))
}

/// `0.87 (0.85–0.91)`.
pub(crate) fn range(ratio: Option<Ratio>) -> String {
    ratio.map_or("–".to_owned(), |Ratio { median, least, most }| {
        format!("{median:.2} ({least:.2}–{most:.2})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new("CPU", &["generator", "µs"]);
        table.rows.push(vec!["wrk".into(), number(Some(10.04), 1)]);
        table.rows.push(vec!["floor".into(), number(None, 1)]);
        table.notes.push("medians".into());
        table
    }

    #[test]
    fn text_is_aligned() {
        let expected =
            "\nCPU\n  generator    µs\n  wrk        10.0\n  floor         –\n  medians\n";
        assert_eq!(sample().text(), expected);
    }

    #[test]
    fn markdown_has_a_rule_under_its_head() {
        let expected = "\n### CPU\n\n| generator | µs |\n| :--- | ---: |\n| wrk | 10.0 |\n\
                        | floor | – |\n\n- medians\n";
        assert_eq!(sample().markdown(), expected);
    }

    #[test]
    fn a_ratio_shows_its_range() {
        let ratio = Ratio { median: 0.871, least: 0.85, most: 0.914 };
        assert_eq!(range(Some(ratio)), "0.87 (0.85–0.91)");
    }
}
