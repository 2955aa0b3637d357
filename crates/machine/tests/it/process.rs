//! Processes are started as specified, and nothing of them is left.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use machine::conditions::Group;
use machine::process::{Exit, Marker, VARIABLE, launch, sweep};
use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{
    Doomed, Folder, Line, PATIENCE, dead_marker, eventually, lives, program, spec, warden, worker,
};

crate::tests![
    what_ends_by_itself_tells_how,
    what_cannot_be_started_says_why,
    a_subject_gets_what_it_was_given_and_nothing_else,
    a_flood_of_output_neither_blocks_nor_fills,
    a_process_that_obeys_the_signal_is_not_killed_even_if_it_was_stopped,
    a_process_that_hides_is_found_when_it_is_stopped,
    a_process_that_hides_is_found_when_its_handle_is_dropped,
    a_process_that_hides_is_found_when_dyno_is_killed,
    a_process_that_hides_is_found_when_the_warden_is_killed,
    the_interrupt_of_a_terminal_does_not_reach_a_subject,
    the_next_start_ends_what_two_deaths_left,
    the_next_start_leaves_alone_what_is_not_orphaned,
    a_dyno_of_other_namespaces_is_left_alone_while_it_lives,
];

/// Ignores TERM, forks twice, in a session of its own, and reports when all of it is there: four processes, and for a
/// moment some shells.
const HIDER: &str = r#"
trap "" TERM
exec 9>"$0"
(setsid sh -c 'trap "" TERM; (echo hidden >&9; exec sleep 1000) & (echo hidden >&9; exec sleep 1000) & exit' &)
sleep 1000 &
echo first >&9
while :; do wait; sleep 1000; done
"#;

fn hider(folder: &Folder) -> machine::process::Spec {
    spec(folder, &["sh", "-c", HIDER, "LINE"])
}

fn hear_all(line: &mut Line) {
    let mut heard = [line.hear(), line.hear(), line.hear()];
    heard.sort();
    assert_eq!(heard, ["first", "hidden", "hidden"]);
}

fn what_ends_by_itself_tells_how() {
    let (said, killed) = ("echo to stdout; echo to stderr >&2; exit 3", "echo x; kill -9 $$");
    for (script, exit, tail) in
        [(said, Exit::Status(3), "to stdout\nto stderr\n"), (killed, Exit::Signal(9), "x\n")]
    {
        let folder = Folder::new();
        let mut running = launch(&warden(), &spec(&folder, &["sh", "-c", script])).unwrap();
        eventually("its end", || running.ended().is_some());
        assert_eq!(running.tail(), tail.as_bytes());
        let ended = running.ended();
        let stopped = running.stop();
        assert_eq!((ended, stopped.exit, stopped.killed), (Some(exit), exit, 0), "{script}");
        assert_eq!(stopped.tail, tail.as_bytes());
    }
}

fn what_cannot_be_started_says_why() {
    let folder = Folder::new();
    let error = launch(&warden(), &spec(&folder, &["no-such-program-anywhere"])).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("no-such-program-anywhere"), "{error}");
    let mut nowhere = spec(&folder, &["true"]);
    nowhere.cwd = folder.at("not there");
    let error = launch(&warden(), &nowhere).unwrap_err();
    assert!(error.to_string().contains("not there: no such folder"), "{error}");
    let error = launch(&["/not/a/warden".into()], &spec(&folder, &["true"])).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let error = launch(&["true".into()], &spec(&folder, &["true"])).unwrap_err();
    assert!(error.to_string().contains("the warden is gone"), "{error}");
}

fn a_subject_gets_what_it_was_given_and_nothing_else() {
    let (folder, mut line) = Line::with_folder();
    let mut spec = worker(&folder, &["limits"]);
    spec.env.push(("FLAVOUR".into(), "plain".into()));
    spec.open_files = Some(77);
    let cpus = machine::conditions::Cpus::available().unwrap();
    let one = machine::conditions::Cpus::of(&[cpus.iter().last().unwrap()]).unwrap();
    spec.cpus = Some(one.clone());
    // A descriptor that every child inherits unless it is kept from it.
    let inherited = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    let running = launch(&warden(), &spec).unwrap();
    let cwd = std::fs::canonicalize(&folder.0).unwrap();
    assert_eq!(
        line.hear(),
        format!(
            "ready files=Some(77)/Some(77) cpus={one} cwd={cwd:?} no-new-privs \
             env={VARIABLE},FLAVOUR,PATH open=5 input=0"
        )
    );
    assert_eq!(running.tree(), [running.pid()]);
    drop(inherited);
}

fn a_flood_of_output_neither_blocks_nor_fills() {
    let (folder, mut line) = Line::with_folder();
    let mut spec = worker(&folder, &["print-mib", "10"]);
    spec.log = Some(folder.at("log"));
    spec.log_bytes_max = 1 << 20;
    let running = launch(&warden(), &spec).unwrap();
    // The output was never requested, and yet all of it was written.
    assert_eq!(line.hear(), "ready");
    let memory = std::fs::read_to_string(format!("/proc/{}/status", running.warden_pid())).unwrap();
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 30 << 10, "the warden held {peak_kib} KiB");
    let stopped = running.stop();
    assert_eq!(stopped.tail, [b'x'; 64 << 10]);
    let log = std::fs::read(folder.at("log")).unwrap();
    assert!(log.starts_with(&[b'x'; 1 << 20]) && log.len() < (1 << 20) + (65 << 10));
    let says = String::from_utf8_lossy(&log[1 << 20..][..80]).into_owned();
    assert!(says.contains("[dyno: 9371648 bytes of the output are left out here]"), "{says}");
}

fn a_process_that_obeys_the_signal_is_not_killed_even_if_it_was_stopped() {
    // With a handler: without one the signal ends it even while it is stopped.
    let polite = "trap 'echo bye; exit 7' TERM; exec 9>\"$0\"; echo ready >&9; \
                  while :; do sleep 1000 & wait; done";
    for is_stopped in [false, true] {
        let (folder, mut line) = Line::with_folder();
        let mut spec = spec(&folder, &["sh", "-c", polite, "LINE"]);
        spec.grace_ms = 60_000;
        let running = launch(&warden(), &spec).unwrap();
        assert_eq!(line.hear(), "ready");
        if is_stopped {
            kill(running.pid(), Signal::STOP);
        }
        let stopped = running.stop();
        // Its child, which outlived it, was asked too.
        assert!(line.is_silent_within(Duration::ZERO));
        assert_eq!((stopped.exit, stopped.killed), (Exit::Status(7), 0));
        assert_eq!(stopped.tail, b"bye\n");
    }
}

fn a_process_that_hides_is_found_when_it_is_stopped() {
    let (folder, mut line) = Line::with_folder();
    let running = launch(&warden(), &hider(&folder)).unwrap();
    hear_all(&mut line);
    eventually("the whole tree", || running.tree().len() == 4);
    let tree = running.tree();
    let stopped = running.stop();
    assert!(line.is_silent_within(Duration::ZERO), "a process is left");
    assert!(tree.iter().all(|pid| !lives(*pid)));
    assert_eq!((stopped.exit, stopped.killed), (Exit::Signal(9), 4));
}

fn a_process_that_hides_is_found_when_its_handle_is_dropped() {
    let (folder, mut line) = Line::with_folder();
    let running = launch(&warden(), &hider(&folder)).unwrap();
    hear_all(&mut line);
    drop(running);
    assert!(line.is_silent_within(Duration::ZERO), "a process is left");
}

/// A dyno, to be killed: starts the hider, in a cgroup if it may, prints the number of its warden and the cgroup, and
/// waits for ever.
pub(crate) fn caller(arguments: &[String]) -> i32 {
    let folder = std::path::PathBuf::from(&arguments[0]);
    let path = folder.join("line").to_str().unwrap().to_string();
    let argv = ["sh", "-c", HIDER, &path].iter().map(ToString::to_string).collect();
    let marker = Marker::unique();
    let (group, _) = Group::create(&marker, None);
    let mut spec = machine::process::Spec::new(marker, argv, folder);
    spec.membership = group.as_ref().map(Group::membership);
    spec.env = vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
    spec.grace_ms = 200;
    let running = launch(&warden(), &spec).unwrap();
    let place = spec.membership.and_then(|member| member.join[0].parent().map(Path::to_path_buf));
    println!("{} {}", running.warden_pid(), place.unwrap_or_default().display());
    loop {
        std::thread::park();
    }
}

/// A caller with a hider that is complete, and the number of the caller's warden.
fn caller_with_hider(folder: &Folder, line: &mut Line) -> (Doomed, u32) {
    let (caller, warden, _) = caller_within(&[], folder, line).unwrap();
    (caller, warden)
}

/// A caller with a hider in other namespaces, as `unshare` is to make them; and the caller's cgroup. None where that is
/// not permitted.
fn caller_within(
    namespaces: &[&str],
    folder: &Folder,
    line: &mut Line,
) -> Option<(Doomed, u32, PathBuf)> {
    let caller = within(namespaces)
        .args(["caller", folder.0.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn();
    let mut caller = Doomed(caller.unwrap());
    let mut answer = String::new();
    BufReader::new(caller.0.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    let (warden, cgroup) = answer.trim_end().split_once(' ')?;
    hear_all(line);
    Some((caller, warden.parse().unwrap(), cgroup.into()))
}

/// This program, in other namespaces.
fn within(namespaces: &[&str]) -> Command {
    if namespaces.is_empty() {
        return Command::new(program());
    }
    let mut command = Command::new("unshare");
    command.args(namespaces).arg(program());
    command
}

fn kill(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

fn a_process_that_hides_is_found_when_dyno_is_killed() {
    let (folder, mut line) = Line::with_folder();
    let (caller, warden) = caller_with_hider(&folder, &mut line);
    drop(caller);
    assert!(line.is_silent_within(PATIENCE), "a process is left");
    eventually("the warden's end", || !lives(warden));
}

fn a_process_that_hides_is_found_when_the_warden_is_killed() {
    let (folder, mut line) = Line::with_folder();
    let mut running = launch(&warden(), &hider(&folder)).unwrap();
    hear_all(&mut line);
    kill(running.warden_pid(), Signal::KILL);
    eventually("that the death is noticed", || running.ended().is_some());
    assert!(line.is_silent_within(Duration::ZERO), "a process is left");
    let stopped = running.stop();
    assert_eq!(stopped.exit.to_string(), "ended unseen: its warden was killed");
    assert!(2 <= stopped.killed, "{stopped:?}");
}

fn the_interrupt_of_a_terminal_does_not_reach_a_subject() {
    let folder = Folder::new();
    let running = launch(&warden(), &spec(&folder, &["sleep", "1000"])).unwrap();
    let field = |pid: u32, number: usize| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let rest = stat.rsplit(')').next().unwrap().to_string();
        rest.split_ascii_whitespace().nth(number - 3).unwrap().parse::<u32>().unwrap()
    };
    let (group, session) = (5, 6);
    assert_eq!(field(running.warden_pid(), session), running.warden_pid());
    assert_eq!(field(running.pid(), session), running.warden_pid());
    assert_eq!(field(running.pid(), group), running.pid());
}

fn the_next_start_ends_what_two_deaths_left() {
    // Another dyno that starts just then may sweep first; not each time.
    let all_swept = |_| {
        let (folder, mut line) = Line::with_folder();
        let (caller, warden) = caller_with_hider(&folder, &mut line);
        // The warden first, and dyno before it can notice.
        kill(caller.0.id(), Signal::STOP);
        kill(warden, Signal::KILL);
        drop(caller);
        let swept = sweep().processes;
        assert!(line.is_silent_within(PATIENCE), "a process is left");
        4 <= swept.len() && swept.iter().all(|it| !it.command.is_empty() && it.owner.is_some())
    };
    assert!((0..5).any(all_swept));
}

fn the_next_start_leaves_alone_what_is_not_orphaned() {
    let (folder, mut line) = Line::with_folder();
    // The processes of a living dyno, and one whose marker only looks like a dyno's.
    let (caller, warden) = caller_with_hider(&folder, &mut line);
    let sleeper = |marker: &str| {
        let sleeper = Command::new("sleep").arg("1000").env(VARIABLE, marker).spawn();
        Doomed(sleeper.unwrap())
    };
    let (unmarked, mut marked) = (sleeper("dyno-1-2"), sleeper(&dead_marker()));
    // By this sweep, or by that of another dyno which starts just then.
    let _ = sweep();
    let mut end = None;
    eventually("the end of what is orphaned", || {
        end = marked.0.try_wait().unwrap();
        end.is_some()
    });
    assert_eq!(end.and_then(|status| status.signal()), Some(9), "it was ended: {end:?}");
    assert!(lives(unmarked.0.id()) && lives(warden) && lives(caller.0.id()));
    drop(caller);
    assert!(line.is_silent_within(PATIENCE));
}

/// What containers and sandboxes unshare while they see one `/sys/fs/cgroup`.
const NAMESPACES: [&[&str]; 4] = [
    &["-pf", "--kill-child", "--mount-proc"],
    &["-pf", "--kill-child"],
    &["-T", "--boottime", "31536000"],
    &["-pfmniuT", "--kill-child", "--mount-proc"],
];

fn a_dyno_of_other_namespaces_is_left_alone_while_it_lives() {
    for namespaces in NAMESPACES {
        for (of_caller, of_sweeper) in [(namespaces, &[][..]), (&[], namespaces)] {
            let (folder, mut line) = Line::with_folder();
            let Some((caller, _, cgroup)) = caller_within(of_caller, &folder, &mut line) else {
                eprintln!("SKIPPED: no namespaces can be made");
                return;
            };
            let sweep_there =
                || assert!(within(of_sweeper).arg("sweep").status().unwrap().success());
            sweep_there();
            assert!(
                !line.is_silent_within(Duration::from_millis(200)),
                "{namespaces:?}: it was ended"
            );
            let has_cgroup = cgroup != Path::new("");
            assert!(!has_cgroup || cgroup.is_dir(), "{namespaces:?}: {}", cgroup.display());
            drop(caller);
            assert!(line.is_silent_within(PATIENCE), "a process is left");
            // What a dead dyno of other namespaces left is removed all the same.
            eventually("the end of the dead dyno's cgroup", || {
                sweep_there();
                !cgroup.is_dir()
            });
        }
    }
}
