//! The lines of a history as series: one figure of one row, on one machine, by one plan.

use std::collections::{BTreeMap, BTreeSet};

use analysis::trend::{self, SeriesTrend, Shift};
use lab::figure::Figure;
use schemars::JsonSchema;
use serde::Serialize;

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
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "trend_machine")]
pub(super) struct Machine {
    /// its key
    #[serde(rename = "machine")]
    pub(super) key: String,
    /// it is the one on which this was written
    pub(super) is_here: bool,
    /// of what the key is made
    pub(super) facts: BTreeMap<String, String>,
}

/// A figure from run to run.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Those whose values count, oldest first.
    pub(super) lines: Vec<Line>,
    pub(super) figure: Option<Figure>,
    /// Lines that are no measurement: invalid rows, bounds, values that are not above 0.
    pub(super) left_out: usize,
    /// By what the values are divided.
    pub(super) per: Per,
    /// Another series has the same name on the same machine: only their plans differ.
    pub(super) has_namesake: bool,
    pub(super) values: Vec<f64>,
    pub(super) course: SeriesTrend,
}

/// By what the values of a series are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    /// By nothing: they are the figure.
    Nothing,
    /// By the same figure of the reference.
    Reference,
    /// By the same figure of the race's first side.
    FirstSide,
}

/// All that distinguishes series but their plans, with the most significant first: their order is that of a report.
fn name(line: &Line, is_per_first: bool) -> impl Ord {
    let Line { made_by, experiment, is_quick, workload, subject, .. } = line;
    let Line { point, point_unit, figure, machine, .. } = line;
    let place = Figure::from_name(figure).map_or(usize::MAX, |figure| figure as usize);
    let row = (made_by, experiment, is_quick, workload, subject);
    // The bits of numbers above zero have the order of the numbers.
    (row, point_unit, point.to_bits(), place, figure, is_per_first, machine)
}

impl Trend {
    /// What the history of these files shows; `here` is the machine on which it is shown, empty where that is no matter.
    #[must_use]
    pub fn of(files: Vec<String>, history: History, here: &str) -> Trend {
        let mut names: BTreeMap<_, (bool, BTreeMap<&str, Vec<&Line>>)> = BTreeMap::new();
        for line in &history.lines {
            for is_per_first in [false, true] {
                if line.first_side.is_some() || !is_per_first {
                    let named = names.entry(name(line, is_per_first));
                    let (_, plans) = named.or_insert_with(|| (is_per_first, BTreeMap::new()));
                    plans.entry(&line.plan).or_default().push(line);
                }
            }
        }
        let mut series: Vec<Series> = Vec::new();
        for (is_per_first, mut plans) in names.into_values() {
            // A race of one round has no ratios.
            plans.retain(|_, lines| {
                !is_per_first || lines.iter().any(|line| line.ratio_to_first.is_some())
            });
            let has_namesake = 1 < plans.len();
            let alike = plans.values().map(|lines| Series::of(lines, is_per_first));
            series.extend(alike.map(|series| Series { has_namesake, ..series }));
        }
        let values: Vec<Vec<f64>> = series.iter().map(|series| series.values.clone()).collect();
        for (series, course) in series.iter_mut().zip(trend::courses(&values)) {
            series.course = course;
        }
        let runs: BTreeSet<(i64, &str)> = history
            .lines
            .iter()
            .map(|line| (line.run.began_unix_ms, line.machine.as_str()))
            .collect();
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
    fn of(lines: &[&Line], is_per_first: bool) -> Series {
        let value = |line: &Line| match is_per_first {
            true => line.ratio_to_first.filter(|ratio| is_above_zero(*ratio)),
            false => Some(line.value).filter(|value| !line.is_bound && is_above_zero(*value)),
        };
        let counted = lines.iter().filter(|line| line.verdict != "invalid");
        let counted: Vec<(f64, &Line)> =
            counted.filter_map(|line| Some((value(line)?, *line))).collect();
        let values: Vec<f64> = counted.iter().map(|(value, _)| *value).collect();
        let ratios = if is_per_first { None } else { steadier(&counted, &values) };
        Series {
            figure: lines.first().and_then(|line| Figure::from_name(&line.figure)),
            left_out: lines.len() - counted.len(),
            lines: counted.into_iter().map(|(_, line)| line.clone()).collect(),
            per: match (is_per_first, &ratios) {
                (true, _) => Per::FirstSide,
                (false, Some(_)) => Per::Reference,
                (false, None) => Per::Nothing,
            },
            has_namesake: false,
            values: ratios.unwrap_or(values),
            course: SeriesTrend::default(),
        }
    }

    /// The server by whose figure the values are divided, if they are.
    pub(super) fn divisor(&self) -> Option<&str> {
        let line = self.common()?;
        match self.per {
            Per::Nothing => None,
            Per::Reference => line.reference.as_deref(),
            Per::FirstSide => line.first_side.as_deref(),
        }
    }

    /// What all its lines have in common; none if none of them counts.
    pub(super) fn common(&self) -> Option<&Line> {
        self.lines.last()
    }
}

/// The ratios to the reference, where all have one and they spread less than the values themselves.
fn steadier(counted: &[(f64, &Line)], values: &[f64]) -> Option<Vec<f64>> {
    let ratio = |(value, line): &(f64, &Line)| {
        let reference = line.reference_value.filter(|value| is_above_zero(*value))?;
        Some(value / reference).filter(|ratio| is_above_zero(*ratio))
    };
    let is_one = counted.windows(2).all(|pair| pair[0].1.reference == pair[1].1.reference);
    let ratios: Vec<f64> = counted.iter().filter_map(ratio).collect();
    (is_one && trend::is_steadier(&ratios, values)).then_some(ratios)
}

fn is_above_zero(value: f64) -> bool {
    value.is_normal() && 0.0 < value
}
