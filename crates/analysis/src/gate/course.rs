//! The pairs of a gate, as their trials come: which of them count, what they differ by, and whether they suffice.

use std::collections::BTreeMap;

use lab::experiment::{Experiment, Pairs, Point, Subjects};
use lab::figure::{Better, Figure, Number, Terms};
use lab::record::{OutcomeKind, TrialRecord};
use load::Nanos;

use super::{Answer, Bounds, Difference, Rule, decided};
use crate::conduct::{Conduct, Faults, Tolerated};
use crate::doubt::{
    Definition, Doubt, OWN_FAILURES, answers, doubts, ending, generator, machine, subject,
};
use crate::figures::Figures;
use crate::verdict::Gravity;

/// After so many pairs of which none counts, none will.
const IN_VAIN: usize = 3;

/// So many pairs at least, before it is said that too many of them were disturbed.
const ENOUGH: usize = 6;

/// The sides of a gate, and the pairs that there are of them.
#[derive(Clone, Debug)]
pub struct GateCourse {
    pairs: Pairs,
    /// The base, the head, and perhaps the base once more.
    sides: Vec<String>,
    point: Point,
    /// Both of a pair live at once; otherwise one follows the other.
    is_together: bool,
    terms: Terms,
    tolerated: Tolerated,
    rounds: BTreeMap<u32, Vec<Option<Tried>>>,
}

/// One side of a pair.
#[derive(Clone, Debug)]
struct Tried {
    outcome: OutcomeKind,
    figures: Figures,
    faults: Faults,
    /// Why it does not count.
    disturbed: Option<Doubt>,
    took: Nanos,
}

/// A figure of both sides of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOf {
    pub base: f64,
    /// The head's, or the control's.
    pub side: f64,
    /// Which of the two are bounds: the true one is no less.
    pub are_bounds: [bool; 2],
    /// No side of the pair was disturbed.
    pub counts: bool,
}

/// Which side is compared with the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    Head,
    /// The base, once more.
    Control,
}

impl Against {
    fn place(self) -> usize {
        match self {
            Against::Head => 1,
            Against::Control => 2,
        }
    }
}

impl GateCourse {
    /// The course of an experiment whose rounds are pairs; none of another.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Option<GateCourse> {
        let pairs = experiment.pairs.clone()?;
        let Subjects::Named(sides) = &experiment.subjects else { return None };
        let (sides, terms) = (sides.clone(), Terms::of(Some(experiment)));
        let point = *experiment.points.first()?;
        let is_together = experiment.slices.is_some();
        let (tolerated, rounds) = (Tolerated::by(Some(experiment)), BTreeMap::new());
        Some(GateCourse { pairs, sides, point, is_together, terms, tolerated, rounds })
    }

    /// The load of all pairs.
    #[must_use]
    pub fn point(&self) -> Point {
        self.point
    }

    /// Adds a trial that is over.
    pub fn add(&mut self, trial: &TrialRecord) {
        let Some(place) = self.sides.iter().position(|side| *side == trial.key.subject) else {
            return;
        };
        let found = doubts(trial, self.terms);
        let tried = Tried {
            outcome: trial.outcome.kind,
            figures: Figures::of(trial, self.terms),
            faults: Faults::of(trial.loaded.iter().map(|loaded| &loaded.recording.total)),
            disturbed: found.into_iter().find(|doubt| self.is_disturbed_by(doubt)),
            took: trial.load_ended(),
        };
        let sides = self.sides.len();
        let round = self.rounds.entry(trial.key.repeat).or_insert_with(|| vec![None; sides]);
        round[place] = Some(tried);
    }

    fn is_disturbed_by(&self, doubt: &Doubt) -> bool {
        let gates_cpu = || self.pairs.figures.contains(&Figure::CpuPerThousand);
        is_disturbance(doubt) || doubt.is(&subject::LEFT_CGROUP) && gates_cpu()
    }

    /// How many pairs were tried.
    #[must_use]
    pub fn tried(&self) -> usize {
        self.rounds.len()
    }

    /// How many of them count.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.counting(u32::MAX).count()
    }

    /// What disturbed the others, where it is known: a doubt for each of them.
    pub fn disturbances(&self) -> impl Iterator<Item = &Doubt> {
        let disturbed = self.rounds.values().filter(|round| !counts(round));
        disturbed
            .filter_map(|round| round.iter().flatten().find_map(|side| side.disturbed.as_ref()))
    }

    /// How a side's trials ended that were no measurements, while those of the base were.
    #[must_use]
    pub fn failed(&self, against: Against) -> Vec<OutcomeKind> {
        self.rounds.values().filter_map(|round| failed_alone(round, against)).collect()
    }

    /// The geometric means of a figure, the base's and the side's: over the pairs that count, or over all where none does.
    #[must_use]
    pub fn means(&self, figure: Figure, against: Against) -> Option<[f64; 2]> {
        means(&self.pairs(figure, against), usize::MAX)
    }

    /// How base and head answered, over all pairs.
    #[must_use]
    pub fn conduct(&self) -> [Conduct; 2] {
        self.conduct_before(u32::MAX)
    }

    fn conduct_before(&self, round: u32) -> [Conduct; 2] {
        [0, Against::Head.place()].map(|place| {
            let rounds = self.rounds.range(..round).map(|(_, round)| round);
            let sides = rounds.filter_map(|round| round.get(place)?.as_ref());
            let all = Faults::sum(sides.map(|side| side.faults));
            Conduct::of(all, self.tolerated)
        })
    }

    /// More than a third of the pairs were disturbed.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.is_disturbed_before(u32::MAX)
    }

    fn is_disturbed_before(&self, round: u32) -> bool {
        let tried = self.rounds.range(..round).count();
        let disturbed = tried - self.counting(round).count();
        tried < 3 * disturbed
    }

    fn counting(&self, before: u32) -> impl Iterator<Item = &Vec<Option<Tried>>> {
        let earlier = self.rounds.range(..before).map(|(_, round)| round);
        earlier.filter(|round| counts(round))
    }

    /// The differences of the pairs that count, in their order: logarithms of ratios, above zero where the side is
    /// worse than the base.
    #[must_use]
    pub fn differences(&self, figure: Figure, against: Against) -> Vec<f64> {
        self.compared(figure, against).iter().map(|it| it.value).collect()
    }

    /// The differences of the pairs that count, with what bounds leave open.
    #[must_use]
    pub fn compared(&self, figure: Figure, against: Against) -> Vec<Difference> {
        self.compared_before(figure, against, u32::MAX)
    }

    fn compared_before(&self, figure: Figure, against: Against, before: u32) -> Vec<Difference> {
        let differences =
            self.counting(before).map(|round| difference(round, figure, against.place()));
        match self.pairs.builds {
            None => differences.flatten().collect(),
            // Where a pair lacks the figure, those after it would be taken for pairs of other builds.
            Some(_) => differences.map_while(|difference| difference).collect(),
        }
    }

    /// How many builds of each side take turns; none: all pairs are of one build.
    #[must_use]
    pub fn builds(&self) -> Option<usize> {
        self.pairs.builds.map(|builds| builds as usize)
    }

    /// Which of the builds this pair is of. A pair that was disturbed is repeated with the same ones.
    pub(crate) fn build_of(&self, round: u32) -> usize {
        self.pairs.builds.map_or(0, |builds| self.counting(round).count() % builds as usize)
    }

    /// What each pair shows of which both sides were measured, whether it counts or not.
    #[must_use]
    pub fn pairs(&self, figure: Figure, against: Against) -> Vec<PairOf> {
        let number = |round: &[Option<Tried>], place| measured(round, place, figure);
        let pair = |round: &Vec<Option<Tried>>| {
            let (base, side) = (number(round, 0)?, number(round, against.place())?);
            let are_bounds = [base.is_bound, side.is_bound];
            Some(PairOf { base: base.value, side: side.value, are_bounds, counts: counts(round) })
        };
        self.rounds.values().filter_map(pair).collect()
    }

    /// Whether the pairs before this round suffice, or no more of them are of any use.
    pub(crate) fn is_over_before(&self, round: u32) -> bool {
        let (tried, counted) = (self.rounds.range(..round).count(), self.counting(round).count());
        let figures = || self.pairs.figures.iter();
        let differences = |figure: &Figure| self.compared_before(*figure, Against::Head, round);
        let is_faulty = || !self.conduct_before(round).into_iter().all(Conduct::is_tolerated);
        let lacks = || figures().any(|figure| differences(figure).is_empty());
        let in_vain = IN_VAIN <= tried && (lacks() || is_faulty());
        if in_vain || (ENOUGH <= tried && self.is_disturbed_before(round)) {
            return true;
        }
        let is_late = |limit: std::time::Duration| limit.as_nanos() <= self.took_before(round);
        if self.pairs.most as usize <= counted || self.pairs.limit.is_some_and(is_late) {
            return true;
        }
        if self.pairs.figures.is_empty() {
            return false;
        }
        let level = self.pairs.level;
        let rule = Rule::of(&self.pairs, level);
        let answer = |figure| Some(decided(&differences(figure), rule, level)?.answer);
        let answers: Vec<Option<Answer>> = figures().map(answer).collect();
        answers.contains(&Some(Answer::Worse)) || answers.iter().all(Option::is_some)
    }

    /// How long the pairs before took.
    fn took_before(&self, round: u32) -> u128 {
        let of_pair = |sides: &Vec<Option<Tried>>| {
            let took = sides.iter().flatten().map(|side| u128::from(side.took));
            if self.is_together { took.max().unwrap_or(0) } else { took.sum() }
        };
        self.rounds.range(..round).map(|(_, sides)| of_pair(sides)).sum()
    }
}

/// The pairs of which a finding of so many is made: more may have been measured for another figure. All where none counts.
pub(super) fn judged_pairs(pairs: &[PairOf], judged: usize) -> impl Iterator<Item = &PairOf> {
    let of_all = !pairs.iter().any(|pair| pair.counts);
    // What has no logarithm has no difference.
    let has_difference = |pair: &PairOf| 0.0 < pair.base && 0.0 < pair.side;
    let counting = pairs.iter().filter(move |pair| of_all || pair.counts && has_difference(pair));
    counting.take(if of_all { usize::MAX } else { judged })
}

/// The geometric means of such pairs, the base's and the side's.
pub(super) fn means(pairs: &[PairOf], judged: usize) -> Option<[f64; 2]> {
    let mean = |of: fn(&PairOf) -> f64| {
        let logs: Vec<f64> = judged_pairs(pairs, judged).map(|pair| of(pair).ln()).collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    };
    Some([mean(|pair| pair.base), mean(|pair| pair.side)])
        .filter(|means| means.iter().all(|it| it.is_finite()))
}

/// How the side ended, where the base was measured and the side failed by itself.
fn failed_alone(round: &[Option<Tried>], against: Against) -> Option<OutcomeKind> {
    let [base, side] = [0, against.place()].map(|place| Some(round.get(place)?.as_ref()?.outcome));
    let (base, side) = (base?, side?);
    let is_failure = matches!(side, OutcomeKind::NotReady | OutcomeKind::Wrong | OutcomeKind::Died);
    (base == OutcomeKind::Measured && is_failure).then_some(side)
}

/// How much worse this side of the round is than its base, as a logarithm.
fn difference(round: &[Option<Tried>], figure: Figure, side: usize) -> Option<Difference> {
    let number = |place| measured(round, place, figure).filter(|number| 0.0 < number.value);
    let (base, side) = (number(0)?, number(side)?);
    // Of a figure that is more where it is better, less of it is worse.
    let bounds = Bounds { may_be_worse: side.is_bound, may_be_better: base.is_bound };
    let higher = Difference { value: (side.value / base.value).ln(), bounds };
    Some(if figure.better() == Better::Higher { higher.reversed() } else { higher })
}

/// A figure of one side of the round, if the side was measured.
fn measured(round: &[Option<Tried>], place: usize, figure: Figure) -> Option<Number> {
    let side = round.get(place)?.as_ref()?;
    let number = side.figures.get(figure).filter(|number| number.value.is_finite())?;
    (side.outcome == OutcomeKind::Measured).then_some(number)
}

/// Whether a pair counts: all of its sides were measured, and none was disturbed. One side alone is never left out.
fn counts(round: &[Option<Tried>]) -> bool {
    round.iter().all(|side| {
        side.as_ref()
            .is_some_and(|side| side.outcome == OutcomeKind::Measured && side.disturbed.is_none())
    })
}

/// With these the machine or dyno may have made the figure, and not the server.
const DISTURBANCES: [Definition; 7] = [
    generator::INSTRUMENT_STOOD_STILL,
    machine::CPU_STOLEN,
    machine::MACHINE_NOISE,
    machine::CLOCK_STEP,
    subject::TWIN_BUSY,
    subject::SHORT_SLICES,
    OWN_FAILURES,
];
/// With these, too, unless it was agents that were late or busy: they were so for both sides of a pair.
const OWN_LIMITS: [Definition; 3] =
    [generator::INSTRUMENT_LATE, generator::INSTRUMENT_BUSY, generator::INSTRUMENT_STARVED];
/// These are the server's own.
const ITS_OWN: [Definition; 2] = [ending::NOT_MEASURED, answers::SILENCE];

fn is_disturbance(doubt: &Doubt) -> bool {
    let is_own_limit = doubt.is_any(&OWN_LIMITS) && !doubt.is_of_agents;
    let is_invalid = doubt.gravity() == Gravity::Invalid && !doubt.is_any(&ITS_OWN);
    doubt.is_any(&DISTURBANCES) || is_own_limit || is_invalid
}

#[cfg(test)]
mod tests;
