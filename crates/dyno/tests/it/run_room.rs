//! A machine that runs out of files, of ports, of room for the store.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use load::Failure;

use crate::lab_rig::{Lab, SHORT, is_root, not_tested, until};

#[test]
fn too_few_files_are_reported_before_anything_starts() {
    let lab = Lab::new().before("ulimit -n 64").oracle("a", "");
    let lab = lab.experiment("x", &["a"], "closed = { connections = 1000 }, total = 1000", "");
    lab.dyno(&["run", "x"])
        .status(2)
        .stderr_has("RLIMIT_NOFILE) is 64")
        .stderr_has("raise it with `ulimit -n 1096`");
    assert!(!lab.has(".dyno"), "nothing was begun");
}

/// A file system of this size, in memory, until it is dropped.
pub(crate) struct Small(pub(crate) PathBuf);

impl Small {
    /// None where it cannot be mounted: that is said.
    pub(crate) fn mount(folder: &Path, options: &str) -> Option<Small> {
        if !is_root("a full disk") {
            return None;
        }
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder);
        let is_done = mount.output().is_ok_and(|done| done.status.success());
        if !is_done {
            not_tested("a full disk", "mounts");
        }
        is_done.then(|| Small(folder.to_path_buf()))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_keeps_what_is_kept_and_the_run_can_go_on() {
    let rest = "[trials]\nrepeat = 4\npause = '0s'";
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, rest);
    let Some(small) = Small::mount(&lab.root.join("small"), "size=40m") else { return };
    let mut going = lab.start(&["run", "x", "--store", "small/runs.sqlite"]);
    going.says("1/4 ");
    // While dyno reserves its room, there is none for others.
    let filler = vec![1; 16 << 20];
    until("the filler has its place", || fs::write(small.0.join("filler"), &filler).is_ok());
    lab.open_gate();
    let ran = going.end().status(2);
    let ran = ran.stderr_has("small/runs.sqlite: the disk is full");
    ran.stderr_has("make room; `dyno run --resume 1 --store small/runs.sqlite` continues it");
    let store = small.0.join("runs.sqlite");
    let kept = || {
        let store = store::Store::open(&store).unwrap();
        let run = "1".parse().unwrap();
        assert_eq!(store.verify(run).unwrap(), []);
        format!("{:?}", store.trials(run, store::Extent::Whole).unwrap())
    };
    let before = kept();
    small.remount("size=100m");
    let ran = lab.dyno(&["run", "--resume", "--store", "small/runs.sqlite"]).measured();
    let _ = ran.stderr_has("4/4 ");
    let after = kept();
    let finished = before.strip_suffix(']').unwrap();
    assert!(after.starts_with(finished) && before.len() < after.len());
}

#[test]
fn a_store_that_cannot_be_written_is_reported_before_the_first_trial() {
    let lab = Lab::one(SHORT, "");
    lab.dyno(&["run", "x", "--store", "nowhere/runs.sqlite"])
        .status(2)
        .stderr_has("nowhere/runs.sqlite: its folder does not exist; make it with mkdir -p");
    lab.dyno(&["run", "x", "--store", "subjects"]).status(2).stderr_has("subjects: ");
    let Some(small) = Small::mount(&lab.root.join("small"), "size=1m") else { return };
    let is_full = lab.dyno(&["run", "x", "--store", "small/runs.sqlite"]).status(2);
    let _ = is_full.stderr_has("the disk is full");
    small.remount("ro");
    lab.dyno(&["run", "x", "--store", "small/new.sqlite"]).status(2).stderr_has("new.sqlite: ");
    let is_read_only = lab.dyno(&["run", "x", "--store", "small/runs.sqlite"]).status(2);
    let _ = is_read_only.stderr_has("may not be written to; copy it");
    let listed = lab.dyno(&["runs", "list", "--store", "small/runs.sqlite"]).status(0);
    let _ = listed.stdout_has("0 of 1 trials, interrupted");
}

/// The command of the shell: a network with a hundred local ports, each held for a minute.
const FEW_PORTS: &str = "exec unshare -n sh -c 'ip link set lo up \
     && echo 40000 40099 > /proc/sys/net/ipv4/ip_local_port_range \
     && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse && exec \"$0\" \"$@\"'";

fn has_few_ports() -> bool {
    let tried = Command::new("sh").args(["-c", &format!("{FEW_PORTS} true")]).status();
    let can = is_root("a want of ports") && tried.is_ok_and(|status| status.success());
    if !can {
        not_tested("a want of ports", "network namespaces");
    }
    can
}

#[test]
fn few_ports_are_made_up_for_by_more_addresses() {
    if !has_few_ports() {
        return;
    }
    let load = "sessions = { rate = 480, calls = 2 }, duration = '1s'";
    let lab = Lab::new().before(&format!("{FEW_PORTS} \"$0\" \"$@\"")).oracle("a", "");
    let lab = lab.experiment("x", &["a"], load, "");
    lab.dyno(&["run", "x", "--dry-run"]).status(0).stdout_has("come from 5 loopback addresses");
    lab.dyno(&["run", "x"]).measured();
    let trial = lab.measured();
    let total = trial.loaded.unwrap().recording.total;
    assert_eq!((total.correct, total.failed_in_all()), (960, 0));
}

#[test]
fn a_want_of_ports_is_the_generators_own_and_never_the_servers() {
    if !has_few_ports() {
        return;
    }
    let load = "sessions = { rate = 100000, calls = 1 }, duration = '300ms'";
    let lab = Lab::new().before(&format!("{FEW_PORTS} \"$0\" \"$@\"")).oracle("a", "");
    let lab = lab.experiment("x", &["a"], load, "");
    lab.dyno(&["run", "x"])
        .measured()
        .stderr_has("100,000 requests/s may need 30,000 local ports at once");
    let trial = lab.measured();
    let total = trial.loaded.unwrap().recording.total;
    let own = [Failure::NoPorts, Failure::Late, Failure::Blocked];
    let mut no_ports = 0;
    for (class, failed) in Failure::ALL.iter().zip(total.failed) {
        assert!(failed == 0 || own.contains(class), "{}: {failed}", class.name());
        no_ports += if *class == Failure::NoPorts { failed } else { 0 };
    }
    assert!(0 < no_ports && 0 < total.correct);
}
