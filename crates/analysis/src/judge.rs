//! The judgement of a row, made once. Headlines, marks, capacities and charts show this judgement and make none of their
//! own.

use lab::experiment::{Point, Promised};
use lab::figure::{Figure, rates::KEPT_UP};

use crate::board::{Board, JudgedTrial, Row, Table};
use crate::doubt::rate::GROWING;
use crate::judgement::{Breach, Judgement, Unranked};
use crate::verdict::Verdict;

impl Board {
    /// Competitors whose figures do not answer the question, or that have none: they cannot be ranked although they
    /// were run.
    pub fn in_vain(&self) -> impl Iterator<Item = (&Table, &Row)> {
        let rows =
            self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        rows.filter(|(_, row)| {
            let would_rank = !row.is_reference && row.unmet.is_none();
            would_rank && row.verdict() == Some(Verdict::Invalid)
        })
    }
}

impl Row {
    /// Whether it did not keep up with its schedule, over its rounds: not a doubt about the row, but a finding.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        kept_up(self) == Some(false)
    }

    /// Whether the server may be what limits its rate. One that keeps up with a schedule achieves what was offered, as
    /// every other does, and one that holds more connections is not faster.
    pub(crate) fn is_limited(&self) -> bool {
        match self.point {
            Point::Connections(_) => true,
            Point::Held(_) => false,
            Point::Requests(_) | Point::Sessions(_) => self.is_behind(),
        }
    }
}

/// Judges a row whose doubts and marks are complete.
pub(crate) fn judge(row: &Row, promise: Promised) -> Judgement {
    Judgement {
        kept_up: kept_up(row),
        breaches: row.is_offered().then(|| breaches(row, promise)),
        unranked: unranked(row),
    }
}

/// Over its rounds: enough of the requests due were on time, and there was a growing queue in fewer than half of them.
pub(crate) fn kept_up(row: &Row) -> Option<bool> {
    let on_time = row.estimate(Figure::OnTime).filter(|_| row.is_offered())?;
    Some(KEPT_UP <= on_time.value / 100.0 && !is_growing(row))
}

fn is_growing(row: &Row) -> bool {
    let growing = row.measured_trials().filter(|trial| grows(trial)).count();
    0 < growing && row.measured() <= 2 * growing
}

fn unranked(row: &Row) -> Option<Unranked> {
    if row.is_reference {
        return Some(Unranked::Reference);
    }
    if row.unmet.is_some() {
        return Some(Unranked::Unmet);
    }
    if row.measured() == 0 {
        return Some(Unranked::Unmeasured);
    }
    (row.verdict() == Some(Verdict::Invalid)).then_some(Unranked::Invalid)
}

fn breaches(row: &Row, promise: Promised) -> Vec<Breach> {
    let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
    let mut breaches = broken(value, promise, is_growing(row));
    if !row.unmeasured().is_empty() && breaches != [Breach::Unmeasured] {
        breaches.insert(0, Breach::Unmeasured);
    }
    breaches
}

/// Whether a single round kept the promise.
pub(crate) fn keeps(trial: &JudgedTrial, promise: Promised) -> bool {
    let value = |figure| trial.figures.get(figure).map(|number| number.value);
    trial.is_measured() && broken(value, promise, grows(trial)).is_empty()
}

fn grows(trial: &JudgedTrial) -> bool {
    trial.doubts.iter().any(|doubt| doubt.is(&GROWING))
}

/// How these figures break the promise.
fn broken(
    value: impl Fn(Figure) -> Option<f64>,
    promise: Promised,
    is_growing: bool,
) -> Vec<Breach> {
    let (Some(failed), Some(on_time)) = (value(Figure::FailedShare), value(Figure::OnTime)) else {
        return vec![Breach::Unmeasured];
    };
    // Where all requests failed, no time is known, and the failures are what was measured.
    let p99 = value(Figure::ResponseP99);
    if p99.is_none() && failed <= promise.failed_percent {
        return vec![Breach::Unmeasured];
    }
    let share = on_time / 100.0;
    let behind = match (share < KEPT_UP, is_growing) {
        (true, _) => Some(Breach::Behind(share)),
        (false, true) => Some(Breach::Growing),
        (false, false) => None,
    };
    let all = [
        p99.filter(|p99| promise.p99_ms() < *p99).map(Breach::P99),
        (promise.failed_percent < failed).then_some(Breach::Failed(failed)),
        behind,
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
