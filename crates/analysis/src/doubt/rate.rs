//! Whether a server kept up with its schedule, and whether its throughput is its own.

use lab::figure::rates::{KEPT_UP, OnTime, measured_s};
use load::Recording;
use units::{count, percent, time};

use super::definition::Definition;
use super::definition::Threshold::{Count, Number, Share};
use super::drift::{IMPROBABLE, LOOKED_AT, WINDOWS_EACH, distance, median, medians_ms, thirds};
use super::{Doubt, Ordered};
use crate::verdict::Gravity::{Note, Suspect};

/// If a smaller share is under way at the end, no printed p99 depends on it.
const UNDER_WAY_LEFT: f64 = 0.001;
/// Response times that grow by less than this share of the elapsed time are no sign of a growing queue: a server that
/// is given 1 % more than it can do makes them grow by so much.
const GROWTH: f64 = 0.01;
/// A smaller share is carried over any border by chance.
const CARRIED: f64 = 0.01;
/// So few answers that are carried over a border matter in no case.
const CARRIED_AT_LEAST: u64 = 5;
/// A throughput that exceeds what was requested by more than this is not the server's own.
const EXCESS: f64 = 0.01;

pub(super) const ALL: &[Definition] = &[UNDER_WAY, NOT_ON_TIME, GROWING, CARRIED_IN];

/// Some requests were neither answered nor given up when the load ended.
pub(crate) const UNDER_WAY: Definition = Definition::new("under_way", Note)
    .graver_above(UNDER_WAY_LEFT, "of the requests", Suspect)
    .when("requests were neither answered nor given up when the load ended, because it was stopped; otherwise each is \
        waited for until its own time-out")
    .because("their times are known to be no less than their age: percentiles that they may move are bounds (`≥`)")
    .way_out("let it run to its end");

/// The server did not keep up: too few of the requests that were due were answered as expected in time.
pub(crate) const NOT_ON_TIME: Definition = Definition::new("not_on_time", Note)
    .when("for a schedule: less than {} of the requests that were due in the measured time were answered correctly \
        within the limit from when they were due: `--on-time`, `promise.p99` where an experiment says it, or else the \
        time-out; calls that a session did not reach because the server ended its connection are not counted")
    .thresholds(&[Share(KEPT_UP)])
    .because("a finding: `↓` in the tables")
    .way_out("offer less to see the latency of a server that keeps up")
    .by_flags(OFFER_LESS);

/// The server did not keep up: response times grew for as long as the load lasted.
pub(crate) const GROWING: Definition = Definition::new("growing", Note)
    .when("for a schedule: the median response time grew from the first third of the measured time to the last by more \
        than {} of the time between them, beyond chance (Mann–Whitney beyond {} standard deviations, {} windows a \
        third)")
    .thresholds(&[Share(GROWTH), Number(IMPROBABLE), Count(WINDOWS_EACH as u64)])
    .because("a finding: the queue of a server that is offered 1 % more than it can serve grows like this")
    .way_out("offer less to see the latency of a server that keeps up")
    .by_flags(OFFER_LESS);

/// Answers to requests that were due before the measured time arrived inside it.
pub(crate) const CARRIED_IN: Definition = Definition::new("carried_in", Note)
    .graver_above(EXCESS, "more answers than were requested in the measured time", Suspect)
    .when("for a schedule: more than {} of the answers inside the measured time (and {}) were to requests that had \
        been due before it. For a closed loop: that many more than were left at its end")
    .thresholds(&[Share(CARRIED), Count(CARRIED_AT_LEAST)])
    .because("a throughput above the offered rate comes from an earlier queue, and is not a rate that the server can \
        sustain")
    .way_out("give `load.warmup` more time, or measure for longer")
    .by_flags("warm up for longer (--warmup), or measure for longer (-d)");

/// By flags of the one command that a load is.
const OFFER_LESS: &str = "offer less to see the latency of a server that keeps up, or load it in a closed loop (-c) to \
    see its limit";

fn carried_says(carried_in: u64, inside: u64, excess: i64) -> String {
    let share = percent(carried_in as f64 / inside.max(1) as f64);
    let all = format!(
        "{} of the {} correct answers inside the measured time ({share}) were to requests that had been due before it",
        count(carried_in),
        count(inside)
    );
    match u64::try_from(excess) {
        Ok(excess) if 0 < excess => format!(
            "{all}: the throughput is {} answers more than the requests of that time account for",
            count(excess)
        ),
        Ok(_) | Err(_) => format!("{all}: a backlog from before was worked off"),
    }
}

/// Every doubt about a schedule. Whether response times grew is not asked where too few answers were on time.
pub(super) fn of_recording(recording: &Recording, ordered: Ordered) -> impl Iterator<Item = Doubt> {
    let behind = not_on_time(recording, ordered).or_else(|| growing(recording, ordered));
    let all = [under_way(recording), behind, carried_in(recording, ordered)];
    all.into_iter().flatten()
}

fn under_way(recording: &Recording) -> Option<Doubt> {
    let (left, due) = (recording.total.under_way, recording.total.attempted);
    (0 < left).then(|| {
        UNDER_WAY.found_in(
            left as f64,
            due as f64,
            format!(
                "{} of {} requests were neither answered nor given up when the load ended",
                count(left),
                count(due)
            ),
        )
    })
}

fn not_on_time(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let found = ordered.on_time?;
    let (on_time, due, within_ms) = (found.on_time, found.due, found.within as f64 / 1e6);
    // A server that ends sessions was not late with the calls that they did not reach.
    let unreached = recording.total.sessions.cut.unreached;
    let asked = OnTime { due: due.saturating_sub(unreached), ..found };
    let is_behind = asked.share()? < KEPT_UP;
    is_behind.then(|| NOT_ON_TIME.found(format!(
        "the server did not keep up: {} of the {} requests that were due ({}) were answered correctly within {}",
        count(on_time),
        count(due),
        percent(on_time as f64 / due.max(1) as f64),
        time(within_ms * 1e6)
    )))
}

/// For a schedule that does not change: a queue that grows for as long as the load lasts.
fn growing(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    ordered.on_time.filter(|_| recording.sections.is_empty())?;
    let [first, last] = thirds(recording)?.map(|windows| medians_ms(&windows, LOOKED_AT));
    let (first_ms, last_ms) = (median(&first)?, median(&last)?);
    // From the middle of the first third to the middle of the last.
    let between_ms = measured_s(recording) * 1e3 * 2.0 / 3.0;
    let grows = GROWTH * between_ms < last_ms - first_ms && IMPROBABLE < distance(&first, &last);
    grows.then(|| GROWING.found(format!(
        "the response times grew throughout the load, from a p50 of {} in the first third to {} in the last: \
         requests arrived faster than they were answered",
        time(first_ms * 1e6),
        time(last_ms * 1e6)
    )))
}

fn carried_in(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let total = &recording.total;
    let (carried_in, inside) = (total.carried_in, total.correct_inside);
    // Correct answers that arrived later, to requests that were due inside: they make up for those carried in.
    let after = total.correct_after();
    let excess = carried_in as i64 - after as i64;
    let least = ((CARRIED * inside as f64) as u64).max(CARRIED_AT_LEAST);
    let is_it = match ordered.on_time {
        // In a closed loop so many are under way at any border.
        None => least < excess.max(0) as u64,
        Some(_) => least < carried_in,
    };
    is_it.then(|| {
        CARRIED_IN.found_in(excess as f64, inside as f64, carried_says(carried_in, inside, excess))
    })
}
