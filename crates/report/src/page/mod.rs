//! One self-contained HTML file: no network, no script.

mod heading;
mod method;
pub(crate) mod part;
mod table;
mod trouble;

use analysis::Table;

use crate::Findings;
use crate::chart::{Room, STYLE};
use crate::markup::escaped;
use crate::signature::{cost, drawn};
use heading::heading;
use method::{fairness, method, subjects};
use table::{peaks, results};
use trouble::troubles;

const PAGE_STYLE: &str = include_str!("page.css");

/// What a browser may do with the page: show it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
#[must_use]
pub fn page(findings: &Findings<'_>) -> String {
    let title = escaped(&format!("{} · run {} · dyno", findings.run.name, findings.id));
    let tables = findings.board.tables.iter().enumerate();
    let workloads: String = tables.map(|(place, table)| workload(findings, table, place)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n{}{workloads}{}{}{}{}</main>\n</body>\n</html>\n",
        heading(findings),
        troubles(findings),
        fairness(findings),
        subjects(findings),
        method(findings),
    )
}

fn workload(findings: &Findings<'_>, table: &Table, place: usize) -> String {
    let mut html = format!("<h2>{}</h2>\n", escaped(&table.workload));
    for (room, id) in [(Room::Wide, "a"), (Room::Narrow, "b")] {
        html.push_str(&drawn(findings, table, &format!("{id}{place}"), room, false));
    }
    html.push_str(&results(findings, table));
    html.push_str(&peaks(findings, table));
    html.push_str("<h3>What it cost</h3>\n");
    for (room, id) in [(Room::Wide, "c"), (Room::Narrow, "d")] {
        html.push_str(&cost(findings, table, &format!("{id}{place}"), room));
    }
    html
}
