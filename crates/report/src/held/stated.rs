//! What the article states, as text, and beside it what this run says of the same.

use analysis::{Estimate, HeldFigure, Plateau};
use lab::figure::{Figure, Unit};
use lab::history::Published;

use super::lines::{Line, estimated, kib, memory_max, number, rss};
use crate::Findings;
use crate::markup::escaped;
use crate::page::part::{grid, paragraph};

/// Nothing of an experiment without an article's figures.
pub(super) fn stated(findings: &Findings<'_>, lines: &[Line<'_>]) -> String {
    let history = findings.history;
    let is_held = |published: &&Published| {
        findings.board.ramps.iter().any(|ramps| ramps.workload == published.workload)
    };
    let figures: Vec<&Published> = history.figures.iter().filter(is_held).collect();
    if figures.is_empty() && history.about.is_empty() {
        return String::new();
    }
    let about: String =
        history.about.iter().map(|says| format!("<li>{}</li>\n", escaped(says))).collect();
    let competing = lines.iter().filter(|line| !line.climb.is_reference);
    let ours: String =
        competing.map(|line| format!("<li>{}</li>\n", escaped(&ours(findings, line)))).collect();
    let mut html = format!(
        "<h3>What the article states, and this run</h3>\n<div class=\"charts stated\">\n<div><h4>{}</h4>\n<ul>\n{about}</ul></div>\n\
         <div><h4>this run</h4>\n<ul>\n{ours}</ul></div>\n</div>\n",
        escaped(&history.label)
    );
    if !figures.is_empty() {
        html.push_str(&table(findings, lines, &figures));
    }
    html + &paragraph(
        "dim",
        "Machines, versions and ways of measuring differ: much of what has changed since is not the servers' doing.",
    )
}

/// A line's price in words.
fn ours(findings: &Findings<'_>, line: &Line<'_>) -> String {
    let price = &line.climb.price;
    let of = |unit, found: Option<Estimate>| found.map(|found| estimated(findings, unit, &found));
    let slope =
        price.memory.map(|slope| format!("{} KiB{}", kib(findings, slope.bytes), rss(&slope)));
    let last = line.climb.plateaus.last();
    let parts = [
        of(Unit::Count, price.reached).map(|many| format!("held {many} connections")),
        slope.map(|each| format!("{each} each")),
        of(Unit::Bytes, last.and_then(|last| memory_max(line.climb, last)))
            .map(|most| format!("{most} in all at most")),
        of(Unit::Percent, last.and_then(|last| last.estimate(HeldFigure::Utilisation)))
            .map(|share| format!("schedulers in use {share}")),
        of(Unit::Percent, last.and_then(|last| last.estimate(HeldFigure::CpuShare)))
            .map(|share| format!("CPU {share}")),
    ];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    match said.is_empty() {
        true => format!("{}: not measured", line.title),
        false => format!("{}: {}", line.title, said.join(", ")),
    }
}

fn table(findings: &Findings<'_>, lines: &[Line<'_>], figures: &[&Published]) -> String {
    let label = findings.history.label.as_str();
    let head = ["subject", "over", "connections", "figure", label, "this run", "note"];
    let row = |published: &&Published| {
        let unit = published.figure.unit();
        let line = lines.iter().find(|line| {
            line.climb.subject == published.subject && line.workload == published.workload
        });
        vec![
            findings.title(&published.subject).to_string(),
            published.workload.clone(),
            published.point.map_or("most".into(), |point| number(findings, Unit::Count, point)),
            published.figure.heading().into(),
            number(findings, unit, published.value),
            line.and_then(|line| now(findings, line, published)).unwrap_or("–".into()),
            published.note.clone(),
        ]
    };
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(figures.iter().map(row));
    grid(&rows, "text")
}

/// The same of ours: at the plateau of so many connections, else at the last one.
fn now(findings: &Findings<'_>, line: &Line<'_>, published: &Published) -> Option<String> {
    let plateaus = &line.climb.plateaus;
    let is_it = |plateau: &&Plateau| Some(plateau.connections as f64) == published.point;
    let plateau = match published.point {
        Some(_) => plateaus.iter().find(is_it)?,
        None => plateaus.last()?,
    };
    if published.figure == Figure::FailedShare {
        let count = |many: u64| number(findings, Unit::Count, many as f64);
        let (failed, lost) = (count(plateau.sums.failed), count(plateau.sums.lost));
        let rounds = if plateau.rounds == 1 { "round" } else { "rounds" };
        return Some(format!("{failed} failed, {lost} lost in {} {rounds}", plateau.rounds));
    }
    let found = alike(line, plateau, published.figure)?;
    Some(estimated(findings, published.figure.unit(), &found))
}

/// What of ours is the same figure.
fn alike(line: &Line<'_>, plateau: &Plateau, figure: Figure) -> Option<Estimate> {
    match figure {
        Figure::RssPeak => plateau.estimate(HeldFigure::RssMax),
        Figure::PssPeak => plateau.estimate(HeldFigure::PssMax),
        Figure::CpuShare => plateau.estimate(HeldFigure::CpuShare),
        Figure::CpuPerThousand => plateau.estimate(HeldFigure::CpuPerThousand),
        Figure::ConnectP50 => plateau.estimate(HeldFigure::ConnectP50),
        Figure::Achieved => plateau.estimate(HeldFigure::Messages),
        Figure::Received => plateau.estimate(HeldFigure::Received),
        Figure::Attempted | Figure::Correct => line.climb.price.reached,
        Figure::Offered
        | Figure::OnTime
        | Figure::Failed
        | Figure::FailedShare
        | Figure::ResponseMean
        | Figure::ResponseSd
        | Figure::ResponseMin
        | Figure::ResponseP50
        | Figure::ResponseP90
        | Figure::ResponseP99
        | Figure::ResponseP999
        | Figure::ResponseMax
        | Figure::ServiceP50
        | Figure::ServiceP99
        | Figure::LateP99
        | Figure::AnswerBytes
        | Figure::MemoryPerConnection
        | Figure::StartUp
        | Figure::Backlog
        | Figure::Processes
        | Figure::GeneratorBusy => None,
    }
}
