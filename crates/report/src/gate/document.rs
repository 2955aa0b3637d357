//! A gate as a document: the sentence, the table, what was disturbed, and how to repeat it.

use analysis::gate::{Answer, PairOf, Weighed};
use lab::figure::Figure;
use units::counted;

use super::{FinishedGate, Word, name, ratio, sentence};
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Paragraph, Row, Section, Table, Tone,
};
use crate::grouped::grouped;
use crate::number_format::in_unit_of;
use crate::paired::{self, Finding, PairedFigure};
use crate::run::conditions::machine;
use crate::time::utc;

pub(super) fn document(gate: &FinishedGate<'_>) -> Document {
    let mut sections = Vec::new();
    sections.push(Section::new("figures", "", Depth::Brief).with([Block::Table(table(gate))]));
    sections.extend(measured(gate));
    sections.extend(why(gate));
    sections.extend(conformance(gate));
    sections.push(disturbed(gate));
    let command = Entry { command: gate.command.into(), ..Entry::new(Tone::Dim, "To repeat it:") };
    sections.push(Section::new("again", "", Depth::Brief).with([Block::Entries(vec![command])]));
    Document {
        label: match gate.run {
            Some(run) => format!("gate · {} · {}", runs(gate), utc(run.began_unix_ms)),
            None => "gate".into(),
        },
        title: format!("Is {} worse than {}?", gate.head, gate.base),
        answer: std::iter::once(gate.sentence()).chain(why_sentences(gate)).collect(),
        conditions: [conditions(gate)]
            .into_iter()
            .chain(gate.run.map(|run| machine(run, gate.trials)))
            .collect(),
        sections,
        ..Document::default()
    }
}

fn runs(gate: &FinishedGate<'_>) -> String {
    match gate.runs.as_slice() {
        [one] => format!("run {one}"),
        runs => format!("runs {}", runs.join(", ")),
    }
}

fn conditions(gate: &FinishedGate<'_>) -> String {
    let rule = gate.weighing.rule;
    let builds = rule.builds.map_or(String::new(), |builds| {
        format!("; {builds} builds of base and of head take turns, and each counts once")
    });
    let sides = format!("base: {}; head: {}", gate.base, gate.head);
    if gate.early.is_none() && !gate.weighing.figures.iter().any(|it| it.is_gated) {
        return sides;
    }
    format!(
        "{sides}; equal code is called worse in at most {} of gates, a head that is {} worse is missed in about {}; {} of {} count{builds}",
        sentence::chosen_share(rule.alpha),
        sentence::chosen_share(rule.detect),
        sentence::chosen_share(rule.missed),
        gate.weighing.counted,
        counted(gate.weighing.tried as u64, "pair", "pairs"),
    )
}

fn table(gate: &FinishedGate<'_>) -> Table {
    let mut columns = paired::columns(["base", "head"], "head ÷ base", "answer");
    columns.extend([
        Column::new("pairs", "pairs", 0),
        Column::new("least_shown", "shows", 3)
            .meaning("the smallest difference that so many pairs can detect")
            .explained(),
        Column::new("false_alarms", "alarms", 4)
            .meaning(
                "how often the rule calls this figure worse when the signs of its pairs are random",
            )
            .explained(),
    ]);
    Table::of("figures", columns, gate.weighing.figures.iter().map(row))
}

fn row(weighed: &Weighed) -> Row {
    let mut cells = of_figure(weighed).cells();
    cells.extend([
        Cell::text(weighed.finding.pairs.to_string()),
        Cell::share(weighed.least),
        Cell::share(weighed.false_alarms),
    ]);
    Row { cells, ..Row::default() }
}

fn of_figure(weighed: &Weighed) -> PairedFigure {
    let is_decided = 0 < weighed.finding.pairs;
    let tone = if is_decided { Tone::Plain } else { Tone::Dim };
    let value = |side: usize| {
        let Some(means) = weighed.means else { return Cell::none() };
        let text = bounded(weighed.figure, means[side], weighed.are_bounds()[side]);
        Cell::text(text).valued(Some(means[side])).toned(tone)
    };
    PairedFigure {
        name: name(weighed),
        values: [value(0), value(1)],
        ratio: ratio(weighed).filter(|_| is_decided),
        finding: match (weighed.is_gated, weighed.finding.answer) {
            (false, _) => Finding::NotGated,
            (true, Answer::Worse) => Finding::Worse,
            (true, Answer::NotWorse) => Finding::NotWorse,
            (true, Answer::CannotTell(_)) => Finding::CannotTell,
        },
    }
}

fn bounded(figure: Figure, value: f64, is_bound: bool) -> String {
    format!("{}{}", if is_bound { "≥" } else { "" }, in_unit_of(figure, value))
}

/// What the pairs showed where that decides nothing.
fn measured(gate: &FinishedGate<'_>) -> Option<Section> {
    if gate.word() != Word::CannotTell {
        return None;
    }
    let equal = "the base against itself, throughput/s".to_string();
    let figures = gate.weighing.figures.iter();
    let entries: Vec<Entry> = std::iter::once((equal, Figure::Throughput, &gate.equal))
        .chain(figures.map(|it| (format!("{}, base/head", name(it)), it.figure, &it.pairs)))
        .filter(|(.., pairs)| !pairs.is_empty())
        .map(|(of, figure, pairs)| {
            let pairs: Vec<String> = pairs.iter().map(|pair| both(figure, pair)).collect();
            Entry::new(Tone::Dim, format!("{of}: {}", pairs.join(", ")))
        })
        .collect();
    let heading = "Each pair as it was measured, undecided (* disturbed, does not count)";
    Some(Section::new("measured", heading, Depth::Brief).with([Block::Entries(entries)]))
}

/// The figures of both sides of a pair.
fn both(figure: Figure, pair: &PairOf) -> String {
    let [is_base, is_side] = pair.are_bounds;
    let (base, side) = (bounded(figure, pair.base, is_base), bounded(figure, pair.side, is_side));
    format!("{base}/{side}{}", if pair.counts { "" } else { "*" })
}

/// Where the CPU time of an answer goes; that no profile can say it is said with the answer.
fn why(gate: &FinishedGate<'_>) -> Vec<Section> {
    let Some(Ok(findings)) = &gate.why else { return Vec::new() };
    crate::run::why::sections(findings)
}

fn why_sentences(gate: &FinishedGate<'_>) -> Vec<String> {
    match &gate.why {
        Some(Ok(findings)) => crate::run::why::sentences(findings),
        Some(Err(says)) => vec![says.clone()],
        None => Vec::new(),
    }
}

fn conformance(gate: &FinishedGate<'_>) -> Option<Section> {
    let says = match gate.newly_broken.as_ref()? {
        Ok(cases) if cases.is_empty() => {
            Paragraph::new(Tone::Dim, "The head breaks no clause of the RFCs that the base keeps.")
        }
        Ok(cases) => Paragraph::new(
            Tone::Bad,
            format!(
                "The head newly breaks {}: {}.",
                counted(cases.len() as u64, "case", "cases"),
                cases.join(", ")
            ),
        ),
        Err(why) => Paragraph::new(Tone::Doubtful, format!("Conformance was not compared: {why}.")),
    };
    Some(Section::new("conformance", "", Depth::Brief).with([Block::Paragraph(says)]))
}

fn disturbed(gate: &FinishedGate<'_>) -> Section {
    let seen = grouped(gate.weighing.disturbances.iter().map(|found| (found.id(), found.says())));
    let entries = seen.into_iter().map(|(id, says)| {
        let pairs = counted(says.len() as u64, "pair", "pairs");
        Entry::new(Tone::Doubtful, format!("{id}: {pairs} did not count")).with(Tone::Dim, says[0])
    });
    Section::new("disturbed", "What disturbed pairs, which were repeated", Depth::Brief)
        .with([Block::Entries(entries.collect())])
}
