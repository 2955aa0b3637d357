//! Whether what was observed of held connections is caused by the subject.

use lab::record::{HeldRecord, TrialRecord};
use load::{Holding, Loss, Plateau};
use machine::conditions::Cpus;

use super::generator::{BUSY, LATE_MS, LATE_SHARE};
use super::{Doubt, security, still};

/// Every doubt that only held connections raise, dyno's own faults first.
pub(super) fn all(trial: &TrialRecord, held: &HeldRecord) -> Vec<Doubt> {
    of_holding(&held.holding, lanes(trial, held))
}

/// What can be checked in any holding with so many threads, whether it is a trial's or that of `dyno hold`. The
/// instrument's faults are first.
#[must_use]
pub fn of_holding(holding: &Holding, lanes: u64) -> Vec<Doubt> {
    let all = [
        books(holding),
        echo_books(holding),
        nothing(holding),
        stopped(holding),
        own_losses(holding),
        still::held_still(holding, lanes),
        received_late(holding),
        busy(holding, lanes),
        not_kept(holding),
        not_opened(holding),
        silent(holding),
    ];
    all.into_iter().flatten().chain(security::of_holding(holding)).collect()
}

fn books(holding: &Holding) -> Option<Doubt> {
    let (_, one, other) = holding.imbalance()?;
    let rule = "connections begun, and failed, lost, open or being opened";
    Some(Doubt::Books { rule, one, other })
}

fn echo_books(holding: &Holding) -> Option<Doubt> {
    holding.plateaus.iter().find_map(|plateau| {
        let echoes = &plateau.echoes;
        let other = echoes.correct + echoes.failed + echoes.blocked + echoes.under_way;
        let rule = "echo messages due, and correct, failed, blocked or under way";
        (echoes.due != other).then_some(Doubt::Books { rule, one: echoes.due, other })
    })
}

fn nothing(holding: &Holding) -> Option<Doubt> {
    let is_any = holding.plateaus.iter().any(|plateau| 0 < plateau.begun);
    (!is_any).then_some(Doubt::Nothing)
}

fn stopped(holding: &Holding) -> Option<Doubt> {
    holding.was_halted.then(|| Doubt::Halted { after_s: holding.closed_at as f64 / 1e9 })
}

fn own_losses(holding: &Holding) -> Option<Doubt> {
    let (own, _) = gone(holding);
    let begun = holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < own).then_some(Doubt::OwnLosses { own, begun })
}

/// Refused or lost connections are a finding about the subject.
fn not_kept(holding: &Holding) -> Option<Doubt> {
    let (_, gone) = gone(holding);
    let begun = holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < gone).then_some(Doubt::NotKept { gone, begun })
}

/// Connections that failed or were lost: for reasons of dyno's own, and for all others.
fn gone(holding: &Holding) -> (u64, u64) {
    let (mut own, mut others) = (0, 0);
    for (place, loss) in Loss::all().enumerate() {
        let plateaus = holding.plateaus.iter();
        let times: u64 = plateaus.map(|plateau| plateau.failed[place] + plateau.lost[place]).sum();
        *(if loss.is_own() { &mut own } else { &mut others }) += times;
    }
    (own, others)
}

/// How much of the lateness may be dyno's own, where that is largest.
fn received_late(holding: &Holding) -> Option<Doubt> {
    let of = |plateau: &Plateau| {
        let at = |distribution: &load::Distribution| {
            distribution.quantile(0.99).map(|quantile| quantile.value as f64 / 1e6)
        };
        let (own_p99_ms, late_p99_ms) = (at(&plateau.own)?, at(&plateau.late)?);
        let bound_ms = (late_p99_ms * LATE_SHARE).max(LATE_MS);
        let connections = plateau.times.connections;
        (bound_ms < own_p99_ms).then_some((connections, own_p99_ms, late_p99_ms))
    };
    let found = holding.plateaus.iter().filter_map(of);
    let (connections, own_p99_ms, late_p99_ms) =
        found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Doubt::ReceivedLate { connections, own_p99_ms, late_p99_ms })
}

/// The step in which dyno's lanes used the most of their CPUs.
fn busy(holding: &Holding, lanes: u64) -> Option<Doubt> {
    let share = |plateau: &Plateau| {
        let time = plateau.measured as f64 * lanes.max(1) as f64;
        (0 < plateau.measured).then(|| plateau.cpu as f64 / time)
    };
    let share = holding.plateaus.iter().filter_map(share).max_by(f64::total_cmp)?;
    (BUSY < share).then_some(Doubt::Busy { share })
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
    (0 < waiting).then_some(Doubt::NotOpened { waiting, connections })
}

fn silent(holding: &Holding) -> Option<Doubt> {
    let most = holding.plateaus.iter().max_by_key(|plateau| plateau.silent)?;
    let (silent, connections) = (most.silent, most.times.connections);
    (0 < silent).then_some(Doubt::Silent { silent, connections })
}
