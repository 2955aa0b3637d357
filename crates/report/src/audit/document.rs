//! An audit as a document: what was read, what speaks against it, rule by rule, and every row that was found.

use analysis::{Gravity, Verdict};
use audit::{Audit, AuditedRow, AuditedSource, Finding, Rule, Why};
use units::{count, counted, percent, rate};

use super::explanation;
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Fact, Fold, Row, Section, Table, Tone,
};
use crate::grouped::grouped;
use crate::verdict::DOUBTS;

/// A rule is shown with so many of its rows.
const EXAMPLES: usize = 3;
/// So many files of a kind are named.
const NAMED: usize = 3;

pub(super) fn document(audit: &Audit) -> Document {
    Document {
        label: "results".into(),
        title: format!("Audit of {}", counted(audit.sources.len() as u64, "file", "files")),
        answer: vec![sentence(audit)],
        verdict: audit.verdict(),
        worth: Some(audit.worth()),
        conditions: vec![
            "An audit sees only what a file carries: a row that raises no doubt need not be true."
                .into(),
        ],
        sections: vec![
            Section::new("files", "What was read", Depth::Brief).with([Block::Facts(files(audit))]),
            Section::new("doubt", DOUBTS, Depth::Brief).with(doubts(audit)),
        ],
        ..Document::default()
    }
}

/// `Of 1,108 rows 71 are invalid …`
pub(super) fn sentence(audit: &Audit) -> String {
    let worth = audit.worth();
    let all = audit.rows().count();
    let of_files = audit.sources.iter().filter(|source| !source.findings.is_empty()).count();
    let beside = match of_files {
        0 => String::new(),
        number => format!(
            " Findings that all rows share are about {} as a whole.",
            counted(number as u64, "file", "files")
        ),
    };
    if worth.suspect + worth.invalid == 0 {
        let rows = counted(all as u64, "row raises", "rows raise");
        return format!("{rows} no doubt.{beside}");
    }
    let parts = [
        (
            worth.invalid,
            "cannot be true or is no measurement",
            "cannot be true or are no measurement",
        ),
        (worth.suspect, "should not be ranked as it stands", "should not be ranked as they stand"),
        (worth.valid, "raises no doubt", "raise no doubt"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(rows, ..)| 0 < *rows)
        .map(|(rows, one, many)| counted(rows as u64, one, many))
        .collect();
    format!("Of {}: {}.{beside}", counted(all as u64, "row", "rows"), parts.join("; "))
}

/// What was read: files of one format to which the same rules could not be applied stand together.
fn files(audit: &Audit) -> Vec<Fact> {
    let of_kinds = audit.sources.iter().map(|source| {
        let kinds: Vec<_> = source.untested.iter().map(|it| (it.rule, it.why)).collect();
        ((source.format, kinds), source)
    });
    grouped(of_kinds).iter().map(|(_, sources)| of_files(sources)).collect()
}

fn of_files(sources: &[&AuditedSource]) -> Fact {
    let names: Vec<&str> = sources.iter().take(NAMED).map(|source| source.name.as_str()).collect();
    let name = match sources.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {} more", names.join(", "), count(more as u64)),
    };
    let rows: usize = sources.iter().map(|source| source.rows.len()).sum();
    let read = format!("{}, {}", sources[0].format.meaning(), counted(rows as u64, "row", "rows"));
    let mut texts = vec![format!("{name}: {read}")];
    for ((why, rows), rules) in not_applied(sources) {
        let rows = counted(rows as u64, "row", "rows");
        texts.push(format!(
            "not applied to {rows}: {}, because {}",
            rules.join(", "),
            explanation::why(why)
        ));
    }
    if let Some(what) = explanation::not_counted(sources[0].format) {
        texts.push(format!("not counted: {what}"));
    }
    Fact { name: sources[0].format.name().replace('_', " "), tone: Tone::Plain, texts }
}

/// What could not be applied to these files: rules with the same reason and the same number of rows together.
fn not_applied(sources: &[&AuditedSource]) -> Vec<((Why, usize), Vec<&'static str>)> {
    grouped(sources[0].untested.iter().enumerate().map(|(place, first)| {
        let rows = sources.iter().map(|source| source.untested[place].rows).sum();
        ((first.why, rows), first.rule.name())
    }))
}

/// One finding, and where it stands.
struct Found<'a> {
    finding: &'a Finding,
    /// None: the whole file.
    row: Option<&'a AuditedRow>,
    file: &'a str,
}

fn found(audit: &Audit) -> Vec<Found<'_>> {
    let mut all = Vec::new();
    for source in &audit.sources {
        let file = source.name.as_str();
        all.extend(source.findings.iter().map(|finding| Found { finding, row: None, file }));
        for row in &source.rows {
            let of_row = row.findings.iter();
            all.extend(of_row.map(|finding| Found { finding, row: Some(row), file }));
        }
    }
    all
}

/// Rule by rule, the gravest first, and then row by row.
fn doubts(audit: &Audit) -> Vec<Block> {
    let all = found(audit);
    let mut rules: Vec<(Gravity, Rule)> = Vec::new();
    for rule in Rule::ALL {
        let of = all.iter().filter(|found| found.finding.rule() == rule);
        rules.extend(of.map(|found| found.finding.gravity()).max().map(|gravity| (gravity, rule)));
    }
    rules.sort_by_key(|(gravity, _)| std::cmp::Reverse(*gravity));
    if rules.is_empty() {
        return vec![Block::paragraph(Tone::Good, "No row raises a doubt.")];
    }
    let entries = rules.iter().map(|(gravity, rule)| entry(*gravity, *rule, &all)).collect();
    let rows = Fold {
        summary: "Every row that was found".into(),
        blocks: vec![Block::Table(table(audit))],
        ..Fold::default()
    };
    vec![Block::Entries(entries), Block::Fold(rows)]
}

fn entry(gravity: Gravity, rule: Rule, all: &[Found<'_>]) -> Entry {
    let of: Vec<&Found<'_>> = all.iter().filter(|found| found.finding.rule() == rule).collect();
    let rows = of.iter().filter(|found| found.row.is_some()).count();
    let files = of.len() - rows;
    let parts = [(rows, "row", "rows"), (files, "whole file", "whole files")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| 0 < *number)
        .map(|(number, one, many)| counted(number as u64, one, many))
        .collect();
    let head =
        format!("{}: {} ({}): {}", gravity.name(), rule.meaning(), rule.name(), parts.join(", "));
    let mut entry = Entry::new(gravity.into(), head).with(Tone::Plain, explanation::because(rule));
    let mut worst = of.clone();
    worst.sort_by_key(|found| std::cmp::Reverse(found.finding.gravity()));
    // Rows that have a figure in common have one sentence.
    worst.dedup_by(|one, other| one.finding == other.finding);
    let shown = worst.len().min(EXAMPLES);
    for found in &worst[..shown] {
        entry = entry
            .with(Tone::Plain, format!("{}: {}", place(found), explanation::says(found.finding)));
    }
    if shown < of.len() {
        entry = entry.with(Tone::Dim, format!("and {} more", count((of.len() - shown) as u64)));
    }
    entry.with(Tone::Dim, format!("what to do: {}", explanation::what_to_do(rule)))
}

/// `haproxy (json-4096)`
fn place(found: &Found<'_>) -> String {
    match found.row {
        None => format!("{}, all rows", found.file),
        Some(AuditedRow { row, .. }) if row.place.is_empty() => row.name.clone(),
        Some(AuditedRow { row, .. }) => format!("{} ({})", row.name, row.place),
    }
}

fn table(audit: &Audit) -> Table {
    let columns = vec![
        Column::new("row", "row", 0).left(),
        Column::new("place", "place", 1).left(),
        Column::new("verdict", "verdict", 2).left(),
        Column::new("rate", "requests/s", 4),
        Column::new("mean", "mean", 5),
        Column::new("p99", "p99", 5),
        Column::new("failed", "failed", 6),
        Column::new("why", "why", 0).left(),
    ];
    let rows = audit.rows().filter(|row| row.verdict() != Verdict::Valid);
    Table::of("rows", columns, rows.map(table_row))
}

fn table_row(audited: &AuditedRow) -> Row {
    let AuditedRow { row, findings } = audited;
    let grave = findings.iter().filter(|finding| finding.gravity() != Gravity::Note);
    let why: Vec<&str> = grave.map(|finding| finding.rule().name()).collect();
    let cells = vec![
        Cell::text(row.name.clone()),
        Cell::text(row.place.clone()),
        Cell::verdict(Some(audited.verdict())),
        Cell::known(row.rate_per_s.map(rate)).valued(row.rate_per_s),
        Cell::known(explanation::of_row(row, row.mean)),
        Cell::known(explanation::of_row(row, row.at(0.99))),
        Cell::known(row.failed_share().map(|share| {
            let bound = if 0.0 < row.unclear { "≥" } else { "" };
            format!("{bound}{}", percent(share))
        })),
        Cell::text(why.join(", ")),
    ];
    Row { cells, ..Row::default() }
}
