//! Whether what was observed of held connections is caused by the subject.

use lab::record::{HeldRecord, TrialRecord};
use load::{Holding, Loss, Plateau};
use machine::conditions::Cpus;
use units::{count, time};

use super::definition::Definition;
use super::definition::Threshold::{Share, Time};
use super::failures::OWN;
use super::generator::{LATE_MS, LATE_SHARE};
use super::{Doubt, books, ending, generator, samples, security};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

pub(super) const ALL: &[Definition] = &[
    OWN_LOSSES,
    INSTRUMENT_HEARD_LATE,
    CONNECTIONS_NOT_KEPT,
    CONNECTIONS_NOT_OPENED,
    CONNECTIONS_SILENT,
];

/// Held connections failed or were lost for reasons on dyno's side.
pub(crate) const OWN_LOSSES: Definition = Definition::new("own_losses", Suspect)
    .graver_above(OWN, "of the connections", Invalid)
    .when(
        "one held connection or more failed, or was lost, for a reason on dyno's side: ports, files",
    )
    .because("these are not the server's losses")
    .way_out("see their causes; hold fewer, or give dyno more of what it lacked");

/// dyno's own turns may be a large part of how late messages seemed to arrive.
pub(crate) const INSTRUMENT_HEARD_LATE: Definition = Definition::new("instrument_heard_late", Suspect)
    .when("on a step, 1 % of the messages may have waited for dyno itself longer than {} and {} of the p99 of their \
        lateness")
    .thresholds(&[Time(LATE_MS * 1e6), Share(LATE_SHARE)])
    .because("the lateness contains the wait, and it is not the server's")
    .way_out("give dyno more CPUs, apart from the server's, or hold fewer");

/// Connections could not be opened, or were lost.
pub(crate) const CONNECTIONS_NOT_KEPT: Definition = Definition::new("connections_not_kept", Note)
    .when("one held connection or more could not be opened, or was lost, for any other reason")
    .because("a finding: causes are listed below the tables")
    .way_out("see their causes, and the server's output");

/// Connections were begun, and neither opened nor failed in all the time of a step.
pub(crate) const CONNECTIONS_NOT_OPENED: Definition = Definition::new(
    "connections_not_opened",
    Note,
)
.when("at a step's end a connection was begun, and neither open nor failed")
.because("a finding: it waits in the accept queue, or for a worker")
.way_out(
    "the server accepts no more at once (workers, accept queue): see its settings and its output",
);

/// Connections stayed open, but received no more messages.
pub(crate) const CONNECTIONS_SILENT: Definition = Definition::new("connections_silent", Note)
    .when(
        "at a step's end a connection was open and had received nothing for the time of `silence`",
    )
    .because("a finding: the connection is open, but the server sends nothing on it")
    .way_out(
        "the server keeps sockets open that it no longer serves: see its output and its limits",
    );

/// Every doubt that only held connections raise, dyno's own faults first.
pub(super) fn all(trial: &TrialRecord, held: &HeldRecord) -> Vec<Doubt> {
    of_holding(&held.holding, lanes(trial, held))
}

/// What can be checked in any holding with so many threads, whether it is a trial's or that of `dyno hold`. The
/// instrument's faults are first.
#[must_use]
pub fn of_holding(holding: &Holding, lanes: u64) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = books::of_holding(holding).collect();
    doubts.extend(samples::of_holding(holding));
    doubts.extend(ending::of_holding(holding));
    let own = [generator::held_still(holding, lanes), generator::held_busy(holding, lanes)];
    doubts.extend(own.into_iter().flatten());
    let held = [
        own_losses(holding),
        received_late(holding),
        not_kept(holding),
        not_opened(holding),
        silent(holding),
    ];
    doubts.extend(held.into_iter().flatten());
    doubts.extend(security::of_holding(holding));
    doubts
}

fn own_losses(holding: &Holding) -> Option<Doubt> {
    let (own, _) = gone(holding);
    let begun = holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < own).then(|| {
        OWN_LOSSES.found_in(
            own as f64,
            begun as f64,
            format!(
                "{} of {} connections failed or were lost for reasons on dyno's side",
                count(own),
                count(begun)
            ),
        )
    })
}

/// Refused or lost connections are a finding about the subject.
fn not_kept(holding: &Holding) -> Option<Doubt> {
    let (_, gone) = gone(holding);
    let begun = holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < gone).then(|| {
        CONNECTIONS_NOT_KEPT.found(format!(
            "{} of {} connections could not be opened or were lost",
            count(gone),
            count(begun)
        ))
    })
}

/// Connections that failed or were lost: for reasons on dyno's side, and for all others.
fn gone(holding: &Holding) -> (u64, u64) {
    let (mut own, mut others) = (0, 0);
    for (place, loss) in Loss::ALL.into_iter().enumerate() {
        let plateaus = holding.plateaus.iter();
        let times: u64 = plateaus.map(|plateau| plateau.failed[place] + plateau.lost[place]).sum();
        *(if loss.is_own() { &mut own } else { &mut others }) += times;
    }
    (own, others)
}

/// How much of the lateness may be dyno's own, where that is largest.
fn received_late(holding: &Holding) -> Option<Doubt> {
    let found = holding.plateaus.iter().filter_map(own_lateness);
    let (connections, own_p99_ms, late_p99_ms) =
        found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(INSTRUMENT_HEARD_LATE.found(format!(
        "with {} connections one message in a hundred may have waited {} for dyno itself, and came {} late in all",
        count(connections as u64),
        time(own_p99_ms * 1e6),
        time(late_p99_ms * 1e6)
    )))
}

/// A plateau's connections, the p99 of dyno's own lateness and of all lateness, if dyno's share is too large.
fn own_lateness(plateau: &Plateau) -> Option<(usize, f64, f64)> {
    let p99_ms = |times: &load::Distribution| Some(times.quantile(0.99)?.value as f64 / 1e6);
    let (own_p99_ms, late_p99_ms) = (p99_ms(&plateau.own)?, p99_ms(plateau.lateness())?);
    let bound_ms = (late_p99_ms * LATE_SHARE).max(LATE_MS);
    (bound_ms < own_p99_ms).then_some((plateau.times.connections, own_p99_ms, late_p99_ms))
}

/// One lane for each CPU of the load, as long as each has a connection.
fn lanes(trial: &TrialRecord, held: &HeldRecord) -> u64 {
    let most = held.holding.plateaus.iter().map(|plateau| plateau.times.connections).max();
    let cpus = trial.conditions.iter().find(|fact| fact.name == "cpus.load");
    let cpus = cpus.and_then(|fact| fact.value.parse::<Cpus>().ok());
    let threads = cpus.map_or(1, |cpus| cpus.count());
    most.map_or(threads, |most| threads.min(most)).max(1) as u64
}

fn not_opened(holding: &Holding) -> Option<Doubt> {
    let most = holding.plateaus.iter().max_by_key(|plateau| plateau.opening)?;
    let (waiting, connections) = (most.opening, most.times.connections);
    (0 < waiting).then(|| {
        CONNECTIONS_NOT_OPENED.found(format!(
            "{1} of {0} connections neither opened nor failed within their step",
            count(connections as u64),
            count(waiting)
        ))
    })
}

fn silent(holding: &Holding) -> Option<Doubt> {
    let most = holding.plateaus.iter().max_by_key(|plateau| plateau.silent)?;
    let (silent, connections) = (most.silent, most.times.connections);
    (0 < silent).then(|| {
        CONNECTIONS_SILENT.found(format!(
            "{1} of {0} connections stayed open and received nothing any more",
            count(connections as u64),
            count(silent)
        ))
    })
}
