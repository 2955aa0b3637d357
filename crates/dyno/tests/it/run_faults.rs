//! Subjects that crash, hang, hide or leave the port to another server: results with their evidence, and the run goes
//! on.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use lab::record::{Outcome, OutcomeKind, TrialRecord, fact};
use oracle::{Config, Listen, Oracle};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket, sockopt};

use crate::lab_rig::{Lab, ORACLE, SHORT, is_answered, not_tested, patiently, trial_of, until};

fn tail(trial: &TrialRecord) -> String {
    String::from_utf8_lossy(&trial.ending.output_tail).into_owned()
}

const UNBUILDABLE: &str = "build = ['''sh -c 'echo no luck today >&2; exit 1' ''']\nrun = 'true'";

#[test]
fn servers_that_crash_hide_or_cannot_be_built_are_results_with_their_evidence() {
    let early = "run = '''sh -c 'echo I will not >&2; exit 3' '''";
    let lab = Lab::new().subject("early", early).python("later", "dies").oracle("good", "");
    let lab = lab.subject("broken", UNBUILDABLE).python("stubborn", "stubborn");
    let lab = lab.experiment("x", &["early", "later", "broken", "stubborn", "good"], SHORT, "");
    lab.dyno(&["run", "x"])
        .measured()
        .stderr_has("died: ")
        .stderr_has("broken does not take part: it cannot be built");
    let trials = lab.trials("1");
    assert_eq!(trials.len(), 4);
    assert_eq!(trial_of(&trials, "good").outcome.kind, OutcomeKind::Measured);
    let early = trial_of(&trials, "early");
    let says = "it ended before it answered: exit status 3";
    assert_eq!(early.outcome, Outcome { kind: OutcomeKind::Died, says: says.into() });
    assert_eq!((&early.ending.exit[..], &tail(early)[..]), ("exit status 3", "I will not\n"));
    let later = trial_of(&trials, "later");
    assert_eq!(later.outcome.kind, OutcomeKind::Died);
    assert!(later.outcome.says.contains("the load began: signal 9 (KILL)"), "{:?}", later.outcome);
    assert!(later.ending.exit.starts_with("signal 9 (KILL)"), "{}", later.ending.exit);
    assert_eq!(tail(later), "first I was afraid\nI was petrified\n");
    assert!(later.loaded.is_some(), "what was measured until then is kept");
    // It ignores all signals but KILL.
    let stubborn = trial_of(&trials, "stubborn");
    assert_eq!(stubborn.outcome.kind, OutcomeKind::Measured, "{:?}", stubborn.outcome);
    assert_eq!(stubborn.ending.killed, 2, "the first process and the one that serves");
    assert!(!is_answered(stubborn.launch.as_ref().unwrap().port));
    let entries = lab.store().run("1".parse().unwrap()).unwrap().entries;
    let skipped = entries.iter().find(|entry| entry.name == "broken").unwrap();
    assert!(skipped.skipped.as_ref().unwrap().contains("no luck today"), "{skipped:?}");
    assert!(entries.iter().any(|entry| entry.name == "good" && entry.skipped.is_none()));
}

#[test]
fn a_crash_in_the_third_trial_is_the_third_trials() {
    let rest = "[trials]\nrepeat = 4\npause = '0s'";
    let lab = Lab::new().python("moody", "dies-at-third").experiment("x", &["moody"], SHORT, rest);
    lab.dyno(&["run", "x"]).measured();
    let kinds: Vec<OutcomeKind> = lab.trials("1").iter().map(|trial| trial.outcome.kind).collect();
    use OutcomeKind::{Died, Measured};
    assert_eq!(kinds, [Measured, Measured, Died, Measured]);
}

#[test]
fn a_server_that_does_not_answer_in_time_is_not_ready() {
    let none = "run = 'no-such-program-anywhere {port}'";
    let (within, trials) = patiently(|ready| {
        let hangs =
            format!("run = '''sh -c 'echo thinking; exec sleep 600' '''\nready = '{ready}'");
        let mute = format!("run = '{ORACLE} --fault mute'\nready = '{ready}'");
        let lab = Lab::new().subject("hangs", &hangs).subject("mute", &mute).subject("none", none);
        let lab = lab.oracle("good", "");
        let lab = lab.experiment("x", &["hangs", "mute", "none", "good"], SHORT, "");
        let within = format!("no correct answer within {} s; ", ready.trim_end_matches('s'));
        let _ = lab.dyno(&["run", "x"]).measured().stderr_has(&format!("not-ready: {within}"));
        let trials = lab.trials("1");
        let have_begun = !tail(trial_of(&trials, "hangs")).is_empty()
            && !trial_of(&trials, "mute").outcome.says.contains("no connection");
        have_begun.then_some((within, trials))
    });
    assert_eq!(trial_of(&trials, "good").outcome.kind, OutcomeKind::Measured);
    let late = |attempt: &str| format!("{within}the last attempt: {attempt}");
    for (name, says, last_words) in [
        ("hangs", &*late("no connection: "), "thinking\n"),
        ("mute", &late("no whole answer within "), ""),
        ("none", "`no-such-program-anywhere ", ""),
    ] {
        let trial = trial_of(&trials, name);
        assert_eq!(trial.outcome.kind, OutcomeKind::NotReady, "{name}: {:?}", trial.outcome);
        assert!(trial.outcome.says.starts_with(says), "{name}: {:?}", trial.outcome);
        assert!(tail(trial).starts_with(last_words), "{name}: {}", tail(trial));
    }
    assert!(trial_of(&trials, "hangs").outcome.says.contains("refused"), "the true reason is said");
    assert!(trial_of(&trials, "none").outcome.says.contains("No such file"));
}

#[test]
fn if_no_server_can_take_part_there_is_no_run() {
    let absent = "needs = ['no-such-program-anywhere']\nadvice = 'pray'\nrun = 'true'";
    let lab = Lab::new().subject("broken", UNBUILDABLE).subject("absent", absent);
    let lab = lab.experiment("x", &["broken", "absent"], SHORT, "");
    lab.dyno(&["run", "x"])
        .status(2)
        .stderr_has("no luck today")
        .stderr_has("needs `no-such-program-anywhere`; pray")
        .stderr_has("no server could be built or started here");
    assert_eq!(lab.store().runs().unwrap(), []);
}

#[test]
fn if_nothing_could_be_measured_the_answer_is_could_not_tell() {
    let lab = Lab::new().subject("early", "run = 'false'").experiment("x", &["early"], SHORT, "");
    lab.dyno(&["run", "x"]).status(2).stderr_has("nothing was measured");
    assert_eq!(lab.trial().outcome.kind, OutcomeKind::Died);
}

/// The port that a subject was started with, none of these; it has written it down.
fn printed_port(lab: &Lab, subject: &str, before: &[u16]) -> u16 {
    let port = || lab.note(subject, "port").and_then(|text| text.trim().parse().ok());
    let port = || port().filter(|port| !before.contains(port));
    until("a port is written down", || port().is_some());
    port().unwrap()
}

fn stranger_on(port: u16) -> Oracle {
    let listen = Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    Oracle::start(Config { listen, threads: 1, ..Config::default() }).unwrap()
}

#[test]
fn a_subject_whose_port_was_taken_before_it_listened_is_started_again_on_another_port() {
    let lab = Lab::new().python("late", "crowded").experiment("x", &["late"], SHORT, "");
    let going = lab.start(&["run", "x"]);
    let port = printed_port(&lab, "late", &[]);
    let stranger = stranger_on(port);
    going.end().measured();
    let _ = stranger.stop();
    let trial = lab.measured();
    assert_ne!(trial.launch.unwrap().port, port);
    let says = format!("port {port} is process {}'s", std::process::id());
    let told = fact(&trial.conditions, "port");
    assert!(told.is_some_and(|told| told.contains(&says)), "{:?}", trial.conditions);
}

#[test]
fn a_stranger_on_each_of_three_ports_is_never_measured_and_not_the_subjects_fault() {
    let lab = Lab::new().python("silent", "elsewhere").experiment("x", &["silent"], SHORT, "");
    let going = lab.start(&["run", "x"]);
    let (mut ports, mut strangers) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let port = printed_port(&lab, "silent", &ports);
        strangers.push(stranger_on(port));
        ports.push(port);
    }
    going.end().status(2).stderr_has("unable: ");
    for stranger in strangers {
        let _ = stranger.stop();
    }
    let trial = lab.trial();
    assert_eq!(trial.outcome.kind, OutcomeKind::Unable);
    let says = format!("port {} is process {}'s", ports[2], std::process::id());
    assert!(trial.outcome.says.contains(&says), "{:?}", trial.outcome);
    assert!(trial.loaded.is_none());
}

/// Listens on a port on which another server listens already, which allows sharing.
fn share(port: u16) -> OwnedFd {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_reuseport(&socket, true).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    listen(&socket, 128).unwrap();
    socket
}

#[test]
fn a_process_that_comes_to_share_the_subjects_port_under_load_spoils_the_trial() {
    // An answer is withheld until the port is shared, so the load does not end before.
    let load = "closed = { connections = 2 }, duration = '1s', timeout = '60s'";
    let lab = Lab::new().python("shared", "shares").experiment("x", &["shared"], load, "");
    let going = lab.start(&["run", "x"]);
    let stranger = share(printed_port(&lab, "shared", &[]));
    lab.open_gate();
    going.end().status(2).stderr_has("wrong-server: ");
    drop(stranger);
    assert_eq!(lab.trial().outcome.kind, OutcomeKind::WrongServer);
}

#[test]
fn a_server_that_leaves_its_cgroup_has_its_cpu_time_and_a_doubt() {
    let leave = "for procs in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do\n\
                 echo $$ 2>/dev/null >\"$procs\"\ndone\nexec \"$@\"\n";
    let lab = Lab::new()
        .subject("leaves", &format!("run = 'sh leave.sh {ORACLE}'"))
        .file("subjects/leaves/leave.sh", leave)
        .experiment("x", &["leaves"], "closed = { connections = 2 }, duration = '1s'", "");
    let ran = lab.dyno(&["run", "x"]).measured();
    let trial = lab.trial();
    let last = |name: &str| {
        let series = trial.series.iter().find(|series| series.name == name)?;
        series.points.last().map(|(_, ns)| *ns)
    };
    let Some(counted) = last("subject.cpu.cgroup").filter(|ns| *ns < 50e6) else {
        not_tested("a server that leaves its cgroup", "a cgroup that can be left");
        return;
    };
    assert!(counted + 50e6 < last("subject.cpu.total").unwrap(), "{counted}");
    assert!(ran.has_sentence("outside of the cgroup in which dyno started them"), "{ran}");
}

/// A group in which all tasks together get a sixth of a CPU.
fn limited_group() -> Option<PathBuf> {
    let folders = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"].map(Path::new);
    let name = format!("dyno-it-{}", std::process::id());
    let mut groups = folders.map(|folder| folder.join(&name)).into_iter();
    groups.find(|group| {
        let limit = |file, text| fs::write(group.join(file), text).is_ok();
        let _ = fs::create_dir(group);
        let is_limited = limit("cpu.cfs_quota_us", "16000") || limit("cpu.max", "16000 100000");
        let _ = (!is_limited).then(|| fs::remove_dir(group));
        is_limited
    })
}

#[test]
fn a_cpu_limit_under_which_dyno_was_stopped_is_named() {
    let Some(group) = limited_group() else {
        return not_tested("a limit on CPU time", "a cgroup that can be limited");
    };
    let enter = format!("echo $$ >{}/cgroup.procs", group.display());
    // One that waits before it answers would stay below the limit.
    let busy = format!("run = '{ORACLE}'");
    let lab = Lab::new().before(&enter).subject("a", &busy).experiment(
        "x",
        &["a"],
        "closed = { connections = 2 }, duration = '1s'",
        "",
    );
    let ran = lab.dyno(&["run", "x"]);
    assert!(ran.has_sentence("a CPU limit of dyno's control group"), "{ran}");
    fs::remove_dir(group).unwrap();
}
