//! What each subject can be offered within the promise, and where its knee is: a small table under a curve's figures.

use analysis::{Breach, Capacity, Table};
use lab::experiment::Point;
use lab::figure::Figure;

use super::part::paragraph;
use super::table::key_of;
use crate::Findings;
use crate::markup::escaped;

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
        "The promise: p99 ≤ {}, failures ≤ {}, and at least {} of what is offered achieved. Capacity is read off the places \
         that were tried, in {}; it lies between the first two columns. The knee is where most is achieved for the time that \
         half the requests take.",
        (findings.number)(Figure::ResponseP99, promise.p99_ms),
        (findings.number)(Figure::FailedShare, promise.failed_percent),
        (findings.number)(Figure::FailedShare, promise.on_time_share * 100.0),
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
    let by = bad.map_or("–".into(), |(_, breaches)| broken(findings, breaches) + ragged);
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

fn broken(findings: &Findings<'_>, breaches: &[Breach]) -> String {
    let one = |breach: &Breach| match *breach {
        Breach::P99(ms) => format!("p99 {}", (findings.number)(Figure::ResponseP99, ms)),
        Breach::Failed(percent) => {
            format!("{} failed", (findings.number)(Figure::FailedShare, percent))
        }
        Breach::Behind(share) => {
            format!("{} of it achieved", (findings.number)(Figure::FailedShare, share * 100.0))
        }
        Breach::Growing => "response times that grow as long as the load lasts".into(),
        Breach::Unmeasured => "a round is no measurement".into(),
    };
    breaches.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn interval(findings: &Findings<'_>, capacity: &Capacity) -> String {
    let shown = |point: Point| (findings.number)(Figure::Offered, point.value());
    capacity.rounds.map_or("–".into(), |(low, high)| format!("{}–{}", shown(low), shown(high)))
}
