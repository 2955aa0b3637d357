//! One round along its time: what was requested and answered, and what the monitors read beside it.

use analysis::{Closeup, Column, Detail, HEAT_BINS, ProbeTrack, Reading, Strip};
use lab::experiment::Point;
use lab::figure::{Figure, Unit};

use super::closeup::{ended, heading};
use super::places::value;
use crate::Findings;
use crate::chart::{About, StripPanel, Strips, Trace, Way, panel};
use crate::markup::{Markup, markup};
use crate::render::html::dim;
use crate::run::words::number;
use crate::written::{self, unsaid};

/// A panel's heading, its note, its height, and what is drawn in it.
type Shown = (&'static str, &'static str, f64, Way, &'static [(Reading, &'static str)]);
/// The height of a panel of one reading.
const LOW: f64 = 40.0;

/// The round with a line below it for the cursor's text.
pub(super) fn strip(
    findings: &Findings<'_>,
    detail: &Detail,
    close: &Closeup,
    all: &[Closeup],
    slot: usize,
) -> Markup {
    let strip = &close.strip;
    let title = format!("{} at {}", findings.title(&detail.subject), findings.place(close.point));
    let caption = caption(findings, close);
    if strip.columns.is_empty() {
        return markup!(
            "<figure><figcaption>{}</figcaption><p class=\"dim\">No windows of this round were kept.</p></figure>\n",
            caption
        );
    }
    let (panels, quiet) = panels(close, all);
    let chart = Strips {
        about: About {
            title: match findings.is_load() {
                true => format!("{title}, along its time"),
                false => format!("{title}: one round along its time"),
            },
            description: format!("{} panels over one axis of time", panels.len()),
            ..About::default()
        },
        slot,
        columns: strip.columns.iter().map(|column| (column.from_s, column.until_s)).collect(),
        measured: (strip.measured_from_s, strip.measured_until_s),
        panels,
    };
    markup!(
        "<figure class=\"cursor\" data-label=\"{}\">\n<figcaption>{}</figcaption>\n{}<output class=\"dim\"></output>\n{}</figure>\n",
        title,
        caption,
        chart.svg(false),
        quiet.map(|says| dim(&says))
    )
}

/// The place, and the round that is shown.
fn caption(findings: &Findings<'_>, close: &Closeup) -> Markup {
    let mut round = match close.rounds {
        0 | 1 if findings.is_load() => String::new(),
        0 | 1 => format!("round {}", close.repeat + 1),
        many => {
            let one = if findings.is_load() { "load" } else { "round" };
            let middle = if many == 2 { "one" } else { "the middle one" };
            format!("{one} {}, {middle} of {many}", close.repeat + 1)
        }
    };
    if let Some(ended) = ended(close) {
        round.push_str(&format!(" · no measurement: {ended}"));
    }
    markup!("{}<span>{}</span>", heading(findings, close), round)
}

/// The panels, and a sentence about the readings that stayed at zero.
fn panels(close: &Closeup, all: &[Closeup]) -> (Vec<StripPanel>, Option<String>) {
    let strip = &close.strip;
    // A closed loop waits with the server: nothing is due.
    let is_closed = matches!(close.point, Point::Connections(_));
    let mut panels = vec![rates(strip, is_closed), times(close, all)];
    let column = |name: &'static str, class, unit, of: fn(&Column) -> f64| {
        let values = strip.columns.iter().map(|column| Some(of(column))).collect();
        trace(name, class, unit, values)
    };
    let mut quiet: Vec<&str> = Vec::new();
    let failed = column("failed/s", "fill deep", Unit::PerSecond, |column| column.failed_per_s);
    match is_quiet(&failed) {
        true => quiet.push("failures"),
        false => {
            let failed = vec![failed];
            panels.push(panel("failures/s", "", Unit::PerSecond, LOW, Way::Columns, failed));
        }
    }
    let in_flight = column("in flight", "trace", Unit::Count, |column| column.in_flight);
    let flight = vec![in_flight];
    panels.push(panel(
        "in flight",
        "sent and not yet answered",
        Unit::Count,
        44.0,
        Way::Lines,
        flight,
    ));
    for (heading, note, height, way, readings) in readings() {
        let unit = unit(readings[0].0);
        let traces: Vec<Trace> = readings
            .iter()
            .filter_map(|(reading, class)| {
                let track = strip.tracks.iter().find(|track| track.reading == *reading)?;
                Some(trace(name(track.reading), class, unit, track.values.clone()))
            })
            .collect();
        match traces.iter().all(is_quiet) {
            _ if traces.is_empty() => {}
            true => quiet.push(heading),
            false => panels.push(panel(heading, note, unit, height, way, traces)),
        }
    }
    for track in &strip.probe {
        let shown = of_probe(track, LOW);
        match shown.traces.iter().all(is_quiet) {
            true => quiet.push(&track.title),
            false => panels.push(shown),
        }
    }
    let quiet = (!quiet.is_empty()).then(|| format!("Zero throughout: {}.", quiet.join(", ")));
    (panels, quiet)
}

/// The panel of a probe's reading.
pub(crate) fn of_probe(track: &ProbeTrack, height: f64) -> StripPanel {
    let trace = trace(&track.title, "trace", track.unit, track.values.clone());
    panel(&track.title, unsaid(track.unit), track.unit, height, Way::Lines, vec![trace])
}

fn readings() -> [Shown; 4] {
    [
        (
            "CPU",
            "deep: in the kernel · 100 % is one CPU",
            52.0,
            Way::Stack,
            &[(Reading::CpuSystem, "fill deep"), (Reading::CpuUser, "fill")],
        ),
        (
            "memory",
            "dashed: shared pages divided (PSS)",
            44.0,
            Way::Lines,
            &[(Reading::Rss, "trace"), (Reading::Pss, "trace faint")],
        ),
        ("waiting to be accepted", "", LOW, Way::Lines, &[(Reading::AcceptQueue, "trace")]),
        ("accept-queue overflows", "", LOW, Way::Columns, &[(Reading::Overflows, "fill deep")]),
    ]
}

/// What a reading's axis counts.
pub(crate) fn unit(reading: Reading) -> Unit {
    match reading {
        Reading::CpuUser | Reading::CpuSystem => Unit::Percent,
        Reading::Rss | Reading::Pss => Unit::Bytes,
        Reading::AcceptQueue | Reading::Overflows => Unit::Count,
    }
}

fn name(reading: Reading) -> &'static str {
    match reading {
        Reading::CpuUser => "CPU in programs",
        Reading::CpuSystem => "CPU in the kernel",
        Reading::Rss => "memory",
        Reading::Pss => "PSS",
        Reading::AcceptQueue => "waiting to be accepted",
        Reading::Overflows => "overflows",
    }
}

/// A value for each column, as numbers and as text.
pub(crate) fn trace(
    name: &str,
    class: &'static str,
    unit: Unit,
    values: Vec<Option<f64>>,
) -> Trace {
    let said =
        |value: &Option<f64>| value.map_or("–".into(), |value| written::number(unit, value));
    Trace { name: name.into(), class, says: values.iter().map(said).collect(), values }
}

fn is_quiet(trace: &Trace) -> bool {
    trace.values.iter().flatten().all(|value| *value == 0.0)
}

fn rates(strip: &Strip, is_closed: bool) -> StripPanel {
    let column = |name: &str, class, of: fn(&Column) -> f64| {
        let values = strip.columns.iter().map(|column| Some(of(column))).collect();
        trace(name, class, Unit::PerSecond, values)
    };
    let when = strip.columns.iter().map(|column| Some(column.from_s * 1e3)).collect();
    // Not drawn: the beginning of the cursor's text.
    let at = Trace { values: Vec::new(), ..trace("at", "", Unit::Milliseconds, when) };
    let due = (!is_closed).then(|| column("due/s", "dotted", |column| column.due_per_s));
    let answered = column("throughput/s", "trace", |column| column.answered_per_s);
    let note = if is_closed { "" } else { "dotted: what was due" };
    let traces = std::iter::once(at).chain(due).chain([answered]).collect();
    panel("throughput/s", note, Unit::PerSecond, 64.0, Way::Lines, traces)
}

/// The map of the response times, with their p50 and p99, over the axis that all of the subject's rounds share.
fn times(close: &Closeup, all: &[Closeup]) -> StripPanel {
    let strip = &close.strip;
    let percentile = |name: &str, class, figure, of: fn(&Column) -> Option<analysis::Number>| {
        let found = || strip.columns.iter().map(of);
        let said = |number: Option<analysis::Number>| {
            number.map_or("–".into(), |number| value(figure, number))
        };
        Trace {
            name: name.into(),
            class,
            values: found().map(|number| number.map(|number| number.value)).collect(),
            says: found().map(said).collect(),
        }
    };
    let slow = close.slowest.iter().map(|slow| {
        let took = number(Figure::ResponseMax, slow.took_ms);
        (slow.intended_s, slow.took_ms, format!("request {} took {took}", slow.seq))
    });
    let way = Way::Heat {
        bins: strip.columns.iter().map(|column| column.bins.clone()).collect(),
        to_ten: HEAT_BINS,
        times: all.iter().flat_map(range).collect(),
        slow: slow.collect(),
    };
    let traces = vec![
        percentile("p50", "over", Figure::ResponseP50, |column| column.p50),
        percentile("p99", "over faint", Figure::ResponseP99, |column| column.p99),
    ];
    panel("response time", "lines: p50, and p99 dashed", Unit::Milliseconds, 112.0, way, traces)
}

/// The shortest and the longest time that a round shows.
fn range(close: &Closeup) -> Vec<f64> {
    let columns = || close.strip.columns.iter();
    let bins = columns().flat_map(|column| column.bins.iter().map(|bin| bin.0));
    let percentiles = columns().filter_map(|column| column.p99).map(|p99| p99.value);
    let slow = close.slowest.iter().map(|slow| slow.took_ms);
    let all: Vec<f64> = bins.chain(percentiles).chain(slow).filter(|time| 0.0 < *time).collect();
    let least = all.iter().copied().fold(f64::MAX, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    if least <= most { vec![least, most] } else { Vec::new() }
}
