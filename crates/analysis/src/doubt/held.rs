//! Whether what was seen of held connections is the subject's doing.

use lab::conditions::Cpus;
use lab::record::{Held, TrialRecord};
use load::{Loss, Plateau};

use super::Doubt;
use super::generator::{BUSY, LATE_MS, LATE_SHARE};

/// Every doubt that only held connections raise, dyno's own faults first.
pub(super) fn all(trial: &TrialRecord, held: &Held) -> Vec<Doubt> {
    let all = [
        books(held),
        nothing(held),
        stopped(held),
        own_losses(held),
        heard_late(held),
        busy(trial, held),
        not_kept(held),
        not_opened(held),
        silent(held),
    ];
    all.into_iter().flatten().collect()
}

fn books(held: &Held) -> Option<Doubt> {
    let plateaus = &held.holding.plateaus;
    let last = plateaus.last()?;
    let begun = plateaus.iter().map(|plateau| plateau.begun).sum();
    let gone: u64 =
        plateaus.iter().map(|plateau| plateau.failed_in_all() + plateau.lost_in_all()).sum();
    let accounted = gone + last.open + last.opening;
    let rule = "connections begun, and failed, lost, open or being opened";
    (!held.holding.books_balance()).then_some(Doubt::Books { rule, one: begun, other: accounted })
}

fn nothing(held: &Held) -> Option<Doubt> {
    let is_any = held.holding.plateaus.iter().any(|plateau| 0 < plateau.begun);
    (!is_any).then_some(Doubt::Nothing)
}

fn stopped(held: &Held) -> Option<Doubt> {
    held.holding.was_halted.then_some(Doubt::Stopped)
}

fn own_losses(held: &Held) -> Option<Doubt> {
    let (own, _) = gone(held);
    let begun = held.holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < own).then_some(Doubt::OwnLosses { own, begun })
}

/// That connections are refused or lost is a finding about the subject.
fn not_kept(held: &Held) -> Option<Doubt> {
    let (_, gone) = gone(held);
    let begun = held.holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    (0 < gone).then_some(Doubt::NotKept { gone, begun })
}

/// Connections that failed or were lost: for reasons of dyno's own, and for all others.
fn gone(held: &Held) -> (u64, u64) {
    let (mut own, mut others) = (0, 0);
    for (place, loss) in Loss::all().enumerate() {
        let plateaus = held.holding.plateaus.iter();
        let times: u64 = plateaus.map(|plateau| plateau.failed[place] + plateau.lost[place]).sum();
        *(if loss.is_own() { &mut own } else { &mut others }) += times;
    }
    (own, others)
}

/// What may be dyno's own part of the lateness, where it is worst.
fn heard_late(held: &Held) -> Option<Doubt> {
    let of = |plateau: &Plateau| {
        let at = |distribution: &load::Distribution| {
            distribution.quantile(0.99).map(|quantile| quantile.value as f64 / 1e6)
        };
        let (own_p99_ms, late_p99_ms) = (at(&plateau.own)?, at(&plateau.late)?);
        let bound_ms = (late_p99_ms * LATE_SHARE).max(LATE_MS);
        let connections = plateau.times.connections;
        (bound_ms < own_p99_ms).then_some((connections, own_p99_ms, late_p99_ms))
    };
    let found = held.holding.plateaus.iter().filter_map(of);
    let (connections, own_p99_ms, late_p99_ms) =
        found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Doubt::HeardLate { connections, own_p99_ms, late_p99_ms })
}

/// Where dyno's lanes used the most of their CPUs.
fn busy(trial: &TrialRecord, held: &Held) -> Option<Doubt> {
    let lanes = lanes(trial, held)?;
    let share = |plateau: &Plateau| {
        (0 < plateau.measured).then(|| plateau.cpu as f64 / plateau.measured as f64 / lanes)
    };
    let share = held.holding.plateaus.iter().filter_map(share).max_by(f64::total_cmp)?;
    (BUSY < share).then_some(Doubt::Busy { share })
}

/// A lane for each CPU of the load's, as long as each has a connection.
fn lanes(trial: &TrialRecord, held: &Held) -> Option<f64> {
    let most = held.holding.plateaus.iter().map(|plateau| plateau.times.connections).max()?;
    let cpus = trial.conditions.iter().find(|fact| fact.name == "cpus.load");
    let cpus = cpus.and_then(|fact| fact.value.parse::<Cpus>().ok());
    Some(cpus.map_or(1, |cpus| cpus.count()).min(most).max(1) as f64)
}

fn not_opened(held: &Held) -> Option<Doubt> {
    let most = held.holding.plateaus.iter().max_by_key(|plateau| plateau.opening)?;
    let (waiting, connections) = (most.opening, most.times.connections);
    (0 < waiting).then_some(Doubt::NotOpened { waiting, connections })
}

fn silent(held: &Held) -> Option<Doubt> {
    let most = held.holding.plateaus.iter().max_by_key(|plateau| plateau.silent)?;
    let (silent, connections) = (most.silent, most.times.connections);
    (0 < silent).then_some(Doubt::Silent { silent, connections })
}
