//! How much of the RFCs the servers keep, as a picture: servers × areas, how many cases passed, were tolerable, failed.

use analysis::{Conformity, Score};
use lab::conformance::{Area, Finding, VerdictCounts};

use crate::Findings;
use crate::markup::{Markup, markup};
use crate::render::html::key_of;

pub(crate) const STYLE: &str = include_str!("conformance.css");

/// Pale wherever a server that is not ranked is drawn, in a page and in a chart taken from it.
pub(crate) fn pale(findings: &Findings<'_>) -> Markup {
    paled(findings, "svg ", "opacity:.45")
}

/// Pale also wherever it has a row, whose text must be read.
pub(crate) fn pale_rows(findings: &Findings<'_>) -> Markup {
    paled(findings, ".results tr", "color:var(--dim)")
}

fn paled(findings: &Findings<'_>, what: &str, style: &str) -> Markup {
    let unmet = findings.board.conformities.iter().filter(|found| found.unmet.is_some());
    let rule = |found: &Conformity| {
        let slot = findings.slot(&found.subject);
        markup!("{}[data-s=\"{}\"]{{filter:grayscale(1);{}}}\n", what, slot, style)
    };
    unmet.map(rule).collect()
}

/// `pass, fail, pass`: the verdict of each round.
pub(crate) fn rounds(finding: &Finding) -> String {
    finding.rounds.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(", ")
}

/// A row for each server that was checked.
pub(crate) fn matrix(findings: &Findings<'_>) -> Markup {
    let checked: Vec<(&Conformity, &Score)> = findings
        .board
        .conformities
        .iter()
        .filter_map(|found| Some((found, found.score.as_ref().ok()?)))
        .collect();
    let is_there = |area: &Area| {
        checked.iter().any(|(_, score)| score.areas.iter().any(|(other, _)| other == area))
    };
    let areas: Vec<Area> = Area::ALL.iter().copied().filter(is_there).collect();
    let head = |area: &Area| markup!("<th scope=\"col\"><span>{}</span></th>", area.name());
    let heads: Markup = areas.iter().map(head).collect();
    let rows = checked.iter().map(|(found, score)| {
        let slot = findings.slot(&found.subject);
        let cells: Markup = areas.iter().map(|area| cell(score, *area)).collect();
        markup!(
            "<tr data-s=\"{}\" class=\"{}\"><th scope=\"row\">{}{}</th><td class=\"sum\">{}</td>{}</tr>\n",
            slot,
            if found.is_reference { "reference" } else { "" },
            key_of((!found.is_reference).then_some(slot)),
            findings.title(&found.subject),
            counts(&score.all),
            cells
        )
    });
    let rows: Markup = rows.collect();
    markup!(
        "<div class=\"scroll matrix\" tabindex=\"0\" role=\"region\" aria-label=\"areas\"><table>\n<caption>cases passed · ▲ \
         tolerable · ✕ broken · † gone afterwards · ? not testable, because the well-formed twin was not accepted</caption>\n\
         <thead><tr><th scope=\"col\">server</th><th scope=\"col\">all</th>{}</tr></thead>\n\
         <tbody>\n{}</tbody>\n</table></div>\n",
        heads,
        rows
    )
}

fn cell(score: &Score, area: Area) -> Markup {
    match score.areas.iter().find(|(other, _)| *other == area) {
        None => markup!("<td class=\"none\" title=\"does not apply\">–</td>"),
        Some((_, tally)) => {
            let class = match (tally.must_broken, tally.fail + tally.crash, tally.warn) {
                (0, 0, 0) => "kept",
                (0, 0, _) => "warned",
                _ => "broken",
            };
            markup!("<td class=\"{}\">{}</td>", class, counts(tally))
        }
    }
}

/// Each kind has a sign besides its colour.
fn counts(tally: &VerdictCounts) -> Markup {
    let kinds = [
        ("odd", "▲", tally.warn),
        ("bad", "✕", tally.fail),
        ("bad", "†", tally.crash),
        ("dim", "?", tally.not_testable),
    ];
    let there = kinds.into_iter().filter(|(_, _, many)| 0 < *many);
    let shown =
        there.map(|(class, sign, many)| markup!(" <b class=\"{}\">{}{}</b>", class, sign, many));
    markup!("{}{}", tally.pass, shown.collect::<Markup>())
}
