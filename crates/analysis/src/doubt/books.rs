//! Whether the counts add up.

use lab::figure::readings;
use lab::record::TrialRecord;
use load::{EARLY_ALLOWED, End, Failure, FormCounts, Holding, Recording};
use units::count;

use super::definition::Definition;
use super::definition::Threshold::Count;
use super::{Doubt, Ordered};
use crate::verdict::Gravity::Invalid;

/// Connections for which no request waits any more may still be opening at the end: so many, …
const CONNECTIONS_LEFT: u64 = 10;
/// … and one in so many.
const ONE_LEFT_IN: u64 = 100;

pub(crate) const ALL: &[Definition] = &[BOOKS, CONNECTIONS];

pub(crate) const BOOKS: Definition = Definition::new("books", Invalid)
    .when("two counts that must agree whatever a server does do not: attempted = correct + failed + in flight; due = \
        attempted (for sessions: at least); on time ≤ correct; a response time for each correct, timed-out and left \
        request whose head left at once, and not more service times; as many service times as times to the first byte; answers to requests due \
        before the measured time ≤ those that were open then; the time in flight, integrated, = the sum of each \
        request's; due = due in all steps; with a `wait`, the correct answers of a closed loop ≤ connections (and \
        streams) × (1 + the measured time ÷ (the wait − 1 ms)). For held connections: begun = failed + lost + open + \
        being opened")
    .because("a bug in dyno")
    .way_out("this is a bug in dyno: please report it");

/// More, or far fewer, connections were established or failed than were begun.
pub(crate) const CONNECTIONS: Definition = Definition::new("connections", Invalid)
    .when("established + failed > begun, or fewer by more than what was in flight, what `accept_queue_full` and \
        `syn_retries` count, {} and one in {}")
    .thresholds(&[Count(CONNECTIONS_LEFT), Count(ONE_LEFT_IN)])
    .because("a bug in dyno")
    .way_out("this is a bug in dyno: please report it");

/// What must be true whatever a server does. Returns the first rule that is broken.
pub(super) fn books(recording: &Recording, ordered: Ordered) -> Option<Doubt> {
    let equal = |rule, one: u64, other: u64| (one != other).then_some((rule, one, other));
    let at_most = |rule, one: u64, other: u64| (other < one).then_some((rule, one, other));
    let total = &recording.total;
    let ended = total.correct + total.failed_in_all();
    let given_up: u64 = Failure::ALL
        .into_iter()
        .filter(|failure| failure.is_censored())
        .map(|failure| total.failures(failure))
        .sum();
    let FormCounts { untimed, untimed_given_up, .. } = total.forms.unwrap_or_default();
    let timed =
        (total.correct + given_up + total.under_way).saturating_sub(untimed + untimed_given_up);
    let inside = total.correct_inside.saturating_sub(total.carried_in);
    let sections: u64 = recording.sections.iter().map(|section| section.due).sum();
    let flight = total.flight;
    let (over_time, one_by_one) = (flight.area, flight.correct + flight.failed + flight.unsent);
    let broken = [
        equal(
            "attempted, and correct, failed or in flight",
            total.attempted,
            ended + total.under_way,
        ),
        match ordered.calls {
            1 => equal("due, and attempted", total.due, total.attempted),
            _ => at_most("attempted, and due", total.attempted, total.due),
        },
        at_most("on time, and correct", total.on_time, total.correct),
        at_most("correct inside the measured time, and correct", inside, total.correct),
        at_most(
            "answers to what was due before, and what was in flight then",
            total.carried_in,
            begun_before(recording),
        ),
        equal("response times, and requests that have one", total.response.count(), timed),
        at_most("service times, and response times", total.service.count(), timed),
        at_most(
            "correct, and service times",
            total.correct.saturating_sub(untimed),
            total.service.count(),
        ),
        equal(
            "service times, and times to the first byte",
            total.service.count(),
            total.first_byte.count(),
        ),
        if recording.sections.is_empty() {
            None
        } else {
            equal("due, and due in the parts", total.due, sections)
        },
        equal(
            "milliseconds in flight over time, and one by one",
            (over_time / 1_000_000) as u64,
            (one_by_one / 1_000_000) as u64,
        ),
        waited_for(recording, ordered)
            .and_then(|most| at_most("answers, and waits for them", total.correct_inside, most)),
    ];
    let (rule, one, other) = broken.into_iter().flatten().next()?;
    Some(unbalanced(rule, one, other))
}

/// How many answers a closed loop can have waited for, one after the other on each connection or stream.
fn waited_for(recording: &Recording, ordered: Ordered) -> Option<u64> {
    let total = &recording.total;
    let waited = total.waited.filter(|waited| waited.answers == total.correct)?;
    let least = waited.shortest.checked_sub(EARLY_ALLOWED).filter(|least| 0 < *least)?;
    let streams = total.http2.as_ref().map_or(1, |http2| http2.wanted.streams);
    let measured = recording.measured_until.saturating_sub(recording.measured_from);
    let slots = u64::from(ordered.connections?).saturating_mul(streams);
    Some(slots.saturating_mul(1 + measured / least))
}

fn unbalanced(rule: &str, one: u64, other: u64) -> Doubt {
    BOOKS.found(format!(
        "the counts do not add up: {rule} must be equal, and are {} and {}",
        count(one),
        count(other)
    ))
}

/// Requests that were due before the measured time and not yet answered when it began.
fn begun_before(recording: &Recording) -> u64 {
    let warmup = recording.windows.iter().filter(|window| window.is_warmup);
    let (attempted, answered) = warmup.fold((0, 0), |(attempted, answered), window| {
        (attempted + window.attempted, answered + window.correct)
    });
    // Sessions continue with calls that had not begun then.
    attempted.saturating_sub(answered) + recording.total.warmup_attempted
}

pub(super) fn connections(trial: &TrialRecord) -> Option<Doubt> {
    let recording = &trial.loaded.as_ref()?.recording;
    let total = &recording.total;
    let begun = total.connections.begun;
    let accounted = total.connections.established + total.connections.failed;
    // A connection that found the accept queue full waits for the kernel's timer, even at the end of the load.
    let waiting = ["kernel.tcp.listen_overflows", "kernel.tcp.syn_retransmitted"]
        .map(|name| readings::counted(trial, name).unwrap_or(0));
    let left_at_most =
        total.under_way + waiting.into_iter().sum::<u64>() + CONNECTIONS_LEFT + begun / ONE_LEFT_IN;
    let is_right = accounted <= begun && begun - accounted <= left_at_most;
    // A load that was stopped leaves connections behind that were being established.
    let is_whole = recording.end == End::Done;
    (is_whole && !is_right).then(|| {
        CONNECTIONS.found(format!(
            "the counts of connections do not add up: {} were begun, {} were established or failed",
            count(begun),
            count(accounted)
        ))
    })
}

/// What must be true of held connections, and of the messages of echoes.
pub(super) fn of_holding(holding: &Holding) -> impl Iterator<Item = Doubt> {
    let connections = holding.imbalance().map(|(_, begun, ended)| {
        unbalanced("connections begun, and failed, lost, open or being opened", begun, ended)
    });
    connections.into_iter().chain(echoes(holding))
}

fn echoes(holding: &Holding) -> Option<Doubt> {
    let rule = "echo messages due, and correct, failed, without a free connection or in flight";
    holding.plateaus.iter().find_map(|plateau| {
        let echoes = &plateau.echoes;
        let ended = echoes.correct + echoes.failed + echoes.blocked + echoes.under_way;
        (echoes.due != ended).then(|| unbalanced(rule, echoes.due, ended))
    })
}
