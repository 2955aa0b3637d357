//! A store that disappears during a run, and runs that are continued under other conditions.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use lab::record::{Fact, RunRecord};
use rustix::process::Signal;
use store::Store;

use crate::lab_rig::{Lab, SHORT, is_root};
use crate::rig::{Going, Ran};
use crate::view::Viewing;

const TWICE: &str = "[trials]\nrepeat = 2\npause = '0s'";
const STORE: &str = ".dyno/runs.sqlite";

/// A run of two trials, the first of which is kept; the second waits for the gate.
fn half_way() -> (Lab, Going) {
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, TWICE);
    let mut going = lab.start(&["run", "x"]);
    going.says("1/2 ");
    (lab, going)
}

/// A run of two trials that was interrupted after the first one.
fn interrupted() -> Lab {
    let (lab, going) = half_way();
    going.signal(Signal::INT);
    going.end().status(130);
    lab
}

#[test]
fn a_store_that_is_deleted_under_a_run_ends_it() {
    let (lab, going) = half_way();
    for file in [STORE, ".dyno/runs.sqlite-wal", ".dyno/runs.sqlite-shm"] {
        let _ = fs::remove_file(lab.root.join(file));
    }
    lab.open_gate();
    let ran = going.end().status(2);
    let _ = ran
        .stderr_has("runs.sqlite: was deleted while it was open")
        .stderr_has("start the run anew");
    assert!(!lab.has(STORE));
}

#[test]
fn a_store_that_is_moved_away_under_a_run_keeps_what_it_has_and_the_run_goes_on_when_it_is_back() {
    let (lab, going) = half_way();
    let (here, there) = (lab.root.join(STORE), lab.root.join("moved.sqlite"));
    fs::rename(&here, &there).unwrap();
    lab.open_gate();
    let says = format!("was moved to {}", fs::canonicalize(&there).unwrap().display());
    let _ = going.end().status(2).stderr_has(&says);
    assert!(!here.exists());
    fs::rename(there, here).unwrap();
    assert_eq!(lab.trials("1").len(), 1);
    lab.dyno(&["run", "--resume"]).measured();
    assert_eq!(lab.trials("1").len(), 2);
}

#[test]
fn another_store_in_the_place_of_a_runs_own_is_not_touched() {
    let (lab, going) = half_way();
    let load = "closed = { connections = 1 }, total = 9";
    let other = Lab::new().oracle("b", "").experiment("y", &["b"], load, "");
    other.dyno(&["run", "y"]).measured();
    let before = fs::read(other.root.join(STORE)).unwrap();
    fs::rename(other.root.join(STORE), lab.root.join(STORE)).unwrap();
    lab.open_gate();
    let _ =
        going.end().status(2).stderr_has("another file has its name now; that one was not touched");
    assert!(fs::read(lab.root.join(STORE)).unwrap() == before, "not a byte of it has changed");
    let runs = lab.store().runs().unwrap();
    assert_eq!(runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["y"]);
    assert_eq!(lab.trials("1").len(), 1);
}

/// Resumes a run that began like this one, except for the change.
fn resumed(lab: &Lab, name: &str, change: impl Fn(&mut RunRecord)) -> Ran {
    let mut record = lab.store().run("1".parse().unwrap()).unwrap();
    change(&mut record);
    let file = format!("{name}.sqlite");
    let run = Store::open(&lab.root.join(&file)).unwrap().begin(&record).unwrap();
    lab.dyno(&["run", "--resume", &run.to_string(), "--store", &file])
}

fn set(record: &mut RunRecord, name: &str, value: &str) {
    record.facts.retain(|fact| fact.name != name);
    record.facts.push(Fact { name: name.into(), value: value.into() });
}

#[test]
fn a_run_is_gone_on_with_only_by_the_dyno_and_on_the_machine_that_it_began_on() {
    let lab = interrupted();
    lab.open_gate();
    let ran = resumed(&lab, "dyno", |run| run.dyno = "0.0.1".into()).status(2);
    let _ =
        ran.stderr_has("run 1 began under other conditions").stderr_has("dyno was 0.0.1, and is ");
    for (name, value) in [("kernel", "Linux 2.6.32"), ("cpus.load", "7")] {
        let ran = resumed(&lab, name, |run| set(run, name, value)).status(2);
        let _ = ran.stderr_has(&format!("{name} was {value}, and is "));
    }
    // Facts that may change when the machine is restarted do not make it another machine.
    let _ = resumed(&lab, "restarted", |run| set(run, "net.ipv4.tcp_mem", "1 2 3")).measured();
}

#[test]
fn two_projects_cannot_go_on_with_one_run_at_once() {
    let lab = interrupted();
    let mut first = lab.start(&["run", "--resume"]);
    first.says("order ");
    let twin = Lab::new().oracle("a", "");
    let store = lab.root.join(STORE).display().to_string();
    let holder =
        format!("another dyno (process {}) is working on run 1", first.pid().as_raw_nonzero());
    twin.dyno(&["run", "--resume", "1", "--store", &store]).status(2).stderr_has(&holder);
    lab.open_gate();
    let _ = first.end().measured();
    assert_eq!(lab.trials("1").len(), 2);
}

/// The index and the first run as `dyno view` shows them to another user, who then ends it as a service is ended.
fn viewed(lab: &Lab) -> String {
    let mut command = lab.command(&["view", "--store", "shared/a.sqlite"]);
    // The user `nobody` is on every machine.
    command.uid(65_534).gid(65_534);
    let view = Viewing::start(command);
    let answers = ["/", "/run/1"].map(|path| view.get(path).body).concat();
    view.end(Signal::TERM);
    answers
}

#[test]
fn another_users_store_is_read_and_nothing_of_the_reader_stays_beside_it() {
    if !is_root("a store of another user") {
        return;
    }
    let lab = Lab::one(SHORT, "");
    let _ = lab.dyno(&["run", "x"]).measured();
    let shared = lab.root.join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
    let path = shared.join("a.sqlite");
    fs::copy(lab.root.join(STORE), &path).unwrap();
    let names = || lab.names("shared");
    let all_is_shown = |answers: &str| {
        assert!(answers.contains("/run/1\"") && answers.contains("Which?"), "{answers}");
    };
    all_is_shown(&viewed(&lab));
    assert_eq!(names(), ["a.sqlite"]);
    // While its owner's dyno writes, its files are there; and its last words are read.
    let mut owner = Store::open(&path).unwrap();
    let record = owner.run("1".parse().unwrap()).unwrap();
    owner.begin(&RunRecord { name: "newest".into(), ..record }).unwrap();
    assert_eq!(names(), ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"]);
    let answers = viewed(&lab);
    all_is_shown(&answers);
    assert!(answers.contains("newest"), "{answers}");
    assert!(names().iter().all(|name| fs::metadata(shared.join(name)).unwrap().uid() == 0));
    drop(owner);
    assert_eq!(names(), ["a.sqlite"]);
    let _ = lab.dyno(&["runs", "rm", "1", "--store", "shared/a.sqlite"]).status(0);
}
