//! How much of the RFCs servers keep: servers × areas, how many cases passed, were tolerable, failed; and a case by itself.

use analysis::{Conformity, Score};
use lab::conformance::{Area, CaseVerdict, Finding, VerdictCounts};

use crate::Findings;
use crate::document::{Cell, Column, Entry, Row, Sign, Table, Tone};
use crate::markup::{Markup, markup};

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

/// A case: what it demands, which answers pass, and what came.
pub(crate) fn entry(finding: &Finding) -> Entry {
    let (tone, word) = match finding.verdict {
        CaseVerdict::Pass => (Tone::Good, "pass"),
        CaseVerdict::Warn => (Tone::Doubtful, "warn"),
        CaseVerdict::Fail => (Tone::Bad, "fail"),
        CaseVerdict::Crash => (Tone::Bad, "CRASH"),
        verdict @ (CaseVerdict::NotTestable | CaseVerdict::NotApplicable) => {
            (Tone::Dim, verdict.name())
        }
    };
    let tags: String = finding.tags.iter().map(|tag| format!(" · {}", tag.name())).collect();
    let (Finding { id, title, clause, .. }, level) = (finding, finding.level.name());
    let head = format!("{word}  {id}  {title}  {clause}, {level}{tags}");
    let mut lines = vec![
        ("demands", finding.demand.clone()),
        ("expected", finding.expected.clone()),
        ("came", finding.why.clone()),
    ];
    if finding.verdict == CaseVerdict::Warn {
        lines.push(("doubt", finding.doubt.clone()));
    }
    if finding.is_unstable() {
        lines.push(("unstable", format!("round by round: {}", rounds(finding))));
    }
    lines.push(("clause", finding.clause_link()));
    lines.into_iter().fold(Entry::new(tone, head), |entry, (name, text)| {
        entry.with(Tone::Plain, format!("{name:<10}{text}"))
    })
}

/// `pass, fail, pass`: the verdict of each round.
pub(crate) fn rounds(finding: &Finding) -> String {
    finding.rounds.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(", ")
}

/// A row for each server that was checked, and a column for each area.
pub(crate) fn table(findings: &Findings<'_>) -> Table {
    let checked: Vec<(&Conformity, &Score)> = findings
        .board
        .conformities
        .iter()
        .filter_map(|found| Some((found, found.score.as_ref().ok()?)))
        .collect();
    let is_there = |area: &&Area| {
        checked.iter().any(|(_, score)| score.areas.iter().any(|(other, _)| other == *area))
    };
    let areas: Vec<&Area> = Area::ALL.iter().filter(is_there).collect();
    let mut columns =
        vec![Column::new("subject", "server", 0).left(), Column::new("all", "all", 0)];
    columns.extend(areas.iter().map(|area| Column::new(area.name(), area.name(), 1)));
    let rows = checked.iter().map(|(found, score)| {
        let name = Cell { sign: Sign::Slot, ..Cell::text(findings.title(&found.subject)) };
        let of_areas = areas.iter().map(|area| {
            let own = score.areas.iter().find(|(other, _)| other == *area);
            own.map_or_else(Cell::none, |(_, tally)| counts(tally))
        });
        Row {
            slot: Some(findings.slot(&found.subject)),
            is_reference: found.is_reference,
            cells: [name, counts(&score.all)].into_iter().chain(of_areas).collect(),
            ..Row::default()
        }
    });
    Table::of("areas", columns, rows).noting(vec![SIGNS.into()])
}

const SIGNS: &str = "cases passed · ▲ tolerable · ✕ broken · † gone afterwards · ? not testable, because the well-formed \
                     twin was not accepted";

/// Each kind has a sign besides its colour.
fn counts(tally: &VerdictCounts) -> Cell {
    let kinds =
        [("▲", tally.warn), ("✕", tally.fail), ("†", tally.crash), ("?", tally.not_testable)];
    let there = kinds.into_iter().filter(|(_, many)| 0 < *many);
    let signs: String = there.map(|(sign, many)| format!(" {sign}{many}")).collect();
    let tone = match (tally.fail + tally.crash, tally.warn) {
        (0, 0) => Tone::Good,
        (0, _) => Tone::Doubtful,
        _ => Tone::Bad,
    };
    Cell::text(format!("{}{signs}", tally.pass)).valued(Some(tally.pass as f64)).toned(tone)
}
