//! Columns that fit: where there is no room, the less important ones go.

use crate::report::paint::Line;
use crate::report::table::{self, Cell};

/// One column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) heading: Cell,
    /// Where there is no room, the highest goes first; 0 stays.
    pub(super) drop: u8,
    /// One for each row.
    pub(super) cells: Vec<Cell>,
}

/// The table with its heading, in as many columns as the width has room for.
pub(super) fn fitted(mut columns: Vec<Column>, width: usize) -> Vec<Line> {
    loop {
        let lines = lines(&columns);
        let is_too_wide = lines.iter().any(|line| width < line.width());
        let least =
            columns.iter().enumerate().rev().max_by_key(|(place, column)| (column.drop, *place));
        match least {
            Some((place, column)) if is_too_wide && 0 < column.drop => {
                columns.remove(place);
            }
            Some(_) | None => return lines.into_iter().map(|line| line.cut(width)).collect(),
        }
    }
}

fn lines(columns: &[Column]) -> Vec<Line> {
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let heading = columns.iter().map(|column| column.heading.clone()).collect();
    let row =
        |row: usize| columns.iter().filter_map(|column| column.cells.get(row).cloned()).collect();
    let rows: Vec<Vec<Cell>> = std::iter::once(heading).chain((0..rows).map(row)).collect();
    table::lines(&rows, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_matters_least_goes_first() {
        let column = |heading: &str, drop, cell: &str| Column {
            heading: Cell::plain(heading),
            drop,
            cells: vec![Cell::plain(cell)],
        };
        let columns = vec![
            column("who", 0, "me"),
            column("rate", 1, "1,000"),
            column("p90", 3, "2.00ms"),
            column("max", 2, "90.0ms*"),
        ];
        let shown = |width| {
            let lines = fitted(columns.clone(), width);
            lines.iter().map(|line| line.shown(false)).collect::<Vec<_>>().join("\n")
        };
        expect![[r#"
            who   rate     p90     max
            me   1,000  2.00ms  90.0ms*"#]]
        .assert_eq(&shown(27));
        expect![[r#"
            who   rate     max
            me   1,000  90.0ms*"#]]
        .assert_eq(&shown(26));
        expect![[r#"
            who
            me "#]]
        .assert_eq(&shown(5));
        assert_eq!(shown(2), "w…\nm…");
    }
}
