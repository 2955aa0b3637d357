//! One round along its time: what was requested and answered, and what the monitors read beside it.

use analysis::{Closeup, Column, Detail, HEAT_BINS, ProbeTrack, Reading, Strip, Track};
use lab::experiment::Point;
use lab::figure::{Figure, Unit};

use super::closeup::{ended, heading};
use super::places::value;
use crate::Findings;
use crate::chart::{About, Form, Heat, Lines, Panel, Room, Series, SharedAxis, Spot, Stand};
use crate::markup::{Markup, markup};
use crate::number_format::in_unit_of;
use crate::number_format::{self, unsaid};
use crate::render::html::dim;

/// A panel of readings: its heading, its note, and how each is drawn.
type Shown = (&'static str, &'static str, &'static [(Reading, Form)]);
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
    let (panels, quiet) = panels(close, all, slot);
    let until_s = strip.columns.last().map_or(0.0, |column| column.until_s);
    let chart = Lines {
        about: About {
            title: match findings.is_load() {
                true => format!("{title}, along its time"),
                false => format!("{title}: one round along its time"),
            },
            description: format!("{} panels over one axis of time", panels.len()),
        },
        across: SharedAxis::Seconds(until_s),
        shaded: vec![(0.0, strip.measured_from_s), (strip.measured_until_s, until_s)],
        panels,
        slot: Some(slot),
        ..Lines::default()
    };
    markup!(
        "<figure class=\"cursor\" data-label=\"{}\">\n<figcaption>{}</figcaption>\n{}<output class=\"dim\"></output>\n{}</figure>\n",
        title,
        caption,
        chart.svg(Room::Small(400.0), Stand::Page),
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
fn panels(close: &Closeup, all: &[Closeup], slot: usize) -> (Vec<Panel>, Option<String>) {
    let strip = &close.strip;
    let times = Times { slot, columns: times(strip) };
    // A closed loop waits with the server: nothing is due.
    let is_closed = matches!(close.point, Point::Connections(_));
    let mut panels = vec![rates(strip, &times, is_closed), response(close, all, &times)];
    let column = |name, form, unit, of: fn(&Column) -> f64| {
        times.trace(name, form, unit, strip.columns.iter().map(|column| Some(of(column))))
    };
    let mut quiet: Vec<String> = Vec::new();
    let (deep, rate) = (Form::Columns("fill deep"), Unit::PerSecond);
    let failed = column("failed/s", deep, rate, |column| column.failed_per_s);
    match is_quiet(&failed) {
        true => quiet.push("failures".into()),
        false => panels.push(Panel::new("failures/s", "", rate, LOW, vec![failed])),
    }
    let line = Form::Line("trace");
    let flight = column("in flight", line, Unit::Count, |column| column.in_flight);
    let note = "sent and not yet answered";
    panels.push(Panel::new("in flight", note, Unit::Count, 44.0, vec![flight]));
    let of_readings = READINGS.into_iter();
    let of_readings =
        of_readings.filter_map(|(shown, height)| times.readings(&strip.tracks, shown, height));
    let of_probes = strip.probe.iter().map(|track| times.probe(track, LOW));
    for panel in of_readings.chain(of_probes) {
        match panel.series.iter().all(is_quiet) {
            true => quiet.push(panel.heading),
            false => panels.push(panel),
        }
    }
    let quiet =
        (!quiet.is_empty()).then(|| format!("Not drawn, as 0 all the time: {}.", quiet.join(", ")));
    (panels, quiet)
}

fn times(strip: &Strip) -> Vec<(f64, f64)> {
    strip.columns.iter().map(|column| (column.from_s, column.until_s)).collect()
}

/// The columns of time of a subject's chart: from and until, seconds.
pub(crate) struct Times {
    pub(crate) slot: usize,
    pub(crate) columns: Vec<(f64, f64)>,
}

impl Times {
    /// A value for each column, and the same as text.
    pub(crate) fn trace(
        &self,
        name: &str,
        form: Form,
        unit: Unit,
        values: impl Iterator<Item = Option<f64>>,
    ) -> Series {
        let said = |value: Option<f64>| {
            (value, value.map_or("–".into(), |value| number_format::number(unit, value)))
        };
        self.told(name, form, values.map(said))
    }

    fn told(
        &self,
        name: &str,
        form: Form,
        values: impl Iterator<Item = (Option<f64>, String)>,
    ) -> Series {
        let points = self.columns.iter().zip(values).map(|(&(from, until), (value, says))| Spot {
            x: f64::midpoint(from, until),
            width: until - from,
            value: value.unwrap_or(f64::NAN),
            says,
            ..Spot::default()
        });
        let points = points.collect();
        Series { title: name.into(), slot: self.slot, form, points, ..Series::default() }
    }

    /// Not drawn: the beginning of the cursor's text.
    pub(crate) fn at(&self) -> Series {
        let begins = self.columns.iter().map(|(from, _)| Some(from * 1e3));
        self.trace("at", Form::Told, Unit::Milliseconds, begins)
    }

    /// The panel of those of these readings that were taken; none where there are none.
    pub(crate) fn readings(
        &self,
        tracks: &[Track],
        (heading, note, all): Shown,
        height: f64,
    ) -> Option<Panel> {
        let unit = unit(all[0].0);
        let traced = |&(reading, form): &(Reading, Form)| {
            let values = tracks.iter().find(|track| track.reading == reading)?.values.iter();
            Some(self.trace(reading.meaning(), form, unit, values.copied()))
        };
        let traces: Vec<Series> = all.iter().filter_map(traced).collect();
        (!traces.is_empty()).then(|| Panel::new(heading, note, unit, height, traces))
    }

    /// The panel of a probe's reading.
    pub(crate) fn probe(&self, track: &ProbeTrack, height: f64) -> Panel {
        let values = track.values.iter().copied();
        let trace = self.trace(&track.title, Form::Line("trace"), track.unit, values);
        Panel::new(&track.title, unsaid(track.unit), track.unit, height, vec![trace])
    }
}

pub(crate) const CPU: Shown = (
    "CPU",
    "deep: in the kernel · 100 % is one CPU",
    &[(Reading::CpuSystem, Form::Area("fill deep")), (Reading::CpuUser, Form::Area("fill"))],
);
pub(crate) const MEMORY: Shown = (
    "memory",
    "dashed: shared pages divided (PSS)",
    &[(Reading::Rss, Form::Line("trace")), (Reading::Pss, Form::Line("trace faint"))],
);
/// Each with the height of its panel.
const READINGS: [(Shown, f64); 4] = [
    (CPU, 52.0),
    (MEMORY, 44.0),
    (("waiting to be accepted", "", &[(Reading::AcceptQueue, Form::Line("trace"))]), LOW),
    (("accept-queue overflows", "", &[(Reading::Overflows, Form::Columns("fill deep"))]), LOW),
];

/// What a reading's axis counts.
fn unit(reading: Reading) -> Unit {
    match reading {
        Reading::CpuUser | Reading::CpuSystem => Unit::Percent,
        Reading::Rss | Reading::Pss => Unit::Bytes,
        Reading::AcceptQueue | Reading::Overflows => Unit::Count,
    }
}

fn is_quiet(trace: &Series) -> bool {
    trace.points.iter().all(|spot| spot.value.is_nan() || spot.value == 0.0)
}

fn rates(strip: &Strip, times: &Times, is_closed: bool) -> Panel {
    let column = |name, class, of: fn(&Column) -> f64| {
        let values = strip.columns.iter().map(|column| Some(of(column)));
        times.trace(name, Form::Line(class), Unit::PerSecond, values)
    };
    let due = (!is_closed).then(|| column("due/s", "dotted", |column| column.due_per_s));
    let answered = column("throughput/s", "trace", |column| column.answered_per_s);
    let note = if is_closed { "" } else { "dotted: what was due" };
    let traces = std::iter::once(times.at()).chain(due).chain([answered]).collect();
    Panel::new("throughput/s", note, Unit::PerSecond, 64.0, traces)
}

/// The map of the response times, with their p50 and p99, over the axis that all of the subject's rounds share.
fn response(close: &Closeup, all: &[Closeup], times: &Times) -> Panel {
    let strip = &close.strip;
    let said = |number: Option<analysis::Number>, figure| {
        let says = number.map_or("–".into(), |number| value(figure, number));
        (number.map(|number| number.value), says)
    };
    let percentile = |name, class, figure, of: fn(&Column) -> Option<analysis::Number>| {
        let values = strip.columns.iter().map(|column| said(of(column), figure));
        times.told(name, Form::Line(class), values)
    };
    let slow = close.slowest.iter().map(|slow| {
        let took = in_unit_of(Figure::ResponseMax, slow.took_ms);
        let says = format!("request {} took {took}", slow.seq);
        Spot { x: slow.intended_s, value: slow.took_ms, says, ..Spot::default() }
    });
    let slow = Series {
        slot: times.slot,
        form: Form::Marks("slow"),
        points: slow.collect(),
        ..Series::default()
    };
    let heat = Heat {
        columns: times.columns.clone(),
        bins: strip.columns.iter().map(|column| column.bins.clone()).collect(),
        to_ten: HEAT_BINS,
    };
    let series = vec![
        percentile("p50", "over", Figure::ResponseP50, |column| column.p50),
        percentile("p99", "over faint", Figure::ResponseP99, |column| column.p99),
        slow,
    ];
    let note = "lines: p50, and p99 dashed";
    Panel {
        is_log: true,
        heat: Some(heat),
        includes: all.iter().flat_map(range).collect(),
        ..Panel::new("response time", note, Unit::Milliseconds, 112.0, series)
    }
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
