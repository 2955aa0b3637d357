//! Whether requests failed, or had to wait for a connection, and through what.

use load::{Failure, Recording, Tally};
use units::{count, nanos, percent};

use super::definition::Definition;
use super::definition::Threshold::Share;
use super::{Doubt, Ordered};
use crate::conduct::{Faults, Ways};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

/// If dyno's own failures are a larger share, the rest is not a sample of what was ordered.
pub(super) const OWN: f64 = 0.01;
/// If a larger share of a load that stands alone failed, its latencies are mostly those of the others.
const FAILED: f64 = 0.01;
/// If more of the requests waited for a connection than this, it is said.
const WAITED: f64 = 0.01;

pub(super) const ALL: &[Definition] = &[OWN_FAILURES, FAILURES, BLOCKED];

/// Requests failed for reasons on dyno's side.
pub const OWN_FAILURES: Definition = Definition::new("own_failures", Suspect)
    .graver_above(OWN, "of the requests", Invalid)
    .when("one request or more failed for a reason on dyno's side")
    .because("these are not the server's failures")
    .way_out("see their classes; offer less, or give dyno more of what it lacked");

/// Requests of a load that stands alone failed, or its sessions were not completed, and not for a reason on dyno's
/// side.
pub(crate) const FAILURES: Definition = Definition::new("failures", Note)
    .graver_above(FAILED, "of the requests or sessions", Suspect)
    .when("for `dyno load`: requests failed, and not for a reason on dyno's side; of a load of sessions, sessions were \
        not completed: a call failed, or the server ended the connection before the last one")
    .because("the latencies are mostly those of the successful requests")
    .way_out("the latencies are mostly those of the successful requests: find the cause, or offer less");

/// Such a share of the requests of a load that stands alone had to wait for a free connection.
pub(crate) const BLOCKED: Definition = Definition::new("blocked", Note)
    .when("for `dyno load`: more than {} of the requests waited for a free connection, and not only until \
        a new one was open")
    .thresholds(&[Share(WAITED)])
    .because("the response times contain the wait")
    .way_out("the request waited while the server answered earlier ones");

pub(super) fn of_recording(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let own = Failure::ALL.into_iter().filter(|failure| failure.is_own());
    let failed: u64 = own.map(|failure| total.failures(failure)).sum();
    let attempted = total.attempted;
    (0 < failed).then(|| {
        OWN_FAILURES.found_in(
            failed as f64,
            attempted as f64,
            format!(
                "{} of {} requests failed for reasons on dyno's side",
                count(failed),
                count(attempted)
            ),
        )
    })
}

/// What matters only where one load is looked at.
pub(super) fn of_load(recording: &Recording, ordered: Ordered) -> [Option<Doubt>; 2] {
    [others(&recording.total), blocked(&recording.total, ordered)]
}

fn others(total: &Tally) -> Option<Doubt> {
    let faults = Faults::of([total]);
    let (times, of) = (faults.all(), faults.of);
    if total.correct == 0 || times == 0 {
        return None;
    }
    let is_cut = 0 < faults.cut.sessions;
    let why = match is_cut {
        false => Ways::of(total, |failure| !failure.is_own()).says(times, explained),
        true => faults.why(),
    };
    let (what, failed) = if faults.of_sessions {
        ("sessions", "were not completed")
    } else {
        ("attempts", "failed")
    };
    let share = percent(times as f64 / of.max(1) as f64);
    let says = format!("{} of {} {what} ({share}) {failed}{why}", count(times), count(of));
    let found = FAILURES.found_in(times as f64, of as f64, says);
    Some(if is_cut { found.with_way_out(CUT) } else { found })
}

/// What a failure means, behind its name.
pub(super) fn explained(failure: Failure) -> String {
    format!(" ({})", failure.meaning())
}

const CUT: &str = "see the server's limit of requests for a connection, or let sessions make fewer calls (--calls)";

/// The most frequent class among those that `belongs` admits, and how many they are together.
#[must_use]
pub fn most_seen(total: &Tally, belongs: fn(Failure) -> bool) -> Option<(Failure, u64)> {
    let there = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    let all: u64 = there.clone().map(|failure| total.failures(failure)).sum();
    let most = there.max_by_key(|&failure| total.failures(failure))?;
    (0 < all).then_some((most, all))
}

fn blocked(total: &Tally, ordered: Ordered) -> Option<Doubt> {
    let share = total.blocked.count() as f64 / total.attempted.max(1) as f64;
    let p99 = total.blocked.quantile(0.99)?.value;
    let found = BLOCKED.found(format!(
        "{} of the requests waited for a free connection, 1 % of these {} or longer; the response times contain this \
         wait",
        percent(share),
        nanos(p99)
    ));
    // An open load may open more connections.
    let found = if ordered.connections.is_none() { found.with_way_out(MORE) } else { found };
    (WAITED < share && !only_opening(total)).then_some(found)
}

/// Whether as many connections were opened as requests waited, and that took as long as they waited: a larger pool
/// would have spared them nothing.
fn only_opening(total: &Tally) -> bool {
    let handshakes = total.security.as_ref().map_or(0, |seen| seen.handshake.sum());
    let opening = total.connect.sum() + handshakes;
    total.blocked.count() <= total.connect.count() && total.blocked.sum() <= opening
}

const MORE: &str = "if your clients would open more connections, allow more with --max-connections";
