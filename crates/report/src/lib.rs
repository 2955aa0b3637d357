//! Shows findings: as text, pages, charts and files. Computes no number that it prints.

pub mod agents;
pub mod audit;
pub mod calibration;
pub mod capacity;
pub mod chart;
pub mod check;
mod conduct;
mod conformance;
mod detail;
pub mod document;
pub mod dry_run;
pub mod early_end;
mod evidence;
mod flame;
pub mod gate;
mod glossary;
mod grid;
mod grouped;
mod held;
pub mod history;
pub mod hold;
pub mod hosts;
mod http2;
pub mod index;
pub mod json;
pub mod listing;
pub mod load;
pub mod markup;
mod number_format;
mod page;
pub mod paint;
mod paired;
mod quantile;
mod remark;
pub mod render;
pub mod run;
mod security;
mod sentence;
mod signature;
#[cfg(test)]
mod tests;
pub mod time;
pub mod verdict;
pub mod versions;

use analysis::{Row, Table};

pub use chart::Theme;
pub use page::{OfSite, of_site, style};
pub use run::Findings;

/// A chart says of no more damaged trials than these.
const NOTES_MOST: usize = 5;

/// A workload's signature plot, alone, as the text of a file.
#[must_use]
pub fn svg(findings: &Findings<'_>, workload: &str, theme: Theme) -> Option<String> {
    let table = findings.board.tables.iter().find(|table| table.workload == workload)?;
    let style = markup!("{}{}", theme.style(), conformance::pale(findings));
    let notes: Vec<&str> = findings.says_of_damage().take(NOTES_MOST).collect();
    let stand = chart::Stand::Alone { style: &style, notes: &notes };
    let drawn = match table.is_held() {
        true => held::drawn(findings, workload, stand),
        false if findings.is_search() => run::searches::alone(findings, workload, stand),
        false => signature::drawn(findings, table, chart::Room::Wide, stand),
    };
    Some(drawn.into_string())
}

/// The rows of servers that take part only to show what the machine and the instrument can do.
fn references(table: &Table) -> Vec<&Row> {
    table.rows.iter().filter(|row| row.is_reference).collect()
}
