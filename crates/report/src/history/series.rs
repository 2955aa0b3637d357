//! The lines of a history as series: one figure of one row, on one machine, by one plan.

use std::collections::{BTreeMap, BTreeSet};

use analysis::trend::{self, Course, Shift};
use lab::figure::Figure;

use super::line::Line;
use super::reader::{Broken, History};

/// What a history shows.
#[derive(Clone, Debug)]
pub struct Trend {
    /// The files' names.
    pub(super) files: Vec<String>,
    pub(super) series: Vec<Series>,
    pub(super) broken: Vec<Broken>,
    pub(super) machines: Vec<Machine>,
    /// Runs of all series.
    pub(super) runs: usize,
}

/// A machine whose runs are in a history.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) key: String,
    pub(super) facts: BTreeMap<String, String>,
    /// It is the one on which this is shown.
    pub(super) is_here: bool,
}

/// A figure from run to run.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Those whose values count, oldest first.
    pub(super) lines: Vec<Line>,
    pub(super) figure: Option<Figure>,
    /// Lines that are no measurement: invalid rows, bounds, values that are not above 0.
    pub(super) left_out: usize,
    /// The values are divided by those of the reference.
    pub(super) is_relative: bool,
    pub(super) values: Vec<f64>,
    pub(super) course: Course,
}

/// What the lines of a series have in common; its order is that of a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'l> {
    experiment: &'l str,
    is_quick: bool,
    workload: &'l str,
    subject: &'l str,
    point_unit: &'l str,
    // The bits of numbers above zero have the order of the numbers.
    point: u64,
    figure_place: usize,
    figure: &'l str,
    machine: &'l str,
    plan: &'l str,
}

impl<'l> Key<'l> {
    fn of(line: &'l Line) -> Key<'l> {
        let figure = Figure::from_name(&line.figure);
        Key {
            experiment: &line.experiment,
            is_quick: line.is_quick,
            workload: &line.workload,
            subject: &line.subject,
            point_unit: &line.point_unit,
            point: line.point.to_bits(),
            figure_place: figure.map_or(usize::MAX, |figure| figure as usize),
            figure: &line.figure,
            machine: &line.machine,
            plan: &line.plan,
        }
    }
}

impl Trend {
    /// What the history of these files shows; `here` is the machine on which it is shown.
    #[must_use]
    pub fn of(files: Vec<String>, history: History, here: &str) -> Trend {
        let mut groups: BTreeMap<Key<'_>, Vec<&Line>> = BTreeMap::new();
        for line in &history.lines {
            groups.entry(Key::of(line)).or_default().push(line);
        }
        let mut series: Vec<Series> =
            groups.into_values().map(|lines| Series::of(&lines)).collect();
        let values: Vec<Vec<f64>> = series.iter().map(|series| series.values.clone()).collect();
        for (series, course) in series.iter_mut().zip(trend::courses(&values)) {
            series.course = course;
        }
        let runs: BTreeSet<(i64, &str)> =
            history.lines.iter().map(|line| (line.began_unix_ms, line.machine.as_str())).collect();
        let mut machines: BTreeMap<&str, &Line> = BTreeMap::new();
        for line in &history.lines {
            machines.entry(&line.machine).or_insert(line);
        }
        let machine = |(key, line): (&&str, &&Line)| Machine {
            key: key.to_string(),
            facts: line.machine_facts.clone(),
            is_here: *key == here,
        };
        Trend {
            files,
            series,
            machines: machines.iter().map(machine).collect(),
            runs: runs.len(),
            broken: history.broken,
        }
    }

    /// Whether there is any figure in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// The lines that were skipped.
    #[must_use]
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Every change, with its series.
    pub(super) fn shifts(&self) -> impl Iterator<Item = (&Series, &Shift)> {
        self.series
            .iter()
            .flat_map(|series| series.course.shifts.iter().map(move |shift| (series, shift)))
    }
}

impl Series {
    fn of(lines: &[&Line]) -> Series {
        let is_counted = |line: &&&Line| {
            line.verdict != "invalid" && !line.is_bound && is_above_zero(line.value)
        };
        let counted: Vec<Line> =
            lines.iter().filter(is_counted).map(|line| (*line).clone()).collect();
        let values: Vec<f64> = counted.iter().map(|line| line.value).collect();
        let ratio = |line: &Line| {
            let reference = line.reference_value.filter(|value| is_above_zero(*value))?;
            Some(line.value / reference).filter(|ratio| is_above_zero(*ratio))
        };
        let is_one_reference =
            counted.windows(2).all(|pair| pair[0].reference == pair[1].reference);
        let ratios: Vec<f64> = counted.iter().filter_map(ratio).collect();
        let is_relative = is_one_reference && trend::is_steadier(&ratios, &values);
        Series {
            figure: lines.first().and_then(|line| Figure::from_name(&line.figure)),
            left_out: lines.len() - counted.len(),
            lines: counted,
            is_relative,
            values: if is_relative { ratios } else { values },
            course: Course::default(),
        }
    }

    /// What all its lines have in common; none if none of them counts.
    pub(super) fn common(&self) -> Option<&Line> {
        self.lines.last()
    }
}

fn is_above_zero(value: f64) -> bool {
    value.is_normal() && 0.0 < value
}
