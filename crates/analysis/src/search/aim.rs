//! What is demanded of a server, and what a trial says of it.

use lab::search_goal::Limit;
use load::{Quantile, Recording, Tally};

use super::seconds;

/// What is demanded at a rate: all of it at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// Percentiles of the response time, from when each request was due; at least one.
    pub limits: Vec<Limit>,
    /// The share of the requests that may fail.
    pub failures: f64,
}

/// A share of the requests that may be lost, and what counts as lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Answered later than this is lost. None: only what failed is.
    pub limit: Option<Limit>,
    pub allowed: f64,
}

/// What a trial says of an aim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Requests that were due.
    pub due: u64,
    /// Requests that were due and are lost, by criterion.
    pub lost: Vec<u64>,
    /// It was ended early, because it could not keep the aim any more: the true losses may be more.
    pub is_cut: bool,
    /// Right answers each second.
    pub answered_per_s: f64,
    /// The first limit's percentile of this trial.
    pub percentile: Option<Quantile>,
    /// The first criterion's losses and all requests due, in equal parts of the time.
    pub parts: Vec<(u64, u64)>,
}

/// A trial's time is divided into so many parts.
pub(super) const PARTS: usize = 20;

impl Aim {
    /// The percentiles, then the failures.
    #[must_use]
    pub fn criteria(&self) -> Vec<Criterion> {
        let late = |limit: &Limit| Criterion {
            limit: Some(*limit),
            // A percent at a time: 100 - 99.9 would not be 0.1.
            allowed: ((100.0 - limit.percent) * 1e6).round() / 1e8,
        };
        let failed = Criterion { limit: None, allowed: self.failures };
        self.limits.iter().map(late).chain([failed]).collect()
    }

    /// The smallest share that may be lost: it says how many requests a trial needs.
    #[must_use]
    pub fn finest(&self) -> f64 {
        let late = self.criteria().into_iter().filter(|criterion| criterion.limit.is_some());
        late.map(|criterion| criterion.allowed).fold(1.0, f64::min)
    }

    /// Whether a trial of so many requests, of which so many are lost already, has no chance any more. It is far beyond the
    /// aim then: losses that are merely too many are measured to the end, so that they may be added up.
    #[must_use]
    pub fn is_hopeless(&self, lost: &[u64], due_in_all: u64) -> bool {
        let is_lost = |(criterion, lost): (Criterion, &u64)| {
            let bound = (FAR_BEYOND * criterion.allowed).min(f64::midpoint(1.0, criterion.allowed));
            (bound * due_in_all as f64).max(LOST_AT_LEAST) < *lost as f64
        };
        self.criteria().into_iter().zip(lost).any(is_lost)
    }
}

/// A trial is ended early if so many times as much is lost as may be.
const FAR_BEYOND: f64 = 4.0;
/// It is not ended early before so many requests are lost.
const LOST_AT_LEAST: f64 = 20.0;

impl Evidence {
    /// Whether this trial by itself kept the aim. What one that ended early would have lost is not known, however little
    /// it had lost.
    #[must_use]
    pub fn keeps(&self, aim: &Aim) -> bool {
        let kept = |(criterion, lost): (Criterion, &u64)| {
            *lost as f64 <= criterion.allowed * self.due as f64 * (1.0 + 1e-12)
        };
        0 < self.due && !self.is_cut && aim.criteria().into_iter().zip(&self.lost).all(kept)
    }

    /// Everything was lost.
    #[must_use]
    pub fn nothing(aim: &Aim, due: u64) -> Evidence {
        let due = due.max(1);
        let lost = vec![due; aim.limits.len() + 1];
        Evidence { due, lost, is_cut: true, ..Evidence::default() }
    }
}

/// What a recording says of an aim. Requests that were neither answered nor given up are lost.
///
/// Whether an answer was within a limit is read off the histogram, whose buckets are a thousandth wide: the bucket in which
/// the limit lies counts as within. For the limit of the load's order it is exact.
#[must_use]
pub fn evidence(aim: &Aim, recording: &Recording, rate: f64, planned_s: f64) -> Evidence {
    let due = lab::figure::rates::on_time(recording, None).due;
    let total = &recording.total;
    // A load that ended early was to have so many.
    let planned = (rate * planned_s).round() as u64;
    let is_cut = recording.end != load::End::Done;
    let due_in_all = if is_cut { due.max(planned) } else { due };
    let of_limit = |limit: &Limit| {
        let found = lab::figure::rates::on_time(recording, Some(limit.within));
        found.due.saturating_sub(found.on_time)
    };
    let unanswered = total.failed_in_all() + if is_cut { 0 } else { total.under_way };
    // What was under way when a load was ended early may have been in time yet.
    let open = if is_cut { total.under_way } else { 0 };
    let late = aim.limits.iter().map(|limit| of_limit(limit).saturating_sub(open));
    Evidence {
        due: due_in_all,
        lost: late.chain([unanswered.min(due)]).collect(),
        is_cut,
        answered_per_s: lab::figure::rates::throughput_per_s(recording).unwrap_or(0.0),
        percentile: aim
            .limits
            .first()
            .and_then(|limit| total.response.quantile(limit.percent / 100.0)),
        parts: aim.limits.first().map_or_else(Vec::new, |limit| parts(recording, *limit)),
    }
}

/// What is lost for certain so far, by criterion.
#[must_use]
pub fn lost_so_far(aim: &Aim, total: &Tally) -> Vec<u64> {
    let failed = total.failed_in_all();
    let late = |limit: &Limit| {
        (total.correct + failed).saturating_sub(total.response.known_within(limit.within))
    };
    aim.limits.iter().map(late).chain([failed]).collect()
}

/// The losses of one limit in equal parts of the measured time.
fn parts(recording: &Recording, limit: Limit) -> Vec<(u64, u64)> {
    let measured = seconds(recording.measured_until.saturating_sub(recording.measured_from));
    let mut parts = vec![(0, 0); PARTS];
    for window in recording.windows.iter().filter(|window| !window.is_warmup) {
        let from = seconds(window.from.saturating_sub(recording.measured_from));
        let place = (from / measured * PARTS as f64) as usize;
        let response = window.response.unfold();
        let failed: u64 = window.failed.iter().sum();
        let late = (response.count() - response.known_within(limit.within)).max(failed);
        if let Some(part) = parts.get_mut(place) {
            *part = (part.0 + late.min(window.attempted), part.1 + window.attempted);
        }
    }
    parts
}
