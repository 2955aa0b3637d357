//! README's figures about dyno itself: each row is of a table of the benchmark, and names the build that it is of.

use crate::table::Table;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

const BEGINS: &str = "<!-- make bench writes these rows -->\n";
const ENDS: &str = "<!-- /make bench -->\n";

/// How a row begins, and its table and column.
const ROWS: [(&str, &str, &str); 4] = [
    (
        "| µs CPU a request, 50 connections",
        "CPU per request: 50 connections, the oracle",
        "µs a request",
    ),
    ("| peak MB with 10,000 connections", "10,000 keep-alive connections", "peak MB"),
    (
        "| p90 in ms of a server that freezes",
        "The server freezes 1 s every 5 s: 1,000 requests/s for 23 s; response times in ms",
        "p90",
    ),
    (
        "| median response in µs at 20,000 requests/s",
        "20,000 requests/s on 50 connections for 10 s",
        "response p50 µs",
    ),
];
/// What the columns behind the first are of.
const OF: [&[&str]; 5] = [&["dyno"], &["floor", "floor-open"], &["wrk"], &["h2load"], &["oha"]];

/// Puts what was measured into a page's rows. What was not measured stays.
pub(crate) fn with_figures(page: &str, tables: &[&Table], build: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGINS).context("the page has no such rows")?;
    let (block, after) = rest.split_once(ENDS).context("the rows do not end")?;
    let rows: String = block.lines().map(|line| row(line, tables, build) + "\n").collect();
    Ok([before, BEGINS, &rows, ENDS, after].concat())
}

fn row(line: &str, tables: &[&Table], build: &str) -> String {
    let measured = ROWS.iter().filter(|(begins, ..)| line.starts_with(begins)).find_map(|row| {
        let table = tables.iter().find(|table| table.title == row.1)?;
        Some((table, table.columns.iter().position(|column| column == row.2)?))
    });
    let Some((table, column)) = measured else { return line.to_owned() };
    let mut cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
    for (cell, names) in cells.iter_mut().skip(2).zip(OF) {
        let found = table.rows.iter().find(|row| names.contains(&row[0].as_str()));
        *cell = found.map_or(cell.clone(), |row| row[column].clone());
    }
    cells[2] = format!("**{}**", cells[2].trim_matches('*'));
    cells[2 + OF.len()] = format!("`{build}`");
    cells.join(" | ").trim().to_owned()
}

/// The beginning of the program's SHA-256.
pub(crate) fn build(program: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(program).output().context("sha256sum")?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.chars().take_while(char::is_ascii_hexdigit).take(12).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_readme_are_those_that_are_written() {
        let (readme, page) =
            (include_str!("../../README.md"), include_str!("../../results/bench.md"));
        let block = readme.split_once(BEGINS).unwrap().1.split_once(ENDS).unwrap().0;
        for (begins, table, column) in ROWS {
            assert_eq!(
                block.lines().filter(|line| line.starts_with(begins)).count(),
                1,
                "{begins}"
            );
            assert!(page.contains(&format!("### {table}\n")) && page.contains(column), "{table}");
        }
    }

    #[test]
    fn what_was_measured_takes_its_place_and_the_rest_stays() {
        let mut table = Table::new(ROWS[1].1, &["generator", "peak MB"]);
        table.rows = vec![vec!["dyno".into(), "13.1".into()], vec!["floor".into(), "2.9".into()]];
        let old = "| peak MB with 10,000 connections | **14** | 3 | 50 | 136 | 550 | `old` |\n| µs | 1 |\n";
        let page = ["a\n", BEGINS, old, ENDS, "b\n"].concat();
        let new = with_figures(&page, &[&table], "0123").unwrap();
        let row = "| peak MB with 10,000 connections | **13.1** | 2.9 | 50 | 136 | 550 | `0123` |\n| µs | 1 |\n";
        assert_eq!(new, ["a\n", BEGINS, row, ENDS, "b\n"].concat());
        assert_eq!(with_figures(&page, &[], "0123").unwrap(), page);
        assert!(with_figures("no rows", &[], "0123").is_err());
    }
}
