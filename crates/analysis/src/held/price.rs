//! What held connections cost: memory for each, CPU time for their messages; how many were reached, what failed first,
//! and how much memory was released.

use std::time::Duration;

use lab::figure::{Figure, Fold, Line, Number, Step, line_of_steps, readings};
use lab::named;
use lab::record::{OutcomeKind, TrialRecord};
use load::{Loss, Nanos};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{Plateau, gone, reached};
use crate::estimate::Estimate;
use crate::student;

/// A plateau counts as reached if no more than this share of the requested connections was lost.
const LOST_AT_MOST: f64 = 0.001;
/// Messages that are later than this share of their beat no longer keep the beat.
const LATE_SHARE: f64 = 0.1;

/// A row of the price list.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Memory for each connection.
    pub memory: Option<Slope>,
    /// CPU time for 1,000 messages on the last plateau, milliseconds.
    pub cpu_ms_per_1000: Option<Estimate>,
    /// The most open connections at which no more than 0.1 % of those requested were lost.
    pub reached: Option<Estimate>,
    /// What failed first, in any round; nothing if nothing failed.
    pub gave_way: Option<FirstFailure>,
    /// How much memory was released when all connections were closed.
    pub after: Option<After>,
}

/// How much more memory each connection takes: the slope of mean memory over the plateaus' open connections, by least
/// squares. A quotient would also charge them with the memory of the empty server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Bytes for a connection: the mean of the rounds' slopes.
    pub bytes: f64,
    /// The 95 % interval; none where there are too few rounds and plateaus for one.
    pub interval: Option<(f64, f64)>,
    /// What the interval is based on.
    pub basis: Basis,
    /// Which memory was used.
    pub of: Memory,
    pub rounds: usize,
}

named! {
    /// What an interval is based on.
    pub enum Basis {
        /// How far the rounds' slopes lie apart.
        Rounds = "rounds",
        /// How far the plateaus of the one round lie from its line: the slope's standard error. It does not include the
        /// differences between rounds.
        Line = "line",
    }
}

named! {
    pub enum Memory {
        /// Shared pages are divided among processes.
        Pss = "pss",
        /// Shared pages are counted for each process.
        Rss = "rss",
    }
}

/// The first plateau, of any round, on which something gave way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FirstFailure {
    /// connections that were to be there
    pub connections: usize,
    /// connections that were open at its end
    pub open: u64,
    // They count from 0 here, and from 1 where they are written.
    /// in which round
    #[serde(rename = "round", serialize_with = "from_one")]
    pub repeat: u32,
    /// in how many rounds something gave way there or later
    pub rounds: usize,
    /// of how many that held any connections
    pub of: usize,
    /// What was observed there: the main cause first, never empty.
    #[serde(skip)]
    pub causes: Vec<Cause>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires it
fn from_one<S: Serializer>(repeat: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(repeat + 1)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// The trial ended there.
    Ended(OutcomeKind),
    /// Connections never opened.
    Failed(Loss, u64),
    /// Connections were open and are no longer.
    Lost(Loss, u64),
    /// Connections are open, and receive nothing.
    Silent(u64),
    /// Connections were begun, and are still neither open nor failed at the plateau's end.
    Waiting(u64),
    /// Messages were late.
    Late {
        /// The p99 of their lateness, milliseconds.
        p99_ms: f64,
        /// A tenth of the interval, milliseconds.
        bound_ms: f64,
    },
}

/// Memory before the connections, at its peak, and after all were closed, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    /// Which memory was used.
    pub of: Memory,
    /// The last reading before the first connection.
    pub before: Estimate,
    /// The largest reading while they were held.
    pub peak: Estimate,
    /// The last reading, after the server had had time to release memory.
    pub after: Estimate,
    /// The percentage of the memory added since `before` that had been released in the end.
    pub given_back_percent: Option<Estimate>,
}

impl Memory {
    /// The reading.
    #[must_use]
    pub fn series(self) -> &'static str {
        match self {
            Memory::Pss => "subject.memory.pss",
            Memory::Rss => "subject.memory.rss",
        }
    }

    fn figure(self) -> Figure {
        match self {
            Memory::Pss => Figure::PssMean,
            Memory::Rss => Figure::RssMean,
        }
    }
}

impl Cause {
    /// Whether it is dyno's own fault, not the server's.
    #[must_use]
    pub fn is_own(self) -> bool {
        match self {
            Cause::Failed(loss, _) | Cause::Lost(loss, _) => loss.is_own(),
            Cause::Ended(kind) => {
                matches!(kind, OutcomeKind::Unable | OutcomeKind::Interrupted)
            }
            Cause::Silent(_) | Cause::Waiting(_) | Cause::Late { .. } => false,
        }
    }
}

impl Price {
    pub(super) fn of(
        tried: &[&TrialRecord],
        measured: &[&TrialRecord],
        plateaus: &[Plateau],
        beat: Option<Duration>,
    ) -> Price {
        let reached: Vec<Number> =
            measured.iter().filter_map(|trial| most_open(trial)).map(number).collect();
        let last = plateaus.last();
        let memory = slope(measured);
        Price {
            memory,
            cpu_ms_per_1000: last.and_then(|last| last.estimate(Figure::StepCpuPerThousand)),
            reached: Estimate::of(&reached, Fold::Amounts),
            gave_way: gave_way(tried, beat),
            // If it was read too seldom for the slope, it was read too seldom for this.
            after: after(measured, memory.is_none_or(|slope| slope.of == Memory::Pss)),
        }
    }
}

fn number(value: f64) -> Number {
    Number { value, is_bound: false, is_supported: true }
}

fn most_open(trial: &TrialRecord) -> Option<f64> {
    let is_kept = |plateau: &&load::Plateau| {
        let gone = plateau.failed_in_all() + plateau.lost_in_all();
        gone as f64 <= LOST_AT_MOST * plateau.times.connections as f64
    };
    let plateaus = reached(trial);
    (!plateaus.is_empty()).then(|| {
        plateaus.iter().filter(is_kept).map(|plateau| plateau.open).max().unwrap_or(0) as f64
    })
}

/// By PSS where every plateau of every round has it, otherwise by RSS.
fn slope(measured: &[&TrialRecord]) -> Option<Slope> {
    slope_of(measured, Memory::Pss).or_else(|| slope_of(measured, Memory::Rss))
}

fn slope_of(measured: &[&TrialRecord], memory: Memory) -> Option<Slope> {
    let line = |trial: &&TrialRecord| line_of_steps(trial, memory.figure());
    let lines: Vec<Line> = measured.iter().map(line).collect::<Option<_>>()?;
    let only = *lines.first()?;
    let slopes: Vec<Number> = lines.iter().map(|line| number(line.slope)).collect();
    let slopes = Estimate::of(&slopes, Fold::Factors)?;
    let (interval, basis) = match lines.len() {
        1 => (interval(only), Basis::Line),
        _ => (slopes.interval(), Basis::Rounds),
    };
    Some(Slope { bytes: slopes.value, interval, basis, of: memory, rounds: lines.len() })
}

/// The 95 % interval of a slope.
fn interval(line: Line) -> Option<(f64, f64)> {
    let (error, freedom) = line.error?;
    let half = student::point(student::OUTSIDE, freedom) * error;
    // A connection cannot release memory of the server: below zero the interval says nothing.
    Some(((line.slope - half).max(0_f64.min(line.slope)), line.slope + half))
}

/// Of all rounds, the one that failed with the fewest connections.
fn gave_way(tried: &[&TrialRecord], beat: Option<Duration>) -> Option<FirstFailure> {
    let held = || tried.iter().filter(|trial| trial.held.is_some());
    let found: Vec<FirstFailure> = held().filter_map(|trial| first_bad(trial, beat)).collect();
    let rounds = found.len();
    let first = found.into_iter().min_by_key(|one| one.connections)?;
    Some(FirstFailure { rounds, of: held().count(), ..first })
}

fn first_bad(trial: &TrialRecord, beat: Option<Duration>) -> Option<FirstFailure> {
    let plateaus = reached(trial);
    let kind = trial.outcome.kind;
    for (place, plateau) in plateaus.iter().enumerate() {
        let ends = place + 1 == plateaus.len() && kind != OutcomeKind::Measured;
        let mut causes = if ends { vec![Cause::Ended(kind)] } else { Vec::new() };
        causes.extend(causes_of(trial, plateau, beat));
        if !causes.is_empty() {
            let repeat = trial.key.repeat;
            let (connections, open) = (plateau.times.connections, plateau.open);
            return Some(FirstFailure { connections, open, repeat, rounds: 1, of: 1, causes });
        }
    }
    None
}

fn causes_of(trial: &TrialRecord, plateau: &load::Plateau, beat: Option<Duration>) -> Vec<Cause> {
    let by_cause = gone(&[plateau]).into_iter();
    let mut causes: Vec<Cause> = by_cause
        .map(|gone| match gone.was_open {
            true => Cause::Lost(gone.loss, gone.times),
            false => Cause::Failed(gone.loss, gone.times),
        })
        .collect();
    if 0 < plateau.opening {
        causes.push(Cause::Waiting(plateau.opening));
    }
    if 0 < plateau.silent {
        causes.push(Cause::Silent(plateau.silent));
    }
    let late = Figure::PushLateP99.of_step(&Step::of(trial, plateau)).map(|late| late.value);
    if let (Some(p99_ms), Some(beat)) = (late, beat) {
        let bound_ms = beat.as_secs_f64() * 1e3 * LATE_SHARE;
        if bound_ms < p99_ms {
            causes.push(Cause::Late { p99_ms, bound_ms });
        }
    }
    causes
}

fn after(measured: &[&TrialRecord], by_pss: bool) -> Option<After> {
    let by = |memory| after_of(measured, memory);
    by_pss.then(|| by(Memory::Pss)).flatten().or_else(|| by(Memory::Rss))
}

fn after_of(measured: &[&TrialRecord], memory: Memory) -> Option<After> {
    let rounds: Vec<[f64; 3]> =
        measured.iter().map(|trial| three(trial, memory)).collect::<Option<_>>()?;
    let each = |place: usize| {
        let bytes: Vec<Number> = rounds.iter().map(|three| number(three[place])).collect();
        Estimate::of(&bytes, Fold::Factors)
    };
    let given_back = |[before, peak, after]: &[f64; 3]| {
        (before < peak).then(|| number((peak - after) / (peak - before) * 100.0))
    };
    let given_back: Vec<Number> = rounds.iter().filter_map(given_back).collect();
    Some(After {
        of: memory,
        before: each(0)?,
        peak: each(1)?,
        after: each(2)?,
        given_back_percent: Estimate::of(&given_back, Fold::Differences),
    })
}

/// Before, at the peak, and after.
fn three(trial: &TrialRecord, memory: Memory) -> Option<[f64; 3]> {
    let held = trial.held.as_ref()?;
    let (from, until) = (held.began, held.began + held.holding.closed_at);
    let points = &readings::series(trial, memory.series())?.points;
    let is_before = |(at, _): &&(Nanos, f64)| *at <= from;
    let before = points.iter().rev().find(is_before).or(points.first())?.1;
    let held = readings::inside(trial, memory.series(), (from, until))?;
    let peak = held.into_iter().max_by(f64::total_cmp)?;
    let (last, after) = *points.last()?;
    let all = [before, peak, after];
    (until < last && all.iter().all(|value| value.is_finite())).then_some(all)
}

#[cfg(test)]
mod tests {
    use lab::figure::line;

    use super::*;

    #[test]
    fn a_line_has_a_slope_and_an_error_as_the_books_say() {
        // By hand: for x = 1..5 and these y the slope is 1.99, and the squares of the residuals sum to 0.107.
        let points = [(1.0, 2.1), (2.0, 3.9), (3.0, 6.2), (4.0, 7.8), (5.0, 10.1)];
        let fit = line(&points).unwrap();
        assert!((fit.slope - 1.99).abs() < 1e-12, "{fit:?}");
        let (error, freedom) = fit.error.unwrap();
        assert!((error - (0.107_f64 / 3.0 / 10.0).sqrt()).abs() < 1e-9 && freedom == 3.0);
        let (low, high) = interval(fit).unwrap();
        assert!(
            (low - (1.99 - 3.182 * error)).abs() < 1e-3
                && (high - 1.99 - 3.182 * error).abs() < 1e-3
        );
    }

    #[test]
    fn two_points_have_no_error_and_one_place_has_no_slope() {
        let fit = line(&[(0.0, 1.0), (2.0, 5.0)]).unwrap();
        assert_eq!((fit.slope, fit.error, interval(fit)), (2.0, None, None));
        assert_eq!(line(&[(2.0, 1.0), (2.0, 5.0)]), None);
        assert_eq!(line(&[]), None);
    }
}
