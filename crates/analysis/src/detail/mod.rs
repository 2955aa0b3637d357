//! The data of one subject's pictures: the distribution of its answers' times at each place, and a round over time.

mod course;
mod spread;
mod strip;
mod then_now;

use lab::experiment::Point;
use lab::figure::Figure;
use lab::named;
use lab::probe::ProbeReading;
use lab::record::{OutcomeKind, TrialRecord};
use load::{Nanos, Recording, Slow};

use crate::board::{Board, JudgedTrial, Row, Table};
use crate::figures::merged;

pub use course::{HeldCourse, Moment, courses};
pub use spread::{Bin, Spectrum, Spread, Step};
pub use strip::{Column, HEAT_BINS, ProbeTrack, Reading, Strip, Track};
pub use then_now::{Cell, ThenNow, ThenNowRow, then_now};

/// The details of one subject under one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    pub workload: String,
    pub subject: String,
    /// Every place that has response times to show, from low to high.
    pub places: Vec<(Point, Spread)>,
    /// The places that are shown in more detail, from low to high; three at most.
    pub closeups: Vec<Closeup>,
}

/// A place in more detail: its percentiles over all measured rounds, and one round over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Closeup {
    /// Why this place.
    pub roles: Vec<Role>,
    /// The place on the axis.
    pub point: Point,
    /// The round that is shown, from 0: the median one by throughput.
    pub repeat: u32,
    pub rounds: usize,
    pub ended: OutcomeKind,
    /// From the intended start to the end.
    pub response: Spectrum,
    /// From sending to the end.
    pub service: Spectrum,
    /// The round over time.
    pub strip: Strip,
    /// The round's slowest exchanges, slowest first.
    pub slowest: Vec<Slowest>,
}

named! {
    /// Why a place is shown in detail.
    pub enum Role {
        Lowest = "the lowest",
        /// The highest at which as many answers arrived as requests were offered.
        KeptUp = "the highest kept up with",
        /// The one with the most answers.
        Most = "where most came back",
        Highest = "the highest",
    }
}

/// One exchange, kept whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowest {
    /// When it was intended to be sent, seconds since the load began.
    pub intended_s: f64,
    /// From the intended time to its end.
    pub took_ms: f64,
    /// Until it was sent: it waited for a free connection, or dyno sent it late.
    pub unsent_ms: f64,
    /// From then until the answer's first byte.
    pub awaited_ms: f64,
    /// From then until the last byte.
    pub read_ms: f64,
    /// The number of the request.
    pub seq: u64,
    /// The answer's status.
    pub status: u16,
}

/// The details of every subject, in the board's order.
#[must_use]
pub fn details(board: &Board, trials: &[TrialRecord]) -> Vec<Detail> {
    let of_table =
        |table| subjects(table).map(move |rows| detail(table, rows, trials, &board.readings));
    board.tables.iter().flat_map(of_table).collect()
}

fn subjects(table: &Table) -> impl Iterator<Item = &[Row]> {
    table.rows.chunk_by(|one, other| one.subject == other.subject)
}

fn detail(
    table: &Table,
    rows: &[Row],
    trials: &[TrialRecord],
    readings: &[ProbeReading],
) -> Detail {
    let with_trials: Vec<(&Row, Vec<&TrialRecord>)> =
        rows.iter().map(|row| (row, of_row(row, trials))).collect();
    let place = |(row, trials): &(&Row, Vec<&TrialRecord>)| Some((row.point, spread(trials)?));
    let closeup = |(place, roles): (usize, Vec<Role>)| {
        let (row, trials) = &with_trials[place];
        closeup(row, trials, readings, roles)
    };
    Detail {
        workload: table.workload.clone(),
        subject: rows.first().map_or(String::new(), |row| row.subject.clone()),
        places: with_trials.iter().filter_map(place).collect(),
        closeups: chosen(rows).into_iter().filter_map(closeup).collect(),
    }
}

fn spread(trials: &[&TrialRecord]) -> Option<Spread> {
    let recordings = || trials.iter().filter_map(|trial| measured(trial));
    let limit = recordings().map(|recording| recording.timeout).max()?;
    let responses = merged(recordings().map(|recording| &recording.total.response));
    Some(Spread::of(&responses, milliseconds(limit)))
}

fn of_row<'t>(row: &Row, trials: &'t [TrialRecord]) -> Vec<&'t TrialRecord> {
    let is_its =
        |trial: &&TrialRecord| row.trials.iter().any(|weighed| weighed.number == trial.key.number);
    trials.iter().filter(is_its).collect()
}

fn measured(trial: &TrialRecord) -> Option<&Recording> {
    let is_measured = trial.outcome.kind == OutcomeKind::Measured;
    trial.loaded.as_ref().filter(|_| is_measured).map(|loaded| &loaded.recording)
}

/// The places to show in detail, by their position in the rows, each once.
fn chosen(rows: &[Row]) -> Vec<(usize, Vec<Role>)> {
    let value = |place: usize, figure| rows[place].estimate(figure).map(|found| found.value);
    let tried: Vec<usize> =
        (0..rows.len()).filter(|&place| !rows[place].trials.is_empty()).collect();
    let keeps_up =
        |place: &usize| value(*place, Figure::Offered).is_some() && !rows[*place].is_behind();
    let kept_up = tried.iter().copied().rfind(keeps_up);
    let throughput = |place: usize| value(place, Figure::Throughput).unwrap_or(-1.0);
    let most =
        tried.iter().copied().max_by(|&one, &other| throughput(one).total_cmp(&throughput(other)));
    let middle = match kept_up {
        Some(place) => Some((place, Role::KeptUp)),
        // A closed loop has no offered rate to keep up with.
        None => most.map(|place| (place, Role::Most)),
    };
    let ends = |place: Option<&usize>, role| place.map(|&place| (place, role));
    let wanted = [ends(tried.first(), Role::Lowest), middle, ends(tried.last(), Role::Highest)];
    let mut chosen: Vec<(usize, Vec<Role>)> = Vec::new();
    for (place, role) in wanted.into_iter().flatten() {
        match chosen.iter_mut().find(|(other, _)| *other == place) {
            Some((_, roles)) => roles.push(role),
            None => chosen.push((place, vec![role])),
        }
    }
    chosen.sort_by_key(|(place, _)| *place);
    chosen
}

fn closeup(
    row: &Row,
    trials: &[&TrialRecord],
    readings: &[ProbeReading],
    roles: Vec<Role>,
) -> Option<Closeup> {
    let shown = shown(row, trials)?;
    let recording = &shown.loaded.as_ref()?.recording;
    let totals = || trials.iter().filter_map(|trial| measured(trial)).map(|found| &found.total);
    Some(Closeup {
        roles,
        point: row.point,
        repeat: shown.key.repeat,
        rounds: row.measured(),
        ended: shown.outcome.kind,
        response: Spectrum::of(&merged(totals().map(|total| &total.response))),
        service: Spectrum::of(&merged(totals().map(|total| &total.service))),
        strip: Strip::of(shown, readings),
        slowest: recording.total.slowest.iter().map(slowest).collect(),
    })
}

/// The measured round that is the median by throughput; where none was measured, the first with any load.
fn shown<'t>(row: &Row, trials: &[&'t TrialRecord]) -> Option<&'t TrialRecord> {
    let throughput =
        |trial: &JudgedTrial| trial.figures.get(Figure::Throughput).map(|number| number.value);
    let measured = row.measured_trials();
    let mut measured: Vec<(f64, u32)> =
        measured.map(|trial| (throughput(trial).unwrap_or(0.0), trial.number)).collect();
    measured.sort_by(|one, other| one.0.total_cmp(&other.0));
    let middle = measured.get(measured.len().saturating_sub(1) / 2).map(|(_, number)| *number);
    let is_it = |trial: &&&TrialRecord| match middle {
        Some(number) => trial.key.number == number,
        None => trial.loaded.is_some(),
    };
    trials.iter().find(is_it).copied()
}

fn slowest(slow: &Slow) -> Slowest {
    let between = |from: Nanos, until: Nanos| milliseconds(until.saturating_sub(from));
    Slowest {
        intended_s: milliseconds(slow.intended) / 1e3,
        took_ms: between(slow.intended, slow.done),
        unsent_ms: between(slow.intended, slow.sent),
        awaited_ms: between(slow.sent, slow.first_byte),
        read_ms: between(slow.first_byte, slow.done),
        seq: slow.seq,
        status: slow.status,
    }
}

fn milliseconds(time: Nanos) -> f64 {
    time as f64 / 1e6
}

#[cfg(test)]
mod tests;
