//! Which subjects are shown to be ahead of which, and which are not.

use std::collections::BTreeMap;

use lab::experiment::Point;
use lab::figure::{Better, Figure, Number};

use super::numbers::{in_all, in_both};
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
    let ranked = rows.iter().copied().filter(|row| row.judgement.is_ranked());
    let all: Vec<(&Row, f64, RoundsOfRun)> = ranked
        .filter_map(|row| {
            let mean = row.estimate(figure)?.value;
            Some((row, mean, RoundsOfRun { run: 0, rounds: row.rounds(figure) }))
        })
        .collect();
    let sides: Vec<(f64, &RoundsOfRun)> = all.iter().map(|(_, mean, side)| (*mean, side)).collect();
    let groups = groups(figure, &sides, share).into_iter();
    groups.map(|group| group.into_iter().map(|place| all[place].0).collect()).collect()
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

    /// The other side against this one: round by round if they are of one run.
    pub(super) fn against(&self, other: &RoundsOfRun, figure: Figure) -> Result<Comparison, Why> {
        if self.run != other.run {
            return unpaired(figure, &self.numbers(), &other.numbers());
        }
        let both = in_both(&self.rounds, &other.rounds).into_iter();
        paired(figure, &both.map(|(_, numbers)| numbers).collect::<Vec<_>>())
    }
}

/// Sides of any runs in groups, best first, by their places in `sides`: no side of a group is shown to differ from its
/// first. All pairs are decided together: those of one run round by round, others by Welch's comparison.
#[must_use]
pub fn groups_of_runs(figure: Figure, sides: &[RoundsOfRun]) -> Vec<Vec<usize>> {
    let sides: Vec<_> = sides.iter().map(|side| (side.mean(figure), side)).collect();
    groups(figure, &sides, HEADLINE)
}

/// Sides, each with its mean, in groups as those of any runs; their pairs have this share of the error rate.
fn groups(figure: Figure, sides: &[(f64, &RoundsOfRun)], share: f64) -> Vec<Vec<usize>> {
    let mean = |place: &usize| sides[*place].0;
    let mut order: Vec<usize> = (0..sides.len()).filter(|place| mean(place).is_finite()).collect();
    order.sort_by(|one, other| match figure.better() {
        Better::Higher => mean(other).total_cmp(&mean(one)),
        Better::Lower | Better::Neither => mean(one).total_cmp(&mean(other)),
    });
    let ordered: Vec<&RoundsOfRun> = order.iter().map(|place| sides[*place].1).collect();
    let mut pairs: Vec<([usize; 2], Comparison)> = Vec::new();
    for (place, one) in ordered.iter().enumerate() {
        for (other_place, other) in ordered.iter().enumerate().skip(place + 1) {
            let compared = one.against(other, figure);
            pairs.extend(compared.ok().map(|comparison| ([place, other_place], comparison)));
        }
    }
    share_spreads_of_runs(&ordered, &mut pairs);
    let weight = share / pairs.len() as f64;
    let weighed = pairs.iter_mut().map(|(_, comparison)| (weight, comparison));
    decide(weighed.collect(), 1.0 - share);
    let groups = grouped(order.len(), &pairs).into_iter();
    groups.map(|group| group.into_iter().map(|place| order[place]).collect()).collect()
}

/// Comparisons within a run are judged by the spread of all of its sides.
fn share_spreads_of_runs(ordered: &[&RoundsOfRun], pairs: &mut [([usize; 2], Comparison)]) {
    let mut runs: BTreeMap<usize, Vec<&mut Comparison>> = BTreeMap::new();
    for ([one, other], made) in pairs {
        if ordered[*one].run == ordered[*other].run {
            runs.entry(ordered[*one].run).or_default().push(made);
        }
    }
    for (run, mut made) in runs {
        let sides = ordered.iter().filter(|side| side.run == run);
        let sides: Vec<&[(u32, Number)]> = sides.map(|side| side.rounds.as_slice()).collect();
        share_spread(&mut made, shared_spread(&in_all(&sides)));
    }
}

/// Places in groups: none of a group is shown to differ from its first. The pairs are in the order of their places.
fn grouped(places: usize, pairs: &[([usize; 2], Comparison)]) -> Vec<Vec<usize>> {
    let differ = |one: usize, other: usize| {
        let same = pairs.binary_search_by_key(&[one, other], |(places, _)| *places);
        same.is_ok_and(|at| pairs[at].1.finding() != Change::NotShown)
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
        pairs.iter().map(|(figure, one, other)| one.against(other, *figure)).collect();
    let made: Vec<&mut Comparison> = all.iter_mut().filter_map(|made| made.as_mut().ok()).collect();
    let weight = HEADLINE / made.len() as f64;
    decide(made.into_iter().map(|comparison| (weight, comparison)).collect(), 1.0 - HEADLINE);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use load::Chance;

    /// The groups as the definition says them: each pair is looked for among all pairs.
    fn reference(figure: Figure, sides: &[RoundsOfRun]) -> Vec<Vec<usize>> {
        let mean = |place: &usize| sides[*place].mean(figure);
        let mut order: Vec<usize> = (0..sides.len()).collect();
        order.sort_by(|one, other| mean(other).total_cmp(&mean(one)));
        let mut pairs: Vec<([usize; 2], Comparison)> = Vec::new();
        for (n, one) in order.iter().enumerate() {
            for other in &order[n + 1..] {
                let made = sides[*one].against(&sides[*other], figure);
                pairs.extend(made.ok().map(|made| ([*one, *other], made)));
            }
        }
        for run in 0..3 {
            let is_of_run = |place: &usize| sides[*place].run == run;
            let of_run = order.iter().filter(|it| is_of_run(it));
            let of_run: Vec<&[(u32, Number)]> =
                of_run.map(|it| sides[*it].rounds.as_slice()).collect();
            let both = pairs.iter_mut().filter(|(both, _)| both.iter().all(is_of_run));
            let mut made: Vec<&mut Comparison> = both.map(|(_, made)| made).collect();
            share_spread(&mut made, shared_spread(&in_all(&of_run)));
        }
        let weight = HEADLINE / pairs.len() as f64;
        decide(pairs.iter_mut().map(|(_, made)| (weight, made)).collect(), 1.0 - HEADLINE);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for place in order {
            let is_alike = |first: usize| {
                let mut both = pairs.iter().filter(|(both, _)| *both == [first, place]);
                both.all(|(_, made)| made.finding() == Change::NotShown)
            };
            match groups.last_mut().filter(|group| is_alike(group[0])) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups
    }

    /// A number of chance, from this one to so many times more.
    fn number(chance: &mut Chance, from: f64, by: f64) -> Number {
        fixture::number(from * (1.0 + by * chance.unit()))
    }

    /// Five rounds of a server of one of three runs; a slow one has a single round, and cannot be compared.
    fn side(chance: &mut Chance, n: usize) -> RoundsOfRun {
        let (least, count) = if n == 7 { (500.0, 1) } else { (900.0, 5) };
        let (own, rounds) = (number(chance, least, 0.5).value, 0..count);
        RoundsOfRun { run: n % 3, rounds: rounds.map(|n| (n, number(chance, own, 0.02))).collect() }
    }

    #[test]
    fn forty_servers_of_three_runs_are_in_the_groups_of_the_definition() {
        let mut chance = Chance::new(0);
        for _ in 0..20 {
            let sides: Vec<RoundsOfRun> = (0..40).map(|n| side(&mut chance, n)).collect();
            let groups = groups_of_runs(Figure::Throughput, &sides);
            assert_eq!(groups, reference(Figure::Throughput, &sides));
            assert!((3..40).contains(&groups.len()), "{groups:?}");
        }
    }
}
