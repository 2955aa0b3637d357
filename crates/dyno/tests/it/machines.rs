//! Load from several machines: namespaces on one bridge, each with its own address and its own clock.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hosts::Hosts;
use crate::lab_rig::until;
use crate::rig::in_one_of_five;

const DYNO: &str = env!("CARGO_BIN_EXE_dyno");
/// A port of a namespace that nothing else is in.
const PORT: u16 = 8_080;

/// Dyno's own server on a host; it ends when this is dropped.
struct Serving(Child);

impl Serving {
    fn on(hosts: &Hosts, name: &str) -> Serving {
        let address = format!("{}:{PORT}", hosts.address(name));
        let mut command = hosts.on(name, DYNO, &["serve", "--listen", &address, "--threads", "1"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let said = BufReader::new(child.stderr.take().unwrap()).read_line(&mut line);
        assert!(said.is_ok_and(|length| 0 < length), "the server ended");
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
    let folder = hosts.ssh();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = hosts.on("desk", DYNO, arguments);
    command.env("PATH", format!("{}:{path}", folder.parent().unwrap().display()));
    command.env("HOME", hosts.folder());
    command
}

fn load(hosts: &Hosts, path: &str, flags: &[&str]) -> (Option<i32>, Value, String) {
    let url = format!("http://{}:{PORT}{path}", hosts.address("server"));
    let output = at_the_desk(hosts, &[&["load", &url, "--json"], flags].concat()).output().unwrap();
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let json =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {says}"));
    (output.status.code(), json, says)
}

fn doubts(json: &Value) -> Vec<&str> {
    let doubts = json["verdict"]["doubts"].as_array().unwrap();
    doubts.iter().filter_map(|doubt| doubt["id"].as_str()).collect()
}

#[test]
fn three_hosts_whose_clocks_are_hours_apart_load_as_one() {
    let Some(hosts) = Hosts::up(&["server", "desk", "g1", "g2", "g3"]) else { return };
    let _server = Serving::on(&hosts, "server");
    let flags = ["-r", "300", "-d", "2s", "--load-on", "ssh:g1,g2,g3"];
    let (status, json, says) = load(&hosts, "/hello?delay=constant:20ms", &flags);
    assert!(matches!(status, Some(0)), "{says}");
    let books = &json["books"];
    assert_eq!(books["attempted"], books["correct"], "{json}");
    let attempted = books["attempted"].as_u64().unwrap();
    assert!((450..750).contains(&attempted), "by chance about 600: {attempted}");
    let agents = json["agents"].as_array().unwrap();
    let mut shares = 0;
    for (agent, name) in agents.iter().zip(["g1", "g2", "g3"]) {
        assert_eq!(agent["name"], name);
        // The desk's clock is an hour ahead of this machine's, and each further host's an hour more.
        let ahead = (hosts.ahead(name) - hosts.ahead("desk")) as f64;
        let (offset, error) =
            (agent["clock_offset_s"].as_f64().unwrap(), agent["clock_error_s"].as_f64().unwrap());
        assert!(
            (offset - ahead).abs() <= error + 1e-6,
            "{name}: {offset} ± {error}, and it is {ahead}"
        );
        shares += agent["saw"]["attempted"].as_u64().unwrap();
        assert!(20_000_000 <= agent["saw"]["p50_ns"].as_u64().unwrap(), "{agent}");
        assert_eq!(agent["link"]["name"], "eth0");
        assert!(1_000 < agent["link"]["received_bytes"].as_u64().unwrap(), "{agent}");
    }
    assert_eq!((agents.len(), shares), (3, attempted));
    for name in ["g1", "g2", "g3"] {
        until("no agent is left", || hosts.processes(name).is_empty());
    }
}

#[test]
fn a_host_that_is_cut_off_is_named_and_its_agent_ends_its_load() {
    let Some(hosts) = Hosts::up(&["server", "desk", "g1", "g2"]) else { return };
    let _server = Serving::on(&hosts, "server");
    let url = format!("http://{}:{PORT}/hello?delay=constant:5ms", hosts.address("server"));
    let flags = ["load", &url, "--json", "-c", "4", "-d", "10s", "--load-on", "ssh:g1,g2"];
    let mut command = at_the_desk(&hosts, &flags);
    let going = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("both load", || !hosts.processes("g1").is_empty() && !hosts.processes("g2").is_empty());
    std::thread::sleep(Duration::from_secs(2));
    let began = Instant::now();
    // Its ssh goes on, as it would where only the way to the server is lost.
    hosts.stop("g2");
    let output = going.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{json}");
    assert_eq!(json["lost_agents"][0]["name"], "g2", "{json}");
    assert!(doubts(&json).contains(&"agents_lost"));
    assert!(began.elapsed() < Duration::from_secs(60));
    until("no agent is left on g1", || hosts.processes("g1").is_empty());
}

#[test]
fn a_full_link_and_a_lossy_way_are_told() {
    let Some(hosts) = Hosts::up(&["server", "desk", "g1", "g2"]) else { return };
    let _server = Serving::on(&hosts, "server");
    let flags = ["-c", "4", "-d", "2s", "--load-on", "ssh:g1,g2"];
    // What g1 sends is shaped to a tenth of a megabit: requests alone fill that.
    hosts.limit("g1", "100kbit");
    in_one_of_five(|| {
        let (_, json, _) = load(&hosts, "/hello", &flags);
        assert!(doubts(&json).contains(&"link_full"), "{}", json["agents"]);
    });
    hosts.lose("g2", 5);
    in_one_of_five(|| {
        let (_, json, _) = load(&hosts, "/hello", &flags);
        assert!(doubts(&json).contains(&"path_loss"), "{}", json["agents"]);
    });
}
