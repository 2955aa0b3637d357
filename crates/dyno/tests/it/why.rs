//! Runs whose servers are sampled after the rounds: what stays out of the measured trials, and refusals of the kernel.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use lab::record::ProfileRecord;
use profile::{Calls, Side, Target};

use crate::lab_rig::{Lab, ORACLE, carriers, is_root};
use crate::old_kernel::refusing;
use crate::open_probes::open_probes;
use crate::rig::{Going, Ran, in_each, in_one_of_five};
use crate::why_truth::skipped;

/// A probe that gives each sampled server a variable. Its name is that of one of dyno's own.
const PROBE: &str = "title = 'x'\n[why]\nmatch = ['dyno']\nenv = { WHY_ONLY = '1' }\n";
/// The variable, as a process has it.
const ONLY: &str = "WHY_ONLY=1";
const CONNECTIONS: f64 = 2.0;

const SERVE: &str = "--burn parse:30us --calls 3";

/// Two rounds of one server, and then one sampled trial.
fn lab() -> Lab {
    sampled(Lab::new().oracle("a", SERVE), &["a"], 1)
}

fn sampled(lab: Lab, servers: &[&str], trials: u32) -> Lab {
    let load = "closed = { connections = 2 }, duration = '400ms'";
    let rest = format!("[trials]\nrepeat = 2\npause = '0s'\n[why]\ntrials = {trials}\nhz = 3989\n");
    lab.experiment("x", servers, load, &rest).file("probes/go/probe.toml", PROBE)
}

/// What was seen of a run's processes.
#[derive(Debug, Default)]
struct Seen {
    /// Servers of measured and of sampled trials.
    measured: BTreeSet<u32>,
    sampled: BTreeSet<u32>,
    /// What was open while a server of a measured trial lived, and while one of a sampled trial did.
    beside_measured: BTreeSet<String>,
    beside_sampled: BTreeSet<String>,
}

impl Seen {
    /// Looks at dyno and at all that it has started.
    fn look(&mut self, dyno: u32, own: &[u32]) {
        let mut open: BTreeSet<String> = BTreeSet::new();
        for pid in own.iter().chain([&dyno]) {
            open.extend(open_probes(*pid));
        }
        let is_server = |pid: &&u32| command(**pid).contains("serve");
        let servers: Vec<u32> = own.iter().filter(is_server).copied().collect();
        let (sampled, measured): (Vec<u32>, Vec<u32>) =
            servers.into_iter().partition(|pid| environment(*pid).contains(ONLY));
        if !sampled.is_empty() {
            self.beside_sampled.extend(open);
        } else if !measured.is_empty() {
            self.beside_measured.extend(open);
        }
        self.sampled.extend(sampled);
        self.measured.extend(measured);
    }
}

fn command(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).into()
}

fn environment(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()).into()
}

/// Runs it to its end, and looks at it all the time.
fn watched(lab: &Lab) -> (Ran, Seen) {
    let mut going = Going::start(lab.command(&["run", "x"]));
    let (pid, mut seen) = (going.pid(), Seen::default());
    while !going.ends_within(Duration::from_millis(5)) {
        seen.look(pid.as_raw_nonzero().get() as u32, &carriers(pid));
    }
    (going.end(), seen)
}

#[track_caller]
fn profile(lab: &Lab) -> ProfileRecord {
    let run = "1".parse().unwrap();
    let mut profiles = lab.store().run(run).unwrap().profiles;
    assert_eq!(profiles.len(), 1);
    profiles.pop().unwrap()
}

#[test]
fn measured_trials_know_nothing_of_the_sampled_ones_whose_calls_are_counted() {
    in_one_of_five(|| {
        let Some(calls) = in_each(counted_calls) else { return };
        let of_all = calls.counts.iter().map(|(_, count)| *count).sum::<u64>() as f64;
        let getppid = calls.counts.iter().find(|(name, _)| name == "getppid");
        let answers = calls.answers as f64;
        let found = getppid.map_or(0, |(_, count)| *count) as f64 / answers;
        // Answers at the ends of the count may be in one of the two alone.
        let error = 0.01 + of_all / answers * CONNECTIONS / answers;
        assert!((found - 3.0).abs() < error, "{found} ± {error}: {calls:?}");
    });
}

/// The system calls of a sampled trial, whose run is watched.
fn counted_calls() -> Option<Calls> {
    let lab = lab();
    let (ran, seen) = watched(&lab);
    ran.measured();
    assert!(!seen.measured.is_empty() && !seen.sampled.is_empty(), "{seen:?}");
    assert_eq!(seen.beside_measured, BTreeSet::new());
    let found = profile(&lab).found.inspect_err(|says| skipped(says)).ok()?;
    assert!(!seen.beside_sampled.is_empty(), "what is open is seen: {seen:?}");
    assert!(found.with_flags);
    found.calls.inspect_err(|says| skipped(says)).ok()
}

/// It cannot start with the variable that names its functions.
#[test]
fn a_server_that_cannot_be_sampled_is_left_out_and_the_others_are_sampled() {
    let script = "[ -z \"$WHY_ONLY\" ] || exit 1\nexec \"$@\"\n";
    let lab = Lab::new()
        .subject("a", &format!("run = 'sh start.sh {ORACLE}'"))
        .file("subjects/a/start.sh", script)
        .oracle("b", SERVE);
    let lab = sampled(lab, &["a", "b"], 2);
    let ran = lab.dyno(&["run", "x"]).measured();
    let profiles = lab.store().run("1".parse().unwrap()).unwrap().profiles;
    if let Some(Err(says)) = profiles
        .iter()
        .map(|it| &it.found)
        .find(|it| it.as_ref().is_err_and(|says| says.contains("kernel")))
    {
        return skipped(says);
    }
    let found: Vec<(u32, bool)> =
        profiles.iter().map(|it| (it.key.number, it.found.is_ok())).collect();
    assert_eq!(found, [(0, false), (1, true), (3, true)], "{ran}");
    assert!(ran.stdout.contains("A subject: no profile: it ended before it answered"), "{ran}");
    assert!(ran.stdout.contains("samples in 2 trials"), "{ran}");
}

/// Level 2, the kernel's default, permits a user to sample the program alone.
#[test]
fn a_user_sees_the_functions_of_the_program_and_the_kernel_as_one_line() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if level.trim() != "2" {
        skipped(&format!("samples of a user: kernel.perf_event_paranoid is {level:?}, not 2"));
        return;
    }
    if !is_root("samples of a user") {
        return;
    }
    let lab = lab();
    chown(&lab.root, Some(65_534), Some(65_534)).unwrap();
    let mut command = lab.command(&["run", "x"]);
    command.uid(65_534).gid(65_534).env("HOME", &lab.root);
    let ran = Going::start(command).end().measured();
    let found = profile(&lab).found.unwrap();
    assert_eq!((found.method.target, found.method.user_only), (Target::Threads, true));
    assert!(found.lines.iter().all(|line| line.side != Side::Kernel), "{:?}", found.lines);
    assert!(found.functions.iter().any(|name| name.contains("parse")), "{:?}", found.functions);
    let refused = found.calls.unwrap_err();
    assert!(refused.contains("only root may count them"), "{refused}");
    for says in ["in the kernel ", "without the kernel's, which need root", &refused] {
        assert!(ran.has_sentence(says), "{ran}");
    }
}

#[test]
fn where_the_kernel_refuses_samples_the_run_says_so_and_ends_as_without() {
    let lab = lab();
    let call = libc::SYS_perf_event_open;
    let ran = refusing(call, libc::EPERM, || lab.dyno(&["run", "x"])).measured();
    let (refused, says) = (profile(&lab).found.unwrap_err(), "samples are not permitted here");
    assert!(refused.contains(says), "{refused}");
    assert!(ran.has_sentence(says), "{ran}");
}
