//! The one rule for "does B differ from A?": paired rounds of one run or the rounds of two runs, and one correction over
//! all statements that one output makes. docs/difference.md has the rule and its error rates.
//!
//! A comparison alone states nothing. `decide` takes all comparisons of an output and gives each the interval that
//! decides it: a difference is stated exactly where that interval excludes it.

use lab::figure::{Better, Figure, Number};
use lab::named;

use crate::dunnett;
use crate::student::{self, OUTSIDE, welch};

/// The probability that an output names any difference among equals: where it makes one statement, that its interval
/// does not hold the truth.
pub(crate) const ALPHA: f64 = OUTSIDE;
/// The share of it that the headline figures have among themselves. All other figures have the rest, and what a stated
/// difference frees flows on to those that are left.
pub(crate) const HEADLINE: f64 = 0.95;
/// The spread of all sides counts as much as the rounds of so many other pairs, ...
const OTHERS: f64 = 3.0;
/// ... and has at most so many degrees of freedom: with many rounds a pair's own say more.
const MOST: f64 = 12.0;
/// How many times the level of all sides is the one at which the rounds of two must show a difference by themselves.
const ALONE: f64 = 2.0;
/// A histogram has three digits: rounds that agree in all of them may still differ by so much.
const RESOLUTION: f64 = 0.001;

/// One figure, compared between two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub figure: Figure,
    /// The geometric means of A's rounds and of B's.
    pub means: [f64; 2],
    pub rounds: [usize; 2],
    /// B's mean divided by A's.
    pub ratio: f64,
    /// The interval of the ratio that decides the finding: a 95 % interval at least, and wider where the output makes
    /// more statements; where B is found within the tolerance, the 95 % interval. Of a bound it is open on the side where
    /// the true ratio may lie: it ends there at infinity, or at 0.
    pub interval: (f64, f64),
    /// The probability that the interval does not hold the true ratio: 0.05 is a 95 % interval.
    pub outside: f64,
    /// How likely chance alone makes a difference at least this large, by the rounds of these two sides.
    pub p: f64,
    /// The p-value of what is tested, adjusted for all statements of the output.
    pub adjusted_p: f64,
    /// One side's rounds are bounds, and the true ratio is further from 1 than this one.
    pub is_bound: bool,
    /// Every round of both sides had enough samples for it.
    pub is_supported: bool,
    /// B is worse only if it is so by more than this: 0.05 is 5 %. None: any difference counts.
    tolerance: Option<f64>,
    finding: Change,
    /// By the rounds of these two sides, and as it is decided: with the rounds of all sides.
    own: Spread,
    judged: Spread,
    /// The standard error of the ratio's logarithm, by either.
    own_error: f64,
    judged_error: f64,
    /// How many times the probability of a false statement it may have by its own rounds.
    leeway: f64,
    /// It is one of several that are of the same figure and have the first side in common.
    is_of_many: bool,
    /// How many degrees of freedom each further round adds.
    freedom_a_round: f64,
}

/// How far the ratios of rounds lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The variance of the logarithm of a round's ratio.
    variance: f64,
    freedom: f64,
}

/// What a comparison shows about B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Better,
    /// By more than the tolerance, where there is one.
    Worse,
    /// It differs, and neither way is better.
    Differs,
    /// It is not shown to be better, and is no worse than the tolerance allows.
    Within,
    /// No difference that this data can show.
    NotShown,
}

named! {
    /// Why a figure was not compared.
    pub enum Why {
        /// A side has no such number.
        Missing = "missing" => "not measured",
        /// A side has only one round, and nothing shows how far its rounds lie apart.
        OneRound = "one_round" => "one round",
        /// A round measured 0, for which there are no ratios.
        Nothing = "zero" => "a round has 0",
        /// Both kept up with the offered load.
        KeptUp = "kept_up" => "both kept up",
        /// Rounds are bounds, and do not show which side is greater.
        Bounds = "bounds" => "only bounds",
        /// A side answered more requests wrongly, or failed more of them, than is tolerated.
        Faults = "faults" => "wrong answers or failures",
    }
}

/// The rounds of two runs: Welch's comparison of their logarithms.
pub(crate) fn unpaired(figure: Figure, a: &[Number], b: &[Number]) -> Result<Comparison, Why> {
    comparable(a, b)?;
    let ((a_mean, a_variance), (b_mean, b_variance)) = (logarithms(a), logarithms(b));
    let (a_count, b_count) = (a.len() as f64, b.len() as f64);
    // The two sides may have different variances.
    let (error, freedom) =
        welch(&[(a_variance / a_count, a_count - 1.0), (b_variance / b_count, b_count - 1.0)]);
    let spread = Spread { variance: a_variance + b_variance, freedom };
    let own = Own { spread, error, freedom_a_round: 2.0 };
    made(figure, [a, b], [a_mean, b_mean], own)
}

/// Two sides of one run, round by round: what all of a round have in common is in no difference.
pub(crate) fn paired(figure: Figure, rounds: &[[Number; 2]]) -> Result<Comparison, Why> {
    let [a, b] = [0, 1].map(|side| rounds.iter().map(|round| round[side]).collect::<Vec<_>>());
    comparable(&a, &b)?;
    let ratio = |[a, b]: &[Number; 2]| Number { value: b.value / a.value, ..*a };
    let ratios: Vec<Number> = rounds.iter().map(ratio).collect();
    let (_, variance) = logarithms(&ratios);
    let count = rounds.len() as f64;
    let own = Own {
        spread: Spread { variance, freedom: count - 1.0 },
        error: (variance / count).sqrt(),
        freedom_a_round: 1.0,
    };
    made(figure, [&a, &b], [logarithms(&a).0, logarithms(&b).0], own)
}

fn comparable(a: &[Number], b: &[Number]) -> Result<(), Why> {
    if a.is_empty() || b.is_empty() {
        return Err(Why::Missing);
    }
    if a.len() < 2 || b.len() < 2 {
        return Err(Why::OneRound);
    }
    if a.iter().chain(b).any(|number| number.value <= 0.0) {
        return Err(Why::Nothing);
    }
    Ok(())
}

/// What the rounds of two sides say of their spread.
#[derive(Clone, Copy)]
struct Own {
    spread: Spread,
    error: f64,
    freedom_a_round: f64,
}

/// Alone, until all statements of its output are decided.
fn made(
    figure: Figure,
    [a, b]: [&[Number]; 2],
    [a_mean, b_mean]: [f64; 2],
    Own { spread: own, error, freedom_a_round }: Own,
) -> Result<Comparison, Why> {
    let difference = b_mean - a_mean;
    let p = student::two_sided(difference / error, own.freedom);
    let mut comparison = Comparison {
        figure,
        means: [a_mean.exp(), b_mean.exp()],
        rounds: [a.len(), b.len()],
        ratio: difference.exp(),
        interval: (0.0, f64::INFINITY),
        outside: ALPHA,
        p,
        adjusted_p: p,
        is_bound: is_bound(a, b, difference, p)?,
        is_supported: a.iter().chain(b).all(|number| number.is_supported),
        tolerance: None,
        finding: Change::NotShown,
        own,
        judged: own,
        own_error: error,
        judged_error: error,
        leeway: 1.0,
        is_of_many: false,
        freedom_a_round,
    };
    comparison.decide(ALPHA, 1);
    Ok(comparison)
}

/// Mean and variance of the logarithms of the numbers.
fn logarithms(numbers: &[Number]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().map(|number| number.value.ln()).sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number.value.ln() - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).max(RESOLUTION.powi(2)))
}

/// If one side is a lower bound, and already seems greater, the true difference is even larger.
fn is_bound(a: &[Number], b: &[Number], difference: f64, p: f64) -> Result<bool, Why> {
    let is_any = |numbers: &[Number]| numbers.iter().any(|number| number.is_bound);
    match (is_any(a), is_any(b)) {
        (false, false) => Ok(false),
        (false, true) if 0.0 < difference && p < ALPHA => Ok(true),
        (true, false) if difference < 0.0 && p < ALPHA => Ok(true),
        (false | true, false | true) => Err(Why::Bounds),
    }
}

/// The spread of the sides of one run, from the rounds in which all of them were measured: what is left of each value
/// when the means of its round and of its side are taken away. With few rounds it is known far better than that of two
/// sides alone. Two sides have no other rounds than their own.
pub(crate) fn shared_spread(rounds: &[Vec<Number>]) -> Option<Spread> {
    let (count, sides) = (rounds.len(), rounds.first()?.len());
    let is_zero = |number: &Number| number.value <= 0.0;
    if count < 2 || sides < 3 || rounds.iter().flatten().any(is_zero) {
        return None;
    }
    let logarithms: Vec<Vec<f64>> =
        rounds.iter().map(|round| round.iter().map(|number| number.value.ln()).collect()).collect();
    let of_rounds: Vec<f64> =
        logarithms.iter().map(|round| round.iter().sum::<f64>() / sides as f64).collect();
    let of_sides: Vec<f64> = (0..sides)
        .map(|side| logarithms.iter().map(|round| round[side]).sum::<f64>() / count as f64)
        .collect();
    let whole = of_sides.iter().sum::<f64>() / sides as f64;
    let mut squares = 0.0;
    for (round, of_round) in logarithms.iter().zip(of_rounds) {
        for (value, of_side) in round.iter().zip(&of_sides) {
            squares += (value - of_round - of_side + whole).powi(2);
        }
    }
    let freedom = ((count - 1) * (sides - 1)) as f64;
    // The ratio of two sides has the variance of both.
    let variance = (2.0 * squares / freedom).max(RESOLUTION.powi(2));
    Some(Spread { variance, freedom })
}

/// The spread of ratios that have no side in common, such as the prices of several servers.
pub(crate) fn common_spread<'c>(made: impl Iterator<Item = &'c Comparison>) -> Option<Spread> {
    let spreads: Vec<Spread> = made.map(|comparison| comparison.own).collect();
    let freedom: f64 = spreads.iter().map(|own| own.freedom).sum();
    let variance = spreads.iter().map(|own| own.freedom * own.variance).sum::<f64>() / freedom;
    (1 < spreads.len()).then_some(Spread { variance, freedom })
}

/// Judges comparisons of one figure by the spread that their sides share, and each also by its own rounds: the more of
/// them there are, the more they count. Sides may be unlike. Where these comparisons spread further on average than what
/// they share, that counts; and the rounds of each must show its difference by themselves, too, at twice the level that
/// all of these comparisons have together, with a spread that is taken half from them and half from the average.
pub(crate) fn share_spread(made: &mut [&mut Comparison], shared: Option<Spread>) {
    let Some(shared) = shared else { return };
    let sum: f64 = made.iter().map(|comparison| comparison.own.variance).sum();
    let leeway = ALONE * made.len() as f64;
    let average = sum / made.len() as f64;
    for comparison in made {
        let rounds = comparison.rounds[0].min(comparison.rounds[1]) as f64;
        let own = comparison.own;
        let others = (OTHERS * own.freedom).min(MOST);
        let freedom = others + own.freedom;
        let squares = others * shared.variance.max(average) + own.freedom * own.variance;
        comparison.judged =
            Spread { variance: squares / freedom, freedom: freedom.min(shared.freedom) };
        comparison.judged_error = (comparison.judged.variance / rounds).sqrt();
        let alone = f64::midpoint(own.variance, average);
        (comparison.own_error, comparison.leeway) = ((alone / rounds).sqrt(), leeway);
    }
}

/// Says of comparisons with the same side, whose spread is shared, that they are large together: Dunnett's distribution
/// has the largest of them.
pub(crate) fn join(made: &mut [&mut Comparison]) {
    let is_shared = made.iter().all(|comparison| 1.0 < comparison.leeway);
    made.iter_mut().for_each(|comparison| comparison.is_of_many = is_shared);
}

/// Decides all statements that one output makes, each with its weight, so that the probability that even one of them
/// is a difference among equals is at most 1 in 20: Holm's method with weights, and Dunnett's among those that have a side
/// in common, whose weights are equal. `reserved` is the weight of statements that are decided elsewhere.
pub(crate) fn decide(mut statements: Vec<(f64, &mut Comparison)>, reserved: f64) {
    let mut many = statements.iter().filter(|(_, comparison)| comparison.is_of_many).count();
    for (_, comparison) in &mut statements {
        comparison.adjusted_p = comparison.alone(many);
    }
    statements.sort_by(|(weight, one), (other_weight, other)| {
        (one.adjusted_p / weight).total_cmp(&(other.adjusted_p / other_weight))
    });
    let mut left = reserved + statements.iter().map(|(weight, _)| weight).sum::<f64>();
    let (mut highest, mut sharing, mut together) = (0.0_f64, left, many);
    for (weight, comparison) in statements {
        // By itself it is what it was above.
        let p = if comparison.is_of_many { comparison.alone(many) } else { comparison.adjusted_p };
        highest = highest.max(p * left / weight).min(1.0);
        comparison.adjusted_p = highest;
        comparison.decide(ALPHA * weight / sharing, together);
        left = (left - weight).max(0.0);
        many -= usize::from(comparison.is_of_many);
        // Only a stated difference frees its share for the others.
        if highest < ALPHA {
            (sharing, together) = (left, many);
        }
    }
}

/// The weights of the statements of an output: the headline figures share 19/20, all others the rest.
pub(crate) fn weights(is_headline: &[bool]) -> Vec<f64> {
    let headlines = is_headline.iter().filter(|it| **it).count() as f64;
    let others = is_headline.len() as f64 - headlines;
    let weight = |&is: &bool| if is { HEADLINE / headlines } else { (1.0 - HEADLINE) / others };
    is_headline.iter().map(weight).collect()
}

impl Comparison {
    /// B is worse only if it is so by more than this.
    pub(crate) fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = Some(tolerance);
    }

    /// Half of the width of an interval of the logarithm, by the rounds of the two sides.
    fn own_half(&self, outside: f64) -> f64 {
        student::point(outside, self.own.freedom) * self.own_error
    }

    /// The p-value of what is tested, that B differs, or is worse by more than the tolerance, as one of `many` that have
    /// a side in common: what each of them has of the probability that any is so large. Whatever other sides are like, the
    /// rounds of these two must show it by themselves, too.
    fn alone(&self, many: usize) -> f64 {
        let beyond = (self.ratio.ln().abs() - self.tolerated()).max(0.0);
        let own = student::two_sided(beyond / self.own_error, self.own.freedom);
        if ALONE * ALPHA <= own {
            return 1.0;
        }
        let (t, freedom) = (beyond / self.judged_error, self.judged.freedom);
        let judged = match self.is_of_many {
            true => dunnett::any(t, many, freedom) / many as f64,
            false => student::two_sided(t, freedom),
        };
        judged.max(own / self.leeway)
    }

    /// How far the ratio may be from 1 on its side, as a logarithm: a tolerance is for what is worse.
    fn tolerated(&self) -> f64 {
        let tolerance = self.tolerance.unwrap_or(0.0);
        match self.figure.better() {
            Better::Higher if self.ratio < 1.0 => -(-tolerance).ln_1p(),
            Better::Lower if 1.0 < self.ratio => tolerance.ln_1p(),
            Better::Higher | Better::Lower | Better::Neither => 0.0,
        }
    }

    /// By the interval that does not hold the truth with this probability, or not that of any of `many` that have a side in
    /// common with so many times this probability.
    fn decide(&mut self, outside: f64, many: usize) {
        let freedom = self.judged.freedom;
        let alone = self.own_half((self.leeway * outside).min(ALONE * ALPHA));
        let (point, outside) = match self.is_of_many {
            true => {
                let point = dunnett::point(outside * many as f64, many, freedom);
                (point, student::two_sided(point, freedom))
            }
            false => (student::point(outside, freedom), outside),
        };
        let half = alone.max(point * self.judged_error);
        let (deciding, own) = (self.around(half), self.around(self.own_half(ALPHA)));
        let tolerance = self.tolerance.unwrap_or(0.0);
        let is_within = |(low, high): (f64, f64)| match self.figure.better() {
            Better::Higher => 1.0 - tolerance <= low,
            Better::Lower => high <= 1.0 + tolerance,
            Better::Neither => 1.0 - tolerance <= low && high <= 1.0 + tolerance,
        };
        let (is_less, is_more) = (deciding.1 < 1.0, 1.0 < deciding.0);
        self.finding = match self.figure.better() {
            Better::Higher if is_more => Change::Better,
            Better::Lower if is_less => Change::Better,
            Better::Higher if deciding.1 < 1.0 - tolerance => Change::Worse,
            Better::Lower if 1.0 + tolerance < deciding.0 => Change::Worse,
            Better::Neither if is_less || is_more => Change::Differs,
            _ if self.tolerance.is_some() && is_within(own) => Change::Within,
            Better::Higher | Better::Lower | Better::Neither => Change::NotShown,
        };
        // Each row must be within the tolerance by itself, and there is nothing to correct.
        let is_own = self.finding == Change::Within && !is_within(deciding);
        (self.interval, self.outside) = if is_own { (own, ALPHA) } else { (deciding, outside) };
    }

    /// Of a bound it is open on the side where the true ratio may lie.
    fn around(&self, half: f64) -> (f64, f64) {
        let (low, high) = (self.ratio * (-half).exp(), self.ratio * half.exp());
        match self.bounds() {
            [true, _] => (0.0, high),
            [_, true] => (low, f64::INFINITY),
            [false, false] => (low, high),
        }
    }

    /// Whether A's mean and B's are bounds.
    #[must_use]
    pub fn bounds(&self) -> [bool; 2] {
        [self.ratio < 1.0, 1.0 < self.ratio].map(|is_greater| self.is_bound && is_greater)
    }

    /// The ends of the interval; none where it is open.
    #[must_use]
    pub fn ends(&self) -> [Option<f64>; 2] {
        let [is_a, is_b] = self.bounds();
        [(!is_a).then_some(self.interval.0), (!is_b).then_some(self.interval.1)]
    }

    /// What it shows about B.
    #[must_use]
    pub fn finding(&self) -> Change {
        self.finding
    }

    /// Whether it shows a difference.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        match self.finding {
            Change::Better | Change::Worse | Change::Differs => true,
            Change::Within | Change::NotShown => false,
        }
    }

    /// The smallest difference that this data could have shown: 0.04 is ±4 %.
    #[must_use]
    pub fn smallest_shown(&self) -> f64 {
        (self.interval.1 / self.interval.0).sqrt() - 1.0
    }

    /// How many more rounds each side needs to show a true difference of this size (0.05 is 5 %) four times in five, as
    /// the only comparison; nothing beyond a thousand.
    #[must_use]
    pub fn more_rounds(&self, difference: f64) -> Option<usize> {
        let [a, b] = self.rounds;
        let here = a.max(b);
        let is_enough = |&rounds: &usize| {
            let freedom = self.freedom_a_round * (rounds as f64 - 1.0);
            let reach = student::point(ALPHA, freedom) + student::point(0.4, freedom);
            reach * (self.own.variance / rounds as f64).sqrt() <= difference.ln_1p()
        };
        (here..=1_000).find(is_enough).map(|rounds| rounds - here)
    }
}

#[cfg(test)]
pub(crate) mod tests;
