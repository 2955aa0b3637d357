//! The chosen places: their percentiles, one round along its time, and its slowest exchanges.

use analysis::{Closeup, Detail, Role, Spectrum, Step};
use lab::figure::{Figure, Unit};
use lab::record::OutcomeKind;

use super::places::value;
use super::timeline::strip;
use crate::Findings;
use crate::chart::{About, Form, Lines, Panel, Room, Series, SharedAxis, Spot, Stand};
use crate::document::{Cell, Column, Row, Table, Tone};
use crate::markup::{Markup, markup};
use crate::number_format::in_unit_of;
use crate::render::html::{self, beside, dim};

pub(super) fn all(findings: &Findings<'_>, detail: &Detail, slot: usize) -> Markup {
    let closeups = &detail.closeups;
    let (times, reach) = ends(closeups);
    let spectrum = |close: &Closeup| spectrum(findings, detail, close, &times, reach, slot);
    let spectra: Markup =
        closeups.iter().filter(|close| !close.response.steps.is_empty()).map(spectrum).collect();
    let strips: Markup =
        closeups.iter().map(|close| strip(findings, detail, close, closeups, slot)).collect();
    let under = |heading: &str, says: &str, charts: &Markup| {
        let charts = beside(wide(closeups), charts)?;
        Some(markup!("<h4>{}</h4>\n{}{}", heading, dim(says), charts))
    };
    let is_single = closeups.iter().all(|close| close.rounds <= 1);
    let (together, heading, shown) = match (findings.is_load(), is_single) {
        (true, true) => ("", "Along its time", ""),
        (true, false) => (
            "All loads together. ",
            "One load along its time",
            "The load with the median throughput. ",
        ),
        (false, _) => (
            "All measured rounds together. ",
            "One round along its time",
            "The round with the median throughput. ",
        ),
    };
    let spectra = under("Percentiles", &format!("{together}{LINES}"), &spectra);
    let says = format!(
        "{shown}Shaded: not measured. In the map, stronger means more of the answers of that time; circles are the \
         slowest ones."
    );
    let strips = under(heading, &says, &strips);
    markup!("{}{}{}", spectra, strips, slowest(findings, closeups))
}

/// What the lines of percentiles are.
const LINES: &str = "Response: from when a request was due; service: from when it was sent. Grey: fewer than 10 samples \
                     lie beyond.";

/// Three charts side by side are wider than the text.
fn wide(closeups: &[Closeup]) -> &'static str {
    if closeups.len() < 3 { "charts" } else { "charts three" }
}

/// The times that all spectra show, and how far they reach.
fn ends(closeups: &[Closeup]) -> (Vec<f64>, f64) {
    let spectra = closeups.iter().flat_map(|close| [&close.response, &close.service]);
    let steps: Vec<&Step> = spectra
        .flat_map(|spectrum| spectrum.steps.first().into_iter().chain(spectrum.steps.last()))
        .collect();
    let reach = steps.iter().map(|step| step.one_in).fold(1.0, f64::max);
    (steps.into_iter().map(|step| step.number.value).collect(), reach)
}

/// The place, and why it was chosen.
pub(super) fn heading(findings: &Findings<'_>, close: &Closeup) -> String {
    let roles: Vec<&str> = match close.roles.as_slice() {
        // A subject with one place has no lowest and highest.
        [_, _, _] => Vec::new(),
        [Role::KeptUp, Role::Highest] => vec!["the highest, and it kept up"],
        roles => roles.iter().map(|role| role.name()).collect(),
    };
    let place = findings.place(close.point);
    match roles.is_empty() {
        true => place,
        false => format!("{place} · {}", roles.join(", ")),
    }
}

/// Marked on the lines: one in so many.
const MARKED: [(f64, &str); 4] = [(10.0, "p90"), (100.0, "p99"), (1e3, "p99.9"), (1e4, "p99.99")];

fn spectrum(
    findings: &Findings<'_>,
    detail: &Detail,
    close: &Closeup,
    times: &[f64],
    reach: f64,
    slot: usize,
) -> Markup {
    let is_bounded = close.response.steps.iter().any(|step| step.number.is_bound);
    let note = if is_bounded { "level at the time-out: no less than this" } else { "" };
    let mut series = percentiles("service", &close.service, "trace faint", slot);
    series.extend(percentiles("response", &close.response, "trace", slot));
    let panel = Panel {
        is_log: true,
        includes: times.to_vec(),
        ..Panel::new(heading(findings, close), note, Unit::Milliseconds, 154.0, series)
    };
    let title = findings.title(&detail.subject);
    Lines {
        about: About {
            title: format!("{title}, {}: percentiles", findings.place(close.point)),
            description: "Response and service time along percentiles".into(),
        },
        across: SharedAxis::Percentiles(reach),
        panels: vec![panel],
        slot: Some(slot),
        ..Lines::default()
    }
    .svg(Room::Small(400.0), Stand::Page)
}

/// A line; the piece of it beyond which too few samples lie; and marks.
fn percentiles(name: &str, spectrum: &Spectrum, class: &'static str, slot: usize) -> Vec<Series> {
    let spot = |step: &Step| Spot { x: step.one_in, value: step.number.value, ..Spot::default() };
    let marked = |step: &Step| {
        let is_step = |(one_in, _): &(f64, _)| (step.one_in / one_in - 1.0).abs() < 1e-6;
        Some(MARKED.into_iter().find(is_step)?.1).filter(|_| step.number.is_supported)
    };
    let mark = |step: &Step| {
        let value = value(Figure::ResponseP99, step.number);
        Some(Spot { says: format!("{name} {}: {value}", marked(step)?), ..spot(step) })
    };
    let steps = thinned(&spectrum.steps);
    let few = steps.partition_point(|step| step.number.is_supported);
    let (sure, unsure) = (&steps[..few], &steps[few.saturating_sub(1)..]);
    let line = |title: &str, class, steps: &[&Step]| {
        let points = steps.iter().map(|step| spot(step)).collect();
        Series { title: title.into(), slot, form: Form::Line(class), points, ..Series::default() }
    };
    let marks = Series {
        slot,
        form: Form::Marks(""),
        points: spectrum.steps.iter().filter_map(mark).collect(),
        ..Series::default()
    };
    // The grey piece begins where the sure piece ends, and has the name.
    vec![line("", class, sure), line(name, "trace few", unsure), marks]
}

/// Without points that lie on the line between their neighbours anyway.
fn thinned(steps: &[Step]) -> Vec<&Step> {
    let is_between = |place: usize| {
        let around = steps.get(place.wrapping_sub(1)).zip(steps.get(place + 1));
        around.is_some_and(|(before, after)| is_on_level(before, &steps[place], after))
    };
    (0..steps.len()).filter(|&place| !is_between(place)).map(|place| &steps[place]).collect()
}

/// Whether a step only repeats the value of its neighbours, which are equally sure.
fn is_on_level(before: &Step, step: &Step, after: &Step) -> bool {
    before.number.value == step.number.value
        && after.number.value == step.number.value
        && before.number.is_supported == after.number.is_supported
}

/// The slowest exchanges of the rounds that are shown, each with its parts.
fn slowest(findings: &Findings<'_>, closeups: &[Closeup]) -> Markup {
    let columns = [
        ("at", "at", ""),
        ("due", "due after", "since the load began"),
        ("took", "took", ""),
        ("unsent", "unsent", "it waited for a free connection, or dyno sent it late"),
        ("awaited", "awaited", "from then until the answer began"),
        ("read", "read", "from then until it was whole"),
        ("status", "status", ""),
        ("request", "request", "its number"),
    ];
    let columns = columns.map(|(key, heading, meaning)| match meaning {
        "" => Column::new(key, heading, 0),
        _ => Column::new(key, heading, 0).meaning(meaning).explained(),
    });
    let time = |ms: f64| Cell::text(in_unit_of(Figure::ResponseMax, ms)).valued(Some(ms));
    let all = closeups.iter().flat_map(|close| close.slowest.iter().map(move |slow| (close, slow)));
    let rows: Vec<Row> = all
        .map(|(close, slow)| Row {
            cells: vec![
                Cell::text(findings.place(close.point)),
                time(slow.intended_s * 1e3),
                time(slow.took_ms).toned(Tone::Strong),
                time(slow.unsent_ms),
                time(slow.awaited_ms),
                time(slow.read_ms),
                Cell::text(slow.status.to_string()),
                Cell::text(slow.seq.to_string()),
            ],
            ..Row::default()
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    let table = Table::of("slowest", columns.into(), rows);
    markup!("<h4>The slowest exchanges, whole</h4>\n{}", html::table(&table, &mut Vec::new()))
}

/// How a round ended that is no measurement; none if it is one.
pub(super) fn ended(close: &Closeup) -> Option<&'static str> {
    (close.ended != OutcomeKind::Measured).then(|| close.ended.name())
}
