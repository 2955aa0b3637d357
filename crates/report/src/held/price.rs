//! The price list: what a connection and a message cost with each of them, how far it came, and what gave way first.

use analysis::{Cause, Estimate, GaveWay, HeldFigure, Row};
use lab::experiment::Point;
use lab::figure::Unit;

use super::lines::{Line, each, estimated, interval, number, units_of_1024};
use crate::chart::marks::{colour, key};
use crate::chart::{About, Price, Prices};
use crate::markup::escaped;
use crate::page::badge;
use crate::page::part::paragraph;
use crate::{Findings, conformance};

/// A column: its name for links, its heading, and what that means.
type Head = (&'static str, &'static str, &'static str);

const HEADS: [Head; 12] = [
    ("subject", "subject", ""),
    ("workload", "over", "what every connection was asked for"),
    (
        "connection",
        "KiB each",
        "memory of a connection: the slope of memory over the connections that are open",
    ),
    (
        "conformance",
        "conformance",
        "cases of the RFCs passed, of those that apply; obligations broken; failures that an attacker could use",
    ),
    ("interval", "95 % interval", "of the slope"),
    ("message", "CPU/1k", "the subject's CPU time for 1,000 messages, at the last plateau"),
    ("late", "late p99", "99 % of the messages of the last plateau came no later after their beat"),
    ("reached", "reached", "the most connections that were open with no more than 0.1 % lost"),
    ("way", "gave way first", "the first plateau where something was lost, silent or late"),
    ("back", "given back", "of the memory that was added, after all connections were closed"),
    ("rounds", "rounds", "measured, of those planned"),
    ("verdict", "verdict", "whether the figures can be relied on; reasons below"),
];

const LEGEND: &str = "Memory is PSS where it was read on every plateau, else RSS; what the kernel itself keeps for a connection is in neither. \
     The slope is that of a line through all plateaus, so what a server takes with no connection at all is not in it. The interval is \
     over the rounds' slopes by Student's t; ~: of one round's line, and what another round would come to is not in it. dyno: the fault is its own.";

/// One cell: its class, what it is sorted by, markup before the text, and the text.
#[derive(Default)]
struct Cell {
    class: &'static str,
    value: Option<f64>,
    before: String,
    says: String,
}

/// The list as a table.
pub(super) fn list(findings: &Findings<'_>, lines: &[Line<'_>]) -> String {
    let head = |(key, heading, meaning): Head| {
        let class = match key {
            "workload" | "way" => " class=\"text\"",
            _ => "",
        };
        format!("<th scope=\"col\"{class} data-key=\"{key}\" title=\"{meaning}\">{heading}</th>")
    };
    let heads: String = HEADS.into_iter().map(head).collect();
    let rows: String = lines.iter().map(|line| row(findings, line)).collect();
    format!(
        "<div class=\"results\" data-table=\"held\">\n<div class=\"tools\"></div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"price list\"><table>\n<caption>what a connection costs</caption>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n{}</div>\n",
        paragraph("dim", LEGEND)
    )
}

fn row(findings: &Findings<'_>, line: &Line<'_>) -> String {
    let class = if line.climb.is_reference { " class=\"reference\"" } else { "" };
    let mark = format!(
        "<svg class=\"key {}\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{}</svg>",
        colour(line.slot),
        key(line.slot, (0.0, 0.0))
    );
    let name = escaped(findings.title(&line.climb.subject));
    let cells: String = cells(findings, line).into_iter().map(|cell| cell.html()).collect();
    format!("<tr data-s=\"{}\"{class}><th scope=\"row\">{mark}{name}</th>{cells}</tr>\n", line.slot)
}

fn cells(findings: &Findings<'_>, line: &Line<'_>) -> Vec<Cell> {
    let (climb, price) = (line.climb, &line.climb.price);
    let of = |unit: Unit, found: Option<Estimate>| Cell {
        value: found.map(|found| found.value),
        says: found.map_or("–".into(), |found| estimated(findings, unit, &found)),
        ..Cell::default()
    };
    let text = |says: &str| Cell { class: "text", says: says.into(), ..Cell::default() };
    let verdict = climb.verdict.map_or(text("not yet run"), |verdict| Cell {
        class: badge::class(verdict),
        before: badge::sign(verdict),
        says: verdict.name().into(),
        ..Cell::default()
    });
    let first = match &price.gave_way {
        Some(found) => gave_way(findings, found),
        None if climb.rounds.is_empty() => "–".into(),
        None => "nothing".into(),
    };
    let late = climb.plateaus.last().and_then(|last| last.estimate(HeldFigure::LateP99));
    let back = price.after.as_ref().and_then(|after| after.given_back_percent);
    vec![
        text(line.workload),
        Cell {
            class: "main",
            value: price.memory.map(|slope| slope.bytes),
            says: price.memory.map_or("–".into(), |slope| each(findings, &slope)),
            ..Cell::default()
        },
        Cell {
            value: conformance::value(findings, &line.climb.subject),
            says: conformance::short(findings, &line.climb.subject),
            ..Cell::default()
        },
        Cell {
            says: price.memory.and_then(|slope| interval(findings, &slope)).unwrap_or("–".into()),
            ..Cell::default()
        },
        of(Unit::Milliseconds, price.cpu_ms_per_1000),
        of(Unit::Milliseconds, late),
        of(Unit::Count, price.reached),
        text(&first),
        of(Unit::Percent, back),
        rounds(findings, line),
        verdict,
    ]
}

/// `at 4,000: 17 lost, recv.reset and 2 more`.
pub(super) fn gave_way(findings: &Findings<'_>, found: &GaveWay) -> String {
    let cause = |cause: &Cause| {
        let own = if cause.is_own() { "dyno: " } else { "" };
        format!("{own}{}", short(findings, cause))
    };
    let main = found.causes.first().map_or(String::new(), cause);
    let more = match found.causes.len() {
        0 | 1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let at = number(findings, Unit::Count, found.connections as f64);
    format!("at {at}: {main}{more}")
}

fn short(findings: &Findings<'_>, cause: &Cause) -> String {
    let count = |many: u64| number(findings, Unit::Count, many as f64);
    match cause {
        Cause::Ended(kind) => kind.name().to_string(),
        Cause::Failed(loss, times) => format!("{} failed, {}", count(*times), loss.name()),
        Cause::Lost(loss, times) => format!("{} lost, {}", count(*times), loss.name()),
        Cause::Waiting(times) => format!("{} not opened", count(*times)),
        Cause::Silent(times) => format!("{} silent", count(*times)),
        Cause::Late { p99_ms, .. } => {
            format!("late p99 {}", number(findings, Unit::Milliseconds, *p99_ms))
        }
    }
}

fn rounds(findings: &Findings<'_>, line: &Line<'_>) -> Cell {
    let measured = line.climb.measured;
    let tables = findings.board.tables.iter().filter(|table| table.workload == line.workload);
    let is_its = |row: &&Row| {
        row.subject == line.climb.subject && row.point == Point::Held(line.climb.connections)
    };
    let planned = tables.flat_map(|table| &table.rows).find(is_its).map(|row| row.planned);
    let says = planned.map_or(measured.to_string(), |planned| format!("{measured}/{planned}"));
    Cell { says, value: Some(measured as f64), ..Cell::default() }
}

impl Cell {
    fn html(&self) -> String {
        let value = self.value.map_or(String::new(), |value| format!(" data-v=\"{value}\""));
        let class = match self.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        format!("<td{class}{value}>{}{}</td>", self.before, escaped(&self.says))
    }
}

/// The same as pictures: a slope with its interval is no quotient.
pub(super) fn charts(findings: &Findings<'_>, lines: &[Line<'_>]) -> String {
    let competing: Vec<&Line<'_>> = lines.iter().filter(|line| !line.climb.is_reference).collect();
    let connections = competing.iter().map(|line| {
        let Some(slope) = line.climb.price.memory else { return priced(line, None, None) };
        let ends = slope.interval.map(|(low, high)| (units_of_1024(low), units_of_1024(high)));
        let between = interval(findings, &slope).unwrap_or_default();
        let shown = each(findings, &slope);
        let says = format!("{shown} KiB {between}");
        priced(line, Some((units_of_1024(slope.bytes), shown, says)), ends)
    });
    let messages = competing.iter().map(|line| {
        let Some(cpu) = line.climb.price.cpu_ms_per_1000 else { return priced(line, None, None) };
        let number = |value| number(findings, Unit::Milliseconds, value);
        let shown = estimated(findings, Unit::Milliseconds, &cpu);
        let says = match cpu.interval {
            None => shown.clone(),
            Some((low, high)) => format!("{shown} [{}–{}]", number(low), number(high)),
        };
        priced(line, Some((cpu.value, shown, says)), cpu.interval)
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
    ]
    .concat();
    if charts.is_empty() { charts } else { format!("<div class=\"charts\">\n{charts}</div>\n") }
}

fn chart(heading: &str, note: &str, rows: Vec<Price>, unit: Unit) -> String {
    if rows.iter().all(|row| row.value.is_none()) {
        return String::new();
    }
    let about = About { id: String::new(), title: heading.into(), description: note.into() };
    let note = format!("{note}; less is better");
    Prices { about, heading: heading.into(), note, rows }.svg(unit, false)
}

/// A value with its short words and its long ones, and how far the truth may be from it.
fn priced(
    line: &Line<'_>,
    found: Option<(f64, String, String)>,
    interval: Option<(f64, f64)>,
) -> Price {
    let (value, shown, says) = match found {
        None => (None, String::new(), "not measured".to_string()),
        Some((value, shown, says)) => (Some(value), shown, says),
    };
    let (slot, title, is_doubtful) = (line.slot, line.title.clone(), line.is_doubtful());
    Price { slot, title, value, interval, is_doubtful, shown, says }
}
