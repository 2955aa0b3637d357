//! Which subjects are shown to be ahead of which, and which are not.

use lab::experiment::Point;
use lab::figure::{Better, Figure};

use super::{numbers, rounds, rounds_of_all};
use crate::board::{Row, Table};
use crate::difference::{
    Change, Comparison, HEADLINE, decide, paired, share_spread, shared_spread,
};
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
    let differ = |one: usize, other: usize| {
        let same = pairs.iter().find(|(places, _)| *places == [one, other]);
        same.is_some_and(|(_, comparison)| comparison.finding() != Change::NotShown)
    };
    let mut groups: Vec<(usize, Vec<&Row>)> = Vec::new();
    for (place, row) in order.iter().copied().enumerate() {
        match groups.last_mut() {
            Some((first, group)) if !differ(*first, place) => group.push(row),
            Some(_) | None => groups.push((place, vec![row])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
