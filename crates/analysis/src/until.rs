//! How many rounds a row takes: rows go on until the figure by which they are judged is known narrowly enough. It
//! depends only on whole rounds, so that a run that was killed goes on as if it had not been.

use lab::experiment::{Experiment, Point, Until};
use lab::figure::{Figure, Terms};
use lab::record::{OutcomeKind, TrialKey, TrialRecord};
use load::Nanos;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::doubt::{Doubt, doubts};
use crate::estimate::interval;
use crate::figures::Figures;
use crate::gate::GateCourse;

/// Rounds after the one that was narrow enough. An interval that ends the search by being narrow is more often than not
/// too narrow by chance, and covers less often than it claims; the rounds that follow were not selected in this way.
const MORE: usize = 1;

/// What the trials so far imply for those to come.
#[derive(Clone, Debug)]
pub struct Rounds {
    least: u32,
    until: Option<Until>,
    /// The rounds are pairs.
    pairs: Option<GateCourse>,
    pause: Nanos,
    /// All servers of a round live at once, and are compared round by round.
    is_together: bool,
    terms: Terms,
    trials: Vec<TrialSummary>,
}

/// One trial, as far as it matters here.
#[derive(Clone, Debug)]
struct TrialSummary {
    key: TrialKey,
    /// None: it is not a measurement.
    figures: Option<RoundFigures>,
    took: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct RoundFigures {
    throughput: Option<f64>,
    p99: Option<f64>,
    is_behind: bool,
}

/// Why a row has no more rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "stopped")]
pub struct Stopped {
    /// narrow, most_rounds, out_of_time or nothing_measured
    #[schemars(with = "String")]
    pub why: WhyStopped,
    /// by which figure
    #[schemars(with = "String")]
    pub figure: Figure,
    // 0.03 is ±3 %.
    /// how wide its interval is, up and down; null for fewer than two rounds
    #[serde(rename = "within_percent", serialize_with = "percent")]
    pub within: Option<f64>,
    /// after how many rounds
    pub rounds: usize,
}

#[allow(clippy::ref_option)] // serde requires it
fn percent<S: Serializer>(share: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    share.map(|share| share * 100.0).serialize(serializer)
}

/// The reason why a row has no more rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WhyStopped {
    /// It was narrow enough, and had one more round.
    #[serde(rename = "narrow")]
    Narrow,
    /// The greatest number of rounds was reached.
    #[serde(rename = "most_rounds")]
    Most,
    /// The trials had taken as long as they were allowed to.
    #[serde(rename = "out_of_time")]
    OutOfTime,
    /// No round was a measurement.
    #[serde(rename = "nothing_measured")]
    Nothing,
}

impl Rounds {
    /// The state before the first trial.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Rounds {
        Rounds {
            least: experiment.repeat,
            until: experiment.until,
            pairs: GateCourse::of(experiment),
            pause: experiment.pause.as_nanos() as Nanos,
            is_together: experiment.slices.is_some(),
            terms: Terms::of(Some(experiment)),
            trials: Vec::new(),
        }
    }

    /// Adds a trial that is over. Where the number of rounds is given, it has no effect.
    pub fn add(&mut self, trial: &TrialRecord) {
        if let Some(pairs) = &mut self.pairs {
            pairs.add(trial);
        }
        if self.until.is_none() {
            return;
        }
        let is_measured = trial.outcome.kind == OutcomeKind::Measured;
        let figures = Figures::of(trial, self.terms);
        let value = |figure| figures.get(figure).map(|number| number.value);
        self.trials.push(TrialSummary {
            key: trial.key.clone(),
            figures: is_measured.then(|| RoundFigures {
                throughput: value(Figure::Throughput),
                p99: value(Figure::ResponseP99),
                is_behind: doubts(trial, self.terms).iter().any(Doubt::is_behind),
            }),
            took: trial.load_ended() + self.pause,
        });
    }

    /// Whether a planned trial is to be run, by the rounds before it. Servers that live at once go on until none of
    /// them needs another round.
    #[must_use]
    pub fn needs(&self, key: &TrialKey, plan: &[&TrialKey]) -> bool {
        if let Some(pairs) = &self.pairs {
            return !pairs.is_over_before(key.repeat);
        }
        let needs = |key: &TrialKey| self.stopped_before(key, key.repeat).is_none();
        let is_beside = |other: &TrialKey| {
            (other.repeat, &other.workload, other.point) == (key.repeat, &key.workload, key.point)
        };
        let needs_beside = |other: &&TrialKey| is_beside(other) && needs(other);
        needs(key) || (self.is_together && plan.iter().any(needs_beside))
    }

    /// Which of several builds of its servers a round is of; the first where there is one.
    #[must_use]
    pub fn build_of(&self, round: u32) -> usize {
        self.pairs.as_ref().map_or(0, |pairs| pairs.build_of(round))
    }

    /// How many of a row's planned trials it takes, as far as it is known: where rounds go on, one more than were run.
    #[must_use]
    pub fn planned(&self, plan: &[&TrialKey]) -> usize {
        let rounds_of = |key: &TrialKey| {
            let same = self.trials.iter().filter(|trial| is_same_row(&trial.key, key));
            same.map(|trial| trial.key.repeat + 1).max().unwrap_or(0)
        };
        let is_near = |key: &TrialKey| match (self.until, &self.pairs) {
            (None, None) => true,
            (None, Some(pairs)) => key.repeat <= pairs.tried() as u32,
            (Some(_), _) => key.repeat < self.least.max(rounds_of(key) + 1),
        };
        plan.iter().filter(|key| is_near(key) && self.needs(key, plan)).count()
    }

    /// Why a row has no more rounds; none if it has more.
    #[must_use]
    pub fn stopped(&self, row: &TrialKey) -> Option<Stopped> {
        let next = self.trials.iter().filter(|trial| is_same_row(&trial.key, row));
        self.stopped_before(row, next.map(|trial| trial.key.repeat + 1).max()?)
    }

    fn stopped_before(&self, row: &TrialKey, round: u32) -> Option<Stopped> {
        let until = self.until.filter(|_| self.least <= round)?;
        let mut rounds: Vec<&TrialSummary> = self
            .trials
            .iter()
            .filter(|trial| is_same_row(&trial.key, row) && trial.key.repeat < round)
            .collect();
        rounds.sort_by_key(|trial| trial.key.repeat);
        let figures: Vec<RoundFigures> = rounds.iter().filter_map(|trial| trial.figures).collect();
        let (figure, within) = judged(row.point, &figures);
        let why = match within {
            _ if figures.is_empty() => WhyStopped::Nothing,
            _ if self.was_narrow(row.point, &figures, until) => WhyStopped::Narrow,
            _ if until.repeat_max <= round => WhyStopped::Most,
            _ if until.limit.is_some_and(|limit| limit.as_nanos() <= self.took_before(round)) => {
                WhyStopped::OutOfTime
            }
            Some(_) | None => return None,
        };
        Some(Stopped { why, figure, within, rounds: figures.len() })
    }

    /// Whether the interval was narrow enough before the last rounds.
    fn was_narrow(&self, point: Point, figures: &[RoundFigures], until: Until) -> bool {
        let last = figures.len().saturating_sub(MORE);
        let is_narrow = |rounds: usize| {
            judged(point, &figures[..rounds]).1.is_some_and(|within| within <= until.within)
        };
        (self.least as usize..=last).any(is_narrow)
    }

    /// How long all trials of the rounds before took: from their starts to the ends of their loads, with the rests.
    fn took_before(&self, round: u32) -> u128 {
        let before = self.trials.iter().filter(|trial| trial.key.repeat < round);
        before.map(|trial| u128::from(trial.took)).sum()
    }
}

fn is_same_row(one: &TrialKey, other: &TrialKey) -> bool {
    (&one.subject, &one.workload, one.point) == (&other.subject, &other.workload, other.point)
}

/// The figure by which rounds are judged, and how far its interval extends to either side. A server that keeps up with
/// a schedule achieves the schedule's rate: there it is the p99.
fn judged(point: Point, rounds: &[RoundFigures]) -> (Figure, Option<f64>) {
    let is_given = point.is_scheduled() && !rounds.iter().any(|round| round.is_behind);
    let figure = if is_given { Figure::ResponseP99 } else { Figure::Throughput };
    let value = |round: &RoundFigures| if is_given { round.p99 } else { round.throughput };
    let values: Option<Vec<f64>> = rounds.iter().map(value).collect();
    let found = values.and_then(|values| interval(&values)).filter(|(low, _)| 0.0 < *low);
    (figure, found.map(|(low, high)| (high / low).sqrt() - 1.0))
}

#[cfg(test)]
mod tests;
