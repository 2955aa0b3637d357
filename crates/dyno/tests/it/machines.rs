//! Load from several machines: namespaces on one bridge, each with its own address and its own clock.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use serde_json::Value;

use crate::agents_rig::{is_agent, loads};
use crate::hosts::Hosts;
use crate::lab_rig::until;
use crate::rig::{doubts, in_one_of_five};
use crate::sshd_rig::{has_ssh, keygen, server_config};

const DYNO: &str = env!("CARGO_BIN_EXE_dyno");
/// A port of a namespace that nothing else is in.
const PORT: u16 = 8_080;

/// A server on a host; it ends when this is dropped.
struct Serving(Child);

impl Serving {
    /// A real sshd, which hosts reach under the host's name.
    fn sshd(hosts: &Hosts, name: &str) -> Serving {
        let (folder, home) = (hosts.folder(), hosts.folder().join(name));
        std::fs::create_dir_all(&home).unwrap();
        let address = (hosts.address(name), 22).into();
        std::fs::write(home.join("sshd"), server_config(folder, address, &home)).unwrap();
        let config = home.join("sshd").display().to_string();
        Serving::once(hosts.on(name, "/usr/sbin/sshd", &["-D", "-e", "-f", &config]), "listening")
    }

    fn on(hosts: &Hosts, name: &str) -> Serving {
        let address = format!("{}:{PORT}", hosts.address(name));
        let serve = ["serve", "--listen", &address, "--threads", "1"];
        Serving::once(hosts.on(name, DYNO, &serve), "")
    }

    /// Its first line contains this.
    fn once(mut command: Command, says: &str) -> Serving {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let said = BufReader::new(child.stderr.take().unwrap()).read_line(&mut line);
        assert!(said.is_ok_and(|length| 0 < length) && line.contains(says), "it ended: {line}");
        Serving(child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Dyno at the desk, whose ssh leads to the other hosts.
fn at_the_desk(hosts: &Hosts, arguments: &[&str]) -> Command {
    hosts.dyno("desk", hosts.folder(), arguments)
}

fn load(hosts: &Hosts, path: &str, flags: &[&str]) -> (Option<i32>, Value, String) {
    let url = format!("http://{}:{PORT}{path}", hosts.address("server"));
    let output = at_the_desk(hosts, &[&["load", &url, "--json"], flags].concat()).output().unwrap();
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let json =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {says}"));
    (output.status.code(), json, says)
}

#[test]
fn three_hosts_whose_clocks_are_hours_apart_load_as_one() {
    let Some(hosts) = Hosts::up(&["server", "desk", "g1", "g2", "g3"]) else { return };
    let _server = Serving::on(&hosts, "server");
    let flags = ["-r", "300", "-d", "2s", "--load-on", "ssh:g1,g2,g3"];
    let (status, json, says) = load(&hosts, "/hello?delay=constant:20ms", &flags);
    assert!(crate::rig::is_done(status, &json.to_string()), "{says}");
    let books = &json["books"];
    assert_eq!(books["attempted"], books["correct"], "{json}");
    let attempted = books["attempted"].as_u64().unwrap();
    assert!((450..750).contains(&attempted), "by chance about 600: {attempted}");
    let agents = json["agents"].as_array().unwrap();
    let mut shares = 0;
    for (agent, name) in agents.iter().zip(["g1", "g2", "g3"]) {
        assert_eq!(agent["name"], name);
        clock_is_known(&hosts, name, agent);
        shares += agent["saw"]["attempted"].as_u64().unwrap();
        assert!(20_000_000 <= agent["saw"]["p50_ns"].as_u64().unwrap(), "{agent}");
        assert_eq!(agent["link"]["name"], "eth0");
        assert!(1_000 < agent["link"]["received_bytes"].as_u64().unwrap(), "{agent}");
    }
    assert_eq!((agents.len(), shares), (3, attempted));
    hosts.are_empty(&["g1", "g2", "g3"]);
}

/// What is said of a host's clock is so: the desk's is an hour ahead of this machine's, and each further host's an hour
/// more.
#[track_caller]
fn clock_is_known(hosts: &Hosts, name: &str, said: &Value) {
    let ahead = (hosts.ahead(name) - hosts.ahead("desk")) as f64;
    let [offset, error] =
        ["clock_offset_s", "clock_error_s"].map(|figure| said[figure].as_f64().unwrap());
    assert!((offset - ahead).abs() <= error + 1e-6, "{name}: {said}, and it is {ahead}");
}

/// From now on a real ssh leads to these hosts, in place of the script.
fn real_ssh(hosts: &Hosts, names: &[&str]) {
    let (script, folder) = (hosts.ssh(), hosts.folder().display().to_string());
    ["host", "user"].iter().for_each(|key| keygen(hosts.folder(), key));
    std::fs::copy(hosts.folder().join("user.pub"), hosts.folder().join("keys")).unwrap();
    let entries =
        names.iter().map(|name| format!("Host {name}\n HostName {}\n", hosts.address(name)));
    let config = entries.collect::<String>()
        + &format!(
            "Host *\n IdentityFile {folder}/user\n IdentitiesOnly yes\n IdentityAgent none\n \
             StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
        );
    std::fs::write(hosts.folder().join("config"), config).unwrap();
    std::fs::write(script, format!("#!/bin/sh\nexec /usr/bin/ssh -F '{folder}/config' \"$@\"\n"))
        .unwrap();
}

/// The processes of agents on a host.
fn agents_on(hosts: &Hosts, name: &str) -> Vec<Pid> {
    hosts.processes(name).into_iter().filter(|pid| is_agent(*pid)).collect()
}

#[test]
fn a_host_whose_network_is_cut_is_lost_and_both_sides_end_within_the_lease() {
    if !has_ssh() {
        return;
    }
    let Some(hosts) = Hosts::up_that_lose(&["server", "desk", "g1", "g2"]) else { return };
    let url = format!("http://{}:{PORT}/hello?delay=constant:5ms", hosts.address("server"));
    let flags = ["load", &url, "--json", "-c", "4", "-d", "20s", "--load-on", "ssh:g1,g2"];
    let mut command = at_the_desk(&hosts, &flags);
    real_ssh(&hosts, &["g1", "g2"]);
    let _servers =
        [Serving::on(&hosts, "server"), Serving::sshd(&hosts, "g1"), Serving::sshd(&hosts, "g2")];
    let going = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let is_loading = |name| agents_on(&hosts, name).into_iter().any(loads);
    until("both load", || is_loading("g1") && is_loading("g2"));
    std::thread::sleep(Duration::from_secs(1));
    hosts.cut_off("g2");
    let cut = Instant::now();
    until("the agent that is cut off ends", || agents_on(&hosts, "g2").is_empty());
    // A lease of 2 s, and what a busy machine takes.
    assert!(cut.elapsed() < Duration::from_secs(20), "{:?}", cut.elapsed());
    let output = going.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(2), "{json}");
    let lost = &json["lost_agents"][0];
    assert_eq!((&lost["name"], &lost["phase"]), (&"g2".into(), &"load".into()), "{json}");
    assert!(doubts(&json).contains(&"agents_lost"), "{json}");
    assert!(lost["says"].as_str().unwrap().contains("it sent nothing for 2 s"), "{json}");
    until("no agent is left on g1", || agents_on(&hosts, "g1").is_empty());
}

#[test]
fn a_check_of_hosts_tells_their_clocks_their_links_and_what_bounds_them() {
    let Some(hosts) = Hosts::up(&["desk", "g1", "g2"]) else { return };
    hosts.ssh();
    hosts.limit("g2", "10mbit");
    let address = hosts.address("desk").to_string();
    let flags = ["agents", "check", "ssh:g1,g2,g9", "--listen-on", &address, "--json"];
    let output = at_the_desk(&hosts, &flags).output().unwrap();
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{says}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (at, name) in ["g1", "g2"].iter().enumerate() {
        let host = &json["hosts"][at];
        assert_eq!((&host["name"], &host["can_load"]), (&(*name).into(), &true.into()), "{json}");
        clock_is_known(&hosts, name, &host["known"]);
        assert_eq!(host["ceiling"]["link"]["name"], "eth0", "{json}");
        assert_eq!(host["ceiling"]["link"]["mtu"], 1_500, "{json}");
        assert!(50.0 < host["ceiling"]["throughput_per_s"].as_f64().unwrap(), "{json}");
    }
    assert_eq!(json["hosts"][1]["ceiling"]["link"]["bits_per_s"], 10_000_000, "{json}");
    assert_eq!(json["hosts"][2]["can_load"], false, "{json}");
    assert!(
        json["hosts"][2]["says"].as_str().unwrap().contains("Could not resolve hostname"),
        "{json}"
    );
    hosts.are_empty(&["g1", "g2"]);
}

#[test]
fn a_full_link_and_a_lossy_way_are_told() {
    let Some(hosts) = Hosts::up_that_lose(&["server", "desk", "g1", "g2"]) else { return };
    let _server = Serving::on(&hosts, "server");
    let flags = ["-c", "4", "-d", "2s", "--load-on", "ssh:g1,g2"];
    // What g1 sends is shaped to a tenth of a megabit: requests alone fill that.
    hosts.limit("g1", "100kbit");
    in_one_of_five(|| {
        let (_, json, _) = load(&hosts, "/hello", &flags);
        assert!(doubts(&json).contains(&"link_full"), "{}", json["agents"]);
    });
    hosts.lose("g2", 5);
    // A connection that waits for a lost segment sends nothing for 200 ms: two of them would lose hardly ten in 2 s.
    let many = ["-c", "32", "-d", "2s", "--load-on", "ssh:g1,g2"];
    in_one_of_five(|| {
        let (_, json, _) = load(&hosts, "/hello", &many);
        assert!(doubts(&json).contains(&"path_loss"), "{}", json["agents"]);
    });
}
