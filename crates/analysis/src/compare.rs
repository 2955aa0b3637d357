//! Two sides, figure by figure: how they differ, how certain that is, and which difference this data could not have
//! shown. The sample of a side is its rounds: only a fresh process is a repetition, and nothing smaller.

mod gate;
mod numbers;
mod rank;
mod single;

use lab::experiment::Point;
use lab::figure::{Better, Figure, Number};

use crate::board::{Board, Row};
use crate::student;

pub(crate) use gate::primary;
pub use gate::{Gate, GateAnswer, Gated, Unsure};
use numbers::{numbers, rounds};
pub use rank::ranks;
pub use single::Single;

/// The figures that are compared for loads of requests. At an offered rate the share on time takes the place of the
/// throughput, which is then the schedule's.
pub const COMPARED: [Figure; 5] = [
    Figure::Throughput,
    Figure::ResponseP50,
    Figure::ResponseP99,
    Figure::CpuPerThousand,
    Figure::RssPeak,
];

/// The significance level.
const ALPHA: f64 = 0.05;
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
    /// The 95 % confidence interval of the ratio, on logarithms, for this comparison alone: Welch's, or of two subjects
    /// of one run Student's over the ratios of its rounds. Of a bound it is open on the side where the true ratio may
    /// lie: it ends there at infinity, or at 0.
    pub interval: (f64, f64),
    /// The p-value: how likely chance alone makes a difference at least this large.
    pub p: f64,
    /// The same, adjusted for all comparisons that were made, by Holm's method. Until `adjust` it is `p`.
    pub adjusted_p: f64,
    /// One side's rounds are bounds, and the true ratio is further from 1 than this one.
    pub is_bound: bool,
    /// Every round of both sides had enough samples for it.
    pub is_supported: bool,
    /// The variance of one round's logarithm: the mean of both sides' variances.
    variance: f64,
    /// The standard error of the ratio's logarithm, and its degrees of freedom.
    error: f64,
    freedom: f64,
    /// How many degrees of freedom each further round adds.
    freedom_a_round: f64,
}

/// What a comparison shows about B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Better,
    Worse,
    /// It differs, and neither way is better.
    Differs,
    /// Alone it would be a difference; among so many comparisons, chance makes one like it too easily.
    ByChance,
    /// No difference that this data can show.
    NotShown,
}

/// Why a figure was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A side has no such number.
    Missing,
    /// A side has only one round, and nothing shows how far its rounds lie apart.
    OneRound,
    /// A round measured 0, for which there are no ratios.
    Nothing,
    /// Both kept up with the offered load.
    KeptUp,
    /// Rounds are bounds, and do not show which side is greater.
    Bounds,
    /// A side answered more requests wrongly, or failed more of them, than is tolerated.
    Faults,
}

/// Compares B's rounds with A's.
pub fn compare(figure: Figure, a: &[Number], b: &[Number]) -> Result<Comparison, Why> {
    if a.is_empty() || b.is_empty() {
        return Err(Why::Missing);
    }
    if a.len() < 2 || b.len() < 2 {
        return Err(Why::OneRound);
    }
    if a.iter().chain(b).any(|number| number.value <= 0.0) {
        return Err(Why::Nothing);
    }
    let ((a_mean, a_variance), (b_mean, b_variance)) = (logarithms(a), logarithms(b));
    let (a_count, b_count) = (a.len() as f64, b.len() as f64);
    let (a_part, b_part) = (a_variance / a_count, b_variance / b_count);
    // Welch and Satterthwaite: the two sides may have different variances.
    let freedom = (a_part + b_part).powi(2)
        / (a_part.powi(2) / (a_count - 1.0) + b_part.powi(2) / (b_count - 1.0));
    let spread = Spread {
        variance: f64::midpoint(a_variance, b_variance),
        error: (a_part + b_part).sqrt(),
        freedom,
        freedom_a_round: 2.0,
    };
    made(figure, [a, b], [a_mean, b_mean], spread)
}

/// Compares two subjects of one run, round by round: what all of a round have in common is in no difference.
pub(crate) fn compare_rounds(figure: Figure, rounds: &[[Number; 2]]) -> Result<Comparison, Why> {
    let [a, b] = [0, 1].map(|side| rounds.iter().map(|round| round[side]).collect::<Vec<_>>());
    if rounds.is_empty() {
        return Err(Why::Missing);
    }
    if rounds.len() < 2 {
        return Err(Why::OneRound);
    }
    if rounds.iter().flatten().any(|number| number.value <= 0.0) {
        return Err(Why::Nothing);
    }
    let ratio = |[a, b]: &[Number; 2]| Number { value: b.value / a.value, ..*a };
    let ratios: Vec<Number> = rounds.iter().map(ratio).collect();
    let (_, variance) = logarithms(&ratios);
    let count = rounds.len() as f64;
    let spread = Spread {
        variance: variance / 2.0,
        error: (variance / count).sqrt(),
        freedom: count - 1.0,
        freedom_a_round: 1.0,
    };
    made(figure, [&a, &b], [logarithms(&a).0, logarithms(&b).0], spread)
}

/// How far the logarithms of rounds lie apart.
#[derive(Clone, Copy)]
struct Spread {
    variance: f64,
    error: f64,
    freedom: f64,
    freedom_a_round: f64,
}

fn made(
    figure: Figure,
    [a, b]: [&[Number]; 2],
    [a_mean, b_mean]: [f64; 2],
    spread: Spread,
) -> Result<Comparison, Why> {
    let Spread { variance, error, freedom, freedom_a_round } = spread;
    let difference = b_mean - a_mean;
    let half = student::point(ALPHA, freedom) * error;
    let p = student::two_sided(difference / error, freedom);
    let is_bound = is_bound(a, b, difference, p)?;
    let (low, high) = ((difference - half).exp(), (difference + half).exp());
    Ok(Comparison {
        figure,
        means: [a_mean.exp(), b_mean.exp()],
        rounds: [a.len(), b.len()],
        ratio: difference.exp(),
        interval: match is_bound {
            true if 0.0 < difference => (low, f64::INFINITY),
            true => (0.0, high),
            false => (low, high),
        },
        p,
        adjusted_p: p,
        is_bound,
        is_supported: a.iter().chain(b).all(|number| number.is_supported),
        variance,
        error,
        freedom,
        freedom_a_round,
    })
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

impl Comparison {
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
        match (self.p < ALPHA, self.adjusted_p < ALPHA, self.figure.better()) {
            (false, _, _) => Change::NotShown,
            (true, false, _) => Change::ByChance,
            (true, true, Better::Neither) => Change::Differs,
            (true, true, Better::Higher) if 1.0 < self.ratio => Change::Better,
            (true, true, Better::Lower) if self.ratio < 1.0 => Change::Better,
            (true, true, Better::Higher | Better::Lower) => Change::Worse,
        }
    }

    /// The smallest difference that this data could have shown as the only comparison: 0.04 is ±4 %.
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
            reach * (2.0 * self.variance / rounds as f64).sqrt() <= difference.ln_1p()
        };
        (here..=1_000).find(is_enough).map(|rounds| rounds - here)
    }
}

/// Holm's correction over all comparisons that were made: the probability that even one of them is called a difference
/// by chance is at most 1 in 20.
pub(crate) fn adjust(comparisons: &mut [&mut Comparison]) {
    comparisons.sort_by(|one, other| one.p.total_cmp(&other.p));
    let count = comparisons.len();
    let mut highest = 0.0_f64;
    for (place, comparison) in comparisons.iter_mut().enumerate() {
        highest = highest.max(comparison.p * (count - place) as f64).min(1.0);
        comparison.adjusted_p = highest;
    }
}

/// What is compared with what.
#[derive(Clone, Copy, Debug)]
pub enum Sides<'s> {
    /// All that two runs have in common.
    Runs,
    /// Two subjects of different runs.
    Subjects([&'s str; 2]),
    /// Two subjects of one run, whose rounds belong together.
    OfOneRun([&'s str; 2]),
}

/// Two boards, or two subjects of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Versus<'a> {
    /// The rows that have a partner, in A's order.
    pub pairs: Vec<Pair<'a>>,
    /// Workloads and rows of A, then of B, that have no partner.
    pub alone: [Vec<(&'a str, &'a Row)>; 2],
}

/// Two rows with the same workload and the same load.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The workload of both.
    pub workload: &'a str,
    pub a: &'a Row,
    pub b: &'a Row,
    /// They are of one run: their rounds belong together.
    pub is_one_run: bool,
    /// For held connections what one of them takes, otherwise one for each figure that its load compares; and the figures that were
    /// requested.
    pub figures: Vec<(Figure, Result<Comparison, Why>)>,
}

impl<'a> Versus<'a> {
    /// Matches rows by workload and point, and by subject unless one of each side is named; compares and adjusts them.
    #[must_use]
    pub fn of(a: &'a Board, b: &'a Board, sides: Sides<'_>, wanted: Option<Figure>) -> Versus<'a> {
        let subjects = match sides {
            Sides::Runs => None,
            Sides::Subjects(both) | Sides::OfOneRun(both) => Some(both),
        };
        let is_one_run = matches!(sides, Sides::OfOneRun(_));
        let a_rows = rows(a, subjects.map(|[subject, _]| subject));
        let mut b_rows = rows(b, subjects.map(|[_, subject]| subject));
        let (mut pairs, mut alone) = (Vec::new(), Vec::new());
        for (workload, row) in a_rows {
            let is_partner = |(other, partner): &(&str, &Row)| {
                (*other, bits(partner.point)) == (workload, bits(row.point))
                    && (subjects.is_some() || partner.subject == row.subject)
            };
            match b_rows.iter().position(is_partner) {
                None => alone.push((workload, row)),
                Some(place) => {
                    let partner = b_rows.remove(place).1;
                    pairs.push(pair(workload, [row, partner], is_one_run, wanted));
                }
            }
        }
        let figures = pairs.iter_mut().flat_map(|pair: &mut Pair<'_>| pair.figures.iter_mut());
        let mut made: Vec<&mut Comparison> =
            figures.filter_map(|(_, comparison)| comparison.as_mut().ok()).collect();
        adjust(&mut made);
        Versus { pairs, alone: [alone, b_rows] }
    }

    pub fn made(&self) -> impl Iterator<Item = &Comparison> {
        let figures = self.pairs.iter().flat_map(|pair| &pair.figures);
        figures.filter_map(|(_, comparison)| comparison.as_ref().ok())
    }
}

fn rows<'a>(board: &'a Board, subject: Option<&str>) -> Vec<(&'a str, &'a Row)> {
    let all = board
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| (table.workload.as_str(), row)));
    // A reference has one round and does not compete; it is compared only if it is named.
    let is_meant = |row: &Row| match subject {
        None => !row.is_reference,
        Some(subject) => row.subject == subject,
    };
    all.filter(|(_, row)| is_meant(row)).collect()
}

/// A point that can be compared exactly.
fn bits(point: Point) -> (&'static str, u64) {
    (point.unit(), point.value().to_bits())
}

/// Two rows, compared; those of one run round by round.
pub(crate) fn pair<'a>(
    workload: &'a str,
    [a, b]: [&'a Row; 2],
    is_one_run: bool,
    wanted: Option<Figure>,
) -> Pair<'a> {
    let kept_up = [a, b].into_iter().all(|row| row.is_offered() && !row.is_behind());
    let is_tolerated = [a, b].into_iter().all(|row| row.conduct.is_tolerated());
    let of = |figure| match figure {
        _ if !is_tolerated => (figure, Err(Why::Faults)),
        Figure::Throughput | Figure::OnTime if kept_up && 0 < a.measured().min(b.measured()) => {
            (figure, Err(Why::KeptUp))
        }
        _ if is_one_run => (figure, compare_rounds(figure, &rounds(a, b, figure))),
        _ => (figure, compare(figure, &numbers(a, figure), &numbers(b, figure))),
    };
    let mut figures = match a.point {
        Point::Held(_) => vec![Figure::MemoryPerConnection],
        Point::Connections(_) => COMPARED.to_vec(),
        Point::Requests(_) | Point::Sessions(_) => {
            COMPARED.map(|it| if it == Figure::Throughput { Figure::OnTime } else { it }).to_vec()
        }
    };
    figures.extend(wanted.filter(|figure| !figures.contains(figure)));
    Pair { workload, a, b, is_one_run, figures: figures.into_iter().map(of).collect() }
}

#[cfg(test)]
mod tests;
