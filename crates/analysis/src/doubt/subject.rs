//! Whether the subject was the same processes all the time.

use lab::figure::readings;
use lab::record::{LoadRecord, TrialRecord};

use super::Doubt;

/// As a share of one CPU: a server that uses more than this while another is under load takes it from that one.
const TWIN: f64 = 0.05;

/// As a share of the time in slices: above it, the rate of a closed loop is clearly lower than that of a whole trial.
const WAITED: f64 = 0.1;

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

/// As a share of its CPU time: less than this is within the difference of the two accounts.
const OUTSIDE: f64 = 0.1;
/// `/proc` counts in steps of 10 ms: fewer than five of them are not a finding.
const LEAST_OUTSIDE_NS: f64 = 50e6;

/// What its processes have used is more than what its cgroup has counted.
pub(super) fn left_cgroup(trial: &TrialRecord) -> Option<Doubt> {
    let rate = |name: &str| readings::growth_ns_per_s(trial, name);
    let (from, until) = readings::measured(trial)?;
    let used = rate("subject.cpu.user")? + rate("subject.cpu.system")?;
    let outside = used - rate("subject.cpu.cgroup")?;
    let outside_ns = outside * (until - from) as f64 / load::SECOND as f64;
    let is_found = LEAST_OUTSIDE_NS <= outside_ns && OUTSIDE * used < outside;
    is_found.then(|| Doubt::LeftCgroup { share: outside / used })
}

pub(super) fn memory_kills(trial: &TrialRecord) -> Option<Doubt> {
    let kills = readings::counted(trial, "subject.memory.kills")?;
    (0 < kills).then_some(Doubt::MemoryKills { kills })
}

/// The subject was to be idle while the load was with another.
pub(super) fn twin_busy(loaded: &LoadRecord) -> Option<Doubt> {
    let turns = loaded.in_turns?;
    let share = |cpu: Option<u64>, time| Some(cpu? as f64 / f64::max(time as f64, 1.0));
    let of_others = share(turns.cpu_others, turns.others)?;
    let own = share(turns.cpu_own, turns.own)?;
    (TWIN < of_others).then_some(Doubt::TwinBusy { share: of_others, own })
}

/// While the last answers of a slice are waited for, ever fewer requests are under way: a closed loop is not kept busy,
/// and least of all with a server whose response times vary.
pub(super) fn short_slices(loaded: &LoadRecord) -> Option<Doubt> {
    let turns = loaded.in_turns?;
    let share = turns.waited as f64 / f64::max(turns.own as f64, 1.0);
    (WAITED < share).then_some(Doubt::ShortSlices { share })
}
