//! How far apart two clocks are, over ways that take longer in one direction than in the other.

use std::fs;
use std::io::Write;
use std::process::Command;

use serde_json::Value;

use crate::agents_rig::Gate;
use crate::lab_rig::not_tested;
use crate::rig::Going;

const DYNO: &str = env!("CARGO_BIN_EXE_dyno");
/// So many meetings are tried; more with `DYNO_MEETINGS` (`make clocks`).
const MEETINGS: u64 = 4;
/// By so much the other clock is ahead.
const AHEAD_S: i64 = 3_600;

/// Hands lines on, each after a while. The seed decides how much longer one direction takes than the other.
const DELAYING: &str = r#"
import random, subprocess, sys, threading, time

chance = random.Random(int(sys.argv[1]))
least = [chance.choice([0, 0.001, 0.005]) for _ in range(2)]
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def carry(source, target, least, chance):
    for line in source:
        time.sleep(least + chance.random() * 0.002)
        target.write(line)
        target.flush()
    target.close()

ways = [(sys.stdin.buffer, child.stdin), (child.stdout, sys.stdout.buffer)]
for number, (source, target) in enumerate(ways):
    way = (source, target, least[number], random.Random(chance.random()))
    threading.Thread(target=carry, args=way, daemon=number == 0).start()
sys.exit(child.wait())
"#;

/// A gate to a host whose clock is ahead. None where no such host can be made: that is said, and the test is skipped.
fn way() -> Option<Gate> {
    let made = Command::new("unshare").args(["--time", "--monotonic", "1", "true"]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        not_tested("how far apart two clocks are", "a host with a clock of its own");
        return None;
    }
    let gate = Gate::new();
    let delay = gate.path().join("delay.py");
    fs::write(&delay, DELAYING).unwrap();
    gate.opens(&format!(
        "case $last in\n*'agents run --stdio'*) exec python3 '{}' \"$DYNO_WAY\" unshare --time --fork --kill-child \
         --monotonic {AHEAD_S} sh -c \"$last\";;\n*) exec sh -c \"$last\";;\nesac",
        delay.display()
    ));
    Some(gate)
}

/// What `dyno agents check` says of the host, whose way is drawn by this seed.
fn check(gate: &Gate, seed: u64) -> Value {
    // `make clocks` names the optimised program: each meeting reads it twice, for its hash.
    let mut command = Command::new(std::env::var("DYNO_PROGRAM").unwrap_or_else(|_| DYNO.into()));
    command.args(["agents", "check", "ssh:ahead", "--json"]).env("DYNO_WAY", seed.to_string());
    gate.stands_before(&mut command);
    let found = Going::start(command).end().status(0).json();
    found["hosts"][0]["known"].clone()
}

#[test]
fn the_offset_of_a_clock_is_known_to_half_of_the_round_trip_over_ways_that_are_not_alike() {
    let Some(gate) = way() else { return };
    let named = std::env::var("DYNO_MEETINGS");
    let meetings = named.map_or(MEETINGS, |text| text.parse().expect("a number of meetings"));
    let (mut worst, mut least_round_trip) = (0.0_f64, f64::MAX);
    for seed in 0..meetings {
        let known = check(&gate, seed);
        let figure = |name: &str| known[name].as_f64().unwrap_or_else(|| panic!("{name}: {known}"));
        let wrong = (figure("clock_offset_s") - AHEAD_S as f64).abs();
        let (error, round_trip) = (figure("clock_error_s"), figure("round_trip_s"));
        // A stamp has whole nanoseconds, and the offset is halved.
        assert!(wrong <= error + 2e-9, "way {seed}: {wrong} s wrong, and at most {error} was said");
        assert!((error - round_trip / 2.0).abs() < 2e-9, "way {seed}: {known}");
        worst = worst.max(wrong / error);
        least_round_trip = least_round_trip.min(round_trip);
    }
    assert!(0.0 < least_round_trip, "there was a way");
    let _ = writeln!(
        std::io::stderr(),
        "{meetings} meetings: the offset was wrong by {:.0} % of half the round trip at most",
        worst * 100.0
    );
}
