//! Each subject in depth: how its response times are spread, their percentiles, and a round along its time.

mod closeup;
mod places;
mod timeline;

use analysis::{Closeup, Detail, Row, Table};
use lab::figure::Figure;

use crate::Findings;
use crate::markup::{Markup, markup};
use crate::number_format::Written;
use crate::render::html;

pub(crate) use timeline::{CPU, MEMORY, Times};

/// The style of the small charts beside each other.
pub(crate) const STYLE: &str = include_str!("detail.css");

/// Up to this many subjects are unfolded from the start; if there are more, only the first.
const UNFOLDED: usize = 3;

/// All subjects of a workload, each folded behind a line that names it.
pub(crate) fn section(findings: &Findings<'_>, table: &Table) -> Markup {
    let of_table = |detail: &&Detail| detail.workload == table.workload;
    let mut details: Vec<&Detail> = findings.details().iter().filter(of_table).collect();
    let is_reference = |detail: &Detail| {
        table.rows.iter().any(|row| row.is_reference && row.subject == detail.subject)
    };
    // Readers are interested in the competitors first.
    details.sort_by_key(|detail| is_reference(detail));
    let is_few = findings.details().len() <= UNFOLDED;
    let is_opening =
        findings.board.tables.first().is_some_and(|first| first.workload == table.workload);
    let first = details.first().filter(|_| is_opening).map(|detail| &detail.subject);
    let depth = |detail: &&Detail| {
        let is_first = first == Some(&detail.subject);
        depth(findings, table, detail, is_few || is_first)
    };
    let depths: Markup = details.iter().map(depth).collect();
    match depths.is_empty() {
        true => depths,
        false => markup!("<h3>Each of them in depth</h3>\n{}", depths),
    }
}

/// The pictures of a single load, which are not folded.
pub(crate) fn of_load(findings: &Findings<'_>) -> Markup {
    let Some(detail) = findings.details().first() else { return Markup::default() };
    let mut pictures = places::histograms(findings, detail, 0);
    pictures.push(&closeup::all(findings, detail, 0));
    pictures
}

fn depth(findings: &Findings<'_>, table: &Table, detail: &Detail, is_open: bool) -> Markup {
    let slot = findings.slot(&detail.subject);
    let mut pictures = places::histograms(findings, detail, slot);
    pictures.push(&closeup::all(findings, detail, slot));
    let (title, gist) = (findings.title(&detail.subject), gist(findings, table, detail));
    html::folded(Some(slot), is_open, &format!("{title}: {gist}"), &pictures)
}

/// The most important result for a subject, in one line.
fn gist(findings: &Findings<'_>, table: &Table, detail: &Detail) -> String {
    let best = detail.closeups.iter().rfind(|close| close.roles.iter().any(|role| is_best(*role)));
    let row_of = |close: &Closeup| {
        let is_it = |row: &&Row| row.subject == detail.subject && row.point == close.point;
        table.rows.iter().find(is_it)
    };
    let Some(row) = best.or(detail.closeups.first()).and_then(row_of) else {
        return "not measured".into();
    };
    let figure = |figure: Figure| {
        let written = Written::estimate(figure.unit(), &row.estimate(figure)?);
        Some(format!("{} {}", figure.heading(), written.marked()))
    };
    let figures = [Figure::Throughput, Figure::ResponseP50, Figure::ResponseP99].map(figure);
    let mut parts: Vec<String> = figures.into_iter().flatten().collect();
    if parts.is_empty() {
        parts.push("not measured".into());
    }
    parts.push(format!("at {}", findings.place(row.point)));
    if row.is_behind() {
        parts.push("did not keep up".into());
    }
    if row.is_reference {
        parts.push("dyno's own server, no competitor".into());
    }
    if let Some(verdict) = row.verdict() {
        parts.push(verdict.name().into());
    }
    parts.join(" · ")
}

fn is_best(role: analysis::Role) -> bool {
    match role {
        analysis::Role::KeptUp | analysis::Role::Most => true,
        analysis::Role::Lowest | analysis::Role::Highest => false,
    }
}
