//! Two sides, row by row and figure by figure, decided together by the rule of `difference`. The sample of a side is its
//! rounds: only a fresh process is a repetition, and nothing smaller.

mod gate;
mod numbers;
mod rank;
mod single;

use lab::experiment::Point;
use lab::figure::{Figure, Number};

use crate::board::{Board, Row};
use crate::difference::{
    Comparison, Spread, Why, decide, join, share_spread, shared_spread, weights,
};

pub(crate) use gate::primary;
pub use gate::{Gate, GateAnswer, Gated, Unsure};
use numbers::{in_all, in_both};
pub(crate) use rank::ranks;
pub use rank::{RoundsOfRun, compared_runs, groups_of_runs};
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
    /// Matches rows by workload and point, and by subject unless one of each side is named; compares them, and decides
    /// all figures together.
    #[must_use]
    pub fn of(a: &'a Board, b: &'a Board, sides: Sides<'_>, gate: Gate) -> Versus<'a> {
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
                (*other, partner.point) == (workload, row.point)
                    && (subjects.is_some() || partner.subject == row.subject)
            };
            match b_rows.iter().position(is_partner) {
                None => alone.push((workload, row)),
                Some(place) => {
                    let partner = b_rows.remove(place).1;
                    pairs.push(pair(workload, [row, partner], is_one_run, gate.figure));
                }
            }
        }
        Versus { pairs, alone: [alone, b_rows] }.decided(gate)
    }

    fn decided(mut self, gate: Gate) -> Versus<'a> {
        let figures = self.pairs.iter_mut().flat_map(|pair| &mut pair.figures);
        for comparison in figures.filter_map(|(_, made)| made.as_mut().ok()) {
            comparison.set_tolerance(gate.tolerance);
        }
        decide_all(self.pairs.iter_mut(), gate.figure);
        self
    }

    pub fn made(&self) -> impl Iterator<Item = &Comparison> {
        let figures = self.pairs.iter().flat_map(|pair| &pair.figures);
        figures.filter_map(|(_, comparison)| comparison.as_ref().ok())
    }
}

/// Each of these rows of one run against the first of them, decided together.
#[must_use]
pub fn against_first<'a>(workload: &'a str, rows: &[&'a Row]) -> Vec<Pair<'a>> {
    let Some((first, others)) = rows.split_first() else { return Vec::new() };
    let against = |row: &&'a Row| pair(workload, [first, row], true, None);
    let mut pairs: Vec<Pair<'a>> = others.iter().map(against).collect();
    let compared: Vec<&Row> =
        rows.iter().copied().filter(|row| row.conduct.is_tolerated()).collect();
    share_spreads(&mut pairs, |figure, _| {
        let sides: Vec<_> = compared.iter().map(|row| row.rounds(figure)).collect();
        shared_spread(&in_all(&sides.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    });
    let headline = primary(first);
    let figures = pairs.iter_mut().flat_map(|pair| &mut pair.figures);
    let made = figures.filter(|(figure, _)| *figure == headline);
    join(&mut made.filter_map(|(_, made)| made.as_mut().ok()).collect::<Vec<_>>());
    decide_all(pairs.iter_mut(), None);
    pairs
}

impl Pair<'_> {
    /// B's figure divided by A's in each round in which both were measured, with the round's number from 0.
    #[must_use]
    pub fn round_ratios(&self, figure: Figure) -> Vec<(u32, f64)> {
        let ratios = self
            .rounds_of_both(figure)
            .into_iter()
            .map(|(round, [a, b])| (round, b.value / a.value));
        ratios.filter(|(_, ratio)| ratio.is_finite() && 0.0 < *ratio).collect()
    }

    fn rounds_of_both(&self, figure: Figure) -> Vec<(u32, [Number; 2])> {
        in_both(&self.a.rounds(figure), &self.b.rounds(figure))
    }
}

/// Judges each figure of pairs of one run by the spread that is found for it.
pub(crate) fn share_spreads(
    pairs: &mut [Pair<'_>],
    spread: impl Fn(Figure, &[&mut Comparison]) -> Option<Spread>,
) {
    let Some(first) = pairs.first() else { return };
    let figures: Vec<Figure> = first.figures.iter().map(|(figure, _)| *figure).collect();
    for (place, figure) in figures.into_iter().enumerate() {
        let made = pairs.iter_mut().filter_map(|pair| pair.figures[place].1.as_mut().ok());
        let mut made: Vec<&mut Comparison> = made.collect();
        let shared = spread(figure, &made);
        share_spread(&mut made, shared);
    }
}

/// Decides all figures of all pairs of an output together: first what each load is about, or the figure that was
/// requested.
pub(crate) fn decide_all<'p, 'a: 'p>(
    pairs: impl Iterator<Item = &'p mut Pair<'a>>,
    wanted: Option<Figure>,
) {
    let mut made: Vec<(bool, &mut Comparison)> = Vec::new();
    for pair in pairs {
        let primary = primary(pair.a);
        let is_headline = |figure: Figure| match wanted {
            Some(wanted) => figure == wanted,
            None => figure == primary || figure == Figure::OnTime,
        };
        for (figure, comparison) in &mut pair.figures {
            made.extend(comparison.as_mut().ok().map(|made| (is_headline(*figure), made)));
        }
    }
    let weights = weights(&made.iter().map(|(is_headline, _)| *is_headline).collect::<Vec<_>>());
    decide(weights.into_iter().zip(made.into_iter().map(|(_, made)| made)).collect(), 0.0);
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

/// Two rows, compared; those of one run round by round.
pub(crate) fn pair<'a>(
    workload: &'a str,
    [a, b]: [&'a Row; 2],
    is_one_run: bool,
    wanted: Option<Figure>,
) -> Pair<'a> {
    let mut figures = match a.point {
        Point::Held(_) => vec![Figure::MemoryPerConnection],
        Point::Connections(_) => COMPARED.to_vec(),
        Point::Requests(_) | Point::Sessions(_) => {
            let is_rate = |figure| figure == Figure::Throughput;
            COMPARED.map(|figure| if is_rate(figure) { Figure::OnTime } else { figure }).to_vec()
        }
    };
    figures.extend(wanted.filter(|figure| !figures.contains(figure)));
    let change = |figure| (figure, difference(figure, [a, b], is_one_run));
    Pair { workload, a, b, is_one_run, figures: figures.into_iter().map(change).collect() }
}

fn difference(figure: Figure, [a, b]: [&Row; 2], is_one_run: bool) -> Result<Comparison, Why> {
    let kept_up = [a, b].into_iter().all(|row| row.is_offered() && !row.is_behind());
    match figure {
        _ if [a, b].into_iter().any(|row| !row.conduct.is_tolerated()) => Err(Why::Faults),
        Figure::Throughput | Figure::OnTime if kept_up && 0 < a.measured().min(b.measured()) => {
            Err(Why::KeptUp)
        }
        _ => {
            let side = |row: &Row| RoundsOfRun { run: 0, rounds: row.rounds(figure) };
            let b = RoundsOfRun { run: usize::from(!is_one_run), ..side(b) };
            side(a).against(&b, figure)
        }
    }
}

#[cfg(test)]
mod tests;
