//! One self-contained HTML file: readable without script, no network. The little script is ours, and no other runs.

pub(crate) mod badge;
mod capacity;
mod controls;
mod heading;
mod method;
pub(crate) mod part;
mod policy;
pub(crate) mod table;
mod trouble;

use analysis::Table;

use crate::Findings;
use crate::chart::{Room, SMALL_STYLE, STYLE, Stand};
use crate::markup::escaped;
use crate::signature::{cost, drawn};
use crate::{classic, conformance, detail, held};
use capacity::capacities;
use controls::controls;
use heading::heading;
use method::{fairness, method, subjects};
use policy::policy;
use table::results;
use trouble::troubles;

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("../script/view.js"),
    include_str!("../script/figures.js"),
    include_str!("../script/cursor.js")
);

/// The whole page.
#[must_use]
pub fn page(findings: &Findings<'_>) -> String {
    let title = escaped(&format!("{} · run {} · dyno", findings.run.name, findings.id));
    let tables = findings.board.tables.iter().enumerate();
    let pressed = tables.filter(|(_, table)| !table.is_held());
    let workloads: String =
        pressed.map(|(place, table)| workload(findings, table, place)).collect();
    let places = findings.board.tables.iter().map(|table| table.points().len()).max();
    let chart_style = format!("{STYLE}{SMALL_STYLE}{}", conformance::pale(findings));
    let chosen = table::chosen(places.unwrap_or_default());
    let parts = [PAGE_STYLE, detail::STYLE, held::STYLE, conformance::STYLE].concat();
    let page_style = format!("{parts}{chosen}{}", conformance::pale_rows(findings));
    let policy = policy(&[&chart_style, &page_style], SCRIPT);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style id=\"charts\">{chart_style}</style>\n<style>{page_style}</style>\n</head>\n<body>\n<main>\n{}{}{}{workloads}{}{}{}{}{}{}</main>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        heading(findings),
        controls(findings),
        held::section(findings),
        classic::section(findings),
        conformance::section(findings),
        troubles(findings),
        fairness(findings),
        subjects(findings),
        method(findings),
    )
}

fn workload(findings: &Findings<'_>, table: &Table, place: usize) -> String {
    let both = |ids: [&str; 2], drawn: &dyn Fn(&str, Room) -> String| {
        let rooms = [Room::Wide, Room::Narrow].into_iter().zip(ids);
        let drawn = rooms.map(|(room, id)| drawn(&format!("{id}{place}"), room));
        format!("<figure>\n{}</figure>\n", drawn.collect::<String>())
    };
    // Axes without a mark say nothing.
    let is_measured = table.rows.iter().any(|row| 0 < row.measured());
    let mut html = format!("<section>\n<h2>{}</h2>\n", escaped(&table.workload));
    if is_measured {
        html.push_str(&both(["a", "b"], &|id, room| drawn(findings, table, id, room, Stand::Page)));
    }
    html.push_str(&results(findings, table, place));
    html.push_str(&capacities(findings, table));
    if is_measured {
        html.push_str("<h3>What it cost</h3>\n");
        html.push_str(&both(["c", "d"], &|id, room| cost(findings, table, id, room)));
    }
    html + &detail::section(findings, table) + "</section>\n"
}
