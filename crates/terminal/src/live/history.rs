//! What the view remembers: a little for every slot of time, and the last second in full.

use std::collections::VecDeque;

use agents::AgentNow;
use load::{Failure, Glance, Nanos, SECOND};
use units::nanos;

/// Values and how often each occurred, in ascending order where they come from one histogram.
pub(super) type Values = Vec<(Nanos, u64)>;

/// Everything that the view takes from the run, ten times a second.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) from: Nanos,
    pub(super) now: Nanos,
    pub(super) is_warmup: bool,
    pub(super) attempted: u64,
    pub(super) correct: u64,
    pub(super) failed: u64,
    pub(super) response: Values,
    /// The least time after which a request was given up.
    pub(super) least_bound: Option<Nanos>,
    pub(super) late_p99: Option<Nanos>,
    pub(super) in_flight: f64,
    pub(super) total_attempted: u64,
    pub(super) total_failed: [u64; Failure::COUNT],
}

impl Snapshot {
    pub(super) fn of(glance: &Glance<'_>) -> Snapshot {
        let (window, total) = (glance.window, glance.total);
        let length = glance.now.saturating_sub(glance.from).max(1);
        Snapshot {
            from: glance.from,
            now: glance.now,
            is_warmup: glance.is_warmup,
            attempted: window.attempted + window.warmup_attempted,
            correct: window.answered,
            failed: window.failed_in_all() + window.warmup_failed,
            response: window.response.values().collect(),
            least_bound: window.response.least_bound(),
            late_p99: window.late.quantile(0.99).map(|late| late.value),
            in_flight: window.in_flight_area as f64 / length as f64,
            total_attempted: total.attempted,
            total_failed: total.failed,
        }
    }
}

/// A stretch of time, summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub(super) from: Nanos,
    pub(super) until: Nanos,
    pub(super) attempted: u64,
    pub(super) correct: u64,
    pub(super) failed: u64,
    pub(super) p50: Option<Nanos>,
    pub(super) p90: Option<Nanos>,
    pub(super) p99: Option<Nanos>,
    pub(super) max: Option<Nanos>,
    least_bound: Option<Nanos>,
}

impl Slot {
    fn of(snapshots: &VecDeque<Snapshot>) -> Option<Slot> {
        let (first, last) = (snapshots.front()?, snapshots.back()?);
        let sum = |count: fn(&Snapshot) -> u64| snapshots.iter().map(count).sum();
        let mut values: Values =
            snapshots.iter().flat_map(|snapshot| snapshot.response.iter().copied()).collect();
        values.sort_unstable();
        Some(Slot {
            from: first.from,
            until: last.now,
            attempted: sum(|snapshot| snapshot.attempted),
            correct: sum(|snapshot| snapshot.correct),
            failed: sum(|snapshot| snapshot.failed),
            p50: quantile(&values, 0.5),
            p90: quantile(&values, 0.9),
            p99: quantile(&values, 0.99),
            max: values.last().map(|(value, _)| *value),
            least_bound: snapshots.iter().filter_map(|snapshot| snapshot.least_bound).min(),
        })
    }

    /// One of its response times: `≥ 5.00 s` where it may be one that was given up.
    pub(super) fn written(&self, value: Option<Nanos>) -> String {
        let Some(value) = value else { return "–".into() };
        let is_bound = self.least_bound.is_some_and(|least| least <= value);
        format!("{}{}", if is_bound { "≥ " } else { "" }, nanos(value))
    }

    fn per_s(&self, count: u64) -> f64 {
        let length = self.until.saturating_sub(self.from).max(1);
        count as f64 * SECOND as f64 / length as f64
    }

    pub(super) fn attempted_per_s(&self) -> f64 {
        self.per_s(self.attempted)
    }

    pub(super) fn correct_per_s(&self) -> f64 {
        self.per_s(self.correct)
    }
}

fn quantile(sorted: &Values, q: f64) -> Option<Nanos> {
    let count: u64 = sorted.iter().map(|(_, count)| count).sum();
    let rank = (q * count as f64).ceil() as u64;
    let mut seen = 0;
    sorted.iter().find_map(|&(value, count)| {
        seen += count;
        (rank <= seen).then_some(value)
    })
}

#[derive(Debug)]
pub(super) struct History {
    slot_length: Nanos,
    /// Oldest first; at most `SLOTS_MAX`.
    pub(super) slots: VecDeque<Slot>,
    /// When measuring began; until then, now.
    pub(super) measured_from: Nanos,
    /// What the agents do now; empty where this process loads.
    pub(super) agents: Vec<AgentNow>,
    gathered: VecDeque<Snapshot>,
    last_second: VecDeque<Snapshot>,
}

const SLOTS_MAX: usize = 1_024;

impl History {
    pub(super) fn new(slot_length: Nanos) -> History {
        History {
            slot_length,
            slots: VecDeque::new(),
            measured_from: 0,
            agents: Vec::new(),
            gathered: VecDeque::new(),
            last_second: VecDeque::new(),
        }
    }

    /// Adds a snapshot; returns whether a slot is complete with it.
    pub(super) fn add(&mut self, snapshot: Snapshot) -> bool {
        let now = snapshot.now;
        if snapshot.is_warmup {
            self.measured_from = now;
        } else if self.newest().is_some_and(|last| last.is_warmup) {
            // The warm-up is not mixed with what is measured.
            self.gathered.clear();
            self.last_second.clear();
        }
        self.last_second.push_back(snapshot.clone());
        while self.last_second.front().is_some_and(|oldest| oldest.from + SECOND < now) {
            self.last_second.pop_front();
        }
        self.gathered.push_back(snapshot);
        let since = self.gathered.front().map_or(now, |first| first.from);
        // A window may end a little early or late.
        let is_full = self.slot_length <= now - since + SECOND / 100;
        if is_full {
            self.slots.extend(Slot::of(&self.gathered));
            self.gathered.clear();
        }
        if SLOTS_MAX < self.slots.len() {
            self.slots.pop_front();
        }
        is_full
    }

    /// The last second.
    pub(super) fn lately(&self) -> Option<Slot> {
        Slot::of(&self.last_second)
    }

    pub(super) fn newest(&self) -> Option<&Snapshot> {
        self.last_second.back()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The `n`th tenth of a second: a hundred answers of `ms`.
    pub(crate) fn snapshot(n: u64, ms: u64) -> Snapshot {
        Snapshot {
            from: n * SECOND / 10,
            now: (n + 1) * SECOND / 10,
            is_warmup: false,
            attempted: 100,
            correct: 100,
            failed: 0,
            response: vec![(ms * 1_000_000, 98), (ms * 10_000_000, 2)],
            least_bound: None,
            late_p99: Some(12_000),
            in_flight: 10.0,
            total_attempted: (n + 1) * 100,
            total_failed: [0; Failure::COUNT],
        }
    }

    #[test]
    fn slots_have_the_percentiles_of_all_their_windows() {
        let mut history = History::new(SECOND / 5);
        assert!(!history.add(snapshot(0, 1)));
        assert!(history.add(snapshot(1, 3)));
        let slot = &history.slots[0];
        assert_eq!((slot.p50, slot.p99), (Some(3_000_000), Some(10_000_000)));
        assert_eq!((slot.correct_per_s(), slot.max), (1_000.0, Some(30_000_000)));
    }

    #[test]
    fn what_may_have_been_given_up_is_no_value() {
        let mut history = History::new(SECOND / 5);
        history.add(snapshot(0, 1));
        history.add(Snapshot { least_bound: Some(20_000_000), ..snapshot(1, 3) });
        let slot = &history.slots[0];
        let shown = [slot.p50, slot.p99, slot.max, None].map(|value| slot.written(value));
        assert_eq!(shown, ["3.00 ms", "10.0 ms", "≥ 30.0 ms", "–"]);
    }

    #[test]
    fn the_last_second_forgets_what_is_older() {
        let mut history = History::new(SECOND);
        (0..50).for_each(|n| {
            history.add(snapshot(n, n + 1));
        });
        let lately = history.lately().unwrap();
        assert_eq!((lately.from, lately.until), (4 * SECOND, 5 * SECOND));
        assert_eq!((lately.attempted, history.slots.len()), (1_000, 5));
    }
}
