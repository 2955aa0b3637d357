//! The table that can stand alone, and the most that each subject came to.

use analysis::{Row, Table};
use lab::figure::Figure;

use super::part::{grid, paragraph};
use crate::Findings;

/// The table's columns.
const COLUMNS: [Figure; 11] = [
    Figure::Achieved,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::ResponseP999,
    Figure::ResponseMax,
    Figure::ResponseSd,
    Figure::FailedShare,
    Figure::CpuPerThousand,
    Figure::RssPeak,
    Figure::PssPeak,
];

pub(super) fn results(findings: &Findings<'_>, table: &Table) -> String {
    let is_there = |figure: &Figure| table.rows.iter().any(|row| row.estimate(*figure).is_some());
    let figures: Vec<Figure> = COLUMNS.into_iter().filter(is_there).collect();
    let mut head = vec!["subject".to_string()];
    head.push(table.rows.first().map_or(String::new(), |row| row.point.unit().into()));
    for figure in &figures {
        head.push(figure.heading().into());
        if *figure == Figure::Achieved {
            head.push("95 % interval".into());
        }
    }
    head.push("rounds".into());
    let row = |row: &Row| {
        let mut cells =
            vec![findings.title(&row.subject).to_string(), row.point.value().to_string()];
        for &figure in &figures {
            cells.push(median(findings, row, figure));
            if figure == Figure::Achieved {
                cells.push(interval(findings, row.estimate(figure)));
            }
        }
        let ends =
            row.unmeasured().into_iter().map(|(kind, times)| format!(" · {times} {}", kind.name()));
        cells.push(format!("{}/{}{}", row.measured(), row.planned, ends.collect::<String>()));
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(table.rows.iter().map(row)).collect();
    let legend = "Times are those of all measured rounds' requests together, all else is the median of the rounds. ? in doubt, see below · ↓ it did not keep up with what was \
                  offered, or the trial was too short to tell · ≥ requests were given up at the time-out: the truth is no \
                  less · * fewer than 10 samples lie beyond";
    grid(&rows, "n") + &paragraph("dim", legend)
}

fn median(findings: &Findings<'_>, row: &Row, figure: Figure) -> String {
    let Some(estimate) = row.estimate(figure) else { return "–".into() };
    let bound = if estimate.is_censored { "≥" } else { "" };
    let support = if estimate.is_supported || estimate.is_censored { "" } else { "*" };
    let (mut behind, mut doubt) = ("", "");
    if figure == Figure::Achieved {
        behind = if row.is_behind() { "↓" } else { "" };
        doubt = if row.is_doubtful() { "?" } else { "" };
    }
    format!("{bound}{}{support}{behind}{doubt}", (findings.number)(figure, estimate.value))
}

fn interval(findings: &Findings<'_>, estimate: Option<analysis::Estimate>) -> String {
    let shown = |value| (findings.number)(Figure::Achieved, value);
    let interval = estimate.and_then(|estimate| estimate.interval);
    interval.map_or("one round".into(), |(low, high)| format!("{}–{}", shown(low), shown(high)))
}

pub(super) fn peaks(findings: &Findings<'_>, table: &Table) -> String {
    if table.peaks.is_empty() {
        return String::new();
    }
    let published =
        |subject: &str| findings.history.find(subject, &table.workload, None, Figure::Achieved);
    let has_past = table.peaks.iter().any(|peak| published(&peak.subject).is_some());
    let mut head = ["subject", "most answers/s", "95 % interval", "at"].map(String::from).to_vec();
    if has_past {
        head.push(format!("{}, as published", findings.history.label));
    }
    let row = |peak: &analysis::Peak| {
        let open = if peak.is_open { "≥" } else { "" };
        let doubt = if peak.is_doubtful { "?" } else { "" };
        let most = (findings.number)(Figure::Achieved, peak.achieved.value);
        let mut cells = vec![
            findings.title(&peak.subject).to_string(),
            format!("{open}{most}{doubt}"),
            interval(findings, Some(peak.achieved)),
            peak.point.to_string(),
        ];
        if has_past {
            cells
                .push(published(&peak.subject).map_or("–".into(), |found| {
                    (findings.number)(Figure::Achieved, found.value)
                }));
        }
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(table.peaks.iter().map(row)).collect();
    let legend = "≥ at the last place, where it still kept up: it may be able to do more. Published figures are from \
                  another machine and other versions.";
    format!("<h3>The most of each</h3>\n{}{}", grid(&rows, "n"), paragraph("dim", legend))
}
