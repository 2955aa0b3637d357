//! Whether requests failed, or had to wait for a connection, and through what.

use load::{Failure, Recording, Tally};
use units::{count, percent, time};

use super::Ordered;
use super::definition::{Weight, family, in_percent};
use crate::conduct::Faults;
use crate::verdict::Gravity;

/// If dyno's own failures are a larger share, the rest is not a sample of what was ordered.
pub(super) const OWN: f64 = 0.01;
/// If a larger share of a load that stands alone failed, its latencies are mostly those of the others.
const FAILED: f64 = 0.01;
/// If more of the requests waited for a connection than this, it is said.
const WAITED: f64 = 0.01;

family! {
    /// Requests that failed, or had to wait.
    FailuresDoubt;

    /// Requests failed for reasons of dyno's own.
    Own {
        /// How many failed.
        failed: u64,
        /// How many were due.
        attempted: u64,
    }
    id: "own_failures",
    gravity: Weight::ByShare {
        usual: Gravity::Suspect,
        graver: Gravity::Invalid,
        part: *failed as f64,
        whole: *attempted as f64,
        bound: OWN,
        of: "of the requests",
    },
    when: "one request or more failed for a reason of dyno's own",
    because: "that is not the subject's failure",
    says: format!(
        "{} of {} requests failed for reasons of dyno's own",
        count(*failed),
        count(*attempted)
    ),
    way_out: "see their classes; offer less, or give dyno more of what it lacked",
    examples: [{ failed: 1, attempted: 2 }],

    /// Requests of a load that stands alone failed, or its sessions were not completed, and not for a reason of dyno's
    /// own.
    Others {
        faults: Faults,
        /// The class that was seen most, wrong answers included; none where the server only ended connections.
        mostly: Option<Failure>,
    }
    id: "failures",
    gravity: Weight::ByShare {
        usual: Gravity::Note,
        graver: Gravity::Suspect,
        part: faults.all() as f64,
        whole: faults.of as f64,
        bound: FAILED,
        of: "of the requests or sessions",
    },
    when: "for `dyno load`: requests failed, and not for a reason of dyno's own; of a load of sessions, sessions were not \
        completed: a call failed, or the server ended the connection before the last one",
    because: "the latencies are mostly those of the others",
    says: format!(
        "{} of {} {} ({}) {}{}",
        count(faults.all()),
        count(faults.of),
        if faults.of_sessions { "sessions" } else { "attempts" },
        percent(faults.all() as f64 / faults.of.max(1) as f64),
        if faults.of_sessions { "were not completed" } else { "failed" },
        match mostly.filter(|_| faults.cut.sessions == 0) {
            Some(mostly) => format!(", mostly {mostly} ({})", mostly.meaning()),
            None => faults.why(),
        }
    ),
    way_out: if 0 < faults.cut.sessions {
        "see the server's limit of requests for a connection, or let sessions make fewer calls (--calls)"
    } else {
        "the latencies are mostly those of the others: find the cause, or offer less"
    },
    examples: [
        {
            faults: Faults { failed: 1, of: 1_000, ..Faults::default() },
            mostly: Some(Failure::Deadline)
        },
        {
            faults: Faults { failed: 11, of: 1_000, ..Faults::default() },
            mostly: Some(Failure::Deadline)
        },
    ],

    /// Such a share of the requests of a load that stands alone had to wait for a free connection.
    Blocked {
        share: f64,
        /// The p99 of this wait, milliseconds.
        p99_ms: f64,
        /// The load may open more connections.
        may_grow: bool,
    }
    id: "blocked",
    gravity: Gravity::Note,
    when: format!(
        "for `dyno load`: more than {} of the requests waited for a free connection",
        in_percent(WAITED)
    ),
    because: "the wait is in the response times",
    says: format!(
        "{} of the requests waited for a free connection, 1 % of these {} or longer; this is in the response times",
        percent(*share),
        time(p99_ms * 1e6)
    ),
    way_out: if *may_grow {
        "if your clients would open more connections, allow more with --max-connections"
    } else {
        "this is the server's time for the requests before it"
    },
    examples: [
        { share: 0.2, p99_ms: 3.0, may_grow: true },
        { share: 0.2, p99_ms: 3.0, may_grow: false },
    ],
}

pub(super) fn of_recording(recording: &Recording) -> Option<FailuresDoubt> {
    let total = &recording.total;
    let own = Failure::ALL.into_iter().filter(|failure| failure.is_own());
    let failed: u64 = own.map(|failure| total.failures(failure)).sum();
    (0 < failed).then_some(FailuresDoubt::Own { failed, attempted: total.attempted })
}

/// What matters only where one load is looked at.
pub(super) fn of_load(recording: &Recording, ordered: Ordered) -> [Option<FailuresDoubt>; 2] {
    [others(&recording.total), blocked(&recording.total, ordered)]
}

fn others(total: &Tally) -> Option<FailuresDoubt> {
    let faults = Faults::of([total]);
    let mostly = most_seen(total, |failure| !failure.is_own()).map(|(most, _)| most);
    (0 < total.correct && 0 < faults.all()).then_some(FailuresDoubt::Others { faults, mostly })
}

/// The most frequent class among those that `belongs` admits, and how many they are together.
#[must_use]
pub fn most_seen(total: &Tally, belongs: fn(Failure) -> bool) -> Option<(Failure, u64)> {
    let there = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    let all: u64 = there.clone().map(|failure| total.failures(failure)).sum();
    let most = there.max_by_key(|&failure| total.failures(failure))?;
    (0 < all).then_some((most, all))
}

fn blocked(total: &Tally, ordered: Ordered) -> Option<FailuresDoubt> {
    let share = total.blocked.count() as f64 / total.attempted.max(1) as f64;
    let p99_ms = total.blocked.quantile(0.99)?.value as f64 / 1e6;
    let may_grow = ordered.connections.is_none();
    (WAITED < share).then_some(FailuresDoubt::Blocked { share, p99_ms, may_grow })
}
