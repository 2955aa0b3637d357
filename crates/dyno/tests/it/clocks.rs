//! How far apart two clocks are, over ways that take longer in one direction than in the other.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::folder::Folder;

const DYNO: &str = env!("CARGO_BIN_EXE_dyno");
/// So many meetings are tried; more with `DYNO_MEETINGS` (`make clocks`).
const MEETINGS: u64 = 6;
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

/// A folder with an `ssh` that leads to a host whose clock is ahead; it is gone when this is dropped.
struct Way(Folder);

impl Way {
    /// None where no such host can be made: that is said, and the test is skipped.
    fn made() -> Option<Way> {
        let made = Command::new("unshare").args(["--time", "--monotonic", "1", "true"]).output();
        if !made.as_ref().is_ok_and(|output| output.status.success()) {
            let says = "SKIPPED: a host with a clock of its own cannot be made here";
            let _ = writeln!(std::io::stderr(), "{says}: {made:?}");
            return None;
        }
        let (folder, _) = Folder::with("delay.py", DELAYING);
        let ssh = format!(
            "#!/bin/sh\nfor last; do :; done\nexport XDG_CACHE_HOME='{0}/cache' DYNO_LOCKS='{0}'\ncase $last in\n\
             *'agents run --stdio'*) exec python3 '{0}/delay.py' \"$DYNO_WAY\" unshare --time --fork --kill-child \
             --monotonic {AHEAD_S} sh -c \"$last\";;\n*) exec sh -c \"$last\";;\nesac\n",
            folder.root.display()
        );
        folder.write("ssh", ssh);
        fs::set_permissions(folder.path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        Some(Way(folder))
    }

    /// What `dyno agents check` says of the host, whose way is drawn by this seed.
    fn check(&self, seed: u64) -> Value {
        let path = std::env::var("PATH").unwrap_or_default();
        // `make clocks` names the optimised program: each meeting reads it twice, for its hash.
        let output = Command::new(std::env::var("DYNO_PROGRAM").unwrap_or_else(|_| DYNO.into()))
            .args(["agents", "check", "ssh:ahead", "--json"])
            .env("PATH", format!("{}:{path}", self.0.root.display()))
            .env("DYNO_WAY", seed.to_string())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let says = String::from_utf8_lossy(&output.stderr);
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("way {seed}: {error}: {says}"));
        assert!(output.status.success(), "way {seed}: {found}");
        found["hosts"][0]["known"].clone()
    }
}

#[test]
fn the_offset_of_a_clock_is_known_to_half_of_the_round_trip_over_ways_that_are_not_alike() {
    let Some(way) = Way::made() else { return };
    let named = std::env::var("DYNO_MEETINGS");
    let meetings = named.map_or(MEETINGS, |text| text.parse().expect("a number of meetings"));
    let (mut worst, mut least_round_trip) = (0.0_f64, f64::MAX);
    for seed in 0..meetings {
        let known = way.check(seed);
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
