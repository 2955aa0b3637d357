//! How the servers differ: what they declare, what was observed, whether they answered alike; and which took part.

use analysis::{Answers, Observed, Wire};
use lab::figure::Figure;
use lab::record::Entry as Subject;

use super::findings::Findings;
use super::origin;
use crate::chart::marks::short;
use crate::document::{Align, Block, Cell, Column, Row, Sign, Table, Tone};
use crate::grouped::grouped;
use crate::number_format::Written;
use crate::{http2, security};

/// The settings, each with the values that were seen.
pub(super) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let fairness = &findings.fairness;
    let mut rows = Vec::new();
    for setting in &fairness.settings {
        for variant in &setting.variants {
            rows.push([
                setting.name.replace('_', " "),
                variant.default.clone().unwrap_or("not known".into()),
                variant.change.clone().unwrap_or("–".into()),
                titles(findings, &variant.subjects),
            ]);
        }
    }
    rows.extend(machines(findings));
    rows.extend(spoken(findings));
    rows.extend(wires(findings));
    rows.extend(answers(findings));
    let head = ["setting", "library's default", "changed by its settings", "servers"];
    vec![Block::Table(text_table("differences", &head, rows.into_iter().map(Vec::from)))]
}

/// On which machines the servers ran, and from which they were loaded.
fn machines(findings: &Findings<'_>) -> Option<[String; 4]> {
    let says = origin::in_words(findings)?;
    let names = findings.fairness.observed.iter().map(|it| it.subject.clone());
    let all: Vec<String> = names.collect();
    Some(["machines".into(), says, "–".into(), titles(findings, &all)])
}

/// A table of texts.
pub(crate) fn text_table(
    key: &str,
    head: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Table {
    let columns = head.iter().enumerate().map(|(at, heading)| Column {
        align: Align::Left,
        ..Column::new("text", *heading, u8::from(1 < at))
    });
    let rows = rows
        .map(|cells| Row { cells: cells.into_iter().map(Cell::text).collect(), ..Row::default() });
    Table::of(key, columns.collect(), rows)
}

/// What was agreed on with TLS and announced over HTTP/2, and by which servers.
fn spoken(findings: &Findings<'_>) -> Vec<[String; 4]> {
    let observed = || findings.fairness.observed.iter();
    let tls = observed().filter_map(|it| {
        let agreed = it.security.as_ref().and_then(security::agreed)?;
        Some((("TLS, as agreed on", agreed), it.subject.clone()))
    });
    let settings = observed().flat_map(|it| {
        let sent = it.settings.iter().map(|(settings, _)| http2::in_words(settings));
        sent.map(|sent| (("HTTP/2 SETTINGS, as sent", sent), it.subject.clone()))
    });
    let rows = grouped(tls.chain(settings)).into_iter().map(|((label, says), subjects)| {
        [label.to_string(), says, "–".into(), titles(findings, &subjects)]
    });
    rows.collect()
}

/// Bytes of an answer, for each request.
fn wires(findings: &Findings<'_>) -> Vec<[String; 4]> {
    let fairness = &findings.fairness;
    let rows = fairness.answers.iter().map(|answers| {
        let of_each = fairness.observed.iter().filter_map(|observed| {
            let is_asked =
                |wire: &&Wire| (&wire.workload, &wire.ask) == (&answers.workload, &answers.ask);
            let wire = observed.wires.iter().find(is_asked)?;
            let title = findings.title(&observed.subject);
            Some(format!("{title} {}+{}", wire.head_bytes, wire.rest_bytes))
        });
        let of_each: Vec<String> = of_each.collect();
        let label = "bytes, head+rest".to_string();
        [label, question(findings, answers), "–".into(), of_each.join(", ")]
    });
    rows.collect()
}

/// Which servers answered alike, and which did not.
fn answers(findings: &Findings<'_>) -> Vec<[String; 4]> {
    let rows = findings.fairness.answers.iter().map(|answers| {
        let alike = match answers.apart.is_empty() {
            true => "all alike, but for fields about the server, the time and the framing".into(),
            false => {
                let (apart, alike) =
                    (titles(findings, &answers.apart), titles(findings, &answers.alike));
                format!("{apart} answered differently from {alike}")
            }
        };
        ["answers".to_string(), question(findings, answers), "–".into(), alike]
    });
    rows.collect()
}

/// The workload and the request; a workload with one request has its name only.
fn question(findings: &Findings<'_>, answers: &Answers) -> String {
    let all = findings.fairness.answers.iter();
    match all.filter(|other| other.workload == answers.workload).count() {
        1 => findings.task(&answers.workload),
        _ => format!("{} `{}`", findings.task(&answers.workload), answers.ask),
    }
}

fn titles(findings: &Findings<'_>, subjects: &[String]) -> String {
    let all: Vec<&str> = subjects.iter().map(|subject| findings.title(subject)).collect();
    all.join(", ")
}

/// The servers that took part, as observed; and those that did not, and why.
pub(super) fn entrants(findings: &Findings<'_>) -> Vec<Block> {
    let there: Vec<(&Observed, &Subject)> = findings
        .fairness
        .observed
        .iter()
        .filter_map(|observed| Some((observed, findings.entry(&observed.subject)?)))
        .collect();
    let mut blocks = Vec::new();
    if there.is_empty() {
        blocks.push(Block::paragraph(Tone::Bad, "No server took part."));
    } else {
        blocks.push(Block::Table(table(findings, &there)));
    }
    let skipped =
        findings.run.entries.iter().filter_map(|entry| Some((entry, entry.skipped.as_ref()?)));
    blocks.extend(skipped.map(|(entry, why)| {
        let text = format!("{} took no part: {why}", findings.title(&entry.name));
        Block::paragraph(Tone::Doubtful, text)
    }));
    blocks
}

/// Versions can be long; a table's cells must not be.
const LONGEST: usize = 28;

fn table(findings: &Findings<'_>, there: &[(&Observed, &Subject)]) -> Table {
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("version", "version", 1).left(),
        Column::new("language", "in", 6).left().folding(),
        Column::new("processes", "processes", 3)
            .left()
            .folding()
            .explained()
            .meaning("as declared (as seen)"),
        Column::new("tier", "tier", 5).left().folding(),
        Column::new("start_up", "start-up", 2).explained().meaning("mean over all trials"),
        Column::new("backlog", "backlog", 2).folding().explained().meaning("as the kernel says"),
        Column::new("answer", "answer", 4)
            .folding()
            .explained()
            .meaning("bytes of the head + the rest, as they came (first question)"),
        Column::new("notes", "notes", 9).left().folding(),
    ];
    let rows = there.iter().map(|&(observed, entry)| {
        let start_up = observed.start_up.as_ref();
        let wire = observed.wires.first();
        let cells = vec![
            Cell { sign: Sign::Slot, ..Cell::text(findings.title(&entry.name)) },
            Cell::text(short(entry.version.lines().next().unwrap_or_default(), LONGEST)),
            Cell::text(entry.language.clone()),
            Cell::text(format!("{}{}", entry.processes, seen(&observed.processes))),
            Cell::text(entry.tier.clone()),
            Cell::known(start_up.map(|it| Written::estimate(Figure::StartUp.unit(), it).bounded())),
            Cell::text(numbers(&observed.backlogs)),
            Cell::known(wire.map(|wire| format!("{}+{}B", wire.head_bytes, wire.rest_bytes))),
            Cell::text(entry.notes.clone()),
        ];
        Row { slot: Some(findings.slot(&entry.name)), cells, ..Row::default() }
    });
    Table::of("entrants", columns, rows)
}

/// ` (4)` where the count says more than the word.
fn seen(processes: &std::collections::BTreeSet<u32>) -> String {
    match processes.iter().collect::<Vec<_>>().as_slice() {
        [] | [1] => String::new(),
        _ => format!(" ({})", numbers(processes)),
    }
}

fn numbers(numbers: &std::collections::BTreeSet<u32>) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if texts.is_empty() { "–".into() } else { texts.join("/") }
}
