//! What one share of a load saw, in a few figures: so that shares can be compared, which are never averaged.

use serde::{Deserialize, Serialize};

use super::Part;
use crate::recording::LaneReport;
use crate::{Nanos, SECOND};

/// A share of a load in a few figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSummary {
    pub attempted: u64,
    pub correct: u64,
    /// The median of its response times; none where it is not known.
    pub p50: Option<Nanos>,
    /// The 10th and the 90th percentile of its windows' medians: how much the median varies by itself.
    pub p50_of_windows: Option<(Nanos, Nanos)>,
    pub p99: Option<Nanos>,
    /// How late its lanes sent requests, the p99.
    pub late_p99: Option<Nanos>,
    /// Its lanes that had something to do.
    pub lanes: u64,
    /// For how long they were idle in the measured time, all together, and for how long they had a CPU.
    pub idle: Nanos,
    pub cpu: Nanos,
    /// The longest time for which one of its lanes was not running.
    pub still: Nanos,
    /// The measured time. A part alone knows only how long its lanes were there, all together.
    pub measured: Nanos,
}

impl PartSummary {
    /// The share of their time in which its lanes had something to do.
    #[must_use]
    pub fn busy(&self) -> Option<f64> {
        self.of_wall(self.wall().saturating_sub(self.idle))
    }

    /// The share of their time in which its lanes had a CPU.
    #[must_use]
    pub fn on_cpu(&self) -> Option<f64> {
        self.of_wall(self.cpu)
    }

    /// What it saw in a measured time of this length, in which its lanes were idle when they had ended.
    #[must_use]
    pub fn of_measured(self, measured: Nanos) -> PartSummary {
        let all = measured.saturating_mul(self.lanes);
        let idle = self.idle.saturating_add(all.saturating_sub(self.measured));
        PartSummary { idle, measured, ..self }
    }

    /// The requests that were due each second of the measured time.
    #[must_use]
    pub fn attempted_per_s(&self) -> Option<f64> {
        let seconds = self.measured as f64 / SECOND as f64;
        (0 < self.measured).then(|| self.attempted as f64 / seconds)
    }

    /// The time of all its lanes.
    fn wall(&self) -> Nanos {
        self.measured.saturating_mul(self.lanes)
    }

    fn of_wall(&self, part: Nanos) -> Option<f64> {
        (0 < self.wall()).then(|| part as f64 / self.wall() as f64)
    }
}

impl Part {
    /// What this share saw.
    #[must_use]
    pub fn summary(&self) -> PartSummary {
        let total = &self.total;
        let known = |distribution: &crate::Distribution, q: f64| {
            distribution.quantile(q).filter(|it| !it.is_bound).map(|it| it.value)
        };
        let measured = self.windows.iter().filter(|window| !window.is_warmup);
        let mut medians: Vec<Nanos> =
            measured.filter_map(|window| known(&window.response.unfold(), 0.5)).collect();
        medians.sort_unstable();
        let tenth = |share: usize| medians.get(medians.len() * share / 10).copied();
        // It has not been checked yet: what it claims may be too large to be added.
        let sum = |of: fn(&LaneReport) -> Nanos| {
            self.reports.iter().fold(0, |sum: Nanos, lane| sum.saturating_add(of(lane)))
        };
        PartSummary {
            attempted: total.attempted,
            correct: total.correct,
            p50: known(&total.response, 0.5),
            p50_of_windows: tenth(1).zip(tenth(9)),
            p99: known(&total.response, 0.99),
            late_p99: known(&total.late, 0.99),
            lanes: self.reports.len() as u64,
            idle: sum(|lane| lane.idle),
            cpu: sum(|lane| lane.cpu_time),
            still: total.still.longest(),
            measured: sum(|lane| lane.wall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_as_busy_as_its_lanes_together() {
        let saw = PartSummary {
            attempted: 300,
            lanes: 2,
            idle: 5 * SECOND,
            cpu: 12 * SECOND,
            measured: 10 * SECOND,
            ..PartSummary::default()
        };
        let (busy, on_cpu, per_s) = (saw.busy(), saw.on_cpu(), saw.attempted_per_s());
        assert_eq!((busy, on_cpu, per_s), (Some(0.75), Some(0.6), Some(30.0)));
        let short = PartSummary { idle: 2 * SECOND, measured: 3 * SECOND, ..saw };
        assert_eq!(
            short.of_measured(10 * SECOND).busy(),
            Some(0.05),
            "its lanes were there for 3 s"
        );
        // What it claims is not believed before it is checked.
        let wrong = PartSummary { idle: u64::MAX, lanes: u64::MAX, ..saw };
        assert_eq!(wrong.busy(), Some(0.0));
        let nothing = PartSummary::default();
        let nothing = (nothing.busy(), nothing.on_cpu(), nothing.attempted_per_s());
        assert_eq!(nothing, (None, None, None));
    }
}
