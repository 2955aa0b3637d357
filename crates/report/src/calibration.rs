//! What a calibration found: how fast and how punctual the instrument is on this machine.

use analysis::{
    generator_busy, generator_cpu_per_request_ns, smallest_difference, throughput_per_s,
};
use load::{Nanos, Recording};
use serde::Serialize;
use units::{nanos, percent, rate, tight, time};

use crate::document::{Block, Cell, Column, Depth, Document, Row, Section, Table, Tone};
use crate::json::json_type;
use crate::render::{self, Screen};

/// The whole result, as it is kept in its file.
#[derive(Serialize)]
pub struct Calibration {
    pub schema: &'static str,
    pub dyno_version: &'static str,
    pub kernel: String,
    pub is_quick: bool,
    /// The CPU of the server and that of the instrument, if they could be kept apart.
    pub server_cpu: Option<usize>,
    pub lane_cpu: Option<usize>,
    pub ceilings: Vec<Ceiling>,
    pub punctuality: Vec<Punctuality>,
    pub resolution: Resolution,
}

json_type! {
    /// The highest rate: closed, against a server that answers at once.
    pub struct Ceiling as "ceiling" of recording: Recording, with connections: usize;
        let response = &recording.total.response;
    {
        connections: usize = *connections,
        pub throughput_per_s: f64 = throughput_per_s(recording).unwrap_or(0.0),
        cpu_per_request_ns: Option<f64> = generator_cpu_per_request_ns(recording),
        busy_share: f64 = generator_busy(&recording.lanes).unwrap_or(0.0),
        response_p50_ns: Option<Nanos> = value(response, 0.5),
        response_p99_ns: Option<Nanos> = value(response, 0.99),
    }
}

json_type! {
    /// The lateness at a rate.
    pub struct Punctuality as "punctuality" of recording: Recording, with offered_per_s: f64;
        let (late, response) = (&recording.total.late, &recording.total.response);
    {
        offered_per_s: f64 = *offered_per_s,
        throughput_per_s: f64 = throughput_per_s(recording).unwrap_or(0.0),
        late_p50_ns: Option<Nanos> = value(late, 0.5),
        late_p90_ns: Option<Nanos> = value(late, 0.9),
        late_p99_ns: Option<Nanos> = value(late, 0.99),
        late_max_ns: Option<Nanos> = late.extremes().map(|(_, max)| max),
        response_p50_ns: Option<Nanos> = value(response, 0.5),
        response_p99_ns: Option<Nanos> = value(response, 0.99),
    }
}

/// The smallest difference between two medians that is not due to chance.
#[derive(Serialize)]
pub struct Resolution {
    pub offered_per_s: f64,
    pub run_s: f64,
    /// One for each run, in order.
    pub medians_ns: Vec<Nanos>,
    pub mean_of_medians_ns: f64,
    /// Twice the standard error of the difference between two means of this many medians.
    pub smallest_difference_ns: f64,
    pub smallest_difference_share: f64,
}

fn value(recording: &load::Distribution, q: f64) -> Option<Nanos> {
    recording.quantile(q).map(|quantile| quantile.value)
}

impl Resolution {
    /// Medians of runs that were all alike: their spread is due to the machine.
    pub fn of(offered_per_s: f64, run_s: f64, medians_ns: Vec<Nanos>) -> Resolution {
        let (mean, difference) = smallest_difference(&medians_ns);
        Resolution {
            offered_per_s,
            run_s,
            medians_ns,
            mean_of_medians_ns: mean,
            smallest_difference_ns: difference,
            smallest_difference_share: if mean <= 0.0 { 0.0 } else { difference / mean },
        }
    }
}

/// The result as two tables with sentences.
pub fn text(calibration: &Calibration, is_coloured: bool) -> String {
    let of_tables = [
        ("as fast as it goes (closed loop, against dyno's own server)", ceilings(calibration)),
        ("how punctual it is (open loop)", punctuality(calibration)),
    ];
    let of_tables = of_tables.map(|(heading, table)| {
        Section::new("", heading, Depth::Brief).with([Block::Table(table)])
    });
    let difference = Block::paragraph(Tone::Plain, difference(&calibration.resolution));
    let shared = calibration.server_cpu.is_none().then(|| {
        let says = "The server and dyno share one CPU, and each takes time from the other.";
        Block::paragraph(Tone::Doubtful, says)
    });
    let rest = Section::new("", "", Depth::Brief).with(std::iter::once(difference).chain(shared));
    let document = Document {
        title: sentence(calibration),
        sections: of_tables.into_iter().chain([rest]).collect(),
        ..Document::default()
    };
    render::text(&document, Screen { is_coloured, ..Screen::file(100) })
}

fn sentence(calibration: &Calibration) -> String {
    let fastest =
        calibration.ceilings.iter().map(|ceiling| ceiling.throughput_per_s).fold(0.0, f64::max);
    let late = calibration
        .punctuality
        .last()
        .and_then(|last| Some((last.offered_per_s, last.late_p99_ns?)));
    let late = late.map_or(String::new(), |(offered, late)| {
        format!(
            ", and at {}/s sends 99 % within {} of when they are due",
            rate(offered),
            nanos(late)
        )
    });
    format!("One thread sends up to {} requests/s on this machine{late}.", rate(fastest))
}

fn shown(value: Option<Nanos>) -> Cell {
    Cell::known(value.map(|value| tight(value as f64)))
}

fn ceilings(calibration: &Calibration) -> Table {
    let rows = calibration.ceilings.iter().map(|ceiling| Row {
        cells: vec![
            Cell::text(ceiling.connections.to_string()),
            Cell::text(rate(ceiling.throughput_per_s)).toned(Tone::Strong),
            Cell::known(ceiling.cpu_per_request_ns.map(time)),
            Cell::share(Some(ceiling.busy_share)),
            shown(ceiling.response_p50_ns),
            shown(ceiling.response_p99_ns),
        ],
        ..Row::default()
    });
    let heads = ["connections", "requests/s", "CPU each", "busy", "p50", "p99"];
    Table::of("ceilings", Column::listed(&heads.map(|head| (head, 0))), rows)
}

fn punctuality(calibration: &Calibration) -> Table {
    let rows = calibration.punctuality.iter().map(|at| Row {
        cells: vec![
            Cell::text(rate(at.offered_per_s)),
            Cell::text(rate(at.throughput_per_s)),
            shown(at.late_p50_ns),
            shown(at.late_p90_ns),
            shown(at.late_p99_ns),
            shown(at.late_max_ns),
            shown(at.response_p50_ns),
            shown(at.response_p99_ns),
        ],
        ..Row::default()
    });
    let heads = [
        "offered/s",
        "throughput/s",
        "sent late p50",
        "sent late p90",
        "sent late p99",
        "sent late max",
        "p50",
        "p99",
    ];
    Table::of("punctuality", Column::listed(&heads.map(|head| (head, 0))), rows)
}

fn difference(resolution: &Resolution) -> String {
    format!(
        "The smallest difference in latency that can be seen on this machine: {} ({} of the median). \
         Two servers, {} runs of {} s each at {}/s, whose mean medians differ by less cannot be \
         distinguished (twice the standard error of the difference).",
        time(resolution.smallest_difference_ns),
        percent(resolution.smallest_difference_share),
        resolution.medians_ns.len(),
        resolution.run_s,
        rate(resolution.offered_per_s)
    )
}
