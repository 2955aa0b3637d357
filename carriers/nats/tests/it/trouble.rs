//! The broker goes and comes back, or does not; and it refuses.

use std::thread;
use std::time::Duration;

use crate::rig::{Broker, Folder, Program, server};

/// Numbers, so that what is lost, twice or early shows.
struct Counted {
    sent: u64,
    seen: u64,
    blinks: u32,
}

impl Counted {
    fn send(&mut self, program: &mut Program, prefix: &str) {
        self.sent += 1;
        program.line(&format!("{prefix}{}", self.sent));
    }

    /// Takes what has come; it must rise.
    fn take(&mut self, program: &Program, prefix: &str, wait: Duration) {
        while let Some(line) = program.prints_within(wait) {
            let line = line.strip_prefix(prefix).expect("only this agent talks");
            if let Some(ms) = line.strip_prefix("!blinked ") {
                assert!(ms.parse::<u64>().is_ok_and(|ms| 0 < ms), "{line}");
                self.blinks += 1;
                continue;
            }
            let number = line.parse().expect("a number that was sent");
            assert!(self.seen < number && number <= self.sent, "{number} after {}", self.seen);
            self.seen = number;
        }
    }
}

#[test]
fn a_broker_that_is_started_anew_at_random_moments_is_a_blink_and_order_is_kept() {
    let Some(mut broker) = Broker::closed(|config| config) else { return };
    let (mut agent, mut coordinator) =
        (broker.known_agent("desk2"), broker.known_coordinator("desk2"));
    let [mut down, mut up] = [(); 2].map(|()| Counted { sent: 0, seen: 0, blinks: 0 });
    let brief = Duration::from_millis(1);
    let mut seed = 7u64;
    for _ in 0..5 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for step in 0..20 + (seed >> 33) % 60 {
            down.send(&mut coordinator, "desk2 ");
            up.send(&mut agent, "");
            down.take(&agent, "", brief);
            up.take(&coordinator, "desk2 ", brief);
            thread::sleep(Duration::from_millis(step % 7));
        }
        broker.stop();
        down.send(&mut coordinator, "desk2 ");
        up.send(&mut agent, "");
        broker.start_again();
        let (before, blinks) = ((down.seen, up.seen), up.blinks);
        // Both reach it again, and lines go through; those of the time between may be lost.
        for _ in 0..3_000 {
            down.send(&mut coordinator, "desk2 ");
            up.send(&mut agent, "");
            down.take(&agent, "", brief);
            up.take(&coordinator, "desk2 ", brief);
            if before.0 + 3 < down.seen && before.1 + 3 < up.seen && blinks < up.blinks {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert!(
            before.0 < down.seen && before.1 < up.seen && blinks < up.blinks,
            "{}",
            coordinator.said()
        );
    }
    agent.says("the broker was out of reach for");
    coordinator.says("lines may have been lost");
}

#[test]
fn a_broker_that_stays_away_ends_both_sides_but_not_an_agent_that_waits() {
    let Some(mut broker) = Broker::closed(|config| config) else { return };
    let (mut three, mut two) = (broker.known_agent("desk3"), broker.known_agent("desk2"));
    let mut coordinator = broker.known_coordinator("desk2");
    coordinator.line("desk2 x");
    two.prints("x");
    broker.stop();
    coordinator.ends_with(2, "the broker was out of reach for 2 s");
    two.ends_with(2, "the broker was out of reach for 2 s");
    three.says("the broker is out of reach; waiting for it");
    broker.start_again();
    let mut coordinator = broker.known_coordinator("desk3");
    coordinator.line("desk3 y");
    three.prints("y");
    three.line("z");
    coordinator.prints("desk3 z");
}

#[test]
fn a_broker_that_hangs_ends_both_sides() {
    let Some(broker) = Broker::closed(|config| config) else { return };
    let (mut agent, mut coordinator) =
        (broker.known_agent("desk2"), broker.known_coordinator("desk2"));
    coordinator.line("desk2 x");
    agent.prints("x");
    broker.hang();
    coordinator.ends_with(2, "the broker was out of reach for 2 s");
    agent.ends_with(2, "the broker was out of reach for 2 s");
}

#[test]
fn an_agent_that_waits_for_the_broker_ends_with_its_own_side() {
    let Some(mut broker) = Broker::open() else { return };
    let trust = broker.folder().key("coordinator");
    let mut agent = broker.agent("a", &["--trust", &trust]);
    let _stranger = broker.coordinator("a", &["--wait", "60"]);
    agent.says("which is not trusted here");
    broker.stop();
    agent.says("the broker is out of reach; waiting for it");
    agent.close();
    agent.ends_with(0, "");
}

#[test]
fn a_stranger_and_one_who_takes_another_s_name_are_refused() {
    let Some(broker) = Broker::closed(|config| config) else { return };
    broker.agent("desk2", &["--trust", "any"]).ends_with(2, "does not know this key: U");
    let key = broker.folder().path("desk3");
    let mut wrong = broker.agent("desk2", &["--trust", "any", "--key-file", &key]);
    wrong.ends_with(2, "the broker forbids what this program needs: Permissions Violation");
    let list = broker.folder().path("agents.keys");
    let mut wrong = broker.coordinator("desk2", &["--key-file", &key, "--keys", &list]);
    wrong.ends_with(2, "`dyno agents nats` writes the permissions");
}

#[test]
fn an_agent_that_the_coordinator_may_not_publish_for_is_named() {
    let change = |config: String| config.replace(".to.*\"", ".to.desk2\"");
    let Some(broker) = Broker::closed(change) else { return };
    let (two, _three) = (broker.known_agent("desk2"), broker.known_agent("desk3"));
    let mut coordinator = broker.known_coordinator("desk2,desk3");
    coordinator.prints("desk3");
    coordinator.says("desk3: the broker forbids to publish for it");
    coordinator.line("desk2 x");
    two.prints("x");
}

#[test]
fn an_agent_that_may_not_publish_says_so() {
    let change = |config: String| config.replace("[\"dyno.1.lab.from.desk2\",", "[");
    let Some(broker) = Broker::closed(change) else { return };
    let mut two = broker.known_agent("desk2");
    let _coordinator = broker.known_coordinator("desk2");
    two.ends_with(2, "the broker forbids");
}

/// A certificate that signs itself, as the manifests for Kubernetes describe it.
fn certificate(folder: &Folder, name: &str) -> Option<(String, String)> {
    let (certificate, key) =
        (folder.path(&format!("{name}.crt")), folder.path(&format!("{name}.key")));
    let mut openssl = std::process::Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ]);
    openssl.args(["-days", "30", "-subj", "/CN=lab-nats", "-keyout", &key, "-out", &certificate]);
    openssl.args(["-addext", "subjectAltName=IP:127.0.0.1"]);
    let made = openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]).output();
    if made.is_ok_and(|made| made.status.success()) {
        return Some((certificate, key));
    }
    eprintln!("SKIPPED: openssl is not installed; TLS to the broker is not tested");
    None
}

#[test]
fn a_broker_is_reached_by_tls_only_with_the_certificate_that_is_known() {
    let (Some(server), folder) = (server(), Folder::new()) else { return };
    let Some((ours, key)) = certificate(&folder, "ours") else { return };
    let Some((other, _)) = certificate(&folder, "other") else { return };
    let tls = format!("tls {{ cert_file: \"{ours}\", key_file: \"{key}\" }}\n");
    let Some(broker) = Broker::with(&server, folder, &tls) else { return };
    let trusting = |ca: &str| broker.agent("a", &["--trust", "any", "--ca", ca, "--wait", "60"]);
    let agent = trusting(&ours);
    let mut coordinator = broker.coordinator("a", &["--ca", &ours]);
    coordinator.line("a x");
    agent.prints("x");
    trusting(&other).ends_with(2, "certificate");
    // Without the flag, the system's authorities decide, and this one is not among them.
    broker.agent("a", &["--trust", "any", "--wait", "60"]).ends_with(2, "certificate");
    // And a broker without TLS is none for who wants it.
    let Some(plain) = Broker::open() else { return };
    plain
        .agent("a", &["--trust", "any", "--ca", &ours, "--wait", "0"])
        .ends_with(2, "cannot be reached");
}
