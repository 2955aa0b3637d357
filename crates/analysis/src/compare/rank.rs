//! Which subjects are shown to be ahead of which, and which are not.

use lab::experiment::Point;
use lab::figure::{Better, Figure};

use super::{ALPHA, adjust, compare, numbers};
use crate::board::{Row, Table};
use crate::standing::is_mostly_invalid;

impl Table {
    /// The competitors at one point in groups, best first: see [`ranks`]; none where most of them are invalid.
    #[must_use]
    pub fn ranks(&self, figure: Figure, point: Point) -> Vec<Vec<&Row>> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.point == point).collect();
        if is_mostly_invalid(&rows) { Vec::new() } else { ranks(&rows, figure) }
    }
}

/// Subjects at one point in groups, best first: no row of a group is shown to differ from its first, which is the best
/// of it. Pairs are compared with Holm's correction over all of them. A row without such a number is in no group, nor
/// is one that is not ranked.
#[must_use]
pub fn ranks<'a>(rows: &[&'a Row], figure: Figure) -> Vec<Vec<&'a Row>> {
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
    let mut pairs = Vec::new();
    for (place, one) in order.iter().enumerate() {
        for (other_place, other) in order.iter().enumerate().skip(place + 1) {
            let compared = compare(figure, &numbers(one, figure), &numbers(other, figure));
            pairs.extend(compared.ok().map(|comparison| (place, other_place, comparison)));
        }
    }
    adjust(&mut pairs.iter_mut().map(|(_, _, comparison)| comparison).collect::<Vec<_>>());
    let differ = |one: usize, other: usize| {
        let same = pairs.iter().find(|(a, b, _)| (*a, *b) == (one, other));
        same.is_some_and(|(_, _, comparison)| comparison.adjusted_p < ALPHA)
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
