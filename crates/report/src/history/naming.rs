//! How a series and a run are called.

use super::line::Line;
use super::origin::MadeBy;
use super::series::Series;
use crate::time::utc;

/// `demo, hello: hyper at 64 connections, throughput/s`
pub(super) fn name(series: &Series) -> String {
    format!("{}: {}", group(series), label(series))
}

/// What was measured: `demo, hello`.
pub(super) fn group(series: &Series) -> String {
    let Some(line) = series.common() else { return "lines that are no measurement".into() };
    let quick = if line.is_quick { " (quick)" } else { "" };
    match line.made_by {
        MadeBy::Run => format!("{}{quick}, {}", line.experiment, line.workload),
        MadeBy::Load => format!("load, {}", line.experiment),
        MadeBy::Race => format!("race, {}", line.experiment),
    }
}

/// Which series of it: `hyper at 64 connections, throughput/s`.
pub(super) fn label(series: &Series) -> String {
    let (of, heading) = (whose(series), heading(series));
    if of.is_empty() { heading } else { format!("{of}, {heading}") }
}

/// What was measured, and whose figure it is: `demo, hello: hyper at 64 connections`.
pub(super) fn place(series: &Series) -> String {
    format!("{}: {}", group(series), whose(series))
}

/// `hyper at 64 connections`
fn whose(series: &Series) -> String {
    let Some(line) = series.common() else { return String::new() };
    let of = match line.made_by {
        MadeBy::Run | MadeBy::Race => format!("{} at ", line.subject),
        MadeBy::Load => String::new(),
    };
    let plan = if series.has_namesake { format!(", plan {}", line.plan) } else { String::new() };
    let place = format!("{} {}", units::chosen(line.point), line.point_unit);
    format!("{of}{place}{plan}")
}

pub(super) fn heading(series: &Series) -> String {
    let line = series.common().map_or("", |line| &line.figure);
    let figure = series.figure.map_or(line, |figure| figure.heading());
    series.divisor().map_or(figure.into(), |divisor| format!("{figure} ÷ {divisor}"))
}

/// `2f1c09ab (2026-11-21 13:28 UTC)`
pub(super) fn run(line: &Line) -> String {
    let commit = commit(line, 12).unwrap_or_else(|| "no commit".into());
    format!("{commit} ({})", utc(line.run.began_unix_ms))
}

/// `2f1c09ab with changes`: the first digits of a line's commit, if it is of one.
pub(super) fn commit(line: &Line, digits: usize) -> Option<String> {
    let hash = line.run.commit.as_deref()?;
    let changes = if line.run.is_dirty == Some(true) { " with changes" } else { "" };
    Some(format!("{}{changes}", &hash[..hash.len().min(digits)]))
}
