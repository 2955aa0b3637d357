//! Whether connections waited for the kernel's timer instead of for the subject.

use std::borrow::Cow;

use lab::figure::readings;
use lab::record::{QUEUE_BACKLOG, QUEUE_OVERFLOWS, TrialRecord};
use load::{Distribution, Nanos, SECOND};
use units::{count, counted};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::AnyOf;
use crate::figures::merged;
use crate::verdict::Gravity::Suspect;

/// When the kernel sends a SYN again, in seconds after the first: at 1, 3, 7, 15, doubling the interval; newer kernels
/// send one each second up to 5 before they double it.
const STEPS_S: [u64; 8] = [1, 2, 3, 4, 5, 7, 15, 31];
/// A timer of seconds may fire so much late: the kernel's timer wheel is coarse.
const STEP_WIDTH: Nanos = SECOND / 4;
/// If half the connections take this long, one second more or less explains nothing.
const SLOW_ANYWAY: Nanos = SECOND / 2;

pub(super) const ALL: &[Definition] = &[ACCEPT_QUEUE_FULL, SYN_RETRIES];

/// Connections found the accept queue full.
pub(crate) const ACCEPT_QUEUE_FULL: Definition = Definition::new("accept_queue_full", Suspect)
    .when("`kernel.tcp.listen_overflows` grew under load")
    .because("such connections wait for a retransmission timer of the kernel: the backlog is measured, not the speed")
    .way_out("this is a finding about the server's backlog, not its speed: raise it (and net.core.somaxconn), or open \
        fewer connections at once");

/// SYNs were sent again: such a connection takes whole seconds longer.
pub(crate) const SYN_RETRIES: Definition = Definition::new("syn_retries", Suspect)
    .when("`kernel.tcp.syn_retransmitted` grew under load; on the machine's own network only if dyno's connections \
        show steps of {} s")
    .thresholds(&[AnyOf(&STEPS_S)])
    .because("steps of whole seconds in the latencies come from the kernel's retransmission timer")
    .way_out("read max and p99.9 as refused connections, not as slow answers; raise the backlog, or connect more \
        slowly");

fn overflows_says(overflows: u64, backlog: Option<u32>, is_isolated: bool) -> String {
    let queue = match (is_isolated, backlog) {
        (true, Some(backlog)) => format!("the server's accept queue full (it holds {backlog})"),
        (true, None) => "the server's accept queue full".into(),
        (false, Some(backlog)) => format!(
            "an accept queue of this machine full (the server's holds {backlog}; others' count, too)"
        ),
        (false, None) => "an accept queue of this machine full (others' count, too)".into(),
    };
    format!(
        "{} found {queue}: the kernel retries only after 1 s, 3 s, 7 s …",
        counted(overflows, "connection", "connections")
    )
}

/// What the kernel counted under the load of a trial.
pub(super) fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    [overflows(trial), syn_retries(trial)].into_iter().flatten()
}

/// What a load that stands alone noted of the accept queue of its server.
pub(super) fn of_load(trial: &TrialRecord) -> Option<Doubt> {
    overflowed(super::noted(trial, QUEUE_OVERFLOWS)?, super::noted(trial, QUEUE_BACKLOG))
}

/// A doubt if any connection found the accept queue of a server of this machine full.
#[must_use]
pub fn overflowed(overflows: u64, backlog: Option<u32>) -> Option<Doubt> {
    (0 < overflows).then(|| ACCEPT_QUEUE_FULL.found(overflows_says(overflows, backlog, false)))
}

/// One is enough: the latency of a connection that found the queue full is that of a timer.
fn overflows(trial: &TrialRecord) -> Option<Doubt> {
    let overflows = readings::counted(trial, "kernel.tcp.listen_overflows")?;
    let backlog = trial.launch.as_ref().and_then(|launch| launch.backlog);
    let is_isolated = is_isolated(trial);
    (0 < overflows)
        .then(|| ACCEPT_QUEUE_FULL.found(overflows_says(overflows, backlog, is_isolated)))
}

/// On the machine's network the retries of other programs count, too: there one of dyno's connections must show it.
fn syn_retries(trial: &TrialRecord) -> Option<Doubt> {
    let retries = readings::counted(trial, "kernel.tcp.syn_retransmitted")?;
    let (connect, established) = connects(trial)?;
    let stepped = stepped(&connect);
    let is_ours = is_isolated(trial) || 0 < stepped;
    (0 < retries && is_ours).then(|| SYN_RETRIES.found(format!(
        "the kernel retransmitted {} SYNs, and {} of {} connections took one or several seconds longer: steps at 1 \
         s, 3 s, 7 s in the latencies are the kernel's timer",
        count(retries),
        count(stepped),
        count(established)
    )))
}

/// How long connections took, and how many there were.
fn connects(trial: &TrialRecord) -> Option<(Cow<'_, Distribution>, u64)> {
    if let Some(loaded) = &trial.loaded {
        let total = &loaded.recording.total;
        return Some((Cow::Borrowed(&total.connect), total.connections.established));
    }
    let plateaus = &trial.held.as_ref()?.holding.plateaus;
    plateaus.first()?;
    let connect = merged(plateaus.iter().map(|plateau| &plateau.connect));
    let established = connect.count();
    Some((Cow::Owned(connect), established))
}

/// How many took a whole number of the timer's seconds, and a little more.
fn stepped(connect: &Distribution) -> u64 {
    match connect.quantile(0.5) {
        Some(median) if median.value < SLOW_ANYWAY => {
            let of_step = |&step: &Nanos| {
                let from = step * SECOND;
                connect.count_between(from, from + STEP_WIDTH)
            };
            STEPS_S.iter().map(of_step).sum()
        }
        Some(_) | None => 0,
    }
}

/// The trial had a network of its own.
fn is_isolated(trial: &TrialRecord) -> bool {
    trial.conditions.iter().any(|fact| fact.name == "network" && fact.value == "of its own")
}
