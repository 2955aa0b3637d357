//! Subjects × areas: how many cases passed, were tolerable, failed.

use analysis::Score;
use lab::conformance::{Area, Tally};

use super::checked;
use crate::Findings;
use crate::markup::escaped;
use crate::page::table::key_of;

pub(super) fn matrix(findings: &Findings<'_>) -> String {
    let all = &findings.board.conformities;
    let is_there = |area: &Area| {
        checked(all).any(|(_, score)| score.areas.iter().any(|(other, _)| other == area))
    };
    let areas: Vec<Area> = Area::ALL.iter().copied().filter(is_there).collect();
    let heads: String = areas
        .iter()
        .map(|area| format!("<th scope=\"col\"><span>{}</span></th>", area.name()))
        .collect();
    let rows: String = checked(all)
        .map(|(found, score)| {
            let slot = findings.slot(&found.subject);
            let key = key_of((!found.is_reference).then_some(slot));
            let name = escaped(findings.title(&found.subject));
            let cells: String = areas.iter().map(|area| cell(score, *area)).collect();
            let class = if found.is_reference { " class=\"reference\"" } else { "" };
            format!(
                "<tr data-s=\"{slot}\"{class}><th scope=\"row\">{key}{name}</th><td class=\"sum\">{}</td>{cells}</tr>\n",
                counts(&score.all)
            )
        })
        .collect();
    format!(
        "<div class=\"scroll matrix\" tabindex=\"0\" role=\"region\" aria-label=\"areas\"><table>\n<caption>cases passed · ▲ \
         tolerable · ✕ broken · † gone afterwards · ? not testable, because the well-formed twin was not accepted</caption>\n\
         <thead><tr><th scope=\"col\">subject</th><th scope=\"col\">all</th>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn cell(score: &Score, area: Area) -> String {
    match score.areas.iter().find(|(other, _)| *other == area) {
        None => "<td class=\"none\" title=\"does not apply\">–</td>".into(),
        Some((_, tally)) => {
            let class = match (tally.must_broken, tally.fail + tally.crash, tally.warn) {
                (0, 0, 0) => "kept",
                (0, 0, _) => "warned",
                _ => "broken",
            };
            format!("<td class=\"{class}\">{}</td>", counts(tally))
        }
    }
}

/// Each kind has a sign besides its colour.
fn counts(tally: &Tally) -> String {
    let kinds = [
        ("odd", "▲", tally.warn),
        ("bad", "✕", tally.fail),
        ("bad", "†", tally.crash),
        ("dim", "?", tally.not_testable),
    ];
    let there = kinds.into_iter().filter(|(_, _, many)| 0 < *many);
    let shown = there.map(|(class, sign, many)| format!(" <b class=\"{class}\">{sign}{many}</b>"));
    format!("{}{}", tally.pass, shown.collect::<String>())
}
