//! Whether the subject was the same processes all the time, and idle while it was not loaded.

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Share, Time};
use crate::verdict::Gravity::Suspect;
use lab::figure::readings;
use lab::record::TrialRecord;
use units::{count, percent};

/// As a share of one CPU: a server that uses more than this while another is under load takes it from that one.
const TWIN: f64 = 0.05;
/// As a share of the time in slices: above it, the rate of a closed loop is clearly lower than that of a whole trial.
const WAITED: f64 = 0.1;
/// As a share of its CPU time: less than this is within the difference of the two accounts.
const OUTSIDE: f64 = 0.1;
/// `/proc` counts in steps of 10 ms: fewer than five of them are not a finding.
const LEAST_OUTSIDE_NS: f64 = 50e6;

pub(super) const ALL: &[Definition] =
    &[PROCESSES_ENDED, MEMORY_KILLS, LEFT_CGROUP, TWIN_BUSY, SHORT_SLICES];

/// Processes of the subject ended during the load.
pub(crate) const PROCESSES_ENDED: Definition = Definition::new("processes_ended", Suspect)
    .when("processes that were seen under load are gone again, and there are fewer than when the server was ready")
    .because("some of its processes died, or it restarts its workers")
    .way_out("see its output, and whether it restarts its workers by design");

/// The kernel killed processes of the subject because it was out of memory.
pub(crate) const MEMORY_KILLS: Definition = Definition::new("memory_kills", Suspect)
    .when("`subject.memory.kills` grew under load")
    .because("the kernel killed processes for lack of memory")
    .way_out("allow it more memory, or report that this is its limit");

/// Processes of the subject's left its cgroup: their CPU time is known in the steps of `/proc` only.
pub(crate) const LEFT_CGROUP: Definition = Definition::new("left_cgroup", Suspect)
    .when("the server's processes used more CPU time (`subject.cpu.user` and `.system`) than its cgroup counted \
        (`subject.cpu.cgroup`), by more than {} and {}")
    .thresholds(&[Share(OUTSIDE), Time(LEAST_OUTSIDE_NS)])
    .because("a command such as `systemd-run` or a container's client moved them; CPU time is then that of the \
        processes, which lacks what ended unobserved; a gate on `cpu` does not count such a pair")
    .way_out("start it without `systemd-run`, a container's client or whatever else moves it");

/// The subject used the CPU while the load was with another: the two disturb each other.
pub(crate) const TWIN_BUSY: Definition = Definition::new("twin_busy", Suspect)
    .when("in slices: the server used more than {} of a CPU while the load was with another (its cgroup, or its \
        processes if they left it, read when each turn begins and ends)")
    .thresholds(&[Share(TWIN)])
    .because("the other server loses that CPU time; run whole trials one after another: `dyno race --slices off`, or \
        no `trials.slices` in an experiment")
    .way_out("run whole trials one after another, without slices; and see what the server does without requests");

/// Much of its slices went by waiting for the last answers, while ever fewer requests were in flight.
pub(crate) const SHORT_SLICES: Definition = Definition::new("short_slices", Suspect)
    .when("in slices: more than {} of the server's slices went by waiting for what was in flight when their time was \
        over")
    .thresholds(&[Share(WAITED)])
    .because("meanwhile a closed loop has ever fewer requests in flight, so that its rate is lower than without \
        slices, most for a server whose response times vary; dyno lengthens slices up to 1 s; `dyno race --slices off` \
        does without them")
    .way_out("run whole trials one after another, without slices, or make the slices longer");

/// Every doubt about the subject's processes, whatever was loaded or held.
pub(super) fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = Doubt> {
    let all = [
        processes_ended(trial),
        memory_kills(trial),
        left_cgroup(trial),
        twin_busy(trial),
        short_slices(trial),
    ];
    all.into_iter().flatten()
}

/// Fewer processes during the load than when it was ready: some have ended, and requests on their way to them were
/// lost. New processes are found late: only a process that was observed can be missing.
fn processes_ended(trial: &TrialRecord) -> Option<Doubt> {
    let ready = trial.launch.as_ref()?.processes;
    let (mut seen, mut fewest) = (0, u32::MAX);
    for count in readings::under_load(trial, "subject.processes")? {
        seen = seen.max(count as u32);
        if (count as u32) < seen.min(ready) {
            fewest = fewest.min(count as u32);
        }
    }
    (fewest < ready).then(|| PROCESSES_ENDED.found(format!(
        "processes of the server ended under load: it had {ready} when it was ready, and later only {fewest}"
    )))
}

/// What its processes have used is more than what its cgroup has counted.
fn left_cgroup(trial: &TrialRecord) -> Option<Doubt> {
    let rate = |name: &str| readings::growth_ns_per_s(trial, name);
    let (from, until) = readings::measured(trial)?;
    let used = rate("subject.cpu.user")? + rate("subject.cpu.system")?;
    let outside = used - rate("subject.cpu.cgroup")?;
    let outside_ns = outside * (until - from) as f64 / load::SECOND as f64;
    let is_found = LEAST_OUTSIDE_NS <= outside_ns && OUTSIDE * used < outside;
    is_found.then(|| LEFT_CGROUP.found(format!(
        "its processes used {} of their CPU time outside of the cgroup in which dyno started them: CPU time is that of \
         its processes, in steps of 10 ms",
        percent(outside / used)
    )))
}

fn memory_kills(trial: &TrialRecord) -> Option<Doubt> {
    let kills = readings::counted(trial, "subject.memory.kills")?;
    (0 < kills).then(|| {
        MEMORY_KILLS.found(format!(
            "the kernel killed {} of the server's processes, because they were out of memory",
            count(kills)
        ))
    })
}

/// The subject was to be idle while the load was with another.
fn twin_busy(trial: &TrialRecord) -> Option<Doubt> {
    let turns = trial.loaded.as_ref()?.in_turns?;
    let share = |cpu: Option<u64>, time| Some(cpu? as f64 / f64::max(time as f64, 1.0));
    let of_others = share(turns.cpu_others, turns.others)?;
    let own = share(turns.cpu_own, turns.own)?;
    (TWIN < of_others).then(|| TWIN_BUSY.found(format!(
        "it used {} of a CPU while the load was with another server, and {} under load: the servers disturb one \
         another",
        percent(of_others),
        percent(own)
    )))
}

/// While the last answers of a slice are waited for, ever fewer requests are under way: a closed loop is not kept busy,
/// and least of all with a server whose response times vary.
fn short_slices(trial: &TrialRecord) -> Option<Doubt> {
    let turns = trial.loaded.as_ref()?.in_turns?;
    let share = turns.waited as f64 / f64::max(turns.own as f64, 1.0);
    (WAITED < share).then(|| SHORT_SLICES.found(format!(
        "{} of its slices went by waiting for their last answers, while ever fewer requests were in flight: that \
         lowers its rate",
        percent(share)
    )))
}
