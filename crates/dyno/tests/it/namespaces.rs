//! Two dynos that do not see each other's processes, but share cgroups, folders or a store, as containers may.

use std::process::{Command, Stdio};
use std::time::Duration;

use lab::record::OutcomeKind;
use rustix::process::Signal;

use crate::lab_rig::{Lab, SHORT, not_tested, until};
use crate::rig::Going;

/// A command in namespaces of its own, with folders that no other sees. None where that is not permitted.
fn within(command: &Command, namespaces: &[&str]) -> Option<Command> {
    let unshare = |rest: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(namespaces).args(rest);
        unshare
    };
    let is_permitted =
        unshare(&["true"]).stderr(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_permitted {
        not_tested("two dynos in containers", "namespaces");
        return None;
    }
    let mut within = unshare(&[]);
    within.arg(command.get_program()).args(command.get_args());
    within.current_dir(command.get_current_dir()?);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => within.env(name, value),
            None => within.env_remove(name),
        };
    }
    Some(within)
}

const CONTAINER: &[&str] = &["-pfmT", "--kill-child", "--mount-proc"];
const LONG: &str = "open = { rate = 50 }, duration = '4s'";

/// A trial of [`LONG`] is still running this long after it began.
pub(crate) const INSTANTS: Duration = Duration::from_secs(2);

#[test]
fn a_dyno_does_not_end_the_servers_of_one_in_another_container() {
    a_second_dyno_begins_elsewhere(Duration::ZERO);
}

/// A dyno in another container begins this long after the first one's trial. None where that cannot be tried.
pub(crate) fn a_second_dyno_begins_elsewhere(after: Duration) -> Option<()> {
    let labs = [LONG, SHORT].map(|load| Lab::one(load, ""));
    let long = within(&labs[0].command(&["run", "x"]), CONTAINER)?;
    let long = Going::start(long);
    let work = labs[0].root.join(".dyno/work");
    until("a trial", || std::fs::read_dir(&work).is_ok_and(|mut folders| folders.next().is_some()));
    std::thread::sleep(after);
    for namespaces in [&["-T", "--boottime", "31536000"], CONTAINER] {
        let short = within(&labs[1].command(&["run", "x"]), namespaces).unwrap();
        let short = Going::start(short).end().measured();
        // What other tests' killed dynos left may be ended, and is named with its folder.
        assert!(!short.stderr.contains(&labs[0].root.display().to_string()), "{short}");
    }
    long.end().measured();
    let trial = labs[0].trial();
    assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
    Some(())
}

#[test]
fn a_run_in_use_is_not_deleted_from_another_container() {
    a_run_is_deleted_elsewhere(Duration::ZERO);
}

/// A dyno in another container is told to delete the run this long after it began. None where that cannot be tried.
pub(crate) fn a_run_is_deleted_elsewhere(after: Duration) -> Option<()> {
    let lab = Lab::one(LONG, "");
    let mut going = lab.start(&["run", "x"]);
    going.says("order ");
    std::thread::sleep(after);
    let apart = [CONTAINER, &["-n"]].concat();
    let other = within(&lab.command(&["runs", "rm", "1"]), &apart)?;
    let refused = Going::start(other).end().status(2);
    refused
        .stderr_has("another dyno (in another container, or on another host) is working on run 1");
    going.signal(Signal::INT);
    going.end().status(130);
    let other = within(&lab.command(&["runs", "rm", "1"]), &apart)?;
    Going::start(other).end().status(0).stdout_has("deleted run 1: x");
    Some(())
}
