//! Load by agents that meet at a NATS broker, which is started anew, or stays away, while the load goes on.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::lab_rig::{Lab, not_tested, until};
use crate::rig::{Going, Rig, doubts, in_one_of_five};

const LEFT_OUT: &str = "load by way of a NATS broker";
const NAMES: [&str; 2] = ["desk2", "desk3"];

/// A broker with agents that wait at it; all of them end with this.
struct Lodge {
    lab: Lab,
    server: PathBuf,
    port: u16,
    broker: Child,
    agents: Vec<Child>,
}

impl Lodge {
    /// None where it cannot be tested: that is said.
    fn open() -> Option<Lodge> {
        let carrier = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name("dyno-nats");
        let server =
            ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
        let server = server.map(PathBuf::from).into_iter().find(|path| path.exists());
        let (Some(server), true) = (server, carrier.exists()) else {
            not_tested(LEFT_OUT, "nats-server, or dyno-nats beside dyno");
            return None;
        };
        let lab = Lab::new();
        let mut keys = String::new();
        for name in ["coordinator", "desk2", "desk3"] {
            let mut key = Command::new(&carrier);
            let made = key.args(["key", name]).current_dir(&lab.root).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            keys += &String::from_utf8(made.stdout).unwrap();
        }
        lab.write("agents.keys", &keys);
        let config = ["agents", "nats", "--lab", "lab", "--keys", "agents.keys", "--without-tls"];
        let config = lab.dyno(&config).status(0).stdout;
        // Another process may take the port before the server does.
        let (port, broker) = (0..5).find_map(|_| {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let lines = config.lines().map(|line| match line.starts_with("listen:") {
                true => format!("listen: \"127.0.0.1:{port}\"\n"),
                false => format!("{line}\n"),
            });
            lab.write("nats.conf", lines.collect::<String>());
            started(&server, &lab, port).map(|broker| (port, broker))
        })?;
        let key = keys.lines().find_map(|line| line.strip_prefix("coordinator ")).unwrap();
        let mut lodge = Lodge { lab, server, port, broker, agents: Vec::new() };
        lodge.agents = NAMES.iter().map(|name| lodge.agent(name, key)).collect();
        Some(lodge)
    }

    fn agent(&self, name: &str, trusts: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        let via = format!("nats://127.0.0.1:{}", self.port);
        command.args(["agents", "run", "--via", &via, "--lab", "lab"]);
        command.args(["--name", name, "--key-file", name, "--trust", trusts, "--wait", "60"]);
        command.current_dir(&self.lab.root).env("DYNO_LOCKS", &self.lab.root);
        let log = fs::File::create(self.lab.root.join(format!("{name}.log"))).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Dyno loads the rig's server for this long.
    fn load(&self, rig: &Rig, lasts: &str) -> Going {
        let path = "{url}/hello?delay=constant:2ms";
        self.coordinate(rig, &["load", path, "-c", "4", "-d", lasts, "--json", "--load-on"])
    }

    /// Dyno with these arguments, and after them the place where both agents wait.
    fn coordinate(&self, rig: &Rig, arguments: &[&str]) -> Going {
        let place = format!(
            "nats://127.0.0.1:{}/lab?agents=desk2,desk3&keys=agents.keys&key-file=coordinator",
            self.port
        );
        let mut command = rig.command(&[arguments, &[&place]].concat());
        command.current_dir(&self.lab.root);
        Going::start(command)
    }

    /// The broker is killed, and comes back after this time.
    fn restart_after(&mut self, away: Duration) {
        self.broker.kill().unwrap();
        self.broker.wait().unwrap();
        std::thread::sleep(away);
        self.broker = started(&self.server, &self.lab, self.port).expect("its port is still free");
    }

    #[track_caller]
    fn agents_end(&mut self) {
        let until = Instant::now() + Duration::from_secs(60);
        for agent in &mut self.agents {
            while agent.try_wait().unwrap().is_none() {
                assert!(Instant::now() < until, "an agent is left");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

fn started(server: &Path, lab: &Lab, port: u16) -> Option<Child> {
    let log = fs::File::create(lab.root.join("nats.log")).unwrap();
    let mut command = Command::new(server);
    command.args(["-c", "nats.conf"]).current_dir(&lab.root).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until && child.try_wait().unwrap().is_none() {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(child);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    None
}

impl Drop for Lodge {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.broker]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// By chance, and named where it matters.
fn random_ms(below: u64) -> u64 {
    u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()) / 1_000 % below
}

#[test]
fn a_broker_that_is_started_anew_in_a_load_is_a_blink() {
    in_one_of_five(|| {
        let Some(mut lodge) = Lodge::open() else { return };
        let rig = Rig::new();
        let going = lodge.load(&rig, "5s");
        until("both load", || 100 < rig.requests());
        let moment = random_ms(2_000);
        std::thread::sleep(Duration::from_millis(moment));
        lodge.restart_after(Duration::from_millis(300));
        let ran = going.end();
        let json = ran.json();
        assert_eq!(json["lost_agents"].as_array().map(Vec::len), Some(0), "{moment} ms: {ran}");
        assert!(doubts(&json).contains(&"control_blinked"), "{moment} ms: {ran}");
        assert_eq!(json["books"]["attempted"].as_u64(), Some(rig.requests()), "{moment} ms: {ran}");
        lodge.agents_end();
    });
}

#[test]
fn a_broker_that_stays_away_ends_the_load_of_all_agents() {
    let Some(mut lodge) = Lodge::open() else { return };
    let rig = Rig::new();
    let going = lodge.load(&rig, "5m");
    until("both load", || 100 < rig.requests());
    lodge.broker.kill().unwrap();
    lodge.broker.wait().unwrap();
    let ran = going.end().status(2);
    let _ = ran.stderr_has("agent desk2").stderr_has("agent desk3");
    lodge.agents_end();
    let requests = rig.requests();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(rig.requests(), requests, "nothing is sent any more");
}

#[test]
fn agents_at_a_broker_are_checked_one_by_one() {
    let Some(mut lodge) = Lodge::open() else { return };
    let rig = Rig::new();
    lodge.agents[1].kill().unwrap();
    lodge.agents[1].wait().unwrap();
    let check = ["agents", "check", "--target", "{url}/hello", "--json"];
    let json = lodge.coordinate(&rig, &check).end().status(2).json();
    assert_eq!(
        (&json["hosts"][0]["can_load"], &json["hosts"][1]["can_load"]),
        (&true.into(), &false.into())
    );
    assert!(100.0 < json["hosts"][0]["ceiling"]["throughput_per_s"].as_f64().unwrap(), "{json}");
    lodge.agents_end();
}
