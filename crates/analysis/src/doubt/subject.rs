//! Whether the subject was the same processes all the time.

use lab::record::TrialRecord;

use super::Doubt;
use crate::readings;

/// Fewer processes during the load than when it was ready: some have ended, and requests on their way to them were
/// lost. New processes are found late: only a process that was observed can be missing.
pub(super) fn processes_ended(trial: &TrialRecord) -> Option<Doubt> {
    let ready = trial.launch.as_ref()?.processes;
    let (mut seen, mut fewest) = (0, u32::MAX);
    for count in readings::under_load(trial, "subject.processes")? {
        seen = seen.max(count as u32);
        if (count as u32) < seen.min(ready) {
            fewest = fewest.min(count as u32);
        }
    }
    (fewest < ready).then_some(Doubt::ProcessesEnded { ready, fewest })
}

pub(super) fn memory_kills(trial: &TrialRecord) -> Option<Doubt> {
    let kills = readings::counted(trial, "subject.memory.kills")?;
    (0 < kills).then_some(Doubt::MemoryKills { kills })
}
