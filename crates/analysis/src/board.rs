//! A run's trials as tables: for every workload, the figures of each subject at each place of the axis.

mod stated;

use std::collections::BTreeMap;
use std::time::Duration;

use lab::experiment::{Experiment, Point, Shape};
use lab::figure::{Figure, Terms};
use lab::manner::Task;
use lab::probe::{self, ProbeReading};
use lab::record::{Entry, LOAD, Outcome, OutcomeKind, RunRecord, TrialKey, TrialRecord};
use lab::subject::Tier;
use load::Evidence;

use crate::capped;
use crate::ceiling;
use crate::conduct::{self, Conduct, Faults, Tolerated};
use crate::conformance::{Conformity, Score, conformities};
use crate::doubt::{Doubt, Steady, doubts, http2, steady};
use crate::estimate::Estimate;
use crate::figures::Figures;
use crate::held::{PlateauFigure, Ramps};
use crate::judgement::{Judgement, Promise, judge, kept_up};
use crate::remark::{self, Remark, remarks};
use crate::unresumed;
use crate::until::{Rounds, Stopped};
use crate::verdict::Verdict;

pub use stated::StatedLoad;

/// All tables of a run, in the experiment's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    pub tables: Vec<Table>,
    /// For held connections, the results plateau by plateau: one for each workload that was held. Their tables have
    /// rows, too: trials and what they are worth, without figures.
    pub ramps: Vec<Ramps>,
    /// What the probes of the run's subjects declare.
    pub readings: Vec<ProbeReading>,
    /// How far the subjects that take part conform to the RFCs, in the run's order.
    pub conformities: Vec<Conformity>,
}

/// The results of one task: of a workload that was requested in one manner.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The task's name.
    pub workload: String,
    /// Subjects in the run's order; for each, its places from low to high.
    pub rows: Vec<Row>,
    /// The highest throughput of each subject, highest first, references last; only where there is more than one place.
    pub peaks: Vec<Peak>,
    /// What the reader should know of the table as a whole.
    pub remarks: Vec<Remark>,
    /// The promise by which its schedules are judged.
    pub promise: Promise,
}

/// One subject at one place of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub subject: String,
    /// It is not a competitor, but shows the limit of the load and the machine. A reference that is alone competes.
    pub is_reference: bool,
    /// Why it is not ranked: it does not meet what the experiment requires, or it gave wrong answers or failed.
    pub unmet: Option<String>,
    /// Requests that went wrong through the server's doing in the measured rounds.
    pub faults: Faults,
    /// What they mean for its figures.
    pub conduct: Conduct,
    /// The first few failures of each class with their bytes, in the order of the rounds.
    pub evidence: Vec<Evidence>,
    /// It stopped answering after a case of its conformance check.
    pub has_crashed: bool,
    /// The place on the axis.
    pub point: Point,
    /// How many rounds it takes; where their number is to be found, as far as it is known.
    pub planned: usize,
    /// Why there are no more rounds, where their number was to be found.
    pub stopped: Option<Stopped>,
    /// The rounds that were run, in their order.
    pub trials: Vec<JudgedTrial>,
    /// Why the row as a whole may not be what it seems.
    pub doubts: Vec<Doubt>,
    /// Whether it kept up and kept the promise, what it is worth, and whether it is ranked.
    pub judgement: Judgement,
    estimates: [Option<Estimate>; Figure::COUNT],
}

/// One trial, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTrial {
    /// Its place in the plan.
    pub number: u32,
    /// Which round, from 0.
    pub repeat: u32,
    pub outcome: Outcome,
    /// Its figures, as far as the trial got.
    pub figures: Figures,
    /// Where its steady state begins, if it had a load.
    pub steady: Option<Steady>,
    /// How many streams were ordered on each connection, and how many the server allowed, if these were fewer.
    pub streams_capped: Option<(u64, u64)>,
    /// Why its figures may not be what they seem.
    pub doubts: Vec<Doubt>,
}

/// The highest throughput of a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    pub subject: String,
    /// It is not a competitor.
    pub is_reference: bool,
    /// It does not meet what the experiment requires.
    pub is_unmet: bool,
    /// The place on the axis.
    pub point: Point,
    /// Its throughput there.
    pub throughput: Estimate,
    /// It was the last place of the axis, and the subject kept up there: it may be able to do more.
    pub is_open: bool,
    /// The row there is in doubt.
    pub is_doubtful: bool,
}

impl Board {
    /// Sorts and weighs a run's trials.
    #[must_use]
    pub fn of(run: &RunRecord, trials: &[TrialRecord]) -> Board {
        let experiment = Experiment::of_run(run).ok();
        let is_load = run.facts.iter().any(|fact| fact.name == LOAD);
        let terms = Terms::of(experiment.as_ref());
        let terms = if is_load { terms.of_loads() } else { terms };
        let mut rounds = experiment.as_ref().map(Rounds::of);
        let mut planned: BTreeMap<RowKey, Vec<&TrialKey>> = BTreeMap::new();
        // What a search tries is not planned: its plan only numbers the trials.
        let is_search = run.is_search();
        for key in run.plan.iter().filter(|_| !is_search) {
            let place = RowKey::of(run, &key.workload, &key.subject, key.point);
            planned.entry(place).or_default().push(key);
        }
        let mut tried: BTreeMap<RowKey, Vec<&TrialRecord>> = BTreeMap::new();
        for trial in trials {
            let key = &trial.key;
            rounds.iter_mut().for_each(|rounds| rounds.add(trial));
            let place = RowKey::of(run, &key.workload, &key.subject, key.point);
            planned.entry(place.clone()).or_default();
            tried.entry(place).or_default().push(trial);
        }
        let promised = experiment.as_ref().map(|experiment| experiment.promise);
        let promise = Promise::from(promised.unwrap_or_default());
        let mut tables: Vec<Table> = Vec::new();
        for (place, planned) in planned {
            let mut row = row(&place, tried.get(&place).map_or(&[], Vec::as_slice), terms);
            row.planned = rounds.as_ref().map_or(planned.len(), |rounds| rounds.planned(&planned));
            row.stopped =
                rounds.as_ref().zip(planned.first()).and_then(|(all, key)| all.stopped(key));
            match tables.last_mut() {
                Some(table) if table.workload == place.workload => table.rows.push(row),
                Some(_) | None => tables.push(Table {
                    workload: place.workload,
                    rows: vec![row],
                    peaks: Vec::new(),
                    remarks: Vec::new(),
                    promise,
                }),
            }
        }
        let conformities = conformities(run, experiment.as_ref());
        let tolerated = Tolerated::by(experiment.as_ref());
        for table in &mut tables {
            mark_references(run, &mut table.rows);
            mark_conformity(&conformities, &mut table.rows);
            conduct::mark(&mut table.rows, tolerated, is_search);
            capped::mark(&mut table.rows, &table.workload);
            unresumed::mark(&mut table.rows, &table.workload);
            remark::mark_unlike(table, trials);
            ceiling::weigh(table, trials);
            for row in &mut table.rows {
                row.judgement = judge(row, promise);
            }
            table.peaks = peaks(&table.rows);
            table.order_peaks();
            table.remarks = remarks(run, table, trials);
        }
        let beat = beat(experiment.as_ref());
        let readings = probe::declared(&run.files);
        let ramps = tables.iter().filter_map(|table| Ramps::of(table, trials, beat, &readings));
        Board { ramps: ramps.collect(), readings, tables, conformities }
    }
}

impl Board {
    /// How far a subject conforms to the RFCs; nothing for one that does not take part.
    #[must_use]
    pub fn conformity(&self, subject: &str) -> Option<&Conformity> {
        self.conformities.iter().find(|found| found.subject == subject)
    }

    /// Every figure of a plateau: dyno's own, then those that probes declare.
    pub fn plateau_figures(&self) -> impl Iterator<Item = PlateauFigure<'_>> {
        let probe = self.readings.iter().flat_map(|reading| &reading.figures);
        Figure::OF_STEPS.into_iter().map(PlateauFigure::from).chain(probe.map(PlateauFigure::from))
    }

    /// How many trials the run takes, as far as it is known.
    #[must_use]
    pub fn planned(&self) -> usize {
        self.tables.iter().flat_map(|table| &table.rows).map(|row| row.planned).sum()
    }
}

impl Table {
    /// Whether its trials held connections: the results are in the board's `ramps`, and its rows have no figures.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.point, Point::Held(_)))
    }

    /// Whether any subject was loaded at more than one place.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0].subject == pair[1].subject)
    }
}

impl Row {
    /// A figure over the rounds that were measured.
    #[must_use]
    pub fn estimate(&self, figure: Figure) -> Option<Estimate> {
        self.estimates[figure as usize]
    }

    #[must_use]
    pub fn measured(&self) -> usize {
        self.trials.iter().filter(|trial| trial.is_measured()).count()
    }

    /// Rounds that are not a measurement, by how they ended.
    #[must_use]
    pub fn unmeasured(&self) -> Vec<(OutcomeKind, usize)> {
        let times =
            |kind| (kind, self.trials.iter().filter(|trial| trial.outcome.kind == kind).count());
        let all = OutcomeKind::ALL.map(times).into_iter();
        all.filter(|(kind, times)| *kind != OutcomeKind::Measured && 0 < *times).collect()
    }

    /// A reason more why it is not ranked.
    pub(crate) fn lack(&mut self, says: String) {
        self.unmet = Some(match self.unmet.take() {
            Some(other) => format!("{other}; {says}"),
            None => says,
        });
    }

    /// Whether its figures are not valid: they are then marked wherever they are shown.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        0 < self.measured() && self.verdict() != Some(Verdict::Valid)
    }

    /// Whether it did not keep up with its schedule, over its rounds: not a doubt about the row, but a finding.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        kept_up(self) == Some(false)
    }
}

impl JudgedTrial {
    /// Whether it did not keep up with its schedule.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.doubts.iter().any(Doubt::is_behind)
    }

    /// Whether it is included in the figures.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.outcome.kind == OutcomeKind::Measured
    }
}

/// The time between two messages on the run's held connections.
fn beat(experiment: Option<&Experiment>) -> Option<Duration> {
    match experiment.map(|experiment| experiment.shape) {
        Some(Shape::Held(holds)) => holds.beat,
        Some(Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. }) | None => None,
    }
}

/// A row's place on the board; its order is the board's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    workload_place: usize,
    task: Task,
    workload: String,
    subject_place: usize,
    subject: String,
    point_bits: u64,
    point: PointKind,
}

/// A point that can be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PointKind {
    Connections,
    Requests,
    Sessions,
    Held,
}

impl RowKey {
    fn of(run: &RunRecord, workload: &str, subject: &str, point: Point) -> RowKey {
        let task = Task::named(workload);
        let file = format!("workloads/{}.toml", task.workload);
        let place = |found: Option<usize>| found.unwrap_or(usize::MAX);
        RowKey {
            workload_place: place(run.files.iter().position(|(name, _)| *name == file)),
            task,
            workload: workload.into(),
            subject_place: place(run.entries.iter().position(|entry| entry.name == subject)),
            subject: subject.into(),
            // The bits of positive numbers have the same order as the numbers.
            point_bits: point.value().to_bits(),
            point: match point {
                Point::Connections(_) => PointKind::Connections,
                Point::Requests(_) => PointKind::Requests,
                Point::Sessions(_) => PointKind::Sessions,
                Point::Held(_) => PointKind::Held,
            },
        }
    }

    fn point(&self) -> Point {
        let value = f64::from_bits(self.point_bits);
        match self.point {
            PointKind::Connections => Point::Connections(value as u32),
            PointKind::Requests => Point::Requests(value),
            PointKind::Sessions => Point::Sessions(value),
            PointKind::Held => Point::Held(value as u32),
        }
    }
}

fn row(place: &RowKey, trials: &[&TrialRecord], terms: Terms) -> Row {
    let is_measured = |trial: &&TrialRecord| trial.outcome.kind == OutcomeKind::Measured;
    let measured: Vec<&TrialRecord> = trials.iter().copied().filter(is_measured).collect();
    let mut trials: Vec<JudgedTrial> = trials.iter().map(|trial| weighed(trial, terms)).collect();
    trials.sort_by_key(|trial| (trial.repeat, trial.number));
    let estimates = estimates(&trials);
    Row {
        subject: place.subject.clone(),
        is_reference: false,
        unmet: None,
        faults: Faults::of(conduct::tallies(&measured)),
        conduct: Conduct::Sound,
        evidence: conduct::evidence(&measured),
        has_crashed: false,
        point: place.point(),
        planned: trials.len(),
        stopped: None,
        trials,
        doubts: Vec::new(),
        judgement: Judgement::default(),
        estimates,
    }
}

/// Each figure over the rounds that were measured.
fn estimates(trials: &[JudgedTrial]) -> [Option<Estimate>; Figure::COUNT] {
    Figure::ALL.map(|figure| {
        let measured = trials.iter().filter(|trial| trial.is_measured());
        let rounds: Vec<_> = measured.filter_map(|trial| trial.figures.get(figure)).collect();
        Estimate::of(&rounds, figure.fold())
    })
}

/// Where there is no other subject, the reference is what was to be measured.
fn mark_references(run: &RunRecord, rows: &mut [Row]) {
    let of_tier = |entry: &&Entry| entry.tier == Tier::Reference.name();
    let names: Vec<&str> =
        run.entries.iter().filter(of_tier).map(|entry| entry.name.as_str()).collect();
    let is_one = |row: &Row| names.contains(&row.subject.as_str());
    if !rows.iter().all(is_one) {
        rows.iter_mut().for_each(|row| row.is_reference = is_one(row));
    }
}

fn mark_conformity(conformities: &[Conformity], rows: &mut [Row]) {
    for row in rows {
        let Some(found) = conformities.iter().find(|found| found.subject == row.subject) else {
            continue;
        };
        row.unmet = found.unmet.clone().filter(|_| !row.is_reference);
        row.has_crashed = found.score.as_ref().is_ok_and(Score::has_crashed);
    }
}

fn weighed(trial: &TrialRecord, terms: Terms) -> JudgedTrial {
    JudgedTrial {
        number: trial.key.number,
        repeat: trial.key.repeat,
        outcome: trial.outcome.clone(),
        figures: Figures::of(trial, terms),
        steady: trial.loaded.as_ref().map(|loaded| steady(&loaded.recording)),
        streams_capped: http2::capped(trial),
        doubts: doubts(trial, terms),
    }
}

fn peaks(rows: &[Row]) -> Vec<Peak> {
    let of_subjects = rows.chunk_by(|one, other| one.subject == other.subject);
    let curves = of_subjects.filter(|rows| 1 < rows.len());
    let mut peaks: Vec<Peak> = curves.filter_map(peak).collect();
    peaks.sort_by(|one, other| {
        let by_rate = other.throughput.value.total_cmp(&one.throughput.value);
        let rank = |peak: &Peak| (peak.is_reference, peak.is_unmet);
        rank(one).cmp(&rank(other)).then(by_rate)
    });
    peaks
}

fn peak(rows: &[Row]) -> Option<Peak> {
    let throughput = |row: &Row| row.estimate(Figure::Throughput);
    let median = |row: &&Row| throughput(row).map_or(f64::MIN, |throughput| throughput.value);
    let best = rows.iter().max_by(|one, other| median(one).total_cmp(&median(other)))?;
    let throughput = throughput(best)?;
    let is_last = rows.last().is_some_and(|last| last.point == best.point);
    Some(Peak {
        subject: best.subject.clone(),
        is_reference: best.is_reference,
        is_unmet: best.unmet.is_some(),
        point: best.point,
        throughput,
        is_open: is_last && !best.is_behind(),
        is_doubtful: best.is_doubtful(),
    })
}

#[cfg(test)]
mod tests;
