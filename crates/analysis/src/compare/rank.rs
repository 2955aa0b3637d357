//! Which subjects are shown to be ahead of which, and which are not.

use lab::experiment::Point;
use lab::figure::{Better, Figure, Number};

use super::{numbers, rounds, rounds_of_all};
use crate::board::{Row, Table};
use crate::difference::{
    Change, Comparison, HEADLINE, Why, decide, paired, share_spread, shared_spread, unpaired,
};
use crate::estimate::Estimate;
use crate::standing::is_mostly_invalid;

impl Table {
    /// The competitors at one point in groups, best first: see [`ranks`]; none where most of them are invalid.
    #[must_use]
    pub fn ranks(&self, figure: Figure, point: Point) -> Vec<Vec<&Row>> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.point == point).collect();
        if is_mostly_invalid(&rows) {
            return Vec::new();
        }
        // By the p99 of a closed loop the order of its rows is not made.
        let is_leading = matches!(figure, Figure::Throughput | Figure::CpuPerThousand)
            || rows.iter().any(|row| row.is_offered());
        let share = if is_leading { HEADLINE } else { 1.0 - HEADLINE };
        ranks(&rows, figure, share / self.orders())
    }

    /// In how many orders its rows are shown: one for each place, and one of the best places.
    pub(crate) fn orders(&self) -> f64 {
        match self.points().len() {
            0 | 1 => 1.0,
            places => places as f64 + 1.0,
        }
    }
}

/// Subjects at one point in groups, best first: no row of a group is shown to differ from its first, which is the best
/// of it. All pairs are decided together; `share` is the share of the error rate that they have among all orders of their
/// table. A row without such a number is in no group, nor is one that is not ranked.
#[must_use]
pub(crate) fn ranks<'a>(rows: &[&'a Row], figure: Figure, share: f64) -> Vec<Vec<&'a Row>> {
    let mean = |row: &Row| row.estimate(figure).map_or(f64::NAN, |found| found.value);
    let mut order: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| row.judgement.is_ranked() && !numbers(row, figure).is_empty())
        .collect();
    order.sort_by(|one, other| match figure.better() {
        Better::Higher => mean(other).total_cmp(&mean(one)),
        Better::Lower | Better::Neither => mean(one).total_cmp(&mean(other)),
    });
    let mut pairs: Vec<([usize; 2], Comparison)> = Vec::new();
    for (place, one) in order.iter().enumerate() {
        for (other_place, other) in order.iter().enumerate().skip(place + 1) {
            let compared = paired(figure, &rounds(one, other, figure));
            pairs.extend(compared.ok().map(|comparison| ([place, other_place], comparison)));
        }
    }
    let mut made: Vec<&mut Comparison> = pairs.iter_mut().map(|(_, made)| made).collect();
    share_spread(&mut made, shared_spread(&rounds_of_all(&order, figure)));
    let weight = share / made.len() as f64;
    decide(made.into_iter().map(|comparison| (weight, comparison)).collect(), 1.0 - share);
    let groups = grouped(order.len(), &pairs).into_iter();
    groups.map(|group| group.into_iter().map(|place| order[place]).collect()).collect()
}

/// A figure's rounds in one run, each with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundsOfRun {
    /// Which run: rounds of one run belong together.
    pub run: usize,
    pub rounds: Vec<(u32, Number)>,
}

impl RoundsOfRun {
    fn numbers(&self) -> Vec<Number> {
        self.rounds.iter().map(|(_, number)| *number).collect()
    }

    fn mean(&self, figure: Figure) -> f64 {
        Estimate::of(&self.numbers(), figure.fold()).map_or(f64::NAN, |found| found.value)
    }

    /// The rounds that both have.
    fn beside(&self, other: &RoundsOfRun) -> Vec<[Number; 2]> {
        let same = |round: u32| other.rounds.iter().find(|(number, _)| *number == round);
        let both = self.rounds.iter().filter_map(|(round, one)| Some([*one, same(*round)?.1]));
        both.collect()
    }
}

/// Sides of any runs in groups, best first, by their places in `sides`: no side of a group is shown to differ from its
/// first. All pairs are decided together: those of one run round by round, others by Welch's comparison.
#[must_use]
pub fn groups_of_runs(figure: Figure, sides: &[RoundsOfRun]) -> Vec<Vec<usize>> {
    let mean = |place: &usize| sides[*place].mean(figure);
    let mut order: Vec<usize> = (0..sides.len()).filter(|place| mean(place).is_finite()).collect();
    order.sort_by(|one, other| match figure.better() {
        Better::Higher => mean(other).total_cmp(&mean(one)),
        Better::Lower | Better::Neither => mean(one).total_cmp(&mean(other)),
    });
    let mut pairs: Vec<([usize; 2], Comparison)> = Vec::new();
    for (place, one) in order.iter().enumerate() {
        for (other_place, other) in order.iter().enumerate().skip(place + 1) {
            let (one, other) = (&sides[*one], &sides[*other]);
            let compared = ratio_of_runs(figure, one, other);
            pairs.extend(compared.ok().map(|comparison| ([place, other_place], comparison)));
        }
    }
    share_spreads_of_runs(sides, &order, &mut pairs);
    let weight = HEADLINE / pairs.len() as f64;
    let weighed = pairs.iter_mut().map(|(_, comparison)| (weight, comparison));
    decide(weighed.collect(), 1.0 - HEADLINE);
    let groups = grouped(order.len(), &pairs).into_iter();
    groups.map(|group| group.into_iter().map(|place| order[place]).collect()).collect()
}

/// Comparisons within a run are judged by the spread of all of its sides, as the run's own order is.
fn share_spreads_of_runs(
    sides: &[RoundsOfRun],
    order: &[usize],
    pairs: &mut [([usize; 2], Comparison)],
) {
    let mut runs: Vec<usize> = order.iter().map(|place| sides[*place].run).collect();
    runs.sort_unstable();
    runs.dedup();
    for run in runs {
        let of_run: Vec<&RoundsOfRun> =
            order.iter().map(|place| &sides[*place]).filter(|side| side.run == run).collect();
        let is_of_run = |place: usize| sides[order[place]].run == run;
        let both = pairs.iter_mut().filter(|(places, _)| places.iter().all(|it| is_of_run(*it)));
        let mut made: Vec<&mut Comparison> = both.map(|(_, made)| made).collect();
        share_spread(&mut made, shared_spread(&rounds_of_sides(&of_run)));
    }
}

/// The rounds that all of these sides have.
fn rounds_of_sides(sides: &[&RoundsOfRun]) -> Vec<Vec<Number>> {
    let Some(first) = sides.first() else { return Vec::new() };
    let in_round = |side: &&RoundsOfRun, round: u32| {
        side.rounds.iter().find(|(number, _)| *number == round).map(|(_, number)| *number)
    };
    let all =
        |(round, _): &(u32, Number)| sides.iter().map(|side| in_round(side, *round)).collect();
    first.rounds.iter().filter_map(all).collect()
}

/// Places in groups: none of a group is shown to differ from its first.
fn grouped(places: usize, pairs: &[([usize; 2], Comparison)]) -> Vec<Vec<usize>> {
    let differ = |one: usize, other: usize| {
        let same = pairs.iter().find(|(places, _)| *places == [one, other]);
        same.is_some_and(|(_, comparison)| comparison.finding() != Change::NotShown)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in 0..places {
        match groups.last_mut() {
            Some(group) if !differ(group[0], place) => group.push(place),
            Some(_) | None => groups.push(vec![place]),
        }
    }
    groups
}

/// The second side of each pair against its first, decided together.
#[must_use]
pub fn compared_runs(pairs: &[(Figure, RoundsOfRun, RoundsOfRun)]) -> Vec<Result<Comparison, Why>> {
    let mut all: Vec<Result<Comparison, Why>> =
        pairs.iter().map(|(figure, one, other)| ratio_of_runs(*figure, one, other)).collect();
    let made: Vec<&mut Comparison> = all.iter_mut().filter_map(|made| made.as_mut().ok()).collect();
    let weight = HEADLINE / made.len() as f64;
    decide(made.into_iter().map(|comparison| (weight, comparison)).collect(), 1.0 - HEADLINE);
    all
}

fn ratio_of_runs(
    figure: Figure,
    one: &RoundsOfRun,
    other: &RoundsOfRun,
) -> Result<Comparison, Why> {
    match one.run == other.run {
        true => paired(figure, &one.beside(other)),
        false => unpaired(figure, &one.numbers(), &other.numbers()),
    }
}
