//! What each subject can be offered within the promise, and where its knee is: a small table under a curve's figures.

use analysis::{Capacity, Table};
use lab::experiment::Point;
use lab::figure::Figure;

use super::part::paragraph;
use super::table::key_of;
use crate::Findings;
use crate::markup::escaped;
use crate::sentence::broken;

const HEADS: [(&str, &str); 6] = [
    ("subject", ""),
    ("keeps it up to", "the highest place below which all kept the promise, and which does"),
    ("breaks it at", "the first place that did not: capacity lies between the two"),
    ("by", "what of the promise was broken there"),
    ("single rounds", "between these places each round alone broke it"),
    ("knee", "where most is achieved for the time that half the requests take"),
];

/// Nothing of closed loops and of one place.
pub(super) fn capacities(findings: &Findings<'_>, table: &Table) -> String {
    let promise = table.promise;
    let found = table.capacities();
    let Some(row) = table.rows.first().filter(|_| !found.is_empty()) else { return String::new() };
    let head = |(says, meaning): (&str, &str)| {
        let class = if says == "by" { " class=\"text\"" } else { "" };
        format!("<th scope=\"col\"{class} title=\"{}\">{}</th>", escaped(meaning), escaped(says))
    };
    let heads: String = HEADS.into_iter().map(head).collect();
    let rows: String =
        found.iter().map(|(subject, capacity)| line(findings, subject, capacity)).collect();
    let says = format!(
        "The promise: p99 ≤ {}, at most {} failed, and at least {} on time. Capacity is read off the rates that were tried, \
         in {}; it lies between the first two columns. The knee is the rate with the most throughput for its median response \
         time.",
        (findings.number)(Figure::ResponseP99, promise.p99_ms),
        (findings.number)(Figure::FailedShare, promise.failed_percent),
        (findings.number)(Figure::OnTime, promise.on_time_share * 100.0),
        row.point.unit()
    );
    format!(
        "<h3>What each can be offered</h3>\n{}<div class=\"scroll capacities\" tabindex=\"0\" role=\"region\" \
         aria-label=\"capacity\"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        paragraph("dim", &says)
    )
}

fn line(findings: &Findings<'_>, subject: &str, capacity: &Capacity) -> String {
    let at = |point: Option<Point>| {
        point.map_or("–".into(), |point| (findings.number)(Figure::Offered, point.value()))
    };
    let bad = capacity.bad.as_ref();
    let good = match (capacity.good, bad) {
        (Some(good), None) => format!("≥{}", at(Some(good))),
        (None, Some(_)) => "no place tried".into(),
        (good, _) => at(good),
    };
    let ragged =
        if capacity.is_ragged { "; kept again at a higher place, so in doubt" } else { "" };
    let by = bad.map_or("–".into(), |(_, breaches)| {
        let all: Vec<String> = breaches.iter().map(|breach| broken(findings, breach)).collect();
        all.join(", ") + ragged
    });
    let bad = at(bad.map(|(point, _)| *point));
    let cells = [good, bad, by, interval(findings, capacity), at(capacity.knee)];
    let classes = ["main", "", "text", "", ""];
    let cells: String = classes
        .iter()
        .zip(&cells)
        .map(|(class, says)| format!("<td class=\"{class}\">{}</td>", escaped(says)))
        .collect();
    let slot = findings.slot(subject);
    format!(
        "<tr data-s=\"{slot}\"><th scope=\"row\">{}{}</th>{cells}</tr>\n",
        key_of(Some(slot)),
        escaped(findings.title(subject))
    )
}

fn interval(findings: &Findings<'_>, capacity: &Capacity) -> String {
    let shown = |point: Point| (findings.number)(Figure::Offered, point.value());
    capacity.rounds.map_or("–".into(), |(low, high)| format!("{}–{}", shown(low), shown(high)))
}
