//! What a connection and a message cost, as pictures, and what gave way first, in words.

use analysis::{Cause, FirstFailure};
use lab::figure::Unit;

use super::lines::{Line, each, number, units_of_1024};
use crate::chart::{About, Price, Prices};
use crate::markup::Markup;
use crate::render::html::beside;
use crate::written::Written;

/// `at 4,000: 17 lost, recv.reset and 2 more`.
pub(super) fn gave_way(found: &FirstFailure) -> String {
    let cause = |cause: &Cause| {
        let own = if cause.is_own() { "dyno: " } else { "" };
        format!("{own}{}", short(cause))
    };
    let main = found.causes.first().map_or(String::new(), cause);
    let more = match found.causes.len() {
        0 | 1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let at = number(Unit::Count, found.connections as f64);
    format!("at {at}: {main}{more}")
}

fn short(cause: &Cause) -> String {
    let count = |many: u64| number(Unit::Count, many as f64);
    match cause {
        Cause::Ended(kind) => kind.name().to_string(),
        Cause::Failed(loss, times) => format!("{} failed, {}", count(*times), loss.name()),
        Cause::Lost(loss, times) => format!("{} lost, {}", count(*times), loss.name()),
        Cause::Waiting(times) => format!("{} not opened", count(*times)),
        Cause::Silent(times) => format!("{} silent", count(*times)),
        Cause::Late { p99_ms, .. } => {
            format!("late p99 {}", number(Unit::Milliseconds, *p99_ms))
        }
    }
}

/// The same as pictures: a slope with its interval is not a quotient.
pub(super) fn charts(lines: &[Line<'_>]) -> Markup {
    let competing: Vec<&Line<'_>> = lines.iter().filter(|line| !line.held.is_reference).collect();
    let connections = competing.iter().map(|line| {
        let Some(slope) = line.held.price.memory else { return priced(line, None, None) };
        let ends = slope.interval.map(|(low, high)| (units_of_1024(low), units_of_1024(high)));
        let shown = each(&slope);
        let says = format!("{shown} KiB{}", Written::slope(&slope).between());
        priced(line, Some((units_of_1024(slope.bytes), shown, says)), ends)
    });
    let messages = competing.iter().map(|line| {
        let Some(cpu) = line.held.price.cpu_ms_per_1000 else { return priced(line, None, None) };
        let written = Written::estimate(Unit::Milliseconds, &cpu);
        let shown = written.marked();
        let says = format!("{shown}{}", written.between());
        priced(line, Some((cpu.value, shown, says)), cpu.interval())
    });
    let charts = [
        chart(
            "memory of a connection, KiB",
            "slope over all plateaus, and its 95 % interval",
            connections.collect(),
            Unit::Count,
        ),
        chart(
            "CPU for 1,000 messages",
            "at the last plateau, and its 95 % interval",
            messages.collect(),
            Unit::Milliseconds,
        ),
    ];
    beside("charts", &charts.into_iter().collect()).unwrap_or_default()
}

fn chart(heading: &str, note: &str, rows: Vec<Price>, unit: Unit) -> Markup {
    if rows.iter().all(|row| row.value.is_none()) {
        return Markup::default();
    }
    let about = About {
        title: heading.into(),
        description: note.into(),
        heading: heading.into(),
        note: format!("{note}; less is better"),
        ..About::default()
    };
    Prices { about, rows }.svg(unit, false)
}

/// A value with its short text and its long text, and how far the truth may be from it.
fn priced(
    line: &Line<'_>,
    found: Option<(f64, String, String)>,
    interval: Option<(f64, f64)>,
) -> Price {
    let (value, shown, says) = match found {
        None => (None, String::new(), "not measured".to_string()),
        Some((value, shown, says)) => (Some(value), shown, says),
    };
    let (slot, title, trust) = (line.slot, line.title.clone(), line.trust());
    Price { slot, title, value, interval, trust, shown, says }
}
