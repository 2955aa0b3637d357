//! What a connection and a message cost, as pictures, and what gave way first, in words.

use analysis::{Cause, FirstFailure, outcome_in_words};
use lab::figure::Unit;
use units::count;

use super::lines::{Line, each, number, units_of_1024};
use crate::chart::{About, Axis, Column, Name, Rows, Stand, Value, both};
use crate::markup::Markup;
use crate::number_format::Written;

/// `4,000: 17 lost, recv.reset (+2)`.
pub(crate) fn gave_way(found: &FirstFailure) -> String {
    let main = found.causes.first().map_or(String::new(), cause);
    let more = match found.causes.len() {
        0 | 1 => String::new(),
        many => format!(" (+{})", many - 1),
    };
    format!("{}: {main}{more}", count(found.connections as u64))
}

/// A cause in a few words.
pub(crate) fn cause(cause: &Cause) -> String {
    let own = if cause.is_own() { "dyno: " } else { "" };
    let says = match cause {
        Cause::Ended(kind) => outcome_in_words(*kind).to_string(),
        Cause::Failed(loss, times) => format!("{} failed, {loss}", count(*times)),
        Cause::Lost(loss, times) => format!("{} lost, {loss}", count(*times)),
        Cause::Waiting(times) => format!("{} not opened", count(*times)),
        Cause::Silent(times) => format!("{} silent", count(*times)),
        Cause::Late { p99_ms, .. } => {
            format!("late p99 {}", number(Unit::Milliseconds, *p99_ms))
        }
    };
    format!("{own}{says}")
}

/// What a connection costs each server, as a chart: the slopes of memory and their intervals.
pub(super) fn charts(lines: &[Line<'_>]) -> Markup {
    let competing: Vec<&Line<'_>> = lines.iter().filter(|line| !line.held.is_reference).collect();
    let memory = competing.iter().map(|line| {
        let Some(slope) = line.held.price.memory else { return Value::absent("not measured") };
        let shown = each(&slope);
        Value {
            value: Some(units_of_1024(slope.bytes)),
            interval: slope.interval.map(|(low, high)| (units_of_1024(low), units_of_1024(high))),
            trust: line.trust(),
            says: format!("{shown} KiB{}", Written::slope(&slope).between()),
            shown,
            ..Value::default()
        }
    });
    let messages = competing.iter().map(|line| {
        let Some(cpu) = line.held.price.cpu_ms_per_1000 else {
            return Value::absent("not measured");
        };
        let written = Written::estimate(Unit::Milliseconds, &cpu);
        let shown = written.marked();
        Value {
            value: Some(cpu.value),
            interval: cpu.interval(),
            trust: line.trust(),
            says: format!("{shown}{}", written.between()),
            shown,
            ..Value::default()
        }
    });
    let mut columns = vec![
        Column::new("memory of a connection, KiB", Axis::FromZero(Unit::Count), memory.collect()),
        Column::new(
            "CPU for 1,000 messages",
            Axis::FromZero(Unit::Milliseconds),
            messages.collect(),
        ),
    ];
    columns.retain(|column| column.values.iter().any(|value| value.value.is_some()));
    if columns.is_empty() {
        return Markup::default();
    }
    let rows = Rows {
        about: About {
            title: "what a connection and a message cost".into(),
            description:
                "For each server the memory of a connection and the CPU time of 1,000 messages"
                    .into(),
        },
        names: competing.iter().map(|line| Name::of(line.slot, &line.title)).collect(),
        columns,
        note: "memory: the slope over all plateaus; CPU: at the last plateau; less is better"
            .into(),
        bars: "bars: 95 %",
    };
    both(|room| rows.svg(room, Stand::Page))
}
