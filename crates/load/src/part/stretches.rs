//! Windows of several processes are added up, and neighbours are put together where there are too many. Both can be done
//! in any order.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::distribution::{Distribution, Folded};
use crate::recording::Window;
use crate::tally::{Tally, add};

/// Stretches in their order, none of which reaches into another, but for the one in which the measured time begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stretches {
    /// How many of the shortest windows make one stretch at most: a power of two.
    pub(super) coarseness: u64,
    pub(super) all: Vec<Window>,
}

/// So many or more are put together in pairs: memory does not grow with time.
pub(super) const STRETCHES_MAX: usize = 1_200;

impl Default for Stretches {
    fn default() -> Stretches {
        Stretches { coarseness: 1, all: Vec::new() }
    }
}

impl Window {
    /// A window.
    pub(crate) fn of(from: Nanos, until: Nanos, is_warmup: bool, tally: &Tally) -> Window {
        Window {
            from,
            until,
            is_warmup,
            attempted: tally.attempted + tally.warmup_attempted,
            correct: tally.answered,
            failed: tally.failed,
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
            in_flight_area: tally.in_flight_area,
            cpu: tally.cpu,
            response: Folded::of(&tally.response),
            service: Folded::of(&tally.service),
        }
    }

    /// Its place among all of this width: two of one place are put together.
    pub(super) fn place(&self, wide: Nanos) -> (u64, bool) {
        (self.from / wide, !self.is_warmup)
    }

    fn absorb(&mut self, other: &Window) {
        self.from = self.from.min(other.from);
        self.until = self.until.max(other.until);
        self.attempted += other.attempted;
        self.correct += other.correct;
        add(&mut self.failed, &other.failed);
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.in_flight_area += other.in_flight_area;
        self.cpu += other.cpu;
        self.response.absorb(&other.response);
        self.service.absorb(&other.service);
    }
}

impl Stretches {
    pub(crate) fn last(&self) -> Option<&Window> {
        self.all.last()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Window> {
        self.all.iter()
    }

    /// Keeps what comes after all others.
    pub(crate) fn keep(&mut self, width: Nanos, next: Window) {
        let wide = self.wide(width);
        match self.all.last_mut() {
            Some(last) if last.place(wide) == next.place(wide) => last.absorb(&next),
            Some(_) | None => self.all.push(next),
        }
        self.bound(width);
    }

    /// Adds those of another process. How coarse they become depends only on which windows there were in all: a part is
    /// never coarser than the whole.
    pub(crate) fn merge(&mut self, width: Nanos, other: Stretches) {
        self.coarseness = self.coarseness.max(other.coarseness);
        self.all.extend(other.all);
        self.gather(width);
        self.bound(width);
    }

    /// The service times of those of the measured time that are chosen; none if there are none.
    pub(crate) fn service_where(
        &self,
        is_chosen: impl Fn(&Window) -> bool,
    ) -> Option<Distribution> {
        let chosen = self.all.iter().filter(|window| !window.is_warmup && is_chosen(window));
        let service = chosen.map(|window| window.service.clone()).reduce(|mut all, next| {
            all.absorb(&next);
            all
        });
        service.filter(|service| 0 < service.count()).map(|service| service.unfold())
    }

    pub(crate) fn into_windows(self) -> Vec<Window> {
        self.all
    }

    fn wide(&self, width: Nanos) -> Nanos {
        width.saturating_mul(self.coarseness).max(1)
    }

    fn bound(&mut self, width: Nanos) {
        while STRETCHES_MAX <= self.all.len() {
            self.coarseness = self.coarseness.saturating_mul(2);
            self.gather(width);
        }
    }

    /// Puts together what belongs to one place.
    fn gather(&mut self, width: Nanos) {
        let wide = self.wide(width);
        let mut apart = std::mem::take(&mut self.all);
        apart.sort_by_key(|stretch| stretch.place(wide));
        for stretch in apart {
            match self.all.last_mut() {
                Some(last) if last.place(wide) == stretch.place(wide) => last.absorb(&stretch),
                Some(_) | None => self.all.push(stretch),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SECOND;

    const WIDTH: Nanos = SECOND / 10;
    const MEASURED_FROM: Nanos = 37 * WIDTH;

    fn window(index: u64, seed: u64) -> Window {
        let mut tally = Tally::new(SECOND);
        tally.response.record(seed * 1_000 + 7);
        (tally.attempted, tally.in_flight_area) = (seed, u128::from(seed) << 60);
        let from = index * WIDTH;
        Window::of(from, from + WIDTH, from < MEASURED_FROM, &tally)
    }

    fn kept(indices: impl Iterator<Item = (u64, u64)>) -> Stretches {
        let mut all = Stretches::default();
        indices.for_each(|(index, seed)| all.keep(WIDTH, window(index, seed)));
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// However windows are dealt out to processes, with gaps, and in whatever order these are put together.
        #[test]
        fn windows_of_several_processes_are_those_of_one(
            length in prop::sample::select(vec![10_u64, 1_199, 1_200, 1_201, 2_500, 5_000]),
            sparse in 1_u64..5,
            parts in 1_usize..5,
            order in any::<u64>(),
        ) {
            let mut chance = wire::Chance::new(order);
            // Each process leaves some windows out, as one that was not running.
            let lanes: Vec<Vec<(u64, u64)>> = (0..parts)
                .map(|_| {
                    let all = (0..length).filter(|_| chance.below(sparse as usize) == 0);
                    all.collect::<Vec<_>>().into_iter().map(|n| (n, n % 997 + 1)).collect()
                })
                .collect();
            let mut alone = Stretches::default();
            for index in 0..length {
                let mut here = lanes.iter().flatten().filter(|(other, _)| *other == index);
                let Some(&(_, seed)) = here.next() else { continue };
                let mut whole = window(index, seed);
                here.for_each(|&(_, seed)| whole.absorb(&window(index, seed)));
                alone.keep(WIDTH, whole);
            }
            let mut apart: Vec<Stretches> =
                lanes.iter().map(|lane| kept(lane.iter().copied())).collect();
            let mut together = Stretches::default();
            while !apart.is_empty() {
                let next = chance.below(apart.len());
                together.merge(WIDTH, apart.swap_remove(next));
            }
            prop_assert!(alone.all.len() < STRETCHES_MAX);
            prop_assert_eq!(alone, together);
        }
    }
}
