//! The times of a run, and each lane's share of it.

use std::ops::Range;
use std::time::Duration;

use crate::Nanos;
use crate::arrivals::{Arrivals, Rate};
use crate::order::{Load, Order, nanos};

/// The run's times and shares, the same for all lanes of all processes.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Lanes that have something to do, over all processes.
    pub(crate) lanes: usize,
    /// Those of this process, by their numbers.
    pub(crate) own: Range<usize>,
    /// Schedules start here; connections are opened before.
    pub(crate) lead: Nanos,
    pub(crate) times: Times,
}

/// What a lane's recorder needs to know about the run.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// The length of a window.
    pub(crate) width: Nanos,
    pub(crate) measured: Range<Nanos>,
    /// Latencies up to this one are distinguished.
    pub(crate) longest: Nanos,
    /// A request that is answered within this time of its intended start is on time.
    pub(crate) on_time_within: Nanos,
    /// Parts of the measured time over which a changing load is reported separately.
    pub(crate) sections: Vec<Range<Nanos>>,
}

/// A ramp is divided into this many parts, and so are listed times.
const TENTHS: Nanos = 10;
/// If there are more steps than this, several are reported together.
const SECTIONS_MAX: usize = 64;

impl Plan {
    pub(crate) fn of(order: &Order) -> Plan {
        let width = order.window_length();
        let opening = match &order.load {
            Load::Closed { .. } => 0,
            Load::Open { connections, .. } => {
                (20_000 * *connections as Nanos).div_ceil(width).max(1) * width
            }
            Load::Sessions { .. } => width,
        };
        // The measured time begins with a window, so that no window is half of it; before it, a schedule's warm-up
        // lasts as long as was ordered.
        let from = (opening + nanos(order.warmup)).div_ceil(width) * width;
        let lead = if order.load.arrivals().is_some() { from - nanos(order.warmup) } else { 0 };
        let until = order.length().map_or(Nanos::MAX, |length| from.saturating_add(length));
        let lanes = order.lanes_in_all().clamp(1, order.load.connections_max().max(1));
        Plan {
            lanes,
            own: own_lanes(order.first_lane(), order.lanes.max(1), lanes),
            lead,
            times: Times {
                width,
                measured: from..until,
                longest: nanos(order.timeout).saturating_mul(2),
                on_time_within: nanos(order.on_time_within()),
                sections: sections(&order.load, lead, &(from..until)),
            },
        }
    }

    /// The plan where all lanes are this process's.
    pub(crate) fn of_all(order: &Order) -> Plan {
        let plan = Plan::of(order);
        Plan { own: 0..plan.lanes, ..plan }
    }

    /// So many lanes from this one on, without those that have nothing to do.
    pub(crate) fn own_of(&self, first: usize, lanes: usize) -> Range<usize> {
        own_lanes(first, lanes, self.lanes)
    }

    /// Until when a schedule has something due in the measured time; where the ordered number ends it, until when the
    /// next request would have been due, if the schedule says when. None for a closed loop.
    pub(crate) fn scheduled_until(&self, order: &Order) -> Option<Nanos> {
        let arrivals = order.load.arrivals()?;
        let total = order.stop.total.filter(|_| arrivals.mean_gap().is_none());
        let by_total = total.map(|total| {
            let before = self.before_measured(arrivals);
            self.lead.saturating_add(arrivals.instant(before.saturating_add(total)))
        });
        Some(
            by_total
                .unwrap_or(Nanos::MAX)
                .min(self.times.measured.end)
                .max(self.times.measured.start),
        )
    }

    /// How many arrivals are due during the warm-up; on average, where they are random.
    pub(crate) fn before_measured(&self, arrivals: &Arrivals) -> u64 {
        arrivals.expected(Duration::from_nanos(self.times.measured.start - self.lead)).ceil() as u64
    }

    /// One lane's share of `all`.
    pub(crate) fn share(&self, all: u64, lane: usize) -> u64 {
        let (lanes, lane) = (self.lanes as u64, lane as u64);
        all / lanes + u64::from(lane < all % lanes)
    }
}

/// So many lanes from the first one on, of those that there are.
fn own_lanes(first: usize, lanes: usize, of: usize) -> Range<usize> {
    first.min(of)..first.saturating_add(lanes).min(of)
}

/// The parts of a changing load that lie in the measured time.
fn sections(load: &Load, lead: Nanos, measured: &Range<Nanos>) -> Vec<Range<Nanos>> {
    let lengths: Vec<Nanos> = match load.arrivals() {
        Some(Arrivals::Ramp { over, .. }) => tenths(nanos(*over)),
        Some(Arrivals::Listed(listed)) => tenths(nanos(listed.length())),
        Some(Arrivals::Steps(steps)) => {
            let together = steps.len().div_ceil(SECTIONS_MAX).max(1);
            let length =
                |steps: &[(Rate, Duration)]| steps.iter().map(|(_, one)| nanos(*one)).sum();
            steps.chunks(together).map(length).collect()
        }
        Some(Arrivals::Constant(_) | Arrivals::Poisson(_)) | None => Vec::new(),
    };
    let mut from = lead;
    let parts = lengths.into_iter().map(|length| {
        let part = from.max(measured.start)..(from + length).min(measured.end);
        from += length;
        part
    });
    parts.filter(|part| part.start < part.end).collect()
}

/// The lengths of ten parts, which are `whole` together.
fn tenths(whole: Nanos) -> Vec<Nanos> {
    let border = |part: Nanos| (u128::from(whole) * u128::from(part) / u128::from(TENTHS)) as Nanos;
    (0..TENTHS).map(|part| border(part + 1) - border(part)).collect()
}
