//! Whether it was one and the same subject all the time.

use lab::record::TrialRecord;

use super::Doubt;
use crate::readings;

/// Fewer processes during the load than when it was ready: some have ended, and what was on its way to them was lost.
pub(super) fn processes_ended(trial: &TrialRecord) -> Option<Doubt> {
    let ready = trial.launch.as_ref()?.processes;
    let fewest = readings::lowest(trial, "subject.processes")? as u32;
    (fewest < ready).then_some(Doubt::ProcessesEnded { ready, fewest })
}

pub(super) fn memory_kills(trial: &TrialRecord) -> Option<Doubt> {
    let kills = readings::counted(trial, "subject.memory.kills")?;
    (0 < kills).then_some(Doubt::MemoryKills { kills })
}
