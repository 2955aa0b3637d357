//! Hosts on one machine: network namespaces on one bridge, each with an address and a monotonic clock of its own.

use std::fs;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::Folder;

/// Between the clocks of one host and the next.
const SECONDS_APART: i64 = 3_600;

/// Several hosts; they are gone when it is dropped.
pub(crate) struct Hosts {
    /// Before the names of its namespaces.
    prefix: String,
    names: Vec<String>,
    folder: Folder,
}

static RIGS: AtomicU32 = AtomicU32::new(0);

impl Hosts {
    /// Hosts of these names. None where namespaces cannot be made: that is said, and the test is skipped.
    pub(crate) fn up(names: &[&str]) -> Option<Hosts> {
        let prefix = format!("dyno{}x{}", std::process::id(), RIGS.fetch_add(1, Ordering::Relaxed));
        let names = names.iter().map(ToString::to_string).collect();
        let hosts = Hosts { prefix, names, folder: Folder::new() };
        let Err(says) = hosts.make() else { return Some(hosts) };
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: hosts in namespaces cannot be made here: {says}");
        None
    }

    /// Hosts of these names, of which one can lose what is sent to it. None where namespaces cannot be made.
    pub(crate) fn up_that_lose(names: &[&str]) -> Option<Hosts> {
        if Command::new("iptables").arg("--version").output().is_ok_and(|it| it.status.success()) {
            return Hosts::up(names);
        }
        let _ = writeln!(std::io::stderr(), "SKIPPED: iptables is needed, and is not installed");
        None
    }

    fn make(&self) -> Result<(), String> {
        let hub = self.namespace("hub");
        ip(&["netns", "add", &hub])?;
        ip(&["-n", &hub, "link", "add", "br0", "type", "bridge"])?;
        ip(&["-n", &hub, "link", "set", "br0", "up"])?;
        for (number, name) in self.names.iter().enumerate() {
            let (space, port) = (self.namespace(name), format!("p{number}"));
            ip(&["netns", "add", &space])?;
            ip(&[
                "-n", &hub, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns",
                &space,
            ])?;
            ip(&["-n", &hub, "link", "set", &port, "master", "br0", "up"])?;
            let address = format!("{}/24", self.address(name));
            ip(&["-n", &space, "address", "add", &address, "dev", "eth0"])?;
            ip(&["-n", &space, "link", "set", "eth0", "up"])?;
            ip(&["-n", &space, "link", "set", "lo", "up"])?;
        }
        let clock =
            self.on(&self.names[0], "true", &[]).output().map_err(|error| error.to_string())?;
        match clock.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&clock.stderr).trim().into()),
        }
    }

    fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    fn number(&self, name: &str) -> usize {
        self.names.iter().position(|other| other == name).expect("a host of this rig")
    }

    /// No two rigs meet: each has a bridge of its own.
    pub(crate) fn address(&self, name: &str) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, 0, self.number(name) as u8 + 1)
    }

    /// How far a host's monotonic clock is ahead of this machine's, in seconds.
    pub(crate) fn ahead(&self, name: &str) -> i64 {
        self.number(name) as i64 * SECONDS_APART
    }

    /// A program that runs on a host; it ends with the command.
    pub(crate) fn on(&self, name: &str, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(self.entering(name)).arg(program).args(arguments);
        command
    }

    fn entering(&self, name: &str) -> Vec<String> {
        let enter = ["netns", "exec", &self.namespace(name), "unshare", "--time", "--fork"];
        let clock = ["--kill-child", "--monotonic", &self.ahead(name).to_string()];
        [&enter[..], &clock].concat().into_iter().map(String::from).collect()
    }

    /// A program that does what ssh does: its first operand names a host, and the rest is a command for that host's shell.
    pub(crate) fn ssh(&self) -> PathBuf {
        let cases = self.names.iter().map(|name| {
            let own = self.folder.path(name);
            format!(
                "{name}) export XDG_CACHE_HOME='{own}/cache' DYNO_LOCKS='{own}' SSH_CONNECTION='10.77.0.99 9 {address} 22'; mkdir -p '{own}'; exec ip {} sh -c \"$last\" ;;\n",
                self.entering(name).join(" "),
                address = self.address(name)
            )
        });
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nwhile [ $# -gt 0 ]; do case $1 in -o|-p|-i|-l|-F) shift 2;; -*) shift;; *) break;; esac; done\n\
             host=${{1#*@}}\ncase $host in\n{}*) echo \"ssh: Could not resolve hostname $host\" >&2; exit 255;;\nesac\n",
            cases.collect::<String>()
        );
        let path = self.folder.root.join("ssh");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder.root
    }

    /// From now on the host sends no faster than this: `10mbit`.
    pub(crate) fn limit(&self, name: &str, rate: &str) {
        let arguments = [
            "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "16k",
            "latency", "50ms",
        ];
        let done = Command::new("ip")
            .args(["netns", "exec", &self.namespace(name), "tc"])
            .args(arguments)
            .status();
        assert!(done.unwrap().success());
    }

    /// From now on the host does not receive so many of a hundred segments of TCP, by chance.
    pub(crate) fn lose(&self, name: &str, percent: u32) {
        let probability = (f64::from(percent) / 100.0).to_string();
        let segments = ["-A", "INPUT", "-i", "eth0", "-p", "tcp", "-m", "statistic"];
        let some = ["--mode", "random", "--probability", &probability, "-j", "DROP"];
        self.filter(name, &[&segments[..], &some].concat());
    }

    /// From now on nothing reaches the host, and nothing that it sends reaches another one; its programs go on.
    pub(crate) fn cut_off(&self, name: &str) {
        for chain in ["INPUT", "OUTPUT"] {
            self.filter(name, &["-I", chain, "-j", "DROP"]);
        }
    }

    fn filter(&self, name: &str, rule: &[&str]) {
        let done = Command::new("ip")
            .args(["netns", "exec", &self.namespace(name), "iptables", "-w"])
            .args(rule)
            .status();
        assert!(done.unwrap().success());
    }

    fn signal(&self, name: &str, signal: Signal) {
        for pid in self.processes(name) {
            let _ = kill_process(pid, signal);
        }
    }

    /// The processes that run on a host.
    pub(crate) fn processes(&self, name: &str) -> Vec<Pid> {
        let found =
            Command::new("ip").args(["netns", "pids", &self.namespace(name)]).output().unwrap();
        let found = String::from_utf8_lossy(&found.stdout);
        found.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in self.names.iter().map(String::as_str).chain(["hub"]) {
            self.signal(name, Signal::KILL);
            let _ = ip(&["netns", "delete", &self.namespace(name)]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`ip`: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!(
            "`ip {}`: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&done.stderr).trim()
        )),
    }
}
