//! The ends of a bracket that full trials have not decided: what is known of them, and the last full trials, which are made
//! there.

use super::PressKind;
use super::aim::Evidence;
use super::course::Course;
use super::grid::STEPS;
use super::judge::{TRIALS_LEAST, Word};

/// Where fewer full trials than these fit into the time, the first two ends lie so far apart: there a few trials decide, and
/// this bracket may be the answer.
const WIDE: [(f64, i32); 2] = [(18.0, 4 * STEPS), (36.0, 2 * STEPS)];
/// Fewer full trials than decide a rate say that it holds at least, if all of them kept the aim.
const TRIALS_SOME: usize = 3;

/// A way to a decided end: the rate, and how long its full trials take.
type Way = (i32, f64);

impl Course<'_> {
    /// How far apart the first two ends are to be, by how many full trials fit into the time that is left.
    pub(super) fn span_by_time(&self) -> i32 {
        let closed = self.closed_per_s.unwrap_or(self.search.least);
        let full = self.press(PressKind::Full, self.grid.nearest(closed));
        let fit = (self.search.limit_s - self.spent_s) / (full.seconds + self.around());
        WIDE.into_iter().find(|(few, _)| fit < *few).map_or(STEPS, |(_, span)| span)
    }

    /// What short trials say where full ones have decided nothing: the highest rate that was kept clearly below the
    /// capacity as it seems, and the lowest that was broken clearly above it.
    pub(super) fn by_short(&self) -> (Option<i32>, Option<i32>) {
        let Some(ends) = self.ends else { return self.range() };
        let between = f64::midpoint(f64::from(ends.0), f64::from(ends.1));
        let seems = self.crossing(ends).unwrap_or(between);
        let steps = f64::from(STEPS);
        let low = self.unrefuted(true).filter(|number| f64::from(*number) <= seems - steps).max();
        let high = self.unrefuted(false).filter(|number| seems + steps <= f64::from(*number)).min();
        (low, high)
    }

    /// The rates of the short trials that kept the aim, or broke it, and that no full trial contradicts.
    fn unrefuted(&self, keeps: bool) -> impl Iterator<Item = i32> {
        let is_wanted = move |(number, found): &&(i32, Evidence)| {
            found.keeps(&self.search.aim) == keeps && !self.is_refuted(*number, found)
        };
        self.short.iter().filter(is_wanted).map(|(number, _)| *number)
    }

    /// Whether a full trial contradicts this short one: it broke the aim at no higher a rate, or kept it at no lower one.
    pub(super) fn is_refuted(&self, number: i32, short: &Evidence) -> bool {
        let keeps = short.keeps(&self.search.aim);
        let is_there = |other: i32| if keeps { other <= number } else { number <= other };
        let full = self.full.iter().filter(|(other, _)| is_there(**other));
        full.flat_map(|(_, trials)| trials).any(|trial| trial.keeps(&self.search.aim) != keeps)
    }

    /// The highest rate whose full trials all kept the aim, though they are too few to decide. No full trial broke it there
    /// or at a lower rate, not even one that was disturbed.
    pub(super) fn kept_by_all(&self) -> Option<i32> {
        let aim = &self.search.aim;
        let broken = self.full.iter().filter(|(_, trials)| !trials.iter().all(|it| it.keeps(aim)));
        let broken = broken.map(|(number, _)| *number).chain(self.doubted.iter().copied()).min();
        let is_below = |number: &i32| broken.is_none_or(|broken| *number < broken);
        let full = self.full.iter().filter(|(_, trials)| TRIALS_SOME <= trials.len());
        full.map(|(number, _)| *number).filter(is_below).max()
    }

    /// Where the time that is left does not suffice for all of it, the end that it suffices for, of those that full trials have
    /// not decided: at the rate that short trials know, or where the search is, whichever is decided sooner.
    pub(super) fn last_end(&self, (low, high): (i32, i32)) -> Option<i32> {
        let (known, short) = (self.bracket(), self.by_short());
        let low_way = if known.0.is_none() { self.way(low, short.0) } else { None };
        let high_way = if known.1.is_none() { self.way(high, short.1) } else { None };
        let left_s = self.search.limit_s - self.spent_s;
        let ways = || low_way.into_iter().chain(high_way);
        let needs_s: f64 = ways().map(|(_, needs_s)| needs_s).sum();
        if needs_s + self.full_s(low).max(self.full_s(high)) <= left_s {
            return None;
        }
        let within = ways().filter(|(_, needs_s)| *needs_s <= left_s);
        within.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
    }

    /// The rate at which this end is decided soonest: here, or where the short trials have it.
    fn way(&self, here: i32, short: Option<i32>) -> Option<Way> {
        let is_open = |number: &i32| self.word(*number) == Word::Open;
        let is_new = |number: &i32| is_open(number) && self.count(*number) < TRIALS_LEAST;
        let all = short.filter(is_new).into_iter().chain(Some(here).filter(is_open));
        all.map(|number| (number, self.needs_s(number))).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How long the full trials take by which a rate would be decided, if all goes well.
    fn needs_s(&self, number: i32) -> f64 {
        let trials = match self.count(number) {
            count if count < TRIALS_LEAST => TRIALS_LEAST - count,
            _ => self.trials_to_decide(number),
        };
        trials as f64 * self.full_s(number)
    }

    /// What a full trial takes in all: less than was planned where such trials end early.
    fn full_s(&self, number: i32) -> f64 {
        let planned = self.press(PressKind::Full, number).seconds + self.around();
        self.takes_s.get(&number).map_or(planned, |takes| takes.min(planned))
    }
}
