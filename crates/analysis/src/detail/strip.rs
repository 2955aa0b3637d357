//! A trial over time: how many requests were due and how many were answered, and what the monitors read at the same
//! time.

use lab::figure::{
    Number, Unit,
    readings::{at, series},
};
use lab::named;
use lab::probe::{ProbeFold, ProbeReading};
use lab::record::TrialRecord;
use load::{Distribution, Nanos, SECOND, Window};

use super::spread::{bins_of, edge_ms, quantile_ms};
use crate::figures::merged;

/// A picture has room for so many columns; if there are more windows, they are folded.
const COLUMNS: usize = 100;
/// Bins of a column for each factor of ten.
pub const HEAT_BINS: f64 = 10.0;

/// A trial, cut into columns of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    /// In the order of time.
    pub columns: Vec<Column>,
    /// The start of the measured time.
    pub measured_from_s: f64,
    /// The last time at which requests were due.
    pub measured_until_s: f64,
    pub tracks: Vec<Track>,
    /// The readings of its probe.
    pub probe: Vec<ProbeTrack>,
}

/// A stretch of time. Its rates are those within it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Seconds since the load began.
    pub from_s: f64,
    /// Its end, on the same clock.
    pub until_s: f64,
    /// Requests that became due.
    pub due_per_s: f64,
    /// Correct answers that arrived.
    pub answered_per_s: f64,
    /// Failures.
    pub failed_per_s: f64,
    /// Requests that were sent and not done, on average.
    pub in_flight: f64,
    /// The median response time.
    pub p50: Option<Number>,
    pub p99: Option<Number>,
    /// How many took how long: the bin's lower end in milliseconds, and its share of the column's requests.
    pub bins: Vec<(f64, f64)>,
}

/// One reading, with a value for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    pub reading: Reading,
    /// None where it was not read.
    pub values: Vec<Option<f64>>,
}

/// One reading of a probe, with a value for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeTrack {
    /// What it is called.
    pub title: String,
    /// What the values count.
    pub unit: Unit,
    /// None where it was not read.
    pub values: Vec<Option<f64>>,
}

named! {
    /// The readings that are shown of every subject, in this order; `docs/readings.md` says what each is.
    pub enum Reading {
        /// Percent of one CPU.
        CpuUser = "subject.cpu.user" => "CPU in programs",
        /// Percent of one CPU.
        CpuSystem = "subject.cpu.system" => "CPU in the kernel",
        /// Bytes.
        Rss = "subject.memory.rss" => "memory",
        /// Bytes, with shared pages divided among the processes.
        Pss = "subject.memory.pss" => "PSS",
        AcceptQueue = "kernel.tcp.accept_queue" => "waiting to be accepted",
        /// Connections that found no room in that queue, in this column.
        Overflows = "kernel.tcp.listen_overflows" => "overflows",
    }
}

/// How a value is computed from readings.
#[derive(Clone, Copy)]
enum Way {
    /// The reading itself, times so much.
    Level(f64),
    /// How much it grew each second, times so much.
    Rate(f64),
    /// How much it grew.
    Growth,
}

/// Nanoseconds each second, as a percentage.
const PERCENT_OF_THE_TIME: Way = Way::Rate(1e-7);

impl Reading {
    fn way(self) -> Way {
        match self {
            Reading::CpuUser | Reading::CpuSystem => PERCENT_OF_THE_TIME,
            Reading::Rss | Reading::Pss | Reading::AcceptQueue => Way::Level(1.0),
            Reading::Overflows => Way::Growth,
        }
    }
}

impl Strip {
    /// The strip of a trial; without columns if it had no load.
    pub(super) fn of(trial: &TrialRecord, readings: &[ProbeReading]) -> Strip {
        let Some(loaded) = &trial.loaded else { return Strip::default() };
        let recording = &loaded.recording;
        let each = recording.windows.len().div_ceil(COLUMNS).max(1);
        let pieces: Vec<&[Window]> = recording.windows.chunks(each).collect();
        let began = |(from, until): (Nanos, Nanos)| {
            (loaded.began.saturating_add(from), loaded.began.saturating_add(until))
        };
        let spans: Vec<(Nanos, Nanos)> =
            pieces.iter().map(|windows| began(span(windows))).collect();
        Strip {
            columns: pieces.iter().map(|windows| column(windows)).collect(),
            measured_from_s: seconds(recording.measured_from),
            measured_until_s: seconds(recording.measured_until),
            tracks: tracks(trial, &spans),
            probe: probe_tracks(trial, &spans, readings),
        }
    }
}

pub(super) fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// The start and the end of these windows.
fn span(windows: &[Window]) -> (Nanos, Nanos) {
    let from = windows.first().map_or(0, |window| window.from);
    (from, windows.last().map_or(from, |window| window.until).max(from + 1))
}

fn column(windows: &[Window]) -> Column {
    let (from, until) = span(windows);
    let width = seconds(until - from);
    let per_s = |count: fn(&Window) -> u64| {
        windows.iter().map(|window| count(window) as f64).sum::<f64>() / width
    };
    let area =
        |window: &Window| window.in_flight() * seconds(window.until.saturating_sub(window.from));
    let unfolded: Vec<Distribution> =
        windows.iter().map(|window| window.response.unfold()).collect();
    let times = merged(unfolded.iter());
    let all = times.count().max(1) as f64;
    let bin = |(bin, times): (u32, u64)| (edge_ms(bin, HEAT_BINS), times as f64 / all);
    Column {
        from_s: seconds(from),
        until_s: seconds(until),
        due_per_s: per_s(|window| window.attempted),
        answered_per_s: per_s(|window| window.correct),
        failed_per_s: per_s(|window| window.failed.iter().sum()),
        in_flight: windows.iter().map(area).sum::<f64>() / width,
        p50: quantile_ms(&times, 0.5),
        p99: quantile_ms(&times, 0.99),
        bins: bins_of(&times, HEAT_BINS).into_iter().map(bin).collect(),
    }
}

/// All readings in stretches of the trial's time.
pub(super) fn tracks(trial: &TrialRecord, spans: &[(Nanos, Nanos)]) -> Vec<Track> {
    let track = |reading: Reading| {
        let (name, way) = (reading.name(), reading.way());
        Some(Track { reading, values: values(trial, spans, name, way)? })
    };
    Reading::ALL.into_iter().filter_map(track).collect()
}

/// The readings of its probe whose first figure is their mean or their growth.
pub(super) fn probe_tracks(
    trial: &TrialRecord,
    spans: &[(Nanos, Nanos)],
    readings: &[ProbeReading],
) -> Vec<ProbeTrack> {
    readings.iter().filter_map(|reading| probe_track(trial, spans, reading)).collect()
}

fn probe_track(
    trial: &TrialRecord,
    spans: &[(Nanos, Nanos)],
    reading: &ProbeReading,
) -> Option<ProbeTrack> {
    let figure = reading.figures.first()?;
    let way = match figure.fold {
        ProbeFold::Mean => Way::Level(figure.scale),
        ProbeFold::Growth => Way::Rate(figure.scale),
        ProbeFold::Max | ProbeFold::Per(_) => return None,
    };
    let values = values(trial, spans, &reading.name, way)?;
    Some(ProbeTrack { title: reading.title.clone(), unit: figure.unit, values })
}

/// A reading in these stretches; none where it was never read.
fn values(
    trial: &TrialRecord,
    spans: &[(Nanos, Nanos)],
    name: &str,
    way: Way,
) -> Option<Vec<Option<f64>>> {
    let points = &series(trial, name)?.points;
    let values: Vec<Option<f64>> =
        spans.iter().map(|&(from, until)| value(points, from, until, way)).collect();
    values.iter().any(Option::is_some).then_some(values)
}

fn value(points: &[(Nanos, f64)], from: Nanos, until: Nanos, way: Way) -> Option<f64> {
    let grown = |from, until| Some((at(points, until)? - at(points, from)?).max(0.0));
    let found = match way {
        Way::Level(times) => level(points, from, until).map(|level| level * times),
        Way::Rate(times) => {
            let (from, until) = widened(points, from, until);
            grown(from, until).map(|grown| grown / seconds(until - from) * times)
        }
        Way::Growth => grown(from, until),
    };
    found.filter(|value| value.is_finite())
}

/// CPU time grows in steps of 10 ms: rates over less than half a second would be a sawtooth.
fn widened(points: &[(Nanos, f64)], from: Nanos, until: Nanos) -> (Nanos, Nanos) {
    const LEAST: Nanos = SECOND / 2;
    let more = LEAST.saturating_sub(until - from) / 2;
    let (first, last) = (points.first().map_or(0, |at| at.0), points.last().map_or(0, |at| at.0));
    // Missing readings are not made up: the column itself must be within the readings.
    let wide =
        (from.saturating_sub(more).max(first.min(from)), (until + more).min(last.max(until)));
    (wide.0, wide.1.max(wide.0 + 1))
}

/// The mean of the readings within it; where there are none, the value interpolated from the readings on both sides.
fn level(points: &[(Nanos, f64)], from: Nanos, until: Nanos) -> Option<f64> {
    let first = points.partition_point(|(at, _)| *at < from);
    let inside = &points[first..points.partition_point(|(at, _)| *at < until).max(first)];
    match inside.len() {
        0 => at(points, from + (until - from) / 2),
        some => Some(inside.iter().map(|(_, value)| value).sum::<f64>() / some as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, declared, healthy, recording, series as made, window};
    use load::Failure;

    /// So many windows, in the second half of which answers take ten times as long.
    fn trial(windows: u64) -> TrialRecord {
        let mut trial = healthy();
        let window = |place: u64| Window {
            is_warmup: place < 10,
            attempted: 200,
            in_flight_area: u128::from(300 * MS),
            ..window(place * 100 * MS, 190, if place < windows / 2 { MS } else { 10 * MS })
        };
        recording(&mut trial).windows = (0..windows).map(window).collect();
        trial
    }

    #[test]
    fn a_column_has_its_own_rates_and_percentiles() {
        let mut trial = trial(100);
        recording(&mut trial).windows[7].failed[Failure::RecvReset.index()] = 10;
        let strip = Strip::of(&trial, &[]);
        assert_eq!((strip.columns.len(), strip.measured_from_s), (100, 1.0));
        let column = &strip.columns[7];
        let rates = (column.due_per_s, column.answered_per_s, column.failed_per_s);
        assert_eq!(rates, (2_000.0, 1_900.0, 100.0));
        assert!((column.in_flight - 3.0).abs() < 1e-9);
        let p99 = |place: usize| strip.columns[place].p99.map(|p99| p99.value.round());
        assert_eq!((p99(7), p99(80)), (Some(1.0), Some(10.0)));
        assert!(column.p99.is_some_and(|p99| !p99.is_supported), "two of 190 lie beyond");
        assert_eq!(column.bins.len(), 1);
    }

    #[test]
    fn many_windows_are_folded_and_their_rates_stay_rates() {
        let strip = Strip::of(&trial(1_000), &[]);
        assert_eq!(strip.columns.len(), 100);
        assert!((strip.columns[3].due_per_s - 2_000.0).abs() < 1e-6);
        assert!((strip.columns[99].until_s - 100.0).abs() < 1e-9);
    }

    #[test]
    fn readings_stand_on_the_load_s_clock() {
        let mut trial = trial(100);
        // The load begins at second 1 of the trial; half a CPU until second 6, then a whole one.
        let cpu = [(0, 0.0), (6 * SECOND, 3e9), (12 * SECOND, 9e9)];
        let memory = [(0, 1e6), (SECOND, 2e6), (5 * SECOND, 4e6), (20 * SECOND, 4e6)];
        let counted = [(0, 7.0), (2 * SECOND, 7.0), (2_100 * MS, 9.0), (20 * SECOND, 9.0)];
        trial.series = vec![
            made("subject.cpu.user", "ns", &cpu),
            made("subject.memory.rss", "bytes", &memory),
            made("kernel.tcp.listen_overflows", "count", &counted),
        ];
        let strip = Strip::of(&trial, &[]);
        let value = |reading, place: usize| {
            let track = strip.tracks.iter().find(|track| track.reading == reading)?;
            track.values[place].map(f64::round)
        };
        assert_eq!(value(Reading::CpuUser, 20), Some(50.0));
        assert_eq!(value(Reading::CpuUser, 80), Some(100.0));
        assert_eq!(value(Reading::Rss, 60), Some(4e6));
        let overflows = [10, 11].map(|place| value(Reading::Overflows, place));
        assert_eq!(overflows, [Some(2.0), Some(0.0)]);
        assert_eq!(value(Reading::AcceptQueue, 0), None);
    }

    #[test]
    fn a_probe_s_readings_are_levels_or_rates_and_none_that_was_not_read() {
        let mut trial = trial(100);
        let level = [(0, 0.5), (20 * SECOND, 0.5)];
        let bytes = [(0, 0.0), (20 * SECOND, 20.0 * 2_048.0)];
        trial.series = vec![
            made("jvm.load_ratio", "ratio", &level),
            made("jvm.sent_bytes", "bytes", &bytes),
            made("jvm.stack_bytes", "bytes", &level),
            made("jvm.threads", "count", &level),
        ];
        let reading = |name: &str, fold: &str| {
            format!("[[reading]]\nname = \"{name}\"\ntitle = \"of {name}\"\nfold = \"{fold}\"\n")
        };
        let readings = reading("jvm.load_ratio", "mean")
            + &reading("jvm.sent_bytes", "growth")
            + &reading("jvm.heap_bytes", "mean")
            + &reading("jvm.stack_bytes", "mean")
            + "per = { name = \"jvm.threads\", one = \"thread\" }\n";
        let found = Strip::of(&trial, &declared(&readings)).probe;
        let shown = |track: &ProbeTrack| {
            let value = track.values[50].map(|value| (value * 1e6).round() / 1e6);
            (track.title.clone(), track.unit, value)
        };
        assert_eq!(
            found.iter().map(shown).collect::<Vec<_>>(),
            [
                ("of jvm.load_ratio".into(), Unit::Percent, Some(50.0)),
                ("of jvm.sent_bytes".into(), Unit::KibPerSecond, Some(2.0)),
            ]
        );
    }

    #[test]
    fn a_trial_without_a_load_has_no_strip_and_odd_readings_are_no_numbers() {
        let mut trial = trial(3);
        let points = [(0, f64::NAN), (SECOND, f64::INFINITY), (2 * SECOND, 1.0)];
        trial.series = vec![made("subject.memory.rss", "bytes", &points)];
        let values = Strip::of(&trial, &[]).tracks.into_iter().flat_map(|track| track.values);
        assert!(values.flatten().all(f64::is_finite));
        trial.loaded = None;
        assert_eq!(Strip::of(&trial, &[]), Strip::default());
    }
}
