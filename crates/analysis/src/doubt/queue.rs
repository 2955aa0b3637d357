//! Whether connections waited for the kernel's timer instead of for the subject.

use std::borrow::Cow;

use lab::figure::readings;
use lab::record::TrialRecord;
use load::{Distribution, Nanos, SECOND};

use super::Doubt;
use crate::figures::merged;

/// When the kernel sends a SYN again, in seconds after the first: at 1, 3, 7, 15, doubling the interval; newer kernels
/// send one each second up to 5 before they double it.
const STEPS_S: [Nanos; 8] = [1, 2, 3, 4, 5, 7, 15, 31];
/// A timer of seconds may fire so much late: the kernel's timer wheel is coarse.
const STEP_WIDTH: Nanos = SECOND / 4;
/// If half the connections take this long, one second more or less explains nothing.
const SLOW_ANYWAY: Nanos = SECOND / 2;

/// One is enough: the latency of a connection that found the queue full is that of a timer.
pub(super) fn overflows(trial: &TrialRecord) -> Option<Doubt> {
    let overflows = readings::counted(trial, "kernel.tcp.listen_overflows")?;
    let backlog = trial.launch.as_ref().and_then(|launch| launch.backlog);
    let is_isolated = is_isolated(trial);
    (0 < overflows).then_some(Doubt::Overflows { overflows, backlog, is_isolated })
}

/// On the machine's network the retries of other programs count, too: there one of dyno's connections must show it.
pub(super) fn syn_retries(trial: &TrialRecord) -> Option<Doubt> {
    let retries = readings::counted(trial, "kernel.tcp.syn_retransmitted")?;
    let (connect, established) = connects(trial)?;
    let stepped = stepped(&connect);
    let is_ours = is_isolated(trial) || 0 < stepped;
    (0 < retries && is_ours).then_some(Doubt::SynRetries { retries, stepped, established })
}

/// How long connections took, and how many there were.
fn connects(trial: &TrialRecord) -> Option<(Cow<'_, Distribution>, u64)> {
    if let Some(loaded) = &trial.loaded {
        let total = &loaded.recording.total;
        return Some((Cow::Borrowed(&total.connect), total.connections.established));
    }
    let plateaus = &trial.held.as_ref()?.holding.plateaus;
    let connect = merged(plateaus.iter().map(|plateau| &plateau.connect))?;
    let established = connect.count();
    Some((Cow::Owned(connect), established))
}

/// How many took a whole number of the timer's seconds, and a little more.
fn stepped(connect: &Distribution) -> u64 {
    match connect.quantile(0.5) {
        Some(median) if median.value < SLOW_ANYWAY => {
            let of_step = |&step: &Nanos| {
                let from = step * SECOND;
                connect.histogram().count_between(from, from + STEP_WIDTH)
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
