//! A gate: is the head slower than the base? Pairs of fresh processes give a difference each, and after 6, 8, 10, 12,
//! 16 and 20 of them it is looked whether they suffice for an answer. docs/gate.md has the rule and its error rates.

mod bound;
mod builds;
mod course;
mod difference;
mod family;
mod planning;
mod pooled;
mod serial;
mod signs;
mod verdict;

pub use bound::{bound, level_allowed};
pub use builds::{BUILDS, looks, most};
pub use course::{Against, GateCourse, PairOf};
use course::{judged_pairs, means};
pub use difference::{Bounds, Difference};
pub use family::judged;
pub use planning::{least_shown, pairs_needed};
pub use pooled::{ENOUGH, Pooled};
pub use signs::{false_alarms, flipped_p};
pub use verdict::{Gated, Verdict, Weighed, Weighing, WhyUnclear, WhyWorse, weigh};

use lab::experiment::Pairs;
use lab::named;

use crate::student;

/// After how many pairs it is looked whether there is an answer.
pub const LOOKS: [usize; 6] = [6, 8, 10, 12, 16, 20];

/// The most pairs that are used.
pub const MOST: usize = LOOKS[LOOKS.len() - 1];

/// What sign flips must at least confirm of a head that seems worse.
const CONFIRMED: f64 = 0.05;

/// Differences that spread less than this are not believed to: no clock and no counter is so exact.
const LEAST_SPREAD: f64 = 1e-6;

/// What is asked, and how often the answer may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The probability that equal code is called worse, over all that is gated.
    pub alpha: f64,
    /// A head that is worse by so much is to be found: 0.05 is 5 %.
    pub detect: f64,
    /// The probability that a head which is worse by that is called no worse.
    pub missed: f64,
    /// So many builds of each side take turns; none: all pairs are of one build.
    pub builds: Option<usize>,
}

impl Rule {
    /// 1 %, 5 % and 5 %, of one build.
    #[must_use]
    pub fn usual() -> Rule {
        Rule { alpha: 0.01, detect: 0.05, missed: 0.05, builds: None }
    }

    /// The rule of pairs, with this probability that equal code is called worse.
    #[must_use]
    pub fn of(pairs: &Pairs, alpha: f64) -> Rule {
        let builds = pairs.builds.map(|builds| builds as usize);
        Rule { alpha, detect: pairs.detect, missed: pairs.missed, builds }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The head is worse than the base, by however much.
    Worse,
    /// It is not worse by what is to be found, or by more.
    NotWorse,
    CannotTell(Unclear),
}

named! {
    /// Why there is no answer.
    pub enum Unclear {
        /// There are fewer pairs than the first look needs.
        FewPairs = "few_pairs",
        /// The pairs lie too far apart.
        Wide = "wide",
        /// Neighbouring pairs are too alike: each of them says less than the rule counts on.
        Serial = "serial",
        /// With other signs of the pairs it would seem as bad too often: one pair decides.
        OnePair = "one_pair",
        /// Times are bounds, because requests were given up, and the true ones may change the answer.
        Bounds = "bounds",
    }
}

/// What the pairs of one figure say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    pub answer: Answer,
    /// How many pairs it is made of.
    pub pairs: usize,
    /// How many of these know nothing of one another: all, or of several builds as many as builds.
    pub units: usize,
    /// The mean of their differences: logarithms of ratios, above zero where the head is worse.
    pub mean: f64,
    /// How far they, or the builds' means, lie apart, as a standard deviation.
    pub spread: f64,
    /// The half-width of the mean's 95 % interval; none for fewer than two pairs.
    pub half: Option<f64>,
    /// Whether the true mean may lie beyond it, because times are bounds.
    pub bounds: Bounds,
}

/// The answer at the first look that gives one; none if more pairs may give one. `level` is the probability of a false
/// alarm that this figure has for itself.
#[must_use]
pub fn decided<D: Copy + Into<Difference>>(
    differences: &[D],
    rule: Rule,
    level: f64,
) -> Option<Finding> {
    let looks = looks(rule.builds).into_iter().filter(|look| *look <= differences.len());
    let mut answers = looks.map(|look| (look, look_at(&differences[..look], rule, level)));
    let found = answers.find(|(_, answer)| !matches!(answer, Answer::CannotTell(_)));
    if let Some((look, answer)) = found {
        return Some(finding(&differences[..look], answer, rule));
    }
    (most(rule.builds) <= differences.len()).then(|| concluded(differences, rule, level))
}

/// The answer of all pairs that there are.
#[must_use]
pub fn concluded<D: Copy + Into<Difference>>(differences: &[D], rule: Rule, level: f64) -> Finding {
    let differences = &differences[..differences.len().min(most(rule.builds))];
    let mut last = Answer::CannotTell(Unclear::FewPairs);
    for look in looks(rule.builds).into_iter().filter(|look| *look <= differences.len()) {
        last = look_at(&differences[..look], rule, level);
        if !matches!(last, Answer::CannotTell(_)) {
            return finding(&differences[..look], last, rule);
        }
    }
    finding(&differences[..builds::even(differences.len(), rule.builds)], last, rule)
}

/// What so many pairs say, at one of the looks.
fn look_at<D: Copy + Into<Difference>>(differences: &[D], rule: Rule, level: f64) -> Answer {
    let pairs = differences.len();
    let (values, bounds) = difference::split(differences);
    let differences = &builds::units(&values, rule.builds);
    let serial = serial::Serial::of(differences);
    let (mean, spread) = mean_and_spread(differences);
    // Where neighbours are alike, the mean is less sure than as many separate pairs would make it.
    let error = spread / (differences.len() as f64).sqrt();
    let bound = |level: f64| builds::bound_of(rule.builds, level, pairs);
    let crosses = |sure: f64| {
        let is_worse = bound(level) < sure * mean / error;
        let is_not_worse = bound(rule.missed) < sure * (rule.detect.ln_1p() - mean) / error;
        (is_worse, is_not_worse)
    };
    let found = match serial.is_found() {
        false => crosses(serial.shrinks()),
        // How alike they are is not known well: only what holds whatever it is counts.
        true => match crosses(serial::LEAST_SURE) {
            (false, false) if crosses(1.0) != (false, false) => {
                return Answer::CannotTell(Unclear::Serial);
            }
            found => found,
        },
    };
    match found {
        // Of a bound the mean is the least, or the most, that the true one can be.
        (true, _) if bounds.may_be_better => Answer::CannotTell(Unclear::Bounds),
        (false, true) if bounds.may_be_worse => Answer::CannotTell(Unclear::Bounds),
        (true, _) if CONFIRMED < flipped_p(differences) => Answer::CannotTell(Unclear::OnePair),
        (true, _) => Answer::Worse,
        (false, true) => Answer::NotWorse,
        (false, false) => Answer::CannotTell(Unclear::Wide),
    }
}

fn finding<D: Copy + Into<Difference>>(differences: &[D], answer: Answer, rule: Rule) -> Finding {
    let (values, bounds) = difference::split(differences);
    let (pairs, differences) = (values.len(), builds::units(&values, rule.builds));
    let units = differences.len();
    let (mean, spread) = mean_and_spread(&differences);
    let half = (2 <= units).then(|| {
        student::point(student::OUTSIDE, units as f64 - 1.0) * spread / (units as f64).sqrt()
    });
    Finding { answer, pairs, units, mean, spread, half, bounds }
}

impl Finding {
    /// How far its units lie apart; none for fewer than two.
    #[must_use]
    pub fn known_spread(&self) -> Option<f64> {
        (2 <= self.units).then_some(self.spread)
    }
}

/// The mean, and the standard deviation.
#[must_use]
pub fn mean_and_spread(differences: &[f64]) -> (f64, f64) {
    let count = differences.len() as f64;
    if differences.len() < 2 {
        return (differences.first().copied().unwrap_or(0.0), LEAST_SPREAD);
    }
    let (mean, squares) = student::moments(differences);
    (mean, (squares / (count - 1.0)).sqrt().max(LEAST_SPREAD))
}

#[cfg(test)]
mod tests;
