//! How the tables of a run are made of its trials: which row each belongs to, what marks a row, what its table is worth.

mod loads_of_files;

use std::collections::BTreeMap;
use std::time::Duration;

use lab::experiment::{Experiment, Order, Point, Shape};
use lab::figure::{Figure, Terms};
use lab::manner::Task;
use lab::probe::{self, ProbeReading};
use lab::record::{Entry, LOAD, OutcomeKind, RunRecord, TrialKey, TrialRecord, fact};
use lab::subject::Tier;
use lab::trial::LEFT_OUT;

use crate::board::{Board, JudgedTrial, Peak, Row, Table};
use crate::ceiling;
use crate::conduct::{Faults, Tolerated};
use crate::conformance::{Conformity, Score, conformities};
use crate::cpu_shares::CpuShares;
use crate::doubt::{doubts, http2, steady};
use crate::figures::Figures;
use crate::held::{HeldSubject, Ramps};
use crate::judge::judge;
use crate::other_load;
use crate::remarks;
use crate::unmet;
use crate::until::Rounds;

pub use loads_of_files::StatedLoad;

impl Board {
    /// Sorts and weighs a run's trials.
    #[must_use]
    pub fn of(run: &RunRecord, trials: &[TrialRecord]) -> Board {
        let experiment = run.experiment.as_ref();
        let conformities = conformities(run, experiment);
        let mut tables = tables(run, trials);
        for table in &mut tables {
            weigh(table, run, trials, &conformities);
        }
        let beat = beat(experiment);
        let readings = probe::declared(&run.files);
        let ramps = tables.iter().filter_map(|table| ramps(table, trials, beat, &readings));
        Board { ramps: ramps.collect(), readings, tables, conformities }
    }
}

/// The rows of all trials, in the order of the board.
fn tables(run: &RunRecord, trials: &[TrialRecord]) -> Vec<Table> {
    let experiment = run.experiment.as_ref();
    let is_load = run.facts.iter().any(|fact| fact.name == LOAD);
    let terms = Terms::of(experiment);
    let terms = if is_load { terms.of_loads() } else { terms };
    let mut rounds = experiment.map(Rounds::of);
    let mut places: BTreeMap<RowKey, (Vec<&TrialKey>, Vec<&TrialRecord>)> = BTreeMap::new();
    // What a search tries is not planned: its plan only numbers the trials.
    for key in run.plan.iter().filter(|_| !run.is_search()) {
        places.entry(RowKey::of(run, key)).or_default().0.push(key);
    }
    for trial in trials {
        rounds.iter_mut().for_each(|rounds| rounds.add(trial));
        places.entry(RowKey::of(run, &trial.key)).or_default().1.push(trial);
    }
    let promise = experiment.map(|it| it.promise).unwrap_or_default();
    let mut tables: Vec<Table> = Vec::new();
    for (place, (planned, tried)) in places {
        let mut row = row(&place, &tried, terms);
        row.planned = rounds.as_ref().map_or(planned.len(), |rounds| rounds.planned(&planned));
        row.stopped = rounds.as_ref().zip(planned.first()).and_then(|(all, key)| all.stopped(key));
        match tables.last_mut() {
            Some(table) if table.workload == place.workload => table.rows.push(row),
            Some(_) | None => tables.push(Table::of_rows(place.workload, vec![row], promise)),
        }
    }
    tables
}

/// Marks and judges the rows of a table, and says what is found of it as a whole.
fn weigh(table: &mut Table, run: &RunRecord, trials: &[TrialRecord], conformities: &[Conformity]) {
    let experiment = run.experiment.as_ref();
    let of_table = remarks::trials_of(table, trials);
    table.shares_cpu = table.rows.iter().any(|row| row.shares_cpu);
    let order = experiment.and_then(|experiment| experiment.order);
    table.by_cpu = table.shares_cpu || order == Some(Order::Cpu);
    if !table.shares_cpu {
        table.service_ceilings = ceiling::of_service(&of_table);
    }
    mark_references(run, &mut table.rows);
    mark_conformity(conformities, &mut table.rows);
    unmet::mark(&mut table.rows, Tolerated::by(experiment), run.is_search());
    other_load::mark(&mut table.rows, &table.workload);
    remarks::mark_unlike(table, trials);
    ceiling::weigh(table, &of_table);
    for row in &mut table.rows {
        row.judgement = judge(row, table.promise);
    }
    table.peaks = peaks(&table.rows);
    table.order_peaks();
    table.remarks = remarks::of_table(run, table, trials);
}

/// Whether the service of the trial's workload was on the CPUs of the server.
fn shares_cpu(trial: &TrialRecord) -> bool {
    fact(&trial.conditions, "service").is_some()
        && fact(&trial.conditions, "cpus.service").is_none()
}

/// The time between two messages on the run's held connections.
fn beat(experiment: Option<&Experiment>) -> Option<Duration> {
    match experiment.map(|experiment| experiment.shape) {
        Some(Shape::Held(holds)) => holds.beat,
        Some(Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. }) | None => None,
    }
}

/// A table's held trials; nothing for a table of another load. `beat` is the time between two messages, `readings`
/// are those that probes declare.
fn ramps(
    table: &Table,
    trials: &[TrialRecord],
    beat: Option<Duration>,
    readings: &[ProbeReading],
) -> Option<Ramps> {
    let held = |row| held_subject(row, trials, beat, readings);
    let subjects: Vec<HeldSubject> = table.rows.iter().filter_map(held).collect();
    (!subjects.is_empty()).then(|| Ramps { workload: table.workload.clone(), subjects })
}

fn held_subject(
    row: &Row,
    trials: &[TrialRecord],
    beat: Option<Duration>,
    readings: &[ProbeReading],
) -> Option<HeldSubject> {
    let Point::Held(connections) = row.point else { return None };
    let record =
        |judged: &JudgedTrial| trials.iter().find(|trial| trial.key.number == judged.number);
    let tried: Vec<&TrialRecord> = row.trials.iter().filter_map(record).collect();
    Some(HeldSubject {
        subject: row.subject.clone(),
        is_reference: row.is_reference,
        measured: row.measured(),
        verdict: row.verdict(),
        ..HeldSubject::of(&tried, connections, beat, readings)
    })
}

/// A row's place on the board; its order is the board's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    workload_place: usize,
    task: Task,
    workload: String,
    subject_place: usize,
    subject: String,
    point: Point,
}

impl RowKey {
    fn of(run: &RunRecord, key: &TrialKey) -> RowKey {
        let task = Task::named(&key.workload);
        let file = format!("workloads/{}.toml", task.workload);
        let place = |found: Option<usize>| found.unwrap_or(usize::MAX);
        RowKey {
            workload_place: place(run.files.iter().position(|(name, _)| *name == file)),
            task,
            workload: key.workload.clone(),
            subject_place: place(run.entries.iter().position(|entry| entry.name == key.subject)),
            subject: key.subject.clone(),
            point: key.point,
        }
    }
}

fn row(place: &RowKey, trials: &[&TrialRecord], terms: Terms) -> Row {
    let is_measured = |trial: &&TrialRecord| trial.outcome.kind == OutcomeKind::Measured;
    let measured: Vec<&TrialRecord> = trials.iter().copied().filter(is_measured).collect();
    let is_shared = trials.iter().any(|trial| shares_cpu(trial));
    let mut trials: Vec<JudgedTrial> = trials.iter().map(|trial| weighed(trial, terms)).collect();
    trials.sort_by_key(|trial| (trial.repeat, trial.number));
    let mut row = Row::of_rounds(&place.subject, place.point, trials);
    row.shares_cpu = is_shared;
    row.faults = Faults::of(unmet::tallies(&measured));
    row.evidence = unmet::evidence(&measured);
    row.shares = CpuShares::of(&row.estimates, &measured);
    row
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
        is_partial: trial.conditions.iter().any(|fact| fact.name == LEFT_OUT),
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
