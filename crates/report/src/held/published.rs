//! The figures that the article states, as text, and beside them what this run says about the same.

use analysis::{Estimate, Plateau};
use lab::figure::{Figure, Unit};
use lab::history::Published;

use super::lines::{Line, estimated, memory_max, number, rss};
use crate::Findings;
use crate::document::{Block, Entry, Tone};
use crate::number_format::Written;
use crate::run::fairness::text_table;

/// None if the experiment has no article's figures.
pub(super) fn published(findings: &Findings<'_>, lines: &[Line<'_>]) -> Vec<Block> {
    let history = &findings.history;
    let is_held = |published: &&Published| {
        findings.board.ramps.iter().any(|ramps| ramps.workload == published.workload)
    };
    let figures: Vec<&Published> = history.figures.iter().filter(is_held).collect();
    if figures.is_empty() && history.about.is_empty() {
        return Vec::new();
    }
    let then = Entry::new(Tone::Plain, &history.label);
    let then = history.about.iter().fold(then, |entry, says| entry.with(Tone::Plain, says));
    let competing = lines.iter().filter(|line| !line.held.is_reference);
    let now = competing.fold(Entry::new(Tone::Plain, "this run"), |entry, line| {
        entry.with(Tone::Plain, ours(findings, line))
    });
    let mut blocks = vec![Block::Entries(vec![then, now])];
    if !figures.is_empty() {
        blocks.push(table(findings, lines, &figures));
    }
    blocks.push(Block::paragraph(
        Tone::Dim,
        "Machines, versions and ways of measuring differ: much of what has changed since is not the servers' doing.",
    ));
    blocks
}

/// A line's price in words, and what its probe says is in use.
fn ours(findings: &Findings<'_>, line: &Line<'_>) -> String {
    let price = &line.held.price;
    let written = |unit, found: Option<Estimate>| found.map(|found| estimated(unit, &found));
    let slope =
        price.memory.map(|slope| format!("{} KiB{}", Written::slope(&slope).value, rss(&slope)));
    let last = line.held.plateaus.last();
    let parts = [
        written(Unit::Count, price.reached).map(|many| format!("held {many} connections")),
        slope.map(|each| format!("{each} each")),
        written(Unit::Bytes, last.and_then(|last| memory_max(line.held, last)))
            .map(|most| format!("{most} in all at most")),
        written(Unit::Percent, last.and_then(|last| last.estimate(Figure::StepCpuShare)))
            .map(|share| format!("CPU {share}")),
    ];
    let in_use = findings.board.readings.iter().filter_map(|reading| {
        let figure = reading.figures.first().filter(|figure| figure.unit == Unit::Percent)?;
        let share = written(Unit::Percent, last.and_then(|last| last.estimate(figure)))?;
        Some(format!("{} {share}", reading.title))
    });
    let said: Vec<String> = parts.into_iter().flatten().chain(in_use).collect();
    match said.is_empty() {
        true => format!("{}: not measured", line.title),
        false => format!("{}: {}", line.title, said.join(", ")),
    }
}

fn table(findings: &Findings<'_>, lines: &[Line<'_>], figures: &[&Published]) -> Block {
    let label = findings.history.label.as_str();
    let head = ["server", "workload", "connections", "figure", label, "this run", "note"];
    let rows = figures.iter().map(|published| {
        let unit = published.figure.unit();
        let line = lines.iter().find(|line| {
            line.held.subject == published.subject && line.workload == published.workload
        });
        vec![
            findings.title(&published.subject).to_string(),
            published.workload.clone(),
            published.point.map_or("most".into(), |point| number(Unit::Count, point)),
            published.figure.heading().into(),
            number(unit, published.value),
            line.and_then(|line| now(line, published)).unwrap_or("–".into()),
            published.note.clone(),
        ]
    });
    Block::Table(text_table("stated", &head, rows))
}

/// Our figure for the same: at the plateau with so many connections, else at the last one.
fn now(line: &Line<'_>, published: &Published) -> Option<String> {
    let plateaus = &line.held.plateaus;
    let is_it = |plateau: &&Plateau| Some(plateau.connections as f64) == published.point;
    let plateau = match published.point {
        Some(_) => plateaus.iter().find(is_it)?,
        None => plateaus.last()?,
    };
    if published.figure == Figure::FailedShare {
        let count = |many: u64| number(Unit::Count, many as f64);
        let (failed, lost) = (count(plateau.sums.failed), count(plateau.sums.lost));
        let rounds = if plateau.rounds == 1 { "round" } else { "rounds" };
        return Some(format!("{failed} failed, {lost} lost in {} {rounds}", plateau.rounds));
    }
    let found = alike(line, plateau, published.figure)?;
    Some(estimated(published.figure.unit(), &found))
}

/// The figure of ours that means the same.
fn alike(line: &Line<'_>, plateau: &Plateau, figure: Figure) -> Option<Estimate> {
    match figure {
        // A request of an article is a connection here.
        Figure::Attempted | Figure::Correct => line.held.price.reached,
        _ => plateau.estimate(figure.at_step()?),
    }
}
